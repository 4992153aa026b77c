//! Joining agents: who is accepted, and in which seat.
//!
//! Must not know how a share is run. Invariants: no two agents share a seat; a rejected agent is told why, and
//! one that comes too late to be useful waits for the end of the test.

use super::seat::{Seat, State};
use super::{Act, Expected, Hello, Link, Order, Refusal, Return, Roster, Welcome, What, adopting};

/// How many late agents wait at a time.
const SPARES_MAX: usize = 20;
/// How many late agents are accepted in all: one that ends again and again is refused.
const LATE_MAX: u32 = 1_000;

impl Roster {
    /// Accepts an agent, or says why not.
    pub(super) fn welcome(&mut self, now_ns: u64, link: Link, hello: &Hello) -> Vec<Act> {
        let refuse = |why: String| {
            let refusal = What::Refusal(Refusal { why });
            vec![Act::Say(link, refusal), Act::Close(link)]
        };
        if self.by_link.contains_key(&link) {
            return Vec::new();
        }
        if !is_compatible(&self.expected.version, &hello.version) {
            return refuse(format!(
                "the coordinator is loadline {} and cannot work with an agent of {}; use one version",
                self.expected.version,
                shortened(&hello.version)
            ));
        }
        if hello.part.is_some() {
            return self
                .joined_again(now_ns, link, hello)
                .unwrap_or_else(refuse);
        }
        if self.adoption.is_some() && !self.is_closed {
            return refuse(adopting::HAS_ITS_OWN.to_owned());
        }
        if let Some(asked) = &hello.stands_in {
            let number = self.seat_of_ticket(asked.ticket);
            let sit_down = |number| self.seat_again(now_ns, link, number, hello);
            return number.map_or_else(|why| refuse(why.to_owned()), sit_down);
        }
        if let Some(number) = self.free_seat(now_ns) {
            return self.seat_again(now_ns, link, number, hello);
        }
        let mut acts = self.lose_former_pod(now_ns, hello);
        if self.may_wait() {
            acts.extend(self.too_late(now_ns, link, hello));
            return acts;
        }
        let there = self.seats.iter().filter(|seat| !seat.is_former).count();
        let share = u32::try_from(there).unwrap_or(u32::MAX);
        let Expected { wanted, idle, .. } = self.expected;
        let all = wanted + idle;
        let is_idle = share >= wanted;
        if self.ending.is_some() || (self.is_closed && !is_idle) || share >= all {
            return refuse(format!("all {all} agents of the test have joined"));
        }
        let state = match is_idle {
            true => State::Idle,
            false => State::Preparing,
        };
        let seat = Seat::new(now_ns, link, (share, hello), state);
        let note = format!("{} has joined: {} of {}", seat.name, share + 1, all);
        let number = self.add_seat(seat);
        self.greet(now_ns, number, note)
    }

    /// A pod replaces another one: the old one has ended, and is not awaited.
    fn lose_former_pod(&mut self, now_ns: u64, hello: &Hello) -> Vec<Act> {
        let pod = shortened(&hello.pod);
        let is_it = |seat: &Seat| {
            seat.away.is_some()
                && matches!(seat.state, State::Ready(_))
                && seat.name == hello.name
                && ![pod.as_str(), ""].contains(&seat.pod.as_str())
        };
        let number = self.seats.iter().position(is_it);
        let Some(number) = number.filter(|_| !pod.is_empty()) else {
            return Vec::new();
        };
        let away = self.seats[number].away.as_ref();
        let why = away.map_or(String::new(), |away| away.why.clone());
        self.lose(
            now_ns,
            number,
            &format!("{why}, and another pod replaced it"),
        )
    }

