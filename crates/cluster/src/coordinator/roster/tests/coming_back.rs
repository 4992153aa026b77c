//! Agents that come back, to the same coordinator or to another one.

use super::*;
use crate::generated::{ClockQuestion, HandOver, Part};

const GRACE_S: u64 = 30;

fn graceful(part: Option<Part>) -> Said {
    Said::Hello(Hello {
        version: "1.5.0".to_owned(),
        grace_ms: GRACE_S * 1_000,
        part,
        ..Hello::default()
    })
}

fn part(run: &str, number: u32) -> Part {
    Part {
        run: run.to_owned(),
        test: "this test".to_owned(),
        number,
        ..Part::default()
    }
}

/// Two running agents whose load continues while they are unreachable.
fn at_work() -> Roster {
    let mut roster = roster_of(2, 0);
    for link in 0..2 {
        roster.heard(0, link, graceful(None));
        roster.heard(0, link, ready_with(1, ""));
    }
    roster.close();
    roster.start(0, None);
    roster
}

fn welcomed(acts: &[Act]) -> Option<Return> {
    acts.iter().find_map(|act| match act {
        Act::Say(_, What::Welcome(welcome)) => welcome.back,
        _ => None,
    })
}

fn refused(acts: &[Act]) -> String {
    let refusal = acts.iter().find_map(|act| match act {
        Act::Say(_, What::Refusal(refusal)) => Some(refusal.why.clone()),
        _ => None,
    });
    refusal.unwrap_or_default()
}

/// Answers all clock queries for a clock that is ahead; returns the following acts.
fn answer_all(roster: &mut Roster, now_ns: u64, link: Link, ahead_ns: u64) {
    for number in 0..crate::clocks::QUESTIONS {
        let at_ns = now_ns + ahead_ns;
        roster.heard(now_ns, link, Said::Clock(ClockAnswer { number, at_ns }));
    }
}

fn listen_to_the_other(roster: &mut Roster, from_s: u64, to_s: u64) -> Vec<Act> {
    let mut acts = Vec::new();
    for second in from_s..=to_s {
        roster.heard(second * S, 1, Said::Live(Live::default()));
        acts.extend(roster.tick(second * S));
    }
    acts
}

#[test]
fn who_is_back_in_time_goes_on_where_it_was_heard_last() {
    let mut roster = at_work();
    roster.heard(S, 0, report(0, 0, 5));
    assert!(gone(roster.closed(2 * S, 0)).is_empty(), "nothing is lost");
    roster.order(RunCommand::Pause);
    let acts = roster.heard(3 * S, 7, graceful(Some(part("this run", 0))));
    let back = welcomed(&acts).expect("it is known");
    assert_eq!((back.next_report, back.is_anew), (1, false));
    let orders = acts
        .iter()
        .filter(|act| matches!(act, Act::Say(7, What::Order(_))));
    assert_eq!(orders.count(), 1, "the order that it has missed");
    assert!(
        matches!(&told(acts)[..], [WorkerReport::Returned { workers, .. }] if *workers == (0..1))
    );
    assert_eq!(told(roster.heard(4 * S, 7, report(1, 0, 5))).len(), 1);
}

/// A Job creates a pod when the previous one has ended.
#[test]
fn who_cannot_come_back_is_not_waited_for() {
    let of_pod = |pod: &str| {
        Said::Hello(Hello {
            version: "1.5.0".to_owned(),
            grace_ms: GRACE_S * 1_000,
            name: "t-1".to_owned(),
            pod: pod.to_owned(),
            ..Hello::default()
        })
    };
    let lost_to = |pod: &str| {
        let mut roster = roster_of(2, 0);
        roster.expected.end = Some(Nanos(6 * S));
        roster.heard(0, 0, of_pod("t-1-a"));
        roster.heard(0, 1, graceful(None));
        for link in 0..2 {
            roster.heard(0, link, ready_with(1, ""));
        }
        roster.close();
        roster.start(0, None);
        roster.closed(7 * S, 0);
        let acts = roster.heard(8 * S, 2, of_pod(pod));
        let why = refused(&acts);
        (gone(acts), why)
    };
    let (lost, refusal) = lost_to("t-1-b");
    assert!(
        matches!(&lost[..], [(0, lost)] if lost.why.ends_with("another pod replaced it")),
        "{lost:?}"
    );
    assert_eq!(
        refusal, "",
        "it waits for the end, and ends as the test does"
    );
    for pod in ["t-1-a", ""] {
        let (lost, refusal) = lost_to(pod);
        assert!(
            lost.is_empty() && refusal.contains("have joined"),
            "{pod}: {lost:?}"
        );
    }
}

