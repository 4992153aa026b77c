//! The control group's limits and its throttling, versions 1 and 2.
//!
//! Sources: kernel documentation, `admin-guide/cgroup-v2` (`cpu.max`, `cpu.stat`, `memory.max`) and
//! `scheduler/sched-bwc` (`cpu.cfs_quota_us`). Must not know the purpose. Invariant: a missing limit is `None`.

use std::fs;
use std::path::PathBuf;

const ROOT: &str = "/sys/fs/cgroup";

/// A share of CPU time: `quota_us` per `period_us`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuQuota {
    quota_us: u64,
    period_us: u64,
}

impl CpuQuota {
    /// The tightest quota that applies to this process.
    #[must_use]
    pub fn read() -> Option<CpuQuota> {
        let unified = folders("")
            .into_iter()
            .filter_map(|folder| parse_cpu_max(&fs::read_to_string(folder.join("cpu.max")).ok()?));
        let legacy = folders("cpu").into_iter().filter_map(|folder| {
            let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
            parse_cfs(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)
        });
        unified
            .chain(legacy)
            .min_by(|a, b| a.cores().total_cmp(&b.cores()))
    }

    /// The quota in cores.
    #[must_use]
    pub fn cores(self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// Time during which this process's group was throttled so far, in nanoseconds; `None` if the group does not
/// count it.
#[must_use]
pub fn throttled_ns() -> Option<u64> {
    let unified = folders("").into_iter().find_map(|folder| {
        stat_field(
            &fs::read_to_string(folder.join("cpu.stat")).ok()?,
            "throttled_usec",
        )
        .map(|us| us * 1_000)
    });
    unified.or_else(|| {
        folders("cpu").into_iter().find_map(|folder| {
            stat_field(
                &fs::read_to_string(folder.join("cpu.stat")).ok()?,
                "throttled_time",
            )
        })
    })
}

/// The tightest memory limit that applies to this process, in bytes.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    // Version 1 writes a number near 2^63 for "no limit".
    const UNLIMITED: u64 = 1 << 60;
    let unified = folders("")
        .into_iter()
        .map(|folder| folder.join("memory.max"));
    let legacy = folders("memory")
        .into_iter()
        .map(|folder| folder.join("memory.limit_in_bytes"));
    unified
        .chain(legacy)
        .filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok())
        .filter(|limit| *limit < UNLIMITED)
        .min()
}

/// The folders of this process's group and its ancestors, innermost first; `controller` is empty
/// for version 2.
fn folders(controller: &str) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let Some(path) = own_path(&table, controller) else {
        return Vec::new();
    };
    let root = PathBuf::from(ROOT).join(controller);
    let inner = root.join(path.trim_start_matches('/'));
    inner
        .ancestors()
        .take_while(|folder| folder.starts_with(&root))
        .map(PathBuf::from)
        .collect()
}

/// The path of the process in one hierarchy, from `/proc/self/cgroup`.
fn own_path<'a>(table: &'a str, controller: &str) -> Option<&'a str> {
    table.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        let path = parts.next()?;
        controllers
            .split(',')
            .any(|name| name == controller)
            .then_some(path)
    })
}

fn parse_cpu_max(text: &str) -> Option<CpuQuota> {
    let mut words = text.split_whitespace();
    let quota_us = words.next()?.parse().ok()?;
    let period_us = words.next()?.parse().ok().filter(|period| *period > 0)?;
    Some(CpuQuota {
        quota_us,
        period_us,
    })
}

fn parse_cfs(quota: &str, period: &str) -> Option<CpuQuota> {
    let quota_us = quota.trim().parse().ok()?;
    let period_us = period.trim().parse().ok().filter(|period| *period > 0)?;
    Some(CpuQuota {
        quota_us,
        period_us,
    })
}

fn stat_field(text: &str, name: &str) -> Option<u64> {
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_read() {
        assert_eq!(
            parse_cpu_max("150000 100000\n").map(CpuQuota::cores),
            Some(1.5)
        );
        assert_eq!(parse_cpu_max("max 100000\n"), None);
        assert_eq!(parse_cfs("-1\n", "100000\n"), None);
        assert_eq!(
            parse_cfs("50000\n", "100000\n").map(CpuQuota::cores),
            Some(0.5)
        );
        assert_eq!(
            stat_field("nr_periods 3\nthrottled_usec 42\n", "throttled_usec"),
            Some(42)
        );
    }

    #[test]
    fn the_own_path_is_found_in_both_versions() {
        let table = "9:name=systemd:/\n2:cpu,cpuacct:/docker/abc\n0::/unified\n";
        assert_eq!(own_path(table, "cpu"), Some("/docker/abc"));
        assert_eq!(own_path(table, ""), Some("/unified"));
        assert_eq!(own_path(table, "memory"), None);
    }
}
