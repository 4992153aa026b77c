//! Striping: distributes indexes over the parts of a whole, as evenly as possible.
//!
//! Must not know what the numbers count. Invariant: each index of a cycle belongs to one part, and each cycle
//! has as many indexes of a part as its weight.
//!
//! The rule is k6's (`lib/execution_segment.go`): index `i` goes to the first part (largest first, otherwise in
//! order) with `i >= chosen * cycle / weight`, where `chosen` is the number of indexes that the part already
//! has. So any prefix of the indexes is distributed in proportion, and the indexes of a part are spread out.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

/// The longest cycle: a million equal parts. Computing it takes four megabytes.
pub const MAX_CYCLE: u64 = 1 << 20;

/// The indexes that belong to one part of a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stripes {
    /// Length of the repeating pattern.
    cycle: u64,
    /// The part's indexes within a cycle, ascending; never empty.
    positions: Arc<[u32]>,
}

impl Stripes {
    /// All indexes.
    #[must_use]
    pub fn whole() -> Stripes {
        Stripes {
            cycle: 1,
            positions: Arc::from([0]),
        }
    }

    /// The stripes of the part at `index` among parts with these weights.
    ///
    /// The sum of the weights must not exceed [`MAX_CYCLE`], and no weight may be zero.
    pub(super) fn new(weights: &[u64], index: usize) -> Stripes {
        let owners = owners(weights);
        let own = (0..)
            .zip(&owners)
            .filter(|(_, owner)| **owner as usize == index);
        Stripes {
            cycle: owners.len() as u64,
            positions: own.map(|(position, _)| position).collect(),
        }
    }

    /// How many of the indexes below `bound` belong to the part: `bound` scaled to the part.
    #[must_use]
    #[inline]
    pub fn count_below(&self, bound: u64) -> u64 {
        if self.cycle == 1 {
            return bound;
        }
        let rest = bound % self.cycle;
        let begun = self
            .positions
            .partition_point(|position| u64::from(*position) < rest);
        bound / self.cycle * self.positions.len() as u64 + begun as u64
    }

    /// The fraction of all indexes that belongs to the part, from 0 to 1.
    #[must_use]
    pub fn part(&self) -> f64 {
        self.positions.len() as f64 / self.cycle as f64
    }

    /// The part's index that has `number` of its indexes before it; `None` beyond 64 bits.
    #[must_use]
    #[inline]
    pub fn nth(&self, number: u64) -> Option<u64> {
        if self.cycle == 1 {
            return Some(number);
        }
        let length = self.positions.len() as u64;
        let position = self.positions[(number % length) as usize];
        (number / length)
            .checked_mul(self.cycle)?
            .checked_add(u64::from(position))
    }
}

/// How much of `value` each part gets; the parts sum to `value`.
pub(super) fn scale_all(weights: &[u64], value: u64) -> Vec<u64> {
    let owners = owners(weights);
    let cycle = owners.len() as u64;
    let mut scaled: Vec<u64> = weights
        .iter()
        .map(|weight| value / cycle * weight)
        .collect();
    for owner in &owners[..(value % cycle) as usize] {
        scaled[*owner as usize] += 1;
    }
    scaled
}

