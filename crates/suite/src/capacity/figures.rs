//! The measurements of a probe that objectives need.
//!
//! Must not judge. Invariant: a request that was due but not answered counts as answered too late.

use loadline_metric::{Aggregated, TimeTrend};
use loadline_model::RunResult;
use loadline_model::result::Row;
use loadline_model::verdict::{Delivery, Finding, Limit};

/// Rows below which nothing is said on what piles up.
const ROWS_MIN: usize = 6;
/// The name under which a plan's samples that failed are counted.
const FAILED_SAMPLES: &str = "http_req_failed";
/// Findings that a probe is remembered with.
const FINDINGS_MAX: usize = 3;
/// Findings that every short probe has, and that say nothing about the target.
const COMMON_FINDINGS: [&str; 3] = ["one-run", "few-samples", "too-short"];

/// The finding that more than one side took much of the time, and those that say that the generator is one of them.
const SHARED_LIMIT: &str = "shared-limit";
const GENERATOR: [&str; 4] = [
    "generator-busy",
    "generator-throttled",
    "generator-starved",
    "schedule-lag",
];

/// A count and its total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CountOfTotal {
    /// Those meant.
    pub part: u64,
    /// All.
    pub whole: u64,
}

impl CountOfTotal {
    /// From 0 to 1; `None` if the total is zero.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.whole > 0).then(|| self.part as f64 / self.whole as f64)
    }
}

/// The measurements of a probe, without its warm-up.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Distributions of times in nanoseconds, each of which must hold the objectives: response times; of a script or a JMeter
    /// plan, whose iterations send several requests, also the service times of all of these.
    pub times: Vec<TimeTrend>,
    /// Requests that were due and have no time at all: dropped, never started, cut short at the end.
    pub unanswered: u64,
    /// Requests that failed or had a wrong response, of all that ended.
    pub errors: CountOfTotal,
    /// Checks that passed, of all that were made.
    pub checks: CountOfTotal,
    /// Good responses, of the requests that were due.
    pub goodput: CountOfTotal,
    /// Whether the offered load was delivered.
    pub is_delivered: bool,
    /// Responses per second.
    pub throughput: f64,
    /// Growth of the requests in flight from second to second, as a share of the offered load; `None` if the probe is
    /// too short to tell.
    pub piled_up: Option<f64>,
    /// Who was in the way.
    pub limit: Limit,
    /// By how much one of a hundred starts was late though a virtual user was free, in nanoseconds: the generator's own part
    /// of slow responses.
    pub lag_p99_ns: u64,
    /// Whether the generator took a good part of the requests' time, though it was not the limit.
    pub is_shared: bool,
    /// The verdict in one sentence.
    pub headline: String,
    /// The gravest findings.
    pub findings: Vec<Finding>,
}

/// Whether the generator is named in addition to the limit.
fn shares_blame(findings: &[Finding]) -> bool {
    let is = |code: &str| findings.iter().any(|finding| finding.code == code);
    is(SHARED_LIMIT) && GENERATOR.into_iter().any(is)
}

impl Figures {
    /// The figures of an open-model run.
    #[must_use]
    pub fn of(result: &RunResult) -> Figures {
        let totals = &result.totals;
        let seen = &totals.seen;
        let counts = &seen.counts;
        let outcomes = counts.outcomes();
        let ended = outcomes.done();
        let unanswered = totals.never_started + counts.dropped + counts.interrupted;
        let mut times = vec![seen.response_time.clone()];
        if result.plan.sends_several() {
            times.push(seen.service_time());
        }
        let errors = failed_samples(result);
        let good = CountOfTotal {
            part: counts.good.min(passed(errors, ended)),
            whole: counts.completed,
        };
        Figures {
            times,
            unanswered,
            errors: errors.unwrap_or(CountOfTotal {
                part: outcomes.bad(),
                whole: ended,
            }),
            checks: match (result.checks_passed(), &result.summary) {
                (Some((part, whole)), _) => CountOfTotal { part, whole },
                (None, Some(_)) => CountOfTotal::default(),
                // Each response has a status to be checked.
                (None, None) => good,
            },
            goodput: CountOfTotal {
                part: good.part,
                whole: ended + unanswered,
            },
            is_delivered: result.verdict.delivery == Delivery::Delivered,
            throughput: totals.rates.steady.unwrap_or(totals.rates.average),
            piled_up: piled_up(&result.series),
            limit: result.verdict.limit,
            lag_p99_ns: seen.schedule_lag.quantile(0.99).map_or(0, |ns| ns as u64),
            is_shared: shares_blame(&result.verdict.findings),
            headline: result.verdict.headline.clone(),
            findings: worth_telling(&result.verdict.findings),
        }
    }
}

