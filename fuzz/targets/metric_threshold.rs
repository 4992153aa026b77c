//! Any text as a threshold, as a condition of a script's `thresholds`, and as the selector of a metric.
//!
//! Invariant checked: what parses says the same when it is written and parsed again; a threshold that suits a
//! kind of metric can be evaluated on it, and gives the same answer each time; one that does not is refused.
#![no_main]

use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use loadline_metric::threshold::{Aggregate, Aggregation, MetricKind, MetricSelector, Threshold};
use loadline_metric::{Gauge, Rate, ValueCounter};

fuzz_target!(|text: &str| {
    selectors(text);
    if let Ok(threshold) = text.parse::<Threshold>() {
        assert_eq!(threshold.to_string().parse().as_ref(), Ok(&threshold));
        holds_together(&threshold);
    }
    if let Ok(condition) = Threshold::parse_script(text) {
        assert_eq!(*condition.source, *text);
        assert_eq!(condition.metric, None);
        holds_together(&condition);
    }
});

fn selectors(text: &str) {
    let Ok(selector) = text.parse::<MetricSelector>() else {
        return;
    };
    assert!(!selector.metric.is_empty());
    assert_eq!(selector.to_string().parse(), Ok(selector));
}

fn holds_together(threshold: &Threshold) {
    if let Aggregation::Percentile(percent) = threshold.aggregation {
        assert!((0.0..=100.0).contains(&percent));
    }
    assert!(threshold.window.is_none_or(|window| !window.is_zero()));
    for kind in [
        MetricKind::Counter,
        MetricKind::Gauge,
        MetricKind::Rate,
        MetricKind::Trend,
        MetricKind::TimeTrend,
    ] {
        let outcome = threshold.outcome_without_data(kind);
        assert_eq!(outcome, threshold.outcome_without_data(kind));
    }
    held(threshold);
}

fn held(threshold: &Threshold) {
    let (counter, gauge, rate) = (ValueCounter::default(), Gauge::default(), Rate::default());
    for aggregate in [
        Aggregate::ValueCounter(&counter),
        Aggregate::Gauge(&gauge),
        Aggregate::Rate(&rate),
    ] {
        let fits = threshold.check(aggregate.kind()).is_ok();
        let evaluated = threshold.evaluate(aggregate, Duration::from_secs(3));
        assert_eq!(evaluated.is_ok(), fits);
        assert_eq!(
            evaluated,
            threshold.evaluate(aggregate, Duration::from_secs(3))
        );
    }
}
