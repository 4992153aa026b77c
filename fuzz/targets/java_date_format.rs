//! Any text by any date pattern: the first line is the pattern, the rest the text.
//!
//! Invariant checked: a pattern of date and time that can read what it writes reads the date and the hour again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_java::date_format::{Moment, Pattern};

fuzz_target!(|text: &str| {
    let (pattern, text) = text.split_once('\n').unwrap_or((text, ""));
    let Ok(pattern) = Pattern::new(pattern) else {
        return;
    };
    let Some(fields) = pattern.parse(text) else {
        return;
    };
    let (Some(day), Some(ms)) = (fields.date(), fields.time_ms()) else {
        return;
    };
    let moment = Moment {
        unix_ms: day * 86_400_000 + ms,
        offset_s: 0,
        zone: None,
    };
    let written = pattern.format(moment);
    if let Some(again) = pattern.parse(&written) {
        // Years of two digits are of this century; a midnight at the end of a day is the next one's.
        let whole_years = again.year.or(again.year_of_era) == fields.year.or(fields.year_of_era);
        if whole_years && ms < 86_400_000 {
            assert_eq!(again.date(), Some(day), "{written}");
            assert_eq!(again.hour, fields.hour, "{written}");
        }
    }
});
