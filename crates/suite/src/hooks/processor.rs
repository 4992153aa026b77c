//! Processor time of this machine and of its processes, as Linux tells it in `/proc` (proc(5)).
//!
//! Must not know conditions. Invariant: what cannot be read is an error, never a zero.

use std::fs;

use super::spec::CpuOf;

/// Ticks of a second in `/proc`: USER_HZ, which is 100 on every architecture of Linux that we run on.
const TICKS: f64 = 100.0;

/// Processor time used so far, in seconds.
pub(super) fn cpu_seconds(of: &CpuOf) -> Result<f64, String> {
    match of {
        CpuOf::Host => host(),
        CpuOf::Pid(pid) => process(*pid),
        CpuOf::Name(name) => named(name),
    }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}

fn host() -> Result<f64, String> {
    let text = read("/proc/stat")?;
    host_ticks(&text)
        .map(|ticks| ticks / TICKS)
        .ok_or_else(|| "/proc/stat has no cpu line".to_owned())
}

/// User, nice, system, irq, softirq and steal of the first line; idle and iowait are no use.
fn host_ticks(text: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields: Vec<f64> = line
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let used = [0, 1, 2, 5, 6, 7];
    Some(used.iter().filter_map(|field| fields.get(*field)).sum())
}

fn process(pid: u32) -> Result<f64, String> {
    let text = read(&format!("/proc/{pid}/stat"))?;
    process_ticks(&text)
        .map(|ticks| ticks / TICKS)
        .ok_or_else(|| format!("/proc/{pid}/stat has no CPU time"))
}

/// User and system time; the name before may hold spaces and brackets.
fn process_ticks(text: &str) -> Option<f64> {
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

fn named(name: &str) -> Result<f64, String> {
    let entries = fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut found = None;
    for pid in pids {
        let called = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        // The kernel keeps 15 bytes of a name.
        if !called.trim_end().is_empty() && name.get(..15).unwrap_or(name) == called.trim_end() {
            // It may have ended since.
            *found.get_or_insert(0.0) += process(pid).unwrap_or_default();
        }
    }
    found.ok_or_else(|| format!("there is no process {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_as_the_kernel_writes_them() {
        let host = "cpu  10 20 30 400 50 6 7 8 0 0\ncpu0 1 2 3 4\n";
        assert_eq!(host_ticks(host), Some(81.0));
        let process = "42 (a) b) S 1 42 42 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 1 0 100 1000 1";
        assert_eq!(process_ticks(process), Some(300.0));
        assert_eq!(process_ticks("42 nothing"), None);
    }
}