/// Which part owns each index of a cycle.
///
/// A part becomes ready for its next index at `ceil(chosen * cycle / weight)`; the first ready part in order
/// takes it. There is always one: the parts' claims sum to the index.
fn owners(weights: &[u64]) -> Vec<u32> {
    let cycle: u64 = weights.iter().sum();
    let mut order: Vec<u32> = (0..).take(weights.len()).collect();
    order.sort_by_key(|part| Reverse(weights[*part as usize]));
    let mut chosen = vec![0_u64; order.len()];
    let mut ready: BTreeSet<usize> = (0..order.len()).collect();
    let mut later: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    let mut owners = Vec::with_capacity(cycle as usize);
    for index in 0..cycle {
        while later.peek().is_some_and(|Reverse((at, _))| *at <= index) {
            if let Some(Reverse((_, rank))) = later.pop() {
                ready.insert(rank);
            }
        }
        let rank = ready
            .pop_first()
            .expect("the parts' claims sum to the index");
        owners.push(order[rank]);
        chosen[rank] += 1;
        let weight = weights[order[rank] as usize];
        later.push(Reverse(((chosen[rank] * cycle).div_ceil(weight), rank)));
    }
    owners
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rule taken literally, without the heap.
    fn owners_by_the_letter(weights: &[u64]) -> Vec<u32> {
        let cycle: u64 = weights.iter().sum();
        let mut order: Vec<usize> = (0..weights.len()).collect();
        order.sort_by_key(|part| Reverse(weights[*part]));
        let mut chosen = vec![0; weights.len()];
        let deal = |index: u64| {
            let part = order
                .iter()
                .copied()
                .find(|part| index * weights[*part] >= chosen[*part] * cycle)
                .expect("one is ready");
            chosen[part] += 1;
            part as u32
        };
        (0..cycle).map(deal).collect()
    }

    /// Values computed by hand from the rule: 0,1/4,1/2,1 has weights 1, 1, 2 and cycle 4.
    #[test]
    fn quarters_and_a_half() {
        assert_eq!(owners(&[1, 1, 2]), [2, 0, 2, 1]);
        assert_eq!(scale_all(&[1, 1, 2], 5), [1, 1, 3]);
        assert_eq!(scale_all(&[1, 1, 2], 3), [1, 0, 2]);
        let half = Stripes::new(&[1, 1, 2], 2);
        assert_eq!(
            (0..4).filter_map(|n| half.nth(n)).collect::<Vec<_>>(),
            [0, 2, 4, 6]
        );
        assert_eq!(half.count_below(7), 4);
    }

    /// 0,0.3,0.5,0.6,0.7,0.8,0.9,1 by hand: the largest part is ready at 0, 4 and 7 (multiples of 10/3, rounded
    /// up). The second is ready at 0 and 5 but comes after the first; the rest fills the gaps.
    #[test]
    fn larger_parts_come_first() {
        assert_eq!(
            owners(&[3, 2, 1, 1, 1, 1, 1]),
            [0, 1, 2, 3, 0, 1, 4, 0, 5, 6]
        );
        // The same with the two largest swapped: size takes precedence over order.
        assert_eq!(
            owners(&[2, 3, 1, 1, 1, 1, 1]),
            [1, 0, 2, 3, 1, 0, 4, 1, 5, 6]
        );
    }

    #[test]
    fn the_longest_cycle_is_dealt_out_quickly_and_evenly() {
        let owners = owners(&vec![1; MAX_CYCLE as usize / 64]);
        assert!(
            owners
                .iter()
                .enumerate()
                .all(|(index, owner)| index == *owner as usize)
        );
    }

    #[test]
    fn indexes_beyond_the_integers_are_none() {
        assert_eq!(Stripes::whole().nth(u64::MAX), Some(u64::MAX));
        assert_eq!(Stripes::new(&[1, 1], 0).nth(u64::MAX), None);
        assert_eq!(Stripes::new(&[1, 1], 0).count_below(u64::MAX), 1 << 63);
    }

    proptest! {
        #[test]
        fn every_index_has_one_owner(weights in prop::collection::vec(1_u64..12, 1..9)) {
            prop_assert_eq!(owners(&weights), owners_by_the_letter(&weights));
            let cycle: u64 = weights.iter().sum();
            let mut seen: Vec<u64> = (0..weights.len())
                .flat_map(|part| {
                    let stripes = Stripes::new(&weights, part);
                    (0..weights[part] * 3).filter_map(move |number| stripes.nth(number))
                })
                .collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..cycle * 3).collect::<Vec<_>>());
        }

        #[test]
        fn counts_and_numbers_agree(
            weights in prop::collection::vec(1_u64..12, 1..9),
            value in 0_u64..100_000,
        ) {
            let scaled = scale_all(&weights, value);
            prop_assert_eq!(scaled.iter().sum::<u64>(), value);
            for (part, count) in scaled.into_iter().enumerate() {
                let stripes = Stripes::new(&weights, part);
                prop_assert_eq!(stripes.count_below(value), count);
                prop_assert!(stripes.nth(count).is_some_and(|index| index >= value));
                prop_assert!(count == 0 || stripes.nth(count - 1).is_some_and(|i| i < value));
            }
        }
    }
}
