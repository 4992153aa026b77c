//! Scripts of our own under `loadline run`, held against what was seen of k6 with the same scripts.
//!
//! Must not know what a script is about. Invariant: k6 itself is wanted for recording alone; the golden
//! files stand in for it.

mod k6;

use std::collections::BTreeSet;

/// A test for each topic, so that topics run side by side.
macro_rules! topics {
    ($($topic:ident)*) => {
        const TESTED: &[&str] = &[$(stringify!($topic)),*];
        $(
            #[test]
            #[ignore = "wants LOADLINE_BIN"]
            fn $topic() {
                k6::hold(stringify!($topic));
            }
        )*
    };
}

topics! {
    auth batch checks cli compression console cookies crypto data encoding errors execution executors
    html http language lifecycle metrics options summary tags thresholds timers
}

#[test]
fn every_topic_is_tested_and_every_script_recorded() {
    let there: BTreeSet<String> = k6::topics().into_iter().collect();
    let tested: BTreeSet<String> = TESTED.iter().map(|topic| (*topic).to_owned()).collect();
    assert_eq!(there, tested);
    assert_eq!(k6::strays(), Vec::<String>::new());
}

/// `cargo xtask k6-goldens` runs this; without a peer it has nothing to do.
#[test]
#[ignore = "writes the golden files"]
fn record() {
    if let Some(peer) = std::env::var_os("LOADLINE_K6_RECORD") {
        k6::record(&peer, &std::env::var("LOADLINE_K6_ONLY").unwrap_or_default());
    }
}
