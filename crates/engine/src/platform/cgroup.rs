//! The control group's limits and its throttling, versions 1 and 2.
//!
//! Sources: kernel documentation, `admin-guide/cgroup-v2` (`cpu.max`, `cpu.stat`, `memory.max`) and
//! `scheduler/sched-bwc` (`cpu.cfs_quota_us`). Must not know the purpose. Invariant: a missing limit is `None`.

use std::fs;
use std::path::{Path, PathBuf};

use loadline_model::control_group::{cpu_max_cores, field, limit_bytes, path_of, quota_cores};

const ROOT: &str = "/sys/fs/cgroup";

/// The tightest CPU quota that applies to this process, in cores.
#[must_use]
pub fn cpu_quota_cores() -> Option<f64> {
    let unified = values(&folders(""), "cpu.max", cpu_max_cores);
    let legacy = folders("cpu").into_iter().filter_map(|folder| {
        let read = |file: &str| fs::read_to_string(folder.join(file)).ok();
        quota_cores(&read("cpu.cfs_quota_us")?, &read("cpu.cfs_period_us")?)
    });
    unified.into_iter().chain(legacy).min_by(f64::total_cmp)
}

/// Time during which this process's group and its ancestors were throttled so far, in nanoseconds; `None` if none of them
/// counts it. Each group counts what its own quota held back.
#[must_use]
pub fn throttled_ns() -> Option<u64> {
    let unified = throttled(&folders(""), "throttled_usec", 1_000);
    unified.or_else(|| throttled(&folders("cpu"), "throttled_time", 1))
}

/// The tightest memory limit that applies to this process, in bytes.
#[must_use]
pub fn memory_limit() -> Option<u64> {
    let unified = values(&folders(""), "memory.max", limit_bytes);
    let legacy = values(&folders("memory"), "memory.limit_in_bytes", limit_bytes);
    unified.into_iter().chain(legacy).min()
}

/// The sum of a field of `cpu.stat` in these folders.
fn throttled(folders: &[PathBuf], name: &str, unit_ns: u64) -> Option<u64> {
    let of = |text: &str| field(text, name).map(|time| time.saturating_mul(unit_ns));
    values(folders, "cpu.stat", of)
        .into_iter()
        .reduce(u64::saturating_add)
}

/// The values of a file in each of the folders that has one.
fn values<T>(folders: &[PathBuf], file: &str, read: impl Fn(&str) -> Option<T>) -> Vec<T> {
    let texts = folders
        .iter()
        .filter_map(|folder| fs::read_to_string(folder.join(file)).ok());
    texts.filter_map(|text| read(&text)).collect()
}

/// The folders of this process's group and its ancestors, innermost first; `controller` is empty
/// for version 2.
fn folders(controller: &str) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    path_of(&table, controller).map_or_else(Vec::new, |path| {
        up_to(&Path::new(ROOT).join(controller), path)
    })
}

/// The folder of a path below `root`, and its ancestors up to that.
fn up_to(root: &Path, path: &str) -> Vec<PathBuf> {
    let inner = root.join(path.trim_start_matches('/'));
    let all = inner.ancestors().take_while(|one| one.starts_with(root));
    all.map(PathBuf::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quota_of_an_ancestor_holds_back_too() {
        let root = tempfile::tempdir().expect("there is room");
        let inner = root.path().join("slice/job");
        fs::create_dir_all(&inner).expect("there is room");
        let write = |folder: &Path, stat: &str| {
            fs::write(folder.join("cpu.stat"), stat).expect("there is room");
        };
        write(&inner, "usage_usec 9\nthrottled_usec 2\n");
        write(&root.path().join("slice"), "throttled_usec 40\n");
        // As in the root group of version 2.
        write(root.path(), "usage_usec 100\n");
        let folders = up_to(root.path(), "/slice/job");
        assert_eq!(folders.len(), 3);
        assert_eq!(throttled(&folders, "throttled_usec", 1_000), Some(42_000));
        assert_eq!(throttled(&folders, "throttled_time", 1), None);
    }
}
