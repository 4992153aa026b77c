//! Thresholds of loadline's own options, converted to those of a run that measures metrics.
//!
//! Must not know when they are evaluated. Invariant: a threshold refers to samples as judged by the plan's
//! assertions.

use std::time::Duration;

use loadline_metric::threshold::{Aggregation, Threshold};
use loadline_model::ThresholdPlan;

/// The metrics for the names of `bench`.
const NAMES: &[(&str, &str)] = &[
    ("service_time", "http_req_duration"),
    ("error_rate", "http_req_failed"),
    ("throughput", "http_reqs"),
    ("goodput", "http_reqs{expected_response:true}"),
];

/// Thresholds on metrics.
///
/// # Errors
/// One that no metric supports.
pub(crate) fn of_metrics(thresholds: &[Threshold]) -> Result<Vec<ThresholdPlan>, String> {
    thresholds.iter().map(of_metric).collect()
}

fn of_metric(threshold: &Threshold) -> Result<ThresholdPlan, String> {
    let source = &*threshold.source;
    let key = match &threshold.metric {
        None => match threshold.aggregation {
            Aggregation::Rate => "http_req_failed".to_owned(),
            Aggregation::Count => "http_reqs".to_owned(),
            _ => "http_req_duration".to_owned(),
        },
        Some(selector) => {
            let known = NAMES.iter().find(|(name, _)| *name == &*selector.metric);
            match (known, selector.tags.is_empty()) {
                (Some((_, metric)), true) => (*metric).to_owned(),
                (Some((name, _)), false) => {
                    return Err(format!(
                        "{source:?}: {name} has no tags; name a metric that has, as in http_req_duration{}",
                        selector.tags
                    ));
                }
                (None, true) => selector.metric.to_string(),
                (None, false) => format!("{}{}", selector.metric, selector.tags),
            }
        }
    };
    let condition = condition_of(threshold);
    ThresholdPlan::parse(&key, &condition, false, Duration::ZERO)
        .map_err(|why| format!("{source:?}: {why}"))
}

/// The condition without the metric, in the syntax of a script's options.
fn condition_of(threshold: &Threshold) -> String {
    let source = &*threshold.source;
    let operator = source.find(['<', '>', '=', '!']).unwrap_or(0);
    let (before, comparison) = source.split_at(operator);
    let window = before.rfind('[').map_or("", |at| before[at..].trim());
    format!("{}{window}{comparison}", threshold.aggregation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (String, String) {
        let threshold = text.parse().expect("a good threshold");
        let [plan] = of_metrics(&[threshold]).expect("a metric has it")[..]
            .to_vec()
            .try_into()
            .expect("one for one");
        let ThresholdPlan { key, condition, .. } = plan;
        (
            key.to_string(),
            condition.expect("there is one").source.to_string(),
        )
    }

    #[test]
    fn thresholds_of_bench_are_those_of_metrics() {
        for (text, key, condition) in [
            ("p(99)<50ms", "http_req_duration", "p(99)<50ms"),
            ("error_rate<1%", "http_req_failed", "rate<1%"),
            (
                "goodput>500",
                "http_reqs{expected_response:true}",
                "rate>500",
            ),
            (
                "http_req_duration{name:Log in}:p(95)[10s] < 500",
                "http_req_duration{name:Log in}",
                "p(95)[10s]< 500",
            ),
            (
                "group_duration{group:::T}:avg<1s",
                "group_duration{group:::T}",
                "avg<1s",
            ),
        ] {
            assert_eq!(told(text), (key.to_owned(), condition.to_owned()), "{text}");
        }
    }
}
