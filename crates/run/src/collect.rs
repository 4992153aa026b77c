//! From the workers' reports to seconds: each second is told once all workers have reported it.
//!
//! Must not know the engine's insides. Invariants: what is told second by second sums to what all
//! workers reported; what a worker reports as it ends belongs to the second in which it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use loadline_engine::{INTERVAL, PlannedArrivals, ScriptSignal, WorkerReport};
use loadline_metric::TimeTrend;
use loadline_model::event::{AGENT_LOST_MARK, AGENT_REPLACED_MARK};
use loadline_model::heat::Heat;
use loadline_model::result::{Percentiles, Row};
use loadline_model::{ErrorClass, Nanos, Snapshot, TestPlan};

use crate::generator::{AskTotals, SelfWatch};
use crate::load::Load;

/// A second that some workers have reported.
#[derive(Default)]
struct Pending {
    seen: Snapshot,
    waiting: u64,
    /// Arrivals planned so far, by worker.
    planned: Vec<(u32, u64)>,
    busiest_worker: f64,
}

/// What lost workers would have offered: it stays a part of what was asked for.
struct Unoffered {
    /// To whom it is booked.
    worker: u32,
    arrivals: PlannedArrivals,
    /// What those who were lost with it had planned.
    by_others: u64,
    /// From here on it is others', who came in their place; `None`: nobody did.
    until: Option<Nanos>,
}

impl Unoffered {
    /// What was lost of what is due by an instant.
    fn by(&self, now: Nanos) -> u64 {
        let all = match self.until {
            Some(until) if until <= now => self.arrivals.before(until),
            _ => self.arrivals.by(now),
        };
        all.saturating_sub(self.by_others)
    }
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
    /// Seconds that some worker worked through: what came after is what is left of the run.
    whole: u64,
    /// Each worker's arrivals planned so far.
    planned_by_worker: Vec<u64>,
    /// The same as far as seconds were told.
    told_by_worker: Vec<u64>,
    unoffered: Vec<Unoffered>,
    /// The first of lost workers in whose place others may come.
    awaited: BTreeSet<u32>,
    watch: SelfWatch,
    pub(crate) never_started: u64,
    pub(crate) last_done: Nanos,
    pub(crate) failures: Vec<String>,
    /// Whose reports will not come and who came in their place, each with the kind of its mark; not told yet.
    pub(crate) of_agents: Vec<(&'static str, String)>,
    /// What scripts did to the test since somebody looked.
    pub(crate) signals: Vec<ScriptSignal>,
}

/// A second, told.
pub(crate) struct Told {
    pub(crate) row: Row,
    pub(crate) delta: Snapshot,
}

impl Collector {
    /// That of a run whose workers are ready.
    pub(crate) fn of(plan: &TestPlan, load: &dyn Load) -> Collector {
        let totals = load.generator_totals();
        Collector::new(load.workers(), plan.is_open(), plan.warm_up, totals)
    }

