//! Series from the engine's counts, for runs without a script's metrics; and series of the generator itself,
//! for all runs.
//!
//! Must not know scripts. Invariant: the request metrics are k6's, so that a dashboard shows either kind of
//! run.

use std::sync::Arc;

use loadline_metric::{
    Aggregated, BuiltIn, Contains, Gauge, MetricType, Rate, TagSet, TimeTrend, ValueCounter,
};
use loadline_model::error_class::ErrorClass;
use loadline_model::result::Row;
use loadline_model::{Snapshot, is_good_status};

use super::state::{Key, SeriesFamily};

/// One series' part of a second.
type Part = (Key, TagSet, Arc<SeriesFamily>, Aggregated);

/// What is known about the run so far and needed for the next second.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// The tags of the run, which every series carries.
    pub(super) tags: TagSet,
    vus_max: u64,
}

/// What a built-in metric measures.
pub(super) fn built_in(metric: BuiltIn) -> Arc<SeriesFamily> {
    Arc::new(SeriesFamily {
        name: metric.name().into(),
        kind: metric.kind(),
        contains: metric.contains(),
        is_own: false,
    })
}

/// What observers read under a metric's name.
pub(super) fn observed(metric: &str) -> Arc<SeriesFamily> {
    Arc::new(SeriesFamily {
        name: format!("observed_{metric}").into(),
        kind: MetricType::Gauge,
        contains: Contains::Default,
        is_own: true,
    })
}

fn own(name: &'static str, kind: MetricType, contains: Contains) -> (Key, Arc<SeriesFamily>) {
    let family = SeriesFamily {
        name: name.into(),
        kind,
        contains,
        is_own: true,
    };
    (Key::Own(name), Arc::new(family))
}

impl Sums {
    /// The series of a second's requests.
    pub(super) fn requests(&mut self, row: &Row, delta: &Snapshot) -> Vec<Part> {
        let run = || self.tags.clone();
        let mut parts = Vec::new();
        let mut add = |metric: BuiltIn, tags: TagSet, value: Aggregated| {
            parts.push((Key::Script(metric.id()), tags, built_in(metric), value));
        };
        for (status, count) in delta.statuses.rows() {
            let is_expected = is_good_status(*status);
            let tags = run()
                .with("expected_response", is_expected.to_string())
                .with("status", status.to_string());
            add(BuiltIn::HttpReqs, tags, counter(*count as f64));
        }
        for class in ErrorClass::ALL {
            let count = delta.counts.failed[class.index()];
            if count > 0 {
                let tags = run()
                    .with("error", class.name())
                    .with("expected_response", "false")
                    .with("status", "0");
                add(BuiltIn::HttpReqs, tags, counter(count as f64));
            }
        }
        let times = delta.service_time();
        if !times.is_empty() {
            add(BuiltIn::HttpReqDuration, run(), Aggregated::Times(times));
        }
        let outcomes = delta.counts.outcomes();
        if outcomes.done() > 0 {
            let mut failed = Rate::default();
            failed.record_n(outcomes.bad(), outcomes.done());
            add(BuiltIn::HttpReqFailed, run(), Aggregated::Rate(failed));
        }
        for (metric, count) in [
            (BuiltIn::DataSent, delta.counts.bytes_sent),
            (BuiltIn::DataReceived, delta.counts.bytes_received),
            (BuiltIn::DroppedIterations, delta.counts.dropped),
        ] {
            if count > 0 {
                add(metric, run(), counter(count as f64));
            }
        }
        self.vus_max = self.vus_max.max(row.active_vus);
        let at_ns = row.at_ns + row.span_ns;
        for (metric, value) in [
            (BuiltIn::Vus, row.active_vus),
            (BuiltIn::VusMax, self.vus_max),
        ] {
            add(metric, run(), gauge(value as f64, at_ns));
        }
        parts
    }
}

/// The generator's own resource use in a second, and its schedule lag.
pub(super) fn generator(row: &Row, delta: &Snapshot) -> Vec<(Key, Arc<SeriesFamily>, Aggregated)> {
    let at_ns = row.at_ns + row.span_ns;
    let mut parts = Vec::new();
    for (name, contains, value) in [
        (
            "generator_cpu_cores",
            Contains::Default,
            row.generator.cpu_cores,
        ),
        (
            "generator_busiest_worker_ratio",
            Contains::Default,
            row.generator.busiest_worker,
        ),
        (
            "generator_memory_bytes",
            Contains::Default,
            row.generator.rss_bytes as f64,
        ),
    ] {
        let (key, family) = own(name, MetricType::Gauge, contains);
        parts.push((key, family, gauge(value, at_ns)));
    }
    for (name, trend) in [
        ("response_time", &delta.response_time),
        ("schedule_lag", &delta.schedule_lag),
    ] {
        if !trend.is_empty() {
            let (key, family) = own(name, MetricType::Trend, Contains::Time);
            parts.push((key, family, times(trend)));
        }
    }
    parts
}

fn times(trend: &TimeTrend) -> Aggregated {
    Aggregated::Times(trend.clone())
}

fn counter(n: f64) -> Aggregated {
    let mut counter = ValueCounter::default();
    counter.add(n).expect("a count is finite");
    Aggregated::Counter(counter)
}

/// A gauge; NaN, as for an interval of zero length, gives an empty one.
pub(super) fn gauge(value: f64, at_ns: u64) -> Aggregated {
    let mut gauge = Gauge::default();
    if value.is_finite() {
        gauge.set(value, at_ns).expect("it was found finite");
    }
    Aggregated::Gauge(gauge)
}
