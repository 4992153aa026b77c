//! Any bytes as a file of properties.
//!
//! Invariant checked: no more pairs than lines; a fault names a line that there is; a file that is written from what
//! was read reads the same.
#![no_main]

use std::fmt::Write as _;

use libfuzzer_sys::fuzz_target;
use loadline_java::properties::read;

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for unit in text.encode_utf16() {
        write!(out, "\\u{unit:04x}").expect("a String takes all");
    }
    out
}

fuzz_target!(|bytes: &[u8]| {
    let lines = 1 + bytes
        .iter()
        .filter(|byte| matches!(byte, b'\n' | b'\r'))
        .count();
    match read(bytes) {
        Ok(pairs) => {
            assert!(pairs.len() <= lines);
            let file: String = pairs
                .iter()
                .map(|(key, value)| format!("{}={}\n", escaped(key), escaped(value)))
                .collect();
            assert_eq!(read(file.as_bytes()), Ok(pairs));
        }
        Err(fault) => assert!((1..=lines).contains(&fault.line)),
    }
});
