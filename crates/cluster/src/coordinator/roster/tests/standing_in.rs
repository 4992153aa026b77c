//! Agents that stand in for lost ones: which is asked, which gets the seat, and which is refused because it is too
//! late.

use proptest::prelude::*;

use super::*;

/// The link of an agent that joins to stand in.
const STAND_IN: Link = 70;

/// The first message of a process's agent.
fn hello_of(name: &str, stands_in: Option<StandIn>) -> Said {
    Said::Hello(Hello {
        version: "1.5.0".to_owned(),
        name: name.to_owned(),
        process: format!("process of {name}"),
        can_stand_in: stands_in.is_none(),
        stands_in,
        ..Hello::default()
    })
}

/// Three running agents, of which the first is lost after 2 s; returns everything until then.
fn one_lost() -> Roster {
    let mut roster = roster_of(3, 0);
    roster.expected.end = Some(Nanos::from_secs(600));
    for (link, name) in (0..).zip(["graz", "linz", "vienna"]) {
        roster.heard(0, link, hello_of(name, None));
        roster.heard(0, link, ready_with(1, name));
    }
    roster.close();
    roster.start(0, None);
    let live = Live {
        started: 9,
        completed: 4,
        cpu_ns: 500,
        ..Live::default()
    };
    roster.heard(S, 0, Said::Live(live));
    assert_eq!(gone(roster.closed(2 * S, 0)).len(), 1);
    roster
}

/// The second and the third report their resource use, and time passes.
fn pass(roster: &mut Roster, from_s: u64, to_s: u64, cores: [f64; 2]) -> Vec<Act> {
    let mut acts = Vec::new();
    for second in from_s..=to_s {
        for (link, cores) in (1..).zip(cores) {
            let live = Live {
                cpu_ns: (cores * 1e9) as u64 * second,
                ..Live::default()
            };
            acts.extend(roster.heard(second * S, link, Said::Live(live)));
        }
        acts.extend(roster.tick(second * S));
    }
    acts
}

fn asked(acts: &[Act]) -> Vec<(Link, StandIn)> {
    let asked = acts.iter().filter_map(|act| match act {
        Act::Say(link, What::StandIn(asked)) => Some((*link, asked.clone())),
        _ => None,
    });
    asked.collect()
}

fn refused(acts: &[Act]) -> Option<String> {
    acts.iter().find_map(|act| match act {
        Act::Say(_, What::Refusal(refusal)) => Some(refusal.why.clone()),
        _ => None,
    })
}

fn given_up(acts: &[Act]) -> Option<String> {
    acts.iter().find_map(|act| match act {
        Act::Tell(WorkerReport::GivenUp { lost: 0, why }) => why.clone(),
        _ => None,
    })
}

/// An agent gets a seat, gets ready, and its clock is compared.
fn sit_down(roster: &mut Roster, now_ns: u64, link: Link, hello: Said) -> Vec<Act> {
    let mut acts = roster.heard(now_ns, link, hello);
    acts.extend(roster.heard(now_ns, link, ready_with(1, "linz")));
    for number in 0..crate::clocks::QUESTIONS {
        let at_ns = now_ns;
        let answer = Said::Clock(ClockAnswer { number, at_ns });
        acts.extend(roster.heard(now_ns, link, answer));
    }
    acts
}

#[test]
fn the_least_busy_is_asked_after_thirty_seconds_and_makes_the_share() {
    let mut roster = one_lost();
    assert!(asked(&pass(&mut roster, 3, 32, [0.2, 0.5])).is_empty());
    let acts = pass(&mut roster, 33, 33, [0.2, 0.5]);
    let [(1, ticket)] = &asked(&acts)[..] else {
        panic!("linz is asked: {acts:?}");
    };
    assert_eq!((&*ticket.name, &*ticket.lost), ("linz", "graz"));
    assert!(
        asked(&pass(&mut roster, 34, 40, [0.2, 0.5])).is_empty(),
        "once"
    );
    let hello = hello_of("linz", Some(ticket.clone()));
    let acts = sit_down(&mut roster, 40 * S, STAND_IN, hello.clone());
    let told = told(acts);
    let [
        WorkerReport::Replaced {
            workers,
            lost: 0,
            from,
            what,
        },
    ] = &told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!((workers.clone(), *from), (3..4, Nanos(40 * S)));
    let words = "linz stands in for graz and has taken over the share, 1/3, 38.1 s after its agent was lost";
    assert_eq!(what, words);
    let why = refused(&roster.heard(41 * S, 71, hello)).expect("a second one is refused");
    assert!(why.contains("another agent already has the share"), "{why}");
}

