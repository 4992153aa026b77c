//! Any bytes as a JSON result.
//!
//! Invariant checked: no panic; what is taken as a result is written and read back the same, and
//! its sums do not overflow.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_model::Snapshot;
use loadline_output::json::{self, Options};

fuzz_target!(|data: &[u8]| {
    let Ok(result) = json::decode(data) else {
        return;
    };
    let mut text = Vec::new();
    json::write(&result, Options::default(), &mut text).expect("a Vec takes every write");
    let again = json::decode(&text).expect("what was written is a result");
    assert_eq!(result, again);
    let mut sum = Snapshot::default();
    sum.merge(result.totals.seen.clone());
    sum.merge(again.totals.seen);
    let counts = &result.totals.seen.counts;
    assert_eq!(sum.counts.started, 2 * counts.started);
    assert_eq!(sum.counts.failed_total(), 2 * counts.failed_total());
    let completed: u64 = result.series.iter().map(|row| row.completed).sum();
    assert_eq!(
        completed,
        again.series.iter().map(|row| row.completed).sum::<u64>()
    );
});
