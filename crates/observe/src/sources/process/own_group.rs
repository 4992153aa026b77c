//! The control group of a component, where it holds the component's processes and nobody else: its account misses nothing.
//!
//! Must not know how a component's processes are found. Invariant: a group counts only between two looks at which it was
//! the component's alone; otherwise the processes' own files count.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::conduct::Roots;
use crate::parse::proc::ProcessStat;
use crate::process::ProcessFiles;
use crate::sources::cgroup::{accounting_of, used_seconds};

/// Processes of a group beyond which nobody asks whose they are.
const PROCESSES_MAX: usize = 1_000;
/// Parents that are followed from a process that is not known yet to one that is.
const ANCESTORS_MAX: usize = 16;

/// The group of one component.
#[derive(Debug)]
pub(super) struct OwnGroup {
    roots: Roots,
    /// The group and its account at the last look; `None`: it was not the component's alone.
    before: Option<(PathBuf, f64)>,
}

impl OwnGroup {
    pub(super) fn new(roots: &Roots) -> OwnGroup {
        OwnGroup {
            roots: roots.clone(),
            before: None,
        }
    }

    /// What the group used since the last look, in seconds; `None` where it was not the component's alone then or is
    /// not now.
    pub(super) fn look(
        &mut self,
        head: Option<u32>,
        members: &[ProcessStat],
        files: &ProcessFiles,
    ) -> Option<f64> {
        let now = head.and_then(|head| self.read(head, members, files));
        let before = std::mem::replace(&mut self.before, now);
        let ((was, before), (is, now)) = before.as_ref().zip(self.before.as_ref())?;
        // One that began anew was made anew: what it used is not known from when.
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

/// Whether a group has no other processes, nor groups below it.
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
            // A process of another name space has no number here, and is a stranger.
            let pid = pid.parse().ok().filter(|pid| *pid > 0);
            pid.is_some_and(|pid| descends(pid, &members, files))
        })
}

/// Whether a process is one of the members, or was born by one since they were read; one that is gone was.
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