#[test]
fn what_a_process_uses_counts_once_and_stands_in_its_own_row() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 33, [0.2, 0.5]);
    let ticket = asked(&acts)[0].1.clone();
    sit_down(
        &mut roster,
        34 * S,
        STAND_IN,
        hello_of("linz", Some(ticket)),
    );
    for link in [1, STAND_IN] {
        let live = Live {
            cpu_ns: 7_000_000_000,
            rss_bytes: 10,
            ..Live::default()
        };
        roster.heard(34 * S, link, Said::Live(live));
    }
    roster.heard(34 * S, STAND_IN, report(0, 0, 5));
    let used = roster.used(&GeneratorTotals::default());
    let vienna = 16_500_000_000;
    assert_eq!((used.cpu_ns, used.rss_bytes), (7_000_000_500 + vienna, 10));
    assert!((used.cores - 4.0).abs() < f64::EPSILON, "{}", used.cores);
    let rows = roster.shares();
    let told: Vec<_> = rows
        .iter()
        .map(|row| {
            let lost = row.stands_in_for.as_deref();
            (&*row.name, lost, row.cpu_ns, row.counts.started)
        })
        .collect();
    assert_eq!(
        told,
        [
            ("graz", None, 500, 9),
            ("linz", None, 7_000_000_000, 0),
            ("vienna", None, vienna, 0),
            ("linz", Some("graz"), 0, 5)
        ]
    );
}

#[test]
fn who_has_no_room_or_is_too_old_is_not_asked_and_that_is_said() {
    let mut roster = one_lost();
    roster.seats[2].can_stand_in = false;
    let acts = pass(&mut roster, 3, 33, [1.0, 0.1]);
    assert!(asked(&acts).is_empty(), "{acts:?}");
    let why = given_up(&acts).expect("it is given up");
    let words = "no agent generates the share of graz, 1/3, any more: linz has no room: with one more share it would use 100 % of its CPU, \
                 vienna is of a version that cannot stand in";
    assert_eq!(why, words);
    let mut roster = one_lost();
    roster.seats[1].memory_bytes = 100;
    pass(&mut roster, 3, 32, [0.1, 0.5]);
    let live = Live {
        rss_bytes: 50,
        ..Live::default()
    };
    roster.heard(33 * S, 1, Said::Live(live));
    let acts = roster.tick(33 * S);
    assert!(
        matches!(&asked(&acts)[..], [(2, _)]),
        "not the one without memory: {acts:?}"
    );
}

#[test]
fn a_share_that_is_asked_for_already_counts() {
    let mut roster = one_lost();
    // The third is lost a little later: both shares are reassigned before either shows in the resource use of the
    // second.
    assert_eq!(gone(roster.closed(2 * S + 1, 2)).len(), 1);
    let acts = pass(&mut roster, 3, 34, [0.6, 0.0]);
    let words = "linz has no room: with one more share it would use 90 % of its CPU";
    let is_told = |act: &Act| matches!(act, Act::Tell(WorkerReport::GivenUp { lost: 2, why: Some(why) }) if why.ends_with(words));
    assert!(acts.iter().any(is_told), "{acts:?}");
    assert!(matches!(&asked(&acts)[..], [(1, one)] if one.lost == "graz"));
}

#[test]
fn who_does_not_come_is_asked_twice_among_the_others_and_then_nobody_is() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 100, [0.2, 0.5]);
    let links: Vec<Link> = asked(&acts).iter().map(|(link, _)| *link).collect();
    assert_eq!(links, [1, 2, 1, 2]);
    let why = given_up(&acts).expect("it is given up");
    assert!(why.contains("vienna was asked to stand in, and could not"));
}

#[test]
fn who_cannot_after_all_says_so_and_the_next_is_asked() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 33, [0.2, 0.5]);
    let ticket = asked(&acts)[0].1.clone();
    roster.heard(34 * S, STAND_IN, hello_of("linz", Some(ticket)));
    let why = "no memory".to_owned();
    let acts = roster.heard(35 * S, STAND_IN, Said::Refusal(Refusal { why }));
    let note = |act: &Act| matches!(act, Act::Note(text) if text == "linz (for graz) cannot take over: no memory");
    assert!(acts.iter().any(note), "{acts:?}");
    let acts = pass(&mut roster, 36, 36, [0.2, 0.5]);
    assert!(matches!(&asked(&acts)[..], [(2, _)]), "{acts:?}");
}

