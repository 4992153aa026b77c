//! A coordinator that takes over a test from another one.
//!
//! Must not know why the other was lost. Invariants: what agents hand over is everything they did; the test starts
//! once, and its start time stays the same; agents that do not come back are named, and nothing is made up for them.

use std::time::Duration;

use loadline_engine::WorkerReport;
use loadline_engine::live::LiveTotals;
use loadline_model::Nanos;

use super::seat::{Awaited, Seat, State};
use super::{Act, Hello, Link, Lost, Refusal, Return, Roster, What, nanos};
use crate::clocks::QUESTIONS;
use crate::generated::{HandOver, Part};
use crate::message::{SECONDS_MAX, command_of};

/// How long to wait for the others, once one is back.
const ADOPT_WITHIN: Duration = Duration::from_secs(10);
/// Maximum commands that are taken over.
const ORDERS_MAX: usize = 1_000;
/// Why an agent that joins as a new one is rejected.
pub(super) const HAS_ITS_OWN: &str =
    "the test started under another coordinator, and continues with its agents";

/// What is known of a test that another coordinator started.
#[derive(Debug)]
pub(super) struct Adoption {
    /// When the first agent joined.
    since_ns: u64,
    /// Whether to wait for no other agent.
    is_due: bool,
    /// Agents that joined, by index, and the start of the run on each one's clock.
    handed: Vec<(usize, u64)>,
    /// How many seconds, from the first, are only known in total.
    seconds_in_one: u64,
    /// Whether some of them had taken over from others.
    has_later_generations: bool,
}

/// What a run learns about a test that another coordinator started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::coordinator) struct Adopted {
    /// What `setup()` returned.
    pub(in crate::coordinator) data: Option<String>,
    /// What the other coordinator passed on.
    pub(in crate::coordinator) kept: Vec<u8>,
    /// How many seconds, from the first, are only known in total.
    pub(in crate::coordinator) seconds_in_one: u64,
    /// What happened, in words.
    pub(in crate::coordinator) what: String,
}

impl Roster {
    /// Whether all agents of a continuing test are back, or none is awaited any more.
    pub(super) fn has_adopted(&self, adoption: &Adoption) -> bool {
        let ready = self.seats.iter().filter(|seat| self.is_adopted(seat));
        let ready = ready.count();
        ready == self.expected.wanted as usize || (adoption.is_due && ready > 0)
    }

    fn is_adopted(&self, seat: &Seat) -> bool {
        matches!(seat.state, State::Ready(_)) && seat.clock.answers() >= QUESTIONS
    }

    /// Checks whether the others were awaited long enough.
    pub(super) fn look_at_adoption(&mut self, now_ns: u64) {
        if let Some(adoption) = &mut self.adoption {
            adoption.is_due = now_ns.saturating_sub(adoption.since_ns) > nanos(ADOPT_WITHIN);
        }
    }

    /// Accepts an agent that runs a part of this test from a lost coordinator.
    ///
    /// # Errors
    /// It is not awaited; in words for its user.
    pub(super) fn adopt(
        &mut self,
        now_ns: u64,
        link: Link,
        (part, hello): (&Part, &Hello),
    ) -> Result<Vec<Act>, String> {
        let is_of_run = self.expected.run == part.run;
        let is_first = self.adoption.is_none() && !self.is_closed && !is_of_run;
        if !is_first && (self.adoption.is_none() || !is_of_run) {
            let why =
                "the test started without it: it was away for too long, or another has its share";
            return Err(why.to_owned());
        }
        if part.number >= self.expected.wanted {
            return Err("it has no share".to_owned());
        }
        let mut acts = Vec::new();
        if is_first {
            acts.extend(self.begin_adoption(now_ns, &part.run));
        }
        let number = self.place_of(part)?;
        let since_ns = self.adoption.as_ref().map_or(0, |known| known.since_ns);
        let mut seat = Seat::new(now_ns, link, (part.number, hello), State::Preparing);
        seat.generation = part.generation;
        match self.seats.get_mut(number) {
            Some(missed) => {
                // Even if it comes too late: its results are counted.
                let awaited_for = self.expected.awaited_for;
                let mut awaited = Awaited::new(since_ns, awaited_for, missed.workers.start);
                awaited.until_ns = awaited.until_ns.max(now_ns + nanos(ADOPT_WITHIN));
                seat.awaited = Some(awaited);
                *missed = seat;
            }
            None => drop(self.add_seat(seat)),
        }
        acts.extend(self.welcome_back(now_ns, number));
        Ok(acts)
    }

