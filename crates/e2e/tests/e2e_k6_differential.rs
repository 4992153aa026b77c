//! The suite's own scripts under `loadline run`, compared with recordings of k6 with the same scripts.
//!
//! Must not know the topic of a script. Invariant: k6 itself is only needed for recording; the golden files
//! replace it.

use std::collections::BTreeSet;

use loadline_e2e::{k6, topics};

topics! {
    k6::hold:
    auth batch checks cli compression console cookies crypto csv data encoding errors execution
    executors fs html http httpbin language lifecycle metrics options secrets streams suites summary tags
    thresholds timers
}

/// The same scripts and golden files with another server: the observations do not depend on loadline's own
/// target.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn httpbin_against_go_httpbin() {
    k6::hold_against_httpbin("httpbin");
}

/// What a script sees and logs, and how its test ends, does not depend on which process runs it.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn with_an_agent() {
    ["console", "lifecycle", "metrics", "thresholds"]
        .into_iter()
        .for_each(k6::hold_with_agent);
}

#[test]
fn every_topic_is_tested_and_every_script_recorded() {
    let there: BTreeSet<String> = k6::topics().into_iter().collect();
    let tested: BTreeSet<String> = TESTED.iter().map(|topic| (*topic).to_owned()).collect();
    assert_eq!(there, tested);
    assert_eq!(k6::strays(), Vec::<String>::new());
}
