//! Exact slices of a plan: who runs which virtual users, arrivals and iterations.
//!
//! A [`Segment`] is a rational interval of the whole, a [`SegmentSequence`] splits the whole into segments, and
//! a [`Share`] is what one worker of one process runs of it. Must not know what is divided. Invariants: `0 <=
//! from < to <= 1`; the segments of a sequence are contiguous, cover the whole and can be striped; every global
//! index belongs to exactly one worker of one segment.
//!
//! The rules are those of k6's execution segments, so a test that was split for k6 is split into the same
//! pieces here.

mod ratio;
mod share;
mod stripes;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use ratio::{Ratio, greatest_common_divisor};
pub use share::{SegmentedIndex, Share};
pub use stripes::{MAX_CYCLE, Stripes};

/// What is wrong with a segment or a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentError {
    /// The text (truncated) is not a whole number, decimal, percentage or fraction.
    NotANumber(String),
    /// The text (truncated) has more digits than 64 bits can hold.
    TooFine(String),
    /// Start and end are not `0 <= from < to <= 1`.
    Bounds(Ratio, Ratio),
    /// A sequence needs at least two points; this is the text (truncated).
    TooFewPoints(String),
    /// The second segment does not start where the first ends.
    Gap(Segment, Segment),
    /// The segment is not in the sequence.
    NotInSequence(Segment),
    /// The segments' lengths have no common denominator up to [`MAX_CYCLE`].
    TooUneven,
}

impl fmt::Display for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SegmentError::NotANumber(text) => {
                write!(
                    f,
                    "{text:?} is not part of a whole; write it as 1/3, 0.25 or 25%"
                )
            }
            SegmentError::TooFine(text) => {
                write!(
                    f,
                    "{text:?} has too many digits; write it as a shorter fraction"
                )
            }
            SegmentError::Bounds(from, to) if from >= to => write!(
                f,
                "segment start({:.2}) must be less than its end({:.2})",
                from.value(),
                to.value()
            ),
            SegmentError::Bounds(_, to) => write!(
                f,
                "segment end value can't be more than 1 but was {:.2}",
                to.value()
            ),
            SegmentError::TooFewPoints(text) => {
                write!(
                    f,
                    "segment sequence {text:?} needs at least two points, as in 0,1/2,1"
                )
            }
            SegmentError::Gap(left, right) => {
                write!(f, "segment {right} does not start where {left} ends")
            }
            SegmentError::NotInSequence(segment) => {
                write!(f, "segment {segment} is not one of the segment sequence")
            }
            SegmentError::TooUneven => {
                write!(
                    f,
                    "the segments' common denominator exceeds {MAX_CYCLE}; use simpler parts"
                )
            }
        }
    }
}

impl std::error::Error for SegmentError {}

/// An exact rational slice of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    from: Ratio,
    to: Ratio,
}

impl Segment {
    /// The slice between two points of the whole.
    ///
    /// # Errors
    /// [`SegmentError::Bounds`] unless `0 <= from < to <= 1`.
    pub fn new(from: Ratio, to: Ratio) -> Result<Segment, SegmentError> {
        if from < to && to <= Ratio::ONE {
            Ok(Segment { from, to })
        } else {
            Err(SegmentError::Bounds(from, to))
        }
    }

    /// The whole plan.
    #[must_use]
    pub const fn whole() -> Segment {
        Segment {
            from: Ratio::ZERO,
            to: Ratio::ONE,
        }
    }

    /// Start of the slice.
    #[must_use]
    pub const fn from(&self) -> Ratio {
        self.from
    }

    /// End of the slice.
    #[must_use]
    pub const fn to(&self) -> Ratio {
        self.to
    }

    /// Its length, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let (numerator, denominator) = self.length();
        numerator as f64 / denominator as f64
    }

    /// Length as numerator and denominator; the denominator may exceed 64 bits.
    fn length(&self) -> (u128, u128) {
        self.to.minus(self.from)
    }
}

impl Default for Segment {
    fn default() -> Segment {
        Segment::whole()
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.from, self.to)
    }
}

impl FromStr for Segment {
    type Err = SegmentError;

    /// Parses `from:to`, or just `to` for a slice that starts at zero; empty text is the whole.
    fn from_str(text: &str) -> Result<Segment, SegmentError> {
        if text.trim().is_empty() {
            return Ok(Segment::whole());
        }
        match text.split_once(':') {
            Some((from, to)) => Segment::new(from.parse()?, to.parse()?),
            None => Segment::new(Ratio::ZERO, text.parse()?),
        }
    }
}

