//! How runs end: exit codes, signals, and the content of the journal of a killed run.
//!
//! Must not know how signals are delivered. Invariant: the target responds to everything, so that only the
//! ending under test determines the exit code.

use loadline_e2e::process::{Running, loadline_under};
use loadline_e2e::ran::{bench_finish, bench_start, in_one_line};
use loadline_e2e::server::Server;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench, clock, loadline, run, web};

use std::cell::Cell;
use std::process::Command;
use std::time::Duration;

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn exit_codes_of_whole_runs() {
    let target = Target::start(&[]);
    let (good, bad) = (target.url("/get"), target.url("/status/500"));
    for (arguments, code) in [
        (["-n", "20", &good].as_slice(), 0),
        (&["-n", "20", &good, &bad], 0),
        (&["-n", "20", &bad], 1),
        (&["-n", "20", "--expect", "status=500", &bad], 0),
        (&["-n", "20", "--expect", "body~no such words", &good], 1),
        (&["-n", "20", "--threshold", "p(99)<1m", &good], 0),
        (&["-n", "20", "--threshold", "p(50)<1ns", &good], 99),
        (
            &["-n", "20", "--threshold", "error_rate<1%", &good, &bad],
            99,
        ),
    ] {
        let ran = bench(&[&["-q"], arguments].concat());
        assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.out);
        assert_eq!(ran.count("completed"), 20, "{arguments:?}");
    }
}

/// The dialects end with their tools' exit codes: 0, whatever the responses.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn exit_codes_of_dialects() {
    let target = Target::start(&[]);
    let bad = target.url("/status/500");
    for arguments in [
        ["hey", "-n", "20", "-c", "2", &bad].as_slice(),
        &["bombardier", "-n", "20", "-c", "2", &bad],
    ] {
        let output = run(arguments);
        let report = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {report}");
        assert!(
            in_one_line(&report).contains("sent 20 · answered 20 · failed 0"),
            "{report}"
        );
    }
}

fn slow_server(answer_after: Duration) -> Server {
    Server::start(move |stream, stop| {
        web::serve(stream, |_| {
            stop.pause(answer_after);
            web::ok("ok")
        })
    })
}

/// Starts a run of ten seconds, waits until requests are in flight, and acts on it.
fn interrupted(answer_after: Duration, act: impl FnOnce(&Running)) -> Ran {
    let server = slow_server(answer_after);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let running = bench_start(&folder, &["-c", "4", "-z", "10s", &server.url("/")]);
    let begun = clock::wait_for(Duration::from_secs(5), || {
        (server.accepted() >= 4).then_some(())
    });
    begun.expect("four connections are made");
    clock::pause(Duration::from_millis(300));
    act(&running);
    bench_finish(&folder, running)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_signal_ends_a_run_however_slow_its_target_is() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let asked = Cell::new(clock::now());
        let ran = interrupted(Duration::from_secs(30), |running| {
            asked.set(clock::now());
            running.signal(signal);
        });
        assert!(asked.get().elapsed() < Duration::from_secs(3), "it waited");
        ran.assert_code(105);
        assert_eq!(ran.at("/totals/stop"), "interrupted");
        assert_eq!((ran.count("started"), ran.count("interrupted")), (4, 4));
        assert!(ran.report().contains("stopped by a signal"), "{}", ran.out);
        assert!(ran.report().contains("Verdict"), "{}", ran.out);
        assert!(ran.err.contains("again to exit at once"), "{}", ran.err);
    }
}

/// Requests still in flight when the planned duration and the graceful stop are over.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn requests_that_outlast_the_graceful_stop_are_interrupted() {
    let server = slow_server(Duration::from_secs(30));
    let times = ["-z", "200ms", "--graceful-stop", "200ms"];
    let ran = bench(&[&times[..], &["-c", "3", "-q", &server.url("/")]].concat());
    assert_eq!((ran.count("started"), ran.count("interrupted")), (3, 3));
    assert_eq!(ran.at("/totals/stop"), "finished");
    ran.assert_code(1);
}

