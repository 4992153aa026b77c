//! Ending a test early: by signals, thresholds, the script itself, the API; and twice.
//!
//! Must not know how orders are delivered. Invariant: the table with which the binary is compared was recorded
//! from k6.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use loadline_e2e::process::{Running, binary, send};
use loadline_e2e::rest::RestApi;
use loadline_e2e::server::Server;
use loadline_e2e::{clock, loadline, run_to_end, stops, web};
use serde_json::Value;

/// The time that the second signal allows a process, doubled for a busy machine.
const SOON: Duration = Duration::from_secs(3);

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_test_that_is_ended_ends_as_under_k6() {
    let golden = fs::read_to_string(stops::golden()).expect("the table was recorded");
    let golden: Value = serde_json::from_str(&golden).expect("it is JSON");
    assert_eq!(golden["peer"], stops::PEER);
    let seen = stops::observe(&binary(), &["k6", "run"]);
    let (seen, golden) = (seen.as_object(), golden["seen"].as_object());
    let (seen, golden) = (seen.expect("a table"), golden.expect("a table"));
    assert_eq!(seen.len(), golden.len(), "a situation was not recorded");
    let differ = seen.iter().filter(|(cell, seen)| golden[*cell] != **seen);
    let told = differ.map(|(cell, seen)| format!("{cell}: {seen}, under k6 {}", golden[cell]));
    let told: Vec<String> = told.collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

fn script(text: &str) -> (tempfile::TempDir, Command) {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("script.js");
    fs::write(&path, text).expect("there is room");
    let mut command = loadline();
    command.args(["run", "--no-color"]).arg(path);
    (folder, command)
}

const QUICK: &str = "
    export const options = { vus: 2, iterations: 20 };
    export default function () {}";

fn answering() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")))
}

/// The API keeps a watch on the run, and the watch must not keep an output open.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn every_output_ends_with_the_run_while_the_api_is_served() {
    let server = answering();
    let folder = tempfile::tempdir().expect("there is room");
    let file = |name: &str| format!("{name}={}", folder.path().join(name).display());
    let outputs = [
        file("json"),
        file("csv"),
        file("jtl"),
        file("junit"),
        format!("influxdb=http://{}/db", server.address()),
        "statsd=127.0.0.1:9".to_owned(),
        format!("experimental-prometheus-rw=http://{}/", server.address()),
    ];
    for with_api in [true, false] {
        for output in &outputs {
            let (_folder, mut command) = script(QUICK);
            let api = RestApi::free();
            if with_api {
                command.args(["--address", api.address()]);
            }
            command.args(["-o", output]);
            let ended = run_to_end(command);
            let log = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert_eq!(ended.status.code(), Some(0), "{output}: {log}");
        }
    }
    let lines = fs::read_to_string(folder.path().join("json")).expect("it was written");
    let is_iteration = |line: &&str| line.contains(r#""metric":"iterations","type":"Point""#);
    let iterations = lines.lines().filter(is_iteration).count();
    assert_eq!(iterations, 20, "{lines}");
}

