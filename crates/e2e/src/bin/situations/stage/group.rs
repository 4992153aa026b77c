//! A control group that allows a share of a processor, of version 1 or 2.
//!
//! Must not know what runs in it. Invariant: it is gone at the end, once its processes are.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_e2e::clock;

/// How long processes that were killed may take to leave.
const EMPTY_MAX: Duration = Duration::from_secs(2);
const PERIOD_US: f64 = 100_000.0;

/// The group.
pub(crate) struct Group(PathBuf);

impl Group {
    /// Makes one that allows so many processors; `None` where none can be made.
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
            let made = Group(folder);
            fs::write(made.0.join(file), quota).ok().map(|()| made)
        })
    }

    /// Its folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Where it stays it is empty.
        let _ = clock::wait_for(EMPTY_MAX, || fs::remove_dir(&self.0).ok());
    }
}
