//! Service level objectives as text: `p(99)<200ms, errors<0.1%, checks=100%`.
//!
//! Grammar: objectives apart by commas; each is a measure, a comparison and a bound. Measures of time are `p(N)`,
//! `med`, `avg`, `min` and `max` with `<` or `<=` and a time (`ns us ms s m`; without a unit, milliseconds); measures of
//! share are `errors` with `<`, `<=` or `=`, and `checks` and `goodput` with `>`, `>=` or `=`, in percent. Must not know
//! how anything is measured. Invariant: what parses is written so that it parses to the same.

use std::fmt;
use std::str::FromStr;

use loadline_model::duration::unit_name;
use loadline_model::{TextError, TextReader};

/// Maximum objectives of a text.
const OBJECTIVES_MAX: usize = 16;
/// Maximum digits of a number, so that a double can represent it.
const DIGITS_MAX: usize = 15;
/// Units of time: how they are written, and their nanoseconds.
const TIME_UNITS: [(&str, f64); 6] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
];
/// The unit of a time without one: that of thresholds.
const BARE_UNIT: usize = 3;
/// What an objective may name, for messages.
const MEASURES: &str = "p(N), med, avg, min, max, errors, checks, goodput";

/// What must hold at a rate for the target to sustain it; at least one objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Slo {
    objectives: Vec<Objective>,
}

/// One condition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Objective {
    /// A statistic of the response time is below a bound.
    Time {
        /// Of what.
        statistic: Statistic,
        /// Whether the bound itself is good enough.
        inclusive: bool,
        /// The bound.
        bound: TimeBound,
    },
    /// A share is small, or large, enough.
    Share {
        /// Of what.
        share: Share,
        /// How it is compared with the bound.
        comparison: Comparison,
        /// The bound in percent, 0 to 100.
        percent: f64,
    },
}

/// A statistic of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The percentile, above 0 and at most 100.
    Percentile(f64),
    /// The mean.
    Avg,
    /// The smallest.
    Min,
    /// The largest.
    Max,
}

/// A time bound as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeBound {
    value: f64,
    unit: usize,
}

impl TimeBound {
    /// In nanoseconds.
    #[must_use]
    pub fn ns(self) -> f64 {
        self.value * TIME_UNITS[self.unit].1
    }
}

/// A share of requests, of checks or of the offered load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Requests that failed or had a wrong response, of all that ended.
    Errors,
    /// Checks that passed, of all that were made.
    Checks,
    /// Good responses, of the requests that were due.
    Goodput,
}

impl Share {
    fn name(self) -> &'static str {
        match self {
            Share::Errors => "errors",
            Share::Checks => "checks",
            Share::Goodput => "goodput",
        }
    }
}

/// How a share is compared with its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `=`
    Equal,
}

impl Comparison {
    fn sign(self) -> &'static str {
        match self {
            Comparison::Below => "<",
            Comparison::AtMost => "<=",
            Comparison::Above => ">",
            Comparison::AtLeast => ">=",
            Comparison::Equal => "=",
        }
    }
}

impl Slo {
    /// The objectives in the order as written.
    #[must_use]
    pub fn objectives(&self) -> &[Objective] {
        &self.objectives
    }

    /// The longest time bound in nanoseconds; `None` if no objective is about time.
    #[must_use]
    pub fn longest_bound_ns(&self) -> Option<f64> {
        let bounds = self
            .objectives
            .iter()
            .filter_map(|objective| match objective {
                Objective::Time { bound, .. } => Some(bound.ns()),
                Objective::Share { .. } => None,
            });
        bounds.reduce(f64::max)
    }

    /// Finished requests that a conclusive probe needs: twenty beyond each percentile, and four times as many
    /// as would show one error at the allowed share. (Of `n` requests without an error, the true share is below
    /// `3 / n` with 95 % confidence, the rule of three.)
    #[must_use]
    pub fn samples_min(&self) -> u64 {
        let wanted = self.objectives.iter().map(Objective::samples_min);
        wanted.fold(SAMPLES_MIN, f64::max).min(SAMPLES_MAX) as u64
    }
}

