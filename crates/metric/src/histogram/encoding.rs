//! Serialization of the histogram with serde; see [`Histogram`] for the layout.
//!
//! Must not know the format, except that it is self-describing, and whether it is human-readable: other formats
//! use the short form of `packed`. Invariant: a written histogram reads back equal, and no input makes the
//! reader panic, miscount, or use more memory than a bounded multiple of its length.

use super::buckets::Buckets;
use super::{Histogram, MAX_INDEX, MIN_INDEX, SCALE};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Why an encoded histogram was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// Written at a scale other than 9.
    Scale(i32),
    /// A bucket that no finite value falls into.
    Index(i64),
    /// More values than `u64` can count.
    CountOverflow,
    /// Bytes that are not the short form.
    Bytes,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scale(scale) => write!(
                f,
                "histogram of scale {scale}; only scale {SCALE} can be read"
            ),
            Self::Index(index) => {
                write!(
                    f,
                    "bucket index {index} is outside {MIN_INDEX}..={MAX_INDEX}"
                )
            }
            Self::CountOverflow => write!(f, "the bucket counts add up to more than {}", u64::MAX),
            Self::Bytes => f.write_str("bytes that are not a histogram"),
        }
    }
}

impl std::error::Error for DecodeError {}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let encoded = Encoded::of(self);
        match serializer.is_human_readable() {
            true => encoded.serialize(serializer),
            false => serializer.serialize_bytes(&encoded.pack()),
        }
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let encoded = match deserializer.is_human_readable() {
            true => Encoded::deserialize(deserializer)?,
            false => deserializer.deserialize_bytes(PackedVisitor)?,
        };
        encoded.decode().map_err(de::Error::custom)
    }
}

struct PackedVisitor;

impl Visitor<'_> for PackedVisitor {
    type Value = Encoded;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes of a histogram")
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Encoded, E> {
        Encoded::unpack(bytes).map_err(E::custom)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Encoded {
    pub(super) scale: i32,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) zero: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) positive: Option<Runs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) negative: Option<Runs>,
}

impl Encoded {
    pub(super) fn of(histogram: &Histogram) -> Encoded {
        Encoded {
            scale: SCALE,
            zero: histogram.zero,
            positive: Runs::of(&histogram.positive),
            negative: Runs::of(&histogram.negative),
        }
    }

    pub(super) fn decode(self) -> Result<Histogram, DecodeError> {
        if self.scale != SCALE {
            return Err(DecodeError::Scale(self.scale));
        }
        let mut histogram = Histogram {
            count: self.zero,
            zero: self.zero,
            ..Histogram::new()
        };
        for (runs, buckets) in [
            (self.positive, &mut histogram.positive),
            (self.negative, &mut histogram.negative),
        ] {
            if let Some(runs) = runs {
                runs.fill(buckets, &mut histogram.count)?;
            }
        }
        Ok(histogram)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runs {
    pub(super) offset: i32,
    pub(super) counts: Vec<Step>,
}

impl Runs {
    /// The encoded buckets; `None` if there are none.
    fn of(buckets: &Buckets) -> Option<Self> {
        let (offset, _) = buckets.iter().next()?;
        let mut counts = Vec::new();
        let mut next = offset;
        for (index, count) in buckets.iter() {
            if index > next {
                counts.push(Step::Gap(i64::from(index) - i64::from(next)));
            }
            counts.push(Step::Count(count));
            next = index + 1;
        }
        Some(Self { offset, counts })
    }

    fn fill(self, buckets: &mut Buckets, total: &mut u64) -> Result<(), DecodeError> {
        let mut index = i64::from(self.offset);
        for step in self.counts {
            match step {
                Step::Gap(width) => index = index.saturating_add(width),
                Step::Count(count) => {
                    let checked = checked_index(index)?;
                    *total = total.checked_add(count).ok_or(DecodeError::CountOverflow)?;
                    buckets.add(checked, count);
                    index += 1;
                }
            }
        }
        Ok(())
    }
}

fn checked_index(index: i64) -> Result<i32, DecodeError> {
    let narrow = i32::try_from(index).map_err(|_| DecodeError::Index(index))?;
    if (MIN_INDEX..=MAX_INDEX).contains(&narrow) {
        Ok(narrow)
    } else {
        Err(DecodeError::Index(index))
    }
}

/// One number of `counts`.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Values in the next bucket, written as it is.
    Count(u64),
    /// Empty buckets to skip, written as a negative number.
    Gap(i64),
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Count(count) => serializer.serialize_u64(count),
            Self::Gap(width) => serializer.serialize_i64(-width),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StepVisitor)
    }
}

