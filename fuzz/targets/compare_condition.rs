//! Any text as a condition of `loadline compare --fail-if`.
//!
//! Invariant checked: what parses is written so that it parses to the same; a refusal points into the text, or
//! right behind it, and says what could stand there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_report::compare::Condition;

fuzz_target!(|text: &str| {
    match text.parse::<Condition>() {
        Ok(condition) => assert_eq!(condition.to_string().parse(), Ok(condition)),
        Err(error) => {
            assert!((1..=text.chars().count() + 1).contains(&error.column));
            assert!(!error.why.is_empty());
        }
    }
});
