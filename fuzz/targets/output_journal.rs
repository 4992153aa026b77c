//! Any bytes as a journal.
//!
//! Invariant checked: reading ends without a panic, twice alike; what is read began as a journal does, and its counts can be
//! added up.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_output::journal::{is_journal, recover_from};

fuzz_target!(|bytes: &[u8]| {
    let told = recover_from(bytes);
    assert_eq!(told.is_ok(), recover_from(bytes).is_ok());
    if let Ok(recovered) = told {
        assert!(is_journal(bytes));
        let seen = &recovered.result.totals.seen;
        let ended = seen
            .counts
            .completed
            .checked_add(seen.counts.failed_total());
        assert!(ended.is_some(), "{:?}", seen.counts);
    }
});
