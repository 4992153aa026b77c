//! Arrival rates as written on command lines and in loadline's own files: `500`, `0.5`, `10k`, `500/s`, `30/m`, `2/h`.
//!
//! Must not know which option or key a rate belongs to. Grammar: a decimal number, which `k` multiplies by a thousand and
//! `M` by a million; then a slash and the unit of time, which is a second if nothing is said.

use crate::units::{ArrivalRate, Nanos};

/// Maximum number of planned starts per second.
const RATE_MAX: f64 = 1e9;
/// Decimal places of a rate are kept exactly to a millionth of a start.
const RATE_PARTS: u64 = 1_000_000;

/// A rate as someone wrote it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenRate {
    /// How many starts, zero included.
    pub starts: f64,
    /// In how many seconds.
    pub seconds: u32,
}

impl WrittenRate {
    /// Parses a rate.
    ///
    /// # Errors
    /// What is wrong with the text; the caller adds an example of a valid form.
    pub fn parse(text: &str) -> Result<WrittenRate, String> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds: u32 = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3600,
            other => return Err(format!("{other:?} is not a unit of time for a rate")),
        };
        let starts = decimal(number).ok_or_else(|| format!("{number:?} is not a number"))?;
        match (0.0..=RATE_MAX * f64::from(seconds)).contains(&starts) {
            true => Ok(WrittenRate { starts, seconds }),
            false => Err(format!("{text} is not from 0 to {RATE_MAX:.0}/s")),
        }
    }

    /// The nearest exact ratio.
    #[must_use]
    pub fn arrival_rate(self) -> ArrivalRate {
        let per = Nanos::PER_SECOND * u64::from(self.seconds);
        if self.starts.fract() == 0.0 {
            return ArrivalRate {
                starts: self.starts as u64,
                per: Nanos(per),
            };
        }
        ArrivalRate {
            starts: (self.starts * RATE_PARTS as f64).round() as u64,
            per: Nanos(per * RATE_PARTS),
        }
    }
}

fn decimal(text: &str) -> Option<f64> {
    let (digits, scale) = match text.char_indices().last()? {
        (end, 'k' | 'K') => (&text[..end], 1e3),
        (end, 'M') => (&text[..end], 1e6),
        _ => (text, 1.0),
    };
    let is_of_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    if !digits.bytes().all(is_of_number) {
        return None;
    }
    digits.parse::<f64>().ok().map(|number| number * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, starts, seconds) in [
            ("500", 500.0, 1),
            ("0.5", 0.5, 1),
            ("10k", 10_000.0, 1),
            ("1.5M/h", 1_500_000.0, 3_600),
            ("30/m", 30.0, 60),
            ("0/s", 0.0, 1),
        ] {
            let read = WrittenRate::parse(text);
            assert_eq!(read, Ok(WrittenRate { starts, seconds }), "{text}");
        }
        for text in ["", "k", "-1", "+1", "1e3", "inf", "5/d", "5 /s", "2000000k"] {
            assert!(WrittenRate::parse(text).is_err(), "{text}");
        }
    }
}
