//! Series as points: a name, labels, and a value at an instant.
//!
//! Must not know the wire. Invariants: a series that is a sum starts with zero, so that rates include its first
//! values; points of one series are emitted in chronological order and go through one sender.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use loadline_metric::{Aggregated, Contains, MetricType, Schema, TagSet};

use super::labels::{LabelNames, Labels};
use super::native::{Native, native, schema_of};
use super::settings::{TrendForm, TrendStat};
use crate::series::{Series, SeriesFamily, SeriesState};

/// k6's prefix, and the prefix of loadline's own series.
const PREFIX: &str = "k6_";
const OWN_PREFIX: &str = "loadline_";
/// An unchanged series is sent again after this time, well before a receiver considers it stale (five minutes).
const REPEAT_MS: u64 = 60_000;
/// Timestamps that are remembered: an hour at the usual interval.
const INSTANTS_MAX: usize = 1_000;

/// The type of a series for the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// What all series of a name have in common.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Family {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// Help text.
    pub(super) help: String,
    /// `seconds`, `bytes` or nothing.
    pub(super) unit: &'static str,
}

/// The families of a metric: one, or one per statistic of a trend.
type Families = Arc<[Arc<Family>]>;

/// The constant part of a series on the wire; both parts are shared with other series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) family: Arc<Family>,
    labels: Arc<Labels>,
}

impl Identity {
    /// The labels sorted by name, including the series' own name.
    pub(super) fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.with_name(&self.family.name)
    }

    /// The identity of a gauge.
    #[cfg(test)]
    pub(super) fn for_tests(name: &str, tags: &TagSet) -> Identity {
        let family = Family {
            name: name.to_owned(),
            kind: Kind::Gauge,
            help: String::new(),
            unit: "",
        };
        Identity {
            family: Arc::new(family),
            labels: Arc::new(Labels::of(tags, &mut LabelNames::default())),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Number(f64),
    Histogram(Box<Native>),
}

/// A value of a series.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) identity: Identity,
    /// Timestamp in milliseconds since 1970.
    pub(super) at_ms: i64,
    pub(super) value: Value,
    /// When the series started with zero, in milliseconds since 1970, if this is its first point; `None` for
    /// later points and for gauges.
    pub(super) zero_at_ms: Option<i64>,
}

/// What was sent for a series.
#[derive(Debug)]
struct Known {
    families: Families,
    labels: Arc<Labels>,
    told_addition: u64,
    told_at_ms: u64,
}

/// Makes points from series.
#[derive(Debug)]
pub(super) struct Points {
    form: Form,
    /// By the metric's name and whether it is loadline's own.
    families: BTreeMap<(Arc<str>, bool), Families>,
    label_names: LabelNames,
    known: Vec<Option<Known>>,
    told_until_ms: u64,
    /// The latest timestamps of points, also of zeros before a series' first.
    instants: VecDeque<u64>,
    /// Whether all series are sent, whatever was sent before.
    again: bool,
    /// Whether the next points are the last of the run.
    is_last: bool,
}

#[derive(Debug)]
enum Form {
    Stats(Vec<TrendStat>),
    Native(Schema),
}

impl Points {
    pub(super) fn new(form: &TrendForm) -> Points {
        Points {
            form: match form {
                TrendForm::Stats(stats) => Form::Stats(stats.clone()),
                TrendForm::Native(factor) => Form::Native(schema_of(*factor)),
            },
            families: BTreeMap::new(),
            label_names: LabelNames::default(),
            known: Vec::new(),
            told_until_ms: 0,
            instants: VecDeque::new(),
            again: false,
            is_last: false,
        }
    }

