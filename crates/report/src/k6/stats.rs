//! The statistics of the summary, computed from aggregates.
//!
//! Must not know layouts. Invariant: a metric without values has zeros, and so can always be shown.

use std::collections::BTreeMap;
use std::str::FromStr;

use loadline_metric::{Aggregated, Contains, MetricType};
use loadline_model::TestSummary;
use loadline_model::test_summary::{CheckSummary, MetricSummary, Section, ThresholdSummary};

/// One statistic of a trend, as `summaryTrendStats` names it.
#[derive(Clone, Debug, PartialEq)]
pub enum TrendStat {
    /// `avg`
    Avg,
    /// `min`
    Min,
    /// `med`
    Med,
    /// `max`
    Max,
    /// `count`
    Count,
    /// `p(…)`: the percentile (0 to 100), and its name as written.
    Percentile(f64, String),
}

impl TrendStat {
    /// The default statistics.
    #[must_use]
    pub fn defaults() -> Vec<TrendStat> {
        let percentile = |p: f64| TrendStat::Percentile(p, format!("p({p})"));
        vec![
            TrendStat::Avg,
            TrendStat::Min,
            TrendStat::Med,
            TrendStat::Max,
            percentile(90.0),
            percentile(95.0),
        ]
    }

    /// The name in options and before the value.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            TrendStat::Avg => "avg",
            TrendStat::Min => "min",
            TrendStat::Med => "med",
            TrendStat::Max => "max",
            TrendStat::Count => "count",
            TrendStat::Percentile(_, name) => name,
        }
    }

    /// Its quantile; `None` if it is not a quantile.
    fn quantile(&self) -> Option<f64> {
        match self {
            TrendStat::Med => Some(0.5),
            TrendStat::Percentile(percent, _) => Some(percent / 100.0),
            _ => None,
        }
    }
}

/// The name of an unknown statistic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStat(
    /// The name.
    pub String,
);

impl std::fmt::Display for UnknownStat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "'{}' is not a trend statistic: use avg, min, med, max, count or p(0) to p(100)",
            self.0
        )
    }
}

impl std::error::Error for UnknownStat {}

impl FromStr for TrendStat {
    type Err = UnknownStat;

    fn from_str(name: &str) -> Result<TrendStat, UnknownStat> {
        let known = [
            TrendStat::Avg,
            TrendStat::Min,
            TrendStat::Med,
            TrendStat::Max,
            TrendStat::Count,
        ];
        if let Some(stat) = known.into_iter().find(|stat| stat.name() == name) {
            return Ok(stat);
        }
        let percent = name
            .strip_prefix("p(")
            .and_then(|rest| rest.strip_suffix(')'));
        match percent.and_then(|number| number.trim().parse::<f64>().ok()) {
            Some(percent) if (0.0..=100.0).contains(&percent) => {
                Ok(TrendStat::Percentile(percent, name.to_owned()))
            }
            _ => Err(UnknownStat(name.to_owned())),
        }
    }
}

/// The values of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// Sum, and sum per second.
    Counter { count: f64, rate: f64 },
    /// Last, smallest, largest.
    Gauge { value: f64, min: f64, max: f64 },
    /// Non-zero values, other values, share of the former.
    Rate { passes: u64, fails: u64, rate: f64 },
    /// The statistics asked for, in that order.
    Trend(Vec<(TrendStat, f64)>),
}

/// A metric or sub-metric with its values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Metric {
    /// Name of the metric.
    pub(super) name: String,
    /// `name`, or `name{tag:value}`.
    pub(super) key: String,
    pub(super) is_sub_metric: bool,
    pub(super) contains: Contains,
    pub(super) values: Values,
    pub(super) thresholds: Vec<ThresholdSummary>,
}

impl Metric {
    fn of(metric: &MetricSummary, seconds: f64, stats: &[TrendStat]) -> Metric {
        Metric {
            name: metric.definition.name.to_string(),
            key: metric.key(),
            is_sub_metric: metric.is_sub_metric(),
            contains: metric.definition.contains,
            values: Values::of(&metric.values, seconds, stats),
            thresholds: metric.thresholds.clone(),
        }
    }

    /// The text between the braces; empty for the metric itself.
    pub(super) fn suffix(&self) -> &str {
        let braced = self.key.get(self.name.len()..).unwrap_or("");
        braced
            .strip_prefix('{')
            .and_then(|rest| rest.strip_suffix('}'))
            .unwrap_or(braced)
    }

