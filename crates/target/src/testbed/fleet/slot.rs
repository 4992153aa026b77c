//! The slot of one replica: its current process, and the counts of all its processes so far.
//!
//! It must not know other replicas. Invariant: the counters of a process are added to those of the slot exactly
//! once, when it has ended.

use super::process::{Launch, Process, Who};
use crate::testbed::message::{Order, Upstream};
use crate::testbed::plan::{ComponentPlan, PartPlan};
use crate::testbed::tally::{CounterSlot as Counter, Tally, Totals};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

/// Time from leaving the lists of proxies to the stop command, so that no request is sent to a closed port.
const LEAVE_BEFORE_STOP_NS: u64 = 50_000_000;
/// From the order to stop to the kill; longer than the process itself gives its requests.
const KILL_AFTER_NS: u64 = 7_000_000_000;

/// The place of a replica.
pub(super) struct ReplicaSlot {
    pub(super) live: Option<Live>,
    next: Next,
    /// What the next process is to listen on, so that addresses stay.
    port: u16,
    https: Option<u16>,
    pub(super) factor: f64,
    pub(super) restarts: u64,
    pub(super) last_end: Option<String>,
    /// Of processes that are gone.
    past: Totals,
}

/// When a process is started, if one is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Now,
    /// After an unexpected end.
    At(u64),
    Never,
}

/// A process that is there.
pub(super) struct Live {
    pub(super) process: Process,
    pub(super) tally: Arc<Tally>,
    /// The file behind it, which the process removes when it has opened it.
    shared: PathBuf,
    pub(super) who: Who,
    pub(super) since: SystemTime,
    /// Where it listens; `None`: not yet.
    pub(super) addresses: Option<(SocketAddr, Option<SocketAddr>)>,
    pub(super) leaving: Option<Leaving>,
    told: BTreeMap<String, Vec<Upstream>>,
    told_number: u64,
    pub(super) heard_number: u64,
}

/// A process that is to end.
pub(super) struct Leaving {
    asked_ns: u64,
    told: bool,
    killed: bool,
    why: Leave,
}

/// Why a process is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leave {
    /// It is not wanted any more.
    Unwanted,
    /// Another one is to take its place.
    Restart,
}

/// What a start needs besides the place.
pub(super) struct Starting<'a> {
    pub(super) launch: &'a Launch,
    pub(super) plan: &'a ComponentPlan,
    pub(super) who: Who,
    pub(super) seed: u64,
    pub(super) start_delay: Duration,
    pub(super) events: Sender<super::process::Event>,
    pub(super) now: SystemTime,
}

impl ReplicaSlot {
    /// An empty place.
    pub(super) fn new(plan: &ComponentPlan, replica: u32) -> Self {
        let (port, https) = configured_ports(plan, replica);
        Self {
            live: None,
            next: Next::Now,
            port,
            https,
            factor: plan.kind.factor_of(replica),
            restarts: 0,
            last_end: None,
            past: Totals::default(),
        }
    }