struct StepVisitor;

impl Visitor<'_> for StepVisitor {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a count of at least 1, or a negative number of empty buckets")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Step, E> {
        if value == 0 {
            return Err(E::invalid_value(de::Unexpected::Unsigned(0), &self));
        }
        Ok(Step::Count(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Step, E> {
        match u64::try_from(value) {
            Ok(count) => self.visit_u64(count),
            Err(_) => Ok(Step::Gap(value.saturating_neg())),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field by reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(text: &str) -> String {
        serde_json::from_str::<Histogram>(text)
            .expect_err(text)
            .to_string()
    }

    #[test]
    fn the_layout_is_the_documented_one() {
        let mut histogram = Histogram::new();
        for value in [0, 1, 2, 2] {
            histogram.record_u64(value);
        }
        let text = serde_json::to_string(&histogram).unwrap();
        assert_eq!(
            text,
            r#"{"scale":9,"zero":1,"positive":{"offset":-1,"counts":[1,-511,2]}}"#
        );
        assert_eq!(
            serde_json::to_string(&Histogram::new()).unwrap(),
            r#"{"scale":9}"#
        );
    }

    #[test]
    fn hostile_input_is_refused() {
        assert!(refusal(r#"{"scale":8}"#).contains("scale 8"));
        for counts in [
            "0",
            "1.5",
            "\"1\"",
            "null",
            "[1]",
            "1e400",
            "18446744073709551616",
        ] {
            refusal(&format!(
                r#"{{"scale":9,"positive":{{"offset":0,"counts":[{counts}]}}}}"#
            ));
        }
        for (offset, counts) in [
            (i64::from(MAX_INDEX), "1,1"),
            (i64::from(MIN_INDEX) - 1, "1"),
            (0, "-9223372036854775808,1"),
            (0, "-9223372036854775807,-9223372036854775807,1"),
            (i64::from(i32::MAX), "1"),
        ] {
            let text =
                format!(r#"{{"scale":9,"negative":{{"offset":{offset},"counts":[{counts}]}}}}"#);
            assert!(refusal(&text).contains("bucket index"), "{text}");
        }
        refusal(r#"{"scale":9,"positive":{"offset":99999999999,"counts":[1]}}"#);
        refusal(r#"{"scale":9,"surprise":1}"#);
        let most = u64::MAX;
        let text = format!(r#"{{"scale":9,"zero":1,"positive":{{"offset":0,"counts":[{most}]}}}}"#);
        assert!(refusal(&text).contains("add up"));
    }

    #[test]
    fn the_largest_counts_and_the_outermost_buckets_survive() {
        for text in [
            format!(
                r#"{{"scale":9,"positive":{{"offset":{MAX_INDEX},"counts":[{}]}}}}"#,
                u64::MAX
            ),
            format!(r#"{{"scale":9,"negative":{{"offset":{MIN_INDEX},"counts":[1,-1074174,5]}}}}"#),
        ] {
            let read: Histogram = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
        }
    }

    proptest! {
        #[test]
        fn reads_back_what_it_wrote(values in prop::collection::vec((-1e9..1e9f64, 1..u64::from(u32::MAX)), 0..200)) {
            let mut histogram = Histogram::new();
            for (value, n) in values {
                histogram.record_f64_n(value, n).unwrap();
            }
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }

        #[test]
        fn any_numbers_are_read_or_refused(offset in any::<i32>(), counts in prop::collection::vec(any::<i64>(), 0..20)) {
            let text = format!(r#"{{"scale":9,"positive":{{"offset":{offset},"counts":{counts:?}}}}}"#);
            if let Ok(histogram) = serde_json::from_str::<Histogram>(&text) {
                prop_assert_eq!(histogram.count(), histogram.positive().map(|b| b.count).sum::<u64>());
            }
        }
    }
}
