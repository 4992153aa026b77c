//! Any text as a number or a span of time, read by Go's rules.
//!
//! Invariant checked: what is read is written as a text that is read as the same; the readers of whole numbers agree where all
//! of them take a text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_go::{duration, float, integer};

fuzz_target!(|text: &str| {
    if let Some(number) = float::parse(text) {
        let again = float::parse(&float::shortest(number)).expect("what Go writes, Go reads");
        assert!(again == number || (again.is_nan() && number.is_nan()));
    }
    let _ = duration::parse(text);
    let _ = loadline_go::GoDuration::parse_extended(text);
    match (integer::parse_int(text), integer::parse_uint(text)) {
        (Ok(signed), Ok(unsigned)) => assert_eq!(u64::try_from(signed), Ok(unsigned)),
        (Err(why), _) => assert!(why.starts_with("strconv.ParseInt: ")),
        _ => {}
    }
    if let Ok(literal) = integer::parse_literal(text) {
        assert_eq!(integer::parse_literal(&literal.to_string()), Ok(literal));
    }
});
