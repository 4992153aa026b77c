//! Observations, as selected by `observe.…`: one value, or one per component.
//!
//! Must not know how a reading was taken. Invariant: if several series match and none is the total, there is no
//! value rather than an arbitrary one.

use loadline_model::Observations;
use loadline_model::observation::{Aggregation, Span, TOTAL_COMPONENT, is_counted_twice};

use crate::expression::dimension::Dimension;
use crate::expression::path::Selector;
use crate::expression::value::{Quantity, Value};

/// The metric of observers that read one number.
const VALUE: &str = "value";

/// An aggregated series.
#[derive(Clone, Copy, Debug)]
pub struct AggregatedSeries<'a> {
    /// The observer's name.
    pub observer: &'a str,
    /// Which component.
    pub component: &'a str,
    /// What was read.
    pub metric: &'a str,
    /// The aggregate; `None` where the phase has no reading.
    pub amount: Option<f64>,
}

pub(super) fn value_of<'a>(seen: &Observations, selector: &Selector) -> Value<'a> {
    let span = seen
        .phases
        .map_or(Span::ALL, |phases| phases.span(selector.phase));
    let matching = seen.series.iter().filter(|series| {
        selector.observer.takes(&series.observer)
            && selector
                .metric
                .as_ref()
                .is_none_or(|metric| *metric == series.metric)
    });
    let all: Vec<AggregatedSeries<'_>> = matching
        .map(|series| AggregatedSeries {
            observer: &series.observer,
            component: &series.component,
            metric: &series.metric,
            amount: series.aggregate(selector.aggregation, span),
        })
        .collect();
    pick(&all, selector)
}

/// What a selector matches among aggregated series; their aggregation and phase are assumed to be the
/// selector's.
#[must_use]
pub fn pick<'a>(seen: &[AggregatedSeries<'_>], selector: &Selector) -> Value<'a> {
    let wanted = |one: &&AggregatedSeries<'_>| {
        selector.observer.takes(one.observer)
            && selector
                .component
                .as_ref()
                .is_none_or(|component| component.takes(one.component))
            && selector
                .metric
                .as_ref()
                .is_none_or(|metric| metric == one.metric)
    };
    let found: Vec<&AggregatedSeries<'_>> = seen.iter().filter(wanted).collect();
    let found = one_metric(found, selector);
    if selector.is_list() {
        return Value::List(list(&found, selector));
    }
    let whole = match found.as_slice() {
        [only] => Some(*only),
        several => named(several, TOTAL_COMPONENT).or_else(|| {
            let first = several.first()?;
            named(several, first.observer)
        }),
    };
    whole
        .and_then(|one| quantity(one, selector))
        .map_or(Value::Missing, Value::Number)
}

/// Where no metric is named: the only one, or the one that is called a value.
fn one_metric<'s, 'a>(
    found: Vec<&'s AggregatedSeries<'a>>,
    selector: &Selector,
) -> Vec<&'s AggregatedSeries<'a>> {
    let Some(first) = found.first().map(|one| one.metric) else {
        return found;
    };
    if selector.metric.is_some() || found.iter().all(|one| one.metric == first) {
        return found;
    }
    found
        .into_iter()
        .filter(|one| one.metric == VALUE)
        .collect()
}

fn named<'s, 'a>(
    found: &[&'s AggregatedSeries<'a>],
    component: &str,
) -> Option<&'s AggregatedSeries<'a>> {
    found.iter().copied().find(|one| one.component == component)
}

fn list(found: &[&AggregatedSeries<'_>], selector: &Selector) -> Vec<(String, Quantity)> {
    let is_sum = |one: &AggregatedSeries<'_>| {
        let others = found.iter().filter(|other| other.observer == one.observer);
        is_counted_twice(one.component, others.map(|other| other.component))
    };
    let parts: Vec<&&AggregatedSeries<'_>> = found.iter().filter(|one| !is_sum(one)).collect();
    let is_twice = |name: &str| parts.iter().filter(|one| one.component == name).count() > 1;
    let item = |one: &AggregatedSeries<'_>| {
        let name = if is_twice(one.component) {
            format!("{}/{}", one.observer, one.component)
        } else {
            one.component.to_owned()
        };
        quantity(one, selector).map(|quantity| (name, quantity))
    };
    parts.iter().filter_map(|one| item(one)).collect()
}

fn quantity(one: &AggregatedSeries<'_>, selector: &Selector) -> Option<Quantity> {
    let own = Dimension::of_metric(one.metric).unwrap_or(Dimension::NUMBER);
    let dimension = match selector.aggregation {
        Aggregation::Slope => own.over(Dimension::TIME),
        _ => own,
    };
    let amount = one.amount.filter(|amount| amount.is_finite())?;
    Some(Quantity { amount, dimension })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::{Expression, Path};

    type ObservedPart = (&'static str, &'static str, &'static str, f64);

    fn seen(parts: &[ObservedPart]) -> Vec<AggregatedSeries<'static>> {
        let one = |part: &ObservedPart| AggregatedSeries {
            observer: part.0,
            component: part.1,
            metric: part.2,
            amount: Some(part.3),
        };
        parts.iter().map(one).collect()
    }

    fn picked(parts: &[AggregatedSeries<'_>], path: &str) -> Value<'static> {
        let read: Expression = path.parse().expect("a path");
        let [Path::Observe(selector)] = read.paths() else {
            panic!("{path} is one observation");
        };
        pick(parts, selector)
    }

    #[test]
    fn the_whole_is_meant_where_no_component_is_named() {
        let mut parts = seen(&[
            ("api", "a", "cpu_cores", 1.0),
            ("api", "b", "cpu_cores", 2.0),
        ]);
        assert_eq!(picked(&parts, "observe.api.cpu_cores.max"), Value::Missing);
        parts.extend(seen(&[("api", "total", "cpu_cores", 3.0)]));
        let total = Value::number(3.0, Dimension::CORES);
        assert_eq!(picked(&parts, "observe.api.cpu_cores.max"), total);
        let one = Value::number(2.0, Dimension::CORES);
        assert_eq!(picked(&parts, "observe.api[\"b\"].cpu_cores.max"), one);
        assert_eq!(
            picked(&parts, "observe.api[\"c\"].cpu_cores.max"),
            Value::Missing
        );
    }

    #[test]
    fn lists_leave_sums_out_and_tell_namesakes_apart() {
        let parts = seen(&[
            ("one", "pod", "memory_bytes", 1.0),
            ("two", "total", "memory_bytes", 5.0),
            ("two", "pod", "memory_bytes", 2.0),
            ("two", "pod/app", "memory_bytes", 2.0),
            ("two", "other", "memory_bytes", 3.0),
            ("two", "gone/app", "memory_bytes", 4.0),
        ]);
        let Value::List(items) = picked(&parts, "observe.*.*.memory_bytes.last") else {
            panic!("a list");
        };
        let names: Vec<&str> = items.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["one/pod", "two/pod", "other", "gone/app"]);
    }

    #[test]
    fn the_only_metric_needs_no_name() {
        let parts = seen(&[("p95", "p95", "p95_seconds", 0.95e-3)]);
        let found = picked(&parts, "observe.p95.last");
        assert_eq!(found, Value::number(0.95e-3, Dimension::TIME));
        let both = seen(&[("x", "x", "value", 1.0), ("x", "x", "rate_per_s", 2.0)]);
        assert_eq!(
            picked(&both, "observe.x.avg"),
            Value::number(1.0, Dimension::NUMBER)
        );
        assert_eq!(
            picked(&both, "observe.x.rate_per_s.avg"),
            Value::number(2.0, Dimension::RATE)
        );
    }
}
