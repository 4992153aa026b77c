//! The figures of bombardier's reports, in its units: microseconds and requests per second.
//!
//! Must not know their layout. Invariant: latencies include failed requests, as bombardier's do; standard
//! deviations include every value, unlike bombardier's.

use loadline_metric::{TimeTrend, ValueTrend};
use loadline_model::RunResult;

use crate::go_error;
use crate::ranks::Ranks;

use super::{Client, Spec};

/// The percentiles that the reports show.
pub(super) const SHARES: &[f64] = &[0.5, 0.75, 0.9, 0.95, 0.99];

/// Mean, standard deviation, maximum and percentiles of latencies or rates.
pub(super) struct Statistics<T> {
    pub(super) mean: f64,
    pub(super) stdev: f64,
    pub(super) max: f64,
    pub(super) percentiles: Vec<(f64, T)>,
}

/// All figures of a report besides the statistics.
pub(super) struct Figures {
    pub(super) bytes_read: u64,
    pub(super) bytes_written: u64,
    pub(super) elapsed_ns: u64,
    /// Responses by the first digit of their status, from 1 to 5.
    pub(super) statuses: [u64; 5],
    pub(super) others: u64,
    /// Texts of failures, the most frequent first.
    pub(super) errors: Vec<(String, u64)>,
}

impl Figures {
    pub(super) fn of(result: &RunResult, spec: &Spec) -> Figures {
        let seen = &result.totals.seen;
        let mut statuses = [0; 5];
        let mut others = seen.counts.failed_total() + seen.statuses.overflow().unwrap_or(&0);
        for (status, count) in seen.statuses.rows() {
            match status / 100 {
                class @ 1..=5 => statuses[usize::from(class) - 1] += count,
                _ => others += count,
            }
        }
        Figures {
            bytes_read: seen.counts.bytes_received,
            bytes_written: seen.counts.bytes_sent,
            elapsed_ns: result.totals.elapsed_ns,
            statuses,
            others,
            errors: errors(result, spec.client),
        }
    }

    /// Bytes both ways per second.
    pub(super) fn throughput(&self) -> f64 {
        let bytes = self.bytes_read as f64 + self.bytes_written as f64;
        if self.elapsed_ns == 0 {
            0.0
        } else {
            bytes / (self.elapsed_ns as f64 / 1e9)
        }
    }
}

fn errors(result: &RunResult, client: Client) -> Vec<(String, u64)> {
    let mut rows: Vec<(String, u64)> = Vec::new();
    let seen = &result.totals.seen;
    for (key, count) in seen.errors.rows() {
        let text = match client {
            Client::FastHttp => go_error::fasthttp(key),
            Client::NetHttp1 | Client::NetHttp2 => go_error::net_http(key),
        };
        match rows.iter_mut().find(|(known, _)| *known == text) {
            Some((_, sum)) => *sum += count,
            None => rows.push((text, *count)),
        }
    }
    if let Some(count) = seen.errors.overflow() {
        rows.push(("other errors".to_owned(), *count));
    }
    rows.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    rows
}

/// Statistics of latencies in microseconds; `None` without a request.
pub(super) fn latencies(time: &TimeTrend, shares: &[f64]) -> Option<Statistics<u64>> {
    let mean = time.mean()? / 1e3;
    let ranks = Ranks::of(time);
    let percentile = |share: f64| {
        let rank = rank_of(share, time.count());
        Some((share, (ranks.value(rank)? / 1e3) as u64))
    };
    Some(Statistics {
        mean,
        stdev: time.stddev().unwrap_or(0.0) / 1e3,
        max: (time.max()? / 1_000) as f64,
        percentiles: wanted(shares).filter_map(percentile).collect(),
    })
}

/// Statistics of the rates in short windows; `None` without a window.
pub(super) fn rates(rates: &ValueTrend, shares: &[f64]) -> Option<Statistics<f64>> {
    let count = rates.count() as f64;
    let percentile = |share: f64| Some((share, rate_at(rates, rank_of(share, rates.count()))?));
    let stdev = if count > 1.0 {
        rates.stddev().unwrap_or(0.0) * (count / (count - 1.0)).sqrt()
    } else {
        0.0
    };
    Some(Statistics {
        mean: rates.mean()?,
        stdev,
        max: rates.max()?,
        percentiles: wanted(shares).filter_map(percentile).collect(),
    })
}

/// Ascending and each once, as Go ranges over a map; those beyond 0 to 1 are left out.
fn wanted(shares: &[f64]) -> impl Iterator<Item = f64> {
    let mut shares: Vec<f64> = shares
        .iter()
        .copied()
        .filter(|s| (0.0..=1.0).contains(s))
        .collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    shares.into_iter()
}

/// bombardier's rule: the value at the rounded share of the count, counted from one.
fn rank_of(share: f64, count: u64) -> u64 {
    ((share * count as f64 + 0.5) as u64).max(1) - 1
}

fn rate_at(rates: &ValueTrend, rank: u64) -> Option<f64> {
    let last = rates.count().checked_sub(1)?;
    if let Some(values) = rates.raw_values() {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        return sorted.get(rank.min(last) as usize).copied();
    }
    rates.quantile(if last == 0 {
        0.0
    } else {
        rank.min(last) as f64 / last as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_round_half_up() {
        assert_eq!(
            [
                rank_of(0.5, 20),
                rank_of(0.95, 20),
                rank_of(0.0, 20),
                rank_of(1.0, 20)
            ],
            [9, 18, 0, 19]
        );
        assert_eq!(
            wanted(&[0.9, 0.5, 0.9, 1.5]).collect::<Vec<_>>(),
            [0.5, 0.9]
        );
    }
}
