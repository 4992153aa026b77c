//! Replacements for lost agents.
//!
//! Must not know why an agent was lost. Invariants: a share belongs to one agent at a time; iterations planned
//! by time are started by one agent or counted as lost by the other; a run never waits for an agent that cannot join.

use std::time::Duration;

use loadline_engine::WorkerReport;
use loadline_model::Nanos;

use super::seat::{Awaited, Seat, State};
use super::{Act, Hello, Link, Roster, START_AHEAD, nanos};
use crate::clocks::QUESTIONS;

/// How long a new agent may take to be ready.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// Maximum shares that are reassigned at one instant: each takes a search among all agents.
const AT_ONCE_MAX: usize = 10;
/// How many replacements may be lost soon, one after another: a test that kills its agents kills the next one, too.
const REPLACED_MAX: u32 = 5;
/// An agent that ran a share for this long was not lost because of it.
const HELD_FOR: Duration = Duration::from_secs(30);

impl Roster {
    /// Whether an agent that is lost now may be replaced.
    pub(super) fn may_be_replaced(&self, now_ns: u64, number: usize) -> bool {
        let is_called_off = self.orders.iter().any(|order| order.is_stop());
        let is_over = self.ending.is_some();
        let is_possible = self.expected.is_replaceable && !is_over && !is_called_off;
        let seat = &self.seats[number];
        is_possible
            && !seat.is_former
            && (seat.lost_soon < REPLACED_MAX || self.has_held(now_ns, seat))
            && self.is_closed
            && !self.is_past_end(now_ns)
    }

    /// Whether the agent of this seat ran the share for long, until it was lost or until now.
    pub(super) fn has_held(&self, now_ns: u64, seat: &Seat) -> bool {
        let away = seat.away.as_ref().map(|away| away.since_ns);
        let lost = seat.awaited.as_ref().map(|awaited| awaited.since_ns);
        let until = self.since_start(away.or(lost).unwrap_or(now_ns));
        let held = until.map_or(0, |until| until.0.saturating_sub(seat.from.0));
        !seat.workers.is_empty() && held >= nanos(HELD_FOR)
    }

    /// Whether nothing more starts.
    pub(super) fn is_past_end(&self, now_ns: u64) -> bool {
        let end = self.expected.end;
        end.is_some_and(|end| self.since_start(now_ns).is_some_and(|now| now >= end))
    }

    pub(super) fn since_start(&self, now_ns: u64) -> Option<Nanos> {
        let since = now_ns.wrapping_sub(self.started_ns?).cast_signed();
        Some(Nanos(since.max(0).unsigned_abs()))
    }

    /// The seat of a lost agent that another may take; otherwise that of the agent that has been silent longest.
    pub(super) fn free_seat(&self, now_ns: u64) -> Option<usize> {
        let is_free = |seat: &Seat| seat.awaited.is_some() && seat.state == State::Gone;
        let away = self.seats.iter().enumerate().filter_map(|(number, seat)| {
            let is_at_work = matches!(seat.state, State::Ready(_)) && !seat.has_ended();
            let is_free = is_at_work && self.may_be_replaced(now_ns, number);
            let away = seat.away.as_ref().filter(|_| is_free)?;
            Some((away.since_ns, number))
        });
        let lost = self.seats.iter().position(is_free);
        lost.or_else(|| away.min().map(|(_, number)| number))
    }

