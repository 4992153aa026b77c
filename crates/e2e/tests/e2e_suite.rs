//! `loadline suite` as a user experiences it: run, killed, stopped, resumed, judged.
//!
//! Must not know more about the state folder's files than docs/suite.md says. Invariant: whatever ended a
//! suite, the next one continues where it was, and no load continues without it.

use std::path::Path;
use std::time::Duration;

use loadline_e2e::clock::{pause, wait_for};
use loadline_e2e::process::{Running, loadline};
use loadline_e2e::target::Target;

const SIGINT: i32 = 2;
const SIGKILL: i32 = 9;

/// A suite of four runs of one second each.
fn write_suite(folder: &Path, target: &Target, more: &str) {
    let url = target.url("/get");
    let text = format!(
        "name: four runs
target: {url}
prepare: [{{exec: 'echo up >> hooks.txt'}}]
cleanup: [{{exec: 'echo down >> hooks.txt'}}]
defaults: {{duration: 1s, repeat: 2, vus: 2, rate: 40, gates: {{generator: false, delivered: false}}}}
rows:
  - {{name: own, bench: '-q'}}
  - {{name: theirs, hey: '-m GET'}}
{more}
documents:
  - {{file: results.md, columns: [{{title: Row, value: plan.title}}, {{title: Users, value: plan.users}}]}}
"
    );
    std::fs::write(folder.join("suite.yaml"), text).expect("the suite can be written");
}

fn start(folder: &Path, words: &[&str]) -> Running {
    let mut command = loadline();
    command
        .arg("suite")
        .args(words)
        .arg(folder.join("suite.yaml"));
    Running::start(command)
}

/// Runs the command to its end: exit code, standard output and standard error.
fn suite(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let output = start(folder, words).finish();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn document(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("results.md")).expect("the document was written")
}

