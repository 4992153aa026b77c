//! `statistics.json`: counts, times and rates per label and in total, as in JMeter's dashboard.
//!
//! Must not know where rows come from. Invariant: memory depends on the labels and on the spread of times,
//! never on the number of rows; samples of transactions count under their own label, and not in `Total`.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Number, Value, json};

use super::results::Row;

/// Times up to here are kept to the millisecond, greater ones to a thousandth of their value.
const EXACT_MS: u64 = 100_000;
/// Maximum labels reported separately; samples of further ones only count in `Total`.
const LABELS_MAX: usize = 20_000;

/// Figures with their names.
pub(super) type Figures = Vec<(&'static str, Value)>;

/// What was seen of all samples of a label.
#[derive(Clone, Debug, Default)]
struct Tally {
    samples: u64,
    errors: u64,
    mean_ms: f64,
    /// How many samples took how long.
    times: BTreeMap<u64, u64>,
    first_ms: i64,
    last_ms: i64,
    least_ms: u64,
    greatest_ms: u64,
    bytes: u64,
    sent_bytes: u64,
}

/// The percentiles of times, in JMeter's order.
pub const PERCENTS: [f64; 3] = [90.0, 95.0, 99.0];

/// Statistics of a run.
#[derive(Clone, Debug)]
pub struct Statistics {
    percents: [f64; 3],
    places: HashMap<String, usize>,
    labels: Vec<(String, Tally)>,
    total: Tally,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics::new(PERCENTS)
    }
}

impl Statistics {
    /// No rows; `percents`: what `pct1ResTime` and its like are of, in percent.
    #[must_use]
    pub fn new(percents: [f64; 3]) -> Statistics {
        Statistics {
            percents,
            places: HashMap::new(),
            labels: Vec::new(),
            total: Tally::default(),
        }
    }

    /// What a figure is a percentile of, in percent; `None`: it is none.
    pub(super) fn percent_of(&self, figure: &str) -> Option<f64> {
        let at = match figure {
            "pct1ResTime" => 0,
            "pct2ResTime" => 1,
            "pct3ResTime" => 2,
            _ => return None,
        };
        Some(self.percents[at])
    }

    /// Adds a row.
    pub fn add(&mut self, row: &Row) {
        if !row.is_transaction() {
            self.total.add(row);
        }
        if let Some(&place) = self.places.get(&row.label) {
            self.labels[place].1.add(row);
        } else if self.labels.len() < LABELS_MAX {
            self.places.insert(row.label.clone(), self.labels.len());
            let mut tally = Tally::default();
            tally.add(row);
            self.labels.push((row.label.clone(), tally));
        }
    }

    /// The figures of each label by their names in `statistics.json`, those of the total last.
    pub(super) fn figures(&self) -> impl Iterator<Item = (&str, Figures)> {
        let labels = self
            .labels
            .iter()
            .map(|(name, tally)| (name.as_str(), tally));
        let all = labels.chain([("Total", &self.total)]);
        all.map(|(name, tally)| (name, tally.told(name, self.percents)))
    }

    /// Everything as JSON, labels in order of appearance.
    #[must_use]
    pub fn json(&self) -> String {
        let parts = self.figures().map(|(name, fields)| {
            let lines = fields.into_iter();
            let lines = lines.map(|(key, value)| format!("    \"{key}\" : {value}"));
            let lines: Vec<String> = lines.collect();
            format!("  {} : {{\n{}\n  }}", json!(name), lines.join(",\n"))
        });
        let parts: Vec<String> = parts.collect();
        format!("{{\n{}\n}}", parts.join(",\n"))
    }
}

