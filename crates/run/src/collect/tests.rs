//! Seconds from reports, in any order.
//!
//! Must not know who reports. Invariant: the sum of the emitted seconds equals the sum of the reports.

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

/// The seconds emitted after each report: number, length and responses.
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
        // The other one skipped a second, and this one ends.
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
            is_unsettled: false,
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
    // Arrivals due exactly at the end of a second are emitted with it, for workers without a report.
    let told = [(1, 10), (1, 11), (2, 19), (1, 10), (1, 10)];
    assert_eq!(offered, told.map(|(span, arrivals)| (span, Some(arrivals))));
    assert!(collector.all_ended());
    assert_eq!(collector.planned(), 60);
    assert!(
        collector.unoffered.is_empty(),
        "what was replaced is done with"
    );
    // Of 60, what was due from the last report of the one to the start of the other.
    assert_eq!(collector.due_while_away, Some(20));
}

#[test]
fn who_cannot_be_heard_holds_nobody_up_and_is_counted_when_it_returns() {
    let mut collector = collector(2, false);
    collector.take(interval(0, 0, 5));
    collector.take(interval(1, 0, 7));
    assert_eq!(
        collector.next_told(0).map(|told| told.row.completed),
        Some(12)
    );
    collector.take(interval(0, 1, 5));
    assert!(collector.next_told(0).is_none(), "the other is waited for");
    collector.take(WorkerReport::Away { workers: 1..2 });
    assert_eq!(
        collector.next_told(0).map(|told| told.row.completed),
        Some(5)
    );
    collector.take(WorkerReport::Returned {
        workers: 1..2,
        what: "it is back".to_owned(),
    });
    collector.take(interval(1, 1, 7));
    collector.take(interval(1, 2, 7));
    collector.take(interval(0, 2, 5));
    let told = collector.next_told(0).expect("both are heard");
    assert_eq!((told.row.at_ns, told.row.completed), (2_000_000_000, 19));
    assert!(!collector.all_ended());
}

#[test]
fn who_was_taken_over_from_may_report_until_it_is_settled() {
    let mut collector = collector(1, false);
    collector.take(WorkerReport::Lost {
        workers: 0..1,
        why: "gone".to_owned(),
        begun: 0,
        unended: 0,
        planned: None,
        is_awaited: false,
        is_unsettled: true,
    });
    assert!(!collector.all_ended(), "it may report");
    collector.take(interval(0, 0, 7));
    collector.take(WorkerReport::Settled {
        lost: 0,
        begun: 3,
        unended: 4,
    });
    assert!(collector.all_ended());
    let rest = collector.tell_rest(Nanos::ZERO, Nanos(1)).expect("counts");
    let counts = rest.delta.counts;
    assert_eq!((counts.completed, counts.started, counts.lost), (7, 3, 4));
}

#[test]
fn why_nobody_makes_a_share_again_is_told_and_not_waited_for() {
    let mut collector = collector(1, false);
    collector.take(WorkerReport::Lost {
        workers: 0..1,
        why: "gone".to_owned(),
        begun: 0,
        unended: 0,
        planned: None,
        is_awaited: true,
        is_unsettled: false,
    });
    assert!(!collector.all_ended());
    collector.take(WorkerReport::GivenUp {
        lost: 0,
        why: Some("no room".to_owned()),
    });
    assert!(collector.all_ended());
    let told = [
        (AGENT_LOST_MARK, "gone".to_owned()),
        (AGENT_NOT_REPLACED_MARK, "no room".to_owned()),
    ];
    assert_eq!(collector.of_agents, told);
}

#[test]
fn seconds_that_are_known_as_one_are_told_as_one() {
    let mut collector = collector(2, false);
    collector.whole_from = 3;
    collector.take(interval(0, 2, 30));
    for second in 0..4 {
        collector.take(interval(1, second, 1));
    }
    let told = collector.next_told(0).expect("both have reported it");
    assert_eq!((told.row.span_ns, told.row.completed), (3_000_000_000, 33));
    assert!(collector.next_told(0).is_none());
    collector.take(interval(0, 3, 30));
    assert_eq!(
        collector.next_told(0).map(|told| told.row.completed),
        Some(31)
    );
}
