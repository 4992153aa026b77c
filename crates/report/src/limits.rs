//! Thresholds as lines on charts, in pages and documents: which chart shows a threshold, and where.
//!
//! Must not know how lines are drawn. Invariants: a line is only drawn on a chart of exactly what the threshold
//! is about, so not for a sub-metric; its value is in the chart's own unit.

use loadline_metric::BuiltIn;
use loadline_metric::threshold::{Aggregation, Bound, Operator, Threshold, TimeUnit};
use loadline_model::{RequestMetric, TestPlan};

use crate::units::{planned, rate, span};

/// Maximum lines on a page: more cannot be distinguished.
const LINES_MAX: usize = 24;

/// A threshold on a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    /// The chart, by the name that it has on a page.
    pub(crate) chart: &'static str,
    /// In the chart's own unit: nanoseconds, percent, or per second.
    pub(crate) value: f64,
    /// What must hold, up to the value.
    pub(crate) words: String,
    unit: Unit,
}

impl Limit {
    /// What must hold.
    pub(crate) fn text(&self) -> String {
        let value = match self.unit {
            Unit::Time => span(self.value),
            Unit::Percent => format!("{} %", self.value),
            Unit::Rate => rate(self.value),
        };
        format!("{} {value}", self.words)
    }
}

/// What the values of a chart are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Nanoseconds.
    Time,
    /// A share, in percent.
    Percent,
    /// Per second.
    Rate,
}

/// A chart that draws a metric.
struct Drawn {
    chart: &'static str,
    unit: Unit,
    /// The line among the chart's that the threshold speaks of; empty for times, where the percentile says it.
    name: &'static str,
}

const fn drawn(chart: &'static str, unit: Unit, name: &'static str) -> Option<Drawn> {
    Some(Drawn { chart, unit, name })
}

/// The lines of a plan.
pub(crate) fn of(plan: &TestPlan) -> Vec<Limit> {
    let of_requests = plan.thresholds.iter().filter_map(|threshold| {
        let metric = RequestMetric::of(threshold, plan.is_open()).ok()?;
        let named = threshold.metric.as_ref();
        let is_whole = named.is_none_or(|selector| selector.tags.is_empty());
        let shown = is_whole.then(|| of_metric(metric, plan.sends_several()))?;
        line(threshold, &shown?)
    });
    let judged = plan.script_thresholds.iter().filter(|held| held.is_judged);
    let of_script = judged.filter_map(|held| {
        let selector = held.selector();
        let shown = selector
            .tags
            .is_empty()
            .then(|| built_in(&selector.metric))?;
        line(held.condition.as_ref()?, &shown?)
    });
    of_requests.chain(of_script).take(LINES_MAX).collect()
}

fn of_metric(metric: RequestMetric, is_script: bool) -> Option<Drawn> {
    match metric {
        RequestMetric::ServiceTime => drawn("service", Unit::Time, ""),
        RequestMetric::ResponseTime => drawn("response", Unit::Time, ""),
        RequestMetric::ScheduleLag => None,
        RequestMetric::Failed => drawn("share", Unit::Percent, "wrong or failed"),
        RequestMetric::Completed => drawn("rate", Unit::Rate, "answered"),
        RequestMetric::Good => drawn("rate", Unit::Rate, "good"),
        RequestMetric::Dropped if is_script => drawn("iterations", Unit::Rate, "dropped"),
        RequestMetric::Dropped => drawn("errors", Unit::Rate, "dropped"),
    }
}

/// The same of a script's metrics, whose own may be called anything.
fn built_in(name: &str) -> Option<Drawn> {
    let is = |metric: BuiltIn| metric.name() == name;
    match name {
        _ if is(BuiltIn::HttpReqDuration) => of_metric(RequestMetric::ServiceTime, true),
        _ if is(BuiltIn::HttpReqFailed) => of_metric(RequestMetric::Failed, true),
        _ if is(BuiltIn::HttpReqs) => of_metric(RequestMetric::Completed, true),
        _ if is(BuiltIn::DroppedIterations) => of_metric(RequestMetric::Dropped, true),
        _ if is(BuiltIn::DataSent) => drawn("transfer", Unit::Rate, "sent"),
        _ if is(BuiltIn::DataReceived) => drawn("transfer", Unit::Rate, "received"),
        _ => None,
    }
}

