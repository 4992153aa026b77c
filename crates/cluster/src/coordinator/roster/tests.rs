//! The roster in virtual time.
//!
//! Must not know links or clocks. Invariant: what is said comes as it would over the wire.

use loadline_model::Snapshot;

use super::*;
use crate::generated::{Live, Ready};
use crate::message::report_to_send;

const S: u64 = 1_000_000_000;

fn hello(name: &str) -> Said {
    Said::Hello(Hello {
        version: "1.4.2".to_owned(),
        name: name.to_owned(),
    })
}

/// Two agents that are there and ready, with so many workers each.
fn ready(workers: [u32; 2]) -> Roster {
    let mut roster = Roster::new(2, 0, "1.5.0");
    for (link, workers) in (0..).zip(workers) {
        roster.heard(0, link, hello(""));
        assert!(!roster.is_ready());
        roster.heard(0, link, Said::Ready(Ready { workers }));
    }
    assert!(roster.is_ready());
    roster
}

fn started(workers: [u32; 2]) -> Roster {
    let mut roster = ready(workers);
    assert_eq!(roster.close().0, workers[0] + workers[1]);
    roster.start(0, None);
    roster
}

fn report(number: u64, worker: u32, started: u64) -> Said {
    let mut seen = Snapshot::default();
    seen.counts.started = started;
    let report = WorkerReport::Interval {
        worker,
        interval: number,
        seen: Box::new(seen),
        waiting: 0,
        planned: 0,
    };
    let report = report_to_send(number, report).expect("written");
    Said::Report(report.expect("a worker's"))
}

fn told(acts: Vec<Act>) -> Vec<WorkerReport> {
    let tell = |act| match act {
        Act::Tell(report) => Some(report),
        _ => None,
    };
    acts.into_iter().filter_map(tell).collect()
}

fn gone(acts: Vec<Act>) -> Vec<(u32, Lost)> {
    let lose = |act| match act {
        Act::Lose(number, lost) => Some((number, lost)),
        _ => None,
    };
    acts.into_iter().filter_map(lose).collect()
}

#[test]
fn workers_are_numbered_over_all_agents() {
    let mut roster = started([2, 3]);
    let [WorkerReport::Interval { worker, .. }] = &told(roster.heard(1, 1, report(0, 2, 5)))[..]
    else {
        panic!("one report");
    };
    assert_eq!(*worker, 4);
}

#[test]
fn a_report_that_comes_twice_counts_once() {
    let mut roster = started([1, 1]);
    assert_eq!(told(roster.heard(1, 0, report(0, 0, 5))).len(), 1);
    let again = roster.heard(2, 0, report(0, 0, 5));
    assert!(
        matches!(again[..], [Act::Say(0, What::Received(_))]),
        "{again:?}"
    );
    assert_eq!(told(roster.heard(3, 0, report(1, 0, 5))).len(), 1);
}

#[test]
fn what_a_lost_agent_had_begun_is_what_it_did_not_report() {
    let mut roster = started([2, 1]);
    roster.heard(1, 0, report(0, 0, 5));
    let live = Live {
        started: 12,
        completed: 9,
        vus_active: 3,
        ..Live::default()
    };
    roster.heard(2, 0, Said::Live(live));
    let lost = Lost {
        workers: 0..2,
        why: "agent-1 was lost with its share of the load, 1/2: its connection was closed"
            .to_owned(),
        begun: 7,
    };
    assert_eq!(gone(roster.closed(0)), [(0, lost)]);
    assert!(gone(roster.closed(0)).is_empty(), "once");
    let live = roster.live().next().expect("an agent");
    assert_eq!((live.vus_active, live.active()), (0, 0));
}

#[test]
fn who_is_silent_for_three_seconds_is_lost_and_who_speaks_is_not() {
    let mut roster = started([1, 1]);
    roster.heard(2 * S, 1, Said::Live(Live::default()));
    assert!(gone(roster.tick(3 * S)).is_empty());
    let lost = gone(roster.tick(3 * S + 1));
    assert!(matches!(lost[..], [(0, _)]), "{lost:?}");
}

#[test]
fn an_agent_that_has_ended_may_go() {
    let mut roster = started([1, 1]);
    let ended = WorkerReport::Ended {
        worker: 0,
        interval: 0,
        seen: Box::default(),
        planned: 0,
        never_started: 0,
        last_done: loadline_model::Nanos::ZERO,
    };
    let ended = report_to_send(0, ended)
        .expect("written")
        .expect("a worker's");
    roster.heard(1, 0, Said::Report(ended));
    assert!(gone(roster.closed(0)).is_empty());
}

