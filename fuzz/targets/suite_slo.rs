//! Any text as the objectives of `loadline capacity --slo`.
//!
//! Invariant checked: what parses is written so that it parses to the same, and asks for a bounded number of samples; a
//! refusal points into the text, or right behind it, and says what could stand there.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_suite::capacity::Slo;

fuzz_target!(|text: &str| match text.parse::<Slo>() {
    Ok(slo) => {
        assert!(!slo.objectives().is_empty());
        assert!((1..=1_000_000).contains(&slo.samples_min()));
        assert_eq!(slo.to_string().parse(), Ok(slo));
    }
    Err(error) => {
        assert!((1..=text.chars().count() + 1).contains(&error.column));
        assert!(!error.why.is_empty());
    }
});
