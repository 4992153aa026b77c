//! Reports to the coordinator: unacknowledged ones, and acknowledged ones for a possible new coordinator.
//!
//! Must not own connections. Invariants: every report is in flight, queued, or has arrived; arrived reports are
//! kept so that everything can be handed over: individually up to a limit, beyond it as one sum per worker.
//! What all workers saw in a second is sent in one of their reports. While the coordinator lags behind by more than
//! the limit, seconds of a worker are merged, and no count is lost.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::io;

use loadline_engine::WorkerReport;
use loadline_model::Snapshot;

use crate::generated::Report;
use crate::message::{report_received, report_to_send};

/// Bytes in flight from which seconds are merged.
const UNDER_WAY_MAX: usize = 64 << 20;
/// Bytes of arrived reports that are kept individually: another coordinator reads them all at once.
const ARRIVED_MAX: usize = 8 << 20;

/// Reports in flight, waiting ones, and arrived ones.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    next: u64,
    under_way: VecDeque<Report>,
    bytes: usize,
    held: BTreeMap<u32, WorkerReport>,
    arrived: VecDeque<Report>,
    arrived_bytes: usize,
    /// The oldest of each worker, merged into one.
    sums: BTreeMap<u32, WorkerReport>,
}

impl Outbox {
    /// Adds a report, which waits for those of the other workers; returns what has to be sent now.
    pub(crate) fn take(&mut self, report: WorkerReport) -> io::Result<Vec<Report>> {
        let Some(worker) = worker_of(&report) else {
            return Ok(Vec::new());
        };
        let ready = match self.held.contains_key(&worker) {
            true => self.ready()?,
            false => Vec::new(),
        };
        let report = match self.held.remove(&worker) {
            Some(older) => together(older, report),
            None => report,
        };
        self.held.insert(worker, report);
        Ok(ready)
    }

    /// Everything up to a report has arrived; returns what has to be sent now.
    pub(crate) fn received(&mut self, number: u64) -> io::Result<Vec<Report>> {
        while let Some(report) = self
            .under_way
            .pop_front_if(|report| report.number <= number)
        {
            self.bytes -= report.seen.len();
            self.arrived_bytes += report.seen.len();
            self.arrived.push_back(report);
        }
        while self.arrived_bytes > ARRIVED_MAX {
            self.sum_up_oldest()?;
        }
        self.ready()
    }

    /// The coordinator has received everything before this number: returns what has to be resent, and what waits.
    pub(crate) fn go_on_from(&mut self, number: u64) -> io::Result<Vec<Report>> {
        let newer = match number.checked_sub(1) {
            Some(last) => self.received(last)?,
            None => Vec::new(),
        };
        let first_newer = newer.first().map_or(self.next, |report| report.number);
        let again = self.under_way.iter();
        let again = again.filter(|report| report.number < first_newer);
        Ok(again.cloned().chain(newer).collect())
    }

    /// Another coordinator needs everything, and has received nothing: renumbers all reports. Returns the maximum
    /// number of seconds, from the first, that the first report of a worker covers; zero if each second has its own.
    pub(crate) fn hand_over(&mut self) -> io::Result<u64> {
        let mut all = VecDeque::new();
        let mut seconds = 0;
        for (_, sum) in std::mem::take(&mut self.sums) {
            if let Some(report) = report_to_send(0, sum)? {
                seconds = seconds.max(report.interval + 1);
                all.push_back(report);
            }
        }
        all.append(&mut self.arrived);
        all.append(&mut self.under_way);
        for (number, report) in (0..).zip(&mut all) {
            report.number = number;
        }
        self.next = all.len() as u64;
        self.bytes = all.iter().map(|report| report.seen.len()).sum();
        self.arrived_bytes = 0;
        self.under_way = all;
        Ok(seconds)
    }

    /// Whether everything has arrived.
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.held.is_empty()
    }

    /// No other report is expected soon: returns what has to be sent now.
    pub(crate) fn ready(&mut self) -> io::Result<Vec<Report>> {
        let mut ready = Vec::new();
        gather(&mut self.held);
        while self.bytes < UNDER_WAY_MAX {
            let Some((_, report)) = self.held.pop_first() else {
                break;
            };
            let Some(report) = report_to_send(self.next, report)? else {
                continue;
            };
            self.bytes += report.seen.len();
            self.next += 1;
            self.under_way.push_back(report.clone());
            ready.push(report);
        }
        Ok(ready)
    }

    /// Merges the oldest arrived report into the sum of its worker.
    fn sum_up_oldest(&mut self) -> io::Result<()> {
        let Some(oldest) = self.arrived.pop_front() else {
            self.arrived_bytes = 0;
            return Ok(());
        };
        self.arrived_bytes -= oldest.seen.len();
        let worker = oldest.worker;
        let oldest = report_received(oldest, worker)?;
        let sum = match self.sums.remove(&worker) {
            Some(sum) => together(sum, oldest),
            None => oldest,
        };
        self.sums.insert(worker, sum);
        Ok(())
    }
}

