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

/// Tries whether there are file descriptors for a runtime of tokio and the pair of sockets that its first one makes.
///
/// # Errors
/// Those of the system.
pub fn try_descriptors() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let pair = || std::os::unix::net::UnixStream::pair();
        let _held = (pair()?, pair()?, pair()?, pair()?);
    }
    Ok(())
}

/// What a thread waited for processors.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunQueue {
    /// Time in which it was ready and had none, in nanoseconds.
    pub waited_ns: u64,
    /// How often it was given one.
    pub turns: u64,
}

/// What the kernel knows of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub struct TcpFacts {
    /// Smallest round-trip time seen, in nanoseconds.
    pub min_rtt_ns: u64,
    /// Smoothed round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// Segments that were lost and retransmitted since the connection was opened; none where the other side did not read most of the time: they
    /// ask whether it reads again.
    pub retransmits: u64,
    /// Of all that was sent again, what the other side had got already.
    pub needless: u64,
    /// Whether the other side, which had sent something before, has not acknowledged what was last sent, and sent again. One that
    /// never sent anything may not have taken the connection from a full queue.
    pub is_unacknowledged: bool,
    /// Whether one that never sent anything has not acknowledged what was last sent, and sent again.
    pub is_untaken: bool,
    /// Segments that came while an earlier one had not come yet.
    pub out_of_order: u64,
    /// Time in which something that was sent was not acknowledged yet, though the other side read, in nanoseconds.
    pub in_flight_ns: u64,
}

/// What makers of load have used so far, and what they may use.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorTotals {
    /// Processor time in nanoseconds.
    pub cpu_ns: u64,
    /// Time that control groups were throttled, in nanoseconds; `None` without a quota.
    pub throttled_ns: Option<u64>,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// The most that it was.
    pub rss_max_bytes: u64,
    /// Cores that may be used; a fraction under a quota.
    pub cores: f64,
}

/// Those of this process.
#[must_use]
pub fn generator_totals() -> GeneratorTotals {
    GeneratorTotals {
        cpu_ns: process_cpu_ns(),
        throttled_ns: throttled_ns(),
        rss_bytes: resident_bytes().unwrap_or(0),
        rss_max_bytes: resident_bytes_max().unwrap_or(0),
        cores: usable_cores(),
    }
}

/// Whose cores this process uses: two that say the same share them. Empty when unknown.
#[must_use]
pub fn cores_owner() -> String {
    match cpu_quota_cores() {
        Some(_) => format!("{}/{}", machine(), std::process::id()),
        None => machine(),
    }
}
