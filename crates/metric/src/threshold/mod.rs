//! Thresholds: conditions on aggregated metrics that pass or fail a run.
//!
//! Must not know when they are evaluated, nor what a failure leads to. Invariant: a parsed threshold is well-formed;
//! [`Threshold::check`] tells before the run whether it fits its metric.
//!
//! # Grammar
//!
//! k6's grammar and, marked with +, what loadline adds. Spaces are allowed around the operator.
//!
//! ```text
//! threshold   = [ selector ":" ] condition                        + the selector
//! selector    = name [ "{" tag ":" value { "," tag ":" value } "}" ]
//! condition   = aggregation [ "[" duration "]" ] operator bound   + the window
//! aggregation = "avg" | "min" | "max" | "med" | "p(" number ")"   (trends)
//!             | "p" number                                        + the same as p(number)
//!             | "count" | "rate"                                  (counters; rate is per second)
//!             | "rate"                                            (rates: the share of non-zero)
//!             | "value"                                           (gauges)
//!             | "error_rate" | "goodput" | "throughput"           + metrics: rate of the metric so named
//!             | "errors"                                          + the same as error_rate
//! operator    = "<" | "<=" | ">" | ">=" | "==" | "===" | "!="
//! bound       = number                                            (of a time: in ms)
//!             | number time-unit                                  + for times: ns us µs ms s m h
//!             | number "%"                                        + for rates
//! duration    = number time-unit { number time-unit }
//! ```
//!
//! Values of tags may be quoted with `"` or `'`. A percentile lies in 0..=100. Numbers are finite.

mod evaluate;
mod parse;
mod problem;
mod script;
mod selector;

pub use evaluate::{Aggregate, Evaluation, MetricKind, Mismatch, Outcome};
pub use problem::{ParseError, Problem};
pub use script::{ConditionError, ConditionProblem};
pub use selector::MetricSelector;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// One condition on one metric. Written and serialized as its source text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Threshold {
    /// The text it was parsed from, trimmed.
    pub source: Arc<str>,
    /// The metric it names; `None` when the context decides.
    pub metric: Option<MetricSelector>,
    /// What is computed from the metric.
    pub aggregation: Aggregation,
    /// Length of the window back in time; `None` for the whole run. Never zero.
    pub window: Option<Duration>,
    /// How the computed value is compared with the bound.
    pub operator: Operator,
    /// What it is compared with.
    pub bound: Bound,
}

/// What is computed from a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aggregation {
    /// Sum of a counter.
    Count,
    /// Share of non-zero values of a rate; sum per second of a counter.
    Rate,
    /// Last value of a gauge.
    Value,
    /// Mean of a trend.
    Avg,
    /// Smallest value of a trend.
    Min,
    /// Largest value of a trend.
    Max,
    /// Median of a trend.
    Med,
    /// Percentile of a trend, 0..=100.
    Percentile(f64),
}

/// How a value is compared with the bound: `value operator bound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
    /// `==` or `===`, to the last bit as in k6
    Equal,
    /// `!=`
    Unequal,
}

/// The right side of a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Without a unit; milliseconds if the metric is a time.
    Number(f64),
    /// With `%`: the number as written, 0..=100 for a share.
    Percent(f64),
    /// With a unit of time: the number as written, and its unit.
    Time(f64, TimeUnit),
}

/// A unit of time that may follow a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `ns`
    Nanosecond,
    /// `us` or `µs`
    Microsecond,
    /// `ms`
    Millisecond,
    /// `s`
    Second,
    /// `m`
    Minute,
    /// `h`
    Hour,
}

impl TimeUnit {
    /// Nanoseconds in one unit.
    #[must_use]
    pub fn nanoseconds(self) -> u64 {
        match self {
            Self::Nanosecond => 1,
            Self::Microsecond => 1_000,
            Self::Millisecond => 1_000_000,
            Self::Second => 1_000_000_000,
            Self::Minute => 60_000_000_000,
            Self::Hour => 3_600_000_000_000,
        }
    }

    /// `None` when the text is no unit of time.
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "ns" => Self::Nanosecond,
            // U+00B5 and U+03BC look alike and are both in use.
            "us" | "\u{b5}s" | "\u{3bc}s" => Self::Microsecond,
            "ms" => Self::Millisecond,
            "s" => Self::Second,
            "m" => Self::Minute,
            "h" => Self::Hour,
            _ => return None,
        })
    }
}

impl Operator {
    /// Whether `value operator bound` holds.
    #[must_use]
    pub fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Less => value < bound,
            Self::AtMost => value <= bound,
            Self::Greater => value > bound,
            Self::AtLeast => value >= bound,
            Self::Equal => value == bound,
            Self::Unequal => value != bound,
        }
    }
}

impl fmt::Display for Aggregation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "count",
            Self::Rate => "rate",
            Self::Value => "value",
            Self::Avg => "avg",
            Self::Min => "min",
            Self::Max => "max",
            Self::Med => "med",
            Self::Percentile(percentile) => return write!(f, "p({percentile})"),
        })
    }
}

impl FromStr for Threshold {
    type Err = ParseError;

    /// Parses by the grammar of this module.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::threshold(text)
    }
}

impl TryFrom<String> for Threshold {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        text.parse()
    }
}

impl From<Threshold> for String {
    fn from(threshold: Threshold) -> Self {
        threshold.source.as_ref().into()
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}