    pub(super) fn kind(&self) -> MetricType {
        match self.values {
            Values::Counter { .. } => MetricType::Counter,
            Values::Gauge { .. } => MetricType::Gauge,
            Values::Rate { .. } => MetricType::Rate,
            Values::Trend(_) => MetricType::Trend,
        }
    }
}

impl Values {
    fn of(values: &Aggregated, seconds: f64, stats: &[TrendStat]) -> Values {
        match values {
            Aggregated::Counter(counter) => Values::Counter {
                count: counter.total(),
                rate: per_second(counter.total(), seconds),
            },
            Aggregated::Gauge(gauge) => Values::Gauge {
                value: gauge.last().unwrap_or(0.0),
                min: gauge.min().unwrap_or(0.0),
                max: gauge.max().unwrap_or(0.0),
            },
            Aggregated::Rate(rate) => Values::Rate {
                passes: rate.nonzero(),
                fails: rate.total() - rate.nonzero(),
                rate: rate.share().unwrap_or(0.0),
            },
            Aggregated::Values(trend) => {
                let raw = trend.raw_values().map(<[f64]>::to_vec);
                let few = raw.map(|values| few_values(stats, values));
                Values::Trend(few.unwrap_or_else(|| {
                    let wanted = quantiles(stats);
                    let many = Many {
                        count: trend.count(),
                        sum: trend.sum(),
                        min: trend.min(),
                        max: trend.max(),
                        quantiles: trend.quantiles(&wanted),
                    };
                    many_values(stats, many)
                }))
            }
            Aggregated::Times(trend) => {
                let ms = |ns: u64| ns as f64 / 1e6;
                let raw = trend.raw_values();
                let raw = raw.map(|values| values.iter().copied().map(ms).collect());
                let few = raw.map(|values| few_values(stats, values));
                Values::Trend(few.unwrap_or_else(|| {
                    let wanted = trend.quantiles(&quantiles(stats));
                    let many = Many {
                        count: trend.count(),
                        sum: trend.sum() as f64 / 1e6,
                        min: trend.min().map(ms),
                        max: trend.max().map(ms),
                        quantiles: wanted.map(|all| all.iter().map(|ns| ns / 1e6).collect()),
                    };
                    many_values(stats, many)
                }))
            }
        }
    }
}

/// A test without length has no rates.
fn per_second(count: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { count / seconds } else { 0.0 }
}

fn quantiles(stats: &[TrendStat]) -> Vec<f64> {
    stats.iter().filter_map(TrendStat::quantile).collect()
}

/// Statistics of values that are all kept, in recording order: computed in k6's own steps so that even rounding
/// is the same, since the texts truncate digits.
fn few_values(stats: &[TrendStat], values: Vec<f64>) -> Vec<(TrendStat, f64)> {
    let sum: f64 = values.iter().sum();
    let mut sorted = values;
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = |place: usize| sorted.get(place.min(last)).copied().unwrap_or(0.0);
    let of = |stat: &TrendStat| match stat {
        TrendStat::Avg if sorted.is_empty() => 0.0,
        TrendStat::Avg => sum / sorted.len() as f64,
        TrendStat::Min => at(0),
        TrendStat::Max => at(last),
        TrendStat::Count => sorted.len() as f64,
        TrendStat::Med | TrendStat::Percentile(..) => {
            let position = stat.quantile().unwrap_or(0.0) * last as f64;
            let low = at(position as usize);
            low + (at(position as usize + 1) - low) * position.fract()
        }
    };
    stats.iter().map(|stat| (stat.clone(), of(stat))).collect()
}

/// Statistics of more values than are kept, in the metric's unit.
struct Many {
    count: u64,
    sum: f64,
    min: Option<f64>,
    max: Option<f64>,
    /// Those of [`quantiles`], in that order.
    quantiles: Option<Vec<f64>>,
}

fn many_values(stats: &[TrendStat], many: Many) -> Vec<(TrendStat, f64)> {
    let mut quantiles = many.quantiles.unwrap_or_default().into_iter();
    let mut of = |stat: &TrendStat| match stat {
        TrendStat::Avg => many.sum / many.count.max(1) as f64,
        TrendStat::Min => many.min.unwrap_or(0.0),
        TrendStat::Max => many.max.unwrap_or(0.0),
        TrendStat::Count => many.count as f64,
        TrendStat::Med | TrendStat::Percentile(..) => quantiles.next().unwrap_or(0.0),
    };
    stats.iter().map(|stat| (stat.clone(), of(stat))).collect()
}

