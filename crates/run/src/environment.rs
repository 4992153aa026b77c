//! Where a run takes place, and making the process ready for it.
//!
//! Must not know the plan. Invariant: what cannot be found out is `None` or empty, not guessed.

use loadline_engine::platform;
use loadline_model::result::Environment;

use crate::load::Load;

/// Makes the process ready for many connections: the limit of open files is raised as far as it
/// may be. Gives the limit in force; `None` where there is none to raise.
pub fn prepare_process() -> Option<u64> {
    platform::raise_open_files()
}

/// Describes this machine and process, and who makes the load.
#[must_use]
pub fn environment(load: &dyn Load, command: &[String]) -> Environment {
    Environment {
        loadline: env!("CARGO_PKG_VERSION").to_owned(),
        system: platform::system_name(),
        host: platform::host_name(),
        cores: load.generator_totals()().cores,
        processor: platform::processor_name(),
        memory_bytes: platform::memory_bytes(),
        memory_limit_bytes: platform::memory_limit(),
        open_files_max: platform::raise_open_files(),
        ephemeral_ports: platform::ephemeral_ports(),
        workers: load.workers(),
        command: command.to_vec(),
    }
}
