//! One agent's place in a test, and what is known of who sits there.
//!
//! Must not know other seats. Invariant: what earlier agents of the seat counted stays in its sums.

use std::ops::Range;

use loadline_engine::WorkerReport;
use loadline_engine::live::LiveTotals;
use loadline_engine::platform::GeneratorTotals;
use loadline_model::{Nanos, Snapshot};

use super::{Act, Link};
use crate::clocks::{ClockSync, Exchange, QUESTIONS};
use crate::generated::to_agent::What;
use crate::generated::{ClockAnswer, ClockQuestion, Start};

/// How far a seat is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its agent makes itself ready.
    Preparing,
    /// It is, with so many workers.
    Ready(u32),
    /// There is nothing for it to do.
    Idle,
    /// It takes no part any more.
    Gone,
}

/// One agent.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) link: Link,
    pub(super) name: String,
    pub(super) state: State,
    pub(super) heard_ns: u64,
    pub(super) clock: ClockSync,
    /// The question that waits for its answer, and when it was asked.
    pub(super) question: Option<(u64, u64)>,
    pub(super) asked_ns: u64,
    /// Numbers of its workers among all; empty until the roster is closed.
    pub(super) workers: Range<u32>,
    pub(super) workers_ended: u32,
    pub(super) next_report: u64,
    pub(super) live: LiveTotals,
    /// What those counted who sat here before.
    past: LiveTotals,
    /// Processor time that they used.
    pub(super) past_cpu_ns: u64,
    /// What it has used.
    pub(super) used: GeneratorTotals,
    /// Whose its cores are.
    pub(super) cores_owner: String,
    /// Requests begun, as far as it has reported.
    reported: u64,
    /// Requests whose end it has reported.
    reported_ended: u64,
    /// From which instant of the run on the share is its own.
    pub(super) from: Nanos,
    /// Whom another may come in the place of.
    pub(super) awaited: Option<Awaited>,
    /// How many sat here before.
    pub(super) replaced: u32,
    /// Phases of a plan of steps that have ended here.
    pub(super) phases_ended: u32,
}

/// A loss that may be made good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    /// When the agent was lost.
    pub(super) since_ns: u64,
    /// The first of its workers.
    pub(super) lost: u32,
}

impl Seat {
    pub(super) fn new(now_ns: u64, link: Link, name: String, state: State) -> Seat {
        Seat {
            link,
            name,
            state,
            heard_ns: now_ns,
            clock: ClockSync::default(),
            question: None,
            asked_ns: 0,
            workers: 0..0,
            workers_ended: 0,
            next_report: 0,
            live: LiveTotals::default(),
            past: LiveTotals::default(),
            past_cpu_ns: 0,
            used: GeneratorTotals::default(),
            cores_owner: String::new(),
            reported: 0,
            reported_ended: 0,
            from: Nanos::ZERO,
            awaited: None,
            replaced: 0,
            phases_ended: 0,
        }
    }

    /// Another sits down here.
    pub(super) fn seat_again(&mut self, now_ns: u64, link: Link, name: String) {
        *self = Seat {
            past: LiveTotals {
                vus_made: 0,
                ..self.live_with_past()
            },
            past_cpu_ns: self.past_cpu_ns.saturating_add(self.used.cpu_ns),
            awaited: self.awaited,
            replaced: self.replaced + 1,
            ..Seat::new(now_ns, link, name, State::Preparing)
        };
    }

    /// What the seat counts, whoever sat here.
    pub(super) fn live_with_past(&self) -> LiveTotals {
        let mut sum = self.past;
        sum.merge(&self.live);
        sum
    }

    /// Whether all that its workers will ever report is there.
    pub(super) fn has_ended(&self) -> bool {
        self.workers_ended >= self.workers.end - self.workers.start
    }

    /// Who sat here is gone; gives how many requests it had begun and not reported, and of how many it did not report the end.
    pub(super) fn leave(&mut self) -> (u64, u64) {
        let begun = self.live.started.saturating_sub(self.reported);
        let under_way = self.reported.saturating_sub(self.reported_ended);
        self.live = LiveTotals {
            vus_active: 0,
            interrupted: self.live.interrupted.saturating_add(self.live.active()),
            ..self.live
        };
        (begun, begun + under_way)
    }

    /// Tells when the run started or will, and from where on the plan is the agent's.
    pub(super) fn start(&self, at_ns: u64, data: Option<&str>, from: Nanos) -> Act {
        let start = Start {
            at_ns: self.clock.offset().there(at_ns),
            data: data.map(str::to_owned),
            from_ns: from.0,
        };
        Act::Say(self.link, What::Start(start))
    }

    pub(super) fn ask(&mut self, now_ns: u64) -> Act {
        let number = self.clock.answers();
        self.question = Some((number, now_ns));
        self.asked_ns = now_ns;
        Act::Say(self.link, What::Clock(ClockQuestion { number }))
    }

    pub(super) fn answered(&mut self, now_ns: u64, answer: ClockAnswer) -> Vec<Act> {
        let Some((_, asked_ns)) = self.question.filter(|(number, _)| *number == answer.number)
        else {
            return Vec::new();
        };
        self.question = None;
        self.clock.take(Exchange {
            asked_ns,
            read_ns: answer.at_ns,
            answered_ns: now_ns,
        });
        match self.clock.answers() < QUESTIONS {
            true => vec![self.ask(now_ns)],
            false => Vec::new(),
        }
    }

    fn note_counts(&mut self, seen: &Snapshot) {
        for counts in [&seen.counts, &seen.warm_up] {
            let ended = counts.completed + counts.failed_total() + counts.interrupted;
            self.reported = self.reported.saturating_add(counts.started);
            self.reported_ended = self.reported_ended.saturating_add(ended);
        }
    }

    /// Notes what of its load is known by a report.
    pub(super) fn note(&mut self, report: &WorkerReport) {
        match report {
            WorkerReport::Interval { seen, .. } => {
                self.note_counts(seen);
            }
            WorkerReport::Ended { seen, .. } => {
                self.note_counts(seen);
                self.workers_ended += 1;
            }
            WorkerReport::Failed { .. } => self.workers_ended += 1,
            WorkerReport::Lost { .. }
            | WorkerReport::Replaced { .. }
            | WorkerReport::GivenUp { .. }
            | WorkerReport::Script(_) => {}
        }
    }
}
