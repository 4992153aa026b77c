//! Indices by a pair of names, either of which may be missing: a scenario and a group.
//!
//! Must not know what an index points to. Invariant: looking up a known pair allocates nothing, and costs no
//! more when there are many.

use std::collections::BTreeMap;

/// Ends the first name. Scenario names never contain this character.
const SEPARATOR: char = '\0';
/// Precedes a name that is present.
const IS_THERE: char = '+';

/// Indices by a pair of names.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    places: BTreeMap<Box<str>, usize>,
    /// Buffer for joined names; kept to reuse its memory.
    key: String,
}

impl Pairs {
    pub(super) fn find(&mut self, first: Option<&str>, second: Option<&str>) -> Option<usize> {
        self.put_together(first, second);
        self.places.get(self.key.as_str()).copied()
    }

    pub(super) fn insert(&mut self, first: Option<&str>, second: Option<&str>, place: usize) {
        self.put_together(first, second);
        self.places.insert(self.key.as_str().into(), place);
    }

    fn put_together(&mut self, first: Option<&str>, second: Option<&str>) {
        self.key.clear();
        for name in [first, second] {
            if let Some(name) = name {
                self.key.push(IS_THERE);
                self.key.push_str(name);
            }
            self.key.push(SEPARATOR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_has_its_place() {
        let names = [None, Some(""), Some("a"), Some("+"), Some("a+b")];
        let pairs = || {
            names
                .iter()
                .flat_map(|first| names.iter().map(move |second| (*first, *second)))
        };
        let mut known = Pairs::default();
        for (place, (first, second)) in pairs().enumerate() {
            assert_eq!(known.find(first, second), None);
            known.insert(first, second, place);
        }
        for (place, (first, second)) in pairs().enumerate() {
            assert_eq!(known.find(first, second), Some(place));
        }
    }
}
