//! Turns the workers' reports into seconds: each second is emitted once all workers have reported it.
//!
//! Must not know the engine's internals. Invariants: the sum of the emitted seconds equals the sum of all
//! workers' reports; the last report of a worker belongs to the second in which it ended.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use loadline_engine::{INTERVAL, PlannedArrivals, ScriptSignal, WorkerReport};
use loadline_metric::TimeTrend;
use loadline_model::event::{
    AGENT_LOST_MARK, AGENT_NOT_REPLACED_MARK, AGENT_REPLACED_MARK, AGENT_RETURNED_MARK,
    COORDINATOR_REPLACED_MARK,
};
use loadline_model::heat::Heat;
use loadline_model::result::{Percentiles, Row};
use loadline_model::{ErrorClass, Nanos, Snapshot, TestPlan};

use crate::generator::{AskTotals, SelfWatch};
use crate::load::{Load, UnderWay};
use crate::trouble::trouble_of;

/// A second that some workers have reported.
#[derive(Default)]
struct Pending {
    seen: Snapshot,
    waiting: u64,
    /// Arrivals planned so far, by worker.
    planned: Vec<(u32, u64)>,
    busiest_worker: f64,
}

/// Arrivals that lost workers would have offered: they stay part of the planned load.
struct Unoffered {
    /// The worker to which they are booked.
    worker: u32,
    arrivals: PlannedArrivals,
    /// Workers that were lost together with it: their own planned arrivals are subtracted.
    others: Range<u32>,
    /// From this time on, the arrivals belong to the replacement; `None`: there is none.
    until: Option<Nanos>,
}

impl Unoffered {
    /// Lost arrivals among those due until `now`, minus what the others had planned.
    fn by(&self, now: Nanos, by_others: u64) -> u64 {
        let all = match self.until {
            Some(until) if until <= now => self.arrivals.before(until),
            _ => self.arrivals.by(now),
        };
        all.saturating_sub(by_others)
    }
}

/// Collects the workers' reports.
pub(crate) struct Collector {
    open: bool,
    warm_up: Duration,
    pending: BTreeMap<u64, Pending>,
    /// How many seconds each worker has reported; `u64::MAX` once it has ended.
    reached_by_worker: Vec<u64>,
    /// Number of seconds emitted: the next one starts here.
    told: u64,
    /// Number of seconds in which some worker worked to the end; later data is the rest of the run.
    whole: u64,
    /// Each worker's arrivals planned so far.
    planned_by_worker: Vec<u64>,
    /// The same, up to the emitted seconds.
    told_by_worker: Vec<u64>,
    unoffered: Vec<Unoffered>,
    /// The first workers of lost ranges that may be replaced.
    awaited: BTreeSet<u32>,
    /// The first workers of lost ranges that may still report.
    unsettled: BTreeSet<u32>,
    /// Workers that are currently unreachable.
    away: BTreeSet<u32>,
    /// Seconds before this one are only known as a whole.
    whole_from: u64,
    watch: SelfWatch,
    pub(crate) never_started: u64,
    /// Arrivals that were due while the agent that should have started them was lost.
    pub(crate) due_while_away: Option<u64>,
    pub(crate) last_done: Nanos,
    pub(crate) failures: Vec<String>,
    /// The first panic of a worker.
    pub(crate) defect: Option<String>,
    /// Lost and replaced agents that have not been reported yet, each with the kind of its mark.
    pub(crate) of_agents: Vec<(&'static str, String)>,
    /// Actions of scripts on the test since the last call.
    pub(crate) signals: Vec<ScriptSignal>,
}

/// An emitted second.
pub(crate) struct Told {
    pub(crate) row: Row,
    pub(crate) delta: Snapshot,
}

impl Collector {
    /// The collector of a run whose workers are ready, or already running.
    pub(crate) fn of(plan: &TestPlan, load: &dyn Load, under_way: Option<&UnderWay>) -> Collector {
        let totals = load.generator_totals();
        let mut collector = Collector::new(load.workers(), plan.is_open(), plan.warm_up, totals);
        if let Some(under_way) = under_way {
            collector.whole_from = under_way.seconds_in_one;
            let went_on = (COORDINATOR_REPLACED_MARK, under_way.what.clone());
            collector.of_agents.push(went_on);
        }
        collector
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
            unsettled: BTreeSet::new(),
            away: BTreeSet::new(),
            whole_from: 0,
            watch: SelfWatch::begin(ask),
            never_started: 0,
            due_while_away: None,
            last_done: Nanos::ZERO,
            failures: Vec::new(),
            defect: None,
            of_agents: Vec::new(),
            signals: Vec::new(),
        }
    }

