//! Who makes the load of a run: the engine of this process, or others that are spoken to.
//!
//! Must not know how a run is conducted. Invariant: whoever makes it, the same is told in the same order: all are ready, they
//! are released, they report, they have ended.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use loadline_engine::clock::Clock;
use loadline_engine::live::{LiveCounters, LiveTotals};
use loadline_engine::platform::{self, GeneratorTotals};
use loadline_engine::{Engine, EngineSetup, StartError, WorkerReport};
use loadline_model::{AgentShare, RunCommand, Snapshot};

/// A load that was under way before this process had to do with it.
pub struct UnderWay {
    /// What `setup()` returned, as JSON.
    pub data: Option<Arc<str>>,
    /// What was measured before the load.
    pub seen: Snapshot,
    /// How many seconds, from the first, are known as one only; zero: each is known.
    pub seconds_in_one: u64,
    /// What happened, in words.
    pub what: String,
}

/// What makes the load, as the one who conducts the run sees it.
pub trait Load: Send {
    /// What the workers tell; ends when all have.
    fn reports(&self) -> &Receiver<WorkerReport>;
    /// The clock that every instant of the run is on.
    fn clock(&self) -> Clock;
    /// How many workers report; known once they are ready.
    fn workers(&self) -> u32;
    /// Counters of those who make the load, to be summed.
    fn live_counters(&self) -> &[Arc<LiveCounters>];
    /// Waits so long for all to be ready, or to have failed; whether they are.
    fn is_ready_within(&self, limit: Duration) -> bool;
    /// What is known of a load that goes on under this process; `None`: it begins when it is released. Known once all are ready.
    fn under_way(&self) -> Option<UnderWay> {
        None
    }
    /// Keeps what was measured before the load, for a process that might have to go on with it; before the release.
    fn keep(&self, _seen: &Snapshot) {}
    /// Starts the run. Must be called once, when all are ready or an order has ended the test.
    fn release(&self);
    /// Passes an order on.
    fn command(&self, command: RunCommand);

    /// Whether this process makes the load, so that it stands still with it.
    fn is_here(&self) -> bool {
        true
    }

    /// Asks what the makers of the load have used so far, and what they may use.
    fn generator_totals(&self) -> Box<dyn Fn() -> GeneratorTotals + Send> {
        Box::new(platform::generator_totals)
    }

    /// What can be read while the workers run.
    fn live(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in self.live_counters() {
            counters.add_to(&mut sum);
        }
        sum
    }

    /// What each agent did, by name; empty where no agents make the load.
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

/// Who makes the load: others, or an engine that is started now.
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