    /// Whether one more may wait for a share: some agents were lost, and the new one replaces one of them.
    fn may_wait(&self) -> bool {
        let is_under_way = self.started_ns.is_some() && self.ending.is_none();
        let mut seats = self.seats.iter();
        let is_of_lost = seats.any(|seat| seat.is_former || seat.state == State::Gone);
        let waiting = self.seats.iter();
        let waiting = waiting.filter(|seat| seat.is_former && seat.state == State::Idle);
        let has_room = self.late < LATE_MAX && waiting.count() < SPARES_MAX;
        is_under_way && is_of_lost && has_room
    }

    /// Others have all shares by now: a new agent waits for the end of the test, or for a loss.
    fn too_late(&mut self, now_ns: u64, link: Link, hello: &Hello) -> Vec<Act> {
        let other = self.stand_in_at_work().map(|number| &self.seats[number]);
        let share = other.map_or(0, |other| other.share);
        let why = match other {
            Some(Seat {
                name,
                stands_in_for: Some(lost),
                ..
            }) => format!("{name} stands in for {lost}"),
            _ if self.is_past_end(now_ns) => "the load is over".to_owned(),
            _ => "others have all shares".to_owned(),
        };
        let mut seat = Seat::new(now_ns, link, (share, hello), State::Idle);
        seat.is_former = true;
        seat.note = format!(
            "{why} by now: there is nothing to do until the test ends, or another agent is lost"
        );
        let note = format!("{} has joined, but is not needed: {why}", seat.name);
        self.late += 1;
        let number = self.add_seat(seat);
        self.greet(now_ns, number, note)
    }

    /// Tells an agent its part; `back`: how it continues what it does already.
    pub(super) fn welcome_of(&self, seat: &Seat, back: Option<Return>) -> Act {
        let welcome = Welcome {
            number: seat.share,
            agents: self.expected.wanted,
            run: self.expected.run.clone(),
            test: self.expected.test.clone(),
            generation: seat.generation,
            back,
            note: seat.note.clone(),
        };
        Act::Say(seat.link, What::Welcome(welcome))
    }

    /// Tells an agent with a seat what to do.
    pub(super) fn greet(&mut self, now_ns: u64, number: usize, note: String) -> Vec<Act> {
        let seat = &self.seats[number];
        let link = seat.link;
        self.by_link.insert(link, number);
        let mut acts = vec![Act::Note(note), self.welcome_of(seat, None)];
        let seat = &mut self.seats[number];
        acts.push(seat.ask(now_ns));
        if seat.state != State::Idle {
            acts.push(Act::Employ(link, seat.holds.clone()));
            let orders = self.orders.iter();
            acts.extend(orders.map(|order| Act::Say(link, What::Order(Order::from(*order)))));
        }
        acts
    }
}

/// Whether two versions may work together: the same major number, and minor numbers at most one apart.
fn is_compatible(mine: &str, theirs: &str) -> bool {
    let numbers = |text: &str| -> Option<(u64, u64)> {
        let mut parts = text.split('.').map(str::parse::<u64>);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    };
    match (numbers(mine), numbers(theirs)) {
        (Some((my_major, mine)), Some((major, theirs))) => {
            my_major == major && mine.abs_diff(theirs) <= 1
        }
        _ => false,
    }
}

/// The name of an agent: its own, or one from its number.
pub(super) fn named(name: &str, share: u32) -> String {
    match shortened(name) {
        name if name.is_empty() => format!("agent-{}", share.saturating_add(1)),
        name => name,
    }
}

/// Where an agent runs, as a suffix of its name; empty if unknown.
pub(super) fn place_of(hello: &Hello) -> String {
    match (shortened(&hello.pod), shortened(&hello.node)) {
        (pod, node) if node.is_empty() && pod.is_empty() => String::new(),
        (pod, node) if node.is_empty() => format!(" (pod {pod})"),
        (pod, node) if pod.is_empty() => format!(" (node {node})"),
        (pod, node) => format!(" (pod {pod} on node {node})"),
    }
}

/// Foreign text, short enough for a message and without control characters.
pub(super) fn shortened(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(64).collect()
}
