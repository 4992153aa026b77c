//! Any text as the argument of `--observe`.
//!
//! Invariant checked: what parses is written so that it parses to the same; a refusal says something.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_observe::{ObserverSpec, ObserverSpecs};

fuzz_target!(|text: &str| {
    match ObserverSpec::parse(text) {
        Ok(specs) => {
            let specs = ObserverSpecs::new(specs).expect("one observer has one name");
            let json = serde_json::to_string(&specs).expect("a specification is data");
            let read: ObserverSpecs =
                serde_json::from_str(&json).expect("what is written can be read");
            assert_eq!(read, specs);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
