//! All processes with their parents, read at most as often as it may cost.
//!
//! Must not know who asks; all process observers of a run share one table. Invariant: walks take at most one part in
//! [`COST_SHARE`] of the time.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::clock::Clock;
use crate::parse::proc::{ProcessStat, is_called};
use crate::process::ProcessFiles;

/// Two walks are this many times the cost of one apart: half a percent of one core.
const COST_SHARE: u64 = 200;
/// Observers that look at one instant share a walk.
const WALK_SPACING_NS: u64 = 90_000_000;

/// The processes of the machine.
#[derive(Debug)]
pub(crate) struct ProcessTable {
    pub(crate) files: ProcessFiles,
    stats: HashMap<u32, ProcessStat>,
    command_lines: HashMap<u32, KnownLine>,
    walk: Option<Walk>,
    sockets: HashMap<u16, SocketSearch>,
    /// Clock ticks since the machine started at the walk before the last one.
    previous_uptime_ticks: u64,
}

/// A command line, and of whom: a process that runs another program has another name.
#[derive(Debug)]
struct KnownLine {
    start_ticks: u64,
    name: String,
    text: String,
}

/// The last walk.
#[derive(Clone, Copy, Debug)]
struct Walk {
    at_unix_ns: u64,
    cost_ns: u64,
    uptime_ticks: u64,
}

/// Who listened on a port when it was looked for.
#[derive(Clone, Debug)]
struct SocketSearch {
    at_unix_ns: u64,
    cost_ns: u64,
    holders: Vec<u32>,
}

/// A search for listeners is repeated after this time, for those that joined.
const SEARCH_SPACING_NS: u64 = 10_000_000_000;
/// And where none is found, after this.
const SEARCH_AGAIN_NS: u64 = 900_000_000;

impl ProcessTable {
    pub(crate) fn new(root: &Path) -> ProcessTable {
        ProcessTable {
            files: ProcessFiles::new(root),
            stats: HashMap::new(),
            command_lines: HashMap::new(),
            walk: None,
            sockets: HashMap::new(),
            previous_uptime_ticks: 0,
        }
    }

    /// Walks over all processes, if the last walk is long enough ago.
    pub(crate) fn refresh(&mut self, clock: &dyn Clock) {
        let now = clock.unix_ns();
        let spacing = |walk: Walk| WALK_SPACING_NS.max(walk.cost_ns.saturating_mul(COST_SHARE));
        let is_fresh = self
            .walk
            .is_some_and(|walk| now < walk.at_unix_ns.saturating_add(spacing(walk)));
        if is_fresh {
            return;
        }
        let uptime_ticks = self.files.uptime_ticks().unwrap_or_default();
        self.previous_uptime_ticks = self.walk.map_or(uptime_ticks, |walk| walk.uptime_ticks);
        let pids = self.files.pids();
        let stats = pids.into_iter().filter_map(|pid| self.files.stat(pid));
        // A process that has ended holds nothing but its number.
        let alive = stats.filter(|stat| !matches!(stat.state, 'Z' | 'X'));
        self.stats = alive.map(|stat| (stat.pid, stat)).collect();
        let stats = &self.stats;
        self.command_lines.retain(|pid, _| stats.contains_key(pid));
        self.walk = Some(Walk {
            at_unix_ns: now,
            cost_ns: clock.unix_ns().saturating_sub(now),
            uptime_ticks,
        });
    }

    /// Whether a process started since the walk before the last one, so that all its time is new.
    pub(crate) fn is_new(&self, stat: &ProcessStat) -> bool {
        // A tick of grace: both times are cut to whole ticks.
        stat.start_ticks + 1 >= self.previous_uptime_ticks
    }

    /// Processes of a name, but for this one.
    pub(crate) fn called(&mut self, name: &str, own_pid: u32) -> Vec<u32> {
        let stats: Vec<ProcessStat> = self.stats.values().cloned().collect();
        let others = stats.iter().filter(|stat| stat.pid != own_pid);
        let found = others.filter(|stat| is_called(name, &stat.name, self.command_line(stat)));
        found.map(|stat| stat.pid).collect()
    }

    fn command_line(&mut self, stat: &ProcessStat) -> &str {
        let is_known = self
            .command_lines
            .get(&stat.pid)
            .is_some_and(|known| known.start_ticks == stat.start_ticks && known.name == stat.name);
        if !is_known {
            let line = KnownLine {
                start_ticks: stat.start_ticks,
                name: stat.name.clone(),
                text: self.files.command_line(stat.pid).unwrap_or_default(),
            };
            self.command_lines.insert(stat.pid, line);
        }
        self.command_lines
            .get(&stat.pid)
            .map_or("", |known| known.text.as_str())
    }

    /// Processes that hold a socket that listens on a port.
    pub(crate) fn listening(&mut self, port: u16, clock: &dyn Clock) -> Vec<u32> {
        let now = clock.unix_ns();
        if let Some(known) = self.sockets.get(&port) {
            let alive: Vec<u32> = known.holders.clone();
            let alive: Vec<u32> = alive
                .into_iter()
                .filter(|pid| self.is_alive(*pid))
                .collect();
            let spacing = match alive.len() == known.holders.len() && !alive.is_empty() {
                true => SEARCH_SPACING_NS,
                false => SEARCH_AGAIN_NS,
            };
            let spacing = spacing.max(known.cost_ns.saturating_mul(COST_SHARE));
            if now < known.at_unix_ns.saturating_add(spacing) {
                return alive;
            }
        }
        let inodes = self.files.listening_inodes(port);
        let mut holders = Vec::new();
        if !inodes.is_empty() {
            let pids = self.stats.keys().copied();
            holders.extend(pids.filter(|pid| self.files.holds_socket(*pid, &inodes)));
        }
        let search = SocketSearch {
            at_unix_ns: now,
            cost_ns: clock.unix_ns().saturating_sub(now),
            holders: holders.clone(),
        };
        self.sockets.insert(port, search);
        holders
    }

    fn is_alive(&self, pid: u32) -> bool {
        self.files.stat(pid).is_some_and(|stat| stat.state != 'Z')
    }

    /// Those that descend from no other of them, by number.
    pub(crate) fn topmost(&self, pids: &[u32]) -> Vec<u32> {
        let set: HashSet<u32> = pids.iter().copied().collect();
        let has_ancestor = |pid: u32| self.ancestors(pid).any(|ancestor| set.contains(&ancestor));
        let mut top: Vec<u32> = set
            .iter()
            .copied()
            .filter(|pid| !has_ancestor(*pid))
            .collect();
        top.sort_unstable();
        top
    }

    /// A process and all that descend from it.
    pub(crate) fn family(&self, root: u32) -> Vec<u32> {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for stat in self.stats.values() {
            children.entry(stat.parent).or_default().push(stat.pid);
        }
        let mut family = vec![root];
        let mut at = 0;
        while let Some(pid) = family.get(at) {
            // Each process has one parent, so none is met twice.
            family.extend(children.remove(pid).unwrap_or_default());
            at += 1;
        }
        family
    }

    fn ancestors(&self, pid: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |pid: &u32| {
            let parent = self.stats.get(pid)?.parent;
            (parent != 0 && parent != *pid).then_some(parent)
        };
        // No real chain is longer; a table read while processes change may hold a circle.
        std::iter::successors(parent(&pid), parent).take(1_000)
    }
}
