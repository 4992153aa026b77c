//! Resource use of the process itself, read from `/proc`.
//!
//! It must not know metrics. Invariant: unavailable values are not reported.

use std::fs;

/// Resources of this process.
pub(crate) struct Usage {
    /// User and system time since the start.
    pub(crate) cpu_seconds: f64,
    /// Resident memory.
    pub(crate) resident_bytes: u64,
}

/// Reads the usage; `None` where there is no `/proc` (proc(5)).
pub(crate) fn usage() -> Option<Usage> {
    let schedule = fs::read_to_string("/proc/self/stat").ok()?;
    let status = fs::read_to_string("/proc/self/status").ok()?;
    parse(&schedule, &status, ticks_per_second()?)
}

fn parse(schedule: &str, status: &str, ticks_per_second: f64) -> Option<Usage> {
    // The command name is in parentheses and may itself hold spaces and parentheses.
    let (_, fields) = schedule.rsplit_once(") ")?;
    // utime and stime are fields 14 and 15; the first after the name is field 3.
    let mut times = fields.split(' ').skip(11);
    let user: f64 = times.next()?.parse().ok()?;
    let system: f64 = times.next()?.parse().ok()?;
    let resident = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = resident.split_whitespace().next()?.parse().ok()?;
    Some(Usage {
        cpu_seconds: (user + system) / ticks_per_second,
        resident_bytes: kibibytes * 1024,
    })
}

#[cfg(unix)]
fn ticks_per_second() -> Option<f64> {
    // SAFETY: sysconf takes no pointers.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

#[cfg(not(unix))]
fn ticks_per_second() -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_an_awkward_name() {
        let schedule = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 3 0 99";
        let status = "Name:\tx\nVmRSS:\t    2048 kB\nThreads:\t3\n";
        let usage = parse(schedule, status, 100.0).unwrap();
        assert!((usage.cpu_seconds - 2.0).abs() < 1e-9);
        assert_eq!(usage.resident_bytes, 2_097_152);
        assert!(parse("7 (a) S", status, 100.0).is_none());
    }
}
