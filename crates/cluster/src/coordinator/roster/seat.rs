//! One agent's seat in a test, and what is known about the agent.
//!
//! Must not know other seats. Invariant: an agent's counts remain when it is lost.

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

/// Maximum time that the load of an agent continues without a coordinator, in milliseconds: a day.
const GRACE_MAX_MS: u64 = 86_400_000;

/// Bytes of a digest; anything longer is ignored.
const DIGEST_BYTES: usize = 32;

/// The state of a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Its agent is getting ready.
    Preparing,
    /// Its agent is ready, with this many workers.
    Ready(u32),
    /// Its agent has nothing to do.
    Idle,
    /// Its agent does not take part any more.
    Gone,
}

/// One agent.
#[derive(Debug)]
pub(super) struct Seat {
    pub(super) link: Link,
    /// The index of its share of the load.
    pub(super) share: u32,
    /// How many had the share before.
    pub(super) generation: u32,
    /// How many of these were lost in a row, each soon after its start.
    pub(super) lost_soon: u32,
    /// Whether another agent has the share now.
    pub(super) is_former: bool,
    /// How long its load continues while it is unreachable.
    pub(super) grace_ns: u64,
    /// Set while it is unreachable and may come back.
    pub(super) away: Option<Away>,
    pub(super) name: String,
    /// Where it runs, as a suffix of its name.
    pub(super) place: String,
    /// Its pod; empty: it runs in none.
    pub(super) pod: String,
    /// Digest of the archive that its process has cached; empty: none.
    pub(super) holds: Vec<u8>,
    /// The process of the agent.
    pub(super) process: String,
    /// Whether it may be asked to stand in.
    pub(super) can_stand_in: bool,
    /// The lost agent whose share it runs in addition to its own; `None`: it joined for this share only.
    pub(super) stands_in_for: Option<String>,
    /// How many stand-ins of this seat were soon lost in a row.
    pub(super) stood_in: u32,
    /// A note for its user.
    pub(super) note: String,
    pub(super) state: State,
    pub(super) heard_ns: u64,
    pub(super) clock: ClockSync,
    /// The clock query that waits for its reply, and when it was sent.
    pub(super) question: Option<(u64, u64)>,
    pub(super) asked_ns: u64,
    /// Numbers of its workers among all; empty until the roster is closed.
    pub(super) workers: Range<u32>,
    pub(super) workers_ended: u32,
    pub(super) next_report: u64,
    pub(super) live: LiveTotals,
    /// The resource use of its process.
    pub(super) used: GeneratorTotals,
    /// How busy its process is.
    pub(super) room: Room,
    /// Memory limit in bytes beyond which it is killed; zero: unknown.
    pub(super) memory_bytes: u64,
    /// Identifies the owner of its cores.
    pub(super) cores_owner: String,
    /// Everything that was reported for this seat.
    sums: AgentSums,
    /// Requests started, as far as it has reported.
    reported: u64,
    /// Requests whose end it has reported.
    reported_ended: u64,
    /// From which instant of the run on the share is its own.
    pub(super) from: Nanos,
    /// The loss that a replacement may make good.
    pub(super) awaited: Option<Awaited>,
    /// Phases of a plan of steps that have ended here.
    pub(super) phases_ended: u32,
}

/// A time of being unreachable that may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Away {
    pub(super) since_ns: u64,
    /// Why the agent is unreachable.
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
    /// Until when a replacement is awaited, or which agent was asked, or which has joined and is not ready.
    pub(super) until_ns: u64,
    /// The open request to stand in.
    pub(super) ticket: Option<u64>,
    /// Processes that were asked, once per request.
    pub(super) asked: Vec<String>,
}

impl Awaited {
    /// A loss of these workers, for which a replacement is awaited this long.
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

    /// Its name in messages: a stand-in has the name of its process, and that of the lost agent.
    pub(super) fn label(&self) -> String {
        match &self.stands_in_for {
            None => self.name.clone(),
            Some(lost) => format!("{} (for {lost})", self.name),
        }
    }

    /// The order of agents: agent-2 comes before agent-10, a lost agent before its replacement, and stand-ins come
    /// last.
    pub(super) fn before(&self, other: &Seat) -> Ordering {
        let key = |seat: &Seat| (seat.stands_in_for.is_some(), seat.name.len());
        let by_key = key(self).cmp(&key(other));
        by_key
            .then_with(|| self.name.cmp(&other.name))
            .then_with(|| self.generation.cmp(&other.generation))
    }

    /// Whether its workers have reported everything.
    pub(super) fn has_ended(&self) -> bool {
        self.workers_ended >= self.workers.end - self.workers.start
    }

    /// Whether nothing that its agent reports counts any more.
    pub(super) fn is_settled(&self) -> bool {
        self.sums.is_closed()
    }

    /// Its agent was lost; returns how many started requests it had not reported, and of how many it did not report
    /// the end.
    pub(super) fn leave(&mut self) -> (u64, u64) {
        let begun = self.live.started.saturating_sub(self.reported);
        let under_way = self.reported.saturating_sub(self.reported_ended);
        self.sums.lose(begun, begun + under_way);
        self.sums.close();
        self.live = LiveTotals {
            vus_active: 0,
            vus_made: 0,
            interrupted: self.live.interrupted.saturating_add(self.live.active()),
            ..self.live
        };
        (begun, begun + under_way)
    }

    /// Its agent was lost, and another has the share: counts what it had started and not reported.
    pub(super) fn settled(&mut self) -> Act {
        let (begun, unended) = self.leave();
        Act::Tell(WorkerReport::Settled {
            lost: self.workers.start,
            begun,
            unended,
        })
    }

    /// Tells when the run starts or started, and from which instant the plan is the agent's.
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

    /// The results of this seat; `used`: the resource use of its process that is counted here.
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
            self.reported = self.reported.saturating_add(counts.started);
            self.reported_ended = self.reported_ended.saturating_add(counts.ended());
        }
    }

    /// Records what a report says about its load.
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
