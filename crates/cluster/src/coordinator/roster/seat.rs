//! One agent's seat in a test, and what is known about the agent.
//!
//! Must not know other seats. Invariant: an agent's counts remain when it is gone.

use std::cmp::Ordering;
use std::ops::Range;
use std::time::Duration;

use loadline_engine::WorkerReport;
use loadline_engine::live::LiveTotals;
use loadline_engine::platform::GeneratorTotals;
use loadline_model::{AgentShare, AgentSums, Nanos, Snapshot};

use super::joining::{named, place_of, shortened};
use super::room::Room;
use super::{Act, CORES_MAX, Hello, Link, Ready, WORKERS_MAX, nanos};
use crate::clocks::{ClockSync, Exchange};
use crate::generated::to_agent::What;
use crate::generated::{ClockAnswer, ClockQuestion, Start};

/// Longest that the load of an agent goes on without a coordinator, in milliseconds: a day.
const GRACE_MAX_MS: u64 = 86_400_000;

/// Bytes of a digest; what is longer is none.
const DIGEST_BYTES: usize = 32;

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
    /// Which share of the load is its own.
    pub(super) share: u32,
    /// How many had the share before.
    pub(super) generation: u32,
    /// How many of these were lost one after another, each soon after it had started.
    pub(super) lost_soon: u32,
    /// Whether another has the share now.
    pub(super) is_former: bool,
    /// For how long its load goes on while it cannot be heard.
    pub(super) grace_ns: u64,
    /// Set while it cannot be heard, and may come back.
    pub(super) away: Option<Away>,
    pub(super) name: String,
    /// Where it runs, as it stands behind its name.
    pub(super) place: String,
    /// Its pod; empty: it is in none.
    pub(super) pod: String,
    /// Digest of the archive that its process holds; empty: of none.
    pub(super) holds: Vec<u8>,
    /// The process of who sits here.
    pub(super) process: String,
    /// Whether it may be asked to stand in.
    pub(super) can_stand_in: bool,
    /// The lost agent whose share it makes beside what its process does otherwise; `None`: it came for this share alone.
    pub(super) stands_in_for: Option<String>,
    /// How many have stood in here, one after another, and were lost soon.
    pub(super) stood_in: u32,
    /// What its user is to know.
    pub(super) note: String,
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
    /// What its process has used.
    pub(super) used: GeneratorTotals,
    /// How busy that is.
    pub(super) room: Room,
    /// Memory in bytes beyond which it is ended; zero: no limit is known.
    pub(super) memory_bytes: u64,
    /// Whose its cores are.
    pub(super) cores_owner: String,
    /// What was reported from here.
    sums: AgentSums,
    /// Requests started, as far as it has reported.
    reported: u64,
    /// Requests whose end it has reported.
    reported_ended: u64,
    /// From which instant of the run on the share is its own.
    pub(super) from: Nanos,
    /// Whom another may come in the place of.
    pub(super) awaited: Option<Awaited>,
    /// Phases of a plan of steps that have ended here.
    pub(super) phases_ended: u32,
}

/// A silence that may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Away {
    pub(super) since_ns: u64,
    /// Why the agent cannot be heard.
    pub(super) why: String,
    /// Whether nobody waits for its reports any more.
    pub(super) is_told: bool,
}

/// A loss that may be made good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Awaited {
    /// When the agent was lost.
    pub(super) since_ns: u64,
    /// The first of its workers.
    pub(super) lost: u32,
    /// Until when another is waited for, or who was asked, or who has come and is not ready.
    pub(super) until_ns: u64,
    /// The request to stand in that is open.
    pub(super) ticket: Option<u64>,
    /// Processes that were asked, each as often as it was.
    pub(super) asked: Vec<String>,
}

impl Awaited {
    /// A loss of these workers, for which another is waited for so long.
    pub(super) fn new(since_ns: u64, awaited_for: Duration, lost: u32) -> Awaited {
        Awaited {
            since_ns,
            lost,
            until_ns: since_ns.saturating_add(nanos(awaited_for)),
            ticket: None,
            asked: Vec::new(),
        }
    }
}

