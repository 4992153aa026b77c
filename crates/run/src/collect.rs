//! From the workers' reports to seconds: each second is told once all workers have reported it.
//!
//! Must not know the engine's insides. Invariant: what is told second by second sums to what all
//! workers reported.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_engine::{INTERVAL, ScriptSignal, WorkerReport};
use loadline_metric::TimeTrend;
use loadline_model::heat::Heat;
use loadline_model::result::{Percentiles, Row};
use loadline_model::{Nanos, Snapshot};

use crate::generator::SelfWatch;

/// A second that some workers have reported.
#[derive(Default)]
struct Pending {
    seen: Snapshot,
    waiting: u64,
    planned: u64,
    busiest_worker: f64,
}

/// Collects the workers' reports.
pub(crate) struct Collector {
    open: bool,
    warm_up: Duration,
    pending: BTreeMap<u64, Pending>,
    /// How many seconds each worker has reported; `u64::MAX` once it has ended.
    reached_by_worker: Vec<u64>,
    /// Seconds told: the next one begins here.
    told: u64,
    /// Each worker's arrivals planned so far.
    planned_by_worker: Vec<u64>,
    planned_told: u64,
    last: Pending,
    watch: SelfWatch,
    pub(crate) never_started: u64,
    pub(crate) last_done: Nanos,
    pub(crate) failures: Vec<String>,
    /// What scripts did to the test since somebody looked.
    pub(crate) signals: Vec<ScriptSignal>,
}

/// A second, told.
pub(crate) struct Told {
    pub(crate) row: Row,
    pub(crate) delta: Snapshot,
}

impl Collector {
    pub(crate) fn new(workers: u32, open: bool, warm_up: Duration) -> Collector {
        Collector {
            open,
            warm_up,
            pending: BTreeMap::new(),
            reached_by_worker: vec![0; workers as usize],
            told: 0,
            planned_by_worker: vec![0; workers as usize],
            planned_told: 0,
            last: Pending::default(),
            watch: SelfWatch::begin(),
            never_started: 0,
            last_done: Nanos::ZERO,
            failures: Vec::new(),
            signals: Vec::new(),
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
        self.reached_by_worker.iter().all(|at| *at == u64::MAX)
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
                self.reached_by_worker[worker as usize] = interval + 1;
                let busy = share_of_interval(seen.worker_cpu_ns);
                let pending = self.pending.entry(interval).or_default();
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
                self.reached_by_worker[worker as usize] = u64::MAX;
                self.never_started += never_started;
                self.last_done = self.last_done.max(last_done);
                self.last.seen.merge(*seen);
            }
            WorkerReport::Script(signal) => self.signals.push(signal),
            WorkerReport::Failed { worker, why } => {
                self.reached_by_worker[worker as usize] = u64::MAX;
                self.failures.push(format!("worker {worker}: {why}"));
            }
        }
    }

    /// The next second that can be told, in order: every worker has reported it, or a later one, or
    /// has ended. It covers several where all workers were held up.
    pub(crate) fn next_told(&mut self, active_vus: u64) -> Option<Told> {
        let reached = self.reached_by_worker.iter().min().copied()?;
        let entry = self.pending.first_entry()?;
        if *entry.key() >= reached {
            return None;
        }
        let (interval, pending) = entry.remove_entry();
        let seconds = (interval + 1).saturating_sub(self.told);
        let length = Nanos::from(INTERVAL).0;
        let at = length.saturating_mul(self.told);
        self.told = interval + 1;
        Some(self.tell(at, length.saturating_mul(seconds), pending, active_vus))
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
            && rest.seen.connections == Default::default()
            && rest.seen.script.is_none();
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
        let service_time = pending.seen.service_time();
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
            service_time_ns: percentiles(&service_time),
            response_time_ns: percentiles(&pending.seen.response_time),
            lag_p99_ns: quantile(&pending.seen.schedule_lag, 0.99),
            heat: Heat::of(&service_time),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(worker: u32, interval: u64, completed: u64) -> WorkerReport {
        let mut seen = Snapshot::default();
        seen.counts.completed = completed;
        WorkerReport::Interval {
            worker,
            interval,
            seen: Box::new(seen),
            waiting: 0,
            planned: 0,
        }
    }

    fn ended(worker: u32) -> WorkerReport {
        WorkerReport::Ended {
            worker,
            seen: Box::default(),
            planned: 0,
            never_started: 0,
            last_done: Nanos::ZERO,
        }
    }

    /// What is told after each report: number, length and answers of the seconds.
    fn told(reports: Vec<WorkerReport>) -> Vec<(u64, u64, u64)> {
        let mut collector = Collector::new(2, false, Duration::ZERO);
        let mut told = Vec::new();
        for report in reports {
            collector.take(report);
            while let Some(Told { row, .. }) = collector.next_told(0) {
                told.push((row.at_ns, row.span_ns, row.completed));
            }
        }
        told
    }

    const S: u64 = Nanos::PER_SECOND;

    #[test]
    fn a_worker_that_has_ended_does_not_stand_for_one_that_is_late() {
        let reports = vec![
            interval(0, 0, 1),
            interval(1, 0, 2),
            interval(0, 1, 4),
            ended(0),
            interval(1, 1, 8),
            ended(1),
        ];
        assert_eq!(told(reports), [(0, S, 3), (S, S, 12)]);
    }

    #[test]
    fn a_worker_that_skipped_seconds_holds_up_nothing_and_none_is_told_twice() {
        let reports = vec![
            interval(0, 0, 1),
            interval(0, 1, 1),
            interval(1, 2, 5),
            interval(0, 2, 1),
        ];
        assert_eq!(told(reports), [(0, S, 1), (S, S, 1), (2 * S, S, 6)]);
        let both_late = vec![interval(0, 2, 1), interval(1, 2, 1)];
        assert_eq!(told(both_late), [(0, 3 * S, 2)]);
    }
}
