//! The census of responses: how many had which shape, with samples of their bodies.
//!
//! Must not know who judges them. Invariant: whatever the input, few bodies are kept; each is truncated to a
//! limit and stripped of secrets.

use loadline_metric::Summary;
use serde::{Deserialize, Serialize};

use crate::secret::redacted_text;

/// Maximum bytes kept of a sampled body.
pub const BODY_SAMPLE_MAX: usize = 256;
/// Maximum distinct bodies sampled per shape.
pub const BODY_SAMPLES_MAX: usize = 4;

/// The shape of a response: the key of the census.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Status code.
    pub status: u16,
    /// Size class of the body: 0 if empty, otherwise the number of binary digits of its length.
    pub size_class: u8,
    /// Content type as sent, truncated to 64 bytes; empty if there is none.
    pub content_type: String,
}

/// What the responses of one shape have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShapeTally {
    /// How many.
    pub count: u64,
    /// How many passed every check.
    pub good: u64,
    /// Body lengths in bytes.
    pub body_size: Summary,
    /// Sampled bodies, truncated to [`BODY_SAMPLE_MAX`], with how often each occurred.
    pub samples: Vec<BodySample>,
    /// Number of sampled bodies.
    pub sampled: u64,
}

/// One sampled body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BodySample {
    /// The start of the body; bytes that are not text are replaced.
    pub text: String,
    /// How often it occurred among the sampled bodies.
    pub count: u64,
}

impl Shape {
    /// The size class of a body length.
    #[must_use]
    pub fn size_class_of(length: u64) -> u8 {
        (u64::BITS - length.leading_zeros()) as u8
    }
}

impl ShapeTally {
    /// Merges another interval or worker.
    pub fn merge(&mut self, other: ShapeTally) {
        self.count += other.count;
        self.good += other.good;
        self.body_size.merge(&other.body_size);
        self.sampled += other.sampled;
        for sample in other.samples {
            self.add_sample(sample);
        }
    }

    /// Samples one more body.
    pub fn sample(&mut self, body: &[u8]) {
        self.sampled += 1;
        let cut = &body[..body.len().min(BODY_SAMPLE_MAX)];
        let text = String::from_utf8_lossy(cut);
        self.add_sample(BodySample {
            text: redacted_text(&text).into_owned(),
            count: 1,
        });
    }

    fn add_sample(&mut self, sample: BodySample) {
        if let Some(known) = self
            .samples
            .iter_mut()
            .find(|known| known.text == sample.text)
        {
            known.count += sample.count;
        } else if self.samples.len() < BODY_SAMPLES_MAX {
            self.samples.push(sample);
        } else if let Some(spare) = self.spare_for(&sample.text) {
            self.samples[spare] = sample;
        }
    }

    /// The slot to reuse: a sample that differs from another one in its numbers only, if the new body differs
    /// from all samples in more than that. This keeps room for an error among bodies that each contain a unique
    /// id.
    fn spare_for(&self, text: &str) -> Option<usize> {
        let kinds: Vec<String> = self
            .samples
            .iter()
            .map(|known| kind_of(&known.text))
            .collect();
        let is_new = !kinds.contains(&kind_of(text));
        let doubled = |place: &usize| kinds[..*place].contains(&kinds[*place]);
        (0..kinds.len()).rev().find(doubled).filter(|_| is_new)
    }
}

/// A body with its numbers removed.
fn kind_of(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_hexdigit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_are_binary_digits() {
        assert_eq!(Shape::size_class_of(0), 0);
        assert_eq!(Shape::size_class_of(1), 1);
        assert_eq!(Shape::size_class_of(44), 6);
        assert_eq!(Shape::size_class_of(64), 7);
    }

    #[test]
    fn few_distinct_bodies_are_kept_and_all_are_counted() {
        let mut tally = ShapeTally::default();
        for body in ["a", "b", "a", "c", "d", "e", "a"] {
            tally.sample(body.as_bytes());
        }
        assert_eq!(tally.sampled, 7);
        assert_eq!(tally.samples.len(), BODY_SAMPLES_MAX);
        assert_eq!(tally.samples[0].count, 3);
    }

    #[test]
    fn bodies_that_differ_in_numbers_leave_room_for_another_kind() {
        let mut tally = ShapeTally::default();
        for number in 0..20 {
            tally.sample(format!("{{\"id\":{number},\"name\":\"drill\"}}").as_bytes());
            if number % 5 == 4 {
                tally.sample(b"{\"error\":\"backend timed out\"}");
            }
        }
        let texts: Vec<&str> = tally.samples.iter().map(|body| &*body.text).collect();
        assert_eq!(texts.len(), BODY_SAMPLES_MAX);
        let error = tally
            .samples
            .iter()
            .find(|body| body.text.contains("error"));
        assert_eq!(error.expect("it is kept").count, 4);
    }
}