    /// Passes the points of everything that changed since the last call to `each`. There are none if no time
    /// has passed, except at the end of the run, which may come within the same millisecond: a receiver accepts
    /// one value per millisecond.
    pub(super) fn take(&mut self, state: &SeriesState, mut each: impl FnMut(Point)) {
        let next_ms = self.told_until_ms + u64::from(std::mem::take(&mut self.is_last));
        let at_ms = state.until_unix_ms().max(next_ms);
        let again = std::mem::take(&mut self.again);
        let is_due = again || at_ms > self.told_until_ms;
        let Some(started_ms) = state.started_unix_ms().filter(|_| is_due) else {
            return;
        };
        let zero_at_ms = self.told_until_ms.max(started_ms).min(at_ms - 1);
        self.known.resize_with(state.len(), || None);
        let mut last: Option<(&TagSet, Arc<Labels>)> = None;
        for (tags, series) in state.iter() {
            let is_new = self.known[series.number].is_none();
            if is_new {
                // Series with the same tags are adjacent.
                let labels = match &last {
                    Some((of, labels)) if std::ptr::eq(*of, tags) => Arc::clone(labels),
                    _ => Arc::new(Labels::of(tags, &mut self.label_names)),
                };
                last = Some((tags, Arc::clone(&labels)));
                let families = self.families_of(&series.family);
                self.known[series.number] = Some(Known {
                    families,
                    labels,
                    told_addition: 0,
                    told_at_ms: 0,
                });
            }
            let known = self.known[series.number].as_mut();
            let known = known.expect("it is known by now");
            let is_due = again
                || known.told_addition < series.changed
                || at_ms - known.told_at_ms >= REPEAT_MS;
            if !is_due {
                continue;
            }
            (known.told_addition, known.told_at_ms) = (series.changed, at_ms);
            let values = values(&self.form, series);
            for (identity, value) in known.identities().zip(values) {
                let begins = is_new && identity.family.kind != Kind::Gauge;
                each(Point {
                    identity,
                    at_ms: at_ms as i64,
                    value,
                    zero_at_ms: begins.then_some(zero_at_ms as i64),
                });
            }
        }
        self.told_until_ms = at_ms;
        for instant in [zero_at_ms, at_ms] {
            if self.instants.back().is_none_or(|last| *last < instant) {
                self.instants.push_back(instant);
            }
        }
        let beyond = self.instants.len().saturating_sub(INSTANTS_MAX);
        self.instants.drain(..beyond);
    }

    fn families_of(&mut self, family: &SeriesFamily) -> Families {
        let key = (Arc::clone(&family.name), family.is_own);
        let form = &self.form;
        let families = self.families.entry(key);
        Arc::clone(families.or_insert_with(|| families_on_the_wire(form, family)))
    }

    /// Makes the next points cover all series, since some did not arrive.
    pub(super) fn tell_again(&mut self) {
        self.again = true;
    }

    /// Makes the next points the last ones.
    pub(super) fn tell_rest(&mut self) {
        self.is_last = true;
    }

    /// The identities of all series that were sent: for stale markers at the end, and for the audit.
    pub(super) fn identities(&self) -> impl Iterator<Item = Identity> {
        self.known.iter().flatten().flat_map(Known::identities)
    }

    /// The latest timestamps of points, in milliseconds since 1970, in order.
    pub(super) fn instants(&self) -> &VecDeque<u64> {
        &self.instants
    }

    /// The timestamp of the last points, in milliseconds since 1970.
    pub(super) fn told_until_ms(&self) -> u64 {
        self.told_until_ms
    }
}

impl Known {
    fn identities(&self) -> impl Iterator<Item = Identity> {
        self.families.iter().map(|family| Identity {
            family: Arc::clone(family),
            labels: Arc::clone(&self.labels),
        })
    }
}

fn families_on_the_wire(form: &Form, family: &SeriesFamily) -> Families {
    let prefix = if family.is_own { OWN_PREFIX } else { PREFIX };
    let name = &family.name;
    let is_time = family.contains == Contains::Time;
    let (unit, ending) = match (family.contains, family.kind, form) {
        (Contains::Time, _, _) => ("seconds", "_seconds"),
        (Contains::Data, _, _) => ("bytes", "_bytes"),
        (Contains::Default, _, _) => ("", ""),
    };
    let one = |name: String, kind: Kind, unit: &'static str, what: &str| {
        Arc::new(Family {
            name,
            kind,
            help: help(family, what),
            unit,
        })
    };
    let families = match (family.kind, form) {
        (MetricType::Counter, _) => {
            let unit = if is_time { "" } else { unit };
            vec![one(
                format!("{prefix}{name}_total"),
                Kind::Counter,
                unit,
                "sum",
            )]
        }
        (MetricType::Gauge, _) => {
            vec![one(
                format!("{prefix}{name}"),
                Kind::Gauge,
                "",
                "last value",
            )]
        }
        // Shares can only be aggregated with the number of values behind each, which k6 does not send.
        (MetricType::Rate, _) => vec![
            one(
                format!("{prefix}{name}_rate"),
                Kind::Gauge,
                "",
                "share of non-zero values since the start",
            ),
            one(
                format!("{prefix}{name}_total"),
                Kind::Counter,
                "",
                "number of values",
            ),
        ],
        (MetricType::Trend, Form::Native(_)) => vec![one(
            format!("{prefix}{name}{ending}"),
            Kind::Histogram,
            unit,
            "distribution",
        )],
        (MetricType::Trend, Form::Stats(stats)) => stats
            .iter()
            .map(|stat| {
                let full = format!("{prefix}{name}_{}", stat_ending(stat));
                let unit = if *stat == TrendStat::Count { "" } else { unit };
                one(full, Kind::Gauge, unit, "statistic since the start")
            })
            .collect(),
    };
    families.into()
}