#[test]
fn one_that_comes_in_time_has_the_share_and_who_was_asked_is_refused() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 33, [0.2, 0.5]);
    let ticket = asked(&acts)[0].1.clone();
    let acts = sit_down(&mut roster, 34 * S, 7, hello_of("salzburg", None));
    assert!(
        matches!(&told(acts)[..], [WorkerReport::Replaced { what, .. }] if what.starts_with("salzburg has"))
    );
    let acts = roster.heard(34 * S, STAND_IN, hello_of("linz", Some(ticket)));
    assert!(refused(&acts).is_some(), "{acts:?}");
    let made_up = StandIn {
        ticket: 99,
        ..StandIn::default()
    };
    let acts = roster.heard(34 * S, 72, hello_of("linz", Some(made_up)));
    assert!(refused(&acts).is_some(), "{acts:?}");
}

#[test]
fn who_comes_too_late_is_told_so_and_ends_with_the_test() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 33, [0.2, 0.5]);
    let ticket = asked(&acts)[0].1.clone();
    sit_down(
        &mut roster,
        34 * S,
        STAND_IN,
        hello_of("linz", Some(ticket)),
    );
    let acts = roster.heard(35 * S, 7, hello_of("graz", None));
    assert!(
        !acts.iter().any(|act| matches!(act, Act::Employ(..))),
        "{acts:?}"
    );
    let said = acts.iter().find_map(|act| match act {
        Act::Say(7, What::Welcome(welcome)) => Some(welcome.note.as_str()),
        _ => None,
    });
    let words = "linz stands in for graz by now: there is nothing to do until the test ends, or another agent is lost";
    assert_eq!(said, Some(words));
    assert!(
        gone(roster.closed(36 * S, 7)).is_empty(),
        "nobody misses it"
    );
    roster.heard(37 * S, 8, hello_of("graz", None));
    let ended = roster.end(0, "all");
    let is_told = |act: &Act| matches!(act, Act::Say(8, What::Ending(_)));
    assert!(ended.iter().any(is_told), "{ended:?}");
    let texts: Vec<Link> = ended
        .iter()
        .filter_map(|act| match act {
            Act::Say(link, What::Ending(ending)) if ending.text == "all" => Some(*link),
            _ => None,
        })
        .collect();
    assert_eq!(texts.len(), 1, "one tells the result");
    assert_ne!(texts[0], STAND_IN);
}

#[test]
fn a_share_that_ends_those_who_make_it_does_not_end_all() {
    let mut roster = one_lost();
    let mut now_s = 3;
    for _ in 0..2 {
        let acts = pass(&mut roster, now_s, now_s + 31, [0.1, 0.1]);
        let ticket = asked(&acts)[0].1.clone();
        now_s += 32;
        sit_down(
            &mut roster,
            now_s * S,
            STAND_IN,
            hello_of("linz", Some(ticket)),
        );
        assert_eq!(gone(roster.closed(now_s * S, STAND_IN)).len(), 1);
    }
    let acts = pass(&mut roster, now_s, now_s + 31, [0.1, 0.1]);
    assert!(asked(&acts).is_empty(), "{acts:?}");
    let told = acts.iter().any(|act| {
        matches!(act, Act::Tell(WorkerReport::GivenUp { why: Some(why), .. }) if why.ends_with("2 agents stood in for it and were soon lost"))
    });
    assert!(told, "{acts:?}");
}

#[test]
fn who_waits_is_asked_at_once() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 33, [0.2, 0.5]);
    let ticket = asked(&acts)[0].1.clone();
    let hello = hello_of("linz", Some(ticket));
    sit_down(&mut roster, 34 * S, STAND_IN, hello);
    assert!(refused(&roster.heard(35 * S, 7, hello_of("graz", None))).is_none());
    assert_eq!(gone(roster.closed(36 * S, 2)).len(), 1);
    let [(7, ticket)] = &asked(&roster.tick(36 * S + 1))[..] else {
        panic!("graz has nothing to do");
    };
    let acts = sit_down(
        &mut roster,
        37 * S,
        71,
        hello_of("graz", Some(ticket.clone())),
    );
    let acts = told(acts);
    assert!(
        matches!(&acts[..], [WorkerReport::Replaced { what, .. }] if what.starts_with("graz stands in for vienna")),
        "{acts:?}"
    );
}

