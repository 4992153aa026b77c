//! Evaluates thresholds against aggregates.
//!
//! Must not know how aggregates are collected or windowed: the caller passes the aggregate of the threshold's
//! window, and its length. Invariant: a metric without data neither passes nor fails; the caller decides.

use super::{Aggregation, Bound, Threshold, TimeUnit};
use crate::{Counter, Gauge, Rate, Summary, TimeTrend, ValueCounter, ValueTrend};
use std::fmt;
use std::time::Duration;

/// The aggregate of one metric.
#[derive(Clone, Copy, Debug)]
pub enum Aggregate<'a> {
    /// A sum of whole numbers.
    Counter(&'a Counter),
    /// A sum of arbitrary values.
    ValueCounter(&'a ValueCounter),
    /// Last value.
    Gauge(&'a Gauge),
    /// Share of non-zero.
    Rate(&'a Rate),
    /// Distribution of arbitrary values.
    Values(&'a ValueTrend),
    /// Distribution of times.
    Times(&'a TimeTrend),
    /// Times without a distribution.
    Summary(&'a Summary),
}

/// The kind of metric that a threshold applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A sum of whole numbers or arbitrary values.
    Counter,
    /// A last value.
    Gauge,
    /// A share of non-zero values.
    Rate,
    /// A distribution of arbitrary values.
    Trend,
    /// A distribution of times.
    TimeTrend,
    /// Count, mean, minimum and maximum of times.
    TimeSummary,
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Rate => "rate",
            Self::Trend => "trend",
            Self::TimeTrend => "trend of times",
            Self::TimeSummary => "summary of times",
        })
    }
}

impl MetricKind {
    fn is_time(self) -> bool {
        matches!(self, Self::TimeTrend | Self::TimeSummary)
    }

    /// The aggregations that this kind supports, for messages.
    fn aggregations(self) -> &'static str {
        match self {
            Self::Counter => "count and rate",
            Self::Gauge => "value",
            Self::Rate => "rate",
            Self::Trend | Self::TimeTrend => "avg, min, max, med and p(N)",
            Self::TimeSummary => "avg, min and max",
        }
    }

    fn answers(self, aggregation: Aggregation) -> bool {
        use Aggregation::{Avg, Count, Max, Med, Min, Percentile, Rate, Value};
        match self {
            Self::Counter => matches!(aggregation, Count | Rate),
            Self::Gauge => aggregation == Value,
            Self::Rate => aggregation == Rate,
            Self::Trend | Self::TimeTrend => {
                matches!(aggregation, Avg | Min | Max | Med | Percentile(_))
            }
            Self::TimeSummary => matches!(aggregation, Avg | Min | Max),
        }
    }
}

/// Why a threshold does not fit a kind of metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mismatch {
    /// The kind does not support this aggregation.
    Aggregation(Aggregation, MetricKind),
    /// A bound with a unit of time on a metric that is not a time.
    TimeBound(MetricKind),
    /// A bound in percent on a metric that is not a share.
    PercentBound(MetricKind),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Aggregation(aggregation, kind) => {
                let offered = kind.aggregations();
                write!(f, "a {kind} has no {aggregation}; it has {offered}")
            }
            Self::TimeBound(kind) => write!(f, "a {kind} is not a time: leave out the unit"),
            Self::PercentBound(kind) => write!(f, "a {kind} is not a share: leave out the %"),
        }
    }
}

impl std::error::Error for Mismatch {}

/// The result of evaluating a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// The computed value: ns for times, 0..=1 for shares, per second for a counter's rate. `None` without
    /// data.
    pub observed: Option<f64>,
    /// Whether the condition holds.
    pub outcome: Outcome,
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds.
    Passed,
    /// It does not hold.
    Failed,
    /// There was nothing to compute from; see [`Threshold::outcome_without_data`].
    NoData,
}

impl Outcome {
    fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

impl Threshold {
    /// Whether this threshold fits a metric of this kind.
    ///
    /// # Errors
    /// [`Mismatch`] says what does not fit.
    pub fn check(&self, kind: MetricKind) -> Result<(), Mismatch> {
        if !kind.answers(self.aggregation) {
            return Err(Mismatch::Aggregation(self.aggregation, kind));
        }
        match self.bound {
            Bound::Time(..) if !kind.is_time() => Err(Mismatch::TimeBound(kind)),
            Bound::Percent(_) if kind != MetricKind::Rate => Err(Mismatch::PercentBound(kind)),
            _ => Ok(()),
        }
    }

