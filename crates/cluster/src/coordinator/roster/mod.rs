//! The participants, their progress, and the reactions to their messages.
//!
//! A state machine over instants and messages. Must not own sockets, threads or clocks. Invariants: each report is
//! passed on once, in the order of its agent; the workers of all agents are numbered without a gap once the roster is
//! closed; a lost agent is reported as lost once, and what it had started and not reported is counted once, when it
//! cannot report any more.

mod absent;
mod adopting;
mod hostile;
mod joining;
mod phases;
mod replacing;
mod returning;
mod room;
mod seat;
mod standing_in;
mod sums;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use loadline_engine::WorkerReport;
use loadline_engine::platform::GeneratorTotals;
use loadline_model::{Nanos, RunCommand};

use crate::generated::from_agent::What as Said;
use crate::generated::phase::Property;
use crate::generated::to_agent::What;
use crate::generated::{
    Ending, Hello, LogLine, Order, Ready, Received, Refusal, Report, Return, StandIn, Welcome,
};
use crate::message::{WORKERS_MAX, live_received, report_received, signal_received};
use adopting::Adoption;
pub use hostile::hear_hostile;
use seat::{Awaited, Seat, State};

/// An agent that is silent for this long is lost.
const SILENCE_MAX: Duration = Duration::from_secs(3);
/// How often clocks are compared during the run.
const ASK_EVERY: Duration = Duration::from_secs(10);
/// Minimum time until the start.
const START_AHEAD: Duration = Duration::from_millis(100);

/// Maximum cores of an agent.
const CORES_MAX: f64 = 4096.0;

/// One connection.
pub(super) type Link = u64;

/// What the caller has to do.
#[derive(Debug)]
pub(super) enum Act {
    /// Send it.
    Say(Link, What),
    /// Send the job to an agent that has cached an archive with this digest; empty: none.
    Employ(Link, Vec<u8>),
    /// Close the link.
    Close(Link),
    /// Report to the run.
    Tell(WorkerReport),
    /// Report to the run that the agent with this number is lost.
    Lose(u32, Lost),
    /// A line of an agent's log.
    Log(LogLine),
    /// Note about the agents for the user.
    Note(String),
}

/// What is known of a lost agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// Its name; of a stand-in, the name of the agent for which it stood in.
    pub(super) name: String,
    /// Its workers among all.
    pub(super) workers: Range<u32>,
    /// Who it was and why it was lost.
    pub(super) why: String,
    /// Requests that it had started and not reported.
    pub(super) begun: u64,
    /// Requests whose end it had not reported.
    pub(super) unended: u64,
    /// The instant of the run from which the share was its own.
    pub(super) from: Nanos,
    /// Whether it may be replaced.
    pub(super) is_awaited: bool,
    /// Whether it may still report what it had started.
    pub(super) is_unsettled: bool,
}

/// What is known of a test before any agent joins.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    /// How many agents generate the load.
    pub(super) wanted: u32,
    /// How many more are accepted without a share.
    pub(super) idle: u32,
    /// The coordinator's version.
    pub(super) version: String,
    /// Whether another agent can take over the share of a lost one: only if its iterations are not all planned by
    /// number.
    pub(super) is_replaceable: bool,
    /// When nothing more starts; `None` if the test is not limited by time.
    pub(super) end: Option<Nanos>,
    /// Whether the load of an agent continues while it is unreachable: only if it delivers no single values.
    pub(super) is_resumable: bool,
    /// How long to wait for a replacement of a lost agent before an existing one is asked to stand in.
    pub(super) awaited_for: Duration,
    /// The name of the run.
    pub(super) run: String,
    /// A digest of the test's input.
    pub(super) test: String,
}

/// The agents of a test.
#[derive(Debug)]
pub(super) struct Roster {
    expected: Expected,
    seats: Vec<Seat>,
    by_link: BTreeMap<Link, usize>,
    /// The agents that run or ran a share.
    by_share: BTreeMap<u32, Vec<usize>>,
    /// Why the test cannot start.
    failures: Vec<String>,
    is_closed: bool,
    /// The number of the next worker.
    next_worker: u32,
    /// When the run started; before the clock's zero as two's complement.
    started_ns: Option<u64>,
    /// How the test ended.
    ending: Option<Ending>,
    /// What `setup()` returned, for late agents.
    data: Option<String>,
    /// What another coordinator would need; kept by the agents.
    kept: Vec<u8>,
    /// Commands so far, for late agents.
    orders: Vec<RunCommand>,
    /// Set if another coordinator started the test.
    adoption: Option<Adoption>,
    /// Phases of a plan of steps that are over.
    phases_over: u32,
    /// Properties that agents have set since the last of them.
    properties: Vec<Property>,
    /// The number of the next request to stand in.
    next_ticket: u64,
    /// How many joined too late, when another had the share.
    late: u32,
}

