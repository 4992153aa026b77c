//! What observers saw of the service under test: readings kept as series, and aggregates of a series.
//!
//! Must not know how anything is read, nor what a reading means for the verdict. Invariants: a time without a
//! reading is a gap, never a zero; a series has at most [`POINTS_MAX`] points however long the run.

mod log;
mod names;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use log::{NOTES_MAX, ObservationLog, POINTS_MAX, SERIES_MAX};
pub use names::{
    BUSIEST_PROCESS_METRIC, PROCESSES_METRIC, TOTAL_COMPONENT, WORKERS_METRIC, is_counted_twice,
    limited_by, title, without_unit,
};

/// The kind of a mark about what observers reported and a result or a journal has no room for.
pub const OBSERVER_MARK: &str = "observer";
/// The kind of a note about a time during which an observer could not read.
pub const GAP_NOTE: &str = "gap";
/// The kind of a note about a component that was restarted.
pub const RESTART_NOTE: &str = "restart";
/// The kind of a note about a component that was OOM-killed.
pub const OOM_NOTE: &str = "oom";
/// The kind of a note about a component that was evicted from its node.
pub const EVICTION_NOTE: &str = "eviction";

/// Identifies a quantity of a component that an observer reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesName {
    /// The observer's name, given by the user or derived from its kind.
    pub observer: Arc<str>,
    /// The part of the service: a process, a pod or a container; the observer's name if there is only one part.
    pub component: Arc<str>,
    /// The quantity, with its unit as suffix (`cpu_cores`, `memory_bytes`); its limit has the same name with
    /// `_limit` before the unit (`cpu_limit_cores`).
    pub metric: Arc<str>,
}

/// One value of one series, as an observer reports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The series.
    pub series: SeriesName,
    /// When it was read, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// The value, finite.
    pub value: f64,
}

/// A note of an observer, as it reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The observer's name.
    pub observer: Arc<str>,
    /// Which part of the service, as in [`SeriesName`].
    pub component: Arc<str>,
    /// When, in nanoseconds since 1970.
    pub at_unix_ns: u64,
    /// The kind: [`GAP_NOTE`], [`RESTART_NOTE`], [`OOM_NOTE`], [`EVICTION_NOTE`] or another word.
    pub kind: String,
    /// What happened, in words.
    pub text: String,
}

/// What an observer reports to the run.
#[derive(Clone, Debug, PartialEq)]
pub enum Observed {
    /// A value.
    Reading(Reading),
    /// Words.
    Remark(Remark),
    /// A required observer cannot continue, so the run has to end. The text says why.
    Lost {
        /// The observer's name.
        observer: Arc<str>,
        /// The reason, and what to do.
        text: String,
    },
}

/// When a run took place, for data that can only be read afterwards; nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunWindow {
    /// Start of the load.
    pub start_unix_ns: u64,
    /// End of the load.
    pub end_unix_ns: u64,
    /// The steady state; `None` if there were only ramps.
    pub steady_unix_ns: Option<(u64, u64)>,
}

/// One value on the time axis of the run, as in the event stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceSample {
    /// When, in nanoseconds from the start of the run; negative before it.
    pub at_ns: i64,
    /// The observer's name.
    pub observer: Arc<str>,
    /// Which component.
    pub component: Arc<str>,
    /// The quantity, with its unit as suffix (`cpu_cores`, `memory_bytes`).
    pub metric: Arc<str>,
    /// The value.
    pub value: f64,
}

/// A note of an observer, on the time axis of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObserverNote {
    /// When, in nanoseconds from the start of the run; negative before it.
    pub at_ns: i64,
    /// The observer's name.
    pub observer: String,
    /// Which component.
    pub component: String,
    /// The kind of event.
    pub kind: String,
    /// What happened, in words.
    pub text: String,
}

/// A value at a time: nanoseconds from the start of the run (negative before it), and the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point(pub i64, pub f64);

