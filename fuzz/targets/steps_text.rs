//! Any text of a plan.
//!
//! Invariant checked: reading ends in a text or in a fault that says why; a text keeps its source; one without a dollar
//! sign is a constant, and the same as its source.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_steps::text::Text;

fuzz_target!(|source: &str| match Text::parse(source) {
    Ok(text) => {
        assert_eq!(text.source(), source);
        if !source.contains("${") {
            assert_eq!(text.constant(), Some(source));
        }
        for name in text.unsupported() {
            assert!(!name.is_empty());
        }
    }
    Err(fault) => {
        assert!(fault.function.starts_with("__"));
        assert!(fault.message.contains(&fault.function) || fault.message.contains("nested"));
    }
});