impl Roster {
    pub(super) fn new(expected: Expected) -> Roster {
        Roster {
            expected,
            seats: Vec::new(),
            by_link: BTreeMap::new(),
            by_share: BTreeMap::new(),
            failures: Vec::new(),
            is_closed: false,
            next_worker: 0,
            started_ns: None,
            ending: None,
            data: None,
            kept: Vec::new(),
            orders: Vec::new(),
            adoption: None,
            phases_over: 0,
            properties: Vec::new(),
            next_ticket: 0,
            late: 0,
        }
    }

    /// Whether all are ready, or none is awaited: one has failed, or the test was stopped before it started.
    pub(super) fn is_ready(&self) -> bool {
        if let Some(adoption) = &self.adoption {
            return self.has_adopted(adoption);
        }
        let ready = self.seats.iter();
        let ready = ready.filter(|seat| matches!(seat.state, State::Ready(_)));
        let is_stopped = self.orders.iter().any(|order| order.is_stop());
        is_stopped || !self.failures.is_empty() || ready.count() == self.expected.wanted as usize
    }

    /// Stores what another coordinator would need.
    pub(super) fn keep(&mut self, kept: Vec<u8>) {
        self.kept = kept;
    }

    /// Whether agents were notified how the test ended.
    pub(super) fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    /// The maximum error of the clock offsets.
    #[cfg(test)]
    pub(super) fn clock_error_ns(&self) -> u64 {
        let errors = self.seats.iter().map(|seat| seat.clock.offset().error_ns);
        errors.max().unwrap_or(0)
    }

    /// The share that a link belongs to; `None`: the link is unknown.
    pub(super) fn share_at(&self, link: Link) -> Option<u32> {
        self.by_link.get(&link).map(|at| self.seats[*at].share)
    }

    /// Adds a seat; returns its number. A later agent in this seat has the same share.
    fn add_seat(&mut self, seat: Seat) -> usize {
        let number = self.seats.len();
        self.by_share.entry(seat.share).or_default().push(number);
        self.seats.push(seat);
        number
    }

    /// Handles a message from a link.
    pub(super) fn heard(&mut self, now_ns: u64, link: Link, said: Said) -> Vec<Act> {
        if let Said::Hello(hello) = said {
            return self.welcome(now_ns, link, &hello);
        }
        let Some(number) = self.by_link.get(&link).copied() else {
            return vec![Act::Close(link)];
        };
        let seat = &mut self.seats[number];
        seat.heard_ns = now_ns;
        match said {
            Said::Hello(_) => Vec::new(),
            Said::Clock(answer) => {
                let mut acts = seat.answered(now_ns, answer);
                acts.extend(self.replace_if_ready(now_ns, number));
                acts
            }
            Said::Ready(ready) => {
                seat.prepared(ready);
                self.replace_if_ready(now_ns, number)
            }
            Said::HandOver(handed) => self.handed_over(now_ns, number, handed),
            Said::Refusal(refusal) => self.lose(now_ns, number, &refusal.why),
            Said::Report(report) => self.reported(now_ns, number, report),
            Said::Live(live) => {
                if seat.state != State::Gone {
                    let (live, used) = live_received(&live);
                    let cores = seat.used.cores;
                    seat.live = live;
                    seat.room.note(now_ns, &used);
                    seat.used = GeneratorTotals { cores, ..used };
                }
                Vec::new()
            }
            Said::Signal(signal) => {
                let signal = signal_received(signal).map(WorkerReport::Script);
                signal.map(Act::Tell).into_iter().collect()
            }
            Said::Log(line) => vec![Act::Log(line)],
            Said::Phase(phase) => self.phase_ended(number, phase),
            Said::Stop(stop) => self.stop_wanted(number, stop),
        }
    }

    /// A link is closed.
    pub(super) fn closed(&mut self, now_ns: u64, link: Link) -> Vec<Act> {
        match self.by_link.remove(&link) {
            Some(number) => self.cut_off(now_ns, number, "its connection was closed"),
            None => Vec::new(),
        }
    }

