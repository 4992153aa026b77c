//! All figures of a run by their name in `run.NAME`, with unit and description.
//!
//! Must not know documents. Invariant: a name that [`kind_of`] knows can be read from any result, and is
//! missing if the run has no value; amounts are in base units (seconds, bytes, cores).

mod agents;
mod observed;
mod read;
mod record;
mod script;
mod table;

pub use observed::{AggregatedSeries, pick};
pub use read::value_of;
pub use record::{ObservedFigure, RunFigures};
pub use table::FIGURES;

use loadline_model::RunResult;
use loadline_model::nearest::nearest;

use super::dimension::Dimension;
use super::value::ValueKind;

/// Completed requests per second over the whole measured time: what other load generators print at the end.
pub const RPS: &str = "rps";

/// One figure of a run.
pub struct Figure {
    /// Its name behind `run.`.
    pub name: &'static str,
    /// Its meaning, and how it is computed.
    pub what: &'static str,
    read: Read,
}

enum Read {
    Number(Dimension, fn(&RunResult) -> Option<f64>),
    Text(fn(&RunResult) -> String),
}

/// The distributions of a run: the text before the dot, and the name in the result. Service time is the default.
const DISTRIBUTIONS: [(&str, &str); 4] = [
    ("", "service_time_ns"),
    ("service.", "service_time_ns"),
    ("response.", "response_time_ns"),
    ("lag.", "schedule_lag_ns"),
];

/// What can be asked of a distribution of times.
const OF_TIMES: [&str; 10] = [
    "avg", "min", "max", "stddev", "med", "p50", "p90", "p95", "p99", "p99_9",
];

/// What can be asked of a script's metric.
const OF_METRICS: [&str; 15] = [
    "avg", "min", "max", "med", "p50", "p90", "p95", "p99", "p99_9", "count", "rate", "value",
    "last", "passes", "fails",
];

/// The static kind of a figure; `None`: there is no such figure.
#[must_use]
pub fn kind_of(name: &str) -> Option<ValueKind> {
    if let Some(metric) = name.strip_prefix("metrics.") {
        return script::kind_of(metric);
    }
    if let Some(agent) = name.strip_prefix("agents.") {
        return agents::kind_of(agent);
    }
    if time_of(name).is_some() {
        return Some(ValueKind::Number(Some(Dimension::TIME)));
    }
    let figure = table::find(name)?;
    Some(match figure.read {
        Read::Number(dimension, _) => ValueKind::Number(Some(dimension)),
        Read::Text(_) => ValueKind::Text,
    })
}

/// Which distribution, and what of it.
fn time_of(name: &str) -> Option<(&'static str, &'static str)> {
    DISTRIBUTIONS.iter().find_map(|(prefix, metric)| {
        let wanted = name.strip_prefix(prefix)?;
        let found = OF_TIMES.iter().find(|known| **known == wanted)?;
        Some((*metric, *found))
    })
}

/// The message about an unknown figure.
pub(super) fn unknown(name: &str) -> String {
    if name.starts_with("metrics") {
        return format!(
            "a script's metric needs an aggregation, as in run.metrics.http_req_duration.p95; use one of {}",
            OF_METRICS.join(", ")
        );
    }
    if name.starts_with("agents") {
        return format!(
            "an agent needs a figure, as in run.agents[\"vienna\"].p99; use one of {}",
            agents::OF_AGENTS.join(", ")
        );
    }
    let names = || FIGURES.iter().map(|figure| figure.name).chain(OF_TIMES);
    let near = nearest(name, names());
    format!(
        "a run has no figure `{name}`; did you mean `{}`? Use {}, or service., response. or lag. before {}",
        near.unwrap_or(RPS),
        FIGURES
            .iter()
            .map(|figure| figure.name)
            .collect::<Vec<_>>()
            .join(", "),
        OF_TIMES.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_with_their_units() {
        assert_eq!(
            kind_of("rps"),
            Some(ValueKind::Number(Some(Dimension::RATE)))
        );
        assert_eq!(
            kind_of("p99_9"),
            Some(ValueKind::Number(Some(Dimension::TIME)))
        );
        assert_eq!(
            kind_of("response.p95"),
            Some(ValueKind::Number(Some(Dimension::TIME)))
        );
        assert_eq!(kind_of("verdict.limit"), Some(ValueKind::Text));
        assert_eq!(kind_of("response.rps"), None);
        let metric = |name| kind_of(name).and_then(ValueKind::dimension);
        assert_eq!(
            metric("metrics.http_req_duration.p95"),
            Some(Dimension::TIME)
        );
        assert_eq!(metric("metrics.data_sent.rate"), Some(Dimension::BYTE_RATE));
        assert_eq!(metric("metrics.checks.rate"), Some(Dimension::NUMBER));
        assert_eq!(kind_of("metrics.own.p95"), Some(ValueKind::Number(None)));
        assert_eq!(kind_of("metrics.own.p42"), None);
    }

    #[test]
    fn the_nearest_name_is_offered() {
        assert!(unknown("goodputt").contains("did you mean `goodput`"));
        assert!(unknown("p59").contains("did you mean `p"));
    }
}