/// The statistics of the whole test, a scenario or a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stats {
    /// Length of the test in seconds: what rates are over.
    pub(super) seconds: f64,
    /// Metrics and sub-metrics, in no order.
    pub(super) metrics: Vec<Metric>,
    pub(super) checks: Vec<CheckSummary>,
    pub(super) groups: Vec<(String, Stats)>,
}

impl Stats {
    /// The statistics of a section of a test of this length.
    pub(super) fn of(section: &Section, duration_ns: u64, stats: &[TrendStat]) -> Stats {
        let seconds = duration_ns as f64 / 1e9;
        Stats {
            seconds,
            metrics: section
                .metrics
                .iter()
                .map(|metric| Metric::of(metric, seconds, stats))
                .collect(),
            checks: section.checks.clone(),
            groups: section
                .groups
                .iter()
                .map(|(name, group)| (name.clone(), Stats::of(group, duration_ns, stats)))
                .collect(),
        }
    }

    /// This many, per second of the test.
    pub(super) fn per_second(&self, count: f64) -> f64 {
        per_second(count, self.seconds)
    }

    /// The metric of this name, sub-metrics aside; `None` without it.
    pub(super) fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.key == name)
    }

    /// The checks of this section and its groups by name, in the order in which they were first
    /// seen.
    pub(super) fn all_checks(&self) -> Vec<CheckSummary> {
        let mut all: Vec<CheckSummary> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        self.each_check(&mut |check| match places.get(check.name.as_str()) {
            Some(place) => {
                let known = &mut all[*place];
                known.passes += check.passes;
                known.fails += check.fails;
                known.first_seen = known.first_seen.min(check.first_seen);
            }
            None => {
                places.insert(&check.name, all.len());
                all.push(check.clone());
            }
        });
        all.sort_by_key(|check| check.first_seen);
        all
    }

    fn each_check<'a>(&'a self, visit: &mut dyn FnMut(&'a CheckSummary)) {
        self.checks.iter().for_each(&mut *visit);
        self.groups
            .iter()
            .for_each(|(_, group)| group.each_check(visit));
    }
}

/// The statistics of the test and of each of its scenarios.
pub(super) fn of_test(summary: &TestSummary, stats: &[TrendStat]) -> (Stats, Vec<(String, Stats)>) {
    let of = |section| Stats::of(section, summary.duration_ns, stats);
    let scenarios = summary
        .scenarios
        .iter()
        .map(|(name, section)| (name.clone(), of(section)));
    (of(&summary.root), scenarios.collect())
}

#[cfg(test)]
mod tests {
    use loadline_metric::{RAW_VALUES_MAX, TimeTrend, ValueTrend};

    use super::*;

    fn all() -> Vec<TrendStat> {
        let names = ["count", "min", "med", "p(99)", "max", "avg"];
        names
            .map(|name| name.parse().expect("a statistic"))
            .to_vec()
    }

    fn values(of: &Aggregated) -> Vec<f64> {
        match Values::of(of, 1.0, &all()) {
            Values::Trend(stats) => stats.into_iter().map(|(_, value)| value).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn few_and_many_values_agree() {
        let (mut times, mut numbers) = (TimeTrend::new(), ValueTrend::new());
        let many = RAW_VALUES_MAX as u64 + 1;
        for number in 1..=many {
            times.record(number * 1_000_000);
            numbers.record(number as f64).expect("finite");
        }
        let few: Vec<f64> = (1..=many).map(|number| number as f64).collect();
        let exact: Vec<f64> = few_values(&all(), few)
            .iter()
            .map(|(_, value)| *value)
            .collect();
        assert_eq!(exact[..3], [1_025.0, 1.0, 513.0]);
        for trend in [Aggregated::Times(times), Aggregated::Values(numbers)] {
            for (ours, exact) in values(&trend).iter().zip(&exact) {
                assert!((ours - exact).abs() <= 0.001 * exact, "{ours} {exact}");
            }
        }
    }

    #[test]
    fn nothing_measured_is_zeros() {
        assert_eq!(values(&Aggregated::Times(TimeTrend::new())), [0.0; 6]);
        assert_eq!(values(&Aggregated::Values(ValueTrend::new())), [0.0; 6]);
    }

    #[test]
    fn names_of_statistics() {
        let stat: TrendStat = "p(99.9)".parse().expect("a percentile");
        assert_eq!(
            (stat.name(), stat.quantile()),
            ("p(99.9)", Some(99.9 / 100.0))
        );
        for wrong in ["p(101)", "p()", "p95", "mean", "p(-1)", "p(NaN)"] {
            assert_eq!(
                wrong.parse::<TrendStat>(),
                Err(UnknownStat(wrong.to_owned()))
            );
        }
    }
}
