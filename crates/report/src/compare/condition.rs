//! Conditions on a comparison that fail a pipeline: `p99 +10%`, `goodput -5%`, `errors +0.5pp`.
//!
//! Grammar: a metric; then `+` (above the first side by more than this), `-` (below) or nothing (either way);
//! then a number with its unit: `%` of the first side's value, or the metric's own unit. Must not know how a
//! comparison is made. Invariant: a parsed condition formats to text that parses to the same condition.

use std::fmt;
use std::str::FromStr;

use loadline_model::duration::unit_name;
use loadline_model::{TextError, TextReader};

use super::numbers::{Unit, change, value};
use super::{Comparison, Outcome};

/// Metrics of conditions, as `(name, identifier of the row, unit)`. A name without a row is a time: response
/// time in an open model, otherwise service time.
const METRICS: &[(&str, Option<&str>, Unit)] = &[
    ("goodput", Some("goodput"), Unit::Rate),
    ("rps", Some("rps"), Unit::Rate),
    ("p50", None, Unit::Span),
    ("p90", None, Unit::Span),
    ("p95", None, Unit::Span),
    ("p99", None, Unit::Span),
    ("p99.9", None, Unit::Span),
    ("max", None, Unit::Span),
    ("mean", None, Unit::Span),
    ("errors", Some("errors"), Unit::Share),
    ("failed", Some("failed"), Unit::Share),
    ("wrong", Some("wrong"), Unit::Share),
    ("dropped", Some("dropped"), Unit::Count),
    ("checks", Some("checks"), Unit::Share),
    ("cpu", Some("cpu"), Unit::Cores),
    ("cpu_per_request", Some("cpu_per_request"), Unit::Span),
    ("rss", Some("rss"), Unit::Size),
    ("lag", Some("lag"), Unit::Span),
];

/// The two times that a percentile can be asked of by name.
const TIMES: [&str; 2] = ["service_time", "response_time"];

/// Units of amounts: how they are written, what they measure, and how much of it.
const UNITS: &[(&str, Unit, f64)] = &[
    ("/s", Unit::Rate, 1.0),
    ("ns", Unit::Span, 1.0),
    ("us", Unit::Span, 1e3),
    ("µs", Unit::Span, 1e3),
    ("ms", Unit::Span, 1e6),
    ("s", Unit::Span, 1e9),
    ("pp", Unit::Share, 0.01),
    ("cores", Unit::Cores, 1.0),
    ("B", Unit::Size, 1.0),
    ("kB", Unit::Size, 1e3),
    ("MB", Unit::Size, 1e6),
    ("GB", Unit::Size, 1e9),
];

/// Maximum digits of a number, so that a double can represent it.
const DIGITS_MAX: usize = 15;

/// A condition that a comparison may violate.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    metric: usize,
    /// One of the two times by name; `None`: whichever there is.
    time: Option<usize>,
    way: Way,
    amount: f64,
    /// Position in the table of units; `None`: percent of the first side's value.
    unit: Option<usize>,
    /// Whether the amount is a bare number of the metric's own unit.
    is_bare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    Either,
}

/// A violated condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// What was crossed, by which side, with the numbers; one sentence.
    pub text: String,
}

impl FromStr for Condition {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Condition, TextError> {
        let mut reader = TextReader::new(text);
        reader.skip_blanks();
        let (metric, time) = read_metric(&mut reader)?;
        reader.skip_blanks();
        let way = match reader.take(|c| matches!(c, '+' | '-' | '\u{2212}')) {
            "+" => Way::Up,
            "-" | "\u{2212}" => Way::Down,
            "" => Way::Either,
            _ => return Err(reader.error("there is more than one sign")),
        };
        reader.skip_blanks();
        let start = reader.at();
        let amount = read_number(&mut reader)?;
        reader.skip_blanks();
        let (unit, is_bare) = read_unit(&mut reader, metric)?;
        let is_share = unit.is_none() && !is_bare;
        if way == Way::Down && is_share && amount >= 100.0 {
            return Err(reader.error_at(start, "nothing falls by more than 100 %"));
        }
        reader.skip_blanks();
        if !reader.rest().is_empty() {
            return Err(reader
                .error("nothing may follow the amount; give --fail-if once for each condition"));
        }
        Ok(Condition {
            metric,
            time,
            way,
            amount,
            unit,
            is_bare,
        })
    }
}