/// The whole plan, split into segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentSequence {
    segments: Vec<Segment>,
    /// The segments that were given, without those added at the ends.
    asked_for: Range<usize>,
    /// Integer lengths of the segments; their sum is the length of a striping cycle.
    weights: Vec<u64>,
}

impl SegmentSequence {
    /// A single segment that is the whole.
    #[must_use]
    pub fn whole() -> SegmentSequence {
        SegmentSequence {
            segments: vec![Segment::whole()],
            asked_for: 0..1,
            weights: vec![1],
        }
    }

    /// A sequence of these segments. A gap at either end becomes an extra segment, and an empty list means the
    /// whole.
    ///
    /// # Errors
    /// [`SegmentError::Gap`] if two neighbours are not contiguous, [`SegmentError::TooUneven`] if the lengths
    /// have no usable common denominator.
    pub fn new(mut segments: Vec<Segment>) -> Result<SegmentSequence, SegmentError> {
        let (Some(first), Some(last)) = (segments.first().copied(), segments.last().copied())
        else {
            return Ok(SegmentSequence::whole());
        };
        if let Some(pair) = segments.windows(2).find(|pair| pair[0].to != pair[1].from) {
            return Err(SegmentError::Gap(pair[0], pair[1]));
        }
        let mut asked_for = 0..segments.len();
        if first.from != Ratio::ZERO {
            segments.insert(0, Segment::new(Ratio::ZERO, first.from)?);
            asked_for = 1..segments.len();
        }
        if last.to != Ratio::ONE {
            segments.push(Segment::new(last.to, Ratio::ONE)?);
        }
        let weights = weights_of(&segments)?;
        Ok(SegmentSequence {
            segments,
            asked_for,
            weights,
        })
    }

    /// The segments, in order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The part of `value` for each segment; the parts sum to `value`.
    #[must_use]
    pub fn scale_all(&self, value: u64) -> Vec<u64> {
        stripes::scale_all(&self.weights, value)
    }

    /// The stripes of one of the segments.
    ///
    /// # Errors
    /// [`SegmentError::NotInSequence`].
    pub fn stripes(&self, segment: &Segment) -> Result<Stripes, SegmentError> {
        Ok(Stripes::new(&self.weights, self.position(segment)?))
    }

    fn position(&self, segment: &Segment) -> Result<usize, SegmentError> {
        self.segments
            .iter()
            .position(|candidate| candidate == segment)
            .ok_or(SegmentError::NotInSequence(*segment))
    }
}

/// The lengths over their least common denominator, which must not exceed [`MAX_CYCLE`].
fn weights_of(segments: &[Segment]) -> Result<Vec<u64>, SegmentError> {
    let mut cycle: u64 = 1;
    for segment in segments {
        let (_, denominator) = segment.length();
        let denominator = u64::try_from(denominator).map_err(|_| SegmentError::TooUneven)?;
        cycle = ratio::least_common_multiple(cycle, denominator)
            .filter(|cycle| *cycle <= MAX_CYCLE)
            .ok_or(SegmentError::TooUneven)?;
    }
    let weight = |segment: &Segment| {
        let (numerator, denominator) = segment.length();
        u64::try_from(numerator * (u128::from(cycle) / denominator))
            .expect("a part of the cycle is no longer than the cycle")
    };
    Ok(segments.iter().map(weight).collect())
}

impl Default for SegmentSequence {
    fn default() -> SegmentSequence {
        SegmentSequence::whole()
    }
}

impl fmt::Display for SegmentSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked_for = &self.segments[self.asked_for.clone()];
        let start = asked_for.first().map_or(Ratio::ZERO, |first| first.from);
        write!(f, "{start}")?;
        asked_for
            .iter()
            .try_for_each(|segment| write!(f, ",{}", segment.to))
    }
}

impl FromStr for SegmentSequence {
    type Err = SegmentError;

    /// Parses ascending points such as `0,1/4,1/2,1`; empty text is the whole.
    fn from_str(text: &str) -> Result<SegmentSequence, SegmentError> {
        if text.trim().is_empty() {
            return Ok(SegmentSequence::whole());
        }
        let points: Vec<Ratio> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
        if points.len() < 2 {
            return Err(SegmentError::TooFewPoints(ratio::shortened(text)));
        }
        let segments = points.windows(2).map(|pair| Segment::new(pair[0], pair[1]));
        SegmentSequence::new(segments.collect::<Result<_, _>>()?)
    }
}

