//! Any pattern over any text, as a Perl 5 regular expression of Jakarta ORO.
//!
//! Invariant checked: a pattern is refused with a reason, or its matches lie in the text, in order, and the search ends.
//!
//! The first line of the input is the pattern; the rest is the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_java::oro::Oro;

fuzz_target!(|input: &str| {
    let (pattern, text) = input.split_once('\n').unwrap_or((input, ""));
    let oro = match Oro::compile(pattern) {
        Ok(oro) => oro,
        Err(fault) => {
            assert!(!fault.0.is_empty());
            return;
        }
    };
    let Ok(found) = oro.find_all(text, 100) else {
        return;
    };
    let mut end = 0;
    for one in &found {
        assert!(one.start >= end && one.end >= one.start);
        assert_eq!(one.groups[0], Some(&text[one.start..one.end]));
        end = one.end;
    }
});