fn worker_of(report: &WorkerReport) -> Option<u32> {
    match report {
        WorkerReport::Interval { worker, .. }
        | WorkerReport::Ended { worker, .. }
        | WorkerReport::Failed { worker, .. } => Some(*worker),
        WorkerReport::Lost { .. }
        | WorkerReport::Away { .. }
        | WorkerReport::Returned { .. }
        | WorkerReport::Settled { .. }
        | WorkerReport::Replaced { .. }
        | WorkerReport::GivenUp { .. }
        | WorkerReport::Script(_) => None,
    }
}

/// Moves what several workers saw in the same second into the report of the first of them: histograms take as many
/// bytes in one report as in each of several.
fn gather(held: &mut BTreeMap<u32, WorkerReport>) {
    let mut by_second: BTreeMap<u64, &mut Snapshot> = BTreeMap::new();
    for report in held.values_mut() {
        let WorkerReport::Interval { interval, seen, .. } = report else {
            continue;
        };
        match by_second.entry(*interval) {
            Entry::Vacant(first) => drop(first.insert(seen)),
            Entry::Occupied(mut first) => first.get_mut().merge(seen.take_but_for_its_thread()),
        }
    }
}

/// Merges two reports of a worker.
fn together(older: WorkerReport, mut newer: WorkerReport) -> WorkerReport {
    if let WorkerReport::Interval { seen: mut all, .. } = older
        && let WorkerReport::Interval { seen, .. } | WorkerReport::Ended { seen, .. } = &mut newer
    {
        all.merge(std::mem::take(&mut **seen));
        *seen = all;
    }
    newer
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loadline_metric::{BuiltIn, HttpTimes, Measurements, MetricRegistry, SeriesPlan, TagSet};
    use loadline_model::Nanos;
    use prost::Message;

    use super::*;
    use crate::message::seen_of_bytes;

    fn interval(interval: u64, completed: u64) -> WorkerReport {
        let mut seen = Snapshot::default();
        seen.counts.completed = completed;
        WorkerReport::Interval {
            worker: 0,
            interval,
            seen: Box::new(seen),
            waiting: 0,
            planned: completed,
        }
    }

    /// Numbers, seconds and responses of reports.
    fn told(reports: &[Report]) -> Vec<(u64, u64, u64)> {
        let told = |report: &Report| {
            let seen = seen_of_bytes(&report.seen).expect("read");
            (report.number, report.interval, seen.counts.completed)
        };
        reports.iter().map(told).collect()
    }

    #[test]
    fn seconds_become_one_while_the_coordinator_is_behind() {
        let mut outbox = Outbox::default();
        outbox.take(interval(0, 1)).expect("written");
        assert_eq!(outbox.ready().expect("written").len(), 1);
        outbox.bytes += UNDER_WAY_MAX;
        assert!(outbox.take(interval(1, 2)).expect("written").is_empty());
        assert!(outbox.take(interval(2, 4)).expect("written").is_empty());
        let ended = WorkerReport::Ended {
            worker: 0,
            interval: 3,
            seen: Box::default(),
            planned: 7,
            never_started: 0,
            last_done: Nanos::ZERO,
        };
        assert!(outbox.take(ended).expect("written").is_empty());
        outbox.bytes -= UNDER_WAY_MAX;
        let sent = outbox.received(0).expect("written");
        assert_eq!(told(&sent), [(1, 3, 6)]);
        assert!(sent[0].end.is_some() && !outbox.is_empty());
        assert!(outbox.received(1).expect("nothing").is_empty());
        assert!(outbox.is_empty());
    }

    #[test]
    fn what_has_not_arrived_is_sent_again() {
        let mut outbox = Outbox::default();
        for second in 0..4 {
            outbox.take(interval(second, 1)).expect("written");
        }
        outbox.ready().expect("written");
        let again = outbox.go_on_from(2).expect("written");
        assert_eq!(told(&again), [(2, 2, 1), (3, 3, 1)]);
        outbox.bytes += UNDER_WAY_MAX;
        outbox.take(interval(4, 1)).expect("written");
        outbox.bytes -= UNDER_WAY_MAX;
        let again = outbox.go_on_from(3).expect("written");
        assert_eq!(told(&again), [(3, 3, 1), (4, 4, 1)]);
        assert!(outbox.go_on_from(5).expect("written").is_empty());
        assert!(outbox.is_empty());
    }

    #[test]
    fn another_coordinator_gets_all_and_the_oldest_as_one() {
        let mut outbox = Outbox::default();
        for second in 0..6 {
            outbox.take(interval(second, 1 << second)).expect("written");
        }
        outbox.ready().expect("written");
        outbox.received(3).expect("written");
        assert_eq!(outbox.hand_over().expect("written"), 0);
        let all = outbox.go_on_from(0).expect("written");
        let each: Vec<_> = (0..6).map(|at| (at, at, 1 << at)).collect();
        assert_eq!(told(&all), each);
        outbox.received(4).expect("written");
        for _ in 0..2 {
            outbox.sum_up_oldest().expect("read");
        }
        assert_eq!(outbox.hand_over().expect("written"), 2);
        let all = outbox.go_on_from(0).expect("written");
        assert_eq!(
            told(&all),
            [(0, 1, 3), (1, 2, 4), (2, 3, 8), (3, 4, 16), (4, 5, 32)]
        );
    }

    #[test]
    fn what_workers_saw_of_a_second_goes_in_one_report() {
        let seen_by = |worker: u32, second: u64| {
            let WorkerReport::Interval { mut seen, .. } = interval(second, 1 << worker) else {
                unreachable!("an interval");
            };
            seen.worker_cpu_ns = u64::from(worker) + 5;
            WorkerReport::Interval {
                worker,
                interval: second,
                seen,
                waiting: 3,
                planned: 9,
            }
        };
        let mut outbox = Outbox::default();
        for (worker, second) in [(0, 4), (1, 3), (2, 4)] {
            let sent = outbox.take(seen_by(worker, second)).expect("written");
            assert!(sent.is_empty() && !outbox.is_empty());
        }
        // Worker 0 is ahead: nothing waits for the others any more.
        let mut sent = outbox.take(seen_by(0, 5)).expect("written");
        sent.extend(outbox.ready().expect("written"));
        assert_eq!(told(&sent), [(0, 4, 5), (1, 3, 2), (2, 4, 0), (3, 5, 1)]);
        for (report, worker) in sent.iter().zip([0, 1, 2, 0]) {
            let seen = seen_of_bytes(&report.seen).expect("read");
            assert_eq!(seen.worker_cpu_ns, u64::from(worker) + 5);
            assert_eq!(
                (report.worker, report.waiting, report.planned),
                (worker, 3, 9)
            );
        }
    }

    /// Bytes of a second of an agent with two workers, each of which saw half of 14,000 requests: of an open model by `bench`, or of a script.
    fn bytes_of_a_second(is_script: bool) -> usize {
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random >> 11
        };
        let mut unit = move || next() as f64 / (1_u64 << 53) as f64;
        // Times around a median like those of services: 95 % are within a factor of four either way, roughly
        // lognormal.
        let mut time = move |median: f64| {
            let bell = (0..12).map(|_| unit()).sum::<f64>() - 6.0;
            (median * (0.7 * bell).exp()) as u64
        };
        let mut outbox = Outbox::default();
        for worker in 0..2 {
            let mut seen = Snapshot::default();
            let plan = SeriesPlan::default();
            let mut script = Measurements::new(&plan, Arc::new(MetricRegistry::new()));
            let tags = TagSet::new()
                .with("name", "http://shop/")
                .with("status", "200");
            for _ in 0..7_000 {
                let times = HttpTimes {
                    blocked: time(2_000.0),
                    sending: time(10_000.0),
                    waiting: time(2_000_000.0),
                    receiving: time(30_000.0),
                    ..HttpTimes::default()
                };
                seen.counts.started += 1;
                seen.counts.completed += 1;
                seen.answered_time.record(times.duration());
                seen.response_time.record(times.duration() + time(50_000.0));
                seen.schedule_lag.record(time(50_000.0));
                if is_script {
                    script.record_http(&times, Some(false), 0, &tags);
                    script.record_ns(BuiltIn::IterationDuration.id(), times.duration(), 0, &tags);
                }
            }
            if is_script {
                seen.script = Some(Box::new(script.take()));
            }
            let report = WorkerReport::Interval {
                worker,
                interval: 7,
                seen: Box::new(seen),
                waiting: 0,
                planned: 7_000,
            };
            outbox.take(report).expect("it can be written");
        }
        let sent = outbox.ready().expect("it can be written");
        assert_eq!(sent.len(), 2);
        sent.iter().map(Message::encoded_len).sum()
    }

    /// A second of 14,000 requests should take 16 KiB per agent.
    #[test]
    fn a_busy_second_takes_few_bytes() {
        for (is_script, most) in [(false, 8 << 10), (true, 16 << 10)] {
            let bytes = bytes_of_a_second(is_script);
            assert!(bytes <= most, "{is_script}: {bytes} bytes");
        }
    }
}
