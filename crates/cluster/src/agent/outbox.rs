//! Reports on their way to the coordinator.
//!
//! Must not own connections. Invariants: what was taken in is sent once, or is still here; while the coordinator is behind by more
//! than the limit, seconds of a worker become one, and no count is lost.

use std::collections::{BTreeMap, VecDeque};
use std::io;

use loadline_engine::WorkerReport;

use crate::generated::Report;
use crate::message::report_to_send;

/// Bytes that may be under way before seconds are put together.
const UNDER_WAY_MAX: usize = 64 << 20;

/// Reports under way, and those that wait.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    next: u64,
    under_way: VecDeque<(u64, usize)>,
    bytes: usize,
    held: BTreeMap<u32, WorkerReport>,
}

impl Outbox {
    /// Takes in a report; gives what is to be sent now.
    pub(super) fn take(&mut self, report: WorkerReport) -> io::Result<Vec<Report>> {
        let Some(worker) = worker_of(&report) else {
            return Ok(Vec::new());
        };
        let report = match self.held.remove(&worker) {
            Some(older) => together(older, report),
            None => report,
        };
        self.held.insert(worker, report);
        self.ready()
    }

    /// Everything up to a report has arrived; gives what is to be sent now.
    pub(super) fn received(&mut self, number: u64) -> io::Result<Vec<Report>> {
        while let Some((_, bytes)) = self.under_way.pop_front_if(|(sent, _)| *sent <= number) {
            self.bytes -= bytes;
        }
        self.ready()
    }

    /// Whether everything has arrived.
    pub(super) fn is_empty(&self) -> bool {
        self.under_way.is_empty() && self.held.is_empty()
    }

    fn ready(&mut self) -> io::Result<Vec<Report>> {
        let mut ready = Vec::new();
        while self.bytes < UNDER_WAY_MAX {
            let Some((_, report)) = self.held.pop_first() else {
                break;
            };
            let Some(report) = report_to_send(self.next, report)? else {
                continue;
            };
            self.under_way.push_back((self.next, report.seen.len()));
            self.bytes += report.seen.len();
            self.next += 1;
            ready.push(report);
        }
        Ok(ready)
    }
}

fn worker_of(report: &WorkerReport) -> Option<u32> {
    match report {
        WorkerReport::Interval { worker, .. }
        | WorkerReport::Ended { worker, .. }
        | WorkerReport::Failed { worker, .. } => Some(*worker),
        WorkerReport::Lost { .. }
        | WorkerReport::Replaced { .. }
        | WorkerReport::GivenUp { .. }
        | WorkerReport::Script(_) => None,
    }
}

/// Two reports of a worker as one.
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
    use loadline_model::{Nanos, Snapshot};

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

    #[test]
    fn seconds_become_one_while_the_coordinator_is_behind() {
        let mut outbox = Outbox::default();
        let sent = outbox.take(interval(0, 1)).expect("written");
        assert_eq!(sent.len(), 1);
        outbox.bytes = UNDER_WAY_MAX;
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
        outbox.bytes = sent[0].seen.len();
        let sent = outbox.received(0).expect("written");
        let [last] = &sent[..] else {
            panic!("one report: {sent:?}");
        };
        let seen = seen_of_bytes(&last.seen).expect("read");
        assert_eq!(
            (last.number, last.interval, seen.counts.completed),
            (1, 3, 6)
        );
        assert!(last.end.is_some() && !outbox.is_empty());
        assert!(outbox.received(1).expect("nothing").is_empty());
        assert!(outbox.is_empty());
    }
}
