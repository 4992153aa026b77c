//! Statistics over time: samples in intervals that grow with the length of the test.
//!
//! Must not know pages. Invariant: there are at most [`STRETCHES_MAX`] intervals, all of the same length.

use std::collections::BTreeMap;

use crate::jmeter::results::Row;
use crate::svg::{Drawing, Series, Unit, over_time};

/// Maximum intervals; beyond, pairs are merged.
const STRETCHES_MAX: usize = 512;
/// Maximum labels whose times are shown over time.
const LABELS_MAX: usize = 64;
/// Maximum codes shown over time.
const CODES_MAX: usize = 16;
/// Those that are drawn: as many as there are colours.
const DRAWN_MAX: usize = 6;
/// Percentiles that are drawn.
const PERCENTS: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// What was seen in an interval.
#[derive(Clone, Debug, Default)]
struct Stretch {
    samples: u64,
    failed: u64,
    elapsed_ms: u64,
    latency_ms: u64,
    connect_ms: u64,
    bytes: u64,
    sent_bytes: u64,
    threads: u32,
    /// Number of samples by approximate time.
    times: BTreeMap<u64, u32>,
    /// Samples and the sum of their times, by label.
    labels: BTreeMap<u16, (u64, u64)>,
    codes: BTreeMap<u16, u64>,
}

impl Stretch {
    fn join(&mut self, other: Stretch) {
        self.samples += other.samples;
        self.failed += other.failed;
        self.elapsed_ms = self.elapsed_ms.saturating_add(other.elapsed_ms);
        self.latency_ms = self.latency_ms.saturating_add(other.latency_ms);
        self.connect_ms = self.connect_ms.saturating_add(other.connect_ms);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.threads = self.threads.max(other.threads);
        for (time, count) in other.times {
            let known = self.times.entry(time).or_default();
            *known = known.saturating_add(count);
        }
        for (label, (samples, elapsed_ms)) in other.labels {
            let known = self.labels.entry(label).or_default();
            *known = (known.0 + samples, known.1.saturating_add(elapsed_ms));
        }
        for (code, count) in other.codes {
            *self.codes.entry(code).or_default() += count;
        }
    }

    /// The time below which about this percentage of the samples lie.
    fn percentile(&self, percent: f64) -> Option<f64> {
        let wanted = (percent / 100.0 * self.samples as f64).ceil().max(1.0) as u64;
        let mut before = 0;
        let found = self.times.iter().find(|(_, count)| {
            before += u64::from(**count);
            before >= wanted
        });
        found.map(|(time, _)| nanoseconds(*time as f64))
    }
}

/// Names by number, in the order in which they came.
#[derive(Clone, Debug, Default)]
struct Names(Vec<(String, u64)>);

impl Names {
    /// Counts one more sample of a name and returns the name's number; `None`: there are too many.
    fn place(&mut self, name: &str, most: usize) -> Option<u16> {
        let known = self.0.iter().position(|(known, _)| known == name);
        let place = match known {
            Some(known) => known,
            None if self.0.len() < most => {
                self.0.push((name.to_owned(), 0));
                self.0.len() - 1
            }
            None => return None,
        };
        self.0[place].1 += 1;
        u16::try_from(place).ok()
    }

    /// Those with most samples, in order of appearance.
    fn largest(&self) -> Vec<(u16, &str)> {
        let mut places: Vec<usize> = (0..self.0.len()).collect();
        places.sort_by_key(|place| std::cmp::Reverse(self.0[*place].1));
        places.truncate(DRAWN_MAX);
        places.sort_unstable();
        let named = places.into_iter().filter_map(|place| {
            let number = u16::try_from(place).ok()?;
            Some((number, self.0[place].0.as_str()))
        });
        named.collect()
    }
}

/// Samples in intervals of time.
#[derive(Clone, Debug)]
pub(super) struct Timeline {
    width_ms: i64,
    stretches: BTreeMap<i64, Stretch>,
    labels: Names,
    codes: Names,
    /// When the first sample started, and the last ended.
    span_ms: Option<(i64, i64)>,
}

