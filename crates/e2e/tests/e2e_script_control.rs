//! Running tests watched and controlled from outside: the REST API, its client commands, pausing, scaling,
//! lingering; and what their scripts are told.
//!
//! Must not know how the API is served. Invariant: every response compared as a whole was recorded from k6
//! v2.2.0.

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use loadline_e2e::process::Running;
use loadline_e2e::rest::RestApi;
use loadline_e2e::target::Target;
use loadline_e2e::{clock, loadline, run_to_end};

const PAUSED: &str = r#"{"data":{"type":"status","id":"default","attributes":{"status":4,"paused":true,"vus":0,"vus-max":2,"stopped":false,"running":false,"tainted":false}}}"#;

/// A test whose script is in its own folder.
struct Test {
    folder: tempfile::TempDir,
    api: RestApi,
}

impl Test {
    fn new(script: &str) -> Test {
        let folder = tempfile::tempdir().expect("there is room");
        fs::write(folder.path().join("script.js"), script).expect("there is room");
        Test {
            folder,
            api: RestApi::free(),
        }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = loadline();
        command
            .arg("run")
            .args(["--address", self.api.address()])
            .args(arguments)
            .arg(self.folder.path().join("script.js"));
        command
    }

    fn start(&self, arguments: &[&str]) -> Running {
        Running::start(self.command(arguments))
    }