    /// Evaluates the threshold against the aggregate of its window (of the whole run without one), which spans
    /// `elapsed`.
    ///
    /// # Errors
    /// [`Mismatch`] when the threshold does not fit the metric.
    pub fn evaluate(
        &self,
        aggregate: Aggregate<'_>,
        elapsed: Duration,
    ) -> Result<Evaluation, Mismatch> {
        let kind = aggregate.kind();
        self.check(kind)?;
        let observed = aggregate.compute(self.aggregation, elapsed);
        let outcome = observed.map_or(Outcome::NoData, |value| {
            Outcome::of(self.holds(value, kind))
        });
        Ok(Evaluation { observed, outcome })
    }

    /// k6's decision at the end of a run about a metric that never had data: a share passes, and so does a
    /// counter's rate over zero time; any other value counts as 0.
    #[must_use]
    pub fn outcome_without_data(&self, kind: MetricKind) -> Outcome {
        Outcome::of(self.aggregation == Aggregation::Rate || self.holds(0.0, kind))
    }

    /// Compares in the unit in which the bound was written: a whole number of ns divided once is the `f64`
    /// nearest to the decimal, so `avg<0.3` and `max==50ms` mean what they say.
    fn holds(&self, value: f64, kind: MetricKind) -> bool {
        let unit_ns = |unit: TimeUnit| unit.nanoseconds() as f64;
        let (value, bound) = match self.bound {
            Bound::Number(bound) if kind.is_time() => {
                (value / unit_ns(TimeUnit::Millisecond), bound)
            }
            Bound::Number(bound) => (value, bound),
            Bound::Percent(bound) => (value, bound / 100.0),
            Bound::Time(bound, unit) => (value / unit_ns(unit), bound),
        };
        self.operator.holds(value, bound)
    }
}

impl Aggregate<'_> {
    /// The kind of metric that this aggregates.
    #[must_use]
    pub fn kind(&self) -> MetricKind {
        match self {
            Self::Counter(_) | Self::ValueCounter(_) => MetricKind::Counter,
            Self::Gauge(_) => MetricKind::Gauge,
            Self::Rate(_) => MetricKind::Rate,
            Self::Values(_) => MetricKind::Trend,
            Self::Times(_) => MetricKind::TimeTrend,
            Self::Summary(_) => MetricKind::TimeSummary,
        }
    }

    /// The computed value; `None` without data, and for aggregations that the kind does not support.
    fn compute(&self, aggregation: Aggregation, elapsed: Duration) -> Option<f64> {
        match self {
            Self::Counter(counter) => of_sum(counter.total() as f64, aggregation, elapsed),
            Self::ValueCounter(counter) => of_sum(counter.total(), aggregation, elapsed),
            Self::Gauge(gauge) => gauge.last(),
            Self::Rate(rate) => rate.share(),
            Self::Values(trend) => match aggregation {
                Aggregation::Avg => trend.mean(),
                Aggregation::Min => trend.min(),
                Aggregation::Max => trend.max(),
                _ => trend.quantile(quantile_of(aggregation)?),
            },
            Self::Times(trend) => match aggregation {
                Aggregation::Avg => trend.mean(),
                Aggregation::Min => trend.min().map(|ns| ns as f64),
                Aggregation::Max => trend.max().map(|ns| ns as f64),
                _ => trend.quantile(quantile_of(aggregation)?),
            },
            Self::Summary(summary) => match aggregation {
                Aggregation::Avg => summary.mean(),
                Aggregation::Min => summary.min().map(|ns| ns as f64),
                Aggregation::Max => summary.max().map(|ns| ns as f64),
                _ => None,
            },
        }
    }
}

fn of_sum(total: f64, aggregation: Aggregation, elapsed: Duration) -> Option<f64> {
    match aggregation {
        Aggregation::Count => Some(total),
        Aggregation::Rate if !elapsed.is_zero() => Some(total / elapsed.as_secs_f64()),
        _ => None,
    }
}