    pub(crate) fn watch(&self) -> &SelfWatch {
        &self.watch
    }

    /// Arrivals planned over the run, as far as the workers have reported.
    pub(crate) fn planned(&self) -> u64 {
        self.planned_by_worker.iter().sum()
    }

    /// Whether every worker has ended, and no other is expected.
    pub(crate) fn all_ended(&self) -> bool {
        let mut reached = self.reached_by_worker.iter();
        let nobody_comes = self.awaited.is_empty() && self.unsettled.is_empty();
        nobody_comes && reached.all(|at| *at == u64::MAX)
    }

    /// Workers that have not reported their end.
    pub(crate) fn silent(&self) -> usize {
        let reached = self.reached_by_worker.iter();
        reached.filter(|at| **at != u64::MAX).count()
    }

    /// Books requests that were begun since the last second was told, as far as no report has them.
    pub(crate) fn book_unreported(&mut self, begun: u64) {
        let seen = self.pending.values().map(|pending| &pending.seen);
        let reported: u64 = seen.map(|seen| seen.whole().started).sum();
        let unreported = begun.saturating_sub(reported);
        if unreported > 0 {
            let pending = self.pending.entry(self.told).or_default();
            pending.seen.merge(lost_requests(unreported, unreported));
        }
    }

    /// Takes the script signals raised while virtual users were created; returns whether one ends the test
    /// before it starts.
    pub(crate) fn take_early(&mut self, load: &dyn Load) -> bool {
        let reports = load.reports().try_iter();
        reports.for_each(|report| self.take(report));
        let mut troubles = self.signals.iter().map(trouble_of);
        troubles.any(|trouble| trouble.ends_test())
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
                // Lost workers may still report, but nobody waits for it.
                let reached = &mut self.reached_by_worker[worker as usize];
                if *reached != u64::MAX {
                    *reached = interval + 1;
                }
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
            WorkerReport::Script(signal) => self.signals.push(signal),
            WorkerReport::Failed {
                worker,
                why,
                is_defect,
            } => {
                self.reached_by_worker[worker as usize] = u64::MAX;
                let why = format!("worker {worker}: {why}");
                match is_defect {
                    true => drop(self.defect.get_or_insert(why)),
                    false => self.failures.push(why),
                }
            }
            of_agents => self.take_of_agents(of_agents),
        }
    }

    /// Takes reports about workers of other agents.
    fn take_of_agents(&mut self, report: WorkerReport) {
        match report {
            WorkerReport::Lost {
                workers,
                why,
                begun,
                unended,
                planned,
                is_awaited,
                is_unsettled,
            } => {
                if is_awaited {
                    self.awaited.insert(workers.start);
                }
                if is_unsettled {
                    self.unsettled.insert(workers.start);
                }
                self.lose(workers, why, lost_requests(begun, unended), planned);
            }
            WorkerReport::Settled {
                lost,
                begun,
                unended,
            } => self.settle(lost, lost_requests(begun, unended)),
            WorkerReport::Away { workers } => self.away.extend(workers),
            WorkerReport::Returned { workers, what } => {
                self.away.retain(|worker| !workers.contains(worker));
                self.of_agents.push((AGENT_RETURNED_MARK, what));
            }
            WorkerReport::Replaced {
                workers,
                lost,
                from,
                what,
            } => self.replace(workers, lost, from, what),
            WorkerReport::GivenUp { lost, why } => {
                self.awaited.remove(&lost);
                let told = why.map(|why| (AGENT_NOT_REPLACED_MARK, why));
                self.of_agents.extend(told);
            }
            // These come from a worker itself.
            WorkerReport::Interval { .. }
            | WorkerReport::Ended { .. }
            | WorkerReport::Failed { .. }
            | WorkerReport::Script(_) => {}
        }
    }

    /// Treats workers whose reports will not come as ended.
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
            self.unoffered.push(Unoffered {
                worker: workers.start,
                arrivals,
                others: workers.start + 1..workers.end,
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

    /// Books the requests of lost workers that will not report any more.
    fn settle(&mut self, lost: u32, seen: Snapshot) {
        if self.unsettled.remove(&lost)
            && let Some(planned) = self.planned_by_worker.get(lost as usize).copied()
        {
            self.add(lost, self.told, seen, planned);
        }
    }

    /// Registers the replacement of lost workers: from the given time on, their arrivals belong to the
    /// replacement.
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

    /// Adds a worker's data to a second, or to the next one if that second has already been emitted.
    fn add(&mut self, worker: u32, interval: u64, seen: Snapshot, planned: u64) -> &mut Pending {
        self.planned_by_worker[worker as usize] = planned;
        let first = self.told.max(self.whole_from.saturating_sub(1));
        let pending = self.pending.entry(interval.max(first)).or_default();
        pending.seen.merge(seen);
        pending.planned.push((worker, planned));
        pending
    }

    /// The next complete second, in order: every worker has reported it or a later one, or has ended, and at
    /// least one worked to its end. It covers several seconds if all workers were delayed.
    pub(crate) fn next_told(&mut self, active_vus: u64) -> Option<Told> {
        let heard = (0..).zip(&self.reached_by_worker);
        let heard = heard.filter(|(worker, _)| !self.away.contains(worker));
        let reached = heard.map(|(_, reached)| *reached).min()?;
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

    /// The data after the last whole second, up to `until`; `None` if there is none.
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

    /// Arrivals planned since the last emitted second; `None` in a closed model. Workers without a report for a
    /// second, because they skipped it or have ended, planned nothing new in it.
    fn offered(&mut self, planned: &[(u32, u64)]) -> Option<u64> {
        let mut offered = 0;
        for (worker, planned) in planned {
            let told = &mut self.told_by_worker[*worker as usize];
            offered += planned.saturating_sub(*told);
            *told = (*told).max(*planned);
        }
        self.open.then_some(offered)
    }

    /// Books the arrivals that lost workers would have offered up to `until`.
    fn add_unoffered(&mut self, until: Nanos, pending: &mut Pending) {
        for lost in &self.unoffered {
            let others = lost.others.clone();
            let others = others.filter_map(|other| self.planned_by_worker.get(other as usize));
            let unoffered = lost.by(until, others.sum());
            let known = &mut self.planned_by_worker[lost.worker as usize];
            let due = unoffered.saturating_sub(*known);
            *known = unoffered.max(*known);
            *self.due_while_away.get_or_insert_default() += due;
            pending.planned.push((lost.worker, *known));
        }
        // Nothing is added to those that were replaced by then; an agent that may still report could lower them.
        let unsettled = &self.unsettled;
        self.unoffered.retain(|lost| {
            lost.until.is_none_or(|end| end > until) || unsettled.contains(&lost.worker)
        });
    }

    fn tell(&mut self, at_ns: u64, span_ns: u64, mut pending: Pending, active_vus: u64) -> Told {
        self.add_unoffered(Nanos(at_ns + span_ns), &mut pending);
        let offered = self.offered(&pending.planned);
        let mut generator = self.watch.look(Duration::from_nanos(span_ns));
        generator.busiest_worker = pending.busiest_worker;
        generator.run_queue_ns = pending.seen.run_queue_ns;
        let all = pending.seen.whole();
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

/// Requests that started without being reported, and requests whose end was not reported.
fn lost_requests(begun: u64, unended: u64) -> Snapshot {
    let mut seen = Snapshot::default();
    seen.counts.started = begun;
    seen.counts.lost = unended;
    seen
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
mod tests;
