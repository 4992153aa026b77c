//! A control group with a CPU quota, of version 1 or 2.
//!
//! Must not know what runs in it. Invariant: it is removed at the end, once its processes have ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_e2e::clock;

/// How long killed processes may take to leave the group.
const EMPTY_MAX: Duration = Duration::from_secs(2);
const PERIOD_US: f64 = 100_000.0;

/// The separate accounting hierarchy of the kernel in version 1.
const COUNTS: &str = "/sys/fs/cgroup/cpuacct";

/// Its folders, starting with that of its limit.
pub(crate) struct Group(Vec<PathBuf>);

impl Group {
    /// Creates one that allows this many CPUs; `None` if that is impossible.
    pub(crate) fn make(name: &str, quota: f64) -> Option<Group> {
        let name = format!("loadline-situation-{}-{name}", std::process::id());
        let quota = (quota * PERIOD_US).round();
        let settings = [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", format!("{quota}")),
            ("/sys/fs/cgroup", "cpu.max", format!("{quota} {PERIOD_US}")),
        ];
        settings.into_iter().find_map(|(root, file, quota)| {
            let folder = Path::new(root).join(&name);
            fs::create_dir(&folder).ok()?;
            let mut made = Group(vec![folder]);
            fs::write(made.0[0].join(file), quota).ok()?;
            let counts = Path::new(COUNTS).join(&name);
            if fs::create_dir(&counts).is_ok() {
                made.0.push(counts);
            }
            Some(made)
        })
    }

    /// The shell command with which a process joins.
    pub(crate) fn joining(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|folder| format!("echo $$ > {}/cgroup.procs; ", folder.display()));
        lines.collect()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.0 {
            // If it stays, it is empty.
            let _ = clock::wait_for(EMPTY_MAX, || fs::remove_dir(folder).ok());
        }
    }
}
