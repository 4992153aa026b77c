//! Instants that the points of a series have used.
//!
//! A server stores one point per series and instant, so two values at the same instant would become one. Must
//! not know points. Invariant: among the last [`KEPT`] points no two of a series have the same instant; memory
//! is bounded by twice that.

use std::collections::HashSet;
use std::mem;

/// Points whose instants are remembered: seconds of heavy load, and a few megabytes at most.
const KEPT: usize = 65_536;

/// Instants by series.
#[derive(Debug, Default)]
pub(super) struct Instants {
    recent: HashSet<(u64, u64)>,
    older: HashSet<(u64, u64)>,
}

impl Instants {
    /// The given instant, or the next one that no point of the series has used.
    pub(super) fn take(&mut self, series: u64, at: u64) -> u64 {
        let mut free = at;
        while self.older.contains(&(series, free)) || !self.recent.insert((series, free)) {
            free += 1;
        }
        if self.recent.len() >= KEPT {
            self.older = mem::take(&mut self.recent);
        }
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_two_points_of_a_series_share_an_instant(
            points in proptest::collection::vec((0..3_u64, 0..50_u64), 0..300),
        ) {
            let mut instants = Instants::default();
            let mut taken = HashSet::new();
            for (series, at) in points {
                let given = instants.take(series, at);
                prop_assert!(given >= at);
                prop_assert!(taken.insert((series, given)));
            }
        }
    }

    #[test]
    fn memory_is_bounded_and_what_is_recent_is_known() {
        let mut instants = Instants::default();
        for at in 0..3 * KEPT as u64 {
            assert_eq!(instants.take(1, at), at);
        }
        assert!(instants.recent.len() + instants.older.len() <= 2 * KEPT);
        let last = 3 * KEPT as u64 - 1;
        assert_eq!(instants.take(1, last), last + 1);
        assert_eq!(instants.take(2, last), last);
    }
}
