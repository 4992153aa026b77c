//! Values of metrics in their unit: what a counter or a gauge holds, and what a threshold was held against.
//!
//! Must not know layouts. Invariant: a value has the same text wherever it is shown.

use loadline_metric::{Contains, MetricDefinition};
use loadline_model::test_summary::ObservedUnit;

use crate::units::{Bytes, count, span};

/// A value of a metric (times in milliseconds) with its unit.
pub(crate) fn amount(value: f64, contains: Contains) -> String {
    match contains {
        Contains::Time if value >= 0.0 => span(value * 1e6),
        Contains::Data if value >= 0.0 => Bytes(value.round() as u64).to_string(),
        Contains::Time => format!("{} ms", number(value)),
        Contains::Data => format!("{} B", number(value)),
        Contains::Default => number(value),
    }
}

/// A number with as many digits as matter.
pub(crate) fn number(value: f64) -> String {
    match value {
        value if value.fract() == 0.0 && (0.0..1e15).contains(&value) => count(value as u64),
        value if value >= 1_000.0 => count(value.round() as u64),
        value => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// The observed value of a threshold on a metric.
pub(crate) fn observed(value: f64, metric: &MetricDefinition, condition: &str) -> String {
    match ObservedUnit::of(metric, condition) {
        ObservedUnit::Share => percent(value),
        ObservedUnit::Count => number(value),
        ObservedUnit::Amount(contains) => amount(value, contains),
        ObservedUnit::PerSecond(contains) => format!("{}/s", amount(value, contains)),
    }
}

/// A share as thresholds are held against it.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use loadline_metric::MetricType;

    use super::*;

    fn metric(kind: MetricType, contains: Contains) -> MetricDefinition {
        MetricDefinition {
            name: "m".into(),
            kind,
            contains,
        }
    }

    #[test]
    fn values_stand_in_their_units() {
        let time = metric(MetricType::Trend, Contains::Time);
        assert_eq!(observed(276.5, &time, "p(95)<200"), "276 ms");
        assert_eq!(observed(12.0, &time, " count>10"), "12");
        let rate = metric(MetricType::Rate, Contains::Default);
        assert_eq!(observed(0.0123, &rate, "rate<0.01"), "1.23 %");
        let counter = metric(MetricType::Counter, Contains::Data);
        assert_eq!(observed(2_000.0, &counter, "rate>1"), "2.0 kB/s");
        assert_eq!(observed(2_000.0, &counter, "count>1"), "2.0 kB");
        let requests = metric(MetricType::Counter, Contains::Default);
        assert_eq!(observed(123.456, &requests, "rate>100"), "123.456/s");
        assert_eq!(observed(12_345.0, &requests, "count>1"), "12,345");
        let users = metric(MetricType::Gauge, Contains::Default);
        assert_eq!(observed(7.5, &users, "value<9"), "7.5");
        assert_eq!(number(0.12345), "0.1235");
        assert_eq!(number(-3.0), "-3");
    }
}