/// The content of a journal: `loadline report --json` of it.
fn told_by(journal: &str) -> (Ran, String) {
    let output = run(["report", "--json", journal]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let json = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    // The outcome of requests in flight when the process died is unknown.
    let value: serde_json::Value = serde_json::from_str(&json).expect("the result is JSON");
    assert_eq!(value["totals"]["stop"], "crashed");
    (Ran::of(&output, Some(&json)), said)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_killed_run_is_told_by_its_journal() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let journal = folder.path().join("run.journal");
    let journal = journal.to_str().expect("a path of text");
    let mut command = loadline();
    command.args([
        "bench",
        "-q",
        "-r",
        "100",
        "-c",
        "4",
        "-z",
        "30s",
        "--journal",
        journal,
    ]);
    command.arg(server.url("/"));
    let begun = clock::now();
    let running = Running::start(command);
    clock::pause(Duration::from_millis(4500));
    running.signal(libc::SIGKILL);
    let lived = begun.elapsed();
    assert_eq!(running.finish().status.code(), None, "it was killed");

    let (ran, said) = told_by(journal);
    assert!(said.contains("crashed or is still running"), "{said}");
    let told = Duration::from_nanos(ran.number("/totals/elapsed_ns"));
    assert!(
        told <= lived && told + Duration::from_secs(2) >= lived,
        "{told:?} of {lived:?}"
    );
    let planned = told.as_secs_f64() * 100.0;
    let completed = ran.count("completed") as f64;
    assert!(
        (completed - planned).abs() <= 0.1 * planned,
        "{completed} of about {planned}"
    );

    let output = run(["report", journal]);
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(report.contains("the process died"), "{report}");
}

/// A journal that was not requested is removed after a clean end, and stays after a kill.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_default_journal_is_removed_after_a_clean_end() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let journals = || {
        std::fs::read_dir(folder.path())
            .expect("it is there")
            .count()
    };
    let start = |arguments: &[&str]| {
        let mut command = loadline();
        command
            .env("LOADLINE_STATE", folder.path())
            .args(arguments)
            .arg(server.url("/"));
        Running::start(command)
    };
    let clean = start(&["bench", "-q", "-n", "50", "-c", "2"]).finish();
    assert_eq!((clean.status.code(), journals()), (Some(0), 0));
    let killed = start(&["bench", "-q", "-c", "2", "-z", "30s"]);
    let there = clock::wait_for(Duration::from_secs(5), || (journals() == 1).then_some(()));
    there.expect("a journal is kept while the run goes on");
    killed.signal(libc::SIGKILL);
    let _ = killed.finish();
    assert_eq!(journals(), 1);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_signal_before_the_load_lets_nothing_be_sent() {
    let server = slow_server(Duration::ZERO);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let observed = ["--observe", "self", "--observe-baseline", "20s"];
    let url = server.url("/");
    let load = ["-c", "20", "-z", "10s", &url];
    let running = bench_start(&folder, &[&observed[..], &load[..]].concat());
    clock::pause(Duration::from_millis(1_500));
    running.signal(libc::SIGTERM);
    let ran = bench_finish(&folder, running);
    ran.assert_code(105);
    assert_eq!((ran.count("started"), server.accepted()), (0, 0));
}

/// The exit code and the messages of a command that gets SIGHUP once it has sent a request.
fn hung_up(command: Command, server: &Server) -> (Option<i32>, String) {
    let running = Running::start(command);
    let asked = || (server.accepted() > 0).then_some(());
    clock::wait_for(Duration::from_secs(10), asked).expect("it sends");
    running.signal(libc::SIGHUP);
    let output = running.finish();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), told)
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_says_which_signal_ended_it() {
    let server = slow_server(Duration::from_millis(10));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let script = folder.path().join("s.js");
    let text = format!(
        "import http from 'k6/http';\nexport default () => {{ http.get('{}'); }};\n",
        server.url("/")
    );
    std::fs::write(&script, text).expect("written");
    // Tests may themselves run under nohup.
    let mut command = loadline_under(r#"exec env --default-signal=HUP "$0" "$@""#);
    command.args(["run", "-d", "20s"]).arg(&script);
    let (code, told) = hung_up(command, &server);
    assert_eq!(code, Some(105), "{told}");
    assert!(told.contains("'hangup'"), "{told}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_run_under_nohup_outlives_its_terminal() {
    let server = slow_server(Duration::from_millis(10));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = loadline_under(r#"exec nohup "$0" "$@""#);
    command.args(["bench", "-q"]);
    command.args(["-c", "2", "-z", "2s", &server.url("/")]);
    command.current_dir(folder.path());
    let (code, told) = hung_up(command, &server);
    assert_eq!(code, Some(0), "{told}");
}
