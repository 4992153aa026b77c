//! Units as distinct types: instants within a run, arrival rates, byte counts.
//!
//! Must not know a clock. Invariant: arithmetic saturates; no unit is ever negative.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// An instant or a span in nanoseconds; an instant counts from the start of the run.
///
/// 64 bits hold 584 years.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of the run.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than any instant of any run.
    pub const MAX: Nanos = Nanos(u64::MAX);
    /// Nanoseconds in a second.
    pub const PER_SECOND: u64 = 1_000_000_000;

    /// Whole seconds as nanoseconds, saturating.
    #[must_use]
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds.saturating_mul(Nanos::PER_SECOND))
    }

    /// Milliseconds as nanoseconds, saturating.
    #[must_use]
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds.saturating_mul(1_000_000))
    }

    /// The span from `earlier` to `self`, zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Nanos) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The instant or span in seconds.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a float of seconds is for showing and rates"
    )]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Duration> for Nanos {
    type Output = Nanos;

    fn add(self, span: Duration) -> Nanos {
        Nanos(self.0.saturating_add(duration_ns(span)))
    }
}

impl Sub for Nanos {
    type Output = Duration;

    fn sub(self, earlier: Nanos) -> Duration {
        Duration::from_nanos(self.since(earlier))
    }
}

impl From<Duration> for Nanos {
    fn from(span: Duration) -> Nanos {
        Nanos(duration_ns(span))
    }
}

impl From<Nanos> for Duration {
    fn from(at: Nanos) -> Duration {
        Duration::from_nanos(at.0)
    }
}

/// A span in whole nanoseconds, saturating at 584 years.
#[must_use]
pub fn duration_ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Planned iteration starts per unit of time, as an exact ratio: `starts` per `per`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivalRate {
    /// How many starts are planned in each `per`.
    pub starts: u64,
    /// The unit of time in nanoseconds; never zero.
    pub per: Nanos,
}

impl ArrivalRate {
    /// `starts` per second.
    #[must_use]
    pub const fn per_second(starts: u64) -> ArrivalRate {
        ArrivalRate {
            starts,
            per: Nanos(Nanos::PER_SECOND),
        }
    }

    /// The nearest rate to a decimal number of starts per second, to a millionth of a start.
    ///
    /// `None` for a negative or non-finite number, and above a thousand million starts per second.
    #[must_use]
    pub fn from_per_second(starts: f64) -> Option<ArrivalRate> {
        if !starts.is_finite() || !(0.0..=1e9).contains(&starts) {
            return None;
        }
        if starts.fract() == 0.0 {
            return Some(ArrivalRate::per_second(starts as u64));
        }
        let millionths = (starts * 1e6).round() as u64;
        Some(ArrivalRate {
            starts: millionths,
            per: Nanos(Nanos::PER_SECOND * 1_000_000),
        })
    }

    /// Starts per second, for display and for sums of rates.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "for showing; the schedule uses the exact ratio"
    )]
    pub fn starts_per_second(self) -> f64 {
        self.starts as f64 / self.per.as_secs_f64()
    }
}

/// A number of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let value = self.0 as f64;
        // Switch to the next unit where the digits would round up to a thousand.
        match self.0 {
            0..1_000 => write!(f, "{} B", self.0),
            1_000..999_950 => write!(f, "{:.1} kB", value / 1e3),
            999_950..999_950_000 => write!(f, "{:.1} MB", value / 1e6),
            999_950_000..999_995_000_000 => write!(f, "{:.2} GB", value / 1e9),
            _ => write!(f, "{:.2} TB", value / 1e12),
        }
    }
}

/// Durations as text: `"30s"`, `"0.25s"`; for `#[serde(with = …)]`.
pub mod duration_text {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Seconds with as many decimals as needed, and the unit.
    pub(super) fn to_text(span: Duration) -> String {
        let fraction = format!("{:09}", span.subsec_nanos());
        match fraction.trim_end_matches('0') {
            "" => format!("{}s", span.as_secs()),
            digits => format!("{}.{digits}s", span.as_secs()),
        }
    }

    pub(super) fn from_text(text: &str) -> Option<Duration> {
        let (seconds, fraction) = match text.strip_suffix('s')?.split_once('.') {
            Some((seconds, fraction)) => (seconds, fraction),
            None => (text.strip_suffix('s')?, ""),
        };
        if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let nanos = format!("{fraction:0<9}").parse().ok()?;
        Some(Duration::new(seconds.parse().ok()?, nanos))
    }

    /// Writes a duration.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&to_text(*span))
    }

    /// Reads a duration.
    ///
    /// # Errors
    /// If the text is not a number of seconds.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        from_text(&text)
            .ok_or_else(|| D::Error::custom(format!("{text:?} is not a duration in seconds")))
    }

    /// The same for an optional duration.
    pub mod option {
        use std::time::Duration;

        use serde::de::Error;
        use serde::{Deserialize, Deserializer, Serializer};

        /// Writes a duration or null.
        ///
        /// # Errors
        /// Those of the serializer.
        pub fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
            match span {
                Some(span) => super::serialize(span, to),
                None => to.serialize_none(),
            }
        }

        /// Reads a duration or null.
        ///
        /// # Errors
        /// If the text is not a number of seconds.
        pub fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Duration>, D::Error> {
            let Some(text) = Option::<String>::deserialize(from)? else {
                return Ok(None);
            };
            super::from_text(&text)
                .map(Some)
                .ok_or_else(|| D::Error::custom(format!("{text:?} is not a duration in seconds")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_rates_become_exact_ratios() {
        assert_eq!(
            ArrivalRate::from_per_second(50.0),
            Some(ArrivalRate::per_second(50))
        );
        let slow = ArrivalRate::from_per_second(0.25).expect("a quarter is a rate");
        assert_eq!(slow.starts, 250_000);
        assert!((slow.starts_per_second() - 0.25).abs() < 1e-12);
        let third = ArrivalRate::from_per_second(2.0 / 3.0).expect("it is a rate");
        assert_eq!(third.starts, 666_667, "the nearest millionth");
        assert_eq!(ArrivalRate::from_per_second(-1.0), None);
        assert_eq!(ArrivalRate::from_per_second(f64::NAN), None);
    }

    #[test]
    fn durations_are_written_and_read_as_seconds() {
        for (ns, text) in [
            (0, "0s"),
            (30_000_000_000, "30s"),
            (1_500_000, "0.0015s"),
            (1, "0.000000001s"),
        ] {
            let span = Duration::from_nanos(ns);
            assert_eq!(duration_text::to_text(span), text);
            assert_eq!(duration_text::from_text(text), Some(span));
        }
        for bad in ["", "s", "1", "1m", "-1s", "1.2.3s", "1.0000000001s"] {
            assert_eq!(duration_text::from_text(bad), None, "{bad}");
        }
    }

    #[test]
    fn instants_saturate() {
        assert_eq!(Nanos(5).since(Nanos(7)), 0);
        assert_eq!(Nanos::MAX + Duration::from_secs(1), Nanos::MAX);
        assert_eq!(
            Nanos::from_secs(2) - Nanos::from_secs(1),
            Duration::from_secs(1)
        );
    }

    #[test]
    fn bytes_are_shown_with_decimal_units() {
        assert_eq!(Bytes(999).to_string(), "999 B");
        assert_eq!(Bytes(12_743_081).to_string(), "12.7 MB");
        for (bytes, text) in [
            (999_949, "999.9 kB"),
            (999_950, "1.0 MB"),
            (999_950_000, "1.00 GB"),
            (999_995_000_000, "1.00 TB"),
            (3_500_000_000_000, "3.50 TB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }
}