/// One quantity of one component over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObservedSeries {
    /// The observer's name.
    pub observer: String,
    /// Which component.
    pub component: String,
    /// The quantity, with its unit as suffix.
    pub metric: String,
    /// The points in chronological order.
    pub points: Vec<Point>,
    /// Readings averaged per point.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub per_point: u32,
    /// The largest reading and its time, kept separately because points may be means; `None` without readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<Point>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands references")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// A span of the run's time axis in nanoseconds, end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Where it begins.
    pub from_ns: i64,
    /// Where it ends.
    pub to_ns: i64,
}

impl Span {
    /// All time.
    pub const ALL: Span = Span {
        from_ns: i64::MIN,
        to_ns: i64::MAX,
    };

    /// Whether the span contains a time.
    #[must_use]
    pub fn contains(self, at_ns: i64) -> bool {
        (self.from_ns..self.to_ns).contains(&at_ns)
    }
}

/// The phases of a run as observers see them. A phase of zero length is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// From the first reading to the start of the run.
    pub baseline: Span,
    /// The warm-up.
    pub warm_up: Span,
    /// The whole load without the warm-up.
    pub load: Span,
    /// The part of the load at a constant level; all of `load` if there is none.
    pub steady: Span,
    /// From the end of the load to the last reading.
    pub tail: Span,
}

/// Which phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Before the load.
    Baseline,
    /// Its warm-up.
    WarmUp,
    /// The load without the warm-up.
    Load,
    /// The part of the load at a constant level.
    Steady,
    /// After it.
    Tail,
}

impl Phase {
    /// Every phase, in order of time.
    pub const ALL: [Phase; 5] = [
        Phase::Baseline,
        Phase::WarmUp,
        Phase::Load,
        Phase::Steady,
        Phase::Tail,
    ];

    /// Its name in documents and expressions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Phase::Baseline => "baseline",
            Phase::WarmUp => "warm_up",
            Phase::Load => "load",
            Phase::Steady => "steady",
            Phase::Tail => "tail",
        }
    }
}

impl Phases {
    /// The span of a phase.
    #[must_use]
    pub fn span(&self, phase: Phase) -> Span {
        match phase {
            Phase::Baseline => self.baseline,
            Phase::WarmUp => self.warm_up,
            Phase::Load => self.load,
            Phase::Steady => self.steady,
            Phase::Tail => self.tail,
        }
    }
}

/// How the points of a span are aggregated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// The last value.
    Last,
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// The mean.
    Avg,
    /// The 95th percentile: the smallest value that at least 95 % of the values do not exceed.
    P95,
    /// The slope of the least-squares line, per second.
    Slope,
}

impl Aggregation {
    /// Every aggregation.
    pub const ALL: [Aggregation; 6] = [
        Aggregation::Last,
        Aggregation::Min,
        Aggregation::Max,
        Aggregation::Avg,
        Aggregation::P95,
        Aggregation::Slope,
    ];

    /// Its name in documents and expressions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Aggregation::Last => "last",
            Aggregation::Min => "min",
            Aggregation::Max => "max",
            Aggregation::Avg => "avg",
            Aggregation::P95 => "p95",
            Aggregation::Slope => "slope",
        }
    }
}

impl ObservedSeries {
    /// The aggregate over a span; `None` without points, and for a slope with fewer than three.
    #[must_use]
    pub fn aggregate(&self, aggregation: Aggregation, span: Span) -> Option<f64> {
        let points: Vec<Point> = self.points_in(span).collect();
        let values = || points.iter().map(|point| point.1);
        match aggregation {
            Aggregation::Last => points.last().map(|point| point.1),
            Aggregation::Min => values().reduce(f64::min),
            Aggregation::Max => {
                let peak = self.peak.filter(|peak| span.contains(peak.0));
                let most = values().reduce(f64::max);
                peak.map(|peak| peak.1)
                    .into_iter()
                    .chain(most)
                    .reduce(f64::max)
            }
            Aggregation::Avg => {
                (!points.is_empty()).then(|| values().sum::<f64>() / points.len() as f64)
            }
            Aggregation::P95 => quantile(values().collect(), 0.95),
            Aggregation::Slope => slope(&points),
        }
    }

