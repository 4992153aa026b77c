//! Any bytes as a history of many runs.
//!
//! Invariant checked: what is read is written so that it reads the same, and a document can be made of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_suite::document::{DocumentSpec, History, render_history};

fuzz_target!(|bytes: &[u8]| {
    let Ok(history) = History::from_bytes(bytes) else {
        return;
    };
    if history.rows() > 1000 {
        return;
    }
    let written = history.to_bytes();
    let again = History::from_bytes(&written).expect("what was written is read");
    assert_eq!(again.to_bytes(), written);
    let spec = DocumentSpec::of_preset("a.csv", "gateway");
    let rendered = render_history(&spec, "History", &history, None).expect("presets name no rows");
    assert!(rendered.text.starts_with("Service name,Scenario,"));
});