/// Sends signals, the first after two seconds, and measures from the last; returns the exit code.
fn signalled(command: Command, signals: &[i32]) -> Option<i32> {
    let running = Running::start(command);
    clock::pause(Duration::from_millis(1_500));
    let mut asked = clock::now();
    for signal in signals {
        clock::pause(Duration::from_millis(500));
        asked = clock::now();
        running.signal(*signal);
    }
    let output = running.finish();
    assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
    output.status.code()
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_second_signal_ends_a_test_whatever_it_waits_for() {
    let signals = [libc::SIGINT, libc::SIGTERM];
    let long = "export function teardown() { while (true) {} }";
    for pair in signals
        .iter()
        .flat_map(|first| signals.map(|second| [*first, second]))
    {
        let (_folder, command) = script(&format!("{QUICK}\n{long}"));
        assert_eq!(signalled(command, &pair), Some(105), "{pair:?}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_signal_is_heeded_while_virtual_users_are_made() {
    for busy in ["Date.now() < started + 20", "__VU === 0 || true"] {
        let (_folder, command) = script(&format!(
            "const started = Date.now();
             while (__VU > 0 && ({busy})) {{}}
             export const options = {{ vus: 5000, duration: '1m' }};
             export default function () {{}}"
        ));
        assert_eq!(signalled(command, &[libc::SIGINT]), Some(105), "{busy}");
    }
}

/// Sixty megabytes of gzip that decompress to nothing.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_signal_is_heeded_while_an_answer_is_unpacked() {
    const NOTHING: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0";
    let server = Server::start(|stream, _| {
        web::serve(stream, |_| {
            let body = NOTHING.repeat(3_000_000);
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length";
            let head = format!("{head}: {}\r\n\r\n", body.len());
            [head.into_bytes(), body].concat()
        })
    });
    let (_folder, command) = script(&format!(
        "import http from 'k6/http';
         export const options = {{ duration: '1m' }};
         export default function () {{ http.get('{}', {{ timeout: '10m' }}); }}",
        server.url("/")
    ));
    assert_eq!(signalled(command, &[libc::SIGINT]), Some(105));
}

/// A pipe that nobody reads: the sink's thread blocks in a write, and the workers behind it.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_second_signal_ends_a_test_whose_output_stands_still() {
    let (folder, mut command) = script(
        "export const options = { vus: 2, duration: '30s' };
         export default function () {}",
    );
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    let unread = fs::OpenOptions::new().read(true).write(true).open(&pipe);
    let _unread = unread.expect("a pipe can be opened at both ends");
    command.arg("-o").arg(format!("json={}", pipe.display()));
    let code = signalled(command, &[libc::SIGINT, libc::SIGTERM]);
    assert_eq!(code, Some(105));
}

/// A pipe without a reader is refused if it is opened first, and is never waited for.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_pipe_without_a_reader_holds_up_no_command() {
    for option in ["--csv=pipe", "--out=csv=pipe", "--out=junit=pipe"] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let made = Command::new("mkfifo")
            .arg("pipe")
            .current_dir(&folder)
            .status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
        let mut command = loadline();
        command.current_dir(&folder);
        command.args(["bench", "-n", "1", option, "http://127.0.0.1:1/"]);
        let begun = clock::now();
        let output = Running::start(command).finish();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(begun.elapsed() < SOON * 2, "{option}: {said}");
        assert_eq!(output.status.code(), Some(104), "{option}: {said}");
        assert!(said.contains("a pipe that no process reads"), "{said}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_search_whose_script_ends_it_keeps_its_probes() {
    let asked = AtomicUsize::new(0);
    let server = Server::start(move |stream, _| {
        web::serve(stream, |_| {
            let is_enough = asked.fetch_add(1, Ordering::Relaxed) > 50;
            web::ok(if is_enough { "enough" } else { "more" })
        })
    });
    let (folder, _) = script(&format!(
        "import http from 'k6/http';
         import exec from 'k6/execution';
         export default function () {{
             if (http.get('{}').body === 'enough') {{ exec.test.abort('it is enough'); }}
         }}",
        server.url("/")
    ));
    let mut command = loadline();
    command.current_dir(&folder);
    command.args([
        "capacity", "--slo", "p(99)<5s", "--from", "20", "--to", "200",
    ]);
    command.args([
        "--probe",
        "2s",
        "--warm-up",
        "0s",
        "--json",
        "found.json",
        "script.js",
    ]);
    let output = Running::start(command).finish();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(108), "{said}");
    assert!(said.contains("it is enough"), "{said}");
    let found = fs::read_to_string(folder.path().join("found.json")).expect("it was written");
    let found: Value = serde_json::from_str(&found).expect("it is JSON");
    assert_eq!(found["probes"].as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_sweep_that_is_stopped_in_its_first_load_says_so() {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")));
    let mut command = loadline();
    let loads = ["--concurrency", "1,2", "-z", "1m"];
    command.arg("sweep").args(loads).arg(server.url("/"));
    let running = Running::start(command);
    let begun = || (server.accepted() > 0).then_some(());
    clock::wait_for(Duration::from_secs(20), begun).expect("it begins");
    let asked = clock::now();
    running.signal(libc::SIGINT);
    let output = running.finish();
    assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(105), "{said}");
    assert!(said.contains("nothing to report"), "{said}");
}

/// What a search knows is on the disk after each of its loads: a process that is killed has no last word.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_search_that_is_killed_leaves_what_it_knew() {
    let server = answering();
    let capacity = "capacity --slo p(99)<5s --from 20 --to 200 --probe 2s";
    for (line, loads) in [
        (capacity, "probes"),
        ("sweep --rates 20..200/10 -z 1s", "points"),
    ] {
        let folder = tempfile::tempdir().expect("there is room");
        let file = folder.path().join("known.json");
        let mut command = loadline();
        command.current_dir(&folder).args(line.split(' '));
        command.args(["--warm-up", "0s", "--json", "known.json"]);
        command.arg(server.url("/"));
        let running = Running::start(command);
        let known = || fs::read_to_string(&file).ok();
        let known = clock::wait_for(Duration::from_secs(30), known);
        running.signal(libc::SIGKILL);
        drop(running.finish());
        let known = known.unwrap_or_else(|| panic!("nothing was kept: {line}"));
        let known: Value = serde_json::from_str(&known).expect("it is JSON");
        let kept = known[loads].as_array().map_or(0, Vec::len);
        assert!(kept > 0, "{line}: {known}");
    }
}

/// A user who does not read a test's output does not prevent it from ending.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_second_signal_ends_a_test_whose_streams_nobody_reads() {
    let (_folder, mut command) = script(
        "export const options = { vus: 2, duration: '30s' };
         export default function () { console.log('x'.repeat(5000)); }",
    );
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    clock::pause(Duration::from_secs(2));
    for _ in 0..2 {
        send(child.id(), libc::SIGINT);
        clock::pause(Duration::from_millis(300));
    }
    let ended = clock::wait_for(SOON, || child.try_wait().expect("it can be asked"));
    drop(child.kill());
    assert_eq!(ended.and_then(|status| status.code()), Some(105));
}

