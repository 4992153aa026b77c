//! Replacements for lost agents, in virtual time.
//!
//! Must not know links or clocks. Invariant: as for the roster's other tests.

use super::*;

const LATE: Link = 7;

/// All clock queries to an agent, and its replies.
fn answer_all(roster: &mut Roster, now_ns: u64, link: Link) -> Vec<Act> {
    let answer = |number| {
        Said::Clock(ClockAnswer {
            number,
            at_ns: now_ns,
        })
    };
    let acts = (0..crate::clocks::QUESTIONS).map(answer);
    acts.flat_map(|said| roster.heard(now_ns, link, said))
        .collect()
}

fn replaced(acts: &[Act]) -> Option<(Range<u32>, u32, Nanos, u64)> {
    let told = acts.iter().find_map(|act| match act {
        Act::Tell(WorkerReport::Replaced {
            workers,
            lost,
            from,
            ..
        }) => Some((workers.clone(), *lost, *from)),
        _ => None,
    });
    let start = acts.iter().find_map(|act| match act {
        Act::Say(LATE, What::Start(start)) => Some(start),
        _ => None,
    });
    let ((workers, lost, from), start) = (told?, start?);
    assert_eq!(start.from_ns, from.0);
    Some((workers, lost, from, start.at_ns))
}

fn given_up(acts: &[Act]) -> Vec<u32> {
    let given_up = acts.iter().filter_map(|act| match act {
        Act::Tell(WorkerReport::GivenUp { lost, .. }) => Some(*lost),
        _ => None,
    });
    given_up.collect()
}

#[test]
fn another_takes_over_at_the_schedules_now() {
    let mut roster = started([2, 1]);
    let live = Live {
        started: 12,
        completed: 12,
        ..Live::default()
    };
    roster.heard(S, 0, Said::Live(live));
    assert_eq!(gone(roster.closed(2 * S, 0)).len(), 1);
    let acts = roster.heard(3 * S, LATE, hello("again"));
    assert!(
        acts.iter().any(|act| matches!(act, Act::Employ(LATE, _))),
        "{acts:?}"
    );
    let acts = roster.heard(4 * S, LATE, ready_with(3, ""));
    assert_eq!(replaced(&acts), None, "its clock is not known yet");
    let acts = answer_all(&mut roster, 4 * S, LATE);
    let ahead = nanos(START_AHEAD);
    // The run started shortly after zero.
    let (from, at_ns) = (Nanos(4 * S), ahead);
    assert_eq!(replaced(&acts), Some((3..6, 0, from, at_ns)));
    let [WorkerReport::Interval { worker, .. }] =
        &told(roster.heard(5 * S, LATE, report(0, 2, 5)))[..]
    else {
        panic!("one report");
    };
    assert_eq!(*worker, 5);
    let live = Live {
        started: 3,
        ..Live::default()
    };
    roster.heard(5 * S, LATE, Said::Live(live));
    assert_eq!(roster.live_of(0).started, 15);
    let lost = gone(roster.closed(6 * S, LATE));
    assert!(
        matches!(&lost[..], [(0, lost)] if lost.workers == (3..6) && lost.from == from),
        "{lost:?}"
    );
}

#[test]
fn another_takes_over_from_the_start_what_was_lost_before_it() {
    let mut roster = ready([2, 1]);
    roster.close();
    let lost = gone(roster.closed(2 * S, 0));
    assert!(
        matches!(&lost[..], [(0, lost)] if lost.is_awaited),
        "{lost:?}"
    );
    roster.heard(3 * S, LATE, hello("again"));
    roster.heard(4 * S, LATE, ready_with(3, ""));
    let acts = answer_all(&mut roster, 4 * S, LATE);
    assert_eq!(replaced(&acts), None, "nobody has begun");
    let (at_ns, acts) = roster.start(5 * S, None);
    let from = Nanos(nanos(START_AHEAD));
    assert_eq!(replaced(&acts), Some((3..6, 0, from, at_ns)));
    let acts = answer_all(&mut roster, 6 * S, LATE);
    assert_eq!(replaced(&acts), None, "it has begun");
}

#[test]
fn nobody_is_awaited_in_vain() {
    let lost = |now| {
        let mut roster = started([1, 1]);
        for second in 0..now {
            roster.heard(second * S, 1, Said::Live(Live::default()));
        }
        roster.heard(now * S, 0, Said::Live(Live::default()));
        let lost = gone(roster.closed(now * S, 0));
        assert_eq!(lost.len(), 1);
        let is_awaited = lost[0].1.is_awaited;
        (roster, is_awaited)
    };
    let (mut roster, _) = lost(2);
    roster.heard(31 * S, 1, Said::Live(Live::default()));
    assert!(given_up(&roster.tick(31 * S)).is_empty());
    roster.heard(33 * S, 1, Said::Live(Live::default()));
    assert_eq!(given_up(&roster.tick(33 * S)), [0], "for 30 s");
    assert!(given_up(&roster.tick(34 * S)).is_empty(), "once");
    let (mut roster, _) = lost(2);
    roster.heard(3 * S, 1, ended());
    assert_eq!(given_up(&roster.tick(3 * S)), [0], "the others have ended");
    let (mut roster, _) = lost(2);
    let acts = roster.order(RunCommand::StopGracefully);
    assert_eq!(given_up(&acts), [0], "the test is called off");
    let (_, is_awaited) = lost(61);
    assert!(!is_awaited, "the test is over");
    let mut roster = started([1, 1]);
    roster.expected.is_replaceable = false;
    assert!(!gone(roster.closed(S, 0))[0].1.is_awaited, "by number");
}

#[test]
fn a_test_that_kills_its_agents_is_not_fed_for_ever() {
    let mut roster = started([1, 1]);
    let mut link = 0;
    let mut tries = 0;
    loop {
        roster.heard(S, 1, Said::Live(Live::default()));
        let lost = gone(roster.closed(S, link));
        if !lost[0].1.is_awaited {
            break;
        }
        tries += 1;
        link = LATE + tries;
        roster.heard(S, link, hello(""));
        roster.heard(S, link, ready_with(1, ""));
        answer_all(&mut roster, S, link);
    }
    assert_eq!(tries, 5);
}

#[test]
fn one_that_is_gone_before_it_takes_over_leaves_the_place_to_the_next() {
    let mut roster = started([1, 1]);
    roster.closed(S, 0);
    roster.heard(S, LATE, hello(""));
    assert!(gone(roster.closed(2 * S, LATE)).is_empty(), "told already");
    let acts = roster.heard(3 * S, LATE + 1, hello("third"));
    assert!(
        acts.iter().any(|act| matches!(act, Act::Employ(..))),
        "{acts:?}"
    );
    let acts = roster.heard(3 * S, LATE + 2, hello("fourth"));
    assert!(
        !acts.iter().any(|act| matches!(act, Act::Employ(..))),
        "{acts:?}"
    );
}
