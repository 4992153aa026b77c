//! What goes to standard output, what to standard error, and in which form.
//!
//! Must not know the content of a report. Invariant: each stream on its own contains what it is for, and
//! nothing else.

use loadline_e2e::process::{Running, binary, has_program};
use loadline_e2e::server::Server;
use loadline_e2e::{loadline, run, run_to_end, skip, web};

use std::process::{Command, Output};

fn server() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")))
}

fn bench(arguments: &[&str]) -> (Output, String, String) {
    let server = server();
    let url = server.url("/");
    let output = run([&["bench", "--no-journal"], arguments, &[&url]].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    (output, out, err)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_report_goes_to_standard_output_alone() {
    let (output, out, err) = bench(&["-n", "20", "-c", "2"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out.contains("Verdict"), "{out}");
    assert_eq!(err, "", "a run shorter than a progress line says nothing");
    assert!(
        !out.contains('\x1b'),
        "a pipe gets no control sequences: {out:?}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn piped_progress_is_plain_lines_on_standard_error() {
    let (_, out, err) = bench(&["-r", "50", "-c", "2", "-z", "5500ms"]);
    assert!(!err.contains(['\x1b', '\r']), "{err:?}");
    assert!((1..=2).contains(&err.lines().count()), "{err}");
    assert!(
        !out.contains(err.lines().next().expect("there is one")),
        "{out}"
    );
    let (_, _, quiet) = bench(&["-r", "50", "-c", "2", "-z", "5500ms", "-q"]);
    assert_eq!(quiet, "");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn json_and_csv_on_standard_output_are_pure() {
    let (_, out, err) = bench(&["-n", "20", "-c", "2", "--json", "-"]);
    let result: serde_json::Value = serde_json::from_str(&out).expect("JSON and nothing else");
    assert_eq!(result["totals"]["seen"]["counts"]["completed"], 20);
    assert!(err.contains("Verdict"), "the report goes elsewhere: {err}");

    let (_, out, err) = bench(&["-n", "20", "-c", "2", "--csv", "-"]);
    assert_eq!(
        out.lines().count(),
        21,
        "a header and a line a sample: {out}"
    );
    let columns = out.lines().next().map(|line| line.split(',').count());
    let whole = out
        .lines()
        .all(|line| Some(line.split(',').count()) == columns);
    assert!(whole && columns > Some(5), "{out}");
    assert!(err.contains("Verdict"), "{err}");
}

/// Machine-readable outputs of the dialects contain nothing else; the verdict goes to standard error.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn machine_outputs_of_dialects_are_pure() {
    let server = server();
    let url = server.url("/");
    let csv = run(["hey", "-n", "20", "-c", "2", "-o", "csv", &url]);
    let out = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert_eq!(out.lines().count(), 21, "{out}");
    assert!(out.starts_with("response-time,"), "{out}");
    assert!(String::from_utf8_lossy(&csv.stderr).contains("Verdict"));

    let json = run([
        "bombardier",
        "-n",
        "20",
        "-c",
        "2",
        "-o",
        "json",
        "-p",
        "r",
        &url,
    ]);
    let result: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON alone");
    assert_eq!(result["result"]["req2xx"], 20);

    for arguments in [
        ["hey", "--no-verdict", "-n", "20", "-c", "2", &url].as_slice(),
        &["bombardier", "--no-verdict", "-n", "20", "-c", "2", &url],
    ] {
        let output = run(arguments);
        let both = [output.stdout, output.stderr].concat();
        let both = String::from_utf8_lossy(&both).into_owned();
        assert!(!both.contains("Verdict"), "{arguments:?}: {both}");
    }
}

/// The names under which users call those tools.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn links_named_like_the_tools_speak_their_dialects() {
    let server = server();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (name, part) in [("hey", "Requests/sec:"), ("bombardier", "Bombarding")] {
        let link = folder.path().join(name);
        std::os::unix::fs::symlink(binary(), &link).expect("links can be made");
        let mut command = Command::new(link);
        command.args(["-n", "20", "-c", "2", &server.url("/")]);
        let output = run_to_end(command);
        let report = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(report.contains(part), "{name}: {report}");
    }
}

/// A reader that closes the stream early (`| head -1`) is no reason to panic.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn closed_streams_are_no_panic() {
    let server = server();
    let url = server.url("/");
    let script = "\"$0\" \"$@\" 2>stderr | head -1; cat stderr";
    for arguments in [
        ["bench", "-q", "-n", "20", "-c", "2", &url].as_slice(),
        &["bench", "-q", "-n", "20k", "-c", "2", "--csv", "-", &url],
        &["bench", "-q", "-n", "20", "-c", "2", "--json", "-", &url],
        &["hey", "-n", "20", "-c", "2", &url],
        &["bombardier", "-n", "20", "-c", "2", &url],
        &["--help"],
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut command = loadline_e2e::loadline_under(script);
        command.current_dir(folder.path()).args(arguments);
        let output = run_to_end(command);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
        assert!(!said.is_empty(), "{arguments:?} wrote nothing");
    }
    // Both streams closed from the start.
    let mut command = loadline_e2e::loadline_under("exec \"$0\" \"$@\" >&- 2>&-");
    command.args(["bench", "-n", "20", "-c", "2", &url]);
    let code = run_to_end(command).status.code();
    assert!(code.is_some_and(|code| code != 101), "exit code {code:?}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn colours_are_asked_for_or_not() {
    let server = server();
    let url = server.url("/");
    let out = |settings: &[(&str, &str)], arguments: &[&str]| {
        let mut command = loadline();
        command
            .env_remove("NO_COLOR")
            .envs(settings.iter().copied());
        command
            .args(["bench", "-q", "-n", "5", "-c", "1"])
            .args(arguments)
            .arg(&url);
        String::from_utf8_lossy(&run_to_end(command).stdout).into_owned()
    };
    assert!(out(&[("CLICOLOR_FORCE", "1")], &[]).contains("\x1b["));
    assert!(!out(&[], &[]).contains('\x1b'), "a pipe has no colours");
    let both = [("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")];
    assert!(!out(&both, &[]).contains('\x1b'));
    assert!(!out(&[("CLICOLOR_FORCE", "1")], &["--no-color"]).contains('\x1b'));
}

/// On a terminal, progress is one block that is redrawn, and the cursor is restored.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_terminal_gets_a_live_block() {
    if !has_program("script") {
        return skip(
            "a_terminal_gets_a_live_block",
            "script (util-linux) is not installed",
        );
    }
    let server = server();
    let path = binary().into_string().expect("a path of text");
    let line = format!(
        "{path} bench -r 50 -c 2 -z 2500ms --no-journal {}",
        server.url("/")
    );
    let mut command = Command::new("script");
    command.args(["-q", "-e", "-c", &line, "/dev/null"]);
    command
        .env("TERM", "xterm")
        .env("COLUMNS", "90")
        .env_remove("NO_COLOR");
    let output = Running::start(command).finish();
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{screen}");
    let times = |sequence: &str| screen.matches(sequence).count();
    assert_eq!(
        (times("\x1b[?25l"), times("\x1b[?25h")),
        (1, 1),
        "hidden and shown: {screen:?}"
    );
    assert!(times("\x1b[K") > 3, "lines are redrawn: {screen:?}");
    let (_, after) = screen.rsplit_once("\x1b[?25h").expect("just counted");
    assert!(
        after.contains("Verdict"),
        "the report follows the block: {screen:?}"
    );
    assert!(after.contains("\x1b["), "it is coloured: {screen:?}");
}

/// What a terminal shows of bytes that move its cursor as progress does: lines, without colours.
fn screen_of(bytes: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    let (mut row, mut rest) = (0, bytes);
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(String::new());
                }
            }
            '\r' => {}
            '\x1b' => {
                let end = rest
                    .find(|c: char| c.is_ascii_alphabetic())
                    .expect("it ends");
                let (sequence, after) = (&rest[1..end], &rest[end + 1..]);
                match &rest[end..=end] {
                    "A" => row = row.saturating_sub(sequence.parse().expect("a number of lines")),
                    "J" => {
                        lines.truncate(row + 1);
                        lines[row].clear();
                    }
                    _ => {}
                }
                rest = after;
            }
            letter => {
                lines[row].push(letter);
            }
        }
    }
    lines
}