    /// The seat of an agent that comes back: a free one, or its former one.
    fn place_of(&self, part: &Part) -> Result<usize, String> {
        let of_share = |seat: &Seat| seat.share == part.number && !seat.is_former;
        match self.seats.iter().position(of_share) {
            None if !self.is_closed => Ok(self.seats.len()),
            Some(number) if self.is_closed && self.is_missed(&self.seats[number]) => Ok(number),
            _ => Err("another has its share".to_owned()),
        }
    }

    fn is_missed(&self, seat: &Seat) -> bool {
        let is_nobody = seat.grace_ns == 0 && seat.link == Link::MAX;
        is_nobody && seat.state == State::Gone
    }

    /// The first agent has come back: agents that joined as new ones are rejected.
    fn begin_adoption(&mut self, now_ns: u64, run: &str) -> Vec<Act> {
        run.clone_into(&mut self.expected.run);
        self.adoption = Some(Adoption {
            since_ns: now_ns,
            is_due: false,
            handed: Vec::new(),
            seconds_in_one: 0,
            has_later_generations: false,
        });
        self.failures.clear();
        self.by_link.clear();
        let others = std::mem::take(&mut self.seats).into_iter();
        let refuse = |seat: Seat| {
            let why = HAS_ITS_OWN.to_owned();
            let refusal = Act::Say(seat.link, What::Refusal(Refusal { why }));
            [refusal, Act::Close(seat.link)]
        };
        others.flat_map(refuse).collect()
    }

    fn welcome_back(&mut self, now_ns: u64, number: usize) -> Vec<Act> {
        let link = self.seats[number].link;
        self.by_link.insert(link, number);
        let back = Return {
            next_report: 0,
            is_anew: true,
        };
        let welcome = self.welcome_of(&self.seats[number], Some(back));
        vec![welcome, self.seats[number].ask(now_ns)]
    }

    /// An agent has handed over what is needed to continue.
    pub(super) fn handed_over(&mut self, now_ns: u64, number: usize, handed: HandOver) -> Vec<Act> {
        let seat = &mut self.seats[number];
        let Some(adoption) = self.adoption.as_mut() else {
            return Vec::new();
        };
        if seat.state != State::Preparing {
            return Vec::new();
        }
        seat.prepared(handed.ready.unwrap_or_default());
        let end = self.expected.end.map_or(u64::MAX, |end| end.0);
        seat.from = Nanos(handed.from_ns.min(end));
        adoption.handed.push((number, handed.at_ns));
        let seconds = handed.seconds_in_one.min(SECONDS_MAX);
        adoption.has_later_generations |= seat.generation > 0;
        let name = seat.label();
        if self.is_closed {
            return self.adopt_late(now_ns, number);
        }
        adoption.seconds_in_one = adoption.seconds_in_one.max(seconds);
        if adoption.handed.len() == 1 {
            self.data = handed.data;
            self.kept = handed.kept;
            let orders = handed.orders.iter().take(ORDERS_MAX);
            self.orders = orders.filter_map(command_of).collect();
        }
        let (here, all) = (adoption.handed.len(), self.expected.wanted);
        let note = format!("{name} continues its share: {here} of {all} are back");
        vec![Act::Note(note)]
    }

    /// An agent that came back was lost again before the test continues; it may come back once more.
    pub(super) fn forget(&mut self, number: usize) {
        if let Some(adoption) = &mut self.adoption {
            adoption.handed.retain(|(place, _)| *place != number);
        }
        let seat = &mut self.seats[number];
        seat.is_former = true;
        seat.live = LiveTotals::default();
    }

