//! Scripts of our own under `loadline run`, held against what was seen of k6 with the same scripts.
//!
//! Must not know what a script is about. Invariant: k6 itself is wanted for recording alone; the golden
//! files stand in for it.

use std::collections::BTreeSet;

use loadline_e2e::{k6, topics};

topics! {
    k6::hold:
    auth batch checks cli compression console cookies crypto csv data encoding errors execution
    executors fs html http httpbin language lifecycle metrics options secrets streams suites summary tags
    thresholds timers
}

/// The same scripts and golden files, another server: what is seen does not hang on our own target.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn httpbin_against_go_httpbin() {
    k6::hold_against_httpbin("httpbin");
}

#[test]
fn every_topic_is_tested_and_every_script_recorded() {
    let there: BTreeSet<String> = k6::topics().into_iter().collect();
    let tested: BTreeSet<String> = TESTED.iter().map(|topic| (*topic).to_owned()).collect();
    assert_eq!(there, tested);
    assert_eq!(k6::strays(), Vec::<String>::new());
}