#[test]
fn nobody_waits_for_long_and_at_last_it_is_lost_with_what_it_had_begun() {
    let mut roster = at_work();
    let live = Live {
        started: 9,
        ..Live::default()
    };
    roster.heard(S, 0, Said::Live(live));
    roster.closed(S, 0);
    let acts = told(listen_to_the_other(&mut roster, 2, 30));
    assert!(
        matches!(&acts[..], [WorkerReport::Away { workers }] if *workers == (0..1)),
        "{acts:?}"
    );
    let lost = gone(listen_to_the_other(&mut roster, 31, 40));
    assert!(
        matches!(&lost[..], [(0, lost)] if lost.begun == 9 && !lost.is_unsettled),
        "{lost:?}"
    );
    let late = roster.heard(41 * S, 7, graceful(Some(part("this run", 0))));
    assert!(refused(&late).contains("away for too long"), "{late:?}");
}

#[test]
fn agents_of_another_test_or_run_are_refused() {
    let mut roster = at_work();
    let mut other = part("this run", 0);
    other.test = "that test".to_owned();
    let acts = roster.heard(S, 7, graceful(Some(other)));
    assert!(refused(&acts).contains("another test"), "{acts:?}");
    let acts = roster.heard(S, 8, graceful(Some(part("that run", 0))));
    assert!(refused(&acts).contains("started without it"), "{acts:?}");
}

/// An agent of another coordinator's run hands over; its clock is ahead.
fn handed(roster: &mut Roster, now_ns: u64, link: Link, ahead_ns: u64) -> Vec<Act> {
    let number = u32::try_from(link).expect("small");
    let acts = roster.heard(now_ns, link, graceful(Some(part("that run", number))));
    assert!(welcomed(&acts).is_some_and(|back| back.is_anew), "{acts:?}");
    let hand_over = Said::HandOver(HandOver {
        at_ns: 40 * S + ahead_ns,
        data: Some("7".to_owned()),
        kept: vec![1, 2],
        ready: Some(Ready {
            workers: 1,
            ..Ready::default()
        }),
        seconds_in_one: 4,
        ..HandOver::default()
    });
    let acts = roster.heard(now_ns, link, hand_over);
    answer_all(roster, now_ns, link, ahead_ns);
    acts
}

#[test]
fn another_coordinator_goes_on_at_the_start_that_was() {
    let mut roster = roster_of(2, 0);
    roster.heard(49 * S, 9, hello("new"));
    let acts = roster.heard(50 * S, 1, graceful(Some(part("that run", 1))));
    assert_eq!(refused(&acts), adopting::HAS_ITS_OWN, "who joined anew");
    roster.closed(50 * S, 1);
    for (link, ahead_ns) in [(0, 5 * S), (1, 0)] {
        assert!(!roster.is_ready());
        handed(&mut roster, 50 * S, link, ahead_ns);
    }
    assert!(roster.is_ready());
    let adopted = roster.adopted(52 * S).expect("it goes on");
    assert_eq!(
        (adopted.data.as_deref(), adopted.kept),
        (Some("7"), vec![1, 2])
    );
    assert_eq!(adopted.seconds_in_one, 4);
    assert!(adopted.what.contains("at 12.0 s") && adopted.what.contains("2 of 2 agents"));
    let (workers, acts) = roster.close();
    assert!((workers, gone(acts).len()) == (2, 0));
    let (at_ns, acts) = roster.start(52 * S, None);
    assert_eq!(at_ns, 40 * S);
    let starts = acts
        .iter()
        .filter(|act| matches!(act, Act::Say(_, What::Start(_))));
    assert_eq!(starts.count(), 2);
    assert_eq!(told(roster.heard(53 * S, 1, report(0, 0, 5))).len(), 1);
}

#[test]
fn who_does_not_come_back_is_told_and_may_come_late() {
    let mut roster = roster_of(2, 0);
    handed(&mut roster, 50 * S, 1, 0);
    roster.heard(55 * S, 1, Said::Live(Live::default()));
    roster.tick(55 * S);
    assert!(!roster.is_ready());
    for second in 56..62 {
        roster.heard(second * S, 1, Said::Live(Live::default()));
        roster.tick(second * S);
    }
    assert!(roster.is_ready());
    let (workers, acts) = roster.close();
    let lost = gone(acts);
    assert!(
        matches!(&lost[..], [(0, lost)] if lost.workers == (1..2) && lost.why.contains("are unknown")),
        "{lost:?}"
    );
    assert_eq!(workers, 2);
    roster.start(61 * S, None);
    let acts = handed(&mut roster, 62 * S, 0, 0);
    let starts = acts
        .iter()
        .any(|act| matches!(act, Act::Say(0, What::Start(_))));
    assert!(starts, "{acts:?}");
    assert!(
        matches!(&told(acts)[..], [WorkerReport::Replaced { workers, lost: 1, from: Nanos(0), .. }] if *workers == (2..3))
    );
    assert_eq!(told(roster.heard(63 * S, 0, report(0, 0, 5))).len(), 1);
}

#[test]
fn a_clock_is_asked_again_over_a_new_connection() {
    let mut roster = at_work();
    roster.closed(S, 0);
    let acts = roster.heard(2 * S, 7, graceful(Some(part("this run", 0))));
    let asks = |act: &Act| matches!(act, Act::Say(7, What::Clock(ClockQuestion { .. })));
    assert!(acts.iter().any(asks), "{acts:?}");
}
