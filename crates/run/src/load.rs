//! Where the load of a run is made: by the engine of this process, or by remote agents.
//!
//! Must not know how a run is conducted. Invariant: the sequence is the same for every kind of load: all are
//! ready, they are released, they report, they have ended.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_engine::clock::Clock;
use loadline_engine::live::{LiveCounters, LiveTotals};
use loadline_engine::platform::{self, GeneratorTotals};
use loadline_engine::{Engine, EngineSetup, StartError, WorkerReport};
use loadline_model::{AgentShare, RunCommand, Snapshot};

/// A load that was running before this process took over.
pub struct UnderWay {
    /// What `setup()` returned, as JSON.
    pub data: Option<Arc<str>>,
    /// The measurements from before the load.
    pub seen: Snapshot,
    /// Number of seconds from the start that are only known as a whole; zero: every second is known.
    pub seconds_in_one: u64,
    /// What happened, as text.
    pub what: String,
}

/// The source of the load, as the conductor sees it.
pub trait Load: Send {
    /// The reports of the workers; ends when all workers have.
    fn reports(&self) -> &Receiver<WorkerReport>;
    /// The clock of every time in the run.
    fn clock(&self) -> Clock;
    /// Number of reporting workers; known once they are ready.
    fn workers(&self) -> u32;
    /// Counters of all load generators, to be summed.
    fn live_counters(&self) -> &[Arc<LiveCounters>];
    /// Waits up to `limit` for all to be ready, or to have failed; returns whether they are ready.
    fn is_ready_within(&self, limit: Duration) -> bool;
    /// The state of a load that continues under this process; `None`: it starts when it is released. Known once
    /// all are ready.
    fn under_way(&self) -> Option<UnderWay> {
        None
    }
    /// Stores the measurements from before the load, for a process that may have to take over; called before
    /// the release.
    fn keep(&self, _seen: &Snapshot) {}
    /// Starts the run. Must be called exactly once, when all are ready or an order has ended the test.
    fn release(&self);
    /// Passes an order on.
    fn command(&self, command: RunCommand);

    /// Waits briefly until log lines of the load are written, so that those of what follows come after them.
    fn settle_log(&self) {}

    /// Whether this process makes the load, so that both stall together.
    fn is_here(&self) -> bool {
        true
    }

    /// A function that returns the resources used so far, and their limits.
    fn generator_totals(&self) -> Box<dyn Fn() -> GeneratorTotals + Send> {
        Box::new(platform::generator_totals)
    }

    /// The counters that can be read while the workers run.
    fn live(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in self.live_counters() {
            counters.add_to(&mut sum);
        }
        sum
    }

    /// The share of each agent, by name; empty if no agents make the load.
    fn agents(&self) -> Vec<AgentShare> {
        Vec::new()
    }

    /// Milliseconds since 1970 at the start of the run.
    fn started_unix_ms(&self) -> u64 {
        self.clock().started_unix_ns() / 1_000_000
    }
}

impl Load for Engine {
    fn reports(&self) -> &Receiver<WorkerReport> {
        &self.reports
    }

    fn clock(&self) -> Clock {
        self.clock
    }

    fn workers(&self) -> u32 {
        Engine::workers(self)
    }

    fn live_counters(&self) -> &[Arc<LiveCounters>] {
        Engine::live_counters(self)
    }

    fn is_ready_within(&self, limit: Duration) -> bool {
        Engine::is_ready_within(self, limit)
    }

    fn release(&self) {
        Engine::release(self);
    }

    fn command(&self, command: RunCommand) {
        Engine::command(self, command);
    }
}

/// The source of the load: remote agents, or an engine that is started now.
///
/// # Errors
/// The engine cannot be started.
pub(crate) fn load_of(
    others: Option<Box<dyn Load>>,
    engine_setup: impl FnOnce() -> EngineSetup,
) -> Result<Box<dyn Load>, StartError> {
    if let Some(others) = others {
        return Ok(others);
    }
    Ok(Box::new(Engine::start(engine_setup())?))
}