/// Fewest samples for a statement of any kind.
const SAMPLES_MIN: f64 = 100.0;
/// Maximum samples required, whatever the objectives; beyond this the number of samples is reported instead.
const SAMPLES_MAX: f64 = 1e6;
/// Samples beyond a percentile.
const BEYOND: f64 = 20.0;
/// Samples per error allowed.
const PER_ERROR: f64 = 4.0;

impl Objective {
    fn samples_min(&self) -> f64 {
        match self {
            Objective::Time {
                statistic: Statistic::Percentile(percentile),
                ..
            } if *percentile < 100.0 => BEYOND / (1.0 - percentile / 100.0),
            Objective::Time { .. } => SAMPLES_MIN,
            Objective::Share { .. } => {
                let allowed = self.share_allowed();
                if allowed > 0.0 {
                    PER_ERROR / allowed
                } else {
                    SAMPLES_MIN
                }
            }
        }
    }

    /// The share of bad requests that an objective allows, 0 to 1; for a percentile, the share beyond it.
    #[must_use]
    pub fn share_allowed(&self) -> f64 {
        match self {
            Objective::Time {
                statistic: Statistic::Percentile(percentile),
                ..
            } => 1.0 - percentile / 100.0,
            Objective::Time { .. } => 0.0,
            Objective::Share { share, percent, .. } => match share {
                Share::Errors => percent / 100.0,
                Share::Checks | Share::Goodput => 1.0 - percent / 100.0,
            },
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, objective) in self.objectives.iter().enumerate() {
            let gap = if position > 0 { ", " } else { "" };
            write!(f, "{gap}{objective}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Objective::Time {
                statistic,
                inclusive,
                bound,
            } => {
                let sign = if *inclusive { "<=" } else { "<" };
                write!(
                    f,
                    "{statistic}{sign}{}{}",
                    bound.value, TIME_UNITS[bound.unit].0
                )
            }
            Objective::Share {
                share,
                comparison,
                percent,
            } => write!(f, "{}{}{percent}%", share.name(), comparison.sign()),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Statistic::Percentile(percentile) => write!(f, "p({percentile})"),
            Statistic::Avg => f.write_str("avg"),
            Statistic::Min => f.write_str("min"),
            Statistic::Max => f.write_str("max"),
        }
    }
}

impl FromStr for Slo {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Slo, TextError> {
        let mut reader = TextReader::new(text);
        let mut objectives = Vec::new();
        loop {
            if objectives.len() == OBJECTIVES_MAX {
                return Err(
                    reader.error(format!("there are more than {OBJECTIVES_MAX} objectives"))
                );
            }
            objectives.push(objective(&mut reader)?);
            reader.skip_blanks();
            if reader.rest().is_empty() {
                return Ok(Slo { objectives });
            }
            if !reader.takes(",") {
                return Err(reader.error("separate objectives with commas"));
            }
        }
    }
}

fn objective(reader: &mut TextReader<'_>) -> Result<Objective, TextError> {
    reader.skip_blanks();
    let start = reader.at();
    let word = reader.take(|c| c.is_ascii_alphabetic());
    let statistic = match word {
        "errors" => return share(reader, Share::Errors),
        "checks" => return share(reader, Share::Checks),
        "goodput" => return share(reader, Share::Goodput),
        "avg" => Statistic::Avg,
        "min" => Statistic::Min,
        "max" => Statistic::Max,
        "med" => Statistic::Percentile(50.0),
        "p" => percentile(reader)?,
        "" => return Err(reader.error(format!("a measure is missing; use {MEASURES}"))),
        other => {
            let why = format!("{other:?} is not a measure; use {MEASURES}");
            return Err(reader.error_at(start, why));
        }
    };
    time(reader, statistic)
}

