//! Where a run takes place, and preparing the process for it.
//!
//! Must not know the plan. Invariant: what cannot be determined is `None` or empty, never guessed.

use loadline_engine::platform;
use loadline_model::result::Environment;

use crate::load::Load;

/// Prepares the process for many connections: raises the limit of open files as far as allowed. Returns the
/// limit in force; `None` if there is no such limit to raise.
pub fn prepare_process() -> Option<u64> {
    platform::raise_open_files()
}

/// Describes this machine and process, and the generators of the load.
#[must_use]
pub fn environment(load: &dyn Load, command: &[String]) -> Environment {
    // Which agents take part is settled by asking for the workers: before it, none has cores.
    let workers = load.workers();
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
        workers,
        command: command.to_vec(),
    }
}