/// k6 is killed by a signal while `handleSummary` runs; here the measurements are reported first.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_signal_during_handle_summary_ends_it_and_the_usual_summary_is_told() {
    let endless = "export function handleSummary() { while (true) {} }";
    let (_folder, command) = script(&format!("{QUICK}\n{endless}"));
    let running = Running::start(command);
    clock::pause(Duration::from_secs(2));
    let asked = clock::now();
    running.signal(libc::SIGINT);
    let output = running.finish();
    assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(105), "{told}");
    assert!(told.contains("iterations"), "{told}");
}

/// A receiver that accepts connections and never responds, and one that does not exist.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_signal_ends_the_flush_to_a_dead_receiver_and_says_what_was_lost() {
    let silent = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let silent_at = silent.local_addr().expect("it is bound");
    let gone = RestApi::free();
    for receiver in [silent_at.to_string(), gone.address().to_owned()] {
        for output in ["influxdb", "experimental-prometheus-rw", "opentelemetry"] {
            let (_folder, mut command) = script(QUICK);
            command.env("K6_OTEL_EXPORTER_TYPE", "http");
            command.env("K6_OTEL_HTTP_EXPORTER_ENDPOINT", &receiver);
            command.env("K6_OTEL_HTTP_EXPORTER_INSECURE", "true");
            let argument = match output {
                "opentelemetry" => output.to_owned(),
                output => format!("{output}=http://{receiver}/db"),
            };
            command.args(["-o", &argument]);
            let running = Running::start(command);
            clock::pause(Duration::from_millis(2500));
            let asked = clock::now();
            running.signal(libc::SIGTERM);
            let ended = running.finish();
            let log = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(asked.elapsed() < SOON, "{argument}: {:?}", asked.elapsed());
            assert!(
                log.contains("lost") || log.contains("failed"),
                "{argument}: {log}"
            );
        }
    }
}

/// No agent joins: after the first signal nothing is waited for any more.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_signal_is_heeded_while_agents_are_awaited() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let mut command = loadline();
        command.args(["bench", "-z", "1m", "--agents", "2"]);
        command.args(["--listen", "127.0.0.1:0", "http://127.0.0.1:1/"]);
        assert_eq!(signalled(command, &[signal]), Some(105), "{signal}");
    }
}

/// An observer whose reading takes longer than the wait: the result is written anyway.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_second_signal_leaves_observers_behind_and_keeps_the_result() {
    let server = answering();
    let folder = tempfile::tempdir().expect("there is room");
    let result = folder.path().join("result.json");
    let mut command = loadline();
    command.args(["bench", "-z", "1m", "--observe-baseline", "0s"]);
    command.args(["--observe", "command:sleep 60;timeout=90s"]);
    command.arg("--json").arg(&result).arg(server.url("/"));
    let signals = [libc::SIGINT, libc::SIGTERM];
    assert_eq!(signalled(command, &signals), Some(105));
    let result = fs::read_to_string(result).expect("the result was written");
    let result: Value = serde_json::from_str(&result).expect("it is JSON");
    let completed = &result["totals"]["seen"]["counts"]["completed"];
    assert!(
        completed.as_u64().is_some_and(|count| count > 0),
        "{completed}"
    );
}

/// A process that is killed while it draws leaves its measurements.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn what_was_measured_is_written_before_what_is_drawn() {
    let server = answering();
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| folder.path().join(name);
    let mut command = loadline();
    command.args(["bench", "-q", "-n", "10"]);
    command.arg("--charts").arg(at("charts"));
    command.arg("--report").arg(at("report.html"));
    command.arg("--json").arg(at("result.json"));
    command.arg(server.url("/"));
    let output = run_to_end(command);
    assert_eq!(output.status.code(), Some(0));
    let written = |path: std::path::PathBuf| {
        let of = fs::metadata(&path).and_then(|of| of.modified());
        of.unwrap_or_else(|why| panic!("{}: {why}", path.display()))
    };
    let result = written(at("result.json"));
    for name in [
        "charts/throughput.svg",
        "charts/throughput.png",
        "report.html",
    ] {
        assert!(result <= written(at(name)), "{name}");
    }
}

/// Local agents that have not joined yet are killed instead of awaited.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_signal_is_heeded_while_local_agents_start() {
    for after_ms in [50, 150, 300] {
        let mut command = loadline();
        command.args(["bench", "-z", "1m", "--agents", "3", "http://127.0.0.1:1/"]);
        let running = Running::start(command);
        clock::pause(Duration::from_millis(after_ms));
        let asked = clock::now();
        running.signal(libc::SIGTERM);
        let output = running.finish();
        assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
        let is_early = output.status.code().is_none();
        assert!(is_early || output.status.code() == Some(105), "{output:?}");
    }
}
