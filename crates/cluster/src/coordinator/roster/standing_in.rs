//! Agents that run the share of a lost one in addition to their own, if no replacement comes.
//!
//! Must not know how an agent does that. Invariants: there is one open request per share at a time, and only
//! the agent that accepts it gets the seat; only capable agents with enough CPU are asked; if there is none, or
//! none accepts, the reason is reported.

use std::time::Duration;

use loadline_engine::WorkerReport;

use super::seat::{Awaited, Seat, State};
use super::{Act, Roster, StandIn, What, nanos};
use crate::share::SHARES_MAX;

/// How long an agent that was asked may take to join.
const COMES_WITHIN: Duration = Duration::from_secs(10);
/// How often an agent is asked for the same share: its connection may have broken.
const ASKED_MAX: usize = 2;
/// How many stand-ins for one share may be lost soon, one after another: a share that kills its agents would kill
/// all.
const STOOD_IN_MAX: u32 = 2;
/// Percent of its CPU and memory up to which an agent gets another share.
const USED_MAX: u64 = 80;
/// Time after which a share shows in the resource use of its process.
const SHOWS_AFTER: Duration = Duration::from_secs(5);
/// Maximum reasons that are reported.
const REASONS_MAX: usize = 5;

impl Roster {
    /// Nobody has replaced a lost agent in time: asks an existing agent to stand in, or reports why none can.
    pub(super) fn hand_on(&mut self, now_ns: u64, number: usize) -> Vec<Act> {
        let mut acts = Vec::new();
        if self.seats[number].state != State::Gone {
            acts.extend(self.lose(now_ns, number, "it was not ready in time"));
        }
        if let Some(awaited) = &mut self.seats[number].awaited {
            // The agent that was asked before has not joined.
            awaited.ticket = None;
        }
        acts.extend(match self.host_for(now_ns, number) {
            Ok(host) => self.ask_to_stand_in(now_ns, number, host),
            Err(why) => self.leave_open(number, &why),
        });
        acts
    }

    /// The seat for an agent that was asked to stand in.
    ///
    /// # Errors
    /// It is not free any more; in words for the agent's user.
    pub(super) fn seat_of_ticket(&self, ticket: u64) -> Result<usize, &'static str> {
        let is_it = |seat: &Seat| {
            let awaited = seat.awaited.as_ref();
            seat.state == State::Gone && awaited.is_some_and(|one| one.ticket == Some(ticket))
        };
        let is_over = self.ending.is_some();
        let number = self.seats.iter().position(is_it).filter(|_| !is_over);
        number.ok_or("another agent already has the share, or it is no longer needed")
    }

    /// Whether there is an agent without a share.
    pub(super) fn has_spare(&self, now_ns: u64) -> bool {
        let is_free = |seat: &&Seat| {
            let waits = seat.state == State::Idle && is_there(seat) && seat.can_stand_in;
            waits && self.shares_of(now_ns, seat).all() == 0
        };
        self.seats.iter().any(|seat| is_free(&seat))
    }

    /// One that stands in, if there is one.
    pub(super) fn stand_in_at_work(&self) -> Option<usize> {
        let is_it = |seat: &Seat| seat.stands_in_for.is_some() && seat.state != State::Gone;
        let mut seats = self.seats.iter();
        seats.position(|seat| is_it(seat) && !seat.is_former)
    }

    /// The name of a lost agent, or of the one for which it stood in, by the first of its workers.
    pub(super) fn name_of_lost(&self, lost: u32) -> String {
        let mut seats = self.seats.iter();
        let seat = seats.find(|seat| seat.workers.start == lost && !seat.workers.is_empty());
        let name = |seat: &Seat| seat.stands_in_for.as_ref().unwrap_or(&seat.name).clone();
        seat.map_or_else(String::new, name)
    }

    /// The agent that was to take over was lost before it started; if it was to stand in, the next one is asked at
    /// once.
    pub(super) fn gone_before_it_began(
        &mut self,
        now_ns: u64,
        number: usize,
        (state, why): (&State, &str),
    ) -> Option<Act> {
        let seat = &mut self.seats[number];
        let label = seat.label();
        let was_there = !matches!(state, State::Idle | State::Gone);
        let awaited = seat.awaited.as_mut().filter(|_| was_there)?;
        if seat.stands_in_for.is_some() {
            awaited.until_ns = now_ns;
        }
        Some(Act::Note(format!("{label} cannot take over: {why}")))
    }

    fn ask_to_stand_in(&mut self, now_ns: u64, number: usize, host: usize) -> Vec<Act> {
        let ticket = self.next_ticket;
        let lost = self.seats[number].awaited.as_ref();
        let lost = lost.map_or_else(String::new, |awaited| self.name_of_lost(awaited.lost));
        let seat = &self.seats[host];
        let (link, name, process) = (seat.link, seat.name.clone(), seat.process.clone());
        let Some(awaited) = &mut self.seats[number].awaited else {
            return Vec::new();
        };
        self.next_ticket += 1;
        awaited.ticket = Some(ticket);
        awaited.until_ns = now_ns.saturating_add(nanos(COMES_WITHIN));
        awaited.asked.push(process);
        let note = format!("no agent has replaced {lost}: {name} is asked to stand in");
        let asked = StandIn { ticket, name, lost };
        vec![Act::Note(note), Act::Say(link, What::StandIn(asked))]
    }

    /// Nobody runs the share any more.
    fn leave_open(&mut self, number: usize, why: &str) -> Vec<Act> {
        let Some(Awaited { lost, .. }) = self.seats[number].awaited.take() else {
            return Vec::new();
        };
        let name = self.name_of_lost(lost);
        let share = self.expected.wanted;
        let why = format!("no agent generates the share of {name}, 1/{share}, any more: {why}");
        vec![
            Act::Note(why.clone()),
            Act::Tell(WorkerReport::GivenUp {
                lost,
                why: Some(why),
            }),
        ]
    }

    /// The agent that is asked to run a share: of those with enough room the one with the fewest shares, and of these
    /// the least busy.
    ///
    /// # Errors
    /// None can; says why.
    fn host_for(&self, now_ns: u64, number: usize) -> Result<usize, String> {
        let seat = &self.seats[number];
        if seat.stood_in >= STOOD_IN_MAX && !self.has_held(now_ns, seat) {
            return Err(format!(
                "{STOOD_IN_MAX} agents stood in for it and were soon lost"
            ));
        }
        let asked = seat.awaited.as_ref().map_or(&[][..], |one| &one.asked);
        let times = |seat: &Seat| asked.iter().filter(|one| **one == seat.process).count();
        let there = self.seats.iter().enumerate();
        let there = there.filter(|(_, seat)| is_there(seat));
        let mut best = None;
        let mut reasons = Vec::new();
        for (place, seat) in there {
            let shares = self.shares_of(now_ns, seat);
            let busy = self.percent_busy(seat, &shares);
            let rank = (times(seat), shares.all(), busy);
            match lacks(seat, &shares, (times(seat), busy)) {
                Some(why) => reasons.push(format!("{} {why}", seat.name)),
                None if best.is_none_or(|(least, _)| rank < least) => best = Some((rank, place)),
                None => {}
            }
        }
        let more = reasons.len().saturating_sub(REASONS_MAX);
        reasons.truncate(REASONS_MAX);
        if more > 0 {
            reasons.push(format!("{more} others cannot either"));
        }
        let nobody = || match reasons.is_empty() {
            true => "there is no other agent".to_owned(),
            false => reasons.join(", "),
        };
        best.map(|(_, place)| place).ok_or_else(nobody)
    }

    /// Shares of an agent's process.
    fn shares_of(&self, now_ns: u64, seat: &Seat) -> Shares {
        let mut shares = Shares::default();
        for other in self.seats.iter().filter(|other| !other.is_former) {
            let awaited = other.awaited.as_ref().filter(|one| one.ticket.is_some());
            if awaited.is_some_and(|one| one.asked.last() == Some(&seat.process)) {
                shares.coming += 1;
            }
            let is_there = !matches!(other.state, State::Idle | State::Gone);
            if other.process != seat.process || !is_there {
                continue;
            }
            let begun = self.since_start(now_ns);
            let begun = begun.map_or(0, |now| now.0.saturating_sub(other.from.0));
            let is_new = other.workers.is_empty() || begun < nanos(SHOWS_AFTER);
            match is_new && other.stands_in_for.is_some() {
                true => shares.coming += 1,
                false => shares.seen += usize::from(!other.has_ended()),
            }
        }
        shares
    }

    /// Percent of an agent's cores that it and others on the same cores would use if it ran all its shares and one
    /// more.
    fn percent_busy(&self, seat: &Seat, shares: &Shares) -> u64 {
        let is_beside = |other: &&Seat| {
            let is_same = other.process == seat.process;
            let owner = &other.cores_owner;
            is_there(other) && !is_same && !owner.is_empty() && *owner == seat.cores_owner
        };
        let beside = self.seats.iter().filter(is_beside);
        let beside: f64 = beside.map(|other| other.room.busy_cores()).sum();
        let own = shares.with_one_more(seat.room.busy_cores());
        percent(beside + own, seat.used.cores)
    }
}