/// The number of processes with their result in a folder.
fn runs_left(folder: &Path) -> usize {
    let name = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").expect("there is /proc");
    let environments =
        entries.filter_map(|entry| std::fs::read(entry.ok()?.path().join("environ")).ok());
    environments
        .filter(|bytes| String::from_utf8_lossy(bytes).contains(&format!("LOADLINE_JSON={name}")))
        .count()
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_suite_is_run_once_and_its_document_does_not_change() {
    let (target, folder) = (
        Target::start(&[]),
        tempfile::tempdir().expect("there is room"),
    );
    let folder = folder.path();
    write_suite(folder, &target, "");
    let (code, out, err) = suite(folder, &["run"]);
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert!(out.contains("2 passed, 0 failed, 0 pending"), "{out}");
    let hooks = std::fs::read_to_string(folder.join("hooks.txt")).expect("hooks were done");
    assert_eq!(hooks, "up\ndown\n");
    let first = document(folder);
    assert!(first.contains("own") && first.contains("theirs"), "{first}");
    let (code, _, err) = suite(folder, &["run"]);
    assert_eq!(
        code,
        Some(104),
        "a folder that holds runs is not begun anew"
    );
    assert!(
        err.contains("suite resume") && err.contains("--fresh"),
        "{err}"
    );
    let (code, _, err) = suite(folder, &["resume"]);
    assert_eq!(code, Some(0));
    assert!(err.contains("4 runs, 4 done"), "{err}");
    let (code, out, _) = suite(folder, &["render"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("up to date"), "{out}");
    assert_eq!(document(folder), first);
}

/// The output of `suite init` is run unchanged: the service is found by its port, the table is printed and
/// written.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_suite_runs_as_it_was_written() {
    let (target, folder) = (
        Target::start(&[]),
        tempfile::tempdir().expect("there is room"),
    );
    let folder = folder.path();
    let file = folder.join("suite.yaml").display().to_string();
    let init = |output: &str, more: &[&str]| {
        let mut command = loadline();
        command
            .args(["suite", "init", "-o", output, "--duration", "2s"])
            .args(["--vus", "2", "--repeat", "1"])
            .args(more);
        Running::start(command).finish()
    };
    let url = target.url("/get");
    assert_eq!(init(&file, &[&url]).status.code(), Some(0));
    let written = std::fs::read_to_string(&file).expect("it was written");
    assert!(
        written.contains("Listening on port ") && written.contains(": loadline ("),
        "{written}"
    );
    let again = init(&file, &[&url]);
    assert_eq!(again.status.code(), Some(104), "it is there already");
    let printed = init("-", &["--", "hey", "-c", "2", &url]);
    let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(printed.contains("\n  hey: \"-c 2\"\n"), "{printed}");

    let mut command = loadline();
    command
        .args(["suite", "run", &file])
        .env("LOADLINE_OBSERVE_BASELINE", "300ms")
        .env("LOADLINE_OBSERVE_TAIL", "300ms");
    let output = Running::start(command).finish();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{out}");
    let document = std::fs::read_to_string(folder.join("RESULTS.md")).expect("it was written");
    let row = document.lines().find(|line| line.starts_with("| 2 |"));
    let cells: Vec<&str> = row.expect("a row").split('|').map(str::trim).collect();
    for cell in &cells[2..9] {
        assert!(cell.contains(|c: char| c.is_ascii_digit()), "{document}");
        assert!(out.contains(cell), "{cell}\n{out}");
    }
    assert!(cells[8].ends_with("Mi"), "the service was seen: {document}");
    // Two seconds are too short for a rate: this is noted at the figure by default.
    assert!(cells[2].contains('¹'), "{document}");
    assert!(document.contains(" Short: "), "{document}");
    assert!(out.contains("RESULTS.md written"), "{out}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_killed_suite_leaves_no_load_and_goes_on() {
    let (target, folder) = (
        Target::start(&[]),
        tempfile::tempdir().expect("there is room"),
    );
    let folder = folder.path();
    write_suite(folder, &target, "");
    let mut words = "run";
    for instant in [200, 900, 1_500] {
        let running = start(folder, &[words]);
        pause(Duration::from_millis(instant));
        running.signal(SIGKILL);
        let killed = running.finish();
        assert_eq!(killed.status.code(), None, "it was killed");
        let gone = wait_for(Duration::from_secs(10), || {
            (runs_left(folder) == 0).then_some(())
        });
        assert!(gone.is_some(), "load goes on without its suite");
        if folder.join("suite.state/runs").exists() {
            words = "resume";
        }
    }
    let (code, out, err) = suite(folder, &[words]);
    assert_eq!(code, Some(0), "{out}\n{err}");
    assert!(out.contains("2 passed, 0 failed, 0 pending"), "{out}");
}

/// A suite of three short rows, and a document whose content does not differ between runs.
fn write_short_suite(folder: &Path, target: &Target) {
    let url = target.url("/get");
    let text = format!(
        "name: short
target: {url}
defaults: {{bench: '-n 60 -c 3 --observe-baseline 0s', phases: {{smoke: false}}, repeat: 2, gates: {{generator: false}}}}
rows: [{{name: one}}, {{name: two}}, {{name: three}}]
documents:
  - file: results.md
    methodology: false
    columns:
      - {{title: Row, value: plan.title}}
      - {{title: Answers, value: run.completed}}
      - {{title: Status, value: row.status}}
      - {{title: Runs, value: row.repeats}}
"
    );
    std::fs::write(folder.join("suite.yaml"), text).expect("the suite can be written");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_history_keeps_runs_that_were_made_again() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    write_short_suite(folder.path(), &target);
    let file = folder.path().join("suite.yaml");
    let text = std::fs::read_to_string(&file).expect("it was written");
    let more = "  - {file: history.csv, history: true, columns: [{title: Row, value: plan.title}, {title: Responses, value: run.completed}]}\n";
    std::fs::write(&file, text + more).expect("there is room");
    let lines = || {
        let csv =
            std::fs::read_to_string(folder.path().join("history.csv")).expect("it was written");
        assert!(
            csv.lines().skip(1).all(|line| line.ends_with(",60")),
            "{csv}"
        );
        csv.lines().count() - 1
    };
    let (code, _, err) = suite(folder.path(), &["run"]);
    assert_eq!((code, lines()), (Some(0), 6), "{err}");
    let (code, _, err) = suite(folder.path(), &["run", "--fresh"]);
    assert_eq!((code, lines()), (Some(0), 12), "{err}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn killed_at_twenty_instants_and_resumed_it_writes_the_same_document() {
    let target = Target::start(&[]);
    let whole = tempfile::tempdir().expect("there is room");
    write_short_suite(whole.path(), &target);
    let began = loadline_e2e::clock::now();
    let (code, out, err) = suite(whole.path(), &["run"]);
    assert_eq!(code, Some(0), "{out}\n{err}");
    let length = began.elapsed();
    let truth = document(whole.path());
    assert_eq!(truth.matches("| 60").count(), 3, "{truth}");
    let mut seed = 42_u64;
    for trial in 0..20 {
        // Knuth's generator: times that are spread over the whole run, the same in each test run.
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let instant = length.mul_f64((seed >> 40) as f64 / f64::from(1_u32 << 24));
        let folder = tempfile::tempdir().expect("there is room");
        write_short_suite(folder.path(), &target);
        let running = start(folder.path(), &["run"]);
        pause(instant);
        running.signal(SIGKILL);
        drop(running.finish());
        let words = match folder.path().join("suite.state/runs").exists() {
            true => "resume",
            false => "run",
        };
        let (code, out, err) = suite(folder.path(), &[words]);
        assert_eq!(
            code,
            Some(0),
            "trial {trial}, killed after {instant:?}: {out}\n{err}"
        );
        assert_eq!(
            cells(&document(folder.path())),
            cells(&truth),
            "trial {trial}, killed after {instant:?}"
        );
    }
}

/// The rows of a document's tables without their marks, which depend on how busy the machine was.
fn cells(document: &str) -> Vec<String> {
    let rows = document.lines().filter(|line| line.starts_with('|'));
    let is_mark = |c: char| c == ' ' || "⁰¹²³⁴⁵⁶⁷⁸⁹".contains(c);
    rows.map(|row| row.replace(is_mark, "")).collect()
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_stopped_suite_cleans_up_and_another_runner_is_kept_out() {
    let (target, folder) = (
        Target::start(&[]),
        tempfile::tempdir().expect("there is room"),
    );
    let folder = folder.path();
    write_suite(
        folder,
        &target,
        "  - {name: long, bench: '-q', duration: 60s, repeat: 1}",
    );
    let running = start(folder, &["run"]);
    let began = wait_for(Duration::from_secs(30), || {
        folder
            .join("suite.state/runs")
            .read_dir()
            .ok()?
            .flatten()
            .any(|entry| entry.file_name().to_string_lossy().starts_with("long"))
            .then_some(())
    });
    assert!(began.is_some(), "the third row was not begun");
    let (code, _, err) = suite(folder, &["resume"]);
    assert_eq!(code, Some(255));
    assert!(err.contains("is in use by process"), "{err}");
    pause(Duration::from_millis(500));
    running.signal(SIGINT);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(105));
    assert_eq!(runs_left(folder), 0);
    let hooks = std::fs::read_to_string(folder.join("hooks.txt")).expect("hooks were done");
    assert_eq!(hooks, "up\ndown\n");
    let (_, out, _) = suite(folder, &["status"]);
    assert!(out.contains("2 passed, 0 failed, 1 pending"), "{out}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_document_is_looked_at_before_the_first_run_and_kept_until_one_has_ended() {
    const OLD: &str = "<!-- loadline:begin results -->\nold\n<!-- loadline:end results -->\n";
    let (target, folder) = (
        Target::start(&[]),
        tempfile::tempdir().expect("there is room"),
    );
    let folder = folder.path();
    let results = folder.join("results.md");
    write_suite(folder, &target, "");
    std::fs::write(&results, "# Mine\n").expect("there is room");
    let (code, _, err) = suite(folder, &["run"]);
    assert_eq!(code, Some(104), "{err}");
    assert!(err.contains("has no block `results`"), "{err}");
    assert!(!folder.join("hooks.txt").exists(), "nothing was begun");
    std::fs::write(&results, OLD).expect("there is room");
    let running = start(folder, &["run"]);
    let began = wait_for(Duration::from_secs(30), || {
        folder.join("hooks.txt").exists().then_some(())
    });
    assert!(began.is_some(), "the suite was not begun");
    let (code, _, err) = suite(folder, &["render"]);
    assert_eq!(code, Some(255), "{err}");
    assert!(err.contains("no run has ended yet"), "{err}");
    assert_eq!(document(folder), OLD);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(0));
    assert!(document(folder).contains("| own |"), "{}", document(folder));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn failed_rows_are_told_with_their_reason() {
    let (target, folder) = (
        Target::start(&[]),
        tempfile::tempdir().expect("there is room"),
    );
    let folder = folder.path();
    let wrong = target.url("/status/500");
    let more = format!(
        "  - {{name: wrong, bench: '-q {wrong}', phases: {{smoke: false}}, repeat: 1}}
  - {{name: smoke, bench: '-q {wrong}', repeat: 1}}"
    );
    write_suite(folder, &target, &more);
    let (code, out, err) = suite(folder, &["run"]);
    assert_eq!(code, Some(99), "{out}\n{err}");
    assert!(out.contains("2 passed, 2 failed, 0 pending"), "{out}");
    assert!(out.contains("goodput: 0 of "), "{out}");
    assert!(
        out.contains("smoke: the response was bad: status 500"),
        "{out}"
    );
}

/// Nothing listens at port 1; the run itself goes well.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_row_whose_audited_output_took_nothing_fails() {
    let folder = tempfile::tempdir().expect("there is room");
    let target = Target::start(&[]);
    let text = format!(
        "name: audited
rows: [{{name: a, bench: '-q -c 1 -n 20 --audit -o prometheus-rw=http://127.0.0.1:1/api/v1/write {}'}}]
",
        target.url("/get")
    );
    std::fs::write(folder.path().join("suite.yaml"), text).expect("it can be written");
    let (code, out, err) = suite(folder.path(), &["run"]);
    assert_eq!(code, Some(99), "{out}{err}");
    let told = format!("{out}{err}");
    assert!(
        told.contains("outputs: ") && told.contains("samples never arrived"),
        "{told}"
    );
}

/// The goal is half a second; the limit here is far higher, since other tests run at the same time.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn two_hundred_rows_are_planned_at_once() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    std::fs::write(folder.join("a.js"), "export default function () {}").expect("there is room");
    let text = "name: many\ntarget: http://127.0.0.1:1/\n\
        defaults: { script: a.js, env: { SIZE: \"${axis.size}\" }, duration: 1s }\n\
        axes: { vus: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], size: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], way: [a, b] }\n\
        before: [{ exec: \"echo ${axis.way}\" }]\ndocuments: [{ file: R.md, preset: replicas, with: { label: vus } }]\n";
    std::fs::write(folder.join("suite.yaml"), text).expect("there is room");
    let mut seconds = f64::INFINITY;
    for _ in 0..3 {
        let begun = loadline_e2e::clock::now();
        let (code, out, err) = suite(folder, &["plan"]);
        seconds = seconds.min(begun.elapsed().as_secs_f64());
        assert_eq!(code, Some(0), "{err}");
        assert!(out.contains("vus=10 size=10 way=b"), "{out}");
    }
    assert!(seconds < 5.0, "{seconds} s for 200 rows");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_bad_suite_is_refused_with_its_place_and_nothing_is_done() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let text = "name: a\nprepare: [{exec: touch done}]\nrows:\n  - bench: http://127.0.0.1:1/\n    durtion: 1s\n";
    std::fs::write(folder.join("suite.yaml"), text).expect("the suite can be written");
    let (code, _, err) = suite(folder, &["run"]);
    assert_eq!(code, Some(104));
    assert!(
        err.contains("suite.yaml:5:5: a row has no key `durtion`; did you mean `duration`?"),
        "{err}"
    );
    assert!(!folder.join("done").exists() && !folder.join("suite.state").exists());
}
