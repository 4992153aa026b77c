//! The meaning of response time if an iteration of a script has several requests.
//!
//! Must not know how it is measured. Invariant: bounds are the times staged by the servers, never what a fast
//! machine needs.

use loadline_e2e::target::Target;
use loadline_e2e::{Ran, loadline, run_to_end};

/// The script's pause before its requests, and the duration of its slow request, in milliseconds.
const STAGED_MS: f64 = 400.0;

/// Among requests sent together, the first to start was due with the iteration, even if another one ends before
/// it.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_first_request_of_a_batch_was_due_with_its_iteration() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().expect("there is room");
    let (file, json) = (folder.path().join("s.js"), folder.path().join("r.json"));
    let script = format!(
        "import http from 'k6/http';
        import {{ sleep }} from 'k6';
        export const options = {{ scenarios: {{ a: {{ executor: 'constant-arrival-rate', rate: 1,
            timeUnit: '10s', duration: '1s', preAllocatedVUs: 1, gracefulStop: '20s' }} }} }};
        export default () => {{
            sleep(0.4);
            http.batch(['{}', '{}']);
        }};",
        target.url("/delay/0.4"),
        target.url("/get"),
    );
    std::fs::write(&file, script).expect("there is room");
    let mut command = loadline();
    command.args(["run", "-q", "--json"]).arg(&json).arg(&file);
    let output = run_to_end(command);
    let ran = Ran::of(&output, std::fs::read_to_string(&json).ok().as_deref());
    assert_eq!(ran.count("completed"), 2, "{:?}", ran.messages());
    let slowest = ran.milliseconds("response_time_ns", "max");
    assert!(slowest >= 2.0 * STAGED_MS, "{slowest} ms");
    assert!(ran.milliseconds("service_time_ns", "max") < slowest - STAGED_MS / 2.0);
}