/// Shares of a process.
#[derive(Default)]
struct Shares {
    /// Those that show in its resource use.
    seen: usize,
    /// Those that do not show yet, or are requested.
    coming: usize,
}

impl Shares {
    fn all(&self) -> usize {
        self.seen + self.coming
    }

    /// What all of them and one more would use, given the current use.
    fn with_one_more(&self, used: f64) -> f64 {
        used + used / self.seen.max(1) as f64 * (self.coming + 1) as f64
    }
}

/// Why an agent is not asked; `None`: it is. `busy`: the percentage of its cores that it would use with one more
/// share.
fn lacks(seat: &Seat, shares: &Shares, (times_asked, busy): (usize, u64)) -> Option<String> {
    if !seat.can_stand_in {
        return Some("is of a version that cannot stand in".to_owned());
    }
    if times_asked >= ASKED_MAX {
        return Some("was asked to stand in, and could not".to_owned());
    }
    if shares.all() >= SHARES_MAX {
        return Some(format!("has {} shares", shares.all()));
    }
    if seat.room.is_throttled() {
        return Some("has no room: its CPU quota throttles it".to_owned());
    }
    let of_memory = shares.with_one_more(seat.used.rss_bytes as f64);
    let of_memory = percent(of_memory, seat.memory_bytes as f64);
    let uses = [(busy, "CPU"), (of_memory, "memory")];
    let (most, what) = uses.into_iter().find(|(most, _)| *most > USED_MAX)?;
    Some(format!(
        "has no room: with one more share it would use {most} % of its {what}"
    ))
}

/// Whether an agent can be asked: it is connected, and represents its process.
fn is_there(seat: &Seat) -> bool {
    let is_at_work = matches!(seat.state, State::Ready(_)) && !seat.workers.is_empty();
    let is_waiting = seat.state == State::Idle;
    let may_stay = is_waiting || (is_at_work && !seat.is_former);
    may_stay && seat.away.is_none() && seat.stands_in_for.is_none()
}

/// Zero if the total is unknown.
fn percent(part: f64, whole: f64) -> u64 {
    match whole > 0.0 {
        true => (100.0 * part / whole).round() as u64,
        false => 0,
    }
}
