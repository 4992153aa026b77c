//! Everything that differs between operating systems, in one place.
//!
//! Linux has the precise paths; elsewhere each function answers with what can be had portably, or
//! with `None`. Must not know virtual users or measurements. Invariant: nothing outside this
//! module asks for the operating system.

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(target_os = "linux")]
pub use cgroup::{CpuQuota, memory_limit, throttled_ns};
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use portable::*;

/// Cores that this process may use: its affinity, cut by the control group's quota.
#[must_use]
pub fn usable_cores() -> f64 {
    let cores = affinity_cores() as f64;
    cpu_quota_cores().map_or(cores, |quota| quota.min(cores))
}
