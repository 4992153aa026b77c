//! What a thread of steps sees of the world: the worker's clock and chance, and the run's files and properties.
//!
//! Must not know threads. Invariant: time is that of the run's clock.

use std::rc::Rc;
use std::sync::Arc;

use loadline_steps::host::{Host, LogLevel};

use crate::steps::StepsSetup;
use crate::vu::shared::Shared;

/// What a thread of steps sees of the world.
pub(super) struct StepsHost {
    pub(super) shared: Rc<Shared>,
    pub(super) setup: StepsSetup,
}

impl Host for StepsHost {
    fn unix_ms(&self) -> i64 {
        i64::try_from(self.shared.unix_ms()).unwrap_or(i64::MAX)
    }

    fn utc_offset_s(&self, unix_ms: i64) -> i32 {
        self.setup.world.utc_offset_s(unix_ms)
    }

    fn random(&self) -> u64 {
        self.shared.next_random()
    }

    fn properties(&self) -> Vec<(String, String)> {
        self.setup.world.properties()
    }

    fn threads_at_work(&self, group: usize) -> (u32, u32) {
        self.setup.state.threads_at_work(group)
    }

    fn property(&self, name: &str) -> Option<String> {
        self.setup.world.property(name)
    }

    fn set_property(&self, name: &str, value: &str) -> Option<String> {
        self.setup.world.set_property(name, value)
    }

    fn read_file(&self, name: &str) -> Result<Arc<[u8]>, String> {
        self.setup.world.read_file(name)
    }

    fn write_file(&self, name: &str, bytes: &[u8], append: bool) -> Result<(), String> {
        self.setup.world.write_file(name, bytes, append)
    }

    fn environment(&self, name: &str) -> Option<String> {
        self.setup.world.environment(name)
    }

    fn machine(&self) -> (String, String) {
        self.setup.world.machine()
    }

    fn log(&self, level: LogLevel, class: &str, message: &str) {
        self.setup.world.log(level, class, message);
    }
}
