//! The control group of a component, if it contains the component's processes and no others: its accounting is
//! complete.
//!
//! Must not know how a component's processes are found. Invariant: a group only counts between two reads at
//! which the component had it to itself; otherwise the processes' own files count.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::conduct::Roots;
use crate::parse::proc::ProcessStat;
use crate::process::ProcessFiles;
use crate::sources::cgroup::{accounting_of, used_seconds};

/// Maximum processes of a group for which the owner is checked.
const PROCESSES_MAX: usize = 1_000;
/// Maximum ancestors followed from an unknown process to a known one.
const ANCESTORS_MAX: usize = 16;

/// The group of one component.
#[derive(Debug)]
pub(super) struct OwnGroup {
    roots: Roots,
    /// The group and its CPU time at the last read; `None`: the component did not have it to itself.
    before: Option<(PathBuf, f64)>,
}

impl OwnGroup {
    pub(super) fn new(roots: &Roots) -> OwnGroup {
        OwnGroup {
            roots: roots.clone(),
            before: None,
        }
    }

    /// CPU time used by the group since the last read, in seconds; `None` if the component does not have it to
    /// itself, or did not at the last read.
    pub(super) fn look(
        &mut self,
        head: Option<u32>,
        members: &[ProcessStat],
        files: &ProcessFiles,
    ) -> Option<f64> {
        let now = head.and_then(|head| self.read(head, members, files));
        let before = std::mem::replace(&mut self.before, now);
        let ((was, before), (is, now)) = before.as_ref().zip(self.before.as_ref())?;
        // A lower value means a recreated group: it is unknown from when its usage dates.
        (was == is && now >= before).then(|| now - before)
    }

    fn read(
        &self,
        head: u32,
        members: &[ProcessStat],
        files: &ProcessFiles,
    ) -> Option<(PathBuf, f64)> {
        let folder = accounting_of(&self.roots, head)?;
        if !is_of(&folder, members, files) {
            return None;
        }
        let seconds = used_seconds(&folder)?;
        Some((folder, seconds))
    }
}

/// Whether a group contains no other processes and no subgroups.
fn is_of(folder: &Path, members: &[ProcessStat], files: &ProcessFiles) -> bool {
    let Ok(text) = fs::read_to_string(folder.join("cgroup.procs")) else {
        return false;
    };
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    if entries.any(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        return false;
    }
    let members: HashSet<u32> = members.iter().map(|stat| stat.pid).collect();
    let pids: Vec<&str> = text.lines().collect();
    pids.len() <= PROCESSES_MAX
        && pids.iter().all(|pid| {
            // A process of another PID namespace has no id here, and does not belong.
            let pid = pid.parse().ok().filter(|pid| *pid > 0);
            pid.is_some_and(|pid| descends(pid, &members, files))
        })
}

/// Whether a process is one of the members, or a descendant started since they were read; a process that is
/// gone counts as one.
fn descends(pid: u32, members: &HashSet<u32>, files: &ProcessFiles) -> bool {
    if members.contains(&pid) {
        return true;
    }
    let Some(stat) = files.stat(pid) else {
        return true;
    };
    let parent = |pid: &u32| files.stat(*pid).map(|stat| stat.parent);
    let ancestors = std::iter::successors(Some(stat.parent), parent);
    let mut ancestors = ancestors.take(ANCESTORS_MAX);
    ancestors.any(|ancestor| members.contains(&ancestor))
}
