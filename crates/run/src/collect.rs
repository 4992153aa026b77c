//! From the workers' reports to seconds: each second is told once all workers have reported it.
//!
//! Must not know the engine's insides. Invariant: what is told second by second sums to what all
//! workers reported.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_engine::{INTERVAL, WorkerReport};
use loadline_metric::TimeTrend;
use loadline_model::result::{GeneratorUse, Percentiles, Row};
use loadline_model::{Nanos, Snapshot};

use crate::generator::SelfWatch;

/// Rows kept; beyond this, two become one (engineering limit: an hour of seconds).
const ROWS_MAX: usize = 3_600;

/// A second that some workers have reported.
#[derive(Default)]
struct Pending {
    reported: u32,
    seen: Snapshot,
    waiting: u64,
    planned: u64,
    busiest_worker: f64,
}

/// Collects the workers' reports.
pub(crate) struct Collector {
    workers: u32,
    ended: u32,
    open: bool,
    warm_up: Duration,
    pending: BTreeMap<u64, Pending>,
    /// Each worker's arrivals planned so far.
    planned_by_worker: Vec<u64>,
    planned_told: u64,
    last: Pending,
    watch: SelfWatch,
    pub(crate) never_started: u64,
    pub(crate) last_done: Nanos,
    pub(crate) failures: Vec<String>,
}

/// A second, told.
pub(crate) struct Told {
    pub(crate) row: Row,
    pub(crate) delta: Snapshot,
}

impl Collector {
    pub(crate) fn new(workers: u32, open: bool, warm_up: Duration) -> Collector {
        Collector {
            workers,
            ended: 0,
            open,
            warm_up,
            pending: BTreeMap::new(),
            planned_by_worker: vec![0; workers as usize],
            planned_told: 0,
            last: Pending::default(),
            watch: SelfWatch::begin(),
            never_started: 0,
            last_done: Nanos::ZERO,
            failures: Vec::new(),
        }
    }

    pub(crate) fn watch(&self) -> &SelfWatch {
        &self.watch
    }

    /// Arrivals planned over the run, as far as the workers have told.
    pub(crate) fn planned(&self) -> u64 {
        self.planned_by_worker.iter().sum()
    }