impl Timeline {
    pub(super) fn new(width_ms: u64) -> Timeline {
        Timeline {
            width_ms: i64::try_from(width_ms).unwrap_or(i64::MAX).max(1),
            stretches: BTreeMap::new(),
            labels: Names::default(),
            codes: Names::default(),
            span_ms: None,
        }
    }

    pub(super) fn add(&mut self, row: &Row) {
        let elapsed_ms = i64::try_from(row.elapsed_ms).unwrap_or(i64::MAX);
        let end_ms = row.start_ms.saturating_add(elapsed_ms);
        let (first, last) = self.span_ms.unwrap_or((row.start_ms, end_ms));
        self.span_ms = Some((first.min(row.start_ms), last.max(end_ms)));
        let label = self.labels.place(&row.label, LABELS_MAX);
        let code = self.codes.place(&row.code, CODES_MAX);
        let key = end_ms.div_euclid(self.width_ms);
        let stretch = self.stretches.entry(key).or_default();
        stretch.samples += 1;
        stretch.failed += u64::from(!row.success);
        stretch.elapsed_ms = stretch.elapsed_ms.saturating_add(row.elapsed_ms);
        stretch.latency_ms = stretch.latency_ms.saturating_add(row.latency_ms);
        stretch.connect_ms = stretch.connect_ms.saturating_add(row.connect_ms);
        stretch.bytes = stretch.bytes.saturating_add(row.bytes);
        stretch.sent_bytes = stretch.sent_bytes.saturating_add(row.sent_bytes);
        stretch.threads = stretch.threads.max(row.all_threads);
        let times = stretch.times.entry(about(row.elapsed_ms)).or_default();
        *times = times.saturating_add(1);
        if let Some(label) = label {
            let known = stretch.labels.entry(label).or_default();
            *known = (known.0 + 1, known.1.saturating_add(row.elapsed_ms));
        }
        if let Some(code) = code {
            *stretch.codes.entry(code).or_default() += 1;
        }
        while self.stretches.len() > STRETCHES_MAX {
            self.grow();
        }
    }

    /// Merges pairs of intervals.
    fn grow(&mut self) {
        self.width_ms = self.width_ms.saturating_mul(2);
        for (key, stretch) in std::mem::take(&mut self.stretches) {
            let joined = self.stretches.entry(key.div_euclid(2)).or_default();
            joined.join(stretch);
        }
    }

    /// When the first sample started and the last ended, in milliseconds since 1970.
    pub(super) fn span_ms(&self) -> Option<(i64, i64)> {
        self.span_ms
    }

    /// The length of an interval in seconds.
    pub(super) fn width_s(&self) -> f64 {
        self.width_ms as f64 / 1e3
    }

    /// All charts for which there is data.
    pub(super) fn charts(&self) -> Vec<Drawing> {
        self.of_times()
            .into_iter()
            .chain(self.of_counts())
            .flatten()
            .collect()
    }

    fn of_times(&self) -> [Option<Drawing>; 3] {
        let seconds = self.seconds();
        let labels = self.labels.largest();
        let of_labels = labels.iter().map(|(number, name)| {
            self.series(name, |of| {
                let (samples, elapsed_ms) = of.labels.get(number)?;
                Some(nanoseconds(*elapsed_ms as f64 / *samples as f64))
            })
        });
        let percentiles = PERCENTS
            .map(|percent| self.series(&format!("{percent} %"), |of| of.percentile(percent)));
        let mean = |name: &str, sum: fn(&Stretch) -> u64| {
            self.series(name, |of| {
                Some(nanoseconds(sum(of) as f64 / of.samples as f64))
            })
        };
        let draw = |name, what, series| over_time(name, what, Unit::Span, seconds, series);
        [
            draw(
                "times",
                ("Response times over time", "mean of each label"),
                of_labels.collect(),
            ),
            draw(
                "percentiles",
                ("Response time percentiles over time", "response time"),
                percentiles.into(),
            ),
            draw(
                "latency",
                ("Latencies and connect times over time", "mean"),
                vec![
                    mean("latency", |of| of.latency_ms),
                    mean("connect time", |of| of.connect_ms),
                ],
            ),
        ]
    }

