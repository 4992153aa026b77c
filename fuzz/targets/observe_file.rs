//! Any text as a file of observers.
//!
//! Invariant checked: what is read is written so that it reads to the same; a refusal names the file, a line and a column.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::{ObserverSpecs, parse_file_text};

fuzz_target!(|text: &str| {
    match parse_file_text(text, "f") {
        Ok(specs) => {
            let json = serde_json::to_string(&specs).expect("a specification is data");
            let read: ObserverSpecs =
                serde_json::from_str(&json).expect("what is written can be read");
            assert_eq!(read, specs);
        }
        Err(error) => {
            let text = error.to_string();
            let mut parts = text.splitn(4, ':');
            assert_eq!(parts.next(), Some("f"));
            for _ in 0..2 {
                let number = parts.next().expect("there is a place");
                assert!(number.parse::<u64>().expect("it is a number") > 0);
            }
        }
    }
});
