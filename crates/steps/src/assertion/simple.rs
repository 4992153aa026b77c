//! Assertions that compare one number or sum: `DurationAssertion`, `SizeAssertion`, `MD5HexAssertion`.
//!
//! Must not know samplers. Invariant: numbers in messages have thousands separators as in JMeter.

use data_encoding::HEXLOWER;
use loadline_java::numbers::{complaint, int_or_zero, long_or_zero, parse_long};
use md5::{Digest, Md5};

use super::Finding;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

/// Expects a maximum time of the sample.
#[derive(Clone, Debug, Default)]
pub struct DurationAssertion {
    /// Milliseconds; zero and invalid numbers: no limit.
    pub longest_ms: Text,
}

impl DurationAssertion {
    pub(super) fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Finding {
        let longest = long_or_zero(&self.longest_ms.evaluate(scope));
        let Some(longest) = u64::try_from(longest).ok().filter(|longest| *longest > 0) else {
            return Finding::Holds(None);
        };
        if sample.elapsed_ms <= longest {
            return Finding::Holds(None);
        }
        Finding::Fails(format!(
            "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {} milliseconds.",
            with_commas(i128::from(sample.elapsed_ms)),
            with_commas(i128::from(longest))
        ))
    }
}

/// Expects a size.
#[derive(Clone, Debug, Default)]
pub struct SizeAssertion {
    /// What to measure.
    pub measured: Measured,
    /// The comparison: 1 `=`, 2 `≠`, 3 `>`, 4 `<`, 5 `≥`, 6 `≤`.
    pub operator: Text,
    /// The expected size: bytes, or characters of code and message.
    pub size: Text,
}

/// What a size assertion measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measured {
    /// The whole response.
    #[default]
    Everything,
    /// The header.
    Headers,
    /// The body.
    Body,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

impl Measured {
    /// From its name in a plan (`Assertion.test_field`).
    #[must_use]
    pub fn named(name: &str) -> Measured {
        match name {
            "SizeAssertion.response_headers" => Measured::Headers,
            "SizeAssertion.response_data" => Measured::Body,
            "SizeAssertion.response_code" => Measured::Code,
            "SizeAssertion.response_message" => Measured::Message,
            _ => Measured::Everything,
        }
    }

    fn of(self, sample: &Sample) -> i64 {
        let characters = |text: &str| text.encode_utf16().count() as u64;
        let size = match self {
            Measured::Everything => sample.bytes,
            Measured::Headers => sample.header_bytes,
            Measured::Body => sample.body_bytes,
            Measured::Code => characters(&sample.code),
            Measured::Message => characters(&sample.message),
        };
        i64::try_from(size).unwrap_or(i64::MAX)
    }
}

impl SizeAssertion {
    pub(super) fn find(
        &self,
        sample: &Sample,
        variable: Option<&str>,
        scope: &mut Scope<'_>,
    ) -> Finding {
        let actual = match variable {
            Some(variable) => {
                let value = scope.variables.get(variable);
                match value.and_then(parse_long) {
                    Some(number) => number,
                    None => {
                        let value = value.unwrap_or("null");
                        return Finding::Fails(format!(
                            "Error parsing variable name: {variable} value: {value}"
                        ));
                    }
                }
            }
            None => self.measured.of(sample),
        };
        let size = self.size.evaluate(scope);
        let Some(expected) = parse_long(&size) else {
            return Finding::Broken(format!(
                "java.lang.NumberFormatException: {}",
                complaint(&size)
            ));
        };
        let (holds, words) = match int_or_zero(&self.operator.evaluate(scope)) {
            1 => (actual == expected, "been equal to"),
            2 => (actual != expected, "not been equal to"),
            3 => (actual > expected, "been greater than"),
            4 => (actual < expected, "been less than"),
            5 => (actual >= expected, "been greater or equal to"),
            6 => (actual <= expected, "been less than or equal to"),
            _ => (false, "ERROR - invalid condition"),
        };
        if holds {
            return Finding::Holds(None);
        }
        Finding::Fails(format!(
            "The result was the wrong size: It was {} bytes, but should have {words} {} bytes.",
            with_commas(i128::from(actual)),
            with_commas(i128::from(expected))
        ))
    }
}

/// Expects the MD5 sum of the body.
#[derive(Clone, Debug, Default)]
pub struct Md5HexAssertion {
    /// The sum in hexadecimal digits, in upper or lower case.
    pub sum: Text,
}

impl Md5HexAssertion {
    pub(super) fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Finding {
        if sample.data.is_empty() {
            return Finding::nothing();
        }
        let expected = self.sum.evaluate(scope);
        if expected.is_empty() {
            return Finding::Fails("MD5Hex to test against is empty".to_owned());
        }
        let actual = HEXLOWER.encode(&Md5::digest(&sample.data));
        if actual.eq_ignore_ascii_case(&expected) {
            return Finding::Holds(None);
        }
        Finding::Fails(format!(
            "Error asserting MD5 sum : got {actual} but should have been {expected}"
        ))
    }
}

/// An integer in the format of Java's `MessageFormat`: `1,234`.
fn with_commas(number: i128) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = if number < 0 {
        "-".to_owned()
    } else {
        String::new()
    };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
