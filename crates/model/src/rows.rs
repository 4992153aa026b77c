//! The rows of a run, second by second, limited to a number that does not depend on its length.
//!
//! Must not know where rows come from. Invariants: whatever is merged, counts and spans still add up to the
//! whole; the rest of a run after its last whole second is a separate row only if it is long enough for a
//! meaningful rate.

use crate::result::{Percentiles, Row};

/// Maximum rows; beyond this, two are merged into one (an hour of seconds).
pub const ROWS_MAX: usize = 3_600;

/// A last row shorter than this fraction of the previous one is merged into it.
const TAIL_PART: u64 = 10;

/// The rows of a run; pairs are merged when there are too many.
#[derive(Debug)]
pub struct Rows {
    rows: Vec<Row>,
    /// Maximum rows, an even number.
    most: usize,
    /// Seconds per row.
    per_row: u32,
    /// The incomplete row, and its seconds so far.
    open: Option<(Row, u32)>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows::keeping(ROWS_MAX)
    }
}

impl Rows {
    /// Keeps at most this many rows, rounded up to an even number; a result has [`ROWS_MAX`].
    #[must_use]
    pub fn keeping(most: usize) -> Rows {
        Rows {
            rows: Vec::new(),
            most: most.max(2).next_multiple_of(2),
            per_row: 1,
            open: None,
        }
    }

    /// Adds the next second, or the rest of the run after the last whole second.
    pub fn add(&mut self, second: Row) {
        if self.open.is_none()
            && let Some(last) = self.rows.last_mut()
            && second.span_ns < last.span_ns / TAIL_PART
        {
            *last = with_tail(last, &second);
            return;
        }
        let (row, seconds) = match self.open.take() {
            None => (second, 1),
            Some((row, seconds)) => (joined(&row, &second), seconds + 1),
        };
        if seconds < self.per_row {
            self.open = Some((row, seconds));
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= self.most {
            halve(&mut self.rows);
            self.per_row *= 2;
        }
    }

    /// The complete rows; fewer than before if pairs were merged since.
    #[must_use]
    pub fn whole(&self) -> &[Row] {
        &self.rows
    }

    /// All rows; the last one may be shorter than the others.
    #[must_use]
    pub fn finish(mut self) -> Vec<Row> {
        self.rows.extend(self.open.take().map(|(row, _)| row));
        self.rows
    }
}

/// Merges each pair of rows.
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

/// Merges two rows. Counts are added; states are those of the later row; percentiles cannot be merged, so the
/// larger one stays.
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
    for (class, count) in &first.failures {
        *row.failures.entry(*class).or_default() += count;
    }
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
    row.generator.stalled_ns = a.stalled_ns.max(b.stalled_ns);
    row.generator.stalls_ns = a.stalls_ns + b.stalls_ns;
    row
}