    /// The points of a span in chronological order.
    pub fn points_in(&self, span: Span) -> impl Iterator<Item = Point> + '_ {
        let points = self.points.iter().copied();
        points.filter(move |point| span.contains(point.0))
    }
}

/// The smallest value that at least the share `q` of the values do not exceed; `None` without a value.
#[must_use]
pub fn quantile(mut values: Vec<f64>, q: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = (q * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

/// The slope of the least-squares line through points, per second; `None` for fewer than three points or a span
/// of zero length.
#[must_use]
pub fn slope(points: &[Point]) -> Option<f64> {
    if points.len() < 3 {
        return None;
    }
    let n = points.len() as f64;
    let start = points.first()?.0;
    let at = |point: &Point| (point.0 - start) as f64 / 1e9;
    let mean_t = points.iter().map(at).sum::<f64>() / n;
    let mean_v = points.iter().map(|point| point.1).sum::<f64>() / n;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for point in points {
        let t = at(point) - mean_t;
        covariance += t * (point.1 - mean_v);
        variance += t * t;
    }
    (variance > 0.0).then(|| covariance / variance)
}

/// Everything observers saw in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written")]
pub struct Observations {
    /// The series, in the order in which they were first read.
    pub series: Vec<ObservedSeries>,
    /// Notes of observers, at most [`NOTES_MAX`].
    pub notes: Vec<ObserverNote>,
    /// The phases of the run; `None` if nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// Names of observers that read the generator itself; all others read the system under test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of_generator: Vec<String>,
    /// The address that an observer scrapes, as IP:PORT by the observer's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub read_at: BTreeMap<String, String>,
    /// The metric of an observer that scrapes only one, by the observer's name: its series do not have this name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scraped: BTreeMap<String, String>,
}

/// Observations as written to a file.
#[derive(Deserialize)]
#[serde(untagged)]
#[expect(
    clippy::large_enum_variant,
    reason = "a value lives until it is turned into observations"
)]
enum Written {
    Seen {
        series: Vec<ObservedSeries>,
        notes: Vec<ObserverNote>,
        #[serde(default)]
        phases: Option<Phases>,
        #[serde(default)]
        of_generator: Vec<String>,
        #[serde(default)]
        read_at: BTreeMap<String, String>,
        #[serde(default)]
        scraped: BTreeMap<String, String>,
    },
    /// Results from before observers existed contain an empty list.
    None([(); 0]),
}

impl From<Written> for Observations {
    fn from(written: Written) -> Observations {
        match written {
            Written::Seen {
                series,
                notes,
                phases,
                of_generator,
                read_at,
                scraped,
            } => Observations {
                series,
                notes,
                phases,
                of_generator,
                read_at,
                scraped,
            },
            Written::None([]) => Observations::default(),
        }
    }
}

