//! Any script in each of the languages.
//!
//! Invariant checked: reading ends in an expression or in the name of what is not supported, and the same each time; a
//! script that is only a whole number is supported everywhere.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_steps::expression::{Dialect, Expression};

fuzz_target!(|source: &str| {
    let number = !source.is_empty() && source.bytes().all(|byte| byte.is_ascii_digit());
    for dialect in [Dialect::Jexl2, Dialect::Jexl3] {
        match Expression::compile(source, dialect) {
            Ok(_) => assert!(Expression::compile(source, dialect).is_ok()),
            Err(fault) => {
                assert!(!fault.what.is_empty());
                assert!(!number || source.len() > 60_000, "{source}");
            }
        }
    }
});