/// Merges a row with the short tail after it, in which workers finished what was running. Only counts and spans
/// of the tail are added: states and percentiles remain those of the row, unless most requests ended in the
/// tail.
fn with_tail(row: &Row, tail: &Row) -> Row {
    let ended = |row: &Row| row.completed + row.failed;
    let usual = if ended(tail) > ended(row) { tail } else { row };
    Row {
        active_vus: row.active_vus,
        service_time_ns: usual.service_time_ns,
        response_time_ns: usual.response_time_ns,
        lag_p99_ns: usual.lag_p99_ns,
        ..joined(row, tail)
    }
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
            p95: a.p95.max(b.p95),
            p99: a.p99.max(b.p99),
        }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use loadline_metric::TimeTrend;

    use super::*;
    use crate::ErrorClass;
    use crate::heat::Heat;
    use crate::result::GeneratorUse;

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
                failed: 2,
                failures: [(ErrorClass::Timeout, 2)].into(),
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
        let timeouts = rows.iter().map(|row| row.failures[&ErrorClass::Timeout]);
        assert_eq!(timeouts.sum::<u64>(), 2 * seconds);
    }

    fn row(at_ns: u64, span_ns: u64, completed: u64) -> Row {
        let took = Percentiles {
            p50: span_ns,
            p90: span_ns,
            p95: Some(span_ns),
            p99: span_ns,
        };
        Row {
            at_ns,
            span_ns,
            completed,
            active_vus: u64::from(span_ns == 100),
            service_time_ns: Some(took),
            ..Row::default()
        }
    }

    /// Start, length and responses of the rows that result from these seconds.
    fn told(of: &[Row]) -> Vec<(u64, u64, u64)> {
        let mut rows = Rows::default();
        of.iter().for_each(|row| rows.add(row.clone()));
        let whole = rows.whole().to_vec();
        assert_eq!(whole, rows.finish(), "who looks early sees the same");
        whole
            .iter()
            .map(|row| (row.at_ns, row.span_ns, row.completed))
            .collect()
    }

    #[test]
    fn two_rows_are_one_with_all_that_either_saw() {
        let row = |seed: u64| Row {
            at_ns: seed,
            span_ns: seed * 10,
            offered: Some(seed + 1),
            started: seed + 2,
            completed: seed + 3,
            good: seed + 4,
            failed: seed + 5,
            dropped: seed + 6,
            bytes_sent: seed + 7,
            bytes_received: seed + 8,
            lag_p99_ns: Some(seed + 9),
            warm_up: seed == 100,
            generator: GeneratorUse {
                cpu_cores: seed as f64,
                busiest_worker: seed as f64 / 1e3,
                rss_bytes: seed + 10,
                throttled_ns: Some(seed + 11),
                run_queue_ns: seed + 12,
                stalled_ns: seed + 13,
                stalls_ns: seed + 14,
            },
            ..Row::default()
        };
        let (early, late) = (row(100), row(300));
        // The larger values come first or last: neither order may lose them.
        for (first, second) in [(&early, &late), (&late, &early)] {
            let both = joined(first, second);
            assert_eq!((both.at_ns, both.span_ns), (first.at_ns, 4_000));
            assert_eq!(both.offered, Some(402));
            assert_eq!(
                [both.started, both.completed, both.good, both.failed],
                [404, 406, 408, 410]
            );
            assert_eq!(
                [both.dropped, both.bytes_sent, both.bytes_received],
                [412, 414, 416]
            );
            assert_eq!(both.lag_p99_ns, Some(309));
            assert!(!both.warm_up, "a part of it counts");
            let of = both.generator;
            assert_eq!(of.cpu_cores, (100.0 * 1_000.0 + 300.0 * 3_000.0) / 4_000.0);
            assert_eq!((of.busiest_worker, of.rss_bytes), (0.3, 310));
            assert_eq!((of.throttled_ns, of.run_queue_ns), (Some(422), 424));
            assert_eq!((of.stalled_ns, of.stalls_ns), (313, 428));
        }
        assert!(joined(&early, &early).warm_up);
        assert_eq!(joined(&early, &Row::default()).offered, Some(101));
    }

    #[test]
    fn a_moment_at_the_end_is_no_row_of_its_own() {
        assert_eq!(told(&[row(0, 100, 7), row(100, 9, 5)]), [(0, 109, 12)]);
        let long_enough = [row(0, 100, 7), row(100, 10, 5)];
        assert_eq!(told(&long_enough), [(0, 100, 7), (100, 10, 5)]);
        assert_eq!(told(&[row(0, 1, 7)]), [(0, 1, 7)]);
    }

    #[test]
    fn a_moment_at_the_end_does_not_say_what_was_usual() {
        let usual = with_tail(&row(0, 100, 7), &row(100, 9, 5));
        assert_eq!(usual.service_time_ns.map(|of| of.p50), Some(100));
        assert_eq!(usual.active_vus, 1);
        let most_at_the_end = with_tail(&row(0, 100, 4), &row(100, 9, 5));
        assert_eq!(most_at_the_end.service_time_ns.map(|of| of.p50), Some(9));
    }
}