impl Seat {
    pub(super) fn new(now_ns: u64, link: Link, who: (u32, &Hello), state: State) -> Seat {
        let (share, hello) = who;
        Seat {
            link,
            share,
            generation: 0,
            lost_soon: 0,
            is_former: false,
            grace_ns: hello.grace_ms.min(GRACE_MAX_MS) * 1_000_000,
            away: None,
            name: named(&hello.name, share),
            place: place_of(hello),
            pod: shortened(&hello.pod),
            holds: match hello.archive.len() {
                DIGEST_BYTES => hello.archive.clone(),
                _ => Vec::new(),
            },
            process: match shortened(&hello.process) {
                name if name.is_empty() => format!("link {link}"),
                name => name,
            },
            can_stand_in: hello.can_stand_in,
            stands_in_for: hello.stands_in.as_ref().map(|asked| shortened(&asked.lost)),
            stood_in: 0,
            note: String::new(),
            state,
            heard_ns: now_ns,
            clock: ClockSync::default(),
            question: None,
            asked_ns: 0,
            workers: 0..0,
            workers_ended: 0,
            next_report: 0,
            live: LiveTotals::default(),
            used: GeneratorTotals::default(),
            room: Room::default(),
            memory_bytes: 0,
            cores_owner: String::new(),
            sums: AgentSums::default(),
            reported: 0,
            reported_ended: 0,
            from: Nanos::ZERO,
            awaited: None,
            phases_ended: 0,
        }
    }

    /// Its agent is ready.
    pub(super) fn prepared(&mut self, ready: Ready) {
        if self.state == State::Preparing {
            self.state = State::Ready(ready.workers.clamp(1, WORKERS_MAX));
            self.used.cores = ready.cores.clamp(0.0, CORES_MAX);
            self.cores_owner = ready.cores_owner;
            self.memory_bytes = ready.memory_bytes;
        }
    }

    /// What it is called in messages: one that stands in has the name of its process, and for whom.
    pub(super) fn label(&self) -> String {
        match &self.stands_in_for {
            None => self.name.clone(),
            Some(lost) => format!("{} (for {lost})", self.name),
        }
    }

    /// The order of agents: agent-2 comes before agent-10, and what a process does for others last.
    pub(super) fn before(&self, other: &Seat) -> Ordering {
        let key = |seat: &Seat| (seat.stands_in_for.is_some(), seat.name.len());
        let by_key = key(self).cmp(&key(other));
        by_key.then_with(|| self.name.cmp(&other.name))
    }

    /// Whether all that its workers will ever report is there.
    pub(super) fn has_ended(&self) -> bool {
        self.workers_ended >= self.workers.end - self.workers.start
    }

    /// Who sat here is gone; gives how many requests it had begun and not reported, and of how many it did not report the end.
    pub(super) fn leave(&mut self) -> (u64, u64) {
        let begun = self.live.started.saturating_sub(self.reported);
        let under_way = self.reported.saturating_sub(self.reported_ended);
        self.sums.lose(begun, begun + under_way);
        self.live = LiveTotals {
            vus_active: 0,
            interrupted: self.live.interrupted.saturating_add(self.live.active()),
            ..self.live
        };
        (begun, begun + under_way)
    }

    /// Who sat here is gone, and another has the share: books what it had begun and not reported.
    pub(super) fn settled(&mut self) -> Act {
        let (begun, unended) = self.leave();
        Act::Tell(WorkerReport::Settled {
            lost: self.workers.start,
            begun,
            unended,
        })
    }

    /// Tells when the run started or will, and from where on the plan is the agent's.
    pub(super) fn start(&self, at_ns: u64, data: Option<String>, kept: Vec<u8>) -> Act {
        let start = Start {
            at_ns: self.clock.offset().there(at_ns),
            data,
            from_ns: self.from.0,
            kept,
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
        match self.clock.wants_more() {
            true => vec![self.ask(now_ns)],
            false => Vec::new(),
        }
    }

    /// What was done from here; `used`: what is booked of its process here.
    pub(super) fn share(&self, used: &GeneratorTotals) -> AgentShare {
        let drift = self.clock.drift();
        AgentShare {
            stands_in_for: self.stands_in_for.clone(),
            replaced: self.generation,
            workers: self.workers.end - self.workers.start,
            cores: used.cores,
            cpu_ns: used.cpu_ns,
            rss_max_bytes: used.rss_max_bytes,
            clock_error_ns: self.clock.offset().error_ns,
            clock_drift_ns: drift.map(|drift| drift.ns),
            clock_drift_error_ns: drift.map(|drift| drift.error_ns),
            ..self.sums.share(&self.name)
        }
    }

    fn note_counts(&mut self, seen: &Snapshot) {
        self.sums.add(seen);
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
            | WorkerReport::Away { .. }
            | WorkerReport::Returned { .. }
            | WorkerReport::Settled { .. }
            | WorkerReport::Script(_) => {}
        }
    }
}
