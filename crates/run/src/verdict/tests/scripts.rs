//! Runs of scripts: what was asked for are iterations, and requests are what they happen to send.

use std::sync::Arc;

use loadline_model::verdict::Delivery;

use super::builder::{Run, arrivals, found, shared};
use crate::verdict::Code;

/// A script's iteration sends as many requests as it likes: what was asked for are iterations.
#[test]
fn iterations_of_a_script_are_counted_as_such() {
    let mut run = Run::new(arrivals(100, 60, 50), 60.0, 9_000, 20.0);
    run.plan.script = Some(Arc::default());
    run.totals.asked = Some(6_000);
    run.totals.seen.counts.dropped = 3_000;
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::FellShort);
    let missed = found(&verdict, Code::OfferedLoadMissed).expect("told");
    let begun =
        "asked for 6,000 iterations (100/s), began 3,000 (50.0 %): 3,000 arrivals were dropped";
    assert!(missed.text.starts_with(begun), "{}", missed.text);
    run.totals.seen.counts.dropped = 0;
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::Delivered);
    assert!(
        verdict.headline.contains("100/s iterations"),
        "{}",
        verdict.headline
    );
}

#[test]
fn a_script_without_requests_is_no_alarm() {
    let mut run = Run::new(shared(2, 4), 1.0, 0, 0.0);
    run.plan.script = Some(Arc::default());
    run.totals.asked = Some(4);
    let verdict = run.judge();
    assert_eq!(verdict.delivery, Delivery::Delivered);
    assert!(found(&verdict, Code::NothingSent).is_none());
    assert!(
        verdict.headline.contains("no request over HTTP"),
        "{}",
        verdict.headline
    );
}
