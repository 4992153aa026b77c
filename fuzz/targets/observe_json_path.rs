//! Any path into any JSON text.
//!
//! Invariant checked: a path that parses is written so that it parses to the same and finds the same.
//!
//! The first line of the input is the path; the rest is the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::parse::json_path::{JsonPath, number};

fuzz_target!(|input: &str| {
    let (path, text) = input.split_once('\n').unwrap_or((input, ""));
    let Ok(path) = JsonPath::parse(path) else {
        return;
    };
    let again = JsonPath::parse(&path.to_string()).expect("what is written can be read");
    assert_eq!(again, path);
    if let Ok(value) = serde_json::from_str(text) {
        assert_eq!(path.find(&value), again.find(&value));
        assert!(
            path.find(&value)
                .and_then(number)
                .is_none_or(f64::is_finite)
        );
    }
});
