//! Everything that differs between operating systems, in one place.
//!
//! Linux has the precise implementations; elsewhere each function returns what is portable, or `None`. Must not
//! know virtual users or measurements. Invariant: no code outside this module depends on the operating system.

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;

#[cfg(target_os = "linux")]
pub use cgroup::{cpu_quota_cores, memory_limit, throttled_ns};
#[cfg(target_os = "linux")]
pub use linux::*;
#[cfg(not(target_os = "linux"))]
pub use portable::*;

/// Cores that this process may use: its affinity, limited by the control group's quota.
#[must_use]
pub fn usable_cores() -> f64 {
    let cores = affinity_cores() as f64;
    cpu_quota_cores().map_or(cores, |quota| quota.min(cores))
}

/// Checks whether there are file descriptors for a tokio runtime and the socket pair that its first one
/// creates.
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

/// Descriptors that connections leave for everything else: the live page, the REST API, observers, outputs and results.
#[cfg(unix)]
const SPARE_MAX: u64 = 16;

/// Checks whether a new connection leaves descriptors for what is not load; the system gives each the lowest free
/// number.
///
/// # Errors
/// Too few are left: the same as if there were none.
#[cfg(unix)]
pub fn leave_spare(connection: &impl std::os::fd::AsRawFd) -> std::io::Result<()> {
    static LIMIT: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let limit = *LIMIT.get_or_init(|| raise_open_files().unwrap_or(u64::MAX));
    match is_spared(connection.as_raw_fd(), limit) {
        true => Ok(()),
        false => Err(std::io::Error::from_raw_os_error(libc::EMFILE)),
    }
}

/// The same where connections have no numbers.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn leave_spare<S>(_connection: &S) -> std::io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn is_spared(number: i32, limit: u64) -> bool {
    let spare = SPARE_MAX.min(limit / 8);
    u64::try_from(number).is_ok_and(|number| number < limit - spare)
}

/// How long and how often a thread waited for a CPU.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunQueue {
    /// Time in which it was ready to run but had no CPU, in nanoseconds.
    pub waited_ns: u64,
    /// How often it was scheduled.
    pub turns: u64,
}

/// The kernel's data on a TCP connection.
#[derive(Clone, Copy, Debug)]
pub struct TcpFacts {
    /// Smallest round-trip time seen, in nanoseconds.
    pub min_rtt_ns: u64,
    /// Smoothed round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// Lost and retransmitted segments since the connection was opened. Zero if the peer did not read most of
    /// the time: those retransmits probe whether it reads again.
    pub retransmits: u64,
    /// Spurious retransmits: what the peer had already received.
    pub needless: u64,
    /// Whether a peer that had sent something before has not acknowledged the last retransmitted data. A peer
    /// that never sent anything may not have accepted the connection from a full queue.
    pub is_unacknowledged: bool,
    /// Whether a peer that never sent anything has not acknowledged the last retransmitted data.
    pub is_untaken: bool,
    /// Segments received out of order.
    pub out_of_order: u64,
    /// Time during which sent data was unacknowledged although the peer was reading, in nanoseconds.
    pub in_flight_ns: u64,
}

/// Resource use of load generators so far, and their limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GeneratorTotals {
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Time during which control groups were throttled, in nanoseconds; `None` without a quota.
    pub throttled_ns: Option<u64>,
    /// Resident memory in bytes.
    pub rss_bytes: u64,
    /// Peak resident memory in bytes.
    pub rss_max_bytes: u64,
    /// Available cores; a fraction under a quota.
    pub cores: f64,
}

/// The totals of this process.
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

/// Identifies the owner of the cores used by this process: processes with the same value share them. Empty if
/// unknown.
#[must_use]
pub fn cores_owner() -> String {
    match cpu_quota_cores() {
        Some(_) => format!("{}/{}", machine(), std::process::id()),
        None => machine(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_descriptors_for_the_rest() {
        for (limit, most) in [(1_024, 1_007), (64, 55), (7, 6)] {
            assert!(is_spared(most, limit), "{limit}");
            assert!(!is_spared(most + 1, limit), "{limit}");
        }
        assert!(is_spared(i32::MAX, u64::MAX));
    }
}