    /// Whether a process is due.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        self.live.is_none()
            && match self.next {
                Next::Now => true,
                Next::At(instant_ns) => instant_ns <= now_ns,
                Next::Never => false,
            }
    }

    /// Whether nothing will ever start here without a command.
    pub(super) fn is_given_up(&self) -> bool {
        self.live.is_none() && self.next == Next::Never
    }

    /// Lets an order start a process that had ended for good.
    pub(super) fn forgive(&mut self) {
        self.next = Next::Now;
    }

    /// Starts a process.
    ///
    /// # Errors
    /// A sentence when the system does not let it.
    pub(super) fn start(&mut self, starting: Starting<'_>) -> Result<(), String> {
        let Starting { plan, who, .. } = starting;
        let folder = std::env::temp_dir();
        let name = format!("loadline-testbed-{}-{}", std::process::id(), who.generation);
        let path = folder.join(name);
        let cannot = |what: &str, error: std::io::Error| {
            format!(
                "{}: cannot {what}: {error}; check {} and the limits of processes",
                plan.name,
                folder.display()
            )
        };
        let tally = Tally::create(&path).map_err(|error| cannot("share memory", error))?;
        let part = PartPlan {
            component: plan.name.clone(),
            replica: u32::try_from(who.replica).unwrap_or(0),
            seed: starting.seed,
            port: self.port,
            https: self.https,
            start_delay: starting.start_delay,
            factor: self.factor,
            tally: path,
            kind: plan.kind.clone(),
        };
        let shared = part.tally.clone();
        let process = Process::start(starting.launch, &part, who, starting.events);
        let process = process.map_err(|error| {
            drop(std::fs::remove_file(&shared));
            cannot("start a process", error)
        })?;
        if matches!(self.next, Next::At(_)) {
            self.restarts += 1;
        }
        self.live = Some(Live {
            process,
            tally: Arc::new(tally),
            shared,
            who,
            since: starting.now,
            addresses: None,
            leaving: None,
            told: BTreeMap::new(),
            told_number: 0,
            heard_number: 0,
        });
        Ok(())
    }

    /// The process listens; the next one will listen there too.
    pub(super) fn listens(&mut self, address: SocketAddr, https: Option<SocketAddr>) {
        self.port = address.port();
        self.https = self.https.and(https.map(|https| https.port()));
        if let Some(live) = &mut self.live {
            live.addresses = Some((address, https));
        }
    }

    /// The process could not start; perhaps another process uses its port now.
    pub(super) fn failed(&mut self, plan: &ComponentPlan, replica: u32, why: String) {
        (self.port, self.https) = configured_ports(plan, replica);
        self.last_end = Some(why);
    }

    /// The process is gone.
    pub(super) fn gone(
        &mut self,
        words: impl FnOnce(bool) -> String,
        plan: &ComponentPlan,
        now_ns: u64,
    ) {
        let Some(live) = self.live.take() else { return };
        // It is there only when the process ended before it began.
        drop(std::fs::remove_file(&live.shared));
        let totals = live.tally.read();
        let out_of_memory = totals.get(Counter::Ooms) > 0;
        self.past.add(&totals.ended());
        // What the process said of its failure tells more than its exit code.
        if live.addresses.is_some() || self.last_end.is_none() || out_of_memory {
            self.last_end = Some(words(out_of_memory));
        }
        self.next = match (&live.leaving, plan.restart_after) {
            (Some(leaving), _) => {
                self.restarts += u64::from(leaving.why == Leave::Restart);
                Next::Now
            }
            (None, Some(after)) => Next::At(now_ns + crate::duration::as_ns(after)),
            (None, None) => Next::Never,
        };
    }

    /// Asks the process to end, in order.
    pub(super) fn leave(&mut self, now_ns: u64, why: Leave) {
        if let Some(live) = &mut self.live {
            live.leaving.get_or_insert(Leaving {
                asked_ns: now_ns,
                told: false,
                killed: false,
                why,
            });
        }
    }

    /// Slows the process down, and those that follow it.
    pub(super) fn set_factor(&mut self, factor: f64) {
        self.factor = factor;
        if let Some(live) = &mut self.live {
            live.told_number += 1;
            live.process.tell(&Order::Factor {
                number: live.told_number,
                factor,
            });
        }
    }

    /// Everything that was counted here.
    pub(super) fn totals(&self) -> Totals {
        let mut totals = self.past.clone();
        if let Some(live) = &self.live {
            totals.add(&live.tally.read());
        }
        totals
    }

    /// The state in one word.
    pub(super) fn state(&self) -> &'static str {
        match &self.live {
            Some(live) if live.leaving.is_some() => "stopping",
            Some(live) if live.addresses.is_some() => "ready",
            Some(_) => "starting",
            None if self.next == Next::Now => "stopped",
            None => "ended",
        }
    }
}

fn configured_ports(plan: &ComponentPlan, replica: u32) -> (u16, Option<u16>) {
    let of = |first: u16| match first {
        0 => 0,
        first => first.saturating_add(u16::try_from(replica).unwrap_or(u16::MAX)),
    };
    (of(plan.port), plan.https.map(of))
}

impl Live {
    /// Whether requests may be sent to it.
    pub(super) fn is_ready(&self) -> bool {
        self.addresses.is_some() && self.leaving.is_none()
    }

    /// Whether it uses the newest lists.
    pub(super) fn is_informed(&self) -> bool {
        self.addresses.is_none() || self.heard_number == self.told_number
    }

    /// Tells it who answers, when that is news.
    pub(super) fn inform(&mut self, lists: BTreeMap<String, Vec<Upstream>>) {
        if self.addresses.is_none() || self.told == lists {
            return;
        }
        self.told_number += 1;
        self.process.tell(&Order::Upstreams {
            number: self.told_number,
            lists: lists.clone(),
        });
        self.told = lists;
    }

    /// Brings its end about, step by step.
    pub(super) fn end(&mut self, now_ns: u64) {
        let Some(leaving) = &mut self.leaving else {
            return;
        };
        let since_ns = now_ns.saturating_sub(leaving.asked_ns);
        if !leaving.told && since_ns >= LEAVE_BEFORE_STOP_NS {
            leaving.told = true;
            self.process.tell(&Order::Stop);
        }
        if !leaving.killed && since_ns >= KILL_AFTER_NS {
            leaving.killed = true;
            self.process.kill();
        }
    }
}