    /// The coordinator itself did not run for this long, such as when its machine was suspended: agents do not count
    /// as silent for that time.
    pub(super) fn stood_still(&mut self, for_ns: u64) {
        for seat in &mut self.seats {
            seat.heard_ns = seat.heard_ns.saturating_add(for_ns);
            if let Some(away) = &mut seat.away {
                away.since_ns = away.since_ns.saturating_add(for_ns);
            }
            if let Some(awaited) = &mut seat.awaited {
                awaited.until_ns = awaited.until_ns.saturating_add(for_ns);
            }
        }
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now_ns: u64) -> Vec<Act> {
        let mut acts = Vec::new();
        for number in 0..self.seats.len() {
            let seat = &mut self.seats[number];
            if seat.state == State::Gone {
                continue;
            }
            if seat.away.is_some() {
                acts.extend(self.still_away(now_ns, number));
            } else if now_ns.saturating_sub(seat.heard_ns) > nanos(SILENCE_MAX) {
                let why = format!("it was silent for {} s", SILENCE_MAX.as_secs());
                acts.extend(self.cut_off(now_ns, number, &why));
            } else if seat.question.is_none()
                && now_ns.saturating_sub(seat.asked_ns) > nanos(ASK_EVERY)
            {
                acts.push(seat.ask(now_ns));
            }
        }
        self.look_at_adoption(now_ns);
        acts.extend(self.give_up_if_due(now_ns));
        acts
    }

    /// Accepts no more agents; returns how many workers there are.
    pub(super) fn close(&mut self) -> (u32, Vec<Act>) {
        if self.is_closed {
            return (self.next_worker, Vec::new());
        }
        self.is_closed = true;
        let mut next = 0;
        let mut acts = Vec::new();
        for seat in &mut self.seats {
            match seat.state {
                State::Ready(workers) => {
                    seat.workers = next..next.saturating_add(workers);
                    next = seat.workers.end;
                }
                State::Preparing => {
                    seat.state = State::Gone;
                    // During the test it may come back, and is missed until then.
                    seat.is_former = self.adoption.is_some();
                    acts.push(Act::Close(seat.link));
                }
                State::Idle | State::Gone => {}
            }
        }
        for why in &self.failures {
            let workers = next..next + 1;
            next = workers.end;
            let why = why.clone();
            acts.push(Act::Tell(WorkerReport::Failed {
                worker: workers.start,
                why,
                is_defect: false,
            }));
        }
        self.next_worker = next;
        if self.adoption.is_some() {
            acts.extend(self.miss_others());
        }
        (self.next_worker, acts)
    }

    /// The run starts; returns when, on the coordinator's clock.
    pub(super) fn start(&mut self, now_ns: u64, data: Option<&str>) -> (u64, Vec<Act>) {
        if self.adoption.is_some() {
            return self.go_on(now_ns);
        }
        let mut acts = Vec::new();
        if !self.failures.is_empty() {
            acts.extend(self.order(RunCommand::StopNow));
        }
        let round_trip = self
            .seats
            .iter()
            .map(|seat| seat.clock.offset().error_ns * 2);
        let ahead = nanos(START_AHEAD).max(round_trip.max().unwrap_or(0) * 3);
        let at_ns = now_ns + ahead;
        self.started_ns = Some(at_ns);
        self.data = data.map(str::to_owned);
        for seat in self.seats.iter().filter(|seat| !seat.workers.is_empty()) {
            acts.push(self.start_of(seat, at_ns));
        }
        // Replacements for agents lost since all were ready, such as during a script's `setup()`.
        for number in 0..self.seats.len() {
            acts.extend(self.replace_if_ready(now_ns, number));
        }
        (at_ns, acts)
    }

    /// Passes a command on.
    pub(super) fn order(&mut self, command: RunCommand) -> Vec<Act> {
        self.orders.push(command);
        let seats = self.seats.iter();
        let seats = seats.filter(|seat| seat.state != State::Gone);
        let mut acts: Vec<Act> = seats
            .map(|seat| Act::Say(seat.link, What::Order(Order::from(command))))
            .collect();
        if command.is_stop() {
            acts.extend(self.give_up());
        }
        acts
    }