    fn new(workers: u32, open: bool, warm_up: Duration, ask: AskTotals) -> Collector {
        Collector {
            open,
            warm_up,
            pending: BTreeMap::new(),
            reached_by_worker: vec![0; workers as usize],
            told: 0,
            whole: 0,
            planned_by_worker: vec![0; workers as usize],
            told_by_worker: vec![0; workers as usize],
            unoffered: Vec::new(),
            awaited: BTreeSet::new(),
            watch: SelfWatch::begin(ask),
            never_started: 0,
            last_done: Nanos::ZERO,
            failures: Vec::new(),
            of_agents: Vec::new(),
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

    /// Whether every worker has ended, and no other is awaited.
    pub(crate) fn all_ended(&self) -> bool {
        let mut reached = self.reached_by_worker.iter();
        self.awaited.is_empty() && reached.all(|at| *at == u64::MAX)
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
                self.reached_by_worker[worker as usize] = interval + 1;
                self.whole = self.whole.max(interval + 1);
                let busy = share_of_interval(seen.worker_cpu_ns);
                let pending = self.add(worker, interval, *seen, planned);
                pending.waiting += waiting;
                pending.busiest_worker = pending.busiest_worker.max(busy);
            }
            WorkerReport::Ended {
                worker,
                interval,
                seen,
                planned,
                never_started,
                last_done,
            } => {
                self.reached_by_worker[worker as usize] = u64::MAX;
                self.never_started += never_started;
                self.last_done = self.last_done.max(last_done);
                self.add(worker, interval, *seen, planned);
            }
            WorkerReport::Lost {
                workers,
                why,
                begun,
                unended,
                planned,
                is_awaited,
            } => {
                if is_awaited {
                    self.awaited.insert(workers.start);
                }
                let mut seen = Snapshot::default();
                seen.counts.started = begun;
                seen.counts.lost = unended;
                self.lose(workers, why, seen, planned);
            }
            WorkerReport::Replaced {
                workers,
                lost,
                from,
                what,
            } => self.replace(workers, lost, from, what),
            WorkerReport::GivenUp { lost } => {
                self.awaited.remove(&lost);
            }
            WorkerReport::Script(signal) => self.signals.push(signal),
            WorkerReport::Failed { worker, why } => {
                self.reached_by_worker[worker as usize] = u64::MAX;
                self.failures.push(format!("worker {worker}: {why}"));
            }
        }
    }

    /// Takes workers for ended whose reports will not come.
    fn lose(
        &mut self,
        workers: Range<u32>,
        why: String,
        seen: Snapshot,
        planned: Option<PlannedArrivals>,
    ) {
        let first = workers.start as usize;
        let reached = self.reached_by_worker.get(first).copied();
        let interval = reached.filter(|at| *at != u64::MAX).unwrap_or(self.told);
        if let Some(planned) = self.planned_by_worker.get(first).copied() {
            self.add(workers.start, interval, seen, planned);
        }
        if let Some(arrivals) = planned {
            let others = workers.clone().skip(1);
            let by_others = others.filter_map(|other| self.planned_by_worker.get(other as usize));
            self.unoffered.push(Unoffered {
                worker: workers.start,
                arrivals,
                by_others: by_others.sum(),
                until: None,
            });
        }
        for worker in workers {
            if let Some(reached) = self.reached_by_worker.get_mut(worker as usize) {
                *reached = u64::MAX;
            }
        }
        self.of_agents.push((AGENT_LOST_MARK, why));
    }

    /// Others have come in the place of workers that were lost: from an instant on, what these would have offered is theirs.
    fn replace(&mut self, workers: Range<u32>, lost: u32, from: Nanos, what: String) {
        let all = self.reached_by_worker.len().max(workers.end as usize);
        self.reached_by_worker.resize(all, self.told);
        self.planned_by_worker.resize(all, 0);
        self.told_by_worker.resize(all, 0);
        let mut unoffered = self.unoffered.iter_mut();
        if let Some(unoffered) = unoffered.find(|unoffered| unoffered.worker == lost) {
            unoffered.until = Some(from);
        }
        self.awaited.remove(&lost);
        self.of_agents.push((AGENT_REPLACED_MARK, what));
    }

    /// Adds what a worker saw to a second, or to the next that is told where this one was.
    fn add(&mut self, worker: u32, interval: u64, seen: Snapshot, planned: u64) -> &mut Pending {
        self.planned_by_worker[worker as usize] = planned;
        let pending = self.pending.entry(interval.max(self.told)).or_default();
        pending.seen.merge(seen);
        pending.planned.push((worker, planned));
        pending
    }

