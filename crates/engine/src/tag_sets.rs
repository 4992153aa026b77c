//! Recently built tag sets of a worker, so that values with the same tags share one set.
//!
//! A set costs an allocation per name and value, and readers can compare sets by address. Must not know which
//! tags exist. Invariants: a returned set has exactly the requested tags; at most [`SLOTS`] sets are kept; a
//! recently used set allocates nothing.

use std::sync::Arc;

use loadline_metric::{TagSet, Tagged};

/// Sets kept: more than a usual test has; a power of two.
const SLOTS: usize = 1024;
/// Larger sets are always built again: kept ones take some megabytes at most.
const KEPT_BYTES_MAX: usize = 4_096;

/// Sets by content.
pub(crate) struct TagSets {
    slots: Vec<Option<Slot>>,
    text: Vec<u8>,
}

struct Slot {
    /// The tags as they came.
    text: Box<[u8]>,
    set: Arc<TagSet>,
}

impl TagSets {
    pub(crate) fn new() -> TagSets {
        TagSets {
            slots: Vec::new(),
            text: Vec::new(),
        }
    }

    /// The set with these tags.
    pub(crate) fn of(&mut self, tags: &dyn Tagged) -> Arc<TagSet> {
        self.text.clear();
        let text = &mut self.text;
        tags.each_tag(&mut |name, value| {
            for part in [name, value] {
                // Lengths keep `a=bc` and `ab=c` apart.
                text.extend((part.len() as u32).to_le_bytes());
                text.extend(part.as_bytes());
            }
        });
        if self.text.len() > KEPT_BYTES_MAX {
            return made(tags);
        }
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, || None);
        }
        let slot = &mut self.slots[slot_of(&self.text)];
        match slot {
            Some(kept) if *kept.text == *self.text => Arc::clone(&kept.set),
            _ => {
                let set = made(tags);
                *slot = Some(Slot {
                    text: self.text.as_slice().into(),
                    set: Arc::clone(&set),
                });
                set
            }
        }
    }
}

fn made(tags: &dyn Tagged) -> Arc<TagSet> {
    let mut set = TagSet::new();
    tags.each_tag(&mut |name, value| set.set(name, value));
    Arc::new(set)
}

/// Multiplicative mixing, eight bytes at a time; deliberate collisions only cost the sender one set each.
fn slot_of(text: &[u8]) -> usize {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |mixed: u64, word: u64| (mixed.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = text.as_chunks::<8>();
    let mixed = words
        .iter()
        .fold(0, |mixed, word| mix(mixed, u64::from_le_bytes(*word)));
    let mixed = rest
        .iter()
        .fold(mixed, |mixed, byte| mix(mixed, u64::from(*byte)));
    (mixed >> 40) as usize % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_sets_are_one_and_others_never() {
        let mut sets = TagSets::new();
        let tags = |number: usize| TagSet::new().with("a", "b").with("n", number.to_string());
        let first = sets.of(&tags(0));
        assert_eq!(*first, tags(0));
        assert!(Arc::ptr_eq(&first, &sets.of(&tags(0))));
        for number in 0..3 * SLOTS {
            assert_eq!(*sets.of(&tags(number)), tags(number));
        }
        let apart = [
            TagSet::new().with("a", "bc").with("d", "e"),
            TagSet::new().with("ab", "c").with("d", "e"),
        ];
        assert_ne!(sets.of(&apart[0]), sets.of(&apart[1]));
    }

    #[test]
    fn what_is_large_is_not_kept() {
        let mut sets = TagSets::new();
        let tags = TagSet::new().with("url", "x".repeat(KEPT_BYTES_MAX));
        let (first, second) = (sets.of(&tags), sets.of(&tags));
        assert_eq!(first, second);
        assert!(!Arc::ptr_eq(&first, &second));
    }
}
