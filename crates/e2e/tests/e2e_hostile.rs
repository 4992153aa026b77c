//! The table of hostile servers under `bench` and under a script: every request is accounted for under
//! the class that the table says, the run ends on time, and memory stays bounded.
//!
//! Must not know how the client tells classes apart. Invariant: both front ends meet every row.

use std::fs;
use std::time::Duration;

use loadline_e2e::hostile::{CONTENT, ENDINGS, GRAMMAR, Hostile, MEASURE, SILENCE};
use loadline_e2e::{Ran, bench, clock, loadline, run_to_end};

const REQUESTS: u64 = 3;
/// Bytes of a body that the script takes: few, so that a slow machine sends more within the timeout.
const BODY_MAX: &str = "1048576";
/// Within which a request is answered or given up: where nothing comes, and where much does.
const TIMEOUT: &str = "500ms";
const LONG_TIMEOUT: &str = "3s";
/// Far beyond what two virtual users need for two timeouts each, on a machine that has other work.
const END_MAX: Duration = Duration::from_secs(30);
/// Memory that no run needs against any of these servers, in MiB.
const BENCH_MEMORY_MAX: u64 = 64;
const SCRIPT_MEMORY_MAX: u64 = 150;

const SCRIPT: &str = "
    import http from 'k6/http';
    export const options = { iterations: Number(__ENV.REQUESTS), vus: 1 };
    export default () => http.get(__ENV.TARGET, { timeout: __ENV.TIMEOUT });";

fn run_script(url: &str, timeout: &str) -> Ran {
    let folder = tempfile::tempdir().expect("there is room");
    let (file, json) = (folder.path().join("s.js"), folder.path().join("r.json"));
    fs::write(&file, SCRIPT).expect("there is room");
    let mut command = loadline();
    command.args(["run", "-q", "--max-body", BODY_MAX, "--json"]);
    command.arg(&json);
    for pair in [
        format!("TARGET={url}"),
        format!("TIMEOUT={timeout}"),
        format!("REQUESTS={REQUESTS}"),
    ] {
        command.args(["-e", &pair]);
    }
    command.arg(&file);
    let output = run_to_end(command);
    Ran::of(&output, fs::read_to_string(&json).ok().as_deref())
}

fn run_bench(url: &str, timeout: &str) -> Ran {
    let requests = REQUESTS.to_string();
    bench(&[
        "-c",
        "1",
        "-n",
        &requests,
        "-q",
        "--cookies",
        "-t",
        timeout,
        url,
    ])
}

/// What is wrong with how a run went; `None`: nothing.
fn fault(ran: &Ran, class: Option<&str>, memory_max: u64) -> Option<String> {
    let failures = ran.failures();
    let expected: Vec<(&str, u64)> = class.map(|class| (class, REQUESTS)).into_iter().collect();
    let memory = ran.number("/totals/rss_max_bytes");
    match () {
        () if failures != expected => Some(format!("{failures:?}: {:?}", ran.messages())),
        () if ran.count("interrupted") > 0 => Some("interrupted".to_owned()),
        () if class.is_none() && ran.count("completed") < REQUESTS => {
            Some("not completed".to_owned())
        }
        () if memory > memory_max << 20 => Some(format!("{memory} bytes of memory")),
        () => None,
    }
}

fn assert_table(table: &[Hostile], timeout: &str) {
    let mut faults = Vec::new();
    for row in table {
        let server = row.serve();
        let url = server.url("/");
        for (front_end, class, memory_max) in [
            ("bench", row.bench, BENCH_MEMORY_MAX),
            ("script", row.script, SCRIPT_MEMORY_MAX),
        ] {
            let begun = clock::now();
            let ran = match front_end {
                "bench" => run_bench(&url, timeout),
                _ => run_script(&url, timeout),
            };
            let took = clock::now() - begun;
            if let Some(why) = fault(&ran, class, memory_max) {
                faults.push(format!("{} under {front_end}: {why}", row.name));
            }
            if took > END_MAX {
                faults.push(format!("{} under {front_end}: took {took:?}", row.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn connections_that_end_too_early() {
    assert_table(ENDINGS, LONG_TIMEOUT);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn answers_against_the_grammar() {
    assert_table(GRAMMAR, LONG_TIMEOUT);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn answers_without_measure() {
    assert_table(MEASURE, LONG_TIMEOUT);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn peers_that_keep_others_waiting() {
    assert_table(SILENCE, TIMEOUT);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn content_that_hurts_who_looks_at_it() {
    assert_table(CONTENT, LONG_TIMEOUT);
}

/// What fails at once is not repeated as fast as the processor can, and the verdict says so.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn failures_on_this_side_are_not_a_race() {
    let ran = bench(&["-c", "1", "-z", "1s", "-q", "http://no-such-host.invalid/"]);
    assert!(ran.failed("dns") <= 110, "{:?}", ran.failures());
    assert!(ran.report().contains("paused after each"), "{}", ran.out);
}

/// Both front ends blame the same side where both see a failure.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_failure_has_one_culprit() {
    for row in [ENDINGS[0], ENDINGS[17], GRAMMAR[0], GRAMMAR[20]] {
        let server = row.serve();
        let limits = [
            run_bench(&server.url("/"), LONG_TIMEOUT),
            run_script(&server.url("/"), LONG_TIMEOUT),
        ]
        .map(|ran| ran.at("/verdict/limit").clone());
        assert_eq!(limits[0], limits[1], "{}", row.name);
        assert_eq!(limits[0], "target", "{}", row.name);
    }
}
