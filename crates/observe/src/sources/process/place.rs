//! One component of a `process` observer: its processes, and their usage since the last read.
//!
//! Must not know how processes are found. Invariant: usage is updated whenever files are read, and reported at
//! normal reads; nothing is lost in between.

use std::collections::HashMap;

use crate::clock::seconds_between;
use crate::parse::proc::ProcessStat;
use crate::process::{CpuMeter, ProcessFiles, ReadSpan};

/// The limit on open files is read again after this many reads: a program may raise its own.
const LIMIT_LOOKS: u32 = 30;
/// Maximum processes whose limits are cached.
const LIMITS_MAX: usize = 1_000;

/// The state of a component.
#[derive(Debug)]
pub(super) struct Place {
    meter: CpuMeter,
    /// Its processes, as last read.
    members: Vec<ProcessStat>,
    /// Clock ticks since the last read.
    ticks: u64,
    /// CPU time reported so far, in seconds.
    pub(super) told_s: f64,
    /// Time of the last read, in nanoseconds since 1970.
    last_unix_ns: Option<u64>,
    /// What may be missing from the reported time.
    pub(super) missing: Missing,
    /// What may be missing since the last read.
    unread: Missing,
    /// For each process at the last read: its start time and clock ticks.
    at_look: HashMap<u32, (u64, u64)>,
    limits: HashMap<u32, (u32, Option<u64>)>,
}

/// Time that is no longer in any file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Missing {
    /// Upper bound, for processes that were seen, in CPU time.
    pub(super) unread_ns: u64,
    /// Whether one of the processes does not wait for its children, so that their time is lost.
    pub(super) ignores_children: bool,
}

impl Missing {
    fn add(&mut self, other: Missing) {
        self.unread_ns += other.unread_ns;
        self.ignores_children |= other.ignores_children;
    }
}

/// What was read of a component.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    pub(super) cpu_cores: Option<f64>,
    /// Usage of the busiest process; `None` if there is only one, or nothing to compare with.
    pub(super) busiest_cores: Option<f64>,
    pub(super) memory_bytes: f64,
    pub(super) threads: u64,
    pub(super) processes: u64,
    /// Open files of the process with the most.
    pub(super) open_files: Option<u64>,
    pub(super) open_files_limit: Option<u64>,
    pub(super) pss_bytes: Option<u64>,
}

impl Place {
    pub(super) fn new(files: &ProcessFiles) -> Place {
        Place {
            meter: CpuMeter::new(files.processors, files.tick_ns()),
            members: Vec::new(),
            ticks: 0,
            told_s: 0.0,
            last_unix_ns: None,
            missing: Missing::default(),
            unread: Missing::default(),
            at_look: HashMap::new(),
            limits: HashMap::new(),
        }
    }

    /// Its processes as they were read last.
    pub(super) fn members(&self) -> &[ProcessStat] {
        &self.members
    }

    /// Its processes at the last reading, with when they started.
    pub(super) fn known(&self) -> Vec<(u32, u64)> {
        self.meter.members().collect()
    }

    /// Moves a process to another component; returns what was counted for it here.
    pub(super) fn release(&mut self, pid: u32, start_ticks: u64) -> Option<u64> {
        let counted = self.meter.counted(pid, start_ticks);
        self.meter.release(pid);
        counted
    }

    /// Updates from its processes' files; `base` as in [`CpuMeter::advance`].
    pub(super) fn take(
        &mut self,
        members: Vec<ProcessStat>,
        with_children: bool,
        span: ReadSpan,
        files: &ProcessFiles,
        base: impl Fn(&ProcessStat) -> u64,
    ) {
        let advance = self.meter.advance(&members, with_children, span, base);
        self.ticks += advance.ticks;
        self.members = members;
        let mut parents = advance.without_gain.iter();
        self.unread.add(Missing {
            unread_ns: advance.unread_ns,
            ignores_children: !self.unread.ignores_children
                && parents.any(|pid| files.ignores_children(*pid) == Some(true)),
        });
    }

    /// Its usage since the last read, or since `else_unix_ns` if it appeared after that, and its current state.
    /// `of_group`: what its own control group used since the last read, in seconds, if it has one.
    pub(super) fn look(
        &mut self,
        now_unix_ns: u64,
        else_unix_ns: Option<u64>,
        of_group: Option<f64>,
        with_pss: bool,
        files: &ProcessFiles,
    ) -> Usage {
        let since = self.last_unix_ns.replace(now_unix_ns).or(else_unix_ns);
        let elapsed = since.map(|since| seconds_between(since, now_unix_ns));
        let elapsed = elapsed.filter(|elapsed| *elapsed > 0.0);
        let of_files = std::mem::take(&mut self.ticks) as f64 / files.ticks_per_second;
        let unread = std::mem::take(&mut self.unread);
        if of_group.is_none() {
            self.missing.add(unread);
        }
        let used = of_group.unwrap_or(of_files);
        self.told_s += used;
        let cores = |seconds: f64| elapsed.map(|elapsed| seconds / elapsed);
        let busiest = self.busiest_ticks();
        let alive: Vec<&ProcessStat> = self.members.iter().filter(|s| !s.has_ended()).collect();
        let resident = alive.iter().map(|stat| {
            let exact = files.resident_bytes(stat.pid);
            exact.map_or(stat.resident_pages as f64 * files.page_bytes, |bytes| {
                bytes as f64
            })
        });
        let most_open = alive
            .iter()
            .filter_map(|stat| Some((files.open_files(stat.pid)?, stat.pid)))
            .max();
        let pss = alive
            .iter()
            .filter(|_| with_pss)
            .filter_map(|stat| files.proportional_bytes(stat.pid));
        let usage = Usage {
            cpu_cores: cores(used),
            busiest_cores: busiest
                .filter(|_| alive.len() > 1)
                .and_then(|ticks| cores(ticks as f64 / files.ticks_per_second)),
            memory_bytes: resident.sum(),
            threads: alive.iter().map(|stat| stat.threads).sum(),
            processes: alive.len() as u64,
            open_files: most_open.map(|(open, _)| open),
            pss_bytes: pss.reduce(|a, b| a + b),
            open_files_limit: None,
        };
        let limit = most_open.and_then(|(_, pid)| self.limit(pid, files));
        Usage {
            open_files_limit: limit,
            ..usage
        }
    }

    /// Usage of its busiest process since the last read, without new processes.
    fn busiest_ticks(&mut self) -> Option<u64> {
        let now = self.members.iter();
        let now = now.map(|stat| (stat.pid, (stat.start_ticks, stat.cpu_ticks)));
        let before = std::mem::replace(&mut self.at_look, now.collect());
        let used = self.at_look.iter().filter_map(|(pid, (start, ticks))| {
            let (before_start, before_ticks) = before.get(pid)?;
            (before_start == start).then(|| ticks.saturating_sub(*before_ticks))
        });
        used.max()
    }

    /// The limit of open files, read now and then.
    fn limit(&mut self, pid: u32, files: &ProcessFiles) -> Option<u64> {
        let (looks, limit) = self.limits.get(&pid).copied().unwrap_or((0, None));
        let limit = match looks % LIMIT_LOOKS {
            0 => files.open_files_limit(pid),
            _ => limit,
        };
        if self.limits.len() > LIMITS_MAX {
            self.limits.clear();
        }
        self.limits.insert(pid, (looks + 1, limit));
        limit
    }
}
