//! Requests per value of a tag over time, in a bounded number of rows whatever the length of the run.
//!
//! Must not know how rows are shown. Invariants: counts of merged rows add up; there are at most [`ROWS_MAX`]
//! rows and [`VALUES_MAX`] values, so the size is bounded; percentiles are exact if a row is a single interval,
//! otherwise they are read from bands that are 19 % wide.

use std::collections::BTreeMap;
use std::sync::Arc;

use loadline_metric::measurements::{ByTagDelta, MetricValues};
use loadline_metric::{Aggregated, BuiltIn};
use serde::{Deserialize, Serialize};

use crate::heat::Heat;
use crate::secret::redacted_text;

/// Maximum rows; beyond this, two are merged into one.
pub const ROWS_MAX: usize = 96;
/// Maximum values with rows: the first ones seen.
pub const VALUES_MAX: usize = 500;
/// A last row shorter than this fraction of the previous one is merged into it.
const TAIL_PART: u64 = 10;

/// Requests per value of a tag over time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagSeries {
    /// Start of each row, in nanoseconds from the start of the run.
    pub at_ns: Vec<u64>,
    /// Length of each row, in nanoseconds.
    pub span_ns: Vec<u64>,
    /// The values, in alphabetical order.
    pub values: Vec<ValueSeries>,
}

/// Requests of one value, one number per row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueSeries {
    /// The value.
    pub value: String,
    /// Requests.
    pub requests: Vec<u64>,
    /// Failed requests among them.
    pub failed: Vec<u64>,
    /// Median of their durations in nanoseconds; `None` without requests.
    pub p50_ns: Vec<Option<u64>>,
    /// 99th percentile of their durations, likewise.
    pub p99_ns: Vec<Option<u64>>,
}

/// A [`TagSeries`] that is being recorded.
#[derive(Debug, Default)]
pub struct TagRows {
    /// Start and length.
    rows: Vec<(u64, u64)>,
    /// Intervals per row, and the number in the last row.
    per_row: u32,
    in_last: u32,
    /// For each value, its non-empty rows with their numbers, ascending.
    values: BTreeMap<Arc<str>, Vec<(u16, Cell)>>,
}

/// Requests of one value in one row.
#[derive(Clone, Debug, Default)]
struct Cell {
    requests: u64,
    failed: u64,
    times: Heat,
    /// Median and 99th percentile; `None` if intervals were merged.
    exact: Option<(u64, u64)>,
}

impl TagRows {
    /// Adds what was seen in the next interval; `None`: no requests.
    pub fn add(&mut self, at_ns: u64, span_ns: u64, seen: Option<&ByTagDelta>) {
        let is_tail = (self.rows.last()).is_some_and(|(_, span)| span_ns < span / TAIL_PART);
        match self.rows.last_mut() {
            Some(last) if is_tail || self.in_last < self.per_row => {
                last.1 = last.1.saturating_add(span_ns);
                self.in_last += 1;
            }
            _ => {
                self.make_room();
                self.rows.push((at_ns, span_ns));
                self.in_last = 1;
            }
        }
        let row = (self.rows.len() - 1) as u16;
        for (value, values) in seen.into_iter().flat_map(|seen| &seen.rows) {
            let is_full = self.values.len() >= VALUES_MAX;
            if let Some(rows) = self.values.get_mut(value) {
                put(rows, row, Cell::of(values));
            } else if !is_full {
                let first = vec![(row, Cell::of(values))];
                self.values.insert(Arc::clone(value), first);
            }
        }
    }

    /// Merges pairs of rows if there is no room for another.
    fn make_room(&mut self) {
        if self.rows.len() < ROWS_MAX {
            self.per_row = self.per_row.max(1);
            return;
        }
        let pairs = self.rows.chunks(2);
        self.rows = pairs
            .map(|pair| (pair[0].0, pair.iter().map(|(_, span)| span).sum()))
            .collect();
        for rows in self.values.values_mut() {
            let mut joined = Vec::with_capacity(rows.len());
            for (row, cell) in rows.drain(..) {
                put(&mut joined, row / 2, cell);
            }
            *rows = joined;
        }
        self.per_row = self.per_row.saturating_mul(2);
    }

    /// The rows so far; `None` if no value was seen.
    #[must_use]
    pub fn series(&self) -> Option<TagSeries> {
        let values = self.values.iter().map(|(value, rows)| {
            let mut series = ValueSeries {
                value: redacted_text(value).into_owned(),
                requests: vec![0; self.rows.len()],
                failed: vec![0; self.rows.len()],
                p50_ns: vec![None; self.rows.len()],
                p99_ns: vec![None; self.rows.len()],
            };
            for (row, cell) in rows {
                let row = usize::from(*row);
                series.requests[row] = cell.requests;
                series.failed[row] = cell.failed;
                series.p50_ns[row] = cell.percentile(|exact| exact.0, 0.5);
                series.p99_ns[row] = cell.percentile(|exact| exact.1, 0.99);
            }
            series
        });
        (!self.values.is_empty()).then(|| TagSeries {
            at_ns: self.rows.iter().map(|(at, _)| *at).collect(),
            span_ns: self.rows.iter().map(|(_, span)| *span).collect(),
            values: values.collect(),
        })
    }
}

/// Adds a cell to a row, which is the last one or follows it.
fn put(rows: &mut Vec<(u16, Cell)>, row: u16, cell: Cell) {
    match rows.last_mut() {
        Some((last, known)) if *last == row => known.join(&cell),
        _ => rows.push((row, cell)),
    }
}

