//! Descriptions of metrics for outputs.
//!
//! Must not know sinks. Invariant: texts are the script's own.

use std::time::Duration;

use loadline_go::GoDuration;
use loadline_metric::{BuiltIn, MetricId, MetricRegistry, TagSet};
use loadline_model::TestPlan;
use loadline_model::system_tags::SystemTag;
use loadline_output::k6_lines::{MetricDescription, SubMetricDescription, ThresholdDescription};

/// The definition of a metric, and its thresholds.
pub(super) fn describe(
    metric: MetricId,
    registry: &MetricRegistry,
    plan: &TestPlan,
) -> MetricDescription {
    let definition = registry.get(metric);
    let definition = definition.expect("a value's metric was declared before the value");
    let of_metric = plan
        .script_thresholds
        .iter()
        .filter(|threshold| *threshold.selector().metric == *definition.name);
    let mut own = Vec::new();
    let mut sub_metrics: Vec<SubMetricDescription> = Vec::new();
    for threshold in of_metric {
        match threshold.suffix() {
            None => own.extend(
                threshold
                    .condition
                    .iter()
                    .map(|condition| ThresholdDescription {
                        source: condition.source.to_string(),
                        abort_on_fail: threshold.abort_on_fail,
                        delay_abort_eval: told_delay(threshold.delay_abort_eval),
                    }),
            ),
            Some(suffix) if sub_metrics.iter().all(|known| known.suffix != suffix) => {
                sub_metrics.push(SubMetricDescription {
                    suffix: suffix.to_owned(),
                    tags: threshold.selector().tags,
                });
            }
            Some(_) => {}
        }
    }
    if *definition.name == *BuiltIn::HttpReqDuration.name() && keeps_expected_responses(plan) {
        let (name, value) = (SystemTag::ExpectedResponse.name(), "true");
        let suffix = format!("{name}:{value}");
        if sub_metrics.iter().all(|known| known.suffix != suffix) {
            let tags = TagSet::new().with(name, value);
            sub_metrics.push(SubMetricDescription { suffix, tags });
        }
    }
    MetricDescription {
        definition,
        thresholds: own,
        sub_metrics,
    }
}

/// Whether k6 keeps the sub-metric of requests with expected responses.
fn keeps_expected_responses(plan: &TestPlan) -> bool {
    let script = plan.script.as_ref();
    script.is_some_and(|script| script.series.system_tags.has(SystemTag::ExpectedResponse))
}

/// A delay in k6's format; `None`: there is none.
fn told_delay(delay: Duration) -> Option<String> {
    let milliseconds = delay.as_secs_f64() * 1e3;
    (!delay.is_zero()).then(|| GoDuration::from_milliseconds(milliseconds).to_string())
}
