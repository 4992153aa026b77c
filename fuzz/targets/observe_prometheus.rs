//! Any text as an answer of Prometheus, and any text as a query with placeholders.
//!
//! Invariant checked: values are finite; a query that is accepted has no placeholder left when it is put.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::parse::placeholders::{Times, check, expand};
use loadline_observe::parse::prometheus::parse;

fuzz_target!(|text: &str| {
    match parse(text) {
        Ok(all) => {
            let points = all.iter().flat_map(|found| &found.points);
            assert!(points.into_iter().all(|(_, value)| value.is_finite()));
        }
        Err(why) => assert!(!why.is_empty()),
    }
    if check(text).is_ok() {
        let times = Times {
            start_unix_ns: 1,
            end_unix_ns: 2_000_000_000,
            steady_start_unix_ns: 1,
            steady_end_unix_ns: 1_000_000_000,
        };
        expand(text, &times).expect("what was accepted can be put");
    }
});