fn read_metric(reader: &mut TextReader<'_>) -> Result<(usize, Option<usize>), TextError> {
    let start = reader.at();
    let name = reader.take(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':'));
    let (time, metric) = match name.split_once(':') {
        None => (None, name),
        Some((time, metric)) => match TIMES.iter().position(|known| *known == time) {
            Some(time) => (Some(time), metric),
            None => {
                let why = format!("{time:?} is not a time; use {}", TIMES.join(" and "));
                return Err(reader.error_at(start, why));
            }
        },
    };
    let known = METRICS
        .iter()
        .position(|(known, row, _)| *known == metric && (time.is_none() || row.is_none()));
    known.map(|metric| (metric, time)).ok_or_else(|| {
        let names: Vec<&str> = METRICS.iter().map(|(name, ..)| *name).collect();
        let found = if name.is_empty() {
            "there is no metric".to_owned()
        } else {
            format!("{name:?} is not a metric")
        };
        reader.error_at(
            start,
            format!(
                "{found}; use {} (percentiles, max and mean also as \
            service_time:p99, response_time:p99)",
                names.join(", ")
            ),
        )
    })
}

fn read_number(reader: &mut TextReader<'_>) -> Result<f64, TextError> {
    let start = reader.at();
    let digits = reader.take(|c| c.is_ascii_digit() || c == '.');
    let bad = |why: &str| {
        reader.error_at(
            start,
            format!("{why}; write an amount as in p99 +10%, p99 +2ms, goodput -5%"),
        )
    };
    if digits.is_empty() {
        return Err(bad("there is no number"));
    }
    if digits.len() > DIGITS_MAX {
        return Err(bad("the number has too many digits"));
    }
    let is_decimal = !digits.starts_with('.') && !digits.ends_with('.');
    let number = digits.parse::<f64>().ok().filter(|_| is_decimal);
    number.ok_or_else(|| bad(&format!("{digits:?} is not a number")))
}

/// The position in the table of units (`None`: percent), and whether none was written.
fn read_unit(
    reader: &mut TextReader<'_>,
    metric: usize,
) -> Result<(Option<usize>, bool), TextError> {
    let start = reader.at();
    let text = reader.take(|c| !c.is_whitespace());
    let (name, _, measures) = METRICS[metric];
    let own = || {
        let fitting = UNITS.iter().filter(|(_, unit, _)| *unit == measures);
        let names: Vec<&str> = fitting.map(|(text, ..)| *text).chain(["%"]).collect();
        names.join(", ")
    };
    let found = match text {
        "%" => return Ok((None, false)),
        // A share or a time without a unit could mean too much.
        "" if matches!(measures, Unit::Span | Unit::Share | Unit::Size) => None,
        "" => return Ok((None, true)),
        text => UNITS
            .iter()
            .position(|(known, unit, _)| *known == unit_name(text) && *unit == measures),
    };
    match found {
        Some(unit) => Ok((Some(unit), false)),
        None if text.is_empty() => {
            Err(reader.error_at(start, format!("{name} needs a unit: {}", own())))
        }
        None => Err(reader.error_at(
            start,
            format!("{text:?} is not a unit of {name}; it has {}", own()),
        )),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(time) = self.time {
            write!(f, "{}:", TIMES[time])?;
        }
        let sign = match self.way {
            Way::Up => "+",
            Way::Down => "-",
            Way::Either => "",
        };
        let unit = match (self.unit, self.is_bare) {
            (Some(unit), _) => UNITS[unit].0,
            (None, true) => "",
            (None, false) => "%",
        };
        write!(f, "{} {sign}{}{unit}", METRICS[self.metric].0, self.amount)
    }
}

