//! Reasons of failed requests, with their counts.
//!
//! Must not know connections. Invariant: at most [`REASONS_MAX`] reasons plus one for all others, and the
//! counts sum to what was added.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Tagged;

/// Limit on distinct reasons; beyond it, texts usually differ in numbers only.
pub const REASONS_MAX: usize = 8;
/// The reason under which all others are counted.
pub const OTHER_REASONS: &str = "other reasons";
/// Maximum length of a reason in characters.
const LENGTH_MAX: usize = 160;

/// Failed requests by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reasons(BTreeMap<String, u64>);

impl Reasons {
    /// Adds `count` to a reason.
    pub fn add(&mut self, reason: &str, count: u64) {
        let is_full = self.0.len() >= REASONS_MAX && !self.0.contains_key(reason);
        let reason = if is_full { OTHER_REASONS } else { reason };
        match self.0.get_mut(reason) {
            Some(known) => *known = known.saturating_add(count),
            None => {
                self.0.insert(reason.to_owned(), count);
            }
        }
    }

    /// Merges those of another interval or worker.
    pub fn merge(&mut self, other: &Reasons) {
        for (reason, count) in &other.0 {
            self.add(reason, *count);
        }
    }

    /// Each reason with its count.
    pub fn each(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0
            .iter()
            .map(|(reason, count)| (reason.as_str(), *count))
    }

    /// Whether nothing failed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a request failed, according to its tags: the error, otherwise the status of the response.
pub(super) fn reason_of(tags: &dyn Tagged) -> Cow<'_, str> {
    let said = |name| tags.tag(name).filter(|text| !text.is_empty());
    match (said("error"), said("status")) {
        (Some(error), _) => match error.char_indices().nth(LENGTH_MAX) {
            None => Cow::Borrowed(error),
            Some((end, _)) => Cow::Owned(format!("{}…", &error[..end])),
        },
        (None, Some(status)) => Cow::Owned(format!("status {status}")),
        (None, None) => Cow::Borrowed("not said"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TagSet;

    fn reason(tags: &[(&str, &str)]) -> String {
        let tags: TagSet = tags.iter().copied().collect();
        reason_of(&tags).into_owned()
    }

    #[test]
    fn a_reason_is_the_error_or_the_status() {
        assert_eq!(reason(&[("error", "reset"), ("status", "0")]), "reset");
        assert_eq!(reason(&[("error", ""), ("status", "503")]), "status 503");
        assert_eq!(reason(&[]), "not said");
        let long = reason(&[("error", &"ü".repeat(1_000))]);
        assert_eq!(long.chars().count(), LENGTH_MAX + 1);
    }

    #[test]
    fn however_many_reasons_there_are_few_are_kept_and_all_are_counted() {
        let mut halves = [Reasons::default(), Reasons::default()];
        for number in 0..100_usize {
            halves[number % 2].add(&number.to_string(), 2);
        }
        let [mut all, other] = halves;
        all.merge(&other);
        assert_eq!(all.each().count(), REASONS_MAX + 1);
        assert_eq!(all.each().map(|(_, count)| count).sum::<u64>(), 200);
    }
}
