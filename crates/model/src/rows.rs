//! The rows of a run, second by second, kept to a number that does not grow with its length.
//!
//! Must not know where rows come from. Invariant: whatever is joined, counts and spans still add up
//! to the whole.

use crate::result::{Percentiles, Row};

/// Rows kept; beyond this, two become one (an hour of seconds).
pub const ROWS_MAX: usize = 3_600;

/// The rows of a run, halved in number when they become too many.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Row>,
    /// Seconds that one row covers.
    per_row: u32,
    /// The row in the making, and how many seconds it has.
    open: Option<(Row, u32)>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows {
            rows: Vec::new(),
            per_row: 1,
            open: None,
        }
    }
}

impl Rows {
    /// Adds the next second.
    pub fn add(&mut self, second: Row) {
        let (row, seconds) = match self.open.take() {
            None => (second, 1),
            Some((row, seconds)) => (joined(&row, &second), seconds + 1),
        };
        if seconds < self.per_row {
            self.open = Some((row, seconds));
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= ROWS_MAX {
            halve(&mut self.rows);
            self.per_row *= 2;
        }
    }

    /// The rows that are whole; fewer than before where they were halved since.
    #[must_use]
    pub fn whole(&self) -> &[Row] {
        &self.rows
    }

    /// The rows so far, the last one perhaps shorter than the others.
    #[must_use]
    pub fn finish(mut self) -> Vec<Row> {
        self.rows.extend(self.open.take().map(|(row, _)| row));
        self.rows
    }
}

/// Makes one row of each two.
pub fn halve(rows: &mut Vec<Row>) {
    let halved = rows
        .chunks(2)
        .filter_map(|pair| match pair {
            [first, second] => Some(joined(first, second)),
            [single] => Some(single.clone()),
            _ => None,
        })
        .collect();
    *rows = halved;
}

/// Two rows as one. Counts add up; states are those of the later row; percentiles cannot be
/// joined, so the larger stands.
#[must_use]
pub fn joined(first: &Row, second: &Row) -> Row {
    let mut row = second.clone();
    row.at_ns = first.at_ns;
    row.span_ns += first.span_ns;
    row.offered = sum_of(first.offered, second.offered);
    row.started += first.started;
    row.completed += first.completed;
    row.good += first.good;
    row.failed += first.failed;
    row.dropped += first.dropped;
    row.bytes_sent += first.bytes_sent;
    row.bytes_received += first.bytes_received;
    row.service_time_ns = larger(first.service_time_ns, second.service_time_ns);
    row.response_time_ns = larger(first.response_time_ns, second.response_time_ns);
    row.lag_p99_ns = first.lag_p99_ns.max(second.lag_p99_ns);
    row.heat = first.heat.clone();
    row.heat.merge(&second.heat);
    row.warm_up = first.warm_up && second.warm_up;
    let (a, b) = (&first.generator, &second.generator);
    let core_ns = a.cpu_cores * first.span_ns as f64 + b.cpu_cores * second.span_ns as f64;
    row.generator.cpu_cores = core_ns / (row.span_ns.max(1)) as f64;
    row.generator.busiest_worker = a.busiest_worker.max(b.busiest_worker);
    row.generator.rss_bytes = a.rss_bytes.max(b.rss_bytes);
    row.generator.throttled_ns = sum_of(a.throttled_ns, b.throttled_ns);
    row.generator.run_queue_ns = a.run_queue_ns + b.run_queue_ns;
    row
}

fn sum_of(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (one, other) => one.or(other),
    }
}

fn larger(a: Option<Percentiles>, b: Option<Percentiles>) -> Option<Percentiles> {
    match (a, b) {
        (Some(a), Some(b)) => Some(Percentiles {
            p50: a.p50.max(b.p50),
            p90: a.p90.max(b.p90),
            p99: a.p99.max(b.p99),
        }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::TimeTrend;

    use super::*;
    use crate::heat::Heat;

    #[test]
    fn rows_are_halved_and_nothing_is_lost() {
        let mut times = TimeTrend::new();
        times.record(1_000);
        let heat = Heat::of(&times);
        let mut rows = Rows::default();
        let seconds = ROWS_MAX as u64 * 2 + 1;
        for second in 0..seconds {
            let at_ns = second * 1_000_000_000;
            rows.add(Row {
                at_ns,
                span_ns: 1_000_000_000,
                completed: 3,
                heat: heat.clone(),
                ..Row::default()
            });
        }
        assert!(rows.whole().len() < ROWS_MAX);
        let rows = rows.finish();
        assert!(rows.len() < ROWS_MAX);
        let hot = rows.iter().flat_map(|row| row.heat.bands());
        assert_eq!(hot.map(|(_, count)| count).sum::<u64>(), seconds);
        assert_eq!(
            rows.iter().map(|row| row.completed).sum::<u64>(),
            3 * seconds
        );
        assert_eq!(
            rows.iter().map(|row| row.span_ns).sum::<u64>(),
            seconds * 1_000_000_000
        );
    }
}