/// `(99)` or `99`.
fn percentile(reader: &mut TextReader<'_>) -> Result<Statistic, TextError> {
    let in_brackets = reader.takes("(");
    let start = reader.at();
    let percentile = number(reader)?;
    if !(percentile > 0.0 && percentile <= 100.0) {
        let why = "a percentile is above 0 and at most 100, as in p(99)";
        return Err(reader.error_at(start, why));
    }
    if in_brackets && !reader.takes(")") {
        return Err(reader.error("the bracket is not closed; write p(99)"));
    }
    Ok(Statistic::Percentile(percentile))
}

fn time(reader: &mut TextReader<'_>, statistic: Statistic) -> Result<Objective, TextError> {
    let start = reader.at();
    let inclusive = match comparison(reader)? {
        Comparison::Below => false,
        Comparison::AtMost => true,
        _ => {
            let why = "a time needs < or <=, as in p(99)<200ms";
            return Err(reader.error_at(start, why));
        }
    };
    reader.skip_blanks();
    let at = reader.at();
    let value = number(reader)?;
    let unit_at = reader.at();
    let unit = match reader.take(char::is_alphabetic) {
        "" => Some(BARE_UNIT),
        name => TIME_UNITS
            .iter()
            .position(|(unit, _)| *unit == unit_name(name)),
    };
    let unit = unit.ok_or_else(|| {
        reader.error_at(
            unit_at,
            "a unit of time is ns, us, ms, s or m, as in p(99)<200ms",
        )
    })?;
    if reader.rest().starts_with('%') {
        return Err(reader.error("this is a time; write it as in p(99)<200ms"));
    }
    let bound = TimeBound { value, unit };
    if bound.ns() < 1.0 {
        return Err(reader.error_at(
            at,
            "the bound is below a nanosecond, so that nothing can hold it",
        ));
    }
    Ok(Objective::Time {
        statistic,
        inclusive,
        bound,
    })
}

fn share(reader: &mut TextReader<'_>, share: Share) -> Result<Objective, TextError> {
    reader.skip_blanks();
    let start = reader.at();
    let comparison = comparison(reader)?;
    let (fits, example) = match (share, comparison) {
        (Share::Errors, Comparison::Above | Comparison::AtLeast) => (false, "errors<0.1%"),
        (Share::Errors, _) => (true, "errors<0.1%"),
        (Share::Checks, Comparison::Below | Comparison::AtMost) => (false, "checks=100%"),
        (Share::Checks, _) => (true, "checks=100%"),
        (Share::Goodput, Comparison::Below | Comparison::AtMost) => (false, "goodput>99%"),
        (Share::Goodput, _) => (true, "goodput>99%"),
    };
    if !fits {
        let why = format!("this would ask for bad responses; write it as in {example}");
        return Err(reader.error_at(start, why));
    }
    reader.skip_blanks();
    let at = reader.at();
    let percent = number(reader)?;
    if !reader.takes("%") {
        return Err(reader.error(format!("a share is in percent; write it as in {example}")));
    }
    possible(share, comparison, percent)
        .map_err(|why| reader.error_at(at, format!("{why}; write it as in {example}")))?;
    Ok(Objective::Share {
        share,
        comparison,
        percent,
    })
}

fn comparison(reader: &mut TextReader<'_>) -> Result<Comparison, TextError> {
    reader.skip_blanks();
    let start = reader.at();
    Ok(match reader.take(|c| "<>=!".contains(c)) {
        "<" => Comparison::Below,
        "<=" => Comparison::AtMost,
        ">" => Comparison::Above,
        ">=" => Comparison::AtLeast,
        "=" | "==" => Comparison::Equal,
        "" => return Err(reader.error("a comparison is missing: <, <=, >, >= or =")),
        other => {
            let why = format!("{other:?} is not a comparison: <, <=, >, >= or =");
            return Err(reader.error_at(start, why));
        }
    })
}

