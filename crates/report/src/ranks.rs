//! Values by rank, for reports that define percentiles by rank instead of interpolation.
//!
//! Must not know the report. Invariant: exact while all values are kept, within the histogram's error after
//! that.

use loadline_metric::TimeTrend;

/// A distribution whose ranks are asked for.
pub(crate) struct Ranks<'a> {
    trend: &'a TimeTrend,
    sorted: Option<Vec<u64>>,
}

impl<'a> Ranks<'a> {
    pub(crate) fn of(trend: &'a TimeTrend) -> Ranks<'a> {
        let sorted = trend.raw_values().map(|values| {
            let mut values = values.to_vec();
            values.sort_unstable();
            values
        });
        Ranks { trend, sorted }
    }

    /// The value of this rank in nanoseconds, 0 being the smallest; ranks beyond the last give the
    /// last. `None` without a value.
    pub(crate) fn value(&self, rank: u64) -> Option<f64> {
        let last = self.trend.count().checked_sub(1)?;
        let rank = rank.min(last);
        if let Some(value) = self
            .sorted
            .as_ref()
            .and_then(|values| values.get(rank as usize))
        {
            return Some(*value as f64);
        }
        self.trend.quantile(if last == 0 {
            0.0
        } else {
            rank as f64 / last as f64
        })
    }
}