    /// A missed agent has come back after all.
    fn adopt_late(&mut self, now_ns: u64, number: usize) -> Vec<Act> {
        let State::Ready(workers) = self.seats[number].state else {
            return Vec::new();
        };
        let seat = &mut self.seats[number];
        let Some(Awaited { since_ns, lost, .. }) = seat.awaited.take() else {
            return Vec::new();
        };
        seat.workers = self.next_worker..self.next_worker.saturating_add(workers);
        self.next_worker = seat.workers.end;
        let gap = Duration::from_nanos(now_ns.saturating_sub(since_ns)).as_secs_f64();
        let back = WorkerReport::Replaced {
            workers: seat.workers.clone(),
            lost,
            from: seat.from,
            what: format!(
                "{} is back after {gap:.1} s; its load continued",
                seat.label()
            ),
        };
        let started_ns = self.started_ns.unwrap_or(now_ns);
        let start = self.start_of(&self.seats[number], started_ns);
        vec![Act::Tell(back), start]
    }

    /// Agents that have not come back are reported as lost, and may be replaced.
    pub(super) fn miss_others(&mut self) -> Vec<Act> {
        let wanted = self.expected.wanted;
        let missing: Vec<u32> = (0..wanted)
            .filter(|share| {
                self.seats
                    .iter()
                    .all(|seat| seat.is_former || seat.share != *share)
            })
            .collect();
        let mut acts = Vec::new();
        for share in missing {
            let mut seat = Seat::new(0, Link::MAX, (share, &Hello::default()), State::Gone);
            seat.workers = self.next_worker..self.next_worker.saturating_add(1);
            self.next_worker = seat.workers.end;
            let is_called_off = self.orders.iter().any(|order| order.is_stop());
            let is_awaited = self.expected.is_replaceable && !is_called_off;
            let since_ns = self.adoption.as_ref().map_or(0, |known| known.since_ns);
            let awaited_for = self.expected.awaited_for;
            let awaited = Awaited::new(since_ns, awaited_for, seat.workers.start);
            seat.awaited = is_awaited.then_some(awaited);
            let number = self.add_seat(seat);
            let why = "it did not rejoin the new coordinator, and its results are unknown";
            let lost = Lost {
                is_awaited,
                ..self.lost_of(number, why)
            };
            acts.push(Act::Lose(share, lost));
        }
        acts
    }

    /// The run continues; returns when it started, on the coordinator's clock.
    pub(super) fn go_on(&mut self, now_ns: u64) -> (u64, Vec<Act>) {
        let handed = self.adoption.iter().flat_map(|known| &known.handed);
        let here = handed.filter_map(|(number, at_ns)| {
            let offset = self.seats.get(*number)?.clock.offset();
            Some((offset.error_ns, offset.here(*at_ns)))
        });
        // From the clock with the smallest error.
        let at_ns = here.min().map_or(now_ns, |(_, at_ns)| at_ns);
        self.started_ns = Some(at_ns);
        let at_work = self.seats.iter();
        let at_work = at_work.filter(|seat| matches!(seat.state, State::Ready(_)));
        let acts = at_work.map(|seat| self.start_of(seat, at_ns)).collect();
        (at_ns, acts)
    }

    /// What is known of a test that another coordinator started; `None`: this one starts it.
    pub(in crate::coordinator) fn adopted(&self, now_ns: u64) -> Option<Adopted> {
        let adoption = self.adoption.as_ref()?;
        let handed = adoption.handed.iter();
        let (number, at_there) = handed
            .clone()
            .min_by_key(|(number, _)| self.seats[*number].clock.offset().error_ns)?;
        let at_ns = self.seats[*number].clock.offset().here(*at_there);
        let since = now_ns.wrapping_sub(at_ns).cast_signed().max(0);
        let second = Duration::from_nanos(since.unsigned_abs()).as_secs_f64();
        let names: Vec<String> = handed
            .map(|(number, _)| self.seats[*number].label())
            .collect();
        let apart = match adoption.seconds_in_one {
            0 | 1 => String::new(),
            seconds => format!("; its first {seconds} seconds are known only in total"),
        };
        let before = match adoption.has_later_generations {
            true => "; the results of agents lost before are unknown",
            false => "",
        };
        Some(Adopted {
            data: self.data.clone(),
            kept: self.kept.clone(),
            seconds_in_one: adoption.seconds_in_one,
            what: format!(
                "this coordinator replaced a lost one at {second:.1} s: {} of {} agents handed over their results ({}){apart}{before}; \
                 busy VUs and CPU use before that are unknown",
                names.len(),
                self.expected.wanted,
                names.join(", ")
            ),
        })
    }
}