#[test]
fn agents_start_at_one_instant_of_their_own_clocks() {
    let mut roster = ready([1, 1]);
    let answer = |number, at_ns| Said::Clock(ClockAnswer { number, at_ns });
    roster.heard(2_000, 0, answer(0, 5_000_001_000));
    roster.heard(4_000, 1, answer(0, 2_000));
    assert_eq!(roster.clock_error_ns(), 2_000);
    roster.close();
    let (at_ns, acts) = roster.start(S, Some("{}"));
    assert_eq!(at_ns, S + nanos(START_AHEAD));
    let starts: Vec<u64> = acts
        .iter()
        .filter_map(|act| match act {
            Act::Say(_, What::Start(start)) => Some(start.at_ns),
            _ => None,
        })
        .collect();
    assert_eq!(starts, [at_ns + 5 * S, at_ns]);
}

#[test]
fn a_test_does_not_begin_without_one_of_its_agents() {
    let mut roster = Roster::new(2, 0, "1.5.0");
    roster.heard(0, 0, hello("one"));
    roster.heard(0, 0, Said::Ready(Ready { workers: 2 }));
    roster.heard(0, 1, hello("two"));
    roster.heard(
        1,
        1,
        Said::Refusal(Refusal {
            why: "no memory".to_owned(),
        }),
    );
    assert!(roster.is_ready(), "nobody is waited for");
    let (workers, acts) = roster.close();
    assert_eq!(workers, 3);
    let failed = told(acts);
    assert!(
        matches!(&failed[..], [WorkerReport::Failed { worker: 2, why }] if why == "two: no memory"),
        "{failed:?}"
    );
    let (_, acts) = roster.start(1, None);
    let stops = |act: &Act| matches!(act, Act::Say(0, What::Order(order)) if order.kind() == crate::generated::order::Kind::StopNow);
    assert!(acts.iter().any(stops), "{acts:?}");
}

#[test]
fn who_is_not_wanted_is_refused_by_name() {
    let mut roster = ready([1, 1]);
    let refusal = |acts: Vec<Act>| {
        acts.into_iter().find_map(|act| match act {
            Act::Say(_, What::Refusal(refusal)) => Some(refusal.why),
            _ => None,
        })
    };
    let why = refusal(roster.heard(0, 9, hello("third")));
    assert_eq!(why.as_deref(), Some("all 2 agents of the test are there"));
    for version in ["1.7.0", "2.5.0", "", "x.y"] {
        let hello = Said::Hello(Hello {
            version: version.to_owned(),
            name: String::new(),
        });
        let why = refusal(Roster::new(1, 0, "1.5.0").heard(0, 0, hello));
        assert!(
            why.is_some_and(|why| why.contains("use one version")),
            "{version}"
        );
    }
}

#[test]
fn what_breaks_the_protocol_ends_the_agent_and_not_the_run() {
    for said in [report(3, 0, 1), report(0, 7, 1), {
        let Said::Report(mut report) = report(0, 0, 1) else {
            panic!("a report");
        };
        report.seen = vec![0xff; 9];
        Said::Report(report)
    }] {
        let mut roster = started([1, 1]);
        let lost = gone(roster.heard(1, 0, said));
        assert!(matches!(lost[..], [(0, _)]), "{lost:?}");
    }
    let mut roster = started([1, 1]);
    let acts = roster.heard(1, 77, report(0, 0, 1));
    assert!(matches!(acts[..], [Act::Close(77)]), "{acts:?}");
}

#[test]
fn an_agent_without_work_waits_for_the_end_and_is_missed_by_nobody() {
    let mut roster = Roster::new(1, 1, "1.5.0");
    roster.heard(0, 0, hello("one"));
    let acts = roster.heard(0, 1, hello("two"));
    assert!(
        !acts.iter().any(|act| matches!(act, Act::Employ(_))),
        "{acts:?}"
    );
    roster.heard(0, 0, Said::Ready(Ready { workers: 2 }));
    assert!(roster.is_ready());
    assert_eq!(roster.close().0, 2);
    let (_, acts) = roster.start(0, None);
    assert!(
        !acts.iter().any(|act| matches!(act, Act::Say(1, _))),
        "{acts:?}"
    );
    let ended = roster.end(99);
    assert!(
        ended
            .iter()
            .any(|act| matches!(act, Act::Say(1, What::Ending(_)))),
        "{ended:?}"
    );
    assert!(gone(roster.closed(1)).is_empty());
}