impl Condition {
    /// Evaluates the condition for every side but the first; returns each that violates it. A side without a
    /// single response violates whatever cannot be said of it.
    ///
    /// # Errors
    /// A side has no such value, in words for the user.
    pub fn crossed(&self, comparison: &Comparison) -> Result<Vec<Crossing>, String> {
        let mut crossings = Vec::new();
        for other in 1..comparison.sides.len() {
            let id = self.row_for(comparison, other);
            let found = comparison.numbers(&id);
            let name_of = |side: usize| comparison.sides[side].0.as_str();
            let absent = |side: usize| format!("{self}: {} has no such value", name_of(side));
            let (unit, values, changes) = found.ok_or_else(|| absent(0))?;
            // Times of a side without a response only come from failures.
            let is_time = METRICS[self.metric].1.is_none();
            let known = |side: usize| {
                let is_silent = is_silent(comparison, side);
                let why = ": none of its requests was answered";
                let why = format!("{}{}", absent(side), if is_silent { why } else { "" });
                (values[side].filter(|_| !is_time || !is_silent)).ok_or((why, is_silent))
            };
            let first = known(0).map_err(|(why, _)| why)?;
            let second = match known(other) {
                Ok(second) => second,
                Err((text, true)) => {
                    crossings.push(Crossing { text });
                    continue;
                }
                Err((why, false)) => return Err(why),
            };
            let by = second - first;
            if !self.is_crossed(first, by) {
                continue;
            }
            let is_chance = changes[other - 1]
                .test
                .is_some_and(|test| test.outcome == Outcome::Alike);
            let remark = if is_chance {
                "; the difference may be chance"
            } else {
                ""
            };
            crossings.push(Crossing {
                text: format!(
                    "{self}: {} has {}, {} has {} ({}){remark}",
                    name_of(0),
                    value(unit, first),
                    name_of(other),
                    value(unit, second),
                    change(unit, first, by)
                ),
            });
        }
        Ok(crossings)
    }

    /// The row for a metric: of two times the named one, otherwise response time if both sides have it.
    fn row_for(&self, comparison: &Comparison, other: usize) -> String {
        let (name, row, _) = METRICS[self.metric];
        if let Some(row) = row {
            return row.to_owned();
        }
        let response = format!("{}.{name}", TIMES[1]);
        let both_have = comparison
            .numbers(&response)
            .is_some_and(|(_, values, _)| values[0].and(values[other]).is_some());
        match self.time {
            Some(time) => format!("{}.{name}", TIMES[time]),
            None if both_have => response,
            None => format!("{}.{name}", TIMES[0]),
        }
    }

    fn is_crossed(&self, first: f64, by: f64) -> bool {
        let limit = match (self.unit, self.is_bare) {
            (Some(unit), _) => self.amount * UNITS[unit].2,
            (None, true) => self.amount,
            (None, false) => self.amount / 100.0 * first.abs(),
        };
        match self.way {
            Way::Up => by > limit,
            Way::Down => -by > limit,
            Way::Either => by.abs() > limit,
        }
    }
}

/// Whether none of a side's requests was answered.
fn is_silent(comparison: &Comparison, side: usize) -> bool {
    let rates = comparison.numbers("rps");
    rates.is_some_and(|(_, rates, _)| rates[side] == Some(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn refused(text: &str) -> TextError {
        text.parse::<Condition>().expect_err(text)
    }

    #[test]
    fn conditions_are_written_as_they_are_read() {
        for (text, written) in [
            ("p99 +10%", "p99 +10%"),
            ("p99 +10\u{3bc}s", "p99 +10µs"),
            ("  goodput-5 %", "goodput -5%"),
            (
                "response_time:p99.9 + 2.50 ms",
                "response_time:p99.9 +2.5ms",
            ),
            ("errors +0.5pp", "errors +0.5pp"),
            ("rps 100", "rps 100"),
            ("rss +1MB", "rss +1MB"),
            ("dropped +0", "dropped +0"),
            ("mean \u{2212}3µs", "mean -3µs"),
        ] {
            let parsed: Condition = text
                .parse()
                .unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(parsed.to_string(), written);
            assert_eq!(written.parse(), Ok(parsed));
        }
    }

    #[test]
    fn refusals_name_the_column_and_what_could_stand_there() {
        for (text, column, part) in [
            ("", 1, "there is no metric; use goodput, rps, p50"),
            ("p98 +10%", 1, "\"p98\" is not a metric"),
            ("goodput", 8, "there is no number"),
            ("p99 ++1%", 7, "more than one sign"),
            ("p99 +1.2.3%", 6, "not a number"),
            ("p99 +.5%", 6, "not a number"),
            ("p99 +10", 8, "p99 needs a unit: ns, us, µs, ms, s, %"),
            ("p99 +10MB", 8, "\"MB\" is not a unit of p99"),
            ("µ99 +1%", 1, "there is no metric"),
            ("time:p99 +1%", 1, "\"time\" is not a time"),
            ("service_time:goodput +1%", 1, "is not a metric"),
            ("p99 +10% p50 +1%", 10, "nothing may follow"),
            ("p99 +1234567890123456%", 6, "too many digits"),
            ("goodput -100%", 10, "nothing falls by more"),
        ] {
            let error = refused(text);
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.why.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,24}") {
            if let Ok(condition) = text.parse::<Condition>() {
                prop_assert_eq!(condition.to_string().parse(), Ok(condition));
            }
        }
    }
}