impl Tally {
    fn add(&mut self, row: &Row) {
        let elapsed = i64::try_from(row.elapsed_ms).unwrap_or(i64::MAX);
        let end_ms = row.start_ms.saturating_add(elapsed);
        if self.samples == 0 {
            (self.first_ms, self.last_ms) = (row.start_ms, end_ms);
            (self.least_ms, self.greatest_ms) = (row.elapsed_ms, row.elapsed_ms);
        }
        self.first_ms = self.first_ms.min(row.start_ms);
        self.last_ms = self.last_ms.max(end_ms);
        self.least_ms = self.least_ms.min(row.elapsed_ms);
        self.greatest_ms = self.greatest_ms.max(row.elapsed_ms);
        self.samples += 1;
        self.errors += u64::from(!row.success);
        self.mean_ms += (row.elapsed_ms as f64 - self.mean_ms) / self.samples as f64;
        *self.times.entry(rounded(row.elapsed_ms)).or_default() += 1;
        self.bytes = self.bytes.saturating_add(row.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(row.sent_bytes);
    }

    fn told(&self, name: &str, [first, second, third]: [f64; 3]) -> Figures {
        let elapsed_ms = self.last_ms.saturating_sub(self.first_ms) as f64;
        let per_second = |bytes: u64| real(bytes as f64 / 1024.0 / (elapsed_ms / 1000.0));
        let share = self.errors as f32 * 100.0 / self.samples as f32;
        vec![
            ("transaction", json!(name)),
            ("sampleCount", json!(self.samples)),
            ("errorCount", json!(self.errors)),
            ("errorPct", short(share)),
            ("meanResTime", real(self.mean_ms)),
            ("medianResTime", real(self.percentile(50.0))),
            ("minResTime", real(self.least_ms as f64)),
            ("maxResTime", real(self.greatest_ms as f64)),
            ("pct1ResTime", real(self.percentile(first))),
            ("pct2ResTime", real(self.percentile(second))),
            ("pct3ResTime", real(self.percentile(third))),
            (
                "throughput",
                real(self.samples as f64 / elapsed_ms * 1000.0),
            ),
            ("receivedKBytesPerSec", per_second(self.bytes)),
            ("sentKBytesPerSec", per_second(self.sent_bytes)),
        ]
    }

    /// Between the two samples next to the place p·(n+1)/100, as JMeter has it, but of all samples and not of the
    /// last 20,000.
    fn percentile(&self, percent: f64) -> f64 {
        percentile(percent, self.samples, |place| self.nth(place))
    }

    /// The time of the sample at a place from 1, in the order of times.
    fn nth(&self, place: u64) -> f64 {
        if place <= 1 {
            return self.least_ms as f64;
        }
        let mut before = 0;
        let found = self.times.iter().find(|(_, count)| {
            before += **count;
            before >= place
        });
        let time = found.filter(|_| place < self.samples);
        time.map_or(self.greatest_ms, |(time, _)| *time) as f64
    }
}

/// Between the two values next to the place p·(n+1)/100 of n values in order; `nth` returns one by its place from 1.
pub(super) fn percentile(percent: f64, count: u64, nth: impl Fn(u64) -> f64) -> f64 {
    let place = percent / 100.0 * (count as f64 + 1.0);
    if place < 1.0 {
        return nth(1);
    }
    if place >= count as f64 {
        return nth(count);
    }
    let floor = place.floor();
    let lower = nth(floor as u64);
    lower + (place - floor) * (nth(floor as u64 + 1) - lower)
}

fn rounded(ms: u64) -> u64 {
    let mut step = 1;
    while ms / step >= EXACT_MS {
        step *= 10;
    }
    ms / step * step
}

/// A number; a rate without time is a text, as JMeter's writer has it.
fn real(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| json!(no_number(value)), Value::Number)
}

/// The same with the fewest digits that distinguish it from other `f32` values.
fn short(value: f32) -> Value {
    let text = format!("{value:?}");
    text.parse()
        .map_or_else(|_| json!(no_number(value.into())), real)
}

fn no_number(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => "NaN",
        _ if value > 0.0 => "Infinity",
        _ => "-Infinity",
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::Reader;
    use super::*;

    fn told(text: &str) -> Value {
        let mut reader = Reader::new(text.as_bytes()).expect("it is sound");
        let (mut row, mut statistics) = (Row::default(), Statistics::default());
        while reader.read(&mut row).expect("it is sound") {
            statistics.add(&row);
        }
        serde_json::from_str(&statistics.json()).expect("it is JSON")
    }

    #[test]
    fn percentiles_can_be_chosen() {
        let mut statistics = Statistics::new([50.0, 75.0, 99.9]);
        for elapsed_ms in 1..=9 {
            statistics.add(&Row {
                elapsed_ms,
                ..Row::default()
            });
        }
        let told: Value = serde_json::from_str(&statistics.json()).expect("it is JSON");
        let total = &told["Total"];
        assert_eq!(total["pct1ResTime"], 5.0);
        assert_eq!(total["pct2ResTime"], 7.5);
        assert_eq!(total["pct3ResTime"], 9.0);
        assert_eq!(statistics.percent_of("pct3ResTime"), Some(99.9));
    }

    /// Both recorded from JMeter 5.6.3.
    #[test]
    fn figures_are_jmeters() {
        let statistics = told(include_str!("testdata/results.jtl"));
        let wanted = include_str!("testdata/statistics.json");
        let wanted: Value = serde_json::from_str(wanted).expect("it is JSON");
        assert_eq!(statistics, wanted);
    }

    #[test]
    fn one_sample_and_none_have_figures() {
        let one = told("timeStamp,elapsed,label,success\n5,7,a,true\n");
        assert_eq!(one["a"]["pct3ResTime"], 7.0);
        assert_eq!(one["Total"]["errorPct"], 0.0);
        let none = told("timeStamp,elapsed,label\n");
        assert_eq!(none["Total"]["sampleCount"], 0);
        assert_eq!(none["Total"]["throughput"], "NaN");
    }

    #[test]
    fn great_times_are_kept_roughly() {
        for ms in [0, 99_999, 100_000, 123_456_789, u64::MAX] {
            let kept = rounded(ms);
            assert!(kept <= ms && ms - kept <= ms / 1000, "{ms} became {kept}");
        }
    }
}