fn quantile_of(aggregation: Aggregation) -> Option<f64> {
    match aggregation {
        Aggregation::Med => Some(0.5),
        Aggregation::Percentile(percentile) => Some(percentile / 100.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN_SECONDS: Duration = Duration::from_secs(10);

    fn threshold(text: &str) -> Threshold {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn outcome(text: &str, aggregate: Aggregate<'_>) -> Outcome {
        threshold(text)
            .evaluate(aggregate, TEN_SECONDS)
            .expect(text)
            .outcome
    }

    fn passes(aggregate: Aggregate<'_>, cases: &[(&str, bool)]) {
        for &(text, expected) in cases {
            assert_eq!(outcome(text, aggregate), Outcome::of(expected), "{text}");
        }
    }

    #[test]
    fn times_are_compared_in_milliseconds_or_the_unit_given() {
        let mut trend = TimeTrend::new();
        (1..=100).for_each(|ms| trend.record(ms * 1_000_000));
        let cases = [
            ("p(99)<100", true),
            ("p(99)<99ms", false),
            ("p99<0.1s", true),
            ("max==100", true),
            ("max===100ms", true),
            ("min!=1000us", false),
            ("med>50.4ms", true),
            ("avg<=50.5", true),
            ("p(100)>=100000000ns", true),
        ];
        passes(Aggregate::Times(&trend), &cases);
        let mut odd = TimeTrend::new();
        odd.record(300_000);
        passes(
            Aggregate::Times(&odd),
            &[("avg==0.3", true), ("max==300us", true)],
        );
    }

    #[test]
    fn rates_counters_and_gauges() {
        let mut rate = Rate::default();
        rate.record_n(1, 200);
        let cases = [
            ("rate<0.01", true),
            ("error_rate<1%", true),
            ("rate<0.5%", false),
        ];
        passes(Aggregate::Rate(&rate), &cases);

        let mut counter = Counter::default();
        counter.add(1_500);
        let cases = [
            ("count>1499", true),
            ("goodput>100", true),
            ("rate>150", false),
        ];
        passes(Aggregate::Counter(&counter), &cases);

        let mut counter = ValueCounter::default();
        counter.add(0.5).unwrap();
        passes(
            Aggregate::ValueCounter(&counter),
            &[("count==0.5", true), ("rate==0.05", true)],
        );

        let mut gauge = Gauge::default();
        gauge.set(7.0, 1).unwrap();
        passes(
            Aggregate::Gauge(&gauge),
            &[("value>=7", true), ("value<7", false)],
        );

        let mut summary = Summary::default();
        summary.record(2_000_000);
        passes(
            Aggregate::Summary(&summary),
            &[("avg<2.1", true), ("max<2ms", false)],
        );

        let mut values = ValueTrend::new();
        values.record(-3.5).unwrap();
        passes(
            Aggregate::Values(&values),
            &[("p(50)==-3.5", true), ("max>0", false)],
        );
    }

    #[test]
    fn without_data_the_caller_decides_and_k6s_rule_is_known() {
        assert_eq!(
            outcome("p(95)<1", Aggregate::Times(&TimeTrend::new())),
            Outcome::NoData
        );
        assert_eq!(
            outcome("rate>0.9", Aggregate::Rate(&Rate::default())),
            Outcome::NoData
        );
        let k6 = |text, kind| threshold(text).outcome_without_data(kind);
        assert_eq!(k6("p(95)<1", MetricKind::TimeTrend), Outcome::Passed);
        assert_eq!(k6("p(95)>1", MetricKind::TimeTrend), Outcome::Failed);
        assert_eq!(k6("rate>0.9", MetricKind::Rate), Outcome::Passed);
    }

    #[test]
    fn what_does_not_suit_is_told_before_a_run() {
        let told = |text, kind| threshold(text).check(kind).expect_err(text).to_string();
        assert_eq!(
            told("p(95)<1", MetricKind::Rate),
            "a rate has no p(95); it has rate"
        );
        assert_eq!(
            told("rate<1s", MetricKind::Rate),
            "a rate is not a time: leave out the unit"
        );
        assert_eq!(
            told("avg<1%", MetricKind::Trend),
            "a trend is not a share: leave out the %"
        );
        assert!(told("med<1", MetricKind::TimeSummary).contains("avg, min and max"));
    }
}
