//! The figures of hey's report, in its units: seconds as floating-point numbers.
//!
//! Must not know their layout. Invariant: averages include all responses, however many; hey's only include the
//! first million.

use std::collections::BTreeMap;

use loadline_metric::{Summary, TimeTrend};
use loadline_model::RunResult;

use crate::go_error;
use crate::ranks::Ranks;

/// Steps of the histogram; it has one row more, for the fastest.
const STEPS: usize = 10;
/// The header whose values a plan with HEAD requests counts, so that response sizes can be shown.
pub const SIZE_OF_HEAD: &str = "Content-Length";
const PERCENTAGES: &[u64] = &[10, 25, 50, 75, 90, 95, 99];
const NS: f64 = 1e9;

/// Average, fastest and slowest of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) average: f64,
    pub(super) fastest: f64,
    pub(super) slowest: f64,
}

/// One row of the histogram.
pub(super) struct Bucket {
    pub(super) mark: f64,
    pub(super) count: u64,
}

/// All figures of a report.
pub(super) struct Figures {
    pub(super) total_ns: u64,
    pub(super) total_seconds: f64,
    pub(super) answers: u64,
    pub(super) requests: u64,
    pub(super) sum_seconds: f64,
    pub(super) slowest: f64,
    pub(super) fastest: f64,
    pub(super) average: f64,
    pub(super) requests_per_second: f64,
    pub(super) bytes: u64,
    pub(super) bytes_per_answer: u64,
    pub(super) histogram: Vec<Bucket>,
    pub(super) distribution: Vec<(u64, f64)>,
    pub(super) connection: Span,
    pub(super) dns: Span,
    pub(super) request: Span,
    pub(super) delay: Span,
    pub(super) response: Span,
    pub(super) statuses: Vec<(u16, u64)>,
    pub(super) other_statuses: u64,
    pub(super) errors: Vec<(String, u64)>,
}

impl Figures {
    pub(super) fn of(result: &RunResult) -> Figures {
        let seen = &result.totals.seen;
        let time = &seen.answered_time;
        let answers = time.count();
        let bytes = bytes(result);
        let requests = seen.counts.outcomes().done();
        let total_seconds = result.totals.elapsed_ns as f64 / NS;
        let mut statuses: Vec<(u16, u64)> = seen
            .statuses
            .rows()
            .map(|(status, count)| (*status, *count))
            .collect();
        statuses.sort_unstable();
        Figures {
            total_ns: result.totals.elapsed_ns,
            total_seconds,
            answers,
            requests,
            sum_seconds: time.sum() as f64 / NS,
            slowest: time.max().unwrap_or(0) as f64 / NS,
            fastest: time.min().unwrap_or(0) as f64 / NS,
            average: time.mean().map_or(f64::NAN, |mean| mean / NS),
            requests_per_second: requests as f64 / total_seconds,
            bytes,
            bytes_per_answer: bytes.checked_div(answers).unwrap_or(0),
            histogram: histogram(time),
            distribution: distribution(time),
            connection: span(&seen.phases.blocked, answers),
            dns: span(&seen.connections.dns, answers),
            request: span(&seen.phases.sending, answers),
            delay: span(&seen.phases.waiting, answers),
            response: span(&seen.phases.receiving, answers),
            statuses,
            other_statuses: seen.statuses.overflow().copied().unwrap_or(0),
            errors: errors(result),
        }
    }

    /// The rows of the details, in order.
    pub(super) fn details(&self) -> [(&'static str, &Span); 5] {
        [
            ("DNS+dialup", &self.connection),
            ("DNS-lookup", &self.dns),
            ("req write", &self.request),
            ("resp wait", &self.delay),
            ("resp read", &self.response),
        ]
    }
}

/// Bytes of the bodies: for responses to HEAD the announced length, if the plan kept it.
fn bytes(result: &RunResult) -> u64 {
    let seen = &result.totals.seen;
    let by = result.plan.aggregation.by_header.as_deref();
    if by != Some(SIZE_OF_HEAD) {
        return seen.counts.body_bytes;
    }
    let announced = seen.by_header.rows().map(|(length, tally)| {
        let length = length.parse::<u64>().unwrap_or(0);
        length.saturating_mul(tally.answered)
    });
    announced.fold(0, u64::saturating_add)
}

/// Over all responses: those without the phase (reused connections need no dialling) count as zero.
fn span(phase: &Summary, answers: u64) -> Span {
    let everywhere = phase.count() >= answers;
    Span {
        average: if answers == 0 {
            f64::NAN
        } else {
            phase.sum() as f64 / answers as f64 / NS
        },
        fastest: if everywhere {
            phase.min().unwrap_or(0) as f64 / NS
        } else {
            0.0
        },
        slowest: phase.max().unwrap_or(0) as f64 / NS,
    }
}

/// Eleven rows: the fastest, then ten equal steps to the slowest, each counting up to its mark.
fn histogram(time: &TimeTrend) -> Vec<Bucket> {
    let marks = time.equal_width_bounds(STEPS);
    let counts = time.counts_per_bound(&marks);
    let rows = marks.iter().zip(counts);
    rows.map(|(mark, count)| Bucket {
        mark: mark / NS,
        count,
    })
    .collect()
}

/// hey's rule: the first sorted value with this percentage of values before it; for few values the last one.
fn distribution(time: &TimeTrend) -> Vec<(u64, f64)> {
    let ranks = Ranks::of(time);
    let row = |percentage: &u64| {
        let rank = (u128::from(*percentage) * u128::from(time.count())).div_ceil(100);
        Some((*percentage, ranks.value(rank as u64)? / NS))
    };
    PERCENTAGES.iter().filter_map(row).collect()
}

/// By text, as Go ranges over a map; failures that read the same are one row.
fn errors(result: &RunResult) -> Vec<(String, u64)> {
    let seen = &result.totals.seen;
    let mut rows: BTreeMap<String, u64> = BTreeMap::new();
    for (key, count) in seen.errors.rows() {
        *rows.entry(go_error::net_http(key)).or_default() += count;
    }
    if let Some(count) = seen.errors.overflow() {
        *rows.entry("other errors".to_owned()).or_default() += count;
    }
    rows.into_iter().collect()
}
