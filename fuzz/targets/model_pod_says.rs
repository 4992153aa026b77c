//! What a pod says of its test: figures as its last word, and a parcel of files in its log.
//!
//! Invariant checked: what is read is written so that it is read as the same (but for the last digit of
//! fractions), and takes no more room than it was given.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_model::{Figures, Parcel};

fuzz_target!(|text: &str| {
    if let Some(figures) = Figures::read(text) {
        let again = figures.clone().within(usize::MAX);
        let again = Figures::read(&again).expect("what is written is read");
        assert!(again.requests == figures.requests && again.verdict == figures.verdict);
        assert!(again.thresholds.len() == figures.thresholds.len());
        for bytes_max in [100, 3_072] {
            assert!(figures.clone().within(bytes_max).len() <= bytes_max);
        }
    }
    if let Some(parcel) = Parcel::read(text) {
        assert!(parcel.size() <= text.len());
        let again = Parcel::read(&Parcel::lines(&parcel.files)).expect("a parcel");
        assert!(again.is_whole && again.files == parcel.files);
    }
});