    /// Whether every worker has ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.ended >= self.workers
    }

    /// Takes a report.
    pub(crate) fn take(&mut self, report: WorkerReport) {
        match report {
            WorkerReport::Interval {
                worker,
                interval,
                seen,
                waiting,
                planned,
            } => {
                self.planned_by_worker[worker as usize] = planned;
                let busy = share_of_interval(seen.worker_cpu_ns);
                let pending = self.pending.entry(interval).or_default();
                pending.reported += 1;
                pending.seen.merge(*seen);
                pending.waiting += waiting;
                pending.planned += planned;
                pending.busiest_worker = pending.busiest_worker.max(busy);
            }
            WorkerReport::Ended {
                worker,
                seen,
                planned,
                never_started,
                last_done,
            } => {
                self.planned_by_worker[worker as usize] = planned;
                self.ended += 1;
                self.never_started += never_started;
                self.last_done = self.last_done.max(last_done);
                self.last.seen.merge(*seen);
            }
            WorkerReport::Failed { worker, why } => {
                self.ended += 1;
                self.failures.push(format!("worker {worker}: {why}"));
            }
        }
    }

    /// The next second that can be told, in order.
    pub(crate) fn next_told(&mut self, active_vus: u64) -> Option<Told> {
        let entry = self.pending.first_entry()?;
        if entry.get().reported + self.ended < self.workers {
            return None;
        }
        let (interval, pending) = entry.remove_entry();
        let at = Nanos::from(INTERVAL).0.saturating_mul(interval);
        Some(self.tell(at, Nanos::from(INTERVAL).0, pending, active_vus))
    }

    /// What came after the last whole second, up to `until`; `None` when there is nothing.
    pub(crate) fn tell_rest(&mut self, told_until: Nanos, until: Nanos) -> Option<Told> {
        let mut rest = std::mem::take(&mut self.last);
        for (_, pending) in std::mem::take(&mut self.pending) {
            rest.seen.merge(pending.seen);
        }
        rest.planned = self.planned();
        let span = until.since(told_until);
        let nothing = rest.seen.counts == Default::default()
            && rest.seen.warm_up == Default::default()
            && rest.seen.connections == Default::default();
        if nothing && span == 0 {
            return None;
        }
        Some(self.tell(told_until.0, span.max(1), rest, 0))
    }

    fn tell(&mut self, at_ns: u64, span_ns: u64, pending: Pending, active_vus: u64) -> Told {
        let planned = pending.planned.max(self.planned_told);
        let offered = self.open.then(|| planned - self.planned_told);
        self.planned_told = planned;
        let mut generator = self.watch.look(Duration::from_nanos(span_ns));
        generator.busiest_worker = pending.busiest_worker;
        generator.run_queue_ns = pending.seen.run_queue_ns;
        let mut all = pending.seen.counts.clone();
        all.merge(&pending.seen.warm_up);
        let row = Row {
            at_ns,
            span_ns,
            offered,
            started: all.started,
            completed: all.completed,
            good: all.good,
            failed: all.failed_total(),
            dropped: all.dropped,
            waiting: pending.waiting,
            active_vus,
            bytes_sent: all.bytes_sent,
            bytes_received: all.bytes_received,
            service_time_ns: percentiles(&pending.seen.service_time()),
            response_time_ns: percentiles(&pending.seen.response_time),
            lag_p99_ns: quantile(&pending.seen.schedule_lag, 0.99),
            generator,
            warm_up: at_ns < Nanos::from(self.warm_up).0,
        };
        Told {
            row,
            delta: pending.seen,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for showing")]
fn share_of_interval(cpu_ns: u64) -> f64 {
    cpu_ns as f64 / INTERVAL.as_nanos() as f64
}

fn quantile(trend: &TimeTrend, q: f64) -> Option<u64> {
    trend.quantile(q).map(|value| value.round() as u64)
}

fn percentiles(trend: &TimeTrend) -> Option<Percentiles> {
    Some(Percentiles {
        p50: quantile(trend, 0.5)?,
        p90: quantile(trend, 0.9)?,
        p99: quantile(trend, 0.99)?,
    })
}

/// The rows of a run, halved in number when they become too many.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// Seconds that one row covers.
    per_row: u32,
    /// The row in the making, and how many seconds it has.
    open: Option<(Row, u32)>,
}

impl Rows {
    pub(crate) fn new() -> Rows {
        Rows {
            rows: Vec::new(),
            per_row: 1,
            open: None,
        }
    }

    pub(crate) fn add(&mut self, second: Row) {
        let (row, seconds) = match self.open.take() {
            None => (second, 1),
            Some((row, seconds)) => (join(row, second), seconds + 1),
        };
        if seconds < self.per_row {
            self.open = Some((row, seconds));
            return;
        }
        self.rows.push(row);
        if self.rows.len() >= ROWS_MAX {
            self.halve();
        }
    }

    pub(crate) fn finish(mut self) -> Vec<Row> {
        self.rows.extend(self.open.take().map(|(row, _)| row));
        self.rows
    }

    fn halve(&mut self) {
        let mut pairs = std::mem::take(&mut self.rows).into_iter();
        while let Some(first) = pairs.next() {
            self.rows.push(match pairs.next() {
                Some(second) => join(first, second),
                None => first,
            });
        }
        self.per_row *= 2;
    }
}

/// Two rows as one: counts add up, levels are the later's, percentiles the worse of the two, since
/// a spike must not be averaged away.
fn join(first: Row, second: Row) -> Row {
    let add = |a: Option<u64>, b: Option<u64>| Some(a.unwrap_or(0) + b?);
    Row {
        at_ns: first.at_ns,
        span_ns: first.span_ns + second.span_ns,
        offered: add(first.offered, second.offered),
        started: first.started + second.started,
        completed: first.completed + second.completed,
        good: first.good + second.good,
        failed: first.failed + second.failed,
        dropped: first.dropped + second.dropped,
        waiting: second.waiting,
        active_vus: second.active_vus,
        bytes_sent: first.bytes_sent + second.bytes_sent,
        bytes_received: first.bytes_received + second.bytes_received,
        service_time_ns: worse(first.service_time_ns, second.service_time_ns),
        response_time_ns: worse(first.response_time_ns, second.response_time_ns),
        lag_p99_ns: first.lag_p99_ns.max(second.lag_p99_ns),
        generator: join_use(&first, &second),
        warm_up: first.warm_up,
    }
}

fn worse(a: Option<Percentiles>, b: Option<Percentiles>) -> Option<Percentiles> {
    let (Some(x), Some(y)) = (a, b) else {
        return a.or(b);
    };
    Some(Percentiles {
        p50: x.p50.max(y.p50),
        p90: x.p90.max(y.p90),
        p99: x.p99.max(y.p99),
    })
}

#[expect(clippy::cast_precision_loss, reason = "a weighted mean for showing")]
fn join_use(first: &Row, second: &Row) -> GeneratorUse {
    let (a, b) = (first.generator, second.generator);
    let (wa, wb) = (first.span_ns as f64, second.span_ns as f64);
    GeneratorUse {
        cpu_cores: (a.cpu_cores * wa + b.cpu_cores * wb) / (wa + wb).max(1.0),
        busiest_worker: a.busiest_worker.max(b.busiest_worker),
        rss_bytes: a.rss_bytes.max(b.rss_bytes),
        throttled_ns: a
            .throttled_ns
            .map(|t| t + b.throttled_ns.unwrap_or(0))
            .or(b.throttled_ns),
        run_queue_ns: a.run_queue_ns + b.run_queue_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_halved_and_nothing_is_lost() {
        let mut rows = Rows::new();
        let seconds = ROWS_MAX as u64 * 2 + 1;
        for second in 0..seconds {
            let at_ns = second * 1_000_000_000;
            rows.add(Row {
                at_ns,
                span_ns: 1_000_000_000,
                completed: 3,
                ..Row::default()
            });
        }
        let rows = rows.finish();
        assert!(rows.len() < ROWS_MAX);
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
