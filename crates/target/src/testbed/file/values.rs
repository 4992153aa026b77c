//! Single values in a testbed file: durations, sizes, shares, counts.
//!
//! It must not know components. Invariant: a returned value is in its range.

use super::error::{Problem, problem};
use crate::duration;
use crate::random::RandomDuration;
use loadline_yaml::Placed;
use serde::Deserialize;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The largest size: 64 GiB.
const BYTES_MAX: f64 = (64_u64 << 30) as f64;

/// A mean, or a mean with its law.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawTime {
    Constant(String),
    Law(RawLaw),
}

/// A law and its mean.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLaw {
    mean: String,
    law: Option<String>,
    cv: Option<f64>,
}

/// A reason with a way out in the form of this file: `what is wrong; what to do`.
pub(super) fn with_way_out(why: &str, otherwise: &str) -> String {
    for word in ["use", "write", "give", "check", "leave"] {
        let colon = format!(": {word} ");
        if why.contains(&colon) {
            return why.replacen(&colon, &format!("; {word} "), 1);
        }
    }
    format!("{why}; {otherwise}")
}

/// A duration, or `None` where none is written.
pub(super) fn time(raw: Option<&Placed<String>>, key: &str) -> Result<Option<Duration>, Problem> {
    let read = |raw: &Placed<String>| {
        duration::parse(&raw.value).map_err(|why| {
            let why = with_way_out(&why, "write 10ms or 1.5s");
            problem(raw, format!("{key}: {why}"))
        })
    };
    raw.map(read).transpose()
}

/// The same with a default.
pub(super) fn time_or(
    raw: Option<&Placed<String>>,
    key: &str,
    default: Duration,
) -> Result<Duration, Problem> {
    Ok(time(raw, key)?.unwrap_or(default))
}

/// A random duration.
pub(super) fn law(raw: Option<&Placed<RawTime>>) -> Result<Option<RandomDuration>, Problem> {
    let Some(raw) = raw else { return Ok(None) };
    let (mean, name, variation) = match &raw.value {
        RawTime::Constant(mean) => (mean, "const", None),
        RawTime::Law(law) => (&law.mean, law.law.as_deref().unwrap_or("exp"), law.cv),
    };
    duration::parse(mean)
        .and_then(|mean| RandomDuration::new(mean, name, variation))
        .map(Some)
        .map_err(|why| {
            let why = with_way_out(&why, "write { mean: 10ms, law: exp }");
            problem(raw, format!("time: {why}"))
        })
}

/// Bytes: a number with `kB`, `MB`, `GB` (powers of 1,000), `KiB`, `MiB`, `GiB` (powers of 1,024), `B`, or
/// nothing behind it.
pub(super) fn size(raw: Option<&Placed<String>>, key: &str) -> Result<Option<u64>, Problem> {
    let read = |raw: &Placed<String>| {
        parse_size(&raw.value).map_err(|why| problem(raw, format!("{key}: {why}")))
    };
    raw.map(read).transpose()
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match text[digits.len()..].trim() {
        "" | "B" => 1.0,
        "kB" | "KB" => 1e3,
        "MB" => 1e6,
        "GB" => 1e9,
        "KiB" | "Ki" => 1_024.0,
        "MiB" | "Mi" => 1_048_576.0,
        "GiB" | "Gi" => 1_073_741_824.0,
        unit => {
            return Err(format!(
                "unknown unit {unit:?}; write kB, MB, GB, KiB, MiB or GiB"
            ));
        }
    };
    let number: f64 = digits
        .trim()
        .parse()
        .map_err(|_| format!("{text:?} is not a size; write 20MB or 64KiB"))?;
    let bytes = number * scale;
    if (0.0..=BYTES_MAX).contains(&bytes) {
        Ok(bytes as u64)
    } else {
        Err(format!("{text:?} is out of range; write 0 to 64GiB"))
    }
}

/// A number in a range, or the default.
pub(super) fn within<T: PartialOrd + Copy + Display>(
    raw: Option<&Placed<T>>,
    key: &str,
    range: RangeInclusive<T>,
    default: T,
) -> Result<T, Problem> {
    match raw {
        None => Ok(default),
        Some(raw) if range.contains(&raw.value) => Ok(raw.value),
        Some(raw) => {
            let (low, high) = (range.start(), range.end());
            let text = format!(
                "{key}: {} is out of range; write {low} to {high}",
                raw.value
            );
            Err(problem(raw, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_with_and_without_units() {
        let cases = [
            ("12", 12),
            ("1.5kB", 1_500),
            ("20MB", 20_000_000),
            ("64 KiB", 65_536),
            ("2Gi", 2_147_483_648),
            ("0", 0),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "-1", "1TB", "1e30", "NaN", "65GiB"] {
            assert!(parse_size(text).unwrap_err().contains("write"), "{text}");
        }
    }
}
