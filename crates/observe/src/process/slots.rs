//! Numbered slots for replaceable things: a restarted process takes the slot of the one that ended.
//!
//! Must not know the content of a slot. Invariant: a slot keeps its number, so that a series continues across a
//! restart.

/// Slots and their content.
#[derive(Clone, Debug)]
pub(crate) struct Slots<K> {
    places: Vec<Place<K>>,
    max: usize,
}

#[derive(Clone, Debug)]
struct Place<K> {
    /// The current or last content.
    holder: K,
    is_held: bool,
    replaced: u64,
}

/// A change in a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change<K> {
    /// The content is gone.
    Gone { place: usize, before: K },
    /// The content was replaced.
    Replaced { place: usize, before: K, now: K },
}

impl<K> Change<K> {
    /// Whether the content of this slot was replaced.
    pub(crate) fn is_replaced(&self, number: usize) -> bool {
        matches!(self, Change::Replaced { place, .. } if *place == number)
    }
}

impl<K: Clone + PartialEq> Slots<K> {
    /// With a maximum number of slots.
    pub(crate) fn new(max: usize) -> Slots<K> {
        Slots {
            places: Vec::new(),
            max,
        }
    }

    /// Sets the current content. New entries take free slots in order, then new slots; beyond the limit they
    /// get none.
    pub(crate) fn set(&mut self, now: &[K]) -> Vec<Change<K>> {
        let held = |place: &Place<K>| place.is_held.then(|| place.holder.clone());
        let before: Vec<Option<K>> = self.places.iter().map(held).collect();
        for place in &mut self.places {
            place.is_held = now.contains(&place.holder);
        }
        let newcomers = now.iter().filter(|one| {
            let mut places = self.places.iter();
            !places.any(|place| place.holder == **one)
        });
        let newcomers: Vec<K> = newcomers.cloned().collect();
        let mut changes = Vec::new();
        for newcomer in newcomers {
            let free = self.places.iter().position(|place| !place.is_held);
            match free {
                Some(place) => changes.push(self.replace(place, newcomer)),
                None if self.places.len() < self.max => self.places.push(Place {
                    holder: newcomer,
                    is_held: true,
                    replaced: 0,
                }),
                None => {}
            }
        }
        for (place, before) in before.into_iter().enumerate() {
            if let Some(before) = before.filter(|_| !self.places[place].is_held) {
                changes.push(Change::Gone { place, before });
            }
        }
        changes
    }

    fn replace(&mut self, place: usize, newcomer: K) -> Change<K> {
        let taken = &mut self.places[place];
        let before = std::mem::replace(&mut taken.holder, newcomer.clone());
        taken.is_held = true;
        taken.replaced += 1;
        Change::Replaced {
            place,
            before,
            now: newcomer,
        }
    }

    /// Occupied slots: their number, content, and number of replacements.
    pub(crate) fn held(&self) -> impl Iterator<Item = (usize, &K, u64)> {
        let places = self.places.iter().enumerate();
        places
            .filter(|(_, place)| place.is_held)
            .map(|(number, place)| (number, &place.holder, place.replaced))
    }

    /// The number of slots, occupied or not.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_takes_the_place_of_who_went() {
        let mut slots = Slots::new(3);
        assert!(slots.set(&[10, 20]).is_empty());
        assert_eq!(
            slots.set(&[20]),
            [Change::Gone {
                place: 0,
                before: 10
            }]
        );
        assert_eq!(
            slots.set(&[20, 30]),
            [Change::Replaced {
                place: 0,
                before: 10,
                now: 30
            }]
        );
        let held: Vec<(usize, u32, u64)> = slots.held().map(|(n, k, r)| (n, *k, r)).collect();
        assert_eq!(held, [(0, 30, 1), (1, 20, 0)]);
    }

    #[test]
    fn places_are_limited() {
        let mut slots = Slots::new(2);
        slots.set(&[1, 2, 3]);
        assert_eq!((slots.len(), slots.held().count()), (2, 2));
    }
}