    /// Ends all agents with this exit code. The first by name prints the text, and the others say where it is.
    pub(super) fn end(&mut self, exit_code: u8, text: &str) -> Vec<Act> {
        let all = self.expected.wanted;
        let seats = self.seats.iter_mut();
        let mut there: Vec<&mut Seat> = seats.filter(|seat| seat.state != State::Gone).collect();
        there.sort_by(|one, other| one.before(other));
        let first = there.first().map(|seat| seat.name.clone());
        let first = first.unwrap_or_default();
        let elsewhere =
            format!("one of the {all} agents of a test; its result is in the log of {first}\n");
        self.ending = Some(Ending {
            exit_code: exit_code.into(),
            text: elsewhere.clone(),
        });
        let texts = std::iter::once(text).chain(std::iter::repeat(elsewhere.as_str()));
        let told = there.into_iter().zip(texts);
        told.map(|(seat, text)| {
            seat.state = State::Gone;
            let ending = Ending {
                exit_code: exit_code.into(),
                text: text.to_owned(),
            };
            Act::Say(seat.link, What::Ending(ending))
        })
        .collect()
    }

    /// When the run started, on the coordinator's clock, for an agent of the test.
    fn start_of(&self, seat: &Seat, at_ns: u64) -> Act {
        seat.start(at_ns, self.data.clone(), self.kept.clone())
    }

    /// Handles a report; one that was passed on already is ignored.
    fn reported(&mut self, now_ns: u64, number: usize, report: Report) -> Vec<Act> {
        let seat = &mut self.seats[number];
        let (link, place) = (seat.link, report.number);
        let received = Act::Say(link, What::Received(Received { number: place }));
        if seat.state == State::Gone || seat.is_settled() || place < seat.next_report {
            return vec![received];
        }
        let worker = seat.workers.start.saturating_add(report.worker);
        if place != seat.next_report || !seat.workers.contains(&worker) {
            let why = "it broke the protocol: a report out of order";
            return self.lose(now_ns, number, why);
        }
        match report_received(report, worker) {
            Err(error) => {
                let why = format!("it sent a report that cannot be read: {error}");
                self.lose(now_ns, number, &why)
            }
            Ok(report) => {
                seat.next_report += 1;
                seat.note(&report);
                let mut acts = vec![received, Act::Tell(report)];
                acts.extend(self.settle_if_ended(number));
                // An agent that continues changes nothing for those that wait for a phase's end.
                if self.seats[number].has_ended() {
                    acts.extend(self.end_phases());
                }
                acts
            }
        }
    }

    /// An agent was lost.
    fn lose(&mut self, now_ns: u64, number: usize, why: &str) -> Vec<Act> {
        let may_return = self.may_be_replaced(now_ns, number);
        let seat = &mut self.seats[number];
        let state = std::mem::replace(&mut seat.state, State::Gone);
        self.by_link.remove(&seat.link);
        let mut acts = vec![Act::Close(seat.link)];
        let had_no_part = matches!(state, State::Idle | State::Gone);
        if had_no_part || (self.started_ns.is_some() && seat.has_ended()) {
            acts.extend(self.gone_before_it_began(now_ns, number, (&state, why)));
            return acts;
        }
        if seat.is_former {
            acts.push(seat.settled());
            return acts;
        }
        if self.adoption.is_some() && !self.is_closed {
            self.forget(number);
            return acts;
        }
        if !self.is_closed {
            self.failures.push(format!("{}: {why}", seat.name));
            return acts;
        }
        let (begun, unended) = seat.leave();
        // A replacement could have joined while it was away.
        let since_ns = seat.away.as_ref().map_or(now_ns, |away| away.since_ns);
        let lost = seat.workers.start;
        let awaited_for = match self.has_spare(now_ns) {
            true => Duration::ZERO,
            false => self.expected.awaited_for,
        };
        let awaited = Awaited::new(since_ns, awaited_for, lost);
        self.seats[number].awaited = may_return.then_some(awaited);
        let lost = Lost {
            begun,
            unended,
            is_awaited: may_return,
            ..self.lost_of(number, why)
        };
        acts.push(Act::Lose(self.seats[number].share, lost));
        acts.extend(self.end_phases());
        acts
    }

    /// Describes a lost agent; what it had started is not counted yet.
    fn lost_of(&self, number: usize, why: &str) -> Lost {
        let seat = &self.seats[number];
        Lost {
            name: seat.stands_in_for.as_ref().unwrap_or(&seat.name).clone(),
            workers: seat.workers.clone(),
            why: format!(
                "{}{} was lost with its share of the load, 1/{}: {why}",
                seat.label(),
                seat.place,
                self.expected.wanted
            ),
            begun: 0,
            unended: 0,
            from: seat.from,
            is_awaited: true,
            is_unsettled: false,
        }
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