#[test]
fn who_cannot_be_heard_gives_way_to_one_that_waits() {
    let mut roster = one_lost();
    let acts = pass(&mut roster, 3, 33, [0.2, 0.5]);
    let hello = hello_of("linz", Some(asked(&acts)[0].1.clone()));
    sit_down(&mut roster, 34 * S, STAND_IN, hello);
    roster.heard(35 * S, 7, hello_of("graz", None));
    roster.seats[2].grace_ns = 30 * S;
    assert!(
        gone(roster.closed(36 * S, 2)).is_empty(),
        "it may come back"
    );
    let second = |roster: &mut Roster, now_s: u64| {
        for link in [1, 7, STAND_IN] {
            roster.heard(now_s * S, link, Said::Live(Live::default()));
        }
        asked(&roster.tick(now_s * S))
    };
    for now_s in 37..=41 {
        assert!(second(&mut roster, now_s).is_empty(), "not after {now_s} s");
    }
    let [(7, asked)] = &second(&mut roster, 42)[..] else {
        panic!("graz has nothing to do");
    };
    assert_eq!(asked.lost, "vienna");
}

#[test]
fn a_share_that_is_held_for_a_while_may_be_lost_again_and_again() {
    let mut roster = one_lost();
    let mut now_s = 3;
    for link in 100..112 {
        let acts = sit_down(&mut roster, now_s * S, link, hello_of("graz", None));
        assert!(refused(&acts).is_none(), "{acts:?}");
        now_s += 40;
        let lost = gone(roster.closed(now_s * S, link));
        assert!(
            matches!(&lost[..], [(0, lost)] if lost.is_awaited),
            "{lost:?}"
        );
        now_s += 1;
    }
    for link in 112..117 {
        sit_down(&mut roster, now_s * S, link, hello_of("graz", None));
        assert!(gone(roster.closed(now_s * S, link))[0].1.is_awaited);
    }
    sit_down(&mut roster, now_s * S, 117, hello_of("graz", None));
    let lost = gone(roster.closed(now_s * S, 117));
    assert!(!lost[0].1.is_awaited, "the test ends its agents");
}

/// How often each loss was made good or given up.
#[derive(Default)]
struct Ends {
    replaced: BTreeMap<u32, u32>,
    given_up: BTreeMap<u32, u32>,
}

impl Ends {
    fn note(&mut self, acts: Vec<Act>) {
        for report in told(acts) {
            match report {
                WorkerReport::Replaced { lost, .. } => *self.replaced.entry(lost).or_default() += 1,
                WorkerReport::GivenUp { lost, .. } => *self.given_up.entry(lost).or_default() += 1,
                _ => {}
            }
        }
    }
}

/// Hostile and repeated messages of an agent.
fn hostile(kind: u8, link: Link, ticket: u64, now_ns: u64) -> Said {
    let stands_in = StandIn {
        ticket,
        ..StandIn::default()
    };
    match kind {
        0 => hello_of("linz", Some(stands_in)),
        1 => hello_of("new", None),
        2 => ready_with(1, "linz"),
        3 => report(ticket, 0, 5),
        4 => Said::Refusal(Refusal::default()),
        5 => Said::Live(Live {
            cpu_ns: now_ns / 8 * link,
            ..Live::default()
        }),
        _ => Said::Clock(ClockAnswer {
            number: ticket,
            at_ns: now_ns,
        }),
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn whatever_is_said_a_share_has_one_seat_and_a_loss_one_end(
        said in prop::collection::vec((0_u8..10, 0_u64..12, 0_u64..5, 0_u64..6), 1..150),
    ) {
        let mut roster = one_lost();
        let mut ends = Ends::default();
        let mut now = 2 * S;
        for (kind, link, number, seconds) in said {
            now += seconds * S;
            ends.note(match kind {
                7 => roster.closed(now, link),
                // All queries of a clock.
                8 => (0..crate::clocks::QUESTIONS)
                    .flat_map(|number| roster.heard(now, link, hostile(6, link, number, now)))
                    .collect(),
                9 => (0..3).flat_map(|link| roster.heard(now, link, hostile(5, link, 0, now))).collect(),
                _ => roster.heard(now, link, hostile(kind, link, number, now)),
            });
            ends.note(roster.tick(now));
            for share in 0..3 {
                let seats = roster.seats.iter();
                let seats = seats.filter(|seat| seat.share == share && !seat.is_former);
                prop_assert_eq!(seats.count(), 1);
            }
        }
        for (lost, times) in ends.replaced.iter().chain(&ends.given_up) {
            prop_assert_eq!(*times, 1, "of worker {}", lost);
        }
        prop_assert!(ends.replaced.keys().all(|lost| !ends.given_up.contains_key(lost)));
    }
}