fn help(family: &SeriesFamily, what: &str) -> String {
    let whose = if family.is_own { "loadline" } else { "k6" };
    format!("{whose} {} {}: {what}.", family.kind, family.name)
}

fn stat_ending(stat: &TrendStat) -> &str {
    match stat {
        TrendStat::Avg => "avg",
        TrendStat::Min => "min",
        TrendStat::Med => "med",
        TrendStat::Max => "max",
        TrendStat::Count => "count",
        TrendStat::Sum => "sum",
        TrendStat::Percentile(_, ending) => ending,
    }
}

/// The values of a series, one per identity.
fn values(form: &Form, series: &Series) -> Vec<Value> {
    let is_time = series.family.contains == Contains::Time;
    match (&series.value, form) {
        (Aggregated::Counter(counter), _) => vec![Value::Number(counter.total())],
        (Aggregated::Gauge(gauge), _) => {
            let factor = if is_time { 1e-3 } else { 1.0 };
            vec![Value::Number(gauge.last().unwrap_or(0.0) * factor)]
        }
        (Aggregated::Rate(rate), _) => [rate.share().unwrap_or(0.0), rate.total() as f64]
            .map(Value::Number)
            .to_vec(),
        (Aggregated::Times(_) | Aggregated::Values(_), Form::Native(schema)) => {
            let told = native(&series.value, is_time, *schema);
            told.map(|told| Value::Histogram(Box::new(told)))
                .into_iter()
                .collect()
        }
        (Aggregated::Times(trend), Form::Stats(stats)) => {
            let sums = (trend.count(), trend.sum() as f64);
            statistics(stats, sums, 1e-9, |wanted| trend.quantiles(wanted))
        }
        (Aggregated::Values(trend), Form::Stats(stats)) => {
            let factor = if is_time { 1e-3 } else { 1.0 };
            let sums = (trend.count(), trend.sum());
            statistics(stats, sums, factor, |wanted| trend.quantiles(wanted))
        }
    }
}

fn statistics(
    stats: &[TrendStat],
    (count, sum): (u64, f64),
    factor: f64,
    quantiles: impl Fn(&[f64]) -> Option<Vec<f64>>,
) -> Vec<Value> {
    let wanted: Vec<f64> = stats.iter().filter_map(rank).collect();
    let mut found = quantiles(&wanted).unwrap_or_default().into_iter();
    let numbers = stats.iter().map(|stat| match stat {
        TrendStat::Count => count as f64,
        TrendStat::Sum => sum * factor,
        TrendStat::Avg if count == 0 => 0.0,
        TrendStat::Avg => sum / count as f64 * factor,
        TrendStat::Min | TrendStat::Med | TrendStat::Max | TrendStat::Percentile(..) => {
            found.next().unwrap_or(0.0) * factor
        }
    });
    numbers.map(Value::Number).collect()
}

/// The quantile of a statistic, if it is one.
fn rank(stat: &TrendStat) -> Option<f64> {
    match stat {
        TrendStat::Min => Some(0.0),
        TrendStat::Med => Some(0.5),
        TrendStat::Max => Some(1.0),
        TrendStat::Percentile(percent, _) => Some(percent / 100.0),
        TrendStat::Avg | TrendStat::Count | TrendStat::Sum => None,
    }
}