/// On a terminal what a script logs stands above its progress: none of it is drawn over.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_log_on_a_terminal_stands_above_the_progress() {
    if !has_program("script") {
        return skip(
            "a_log_on_a_terminal_stands_above_the_progress",
            "script (util-linux) is not installed",
        );
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("logs.js");
    let text = "import { sleep } from 'k6'; export const options = { vus: 1, iterations: 8 };\n\
                export default function () { console.log(`iteration ${__ITER}`); sleep(0.45) }";
    std::fs::write(&file, text).expect("written");
    let path = binary().into_string().expect("a path of text");
    let mut command = Command::new("script");
    let line = format!("{path} run {}", file.display());
    command.args(["-q", "-e", "-c", &line, "/dev/null"]);
    command
        .env("TERM", "xterm")
        .env("COLUMNS", "100")
        .env("HOME", folder.path());
    let output = Running::start(command).finish();
    let bytes = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{bytes}");
    let screen = screen_of(&bytes);
    let logged: Vec<&String> = screen
        .iter()
        .filter(|line| line.contains("iteration "))
        .collect();
    assert_eq!(logged.len(), 8, "{screen:#?}");
    for (number, line) in logged.iter().enumerate() {
        assert!(line.contains(&format!("iteration {number}")), "{screen:#?}");
    }
    let progress = screen.iter().filter(|line| line.contains("running ("));
    assert_eq!(progress.count(), 1, "the last alone is left: {screen:#?}");
}
