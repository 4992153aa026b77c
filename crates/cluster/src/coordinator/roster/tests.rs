//! The roster in virtual time.
//!
//! Must not know links or clocks. Invariant: messages arrive as over the wire.

mod coming_back;
mod places;
mod replacing;
mod standing_in;

use loadline_model::Snapshot;

use super::*;
use crate::generated::{ClockAnswer, Live, Ready};
use crate::message::report_to_send;

const S: u64 = 1_000_000_000;

fn hello(name: &str) -> Said {
    Said::Hello(Hello {
        version: "1.4.2".to_owned(),
        name: name.to_owned(),
        ..Hello::default()
    })
}

fn ready_with(workers: u32, cores_owner: &str) -> Said {
    Said::Ready(Ready {
        workers,
        cores: 2.0,
        cores_owner: cores_owner.to_owned(),
        ..Ready::default()
    })
}

/// A roster of the test's version, for a test that lasts a minute.
fn roster_of(wanted: u32, idle: u32) -> Roster {
    Roster::new(Expected {
        wanted,
        idle,
        version: "1.5.0".to_owned(),
        is_replaceable: true,
        end: Some(Nanos::from_secs(60)),
        is_resumable: true,
        awaited_for: Duration::from_secs(30),
        run: "this run".to_owned(),
        test: "this test".to_owned(),
    })
}