/// `None` where the threshold computes what the chart does not draw, such as a sum.
fn line(threshold: &Threshold, shown: &Drawn) -> Option<Limit> {
    let name = match (shown.unit, threshold.aggregation) {
        (Unit::Time, Aggregation::Percentile(percentile)) => format!("p{percentile}"),
        (Unit::Time, Aggregation::Med) => "p50".to_owned(),
        (Unit::Time, Aggregation::Avg | Aggregation::Min | Aggregation::Max) => {
            threshold.aggregation.to_string()
        }
        (Unit::Percent | Unit::Rate, Aggregation::Rate) => shown.name.to_owned(),
        _ => return None,
    };
    let window = threshold
        .window
        .map_or_else(String::new, |window| format!(" over {}", planned(window)));
    let value = value(threshold.bound, shown.unit)?;
    let words = format!("{name}{window} {}", sign(threshold.operator));
    Some(Limit {
        chart: shown.chart,
        value,
        words,
        unit: shown.unit,
    })
}

fn value(bound: Bound, unit: Unit) -> Option<f64> {
    let ns = |number: f64, unit: TimeUnit| number * unit.nanoseconds() as f64;
    let value = match (unit, bound) {
        (Unit::Time, Bound::Number(ms)) => ns(ms, TimeUnit::Millisecond),
        (Unit::Time, Bound::Time(number, unit)) => ns(number, unit),
        (Unit::Percent, Bound::Number(share)) => share * 100.0,
        (Unit::Percent, Bound::Percent(percent)) => percent,
        (Unit::Rate, Bound::Number(rate)) => rate,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Less => "<",
        Operator::AtMost => "≤",
        Operator::Greater => ">",
        Operator::AtLeast => "≥",
        Operator::Equal => "=",
        Operator::Unequal => "≠",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use loadline_model::{ClientPlan, ThresholdPlan};

    use super::*;

    fn of_requests(text: &str) -> Vec<Limit> {
        of(&TestPlan {
            thresholds: vec![text.parse().expect("a threshold")],
            ..TestPlan::without_load(ClientPlan::default())
        })
    }

    fn of_script(key: &str, condition: &str) -> Vec<Limit> {
        let held = ThresholdPlan::parse(key, condition, false, Duration::ZERO);
        of(&TestPlan {
            script_thresholds: vec![held.expect("a threshold")],
            ..TestPlan::without_load(ClientPlan::default())
        })
    }

    #[test]
    fn a_line_stands_on_the_chart_that_draws_its_metric() {
        let told = |limits: Vec<Limit>| {
            let [limit] = &limits[..] else {
                panic!("one line: {limits:?}");
            };
            (limit.chart, limit.value, limit.text())
        };
        let line = |chart, value: f64, text: &str| (chart, value, text.to_owned());
        assert_eq!(
            told(of_requests("p99<=50ms")),
            line("service", 5e7, "p99 ≤ 50 ms")
        );
        assert_eq!(
            told(of_requests("goodput>100")),
            line("rate", 100.0, "good > 100/s")
        );
        assert_eq!(
            told(of_requests("error_rate<1%")),
            line("share", 1.0, "wrong or failed < 1 %")
        );
        let script = told(of_script("http_req_duration", "p(95)[1m]<500"));
        assert_eq!(script, line("service", 5e8, "p95 over 1m < 500 ms"));
        let script = told(of_script("http_req_failed", "rate<0.02"));
        assert_eq!(script, line("share", 2.0, "wrong or failed < 2 %"));
        let script = told(of_script("data_received", "rate>1000"));
        assert_eq!(script, line("transfer", 1_000.0, "received > 1,000/s"));
    }

    #[test]
    fn what_no_chart_draws_has_no_line() {
        for text in ["http_reqs: count>10", "schedule_lag: p(99)<1ms"] {
            assert_eq!(of_requests(text), Vec::<Limit>::new(), "{text}");
        }
        for (key, condition) in [
            ("http_req_duration{name:login}", "p(95)<500"),
            ("checks", "rate>0.9"),
            ("goodput", "rate>1"),
            ("http_reqs", "count>10"),
        ] {
            assert_eq!(of_script(key, condition), Vec::<Limit>::new(), "{key}");
        }
    }
}
