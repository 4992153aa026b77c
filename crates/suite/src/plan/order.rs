//! The order of a group's runs.
//!
//! Must not know rows. Invariant: every run occurs once; the same seed gives the same order.

use crate::file::Order;

/// The runs of rows with these numbers of repetitions, as row and repetition (from one).
#[must_use]
pub fn order(repeats: &[u32], order: Order, seed: u64) -> Vec<(usize, u32)> {
    let mut random = Random(seed);
    let row_by_row = || {
        let rows = repeats.iter().enumerate();
        rows.flat_map(|(row, times)| (1..=*times).map(move |repetition| (row, repetition)))
            .collect::<Vec<_>>()
    };
    match order {
        Order::Given => row_by_row(),
        Order::Shuffled => {
            let mut runs = row_by_row();
            random.shuffle(&mut runs);
            in_turn(runs)
        }
        Order::Interleaved => {
            let rounds = 1..=repeats.iter().copied().max().unwrap_or_default();
            let round = |repetition: u32| {
                let mut rows: Vec<(usize, u32)> = (0..repeats.len())
                    .filter(|row| repeats[*row] >= repetition)
                    .map(|row| (row, repetition))
                    .collect();
                random.shuffle(&mut rows);
                rows
            };
            rounds.flat_map(round).collect()
        }
    }
}

/// The repetitions of one row keep their order among themselves: the first that is run is the first.
fn in_turn(mut runs: Vec<(usize, u32)>) -> Vec<(usize, u32)> {
    let rows = runs
        .iter()
        .map(|(row, _)| row + 1)
        .max()
        .unwrap_or_default();
    let mut next = vec![0; rows];
    for (row, repetition) in &mut runs {
        next[*row] += 1;
        *repetition = next[*row];
    }
    runs
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): orders must not change with
/// a dependency.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Fisher and Yates.
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.next() % (last as u64 + 1)) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_run_stands_once_in_every_order(
            repeats in prop::collection::vec(1..5_u32, 0..8), seed in any::<u64>()
        ) {
            let given = order(&repeats, Order::Given, seed);
            for kind in [Order::Shuffled, Order::Interleaved] {
                let mut runs = order(&repeats, kind, seed);
                prop_assert_eq!(&runs, &order(&repeats, kind, seed));
                runs.sort_unstable();
                prop_assert_eq!(&runs, &given);
            }
        }

        #[test]
        fn repetitions_of_a_row_keep_their_order(repeats in prop::collection::vec(1..5_u32, 1..8), seed in any::<u64>()) {
            for kind in [Order::Given, Order::Shuffled, Order::Interleaved] {
                let runs = order(&repeats, kind, seed);
                for row in 0..repeats.len() {
                    let of: Vec<u32> = runs.iter().filter(|run| run.0 == row).map(|run| run.1).collect();
                    prop_assert!(of.is_sorted());
                }
            }
        }
    }

    #[test]
    fn interleaved_runs_go_round_by_round() {
        let runs = order(&[2, 2, 2], Order::Interleaved, 1);
        let rounds: Vec<u32> = runs.iter().map(|run| run.1).collect();
        assert_eq!(rounds, [1, 1, 1, 2, 2, 2]);
        let shuffled = |seed| order(&[1; 20], Order::Shuffled, seed);
        assert_ne!(shuffled(1), shuffled(2));
    }
}