fn number(reader: &mut TextReader<'_>) -> Result<f64, TextError> {
    let start = reader.at();
    let digits = reader.take(|c| c.is_ascii_digit() || c == '.');
    let number = digits
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite());
    // The number is written again with a zero before its point, and has to be read then too.
    let written = number.map_or(0, |number| number.to_string().len());
    if digits.len().max(written) > DIGITS_MAX {
        return Err(reader.error_at(start, format!("a number has at most {DIGITS_MAX} digits")));
    }
    number.ok_or_else(|| reader.error_at(start, "a number is missing, such as 99, 200 or 0.1"))
}

/// Whether any run could hold the bound, and any could not.
fn possible(share: Share, comparison: Comparison, percent: f64) -> Result<(), &'static str> {
    let whole = if share == Share::Errors { 0.0 } else { 100.0 };
    match comparison {
        _ if percent > 100.0 => Err("a share is at most 100%"),
        Comparison::Below if percent == 0.0 => Err("nothing is below 0%"),
        Comparison::Above if percent == 100.0 => Err("nothing is above 100%"),
        Comparison::Equal if percent != whole => {
            Err("= is only for 0% of errors and 100% of checks or goodput")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slo(text: &str) -> Slo {
        text.parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn objectives_are_read_and_written() {
        for (text, written) in [
            ("p(99)<200ms", "p(99)<200ms"),
            ("p99 < 0.2s ,errors<0.1%", "p(99)<0.2s, errors<0.1%"),
            ("p(99.9)<=200", "p(99.9)<=200ms"),
            (
                "med<5ms,avg<7us,max<1m,min<3ns",
                "p(50)<5ms, avg<7us, max<1m, min<3ns",
            ),
            ("avg<7µs, avg<7\u{3bc}s", "avg<7µs, avg<7µs"),
            ("checks=100%, errors==0%", "checks=100%, errors=0%"),
            ("goodput>=99.5% , checks>99%", "goodput>=99.5%, checks>99%"),
        ] {
            assert_eq!(slo(text).to_string(), written);
        }
        assert_eq!(slo("p(99)<200ms, max<1s").longest_bound_ns(), Some(1e9));
        assert_eq!(slo("errors<1%").longest_bound_ns(), None);
    }

    #[test]
    fn refusals_point_into_the_text() {
        for (text, column, part) in [
            ("", 1, "a measure is missing"),
            ("p(99)<200ms,", 13, "a measure is missing"),
            ("p(99)<200ms errors<1%", 13, "comma"),
            ("latency<5ms", 1, "\"latency\" is not a measure"),
            ("p(101)<5ms", 3, "percentile"),
            ("p(99<5ms", 5, "bracket"),
            ("p(99)>5ms", 6, "<"),
            ("p(99)<", 7, "number"),
            ("med<.51111111111111ms", 5, "15 digits"),
            ("p(99)<5%", 8, "time"),
            ("p(99)<5h", 8, "unit"),
            ("p(99)<0ms", 7, "nanosecond"),
            ("errors<1", 9, "percent"),
            ("errors>1%", 7, "errors<0.1%"),
            ("checks<1%", 7, "checks=100%"),
            ("goodput>100%", 9, "above 100%"),
            ("errors<0%", 8, "below 0%"),
            ("checks=50%", 8, "only for 0% of errors"),
            ("µ", 1, "measure"),
        ] {
            let error = text.parse::<Slo>().expect_err(text);
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.why.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn rarer_things_need_more_samples() {
        for (text, samples) in [
            ("avg<5ms", 100),
            ("p(90)<5ms", 200),
            ("p(99)<5ms", 2_000),
            ("p(99)<5ms, errors<0.1%", 4_000),
            ("p(99.99999)<5ms", 1_000_000),
            ("checks=100%", 100),
        ] {
            let error = slo(text).samples_min().abs_diff(samples);
            assert!(error <= 1, "{text}: {}", slo(text).samples_min());
        }
    }

    proptest! {
        #[test]
        fn what_parses_is_written_so_that_it_parses_to_the_same(text in "[pavgmxinerochksdut()0-9.<>=%, ]{0,24}") {
            if let Ok(slo) = text.parse::<Slo>() {
                prop_assert_eq!(slo.to_string().parse::<Slo>(), Ok(slo));
            }
        }
    }
}