/// How many of the ended requests passed according to the failure rate; all if it is not counted. Assertions of a
/// JMeter plan may fail requests with a good status.
fn passed(failures: Option<CountOfTotal>, ended: u64) -> u64 {
    let failed = failures.and_then(CountOfTotal::share).unwrap_or(0.0);
    ((1.0 - failed) * ended as f64).round() as u64
}

fn worth_telling(findings: &[Finding]) -> Vec<Finding> {
    let telling = findings
        .iter()
        .filter(|finding| !COMMON_FINDINGS.contains(&finding.code.as_str()));
    telling.take(FINDINGS_MAX).cloned().collect()
}

/// The HTTP samples of a JMeter plan, which may take several requests each and fail by an assertion; `None` for everything
/// else, whose requests are judged one by one.
fn failed_samples(result: &RunResult) -> Option<CountOfTotal> {
    let summary = result.summary.as_ref();
    let summary = summary.filter(|_| result.plan.script.is_none())?;
    let mut metrics = summary.root.metrics.iter();
    let metric = metrics
        .find(|metric| &*metric.definition.name == FAILED_SAMPLES && !metric.is_sub_metric())?;
    match &metric.values {
        Aggregated::Rate(rate) => Some(CountOfTotal {
            part: rate.nonzero(),
            whole: rate.total(),
        }),
        _ => None,
    }
}

/// By which share of the offered load the requests in flight grew: the difference between the means of the last and
/// of the first third of the rows that count, over the time between their middles.
pub(super) fn piled_up(series: &[Row]) -> Option<f64> {
    let rows: Vec<&Row> = series
        .iter()
        .filter(|row| !row.warm_up && row.offered.is_some_and(|offered| offered > 0))
        .collect();
    // The last row is often a part of a second.
    let rows = &rows[..rows.len().saturating_sub(1)];
    if rows.len() < ROWS_MIN {
        return None;
    }
    let third = rows.len() / 3;
    let under_way = |rows: &[&Row]| {
        let sum: u64 = rows.iter().map(|row| row.waiting + row.active_vus).sum();
        sum as f64 / rows.len() as f64
    };
    let (first, last) = (
        under_way(&rows[..third]),
        under_way(&rows[rows.len() - third..]),
    );
    let seconds = |rows: &[&Row]| rows.iter().map(|row| row.span_ns as f64 / 1e9).sum::<f64>();
    let offered: u64 = rows.iter().filter_map(|row| row.offered).sum();
    let between = seconds(&rows[..rows.len() - third]);
    let rate = offered as f64 / seconds(rows);
    grows(first, last, between, rate)
}

/// The share of the offered load that piles up while the mean number of requests in flight changes from `first`
/// to `last` within `seconds`; zero if chance could explain it: an increase of less than half.
fn grows(first: f64, last: f64, seconds: f64, rate: f64) -> Option<f64> {
    if seconds <= 0.0 || rate <= 0.0 {
        return None;
    }
    if last <= 1.5 * first {
        return Some(0.0);
    }
    Some((last - first) / seconds / rate)
}

#[cfg(test)]
impl Figures {
    /// A probe whose requests all got a good answer within a second, in these times.
    pub(super) fn faultless(times: TimeTrend) -> Figures {
        let whole = times.count();
        let all = CountOfTotal { part: whole, whole };
        Figures {
            times: vec![times],
            unanswered: 0,
            errors: CountOfTotal { part: 0, whole },
            checks: all,
            goodput: all,
            is_delivered: true,
            throughput: whole as f64,
            piled_up: None,
            limit: Limit::Nobody,
            lag_p99_ns: 0,
            is_shared: false,
            headline: String::new(),
            findings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(under_way: impl Fn(u64) -> u64) -> Vec<Row> {
        let row = |second: u64| Row {
            at_ns: second * 1_000_000_000,
            span_ns: 1_000_000_000,
            offered: Some(100),
            waiting: under_way(second),
            active_vus: 10,
            ..Row::default()
        };
        (0..13).map(row).collect()
    }

    #[test]
    fn a_queue_that_grows_is_seen_and_one_that_stands_is_not() {
        let share = |under_way: fn(u64) -> u64| piled_up(&rows(under_way)).expect("long enough");
        assert!((share(|second| 5 * second) - 0.05).abs() < 1e-9);
        assert_eq!(share(|_| 40), 0.0);
        assert_eq!(share(|second| 40 + second % 3), 0.0);
        assert_eq!(piled_up(&rows(|_| 0)[..5]), None);
    }

    #[test]
    fn what_is_warmed_up_with_does_not_count() {
        let mut rows = rows(|second| if second < 4 { 0 } else { 40 });
        for row in &mut rows[..4] {
            row.warm_up = true;
        }
        assert_eq!(piled_up(&rows), Some(0.0));
    }
}
