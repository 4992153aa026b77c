//! Histograms of metrics pages: increments of their buckets, and quantiles over them.
//!
//! Must not know units. Invariants: counts are cumulative over rising bounds and never decrease; a reset
//! histogram yields what it counted since.

use super::counters::rise;

/// Maximum bounds of a histogram: nobody has more.
const BOUNDS_MAX: usize = 200;

/// Cumulative counts by upper bound.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Buckets {
    rows: Vec<(f64, f64)>,
}

impl Buckets {
    /// Adds a row of the page; the last bound is infinite.
    pub(super) fn put(&mut self, bound: f64, count: f64) {
        if bound.is_nan() || !count.is_finite() || self.rows.len() >= BOUNDS_MAX {
            return;
        }
        match self.rows.binary_search_by(|row| row.0.total_cmp(&bound)) {
            Ok(place) => self.rows[place].1 += count,
            Err(place) => self.rows.insert(place, (bound, count)),
        }
    }

    /// The total count.
    pub(super) fn count(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.1)
    }

    /// What was added since an earlier reading of the same histogram.
    pub(super) fn since(&self, before: &Buckets) -> Buckets {
        let has_begun_anew = self.count() < before.count();
        let rows = self.rows.iter().map(|(bound, count)| {
            let known = before
                .rows
                .iter()
                .find(|row| row.0.total_cmp(bound).is_eq());
            let known = known.filter(|_| !has_begun_anew).map_or(0.0, |row| row.1);
            (*bound, rise(known, *count))
        });
        let mut buckets = Buckets {
            rows: rows.collect(),
        };
        buckets.make_cumulative();
        buckets
    }

    /// Adds the counts of another histogram.
    pub(super) fn add(&mut self, other: &Buckets) {
        // If bounds differ, a sum of cumulative counts could decrease; the maximum so far is a lower bound.
        for (bound, count) in &other.rows {
            self.put(*bound, *count);
        }
        self.make_cumulative();
    }

    fn make_cumulative(&mut self) {
        let mut most = 0.0_f64;
        for row in &mut self.rows {
            most = most.max(row.1);
            row.1 = most;
        }
    }

    /// A quantile, interpolated linearly within its bucket (like `histogram_quantile` in PromQL): the lowest
    /// bucket starts at zero, and the highest finite bound represents everything above it. `None`: nothing was
    /// counted, or there is no finite bound.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        let total = self.count();
        if total <= 0.0 || !self.rows.iter().any(|row| row.0.is_finite()) {
            return None;
        }
        let rank = q * total;
        let place = self.rows.iter().position(|row| row.1 >= rank)?;
        let (upper, count) = self.rows[place];
        let below = place.checked_sub(1).map(|place| self.rows[place]);
        if upper.is_infinite() {
            return below.map(|row| row.0);
        }
        let (lower, before) = match below {
            Some(row) => row,
            None if upper <= 0.0 => return Some(upper),
            None => (0.0, 0.0),
        };
        let inside = count - before;
        let share = match inside > 0.0 {
            true => (rank - before) / inside,
            false => 1.0,
        };
        Some(lower + (upper - lower) * share)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn buckets(rows: &[(f64, f64)]) -> Buckets {
        let mut buckets = Buckets::default();
        for (bound, count) in rows {
            buckets.put(*bound, *count);
        }
        buckets
    }

    const INF: f64 = f64::INFINITY;

    #[test]
    fn quantiles_lie_on_a_line_within_their_bucket() {
        let of = buckets(&[(0.1, 50.0), (0.2, 90.0), (0.5, 100.0), (INF, 100.0)]);
        let close = |q: f64, to: f64| (of.quantile(q).unwrap() - to).abs() < 1e-9;
        assert!(close(0.5, 0.1) && close(0.25, 0.05) && close(0.95, 0.35) && close(0.7, 0.15));
    }

    #[test]
    fn above_the_highest_bound_it_is_that_bound() {
        let of = buckets(&[(0.1, 50.0), (INF, 100.0)]);
        assert_eq!(of.quantile(0.99), Some(0.1));
        assert_eq!(buckets(&[(INF, 5.0)]).quantile(0.5), None);
        assert_eq!(buckets(&[(0.1, 0.0), (INF, 0.0)]).quantile(0.5), None);
    }

    #[test]
    fn a_histogram_that_began_anew_gives_what_it_has() {
        let before = buckets(&[(1.0, 10.0), (INF, 20.0)]);
        let grown = buckets(&[(1.0, 12.0), (INF, 25.0)]);
        assert_eq!(grown.since(&before), buckets(&[(1.0, 2.0), (INF, 5.0)]));
        let anew = buckets(&[(1.0, 3.0), (INF, 4.0)]);
        assert_eq!(anew.since(&before), anew);
    }

    proptest! {
        #[test]
        fn quantiles_rise_and_stay_within_the_bounds(counts in prop::collection::vec(0..100_u32, 1..8), a in 0.0..1.0_f64, b in 0.0..1.0_f64) {
            let mut sum = 0.0;
            let mut of = Buckets::default();
            for (bound, count) in counts.iter().enumerate() {
                sum += f64::from(*count);
                of.put(bound as f64 + 1.0, sum);
            }
            of.put(INF, sum);
            let (low, high) = (of.quantile(a.min(b)), of.quantile(a.max(b)));
            prop_assert_eq!(low.is_none(), sum == 0.0);
            prop_assert!(low <= high);
            prop_assert!(high.unwrap_or(0.0) <= counts.len() as f64);
        }
    }
}