    fn of_counts(&self) -> [Option<Drawing>; 5] {
        let rate = |name: &str, count: &dyn Fn(&Stretch) -> u64| {
            self.series(name, |of| Some(count(of) as f64 / self.width_s()))
        };
        let codes = self.codes.largest();
        let of_codes = codes.iter().map(|(number, name)| {
            let count = |of: &Stretch| of.codes.get(number).copied().unwrap_or(0);
            rate(if name.is_empty() { "no code" } else { name }, &count)
        });
        let threads = self.series("active threads", |of| Some(of.threads.into()));
        let transactions = vec![
            rate("good", &|of| of.samples - of.failed),
            rate("failed", &|of| of.failed),
        ];
        let bytes = vec![
            rate("received", &|of| of.bytes),
            rate("sent", &|of| of.sent_bytes),
        ];
        let per_second = "samples per second";
        let seconds = self.seconds();
        let draw = |name, what, unit, series| over_time(name, what, unit, seconds, series);
        [
            draw(
                "threads",
                ("Active threads over time", "threads"),
                Unit::Rate,
                vec![threads],
            ),
            draw(
                "hits",
                ("Hits per second", per_second),
                Unit::Rate,
                vec![rate("hits", &|of| of.samples)],
            ),
            draw(
                "transactions",
                ("Transactions per second", per_second),
                Unit::Rate,
                transactions,
            ),
            draw(
                "codes",
                ("Codes per second", per_second),
                Unit::Rate,
                of_codes.collect(),
            ),
            draw(
                "bytes",
                ("Bytes throughput over time", "bytes per second"),
                Unit::Size,
                bytes,
            ),
        ]
    }

    fn first(&self) -> i64 {
        self.stretches.keys().next().copied().unwrap_or(0)
    }

    fn seconds(&self) -> f64 {
        let last = self.stretches.keys().next_back().copied().unwrap_or(0);
        last.saturating_sub(self.first()).saturating_add(1) as f64 * self.width_s()
    }

    fn series(&self, name: &str, value: impl Fn(&Stretch) -> Option<f64>) -> Series {
        let first = self.first();
        let points = self.stretches.iter().map(|(key, of)| {
            let middle = (key.saturating_sub(first) as f64 + 0.5) * self.width_s();
            (middle, value(of))
        });
        Series {
            name: name.to_owned(),
            points: points.collect(),
        }
    }
}

fn nanoseconds(ms: f64) -> f64 {
    ms * 1e6
}

/// A time to two digits.
fn about(ms: u64) -> u64 {
    let mut step = 1;
    while ms / step >= 100 {
        step *= 10;
    }
    ms / step * step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(start_ms: i64, elapsed_ms: u64) -> Row {
        Row {
            start_ms,
            elapsed_ms,
            label: "a".to_owned(),
            success: true,
            ..Row::default()
        }
    }

    #[test]
    fn stretches_grow_with_the_test() {
        let mut timeline = Timeline::new(1_000);
        for second in 0..10_000 {
            timeline.add(&row(second * 1_000, 10));
        }
        assert!(timeline.stretches.len() <= STRETCHES_MAX);
        let samples: u64 = timeline.stretches.values().map(|of| of.samples).sum();
        assert_eq!((samples, timeline.width_ms), (10_000, 32_000));
        assert_eq!(timeline.span_ms(), Some((0, 9_999_010)));
        assert!(!timeline.charts().is_empty());
    }

    #[test]
    fn odd_instants_do_no_harm() {
        let mut timeline = Timeline::new(1);
        for start_ms in [i64::MIN, 0, i64::MAX] {
            timeline.add(&row(start_ms, u64::MAX));
        }
        assert_eq!(timeline.stretches.len(), 2);
        let _ = timeline.charts();
    }

    #[test]
    fn percentiles_are_about_right() {
        let mut timeline = Timeline::new(1_000_000);
        for elapsed_ms in 1..=100 {
            timeline.add(&row(0, elapsed_ms));
        }
        let stretch = timeline.stretches.values().next().expect("there is one");
        assert_eq!(stretch.percentile(50.0), Some(50e6));
        assert_eq!(stretch.percentile(99.0), Some(99e6));
    }
}
