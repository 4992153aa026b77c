//! A histogram over the run: its content at several times, so that any part of the run has quantiles.
//!
//! Must not know which parts are requested. Invariant: at most [`LOOKS_MAX`] snapshots are kept, evenly
//! thinned.

use crate::sources::buckets::Buckets;

/// Maximum snapshots; beyond it every second one is dropped.
const LOOKS_MAX: usize = 720;

/// Snapshots of a histogram that only grows.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    looks: Vec<(u64, Buckets)>,
    /// Only every `stride`-th snapshot is kept.
    stride: u64,
    number: u64,
}

impl History {
    pub(super) fn is_empty(&self) -> bool {
        self.looks.is_empty()
    }

    pub(super) fn push(&mut self, at_unix_ns: u64, buckets: &Buckets) {
        let stride = self.stride.max(1);
        if self.number.is_multiple_of(stride) {
            self.looks.push((at_unix_ns, buckets.clone()));
        }
        self.number += 1;
        if self.looks.len() >= LOOKS_MAX {
            let mut place = 0;
            self.looks.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.stride = stride * 2;
        }
    }

    /// What was added from the last snapshot before a time to the first one after another: everything in
    /// between, plus neighbouring activity if there was any. `None`: there are no two snapshots.
    pub(super) fn around(&self, from: u64, to: u64, last: (u64, &Buckets)) -> Option<Buckets> {
        let looks = self.looks.iter().map(|(at, buckets)| (*at, buckets));
        let all: Vec<(u64, &Buckets)> = looks.chain([last]).collect();
        let before = all.iter().rfind(|look| look.0 <= from).or(all.first())?;
        let after = all.iter().find(|look| look.0 >= to).or(all.last())?;
        (before.0 < after.0).then(|| after.1.since(before.1))
    }

    /// What was added between two times, as precisely as snapshots allow: if both are closest to the same one,
    /// from the previous to the next. `None`: there are no two snapshots. `last` is the newest snapshot, which
    /// may not be kept.
    pub(super) fn between(&self, from: u64, to: u64, last: (u64, &Buckets)) -> Option<Buckets> {
        let looks = self.looks.iter().map(|(at, buckets)| (*at, buckets));
        let all: Vec<(u64, &Buckets)> = looks.chain([last]).collect();
        let nearest = |time: u64| (0..all.len()).min_by_key(|n| all[*n].0.abs_diff(time));
        let (mut before, mut after) = (nearest(from)?, nearest(to)?);
        if from < to && before == after {
            before = before.saturating_sub(1);
            after = (after + 1).min(all.len() - 1);
        }
        (all[before].0 < all[after].0).then(|| all[after].1.since(all[before].1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(n: u64) -> Buckets {
        let mut buckets = Buckets::default();
        buckets.put(1.0, n as f64);
        buckets.put(f64::INFINITY, n as f64);
        buckets
    }

    #[test]
    fn any_part_of_a_long_run_has_its_count() {
        let mut history = History::default();
        for second in 0..10_000 {
            history.push(second, &counted(second));
        }
        assert!(history.looks.len() <= LOOKS_MAX);
        let last = counted(9_999);
        let between = history.between(2_000, 8_000, (9_999, &last)).unwrap();
        assert!(
            (between.count() - 6_000.0).abs() <= 32.0,
            "{}",
            between.count()
        );
        let to_the_end = history.between(0, 20_000, (9_999, &last)).unwrap();
        assert!((to_the_end.count() - 9_999.0).abs() < 0.5);
        assert_eq!(history.between(5, 5, (9_999, &last)), None);
    }

    #[test]
    fn a_part_that_is_shorter_than_the_time_between_two_looks_has_the_looks_around_it() {
        let mut history = History::default();
        for (at, n) in [(0, 0), (100, 7), (200, 9)] {
            history.push(at, &counted(n));
        }
        let last = counted(9);
        for (from, to, count) in [(80, 120, 9.0), (10, 20, 7.0), (180, 260, 2.0)] {
            let between = history.between(from, to, (200, &last));
            assert_eq!(between.map(|added| added.count()), Some(count), "{from}");
        }
        assert_eq!(History::default().between(1, 2, (5, &last)), None);
        // All of a load that starts and ends between snapshots, and nothing else if it was idle otherwise.
        for (from, to, count) in [
            (80, 120, 9.0),
            (10, 110, 9.0),
            (110, 190, 2.0),
            (10, 90, 7.0),
        ] {
            let around = history.around(from, to, (200, &last));
            assert_eq!(around.map(|added| added.count()), Some(count), "{from}");
        }
        assert_eq!(History::default().around(1, 2, (5, &last)), None);
    }
}