    /// The next second that can be told, in order: every worker has reported it, or a later one, or
    /// has ended, and one worked through it. It covers several where all workers were held up.
    pub(crate) fn next_told(&mut self, active_vus: u64) -> Option<Told> {
        let reached = self.reached_by_worker.iter().min().copied()?;
        let entry = self.pending.first_entry()?;
        if *entry.key() >= reached.min(self.whole) {
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
        let mut rest = Pending::default();
        for (_, pending) in std::mem::take(&mut self.pending) {
            rest.seen.merge(pending.seen);
            rest.planned.extend(pending.planned);
        }
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

    /// Arrivals planned since the last second that was told; `None` in a closed model. Workers that say
    /// nothing of a second, because they skipped it or have ended, planned nothing new in it.
    fn offered(&mut self, planned: &[(u32, u64)]) -> Option<u64> {
        let mut offered = 0;
        for (worker, planned) in planned {
            let told = &mut self.told_by_worker[*worker as usize];
            offered += planned.saturating_sub(*told);
            *told = (*told).max(*planned);
        }
        self.open.then_some(offered)
    }

    /// Books what lost workers would have offered up to an instant.
    fn add_unoffered(&mut self, until: Nanos, pending: &mut Pending) {
        for lost in &self.unoffered {
            let known = &mut self.planned_by_worker[lost.worker as usize];
            *known = lost.by(until).max(*known);
            pending.planned.push((lost.worker, *known));
        }
    }

    fn tell(&mut self, at_ns: u64, span_ns: u64, mut pending: Pending, active_vus: u64) -> Told {
        self.add_unoffered(Nanos(at_ns + span_ns), &mut pending);
        let offered = self.offered(&pending.planned);
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
            failures: by_class(&all.failed),
            dropped: all.dropped,
            waiting: pending.waiting,
            active_vus,
            bytes_sent: all.bytes_sent,
            bytes_received: all.bytes_received,
            service_time_ns: Percentiles::of(&service_time),
            response_time_ns: Percentiles::of(&pending.seen.response_time),
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

fn by_class(failed: &[u64; ErrorClass::COUNT]) -> BTreeMap<ErrorClass, u64> {
    let counted = ErrorClass::ALL.iter().copied().zip(failed.iter().copied());
    counted.filter(|(_, count)| *count > 0).collect()
}

fn quantile(trend: &TimeTrend, q: f64) -> Option<u64> {
    trend.quantile(q).map(|value| value.round() as u64)
}

#[cfg(test)]
mod tests {
    use loadline_engine::platform::GeneratorTotals;

    use super::*;
    use crate::verdict::tests::builder::{Run, arrivals};

    fn collector(workers: u32, open: bool) -> Collector {
        Collector::new(
            workers,
            open,
            Duration::ZERO,
            Box::new(GeneratorTotals::default),
        )
    }

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

    fn ended_with(worker: u32, interval: u64, completed: u64, planned: u64) -> WorkerReport {
        let mut seen = Snapshot::default();
        seen.counts.completed = completed;
        WorkerReport::Ended {
            worker,
            interval,
            seen: Box::new(seen),
            planned,
            never_started: 0,
            last_done: Nanos::ZERO,
        }
    }

    fn ended(worker: u32) -> WorkerReport {
        ended_with(worker, 2, 0, 0)
    }

    /// What is told after each report: number, length and answers of the seconds.
    fn told(reports: Vec<WorkerReport>) -> Vec<(u64, u64, u64)> {
        let mut collector = collector(2, false);
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
    fn what_a_worker_saw_before_it_ended_belongs_to_the_second_in_which_it_ended() {
        let reports = vec![
            interval(0, 0, 1),
            interval(1, 0, 2),
            ended_with(0, 1, 4, 0),
            interval(1, 1, 8),
            ended_with(1, 2, 16, 0),
        ];
        let mut collector = collector(2, false);
        let mut told = Vec::new();
        for report in reports {
            collector.take(report);
            while let Some(Told { row, .. }) = collector.next_told(0) {
                told.push((row.at_ns, row.span_ns, row.completed));
            }
        }
        assert_eq!(told, [(0, S, 3), (S, S, 12)]);
        let rest = collector.tell_rest(Nanos(2 * S), Nanos(2 * S + 9));
        let rest = rest.expect("there was more").row;
        assert_eq!((rest.at_ns, rest.span_ns, rest.completed), (2 * S, 9, 16));
    }

    #[test]
    fn workers_that_end_within_a_second_leave_it_to_the_rest() {
        let reports = vec![interval(0, 0, 1), interval(1, 0, 2), ended(0), ended(1)];
        assert_eq!(told(reports), [(0, S, 3)]);
    }

    fn planned(worker: u32, interval: u64, planned: u64) -> WorkerReport {
        WorkerReport::Interval {
            worker,
            interval,
            seen: Box::default(),
            waiting: 0,
            planned,
        }
    }

    #[test]
    fn what_is_offered_in_a_second_is_what_all_workers_planned_in_it() {
        let reports = vec![
            planned(0, 0, 10),
            planned(1, 0, 20),
            planned(0, 1, 30),
            // The other skipped a second, and this one ends.
            ended_with(0, 2, 0, 35),
            planned(1, 2, 60),
            ended_with(1, 3, 0, 61),
        ];
        let mut collector = collector(2, true);
        let mut offered = Vec::new();
        for report in reports {
            collector.take(report);
            while let Some(Told { row, .. }) = collector.next_told(0) {
                offered.push(row.offered);
            }
        }
        let rest = collector.tell_rest(Nanos(3 * S), Nanos(3 * S + 1));
        offered.push(rest.expect("a moment").row.offered);
        assert_eq!(offered, [Some(30), Some(20), Some(45), Some(1)]);
        assert_eq!(collector.planned(), 96);
    }

    #[test]
    fn failures_are_told_by_class() {
        let mut seen = Snapshot::default();
        seen.counts.failed[ErrorClass::Timeout.index()] = 3;
        seen.warm_up.failed[ErrorClass::Timeout.index()] = 1;
        let mut collector = collector(1, false);
        collector.add(0, 0, seen, 0);
        let rest = collector.tell_rest(Nanos(0), Nanos(S)).expect("a second");
        assert_eq!(rest.row.failures, [(ErrorClass::Timeout, 4)].into());
        assert_eq!(rest.row.failed, 4);
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

    #[test]
    fn what_others_take_over_is_asked_for_once() {
        let plan = Run::new(arrivals(10, 6, 1), 6.0, 60, 1.0).plan;
        let mut collector = collector(1, true);
        let mut offered = Vec::new();
        let from = Nanos(3 * S);
        let arrivals = PlannedArrivals::of(&plan, Nanos::ZERO).expect("a plan");
        for report in [
            planned(0, 0, 10),
            WorkerReport::Lost {
                workers: 0..1,
                why: "gone".to_owned(),
                begun: 2,
                unended: 2,
                planned: Some(arrivals),
                is_awaited: true,
            },
            WorkerReport::Replaced {
                workers: 1..2,
                lost: 0,
                from,
                what: "there".to_owned(),
            },
            planned(1, 3, 10),
            planned(1, 4, 20),
            ended_with(1, 5, 0, 30),
        ] {
            collector.take(report);
            let awaited = collector.told == 1 && collector.reached_by_worker.len() == 1;
            assert!(!awaited || !collector.all_ended());
            while let Some(Told { row, .. }) = collector.next_told(0) {
                offered.push((row.span_ns / S, row.offered));
            }
        }
        let rest = collector.tell_rest(Nanos(5 * S), Nanos(6 * S));
        offered.push((1, rest.expect("a second").row.offered));
        // What is due on the very end of a second is told with it, of those that say nothing.
        let told = [(1, 10), (1, 11), (2, 19), (1, 10), (1, 10)];
        assert_eq!(offered, told.map(|(span, arrivals)| (span, Some(arrivals))));
        assert!(collector.all_ended());
        assert_eq!(collector.planned(), 60);
    }
}
