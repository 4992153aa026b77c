//! Serialization of trends with serde; see [`TimeTrend`] and [`ValueTrend`] for the layouts.
//!
//! Must not know the format. Invariant: a written trend reads back equal (as far as the format keeps `f64`
//! exactly), and contradictory parts are refused.

use super::distribution::{Distribution, Value};
use super::{TimeTrend, ValueTrend};
use crate::Histogram;
use crate::sum::{CompensatedSum, Squares};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Encoded<V, Sum> {
    histogram: Histogram,
    sum: Sum,
    squares: Sum,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    min: Option<V>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    max: Option<V>,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    raw: Vec<V>,
}

/// Replaces `Option::default`, which would require `V: Default`.
fn none<V>() -> Option<V> {
    None
}

impl<V: Value, Sum> Encoded<V, Sum> {
    fn of(distribution: &Distribution<V>, sum: Sum, squares: Sum) -> Self {
        let extent = distribution.extent();
        Self {
            histogram: distribution.histogram.clone(),
            sum,
            squares,
            min: extent.map(|(min, _)| min),
            max: extent.map(|(_, max)| max),
            raw: distribution.raw.clone(),
        }
    }
}

fn distribution<V: Value, E: de::Error>(
    histogram: Histogram,
    raw: Vec<V>,
    extent: (Option<V>, Option<V>),
) -> Result<Distribution<V>, E> {
    let extent = match extent {
        (Some(min), Some(max)) => Some((min, max)),
        (None, None) => None,
        _ => return Err(E::custom("a trend has both min and max, or neither")),
    };
    Distribution::from_parts(histogram, raw, extent)
        .ok_or_else(|| E::custom("min, max and raw values do not fit the histogram's count"))
}

impl Serialize for TimeTrend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sum = self.sum.to_string();
        Encoded::of(&self.distribution, sum, self.squares.to_hex()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for TimeTrend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Encoded::<u64, String>::deserialize(deserializer)?;
        if read.histogram.negative().next().is_some() {
            return Err(de::Error::custom("a time cannot be negative"));
        }
        Ok(Self {
            distribution: distribution(read.histogram, read.raw, (read.min, read.max))?,
            sum: read.sum.parse().map_err(de::Error::custom)?,
            squares: Squares::from_hex(&read.squares)
                .ok_or_else(|| de::Error::custom("squares: expected 1 to 48 hexadecimal digits"))?,
        })
    }
}

impl Serialize for ValueTrend {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Encoded::of(&self.distribution, self.sum.parts(), self.squares.parts())
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ValueTrend {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Encoded::<f64, [f64; 2]>::deserialize(deserializer)?;
        let sum = |parts| {
            CompensatedSum::from_parts(parts)
                .ok_or_else(|| de::Error::custom("a sum is not finite"))
        };
        Ok(Self {
            distribution: distribution(read.histogram, read.raw, (read.min, read.max))?,
            sum: sum(read.sum)?,
            squares: sum(read.squares)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refused(text: &str) {
        assert!(serde_json::from_str::<TimeTrend>(text).is_err(), "{text}");
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let mut trend = TimeTrend::new();
        trend.record_n(1, 2);
        let text = serde_json::to_string(&trend).unwrap();
        let histogram = r#"{"scale":9,"positive":{"offset":-1,"counts":[2]}}"#;
        let rest = r#""sum":"2","squares":"2","min":1,"max":1,"raw":[1,1]"#;
        assert_eq!(text, format!(r#"{{"histogram":{histogram},{rest}}}"#));
        let empty = serde_json::to_string(&TimeTrend::new()).unwrap();
        assert_eq!(
            empty,
            r#"{"histogram":{"scale":9},"sum":"0","squares":"0"}"#
        );
    }

    #[test]
    fn parts_that_contradict_each_other_are_refused() {
        let two = r#""histogram":{"scale":9,"positive":{"offset":-1,"counts":[2]}},"sum":"2","squares":"2""#;
        for rest in [
            "",
            r#","min":1"#,
            r#","min":2,"max":1"#,
            r#","min":1,"max":1,"raw":[1]"#,
            r#","min":1,"max":1,"raw":[1,9]"#,
        ] {
            refused(&format!("{{{two}{rest}}}"));
        }
        refused(r#"{"histogram":{"scale":9},"sum":"0","squares":"0","min":1,"max":1}"#);
        refused(r#"{"histogram":{"scale":9},"sum":"-1","squares":"0"}"#);
        refused(r#"{"histogram":{"scale":9},"sum":"0","squares":"zz"}"#);
        let negative = r#"{"scale":9,"negative":{"offset":0,"counts":[1]}}"#;
        refused(&format!(
            r#"{{"histogram":{negative},"sum":"0","squares":"0","min":1,"max":1}}"#
        ));
    }

    proptest! {
        #[test]
        fn times_read_back(times in prop::collection::vec((any::<u64>(), 1u64..900), 0..5)) {
            let mut trend = TimeTrend::new();
            times.iter().for_each(|&(ns, n)| trend.record_n(ns, n));
            let text = serde_json::to_string(&trend).unwrap();
            let read: TimeTrend = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.raw_values(), trend.raw_values());
            prop_assert_eq!(read, trend);
        }

        #[test]
        fn values_read_back(values in prop::collection::vec(-1_000_000i32..1_000_000, 0..50)) {
            let mut trend = ValueTrend::new();
            for value in values {
                // Quarters, so that JSON keeps them exactly.
                trend.record(f64::from(value) / 4.0).unwrap();
            }
            let text = serde_json::to_string(&trend).unwrap();
            prop_assert_eq!(serde_json::from_str::<ValueTrend>(&text).unwrap(), trend);
        }
    }
}
