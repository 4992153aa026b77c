//! A hundred thousand series in a receiver of Prometheus remote writes: their memory and the number of pushes
//! of each.
//!
//! Must not know how series are stored. Invariant: only numbers and bytes are asserted, never time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loadline_e2e::loadline;
use loadline_e2e::process::Running;
use loadline_e2e::server::Server;
use loadline_e2e::web;

/// The maximum number of series of a metric.
const SERIES: usize = 100_000;
/// Points per request.
const POINTS_A_REQUEST: usize = 2_000;
/// Seconds in which one of the series changes, with a separate push in each.
const LATER_PUSHES: usize = 5;
/// Maximum memory of the process if all series arrive within one second, which may be more than the target of
/// 500 MB. Series that arrive more slowly take less: an unoptimised build on a busy machine needs 217 MB.
const MEMORY_MAX: u64 = 1_000 << 20;

/// Adds to each series once, then to one of them each second.
const SCRIPT: &str = "
    import { Counter } from 'k6/metrics';
    import { sleep } from 'k6';
    const many = new Counter('many');
    const SERIES = Number(__ENV.SERIES);
    export const options = { vus: 1, iterations: Number(__ENV.SECONDS) };
    export default function () {
        const most = __ITER === 0 ? SERIES : 1;
        for (let n = 0; n < most; n++) many.add(1, { n: String(n) });
        sleep(1);
    }
    export function handleSummary() { return {}; }";

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn each_of_a_hundred_thousand_series_is_pushed_when_it_changed() {
    let requests = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&requests);
    let receiver = Server::start(move |stream, _| {
        web::serve(stream, |_| {
            seen.fetch_add(1, Ordering::Relaxed);
            web::ok("")
        })
    });
    let folder = tempfile::tempdir().expect("there is room");
    let script = folder.path().join("script.js");
    std::fs::write(&script, SCRIPT).expect("there is room");
    let mut command = loadline();
    command
        .args(["run", "--quiet", "--strict-outputs"])
        .args(["-e", &format!("SERIES={SERIES}")])
        .args(["-e", &format!("SECONDS={LATER_PUSHES}")])
        .args(["-o", &format!("prometheus-rw={}", receiver.url("/write"))])
        .arg(script)
        .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s")
        .env("LOADLINE_PROMETHEUS_RW_PROTOCOL", "1.0");
    let (output, rss_max) = Running::start(command).finish_measured();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    // The first values arrive in two pushes if one falls into their second; senders share the remainder of
    // each.
    let most = SERIES / POINTS_A_REQUEST + 8 * (LATER_PUSHES + 2);
    let requests = requests.load(Ordering::Relaxed);
    assert!(
        (SERIES / POINTS_A_REQUEST..=most).contains(&requests),
        "{requests} requests"
    );
    assert!(rss_max < MEMORY_MAX, "{rss_max} bytes");
}
