//! CPU time of this machine and its processes, for conditions.
//!
//! Must not know conditions, nor how the kernel reports time. Invariant: unreadable data is an error, never a
//! zero.

use std::path::Path;

use loadline_observe::{machine_cpu_seconds, named_cpu_seconds, process_cpu_seconds};

use super::spec::CpuOf;

/// CPU time used so far, in seconds.
///
/// # Errors
/// There is no such process, or this machine does not report it.
pub(super) fn cpu_seconds(of: &CpuOf) -> Result<f64, String> {
    let proc = Path::new("/proc");
    let (used, missing) = match of {
        CpuOf::Host => (
            machine_cpu_seconds(proc),
            "/proc/stat has no CPU time of this machine".to_owned(),
        ),
        CpuOf::Pid(pid) => (
            process_cpu_seconds(proc, *pid),
            format!("there is no process {pid}"),
        ),
        CpuOf::Name(name) => (
            named_cpu_seconds(proc, name),
            format!("there is no process {name}"),
        ),
    };
    used.ok_or(missing)
}
