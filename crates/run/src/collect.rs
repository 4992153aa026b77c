//! From the workers' reports to seconds: each second is told once all workers have reported it.
//!
//! Must not know the engine's insides. Invariant: what is told second by second sums to what all
//! workers reported.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_engine::{INTERVAL, WorkerReport};
use loadline_metric::TimeTrend;
use loadline_model::result::{Percentiles, Row};
use loadline_model::{Nanos, Snapshot};

use crate::generator::SelfWatch;

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