    /// Runs one of the API's client commands; returns its output.
    fn tell(&self, words: &[&str]) -> Output {
        let mut command = loadline();
        command.args(words).args(["--address", self.api.address()]);
        run_to_end(command)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const PLAIN: &str = "
    import { check, group, sleep } from 'k6';
    export const options = { vus: 2, duration: '30s', thresholds: { iterations: ['count<0'] } };
    export function setup() { return { z: 1, a: '<' }; }
    export default function () {
        group('outer', () => check(1, { 'b<c': () => true }));
        sleep(0.05);
    }
    export function teardown(data) { console.log('end ' + JSON.stringify(data)); }";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_paused_test_is_described_resumed_and_stopped_as_under_k6() {
    let test = Test::new(PLAIN);
    let running = test.start(&["--paused"]);
    let api = &test.api;
    api.wait_for("status", 4);
    assert_eq!(api.ask("GET", "/v1/status", "").body, PAUSED);
    let twice = api.change(r#"{"paused":true}"#);
    let told = r#"{"errors":[{"status":"500","title":"Pause error","detail":"execution is already paused"}]}"#;
    assert_eq!((twice.status, twice.body.as_str()), (500, told));
    let scaled = api.change(r#"{"vus":5}"#);
    let told = r#"{"errors":[{"status":"500","title":"Execution config error","detail":"live VU configuration updates are not supported"}]}"#;
    assert_eq!((scaled.status, scaled.body.as_str()), (500, told));
    let resumed = api.change(r#"{"paused":false,"stopped":false}"#);
    let expected = PAUSED.replace("\"paused\":true", "\"paused\":false");
    assert_eq!((resumed.status, resumed.body), (200, expected));
    api.wait_for("status", 7);
    api.wait_for("tainted", true);
    let again = api.change(r#"{"paused":true}"#);
    let why = "constant-vus executor 'default' doesn't support pause and resume operations after";
    assert!(again.body.contains(why), "{}", again.body);
    assert_eq!(api.change(r#"{"stopped":true}"#).status, 200);
    let output = running.finish();
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(103), "{log}");
    assert!(
        log.contains("msg=\"test run stopped from REST API\""),
        "{log}"
    );
    assert!(
        log.contains("msg=\"end {\\\"a\\\":\\\"<\\\",\\\"z\\\":1}\""),
        "{log}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn metrics_groups_and_setup_data_are_documents() {
    let test = Test::new(PLAIN);
    let running = test.start(&["--no-setup", "--paused"]);
    let api = &test.api;
    api.wait_for("status", 4);
    let empty = r#"{"data":{"type":"setupData","id":"default","attributes":{}}}"#;
    assert_eq!(api.ask("GET", "/v1/setup", "").body, empty);
    let set = r#"{"data":{"type":"setupData","id":"default","attributes":{"data":{"b":2.0}}}}"#;
    assert_eq!(api.ask("PUT", "/v1/setup", r#"{"b": 2.0}"#).body, set);
    let junk = api.ask("PUT", "/v1/setup", "junk");
    let told = r#"{"errors":[{"status":"400","title":"Error parsing request body","detail":"invalid character 'j' looking for beginning of value"}]}"#;
    assert_eq!((junk.status, junk.body.as_str()), (400, told));
    let ran = r#"{"data":{"type":"setupData","id":"default","attributes":{"data":{"a":"\u003c","z":1}}}}"#;
    assert_eq!(api.ask("POST", "/v1/setup", "").body, ran);
    assert_eq!(api.change(r#"{"paused":false}"#).status, 200);
    let metric = clock::wait_for(Duration::from_secs(10), || {
        let answer = api.ask("GET", "/v1/metrics/checks", "");
        (answer.status == 200).then_some(answer.body)
    });
    let expected = r#"{"data":{"type":"metrics","id":"checks","attributes":{"type":"rate","contains":"default","tainted":null,"sample":{"rate":1}}}}"#;
    assert_eq!(metric.as_deref(), Some(expected));
    let root = r#"{"data":{"type":"groups","id":"d41d8cd98f00b204e9800998ecf8427e","attributes":{"path":"","name":"","checks":null},"relationships":{"groups":{"data":[{"type":"groups","id":"c34b428ee7255085dfe7fef53d3394d5"}]},"parent":{"data":null}}}}"#;
    let group = api.ask("GET", "/v1/groups/d41d8cd98f00b204e9800998ecf8427e", "");
    assert_eq!(group.body, root);
    assert_eq!(api.change(r#"{"stopped":true}"#).status, 200);
    let log = text(&running.finish().stderr);
    assert!(
        log.contains("msg=\"end {\\\"a\\\":\\\"<\\\",\\\"z\\\":1}\""),
        "{log}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn whatever_is_asked_is_answered() {
    let test = Test::new(PLAIN);
    let running = test.start(&["--paused"]);
    let api = &test.api;
    api.wait_for("status", 4);
    for (method, path, body, status) in [
        ("GET", "/", "", 200),
        ("GET", "/ping", "", 200),
        ("GET", "/v1", "", 307),
        ("GET", "/v1/", "", 404),
        ("GET", "/v1/nope", "", 404),
        ("GET", "/v1/status/", "", 404),
        ("GET", "/v1/metrics/nope", "", 404),
        ("GET", "/v1/metrics/", "", 404),
        ("GET", "/v1/groups/nope", "", 404),
        ("POST", "/v1/groups/", "", 405),
        ("DELETE", "/v1/metrics", "", 405),
        ("POST", "/v1/status", "x", 405),
        ("GET", "/v1/teardown", "", 405),
        ("PATCH", "/v1/status", "", 400),
        ("PATCH", "/v1/status", "garbage", 400),
        ("PATCH", "/v1/status", "[]", 400),
        ("PATCH", "/v1/status", "{}", 200),
        ("GET", "/metrics", "", 200),
    ] {
        let answer = api.ask(method, path, body);
        assert_eq!(
            answer.status, status,
            "{method} {path} {body}: {}",
            answer.body
        );
    }
    running.signal(libc::SIGINT);
    let output = running.finish();
    assert_eq!(output.status.code(), Some(105));
    let log = text(&output.stderr);
    assert!(
        log.contains("was aborted because loadline received a 'interrupt' signal"),
        "{log}"
    );
}

/// As under k6, where a test begins with its `setup()`.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn progress_counts_the_time_of_setup() {
    let test = Test::new(
        "import { sleep } from 'k6';
        export const options = { duration: '1s' };
        export function setup() { sleep(2); }
        export default function () { sleep(0.1); }",
    );
    let running = test.start(&[]);
    let output = running.finish();
    let shown = text(&output.stdout);
    let last = shown.lines().rfind(|line| line.starts_with("running ("));
    assert!(
        last.is_some_and(|line| line.starts_with("running (03.")),
        "{shown}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn progress_tells_of_interrupted_iterations_when_they_are() {
    let test = Test::new(
        "import { sleep } from 'k6';
        export const options = { scenarios: { a: { executor: 'ramping-vus', startVUs: 4, gracefulRampDown: '0s',
            gracefulStop: '0s', stages: [{ duration: '600ms', target: 4 }, { duration: '0', target: 1 },
            { duration: '2s', target: 1 }] } } };
        export default function () { sleep(10); }",
    );
    let shown = text(&test.start(&[]).finish().stdout);
    let shown: Vec<_> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("running ("))
        .collect();
    assert!(
        shown[1].ends_with("0 complete and 3 interrupted iterations"),
        "{shown:?}"
    );
    assert!(
        shown
            .last()
            .is_some_and(|line| line.contains(" and 4 interrupted")),
        "{shown:?}"
    );
}

/// Rows of data by number are used one after another, whatever is dropped.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn dropped_iterations_leave_no_holes_in_the_numbers() {
    const WHOLE: &str = "0 0,1 1,2 2,3 3";
    const HALF: &[&str] = &[
        "--execution-segment",
        "1/2:1",
        "--execution-segment-sequence",
        "0,1/2,1",
    ];
    for (executor, part, numbers) in [
        (
            "'constant-arrival-rate', rate: 10, duration: '2s', preAllocatedVUs: 2",
            &[][..],
            WHOLE,
        ),
        (
            "'ramping-arrival-rate', startRate: 10, stages: [{ target: 10, duration: '2s' }], preAllocatedVUs: 2",
            &[],
            WHOLE,
        ),
        (
            "'constant-arrival-rate', rate: 20, duration: '2s', preAllocatedVUs: 4",
            HALF,
            "1 0,3 1,5 2,7 3",
        ),
    ] {
        let test = Test::new(&format!(
            "import exec from 'k6/execution'; import {{ sleep }} from 'k6';
            export const options = {{ scenarios: {{ a: {{ executor: {executor} }} }} }};
            export default function () {{
                console.log(exec.scenario.iterationInTest, exec.scenario.iterationInInstance); sleep(0.95);
            }}"
        ));
        let mut command = test.command(&["--log-format", "raw"]);
        command.args(part);
        let log = text(&run_to_end(command).stderr);
        let are_numbers = |line: &&str| {
            !line.is_empty() && line.split(' ').all(|word| word.parse::<u64>().is_ok())
        };
        let mut told: Vec<_> = log.lines().filter(are_numbers).collect();
        told.sort_unstable();
        told.truncate(4);
        assert_eq!(told.join(","), numbers, "{executor}: {log}");
    }
}

/// The local time of each of these hours and a half, where clocks are changed at 2 and at 3: k6 has the missing one an
/// hour earlier in New York and later in Berlin, and the repeated one the other way round.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn local_times_are_k6s_on_days_when_clocks_are_changed() {
    let script = "export default function () {
        const told = (year, month, day) => [0, 1, 2, 3, 4, 5, 6].map((hour) => {
            const date = new Date(year, month, day, hour, 30);
            const same = [new Date(`${year}-${String(month + 1).padStart(2, '0')}-${day}T0${hour}:30`), new Date(date)];
            same[1].setHours(hour);
            if (hour !== 2 && same.some((other) => other.getTime() !== date.getTime())) throw new Error(String(hour));
            return `${date.toISOString().slice(11, 13)}=${date.getHours()}`;
        }).join(' ');
        console.log(told(2024, 2, __ENV.SPRING) + ', ' + told(2024, 9 + Number(__ENV.LATER), __ENV.AUTUMN));
    }";
    let test = Test::new(script);
    for (zone, days, hours) in [
        (
            "EST5EDT,M3.2.0,M11.1.0",
            ["SPRING=10", "AUTUMN=03", "LATER=1"],
            "05=0 06=1 06=1 07=3 08=4 09=5 10=6, 04=0 05=1 07=2 08=3 09=4 10=5 11=6",
        ),
        (
            "CET-1CEST,M3.5.0,M10.5.0/3",
            ["SPRING=31", "AUTUMN=27", "LATER=0"],
            "23=0 00=1 01=3 01=3 02=4 03=5 04=6, 22=0 23=1 01=2 02=3 03=4 04=5 05=6",
        ),
    ] {
        let mut command = test.command(&["--log-format", "raw"]);
        command.args(days.iter().flat_map(|day| ["-e", *day]));
        command.env("TZ", zone);
        let log = text(&run_to_end(command).stderr);
        assert_eq!(log.lines().next(), Some(hours), "{zone}: {log}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_port_that_is_taken_ends_the_test_before_it_begins() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let test = Test::new("export default function () { console.log('ran'); }");
    let script = test.folder.path().join("script.js");
    let mut command = loadline();
    command.args(["run", "--address", &address]).arg(&script);
    let output = run_to_end(command);
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(106), "{log}");
    let told = format!("error=\"listen tcp {address}: bind: address already in use\"");
    assert!(log.contains(&told) && !log.contains("msg=ran"), "{log}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_lingering_test_answers_until_it_is_interrupted() {
    let test = Test::new("export default function () {}");
    let running = test.start(&["--linger", "--quiet"]);
    test.api.wait_for("status", 9);
    let metric = test.api.ask("GET", "/v1/metrics/iterations", "");
    assert!(metric.body.contains("\"count\":1,"), "{}", metric.body);
    running.signal(libc::SIGINT);
    assert_eq!(running.finish().status.code(), Some(0));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn virtual_users_are_scaled_paused_and_resumed_from_outside() {
    let test = Test::new(
        "import { sleep } from 'k6';
         export const options = { scenarios: { s: {
            executor: 'externally-controlled', vus: 1, maxVUs: 3, duration: '0' } } };
         export default function () { sleep(0.02); }",
    );
    let running = test.start(&[]);
    let api = &test.api;
    api.wait_for("vus", 1);
    assert_eq!(api.status("vus-max"), 3);
    assert_eq!(test.tell(&["scale", "--vus", "3"]).status.code(), Some(0));
    api.wait_for("vus", 3);
    let beyond = test.tell(&["scale", "--vus", "5"]);
    let told = "the number of maxVUs (3) can't be less than the number of VUs (5)";
    assert!(
        text(&beyond.stderr).contains(told),
        "{}",
        text(&beyond.stderr)
    );
    assert_eq!(
        test.tell(&["scale", "-u", "5", "--max", "6"]).status.code(),
        Some(0)
    );
    api.wait_for("vus", 5);
    assert_eq!(api.status("vus-max"), 6);
    assert!(text(&test.tell(&["pause"]).stdout).contains("paused: true"));
    api.wait_for("vus", 0);
    assert!(text(&test.tell(&["status"]).stdout).contains("paused: true"));
    assert!(text(&test.tell(&["resume"]).stdout).contains("paused: false"));
    api.wait_for("vus", 5);
    assert_eq!(test.tell(&["scale", "-u", "1"]).status.code(), Some(0));
    api.wait_for("vus", 1);
    assert_eq!(api.change(r#"{"stopped":true}"#).status, 200);
    assert_eq!(running.finish().status.code(), Some(103));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn once_shows_each_request_without_secrets() {
    let target = Target::start(&[]);
    let test = Test::new(&format!(
        "import http from 'k6/http';
         import {{ check }} from 'k6';
         export const options = {{ vus: 20, duration: '1m' }};
         export default function () {{
            const r = http.post('{}', 'sent', {{ headers: {{ Authorization: 'Bearer hush' }} }});
            check(r, {{ good: (r) => r.status === 200, bad: (r) => r.status === 201 }});
            http.get('http://127.0.0.1:1/');
         }}",
        target.url("/post")
    ));
    let output = run_to_end(test.command(&["--once"]));
    let trace = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{trace}");
    for line in [
        &format!("POST {}\n", target.url("/post")),
        "  200 OK · HTTP/1.1 · ",
        "  > Authorization: Bearer ***\n",
        "  > sent\n",
        "  ✓ good\n",
        "  ✗ bad\n",
        "GET http://127.0.0.1:1/\n",
        "  ✗ failed (1212): dial tcp 127.0.0.1:1: connect: connection refused\n",
    ] {
        assert_eq!(trace.matches(line).count(), 1, "{line:?} in\n{trace}");
    }
    let open = text(&run_to_end(test.command(&["--once", "--show-secrets"])).stderr);
    assert!(open.contains("  > Authorization: Bearer hush\n"), "{open}");
}

/// An archive of a script with shortcut options runs like the script.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn an_archive_runs_as_its_script_does() {
    let test = Test::new(
        "const data = open('./data.txt');
         export const options = { vus: 2, iterations: 3 };
         export default function () { console.log(data + __ENV.NAME); }",
    );
    let folder = test.folder.path();
    fs::write(folder.join("data.txt"), "data ").expect("there is room");
    let archive = folder.join("archive.tar");
    let mut pack = loadline();
    pack.args(["archive", "-e", "NAME=one", "-O"]);
    pack.arg(&archive).arg(folder.join("script.js"));
    assert_eq!(run_to_end(pack).status.code(), Some(0));
    let bytes = text(&fs::read(&archive).expect("it was written"));
    assert!(bytes.contains("\"scenarios\": null"), "{bytes}");
    fs::remove_file(folder.join("data.txt")).expect("it is there");
    let mut replay = loadline();
    replay
        .args(["run", "--quiet", "-e", "NAME=two"])
        .arg(&archive);
    let output = run_to_end(replay);
    let log = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert_eq!(log.matches("msg=\"data two\"").count(), 3, "{log}");
}
