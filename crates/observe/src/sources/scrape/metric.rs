//! One component of a page: a counter's rate, a gauge's value, a histogram's quantiles.
//!
//! Must not know how pages are fetched. Invariant: a series missing on a page keeps its state, so that an
//! incomplete page causes neither a drop nor a jump.

use std::collections::HashMap;

use loadline_model::observation::RunWindow;

use super::history::History;
use crate::clock::seconds_between;
use crate::conduct::steady_or_all;
use crate::parse::exposition::{MetricType, MetricsPage, Sample};
use crate::readings::Readings;
use crate::sources::buckets::Buckets;
use crate::sources::counters::rise;
use crate::spec::{ScrapeSettings, ScrapeType, TimeUnit};

/// Series that make up one component.
const SERIES_MAX: usize = 2_000;

/// What a metric is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricShape {
    Counter,
    Gauge,
    Histogram(TimeUnit),
    /// A count and a sum; its quantiles cannot be aggregated and are ignored.
    Summary(TimeUnit),
}

/// What a sample is of its metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SamplePart {
    Value,
    /// The count up to a bound.
    Bucket(f64),
    Count,
    Sum,
}

/// One component.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    shape: MetricShape,
    now: HashMap<String, SeriesOnPage>,
    before: HashMap<String, SeriesOnPage>,
    /// All that was added to the buckets since the first look.
    total: Buckets,
    history: Option<History>,
    last_unix_ns: u64,
}

/// The values of one series on a page.
#[derive(Clone, Debug, Default)]
struct SeriesOnPage {
    value: Option<f64>,
    count: Option<f64>,
    sum: Option<f64>,
    buckets: Buckets,
}

/// The shape of a metric, from settings, page or name; `None`: the page does not have it.
pub(super) fn shape_of(
    name: &str,
    page: &MetricsPage<'_>,
    settings: &ScrapeSettings,
) -> Option<MetricShape> {
    let has = |shape| {
        page.samples
            .iter()
            .any(|sample| part_of(sample, name, shape).is_some())
    };
    let unit = settings.unit.unwrap_or_else(|| unit_of(name));
    let by_type = |kind| match kind {
        MetricType::Counter => Some(MetricShape::Counter),
        MetricType::Gauge => Some(MetricShape::Gauge),
        MetricType::Histogram => Some(MetricShape::Histogram(unit)),
        MetricType::Summary => Some(MetricShape::Summary(unit)),
        MetricType::Unknown => None,
    };
    let told = page.type_of(name).and_then(by_type);
    let shape = match settings.kind {
        Some(ScrapeType::Counter) => MetricShape::Counter,
        Some(ScrapeType::Gauge) => MetricShape::Gauge,
        Some(ScrapeType::Histogram) => MetricShape::Histogram(unit),
        None => told.unwrap_or_else(|| {
            let counts = ["_total", "_count", "_sum", "_bucket"];
            let ends = |ending: &&str| name.ends_with(*ending);
            match has(MetricShape::Histogram(unit)) {
                true if page.samples.iter().any(|s| s.name.ends_with("_bucket")) => {
                    MetricShape::Histogram(unit)
                }
                _ if counts.iter().any(ends) || name.ends_with("_created") => MetricShape::Counter,
                _ => by_plain_name(name, page),
            }
        }),
    };
    has(shape).then_some(shape)
}

/// Without type and suffix: a page may append `_total` to the name of a counter.
fn by_plain_name(name: &str, page: &MetricsPage<'_>) -> MetricShape {
    let total = format!("{name}_total");
    match page.samples.iter().any(|sample| sample.name == total) {
        true => MetricShape::Counter,
        false => MetricShape::Gauge,
    }
}

fn unit_of(name: &str) -> TimeUnit {
    let has = |words: [&str; 2]| name.contains(words[0]) || name.ends_with(words[1]);
    match name {
        _ if has(["_milliseconds", "_ms"]) => TimeUnit::Milliseconds,
        _ if has(["_microseconds", "_us"]) => TimeUnit::Microseconds,
        _ if has(["_nanoseconds", "_ns"]) => TimeUnit::Nanoseconds,
        _ if has(["_seconds", "_secs"]) => TimeUnit::Seconds,
        _ => TimeUnit::None,
    }
}

/// The part of a metric that a sample is; `None`: it is not part of it.
pub(super) fn part_of(sample: &Sample<'_>, name: &str, shape: MetricShape) -> Option<SamplePart> {
    let behind = sample.name.strip_prefix(name)?;
    match (shape, behind) {
        (MetricShape::Counter, "" | "_total") | (MetricShape::Gauge, "") => Some(SamplePart::Value),
        (MetricShape::Histogram(_), "_bucket") => {
            Some(SamplePart::Bucket(sample.label("le")?.parse().ok()?))
        }
        (MetricShape::Histogram(_) | MetricShape::Summary(_), "_count") => Some(SamplePart::Count),
        (MetricShape::Histogram(_) | MetricShape::Summary(_), "_sum") => Some(SamplePart::Sum),
        _ => None,
    }
}

impl Metric {
    /// `keeps_history`: whether quantiles over parts of the run will be requested.
    pub(super) fn new(shape: MetricShape, keeps_history: bool) -> Metric {
        let is_histogram = matches!(shape, MetricShape::Histogram(_));
        Metric {
            shape,
            now: HashMap::new(),
            before: HashMap::new(),
            total: Buckets::default(),
            history: (is_histogram && keeps_history).then(History::default),
            last_unix_ns: 0,
        }
    }