/// Both types are serialized as their text form.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?
                    .parse()
                    .map_err(de::Error::custom)
            }
        }
    };
}

serde_as_text!(Segment);
serde_as_text!(SegmentSequence);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn segment(text: &str) -> Segment {
        text.parse().expect("the test's segment is well formed")
    }

    #[test]
    fn segments_are_read_in_every_notation() {
        for (text, shown) in [
            ("1/3:2/3", "1/3:2/3"),
            ("0.2:2/3", "1/5:2/3"),
            ("25%", "0:1/4"),
            ("12.5%:50%", "1/8:1/2"),
            ("0:1", "0:1"),
            ("", "0:1"),
            (" 2/6 : 4/6 ", "1/3:2/3"),
        ] {
            assert_eq!(segment(text).to_string(), shown, "{text}");
        }
    }

    #[test]
    fn bad_segments_are_refused() {
        for text in [
            "1:0",
            "0.5:0.5",
            "1/3:4/3",
            "2",
            "a:b",
            "1/0",
            "-1/2:1",
            "1:2:3",
            "0.5.5",
            "/",
            ":",
            "%",
            "1e-3",
            "0.1234567890123456789012345678",
            "1/99999999999999999999999",
        ] {
            assert!(text.parse::<Segment>().is_err(), "{text}");
        }
    }

    #[test]
    fn sequences_are_filled_in_and_written_as_they_were_asked_for() {
        for (text, segments) in [
            ("1/4,1/2", 3),
            ("0,1/2", 2),
            ("1/2,1", 2),
            ("0,1/2,1", 2),
            ("0,1", 1),
        ] {
            let sequence: SegmentSequence = text.parse().expect("well formed");
            assert_eq!(sequence.to_string(), text);
            assert_eq!(sequence.segments().len(), segments, "{text}");
        }
        let alone = SegmentSequence::new(vec![segment("1/3:2/3")]).expect("well formed");
        assert_eq!(
            (alone.to_string().as_str(), alone.segments().len()),
            ("1/3,2/3", 3)
        );
        assert_eq!("".parse(), Ok(SegmentSequence::whole()));
        for text in ["0", "0,1/2,1/4,1", "0,0,1", "0,2", "0,x"] {
            assert!(text.parse::<SegmentSequence>().is_err(), "{text}");
        }
        let gap = SegmentSequence::new(vec![segment("0:1/3"), segment("1/2:1")]);
        assert!(matches!(gap, Err(SegmentError::Gap(..))));
    }

    #[test]
    fn hostile_denominators_are_refused_at_once() {
        for text in [
            "0,1/1000003,1",
            "0,1/18446744073709551557,18446744073709551556/18446744073709551557,1",
            "0,1/1009,1/1013,1",
            "0,1/18446744073709551615,1/2,1",
        ] {
            let read = text.parse::<SegmentSequence>();
            match text {
                "0,1/1000003,1" => assert!(read.is_ok()),
                "0,1/1009,1/1013,1" => assert!(matches!(read, Err(SegmentError::Bounds(..)))),
                _ => assert_eq!(read, Err(SegmentError::TooUneven), "{text}"),
            }
        }
        assert_eq!(
            "0,1/1009,1/997,1"
                .parse::<SegmentSequence>()
                .map(|s| s.weights.len()),
            Ok(3)
        );
        assert_eq!(
            "0,1/1033,1/1031,1".parse::<SegmentSequence>(),
            Err(SegmentError::TooUneven)
        );
    }

    #[test]
    fn text_round_trips_through_serde() {
        let sequence: SegmentSequence = "0,1/4,1/2,1".parse().expect("well formed");
        let json = serde_json::to_string(&(segment("1/4:1/2"), &sequence)).expect("plain text");
        assert_eq!(json, r#"["1/4:1/2","0,1/4,1/2,1"]"#);
        let back: (Segment, SegmentSequence) = serde_json::from_str(&json).expect("just written");
        assert_eq!(back, (segment("1/4:1/2"), sequence));
        assert!(serde_json::from_str::<Segment>("\"1:0\"").is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_panic(text in "[0-9/.,:% a-]{0,40}") {
            if let Ok(sequence) = text.parse::<SegmentSequence>() {
                prop_assert_eq!(sequence.to_string().parse(), Ok(sequence));
            }
            if let Ok(segment) = text.parse::<Segment>() {
                prop_assert_eq!(segment.to_string().parse(), Ok(segment));
            }
        }
    }
}