/// Two agents that are ready, with this many workers each.
fn ready(workers: [u32; 2]) -> Roster {
    let mut roster = roster_of(2, 0);
    for (link, workers) in (0..).zip(workers) {
        roster.heard(0, link, hello(""));
        assert!(!roster.is_ready());
        roster.heard(0, link, ready_with(workers, ""));
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
    report_of(number, worker, started, started)
}

fn report_of(number: u64, worker: u32, started: u64, completed: u64) -> Said {
    let mut seen = Snapshot::default();
    seen.counts.started = started;
    seen.counts.completed = completed;
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
    // Of these five, two have ended.
    roster.heard(1, 0, report_of(0, 0, 5, 2));
    let live = Live {
        started: 12,
        completed: 9,
        vus_active: 3,
        ..Live::default()
    };
    roster.heard(2, 0, Said::Live(live));
    let lost = Lost {
        name: "agent-1".to_owned(),
        workers: 0..2,
        why: "agent-1 was lost with its share of the load, 1/2: its connection was closed"
            .to_owned(),
        begun: 7,
        unended: 10,
        from: Nanos::ZERO,
        is_awaited: true,
        is_unsettled: false,
    };
    assert_eq!(gone(roster.closed(S, 0)), [(0, lost)]);
    assert!(gone(roster.closed(S, 0)).is_empty(), "once");
    let live = roster.live_of(0);
    assert_eq!((live.vus_active, live.active()), (0, 0));
    let settled = roster.seats.iter().map(Seat::is_settled);
    assert_eq!(settled.collect::<Vec<_>>(), [true, false]);
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
fn nobody_was_silent_while_the_coordinator_stood_still() {
    let mut roster = started([1, 1]);
    roster.stood_still(9 * S);
    assert!(gone(roster.tick(10 * S)).is_empty());
    roster.heard(11 * S, 1, Said::Live(Live::default()));
    let lost = gone(roster.tick(12 * S + 1));
    assert!(matches!(lost[..], [(0, _)]), "{lost:?}");
}

/// The last report of an agent's only worker.
fn ended() -> Said {
    let ended = WorkerReport::Ended {
        worker: 0,
        interval: 0,
        seen: Box::default(),
        planned: 0,
        never_started: 0,
        last_done: Nanos::ZERO,
    };
    Said::Report(report_to_send(0, ended).expect("written").expect("one"))
}

#[test]
fn an_agent_that_has_ended_may_go() {
    let mut roster = started([1, 1]);
    roster.heard(1, 0, ended());
    assert!(gone(roster.closed(S, 0)).is_empty());
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
    let mut roster = roster_of(2, 0);
    roster.heard(0, 0, hello("one"));
    roster.heard(0, 0, ready_with(2, ""));
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
        matches!(&failed[..], [WorkerReport::Failed { worker: 2, why, .. }] if why == "two: no memory"),
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
    assert_eq!(why.as_deref(), Some("all 2 agents of the test have joined"));
    for version in ["1.7.0", "2.5.0", "", "x.y"] {
        let hello = Said::Hello(Hello {
            version: version.to_owned(),
            ..Hello::default()
        });
        let why = refusal(roster_of(1, 0).heard(0, 0, hello));
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
    let mut roster = roster_of(1, 1);
    roster.heard(0, 0, hello("one"));
    let acts = roster.heard(0, 1, hello("two"));
    assert!(
        !acts.iter().any(|act| matches!(act, Act::Employ(..))),
        "{acts:?}"
    );
    roster.heard(0, 0, ready_with(2, ""));
    assert!(roster.is_ready());
    assert_eq!(roster.close().0, 2);
    let (_, acts) = roster.start(0, None);
    assert!(
        !acts.iter().any(|act| matches!(act, Act::Say(1, _))),
        "{acts:?}"
    );
    let ended = roster.end(99, "all");
    assert!(
        ended
            .iter()
            .any(|act| matches!(act, Act::Say(1, What::Ending(_)))),
        "{ended:?}"
    );
    assert!(gone(roster.closed(S, 1)).is_empty());
}

#[test]
fn one_agent_tells_the_result_and_the_others_say_which() {
    let mut roster = roster_of(3, 0);
    for (link, name) in [(0, "t-10"), (1, "t-2"), (2, "t-1")] {
        roster.heard(0, link, hello(name));
    }
    let text_of = |acts: &[Act], wanted: Link| {
        acts.iter().find_map(|act| match act {
            Act::Say(link, What::Ending(ending)) if *link == wanted => Some(ending.text.clone()),
            _ => None,
        })
    };
    let acts = roster.end(0, "the summary");
    assert_eq!(text_of(&acts, 2).as_deref(), Some("the summary"));
    for link in [0, 1] {
        let text = text_of(&acts, link).expect("an ending");
        assert!(
            text.ends_with("its result is in the log of t-1\n"),
            "{text}"
        );
    }
}

#[test]
fn cores_that_agents_share_count_once_and_what_they_use_is_summed() {
    for (owners, cores) in [(["a", "a"], 2.0), (["a", "b"], 4.0), (["", ""], 4.0)] {
        let mut roster = roster_of(2, 0);
        for (link, owner) in (0..).zip(owners) {
            roster.heard(0, link, hello(""));
            roster.heard(0, link, ready_with(1, owner));
            let live = Live {
                cpu_ns: 5,
                throttled_ns: Some(2 + link),
                rss_bytes: 7,
                ..Live::default()
            };
            roster.heard(0, link, Said::Live(live));
        }
        roster.close();
        roster.closed(S, 1);
        let here = GeneratorTotals {
            cpu_ns: 1,
            cores: 64.0,
            ..GeneratorTotals::default()
        };
        let used = roster.used(&here);
        assert_eq!(
            (used.cpu_ns, used.throttled_ns, used.rss_bytes),
            (11, Some(3), 14)
        );
        assert!(
            (used.cores - cores).abs() < f64::EPSILON,
            "{owners:?}: {}",
            used.cores
        );
    }
}

mod merging {
    use proptest::prelude::*;

    use super::*;

    /// A report of an agent: started requests and their times.
    type Seconds = Vec<Vec<u32>>;

    fn snapshot(times: &[u32]) -> Snapshot {
        let mut seen = Snapshot::default();
        seen.counts.started = times.len() as u64;
        seen.counts.completed = times.len() as u64;
        for time in times {
            seen.answered_time.record(u64::from(*time));
        }
        seen
    }

    fn sent(number: usize, times: &[u32]) -> Said {
        let report = WorkerReport::Interval {
            worker: 0,
            interval: number as u64,
            seen: Box::new(snapshot(times)),
            waiting: 0,
            planned: 0,
        };
        let report = report_to_send(number as u64, report).expect("written");
        Said::Report(report.expect("a worker's"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Reports of 1 to 50 agents, in any order and some of them twice, sum to what one process would have seen.
        #[test]
        fn what_all_agents_report_is_the_whole(
            agents in prop::sample::select(vec![1_u32, 2, 3, 10, 50]),
            seconds in prop::collection::vec(prop::collection::vec(1_u32..2_000_000_000, 0..6), 1..60),
            order in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 200),
        ) {
            let mut shares: Vec<Seconds> = vec![Vec::new(); agents as usize];
            let mut whole = Snapshot::default();
            for (place, times) in seconds.iter().enumerate() {
                whole.merge(snapshot(times));
                shares[place % agents as usize].push(times.clone());
            }
            let mut roster = roster_of(agents, 0);
            for link in 0..u64::from(agents) {
                roster.heard(0, link, hello(""));
                roster.heard(0, link, ready_with(1, ""));
            }
            roster.close();
            roster.start(0, None);
            let mut summed = Snapshot::default();
            let mut next = vec![0_usize; agents as usize];
            let mut picks = order.into_iter().cycle();
            while next.iter().zip(&shares).any(|(next, share)| *next < share.len()) {
                let (pick, is_twice) = picks.next().expect("a cycle");
                let open: Vec<usize> = (0..shares.len()).filter(|at| next[*at] < shares[*at].len()).collect();
                let agent = *pick.get(&open);
                for _ in 0..=usize::from(is_twice) {
                    let said = sent(next[agent], &shares[agent][next[agent]]);
                    for report in told(roster.heard(0, agent as u64, said)) {
                        let WorkerReport::Interval { seen, .. } = report else {
                            panic!("another report");
                        };
                        summed.merge(*seen);
                    }
                }
                next[agent] += 1;
            }
            prop_assert_eq!(summed, whole);
        }
    }
}