impl Observations {
    /// Whether nothing was observed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.series.is_empty() && self.notes.is_empty()
    }

    /// The name of the quantity that a series has: that on a scraped page, if its own only says that it is a value.
    #[must_use]
    pub fn quantity_of<'a>(&'a self, series: &'a ObservedSeries) -> &'a str {
        const PLAIN: &str = "value";
        let scraped = self.scraped.get(&series.observer);
        match (series.metric == PLAIN, scraped) {
            (true, Some(name)) => name,
            (true, None) => &series.component,
            (false, _) => &series.metric,
        }
    }

    /// One series.
    #[must_use]
    pub fn find(&self, observer: &str, component: &str, metric: &str) -> Option<&ObservedSeries> {
        self.series.iter().find(|series| {
            series.observer == observer && series.component == component && series.metric == metric
        })
    }

    /// Whether a component is a supervisor: it starts other components of the same observer, which do the work,
    /// and is not a replica of them.
    #[must_use]
    pub fn is_supervisor(&self, observer: &str, component: &str) -> bool {
        let workers = self.find(observer, component, WORKERS_METRIC);
        workers.is_some_and(|workers| workers.points.iter().any(|point| point.1 > 0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(points: &[(i64, f64)]) -> ObservedSeries {
        ObservedSeries {
            observer: "o".to_owned(),
            component: "c".to_owned(),
            metric: "m".to_owned(),
            points: points
                .iter()
                .map(|(at, value)| Point(*at, *value))
                .collect(),
            per_point: 1,
            peak: None,
        }
    }

    #[test]
    fn observations_are_read_as_written_and_as_they_were_before_there_were_any() {
        let seen = Observations {
            series: vec![series(&[(-1, 0.5), (1, 2.0)])],
            of_generator: vec!["self".to_owned()],
            ..Observations::default()
        };
        let text = serde_json::to_string(&seen).expect("it is data");
        let read: Observations = serde_json::from_str(&text).expect("it was just written");
        assert_eq!(read, seen);
        let before: Observations = serde_json::from_str("[]").expect("an empty list is none");
        assert!(before.is_empty());
        assert!(serde_json::from_str::<Observations>("[1]").is_err());
    }

    #[test]
    fn supervisors_are_known() {
        let of = |component: &str, metric: &str, points: &[(i64, f64)]| ObservedSeries {
            component: component.to_owned(),
            metric: metric.to_owned(),
            ..series(points)
        };
        let seen = Observations {
            series: vec![
                of("c[1]", WORKERS_METRIC, &[(0, 3.0)]),
                of("c[1]", PROCESSES_METRIC, &[(0, 1.0), (1, 1.0)]),
                of("c", PROCESSES_METRIC, &[(0, 1.0), (1, 4.0), (2, 2.0)]),
            ],
            ..Observations::default()
        };
        assert!(seen.is_supervisor("o", "c[1]") && !seen.is_supervisor("o", "c"));
    }

    #[test]
    fn aggregations_look_at_their_span_alone() {
        let of = series(&[(-1, 9.0), (0, 1.0), (1, 2.0), (2, 6.0), (3, 50.0)]);
        let span = Span {
            from_ns: 0,
            to_ns: 3,
        };
        let said = Aggregation::ALL.map(|aggregation| of.aggregate(aggregation, span));
        assert_eq!(
            said,
            [
                Some(6.0),
                Some(1.0),
                Some(6.0),
                Some(3.0),
                Some(6.0),
                Some(2.5e9)
            ]
        );
    }

    #[test]
    fn nothing_is_said_of_an_empty_span() {
        let of = series(&[(5, 1.0)]);
        let span = Span {
            from_ns: 0,
            to_ns: 5,
        };
        assert!(
            Aggregation::ALL
                .iter()
                .all(|aggregation| of.aggregate(*aggregation, span).is_none())
        );
    }

    #[test]
    fn a_slope_needs_three_points_and_some_time() {
        assert_eq!(slope(&[Point(0, 1.0), Point(1, 2.0)]), None);
        assert_eq!(slope(&[Point(7, 1.0), Point(7, 2.0), Point(7, 3.0)]), None);
        let second = 1_000_000_000;
        let line = [0, 1, 2, 3].map(|t| Point(t * second, 4.0 - 0.5 * t as f64));
        assert_eq!(slope(&line), Some(-0.5));
    }

    #[test]
    fn the_95th_percentile_is_a_value_that_was_read() {
        let values = (1..=20).map(f64::from).collect();
        assert_eq!(quantile(values, 0.95), Some(19.0));
        assert_eq!(quantile(vec![3.0], 0.95), Some(3.0));
        assert_eq!(quantile(Vec::new(), 0.95), None);
    }
}
