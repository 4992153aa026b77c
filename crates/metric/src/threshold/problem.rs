//! What can be wrong with a threshold's text, and the message for it.
//!
//! Must not know how text is parsed. Invariant: the position is a character boundary of the text.

use std::fmt;

/// Why a threshold or a metric selector could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The whole text.
    pub text: String,
    /// Byte offset of the problem in `text`.
    pub position: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing but spaces.
    Empty,
    /// Not the name of an aggregation.
    UnknownAggregation(String),
    /// `error_rate`, `goodput` or `throughput` after a selector: they name a metric themselves.
    TwoMetrics(String),
    /// A number is missing here.
    NoNumber,
    /// NaN, infinite, or beyond the range of `f64`.
    NotFinite,
    /// Outside 0..=100.
    PercentileRange(String),
    /// This character is missing here.
    Missing(char),
    /// An operator is missing here.
    NoOperator,
    /// Not `%` and not a unit of time.
    UnknownUnit(String),
    /// A zero-length window, or one longer than 584 years.
    WindowRange,
    /// More text after the end.
    Trailing,
    /// A metric name is missing here.
    NoMetricName,
    /// A tag name is missing here.
    NoTagName,
    /// The same tag twice.
    TagTwice(String),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a threshold is needed, such as p(95)<500"),
            Self::UnknownAggregation(name) => write!(
                f,
                "`{name}` is neither an aggregation (avg, min, max, med, p(N), count, rate, value) nor a rate (error_rate, goodput, throughput)"
            ),
            Self::TwoMetrics(name) => write!(
                f,
                "`{name}` names a metric itself; leave out the one before it"
            ),
            Self::NoNumber => write!(f, "a number is needed here"),
            Self::NotFinite => write!(f, "the number must be finite"),
            Self::PercentileRange(number) => {
                write!(f, "a percentile must lie between 0 and 100, not {number}")
            }
            Self::Missing(character) => write!(f, "`{character}` is needed here"),
            Self::NoOperator => {
                write!(f, "an operator is needed here: <, <=, >, >=, ==, === or !=")
            }
            Self::UnknownUnit(unit) => {
                write!(f, "`{unit}` is not a unit; use ns, us, ms, s, m, h or %")
            }
            Self::WindowRange => write!(
                f,
                "the window must be longer than 0 and shorter than 584 years"
            ),
            Self::Trailing => write!(f, "nothing may follow here"),
            Self::NoMetricName => write!(f, "a metric name is needed here"),
            Self::NoTagName => write!(f, "a tag name is needed here"),
            Self::TagTwice(name) => write!(f, "the tag `{name}` is given twice"),
        }
    }
}

/// The problem, the text, and a mark under the position.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column = self.text[..self.position].chars().count();
        write!(
            f,
            "{} (column {})\n  {}\n  {:column$}^",
            self.problem,
            column + 1,
            self.text,
            ""
        )
    }
}

impl std::error::Error for ParseError {}
