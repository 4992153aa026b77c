//! The table of hostile servers under `bench` and under a script: every request is counted in the class given
//! in the table, the run ends on time, and memory stays bounded.
//!
//! Must not know how the client distinguishes classes. Invariant: both front ends are tested with every row.

use std::time::Duration;

use loadline_e2e::front_ends::Asked;
use loadline_e2e::hostile::{
    CONTENT, ENDINGS, GRAMMAR, Hostile, MEASURE, SILENCE, STRETCHED, SWITCHED,
};
use loadline_e2e::server::free_port;
use loadline_e2e::{Ran, bench, clock, loadline};

const REQUESTS: u64 = 3;
/// Maximum body for the script in bytes: small, so that even a slow machine sends more within the timeout.
const BODY_MAX: &str = "1048576";
/// Timeout of a request: for servers that send nothing, and for those that send much.
const TIMEOUT: &str = "500ms";
const LONG_TIMEOUT: &str = "3s";
/// Far more than two virtual users need for two timeouts each, on a machine with other work.
const END_MAX: Duration = Duration::from_secs(30);
/// Memory that no run against any of these servers needs, in MiB.
const BENCH_MEMORY_MAX: u64 = 64;
const SCRIPT_MEMORY_MAX: u64 = 150;

fn asked<'a>(url: &'a str, timeout: &'a str) -> Asked<'a> {
    Asked {
        requests: REQUESTS,
        bench_more: &["--cookies"],
        run_more: &["--max-body", BODY_MAX],
        ..Asked::few(url, timeout)
    }
}

/// The problem of a run; `None`: there is none.
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
                "bench" => asked(&url, timeout).by_bench(loadline()),
                _ => asked(&url, timeout).by_script(loadline()),
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
fn answers_that_stretch_the_grammar() {
    assert_table(STRETCHED, LONG_TIMEOUT);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_change_of_protocol_is_an_exception_in_a_script() {
    let server = SWITCHED.serve();
    let url = server.url("/");
    let bench = asked(&url, LONG_TIMEOUT).by_bench(loadline());
    assert_eq!(fault(&bench, None, BENCH_MEMORY_MAX), None);
    let script = asked(&url, LONG_TIMEOUT).by_script(loadline());
    assert_eq!((script.count("completed"), script.failures()), (0, vec![]));
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

/// Instant failures are not repeated as fast as the CPU allows, under either front end, and the verdict says
/// so; k6 does not reach this pace on such a machine.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn failures_at_once_are_held_to_a_pace() {
    const PER_SECOND: u64 = 20_000;
    let url = format!("http://127.0.0.1:{}/", free_port());
    let ran = bench(&["-c", "20", "-z", "1s", "--workers", "1", "-q", &url]);
    let refused = ran.failed("refused");
    assert!(refused <= PER_SECOND * 3 / 2, "{refused}");
    let is_told = ran
        .report()
        .contains("at most 20,000 such requests a second");
    assert_eq!(is_told, refused >= 1_000, "{refused}: {}", ran.out);
    let asked = Asked {
        requests: 2_000,
        pause_ms: 0,
        ..asked(&url, TIMEOUT)
    };
    let ran = asked.by_script(loadline());
    assert_eq!(ran.failures(), [("refused", 2_000)]);
    let findings = ran.at("/verdict/findings").to_string();
    assert!(findings.contains("paused-after-failures"), "{findings}");
}

/// Both front ends blame the same side if both see a failure.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn one_failure_has_one_culprit() {
    for row in [ENDINGS[0], ENDINGS[17], GRAMMAR[0], GRAMMAR[20]] {
        let server = row.serve();
        let url = server.url("/");
        let asked = asked(&url, LONG_TIMEOUT);
        let limits = [asked.by_bench(loadline()), asked.by_script(loadline())]
            .map(|ran| ran.at("/verdict/limit").clone());
        assert_eq!(limits[0], limits[1], "{}", row.name);
        assert_eq!(limits[0], "target", "{}", row.name);
    }
}