impl Cell {
    fn of(values: &MetricValues) -> Cell {
        let times = match values.get(&BuiltIn::HttpReqDuration.id()) {
            Some(Aggregated::Times(times)) => Some(times),
            _ => None,
        };
        let requests = match values.get(&BuiltIn::HttpReqs.id()) {
            Some(Aggregated::Counter(counter)) => counter.total() as u64,
            _ => 0,
        };
        let failed = match values.get(&BuiltIn::HttpReqFailed.id()) {
            Some(Aggregated::Rate(rate)) => rate.nonzero(),
            _ => 0,
        };
        let whole =
            |times: &loadline_metric::TimeTrend, at| Some(times.quantile(at)?.round() as u64);
        Cell {
            requests,
            failed,
            times: times.map(Heat::of).unwrap_or_default(),
            exact: times.and_then(|times| whole(times, 0.5).zip(whole(times, 0.99))),
        }
    }

    fn join(&mut self, other: &Cell) {
        self.requests = self.requests.saturating_add(other.requests);
        self.failed = self.failed.saturating_add(other.failed);
        self.times.merge(&other.times);
        self.exact = None;
    }

    fn percentile(&self, exact: fn((u64, u64)) -> u64, quantile: f64) -> Option<u64> {
        self.exact
            .map(exact)
            .or_else(|| self.times.quantile(quantile))
    }
}

impl TagSeries {
    /// Merges pairs of rows, for readers without room for all. Percentiles of a value cannot be merged, so the
    /// larger one stays.
    pub fn halve(&mut self) {
        fn joined<T: Copy>(column: &mut Vec<T>, join: fn(T, T) -> T) {
            let pairs = column.chunks(2);
            *column = pairs
                .filter_map(|pair| pair.iter().copied().reduce(join))
                .collect();
        }
        joined(&mut self.at_ns, |first, _| first);
        joined(&mut self.span_ns, u64::saturating_add);
        for value in &mut self.values {
            joined(&mut value.requests, u64::saturating_add);
            joined(&mut value.failed, u64::saturating_add);
            joined(&mut value.p50_ns, Ord::max);
            joined(&mut value.p99_ns, Ord::max);
        }
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::{HttpTimes, Measurements, SeriesPlan, TagSet};

    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    /// One second: this many requests of each value, each a millisecond longer than the one before, the first
    /// one failed.
    fn second(values: &[(&str, u64)]) -> ByTagDelta {
        let plan = SeriesPlan {
            by_tag: Some("name".to_owned()),
            ..SeriesPlan::default()
        };
        let mut seen = Measurements::new(&plan, Arc::default());
        for (value, requests) in values {
            let tags: TagSet = [("name", *value), ("status", "500")].into_iter().collect();
            for number in 1..=*requests {
                let times = HttpTimes {
                    waiting: number * 1_000_000,
                    ..HttpTimes::default()
                };
                seen.record_http(&times, Some(number == 1), 0, &tags);
            }
        }
        seen.take().by_tag.unwrap_or_default()
    }

    #[test]
    fn a_short_run_has_exact_percentiles_a_second() {
        let mut rows = TagRows::default();
        assert_eq!(rows.series(), None);
        for number in 0..10 {
            rows.add(
                number * SECOND_NS,
                SECOND_NS,
                Some(&second(&[("a", 9 * (number % 2))])),
            );
        }
        let series = rows.series().expect("a value was seen");
        assert_eq!(series.at_ns.len(), 10);
        let a = &series.values[0];
        assert_eq!(a.requests, [0, 9, 0, 9, 0, 9, 0, 9, 0, 9]);
        assert_eq!((a.failed[1], a.p50_ns[0]), (1, None));
        let p50 = a.p50_ns[1].expect("there were requests");
        assert!(p50.abs_diff(5_000_000) < 10_000, "{p50}");
    }

    #[test]
    fn a_long_run_has_few_rows_that_add_up() {
        let mut rows = TagRows::default();
        let (busy, rare) = (second(&[("a", 20), ("b", 1)]), second(&[("a", 20)]));
        for number in 0..20_000 {
            let seen = if number % 7 == 0 { &busy } else { &rare };
            rows.add(number * SECOND_NS, SECOND_NS, Some(seen));
        }
        rows.add(20_000 * SECOND_NS, 1, Some(&busy));
        let mut series = rows.series().expect("values were seen");
        assert!((ROWS_MAX / 2..=ROWS_MAX).contains(&series.at_ns.len()));
        for _ in 0..2 {
            assert_eq!(series.span_ns.iter().sum::<u64>(), 20_000 * SECOND_NS + 1);
            let [a, b] = &series.values[..] else {
                panic!("two values");
            };
            assert_eq!(a.requests.iter().sum::<u64>(), 20 * 20_001);
            assert_eq!(b.requests.iter().sum::<u64>(), 20_000_u64.div_ceil(7) + 1);
            assert_eq!(a.failed.iter().sum::<u64>(), 20_001);
            let p50 = a.p50_ns[0].expect("there were requests") as f64;
            assert!((p50 / 10.5e6 - 1.0).abs() < 0.19, "{p50}");
            let p99 = a.p99_ns[0].expect("there were requests") as f64;
            assert!((p99 / 20e6 - 1.0).abs() < 0.19, "{p99}");
            series.halve();
        }
    }

    #[test]
    fn however_many_values_there_are_few_have_rows() {
        let mut rows = TagRows::default();
        let names: Vec<String> = (0..VALUES_MAX + 9).map(|n| n.to_string()).collect();
        let all: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1)).collect();
        rows.add(0, SECOND_NS, Some(&second(&all)));
        assert_eq!(rows.series().map(|of| of.values.len()), Some(VALUES_MAX));
    }
}
