//! The loads of a sweep as text: `100..2000/100`, `1..256*2`, `1,2,4,8`, and these joined by commas.
//!
//! Grammar: parts separated by commas; each is a number, or two with `..` between them and a step after them: `/S`
//! adds `S` each time, `*F` multiplies by `F`. A number may end in `k` (thousands). The end of a range is always one
//! of its values. Must not know what the loads are. Invariant: values ascend, are above zero, differ, and are at most
//! [`VALUES_MAX`].

use std::fmt;
use std::str::FromStr;

use loadline_model::{TextError, TextReader};

/// Maximum number of values: each is a run.
pub const VALUES_MAX: usize = 200;
/// The largest value.
const LARGEST: f64 = 1e9;
/// Maximum digits of a number, so that a double can represent it.
const DIGITS_MAX: usize = 15;

/// Loads to try, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Values(Vec<f64>);

impl Values {
    /// The values, ascending.
    #[must_use]
    pub fn all(&self) -> &[f64] {
        &self.0
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, value) in self.0.iter().enumerate() {
            let gap = if position > 0 { "," } else { "" };
            write!(f, "{gap}{value}")?;
        }
        Ok(())
    }
}

impl FromStr for Values {
    type Err = TextError;

    fn from_str(text: &str) -> Result<Values, TextError> {
        let mut reader = TextReader::new(text);
        let mut values = Vec::new();
        loop {
            part(&mut reader, &mut values)?;
            if values.len() > VALUES_MAX {
                return Err(reader.error(format!(
                    "there are more than {VALUES_MAX} loads; take a larger step"
                )));
            }
            if reader.rest().is_empty() {
                break;
            }
            if !reader.takes(",") {
                return Err(
                    reader.error("separate loads with commas, as in 1,2,4,8 or 100..2000/100")
                );
            }
        }
        values.sort_by(f64::total_cmp);
        values.dedup();
        Ok(Values(values))
    }
}

fn part(reader: &mut TextReader<'_>, values: &mut Vec<f64>) -> Result<(), TextError> {
    let from = number(reader)?;
    if !reader.takes("..") {
        values.push(from);
        return Ok(());
    }
    let at = reader.at();
    let to = number(reader)?;
    if to <= from {
        return Err(reader.error_at(
            at,
            "the end of a range must be above its start, as in 100..2000/100",
        ));
    }
    let step_at = reader.at();
    let next: Box<dyn Fn(f64) -> f64> = if reader.takes("/") {
        let step = number(reader)?;
        Box::new(move |value| value + step)
    } else if reader.takes("*") {
        let factor = number(reader)?;
        if factor < 1.01 {
            return Err(reader.error_at(step_at, "the factor is at least 1.01, as in 1..256*2"));
        }
        Box::new(move |value| value * factor)
    } else {
        return Err(reader.error("a range has a step: 100..2000/100 adds, 1..256*2 multiplies"));
    };
    let mut value = from;
    // A value that is all but the end is the end.
    while value < to * (1.0 - 1e-9) {
        if values.len() >= VALUES_MAX {
            return Err(reader.error_at(
                step_at,
                format!("there are more than {VALUES_MAX} loads; take a larger step"),
            ));
        }
        values.push(value);
        value = next(value);
    }
    values.push(to);
    Ok(())
}

fn number(reader: &mut TextReader<'_>) -> Result<f64, TextError> {
    let start = reader.at();
    let rest = reader.rest();
    let mut end = rest
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(rest.len());
    // The dots of a range are not part of its number.
    if let Some(dots) = rest[..end].find("..") {
        end = dots;
    }
    let digits = reader.take_bytes(end);
    if digits.len() > DIGITS_MAX {
        return Err(reader.error_at(start, format!("a number has at most {DIGITS_MAX} digits")));
    }
    let number: f64 = digits.parse().map_err(|_| {
        reader.error_at(
            start,
            "a number is needed here, as in 1,2,4,8 or 100..2000/100",
        )
    })?;
    let number = if reader.takes("k") {
        number * 1e3
    } else {
        number
    };
    match number {
        number if number > 0.0 && number <= LARGEST => Ok(number),
        _ => Err(reader.error_at(start, format!("a load is above 0 and at most {LARGEST}"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(text: &str) -> Vec<f64> {
        let values: Values = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        values.0
    }

    #[test]
    fn lists_and_ranges() {
        assert_eq!(values("1,2,4,8"), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(values("100..400/100"), [100.0, 200.0, 300.0, 400.0]);
        assert_eq!(values("100..350/100"), [100.0, 200.0, 300.0, 350.0]);
        assert_eq!(values("1..10*2"), [1.0, 2.0, 4.0, 8.0, 10.0]);
        assert_eq!(values("0.1..0.3/0.1").len(), 3);
        assert_eq!(values("8,1..4*2,2"), [1.0, 2.0, 4.0, 8.0]);
        assert_eq!(values("1k..2k/0.5k"), [1_000.0, 1_500.0, 2_000.0]);
        assert_eq!(values("1.5"), [1.5]);
    }

    #[test]
    fn refusals_point_into_the_text() {
        for (text, column, part) in [
            ("", 1, "number is needed"),
            ("1,", 3, "number is needed"),
            ("1;2", 2, "comma"),
            ("5..1/1", 4, "above its start"),
            ("1..5", 5, "step"),
            ("1..5*1", 5, "factor"),
            ("1..5/0", 6, "above 0"),
            ("1..1000/1", 8, "more than 200"),
            ("0,1", 1, "above 0"),
            ("-1", 1, "number is needed"),
        ] {
            let error = text.parse::<Values>().expect_err(text);
            assert_eq!(error.column, column, "{text}: {error}");
            assert!(error.why.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn values_ascend_and_are_few(text in "[0-9.,/*k]{1,20}") {
            if let Ok(values) = text.parse::<Values>() {
                prop_assert!((1..=VALUES_MAX).contains(&values.0.len()));
                prop_assert!(values.0.is_sorted_by(|one, other| one < other));
                prop_assert!(values.0[0] > 0.0);
                prop_assert_eq!(values.to_string().parse::<Values>(), Ok(values));
            }
        }
    }
}
