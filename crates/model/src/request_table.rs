//! The table of a run's requests: by name, or by method and URL.
//!
//! Must not know how it is shown. Invariant: every request counted separately is in a row, or in the overflow
//! count.

use std::borrow::Cow;
use std::cmp::Reverse;

use loadline_metric::{Aggregated, BuiltIn, Rate, TimeTrend, ValueCounter};

use crate::bounded::Bounded;
use crate::result::RunResult;
use crate::snapshot::RequestTally;
use crate::test_summary::{ByTag, MetricSummary};

/// The column title of a table of requests without tags: their method and URL.
const REQUEST: &str = "URL";

impl ByTag {
    /// A run's table of requests: by name for a script or plan, otherwise by method and URL if there are
    /// several; `None`: all requests are alike.
    #[must_use]
    pub fn of(result: &RunResult) -> Option<Cow<'_, ByTag>> {
        let summary = result.summary.as_ref();
        let table = summary.and_then(|summary| summary.by_tag.as_ref());
        let requests = &result.totals.seen.requests;
        match table {
            Some(table) => Some(Cow::Borrowed(table)),
            None if requests.is_empty() => None,
            None => Some(Cow::Owned(ByTag::of_requests(requests))),
        }
    }

    /// How long the requests of such a table were counted, in nanoseconds: the whole run for a script or plan,
    /// as in its summary; otherwise the run without its warm-up.
    #[must_use]
    pub fn counted_ns(result: &RunResult) -> u64 {
        match &result.summary {
            Some(summary) if summary.by_tag.is_some() => summary.duration_ns,
            _ => result.totals.measured_ns,
        }
    }

    fn of_requests(requests: &Bounded<String, RequestTally>) -> ByTag {
        let mut rows: Vec<(&String, &RequestTally)> = requests.rows().collect();
        rows.sort_by_key(|(_, tally)| Reverse(tally.answered + tally.failed));
        let rest = requests.overflow();
        ByTag {
            tag: REQUEST.to_owned(),
            rows: rows
                .into_iter()
                .map(|(request, tally)| (request.clone(), tally.metrics()))
                .collect(),
            overflowed: rest.map_or(0, |tally| tally.answered + tally.failed),
            ..ByTag::default()
        }
    }
}

/// The numbers of a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct RowFigures<'a> {
    /// Requests; `None`: not counted.
    pub requests: Option<u64>,
    /// Failures among the judged requests; `None`: none was judged.
    pub failed: Option<&'a Rate>,
    /// Their durations; `None`: not measured.
    pub times: Option<&'a TimeTrend>,
}

impl<'a> RowFigures<'a> {
    /// Picks them from a row's metrics.
    #[must_use]
    pub fn of(metrics: &'a [MetricSummary]) -> RowFigures<'a> {
        let of = |metric: BuiltIn| {
            let mut all = metrics.iter();
            let found = all.find(|one| &*one.definition.name == metric.name());
            found.map(|one| &one.values)
        };
        RowFigures {
            requests: match of(BuiltIn::HttpReqs) {
                Some(Aggregated::Counter(counter)) => Some(counter.total() as u64),
                _ => None,
            },
            failed: match of(BuiltIn::HttpReqFailed) {
                Some(Aggregated::Rate(rate)) => Some(rate),
                _ => None,
            },
            times: match of(BuiltIn::HttpReqDuration) {
                Some(Aggregated::Times(times)) => Some(times),
                _ => None,
            },
        }
    }
}

impl RequestTally {
    /// The same numbers as metrics.
    fn metrics(&self) -> Vec<MetricSummary> {
        let total = self.answered + self.failed;
        let mut requests = ValueCounter::default();
        requests
            .add(total as f64)
            .expect("a whole number is finite");
        let mut failed = Rate::default();
        failed.record_n(total - self.good.min(total), total);
        let values = [
            (BuiltIn::HttpReqs, Aggregated::Counter(requests)),
            (BuiltIn::HttpReqFailed, Aggregated::Rate(failed)),
            (
                BuiltIn::HttpReqDuration,
                Aggregated::Times(self.time.clone()),
            ),
        ];
        let summary = |(metric, values): (BuiltIn, Aggregated)| MetricSummary {
            definition: metric.definition(),
            tags: None,
            suffix: None,
            values,
            thresholds: Vec::new(),
        };
        values.map(summary).into()
    }
}