    /// Takes a sample of a series.
    pub(super) fn put(&mut self, part: SamplePart, series: String, value: f64) {
        if !value.is_finite() || self.now.len() >= SERIES_MAX {
            return;
        }
        let seen = self.now.entry(series).or_default();
        match part {
            SamplePart::Value => seen.value = Some(value),
            SamplePart::Bucket(bound) => seen.buckets.put(bound, value),
            SamplePart::Count => seen.count = Some(value),
            SamplePart::Sum => seen.sum = Some(value),
        }
    }

    /// Reports readings from the samples of this page; the previous page arrived at `since_unix_ns` (`None`:
    /// there was none).
    pub(super) fn tell(
        &mut self,
        component: &str,
        since_unix_ns: Option<u64>,
        now_unix_ns: u64,
        readings: &mut Readings,
    ) {
        let elapsed = since_unix_ns.map(|since| seconds_between(since, now_unix_ns));
        let elapsed = elapsed.filter(|elapsed| *elapsed > 0.0);
        if !self.now.is_empty() {
            match (self.shape, elapsed) {
                (MetricShape::Gauge, _) => {
                    let value: f64 = self.now.values().filter_map(|seen| seen.value).sum();
                    readings.put(component, "value", value);
                }
                (MetricShape::Counter, Some(elapsed)) => {
                    let added = self.added(|seen| seen.value);
                    readings.put(component, "rate_per_s", added / elapsed);
                }
                (MetricShape::Histogram(unit) | MetricShape::Summary(unit), Some(elapsed)) => {
                    self.tell_distribution(component, unit, elapsed, readings);
                }
                (
                    MetricShape::Counter | MetricShape::Histogram(_) | MetricShape::Summary(_),
                    None,
                ) => {}
            }
        }
        self.last_unix_ns = now_unix_ns;
        if let Some(history) = &mut self.history {
            // What was not on the previous page started at zero.
            if let Some(since) = since_unix_ns.filter(|_| history.is_empty()) {
                history.push(since, &Buckets::default());
            }
            history.push(now_unix_ns, &self.total);
        }
        self.before.extend(self.now.drain());
    }

    /// The total increase of a part over all series; a new series started at zero.
    fn added(&self, part: impl Fn(&SeriesOnPage) -> Option<f64>) -> f64 {
        let rises = self.now.iter().filter_map(|(series, seen)| {
            let before = self.before.get(series).and_then(&part);
            Some(rise(before.unwrap_or(0.0), part(seen)?))
        });
        rises.sum()
    }

    fn tell_distribution(
        &mut self,
        component: &str,
        unit: TimeUnit,
        elapsed: f64,
        readings: &mut Readings,
    ) {
        let mut added = Buckets::default();
        for (series, seen) in &self.now {
            match self.before.get(series) {
                Some(before) => added.add(&seen.buckets.since(&before.buckets)),
                None => added.add(&seen.buckets),
            }
        }
        let counts = self.now.values().any(|seen| seen.count.is_some());
        let count = match counts {
            true => self.added(|seen| seen.count),
            false => added.count(),
        };
        readings.put(component, "rate_per_s", count / elapsed);
        tell_quantiles("", &added, unit, |metric, value| {
            readings.put(component, metric, value);
        });
        if count > 0.0 && self.now.values().any(|seen| seen.sum.is_some()) {
            let mean = self.added(|seen| seen.sum) / count;
            let (scale, ending) = scale_of(unit);
            readings.put(component, &format!("mean_{ending}"), mean * scale);
        }
        self.total.add(&added);
    }

    /// Quantiles over the load and over its steady state.
    pub(super) fn conclude(&self, component: &str, window: &RunWindow, readings: &mut Readings) {
        let (MetricShape::Histogram(unit), Some(history)) = (self.shape, &self.history) else {
            return;
        };
        let last = (self.last_unix_ns, &self.total);
        let load = (window.start_unix_ns, window.end_unix_ns);
        for (prefix, (from, to)) in [("window_", load), ("steady_", steady_or_all(window))] {
            // There is no activity outside of the load; outside of its steady part there is.
            let added = match (from, to) == load {
                true => history.around(from, to, last),
                false => history.between(from, to, last),
            };
            if let Some(added) = added {
                tell_quantiles(prefix, &added, unit, |metric, value| {
                    // The end of a span does not belong to it.
                    readings.put_at(to.saturating_sub(1), component, metric, value);
                });
            }
        }
    }
}

fn tell_quantiles(prefix: &str, added: &Buckets, unit: TimeUnit, mut put: impl FnMut(&str, f64)) {
    let (scale, ending) = scale_of(unit);
    for (name, q) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        if let Some(value) = added.quantile(q) {
            put(&format!("{prefix}{name}_{ending}"), value * scale);
        }
    }
}

/// The factor for a bound, and the resulting unit.
fn scale_of(unit: TimeUnit) -> (f64, &'static str) {
    match unit {
        TimeUnit::Seconds => (1.0, "seconds"),
        TimeUnit::Milliseconds => (1e-3, "seconds"),
        TimeUnit::Microseconds => (1e-6, "seconds"),
        TimeUnit::Nanoseconds => (1e-9, "seconds"),
        TimeUnit::None => (1.0, "value"),
    }
}