    /// Another agent takes the seat of a lost one.
    pub(super) fn seat_again(
        &mut self,
        now_ns: u64,
        link: Link,
        number: usize,
        hello: &Hello,
    ) -> Vec<Act> {
        let mut acts = self.supersede_if_away(number);
        let has_held = self.has_held(now_ns, &self.seats[number]);
        let seat = &mut self.seats[number];
        let mut next = Seat::new(now_ns, link, (seat.share, hello), State::Preparing);
        next.generation = seat.generation + 1;
        if !has_held {
            next.lost_soon = seat.lost_soon + 1;
            next.stood_in = seat.stood_in * u32::from(next.stands_in_for.is_some());
        }
        next.awaited = seat.awaited.take().map(|awaited| Awaited {
            ticket: None,
            until_ns: awaited.until_ns.max(now_ns + nanos(READY_WITHIN)),
            ..awaited
        });
        let note = match &next.stands_in_for {
            Some(lost) => format!("{} prepares to stand in for {lost}", next.name),
            None => format!("{} has joined to replace {}", next.name, seat.name),
        };
        let mut former = std::mem::replace(seat, next);
        former.is_former = true;
        self.add_seat(former);
        acts.extend(self.greet(now_ns, number, note));
        acts
    }

    /// Starts a replacement, once it is ready and its clock is known.
    pub(super) fn replace_if_ready(&mut self, now_ns: u64, number: usize) -> Vec<Act> {
        let (Some(now), Some(started_ns)) = (self.since_start(now_ns), self.started_ns) else {
            return Vec::new();
        };
        let wanted = self.expected.wanted;
        let seat = &mut self.seats[number];
        let State::Ready(workers) = &seat.state else {
            return Vec::new();
        };
        let is_known = seat.clock.answers() >= QUESTIONS;
        let Some(Awaited { since_ns, lost, .. }) = seat.awaited.take_if(|_| is_known) else {
            return Vec::new();
        };
        let stands_in = match &seat.stands_in_for {
            None => String::new(),
            Some(lost) => format!(" stands in for {lost} and"),
        };
        seat.stood_in += u32::from(seat.stands_in_for.is_some());
        seat.from = Nanos(now.0.saturating_add(nanos(START_AHEAD)));
        seat.workers = self.next_worker..self.next_worker.saturating_add(*workers);
        self.next_worker = seat.workers.end;
        let gap = Duration::from_nanos(now_ns.saturating_sub(since_ns)) + START_AHEAD;
        let replaced = WorkerReport::Replaced {
            workers: seat.workers.clone(),
            lost,
            from: seat.from,
            what: format!(
                "{}{stands_in} has taken over the share, 1/{wanted}, {:.1} s after its agent was lost",
                seat.name,
                gap.as_secs_f64()
            ),
        };
        let start = self.start_of(&self.seats[number], started_ns);
        vec![Act::Tell(replaced), start]
    }

    /// Reassigns the shares of agents that were awaited long enough; awaits none once the others have ended.
    pub(super) fn give_up_if_due(&mut self, now_ns: u64) -> Vec<Act> {
        let working = |seat: &&Seat| matches!(seat.state, State::Ready(_)) && !seat.has_ended();
        let ended = |seat: &&Seat| !seat.workers.is_empty() && seat.has_ended();
        let mut seats = self.seats.iter().filter(|seat| !seat.is_former);
        let is_done = seats.clone().any(|seat| ended(&seat)) && !seats.any(|seat| working(&seat));
        if is_done {
            let mut acts = self.give_up();
            acts.extend(self.settle_all());
            return acts;
        }
        if self.is_past_end(now_ns) {
            return self.give_up();
        }
        let is_due = |seat: &Seat| {
            let awaited = seat.awaited.as_ref();
            awaited.is_some_and(|awaited| now_ns > awaited.until_ns)
        };
        let due: Vec<usize> = (0..self.seats.len())
            .filter(|number| is_due(&self.seats[*number]))
            .take(AT_ONCE_MAX)
            .collect();
        due.into_iter()
            .flat_map(|number| self.hand_on(now_ns, number))
            .collect()
    }

    /// Stops waiting for agents.
    pub(super) fn give_up(&mut self) -> Vec<Act> {
        let seats = self.seats.iter_mut();
        seats
            .filter_map(|seat| seat.awaited.take())
            .map(|awaited| given_up(&awaited))
            .collect()
    }
}

fn given_up(awaited: &Awaited) -> Act {
    Act::Tell(WorkerReport::GivenUp {
        lost: awaited.lost,
        why: None,
    })
}
