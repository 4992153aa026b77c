//! All processes with their parents, read as often as the cost limit allows.
//!
//! Must not know who asks; all process observers of a run share one table. Invariants: walks use at most one
//! part in [`COST_SHARE`] of one CPU, by the thread's own accounting; each walk finds every process started
//! since the last one.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::clock::Clock;
use crate::parse::proc::{ProcessStat, is_called};
use crate::process::ProcessFiles;

/// The time between two walks is this multiple of their cost: one percent of one core.
const COST_SHARE: u64 = 100;
/// Observers that read at the same instant share a walk.
const WALK_SPACING_NS: u64 = 90_000_000;
/// Walks allowed immediately, whatever they cost, because a watched process has ended: enough to find its
/// replacement within a second.
const URGENT_MAX: u64 = 10;
/// Time after which another urgent walk is allowed.
const URGENT_AGAIN_NS: u64 = 1_000_000_000;
/// A process younger than this is read again at each walk: it may exec another program, or close inherited
/// sockets, soon after its start.
const YOUNG_NS: u64 = 5_000_000_000;
/// Processes that are read again at each walk, in turn, whatever it costs.
const READ_AGAIN_MIN: usize = 64;
/// Processes read between two checks of the thread's CPU time.
const BUDGET_STEP: usize = 16;

/// The processes of the machine.
#[derive(Debug)]
pub(crate) struct ProcessTable {
    pub(crate) files: ProcessFiles,
    known: HashMap<u32, Known>,
    children: HashMap<u32, Vec<u32>>,
    command_lines: HashMap<u32, KnownLine>,
    walk: Option<Walk>,
    walks: u64,
    /// Remaining urgent walks, and since when there are so many.
    urgent: (u64, u64),
    sockets: HashMap<u16, SocketSearch>,
    /// The last process that was read again: the next walk continues after it.
    read_again_last: u32,
}

/// A process.
#[derive(Debug)]
struct Known {
    stat: ProcessStat,
    first_walk: u64,
    first_unix_ns: u64,
}

/// A command line, and its process: after exec a process has another name.
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
}

/// Which processes listened on a port at the last search.
#[derive(Clone, Debug, Default)]
struct SocketSearch {
    walk: u64,
    inodes: Vec<u64>,
    holders: Vec<u32>,
    /// Processes that were checked for the inodes, with their start times.
    asked: HashMap<u32, u64>,
}

impl Known {
    fn is_young(&self, now_unix_ns: u64) -> bool {
        now_unix_ns < self.first_unix_ns.saturating_add(YOUNG_NS)
    }
}

impl ProcessTable {
    pub(crate) fn new(root: &Path) -> ProcessTable {
        ProcessTable {
            files: ProcessFiles::new(root),
            known: HashMap::new(),
            children: HashMap::new(),
            command_lines: HashMap::new(),
            walk: None,
            walks: 0,
            urgent: (URGENT_MAX, 0),
            sockets: HashMap::new(),
            read_again_last: 0,
        }
    }

    /// Walks over all processes if the last walk is long enough ago. `is_urgent`: a watched process has ended.
    pub(crate) fn refresh(&mut self, clock: &dyn Clock, is_urgent: bool) {
        let now = clock.unix_ns();
        let since = self.walk.map(|walk| now.saturating_sub(walk.at_unix_ns));
        let cost_ns = self.walk.map_or(0, |walk| walk.cost_ns);
        let is_affordable = since.is_none_or(|since| since >= cost_ns.saturating_mul(COST_SHARE));
        let is_fresh = since.is_some_and(|since| since < WALK_SPACING_NS);
        if is_fresh || !(is_affordable || is_urgent && self.take_urgent(now)) {
            return;
        }
        let begun = clock.thread_cpu_ns();
        self.walks += 1;
        let others = self.read_births(now);
        if let Some(walk) = self.walk {
            let budget = now.saturating_sub(walk.at_unix_ns) / COST_SHARE;
            self.read_again(others, now, || {
                clock.thread_cpu_ns().saturating_sub(begun) < budget
            });
        }
        self.children.clear();
        for (pid, known) in &self.known {
            self.children
                .entry(known.stat.parent)
                .or_default()
                .push(*pid);
        }
        let known = &self.known;
        self.command_lines.retain(|pid, _| known.contains_key(pid));
        // The first walk reads everything once: it is not representative of later ones.
        let cost_ns = self
            .walk
            .map(|_| clock.thread_cpu_ns().saturating_sub(begun));
        self.walk = Some(Walk {
            at_unix_ns: now,
            cost_ns: cost_ns.unwrap_or_default(),
        });
    }

    /// Uses one of the urgent walks, if any is left.
    fn take_urgent(&mut self, now_unix_ns: u64) -> bool {
        let (left, since) = self.urgent;
        let more = now_unix_ns.saturating_sub(since) / URGENT_AGAIN_NS;
        let left = left.saturating_add(more).min(URGENT_MAX);
        let since = match more {
            0 => since,
            _ => now_unix_ns,
        };
        self.urgent = (left.saturating_sub(1), since);
        left > 0
    }

    /// Adds the cost of later work on this walk.
    fn charge(&mut self, cost_ns: u64) {
        if let Some(walk) = &mut self.walk {
            walk.cost_ns = walk.cost_ns.saturating_add(cost_ns);
        }
    }

    /// Reads new processes and forgets those that are gone; returns the older ones.
    fn read_births(&mut self, now_unix_ns: u64) -> Vec<u32> {
        let pids = self.files.pids();
        let there: HashSet<u32> = pids.iter().copied().collect();
        self.known.retain(|pid, _| there.contains(pid));
        let (old, new): (Vec<u32>, Vec<u32>) = pids
            .into_iter()
            .partition(|pid| self.known.contains_key(pid));
        for pid in new {
            self.read(pid, now_unix_ns);
        }
        old
    }

    /// Reads processes again that may have changed: the young ones, and as many others as the budget allows.
    fn read_again(&mut self, pids: Vec<u32>, now_unix_ns: u64, may_go_on: impl Fn() -> bool) {
        let (young, mut others): (Vec<u32>, Vec<u32>) = pids.into_iter().partition(|pid| {
            self.known
                .get(pid)
                .is_some_and(|known| known.is_young(now_unix_ns))
        });
        for pid in young {
            self.read(pid, now_unix_ns);
        }
        others.sort_unstable();
        let next = others.partition_point(|pid| *pid <= self.read_again_last);
        others.rotate_left(next);
        for (number, pid) in others.into_iter().enumerate() {
            let looks = number >= READ_AGAIN_MIN && number.is_multiple_of(BUDGET_STEP);
            if looks && !may_go_on() {
                return;
            }
            self.read(pid, now_unix_ns);
            self.read_again_last = pid;
        }
    }

    fn read(&mut self, pid: u32, now_unix_ns: u64) {
        let Some(stat) = self.files.stat(pid) else {
            self.known.remove(&pid);
            return;
        };
        let is_same = |known: &&Known| known.stat.start_ticks == stat.start_ticks;
        let before = self.known.get(&pid).filter(is_same);
        // Processes found by the first walk are treated as old.
        let born_unix_ns = if self.walk.is_some() { now_unix_ns } else { 0 };
        let known = Known {
            first_walk: before.map_or(self.walks, |before| before.first_walk),
            first_unix_ns: before.map_or(born_unix_ns, |before| before.first_unix_ns),
            stat,
        };
        self.known.insert(pid, known);
    }

    /// The number of walks so far.
    pub(crate) fn walks(&self) -> u64 {
        self.walks
    }

    /// Whether a process existed at a walk, by the number of the walk.
    pub(crate) fn was_there(&self, stat: &ProcessStat, walk: u64) -> bool {
        self.known.get(&stat.pid).is_some_and(|known| {
            known.stat.start_ticks == stat.start_ticks && known.first_walk <= walk
        })
    }

    /// The last reading of a process.
    pub(crate) fn stat(&self, pid: u32) -> Option<&ProcessStat> {
        self.known.get(&pid).map(|known| &known.stat)
    }

    fn alive(&self) -> impl Iterator<Item = &Known> {
        self.known.values().filter(|known| !known.stat.has_ended())
    }

    /// Processes with a name, except this one.
    pub(crate) fn called(&mut self, name: &str, own_pid: u32) -> Vec<u32> {
        let unknown: Vec<u32> = self
            .alive()
            .filter(|known| self.is_young_now(known) || !self.has_line(&known.stat))
            .map(|known| known.stat.pid)
            .collect();
        for pid in unknown {
            self.read_line(pid);
        }
        let line = |pid: u32| self.command_lines.get(&pid).map_or("", |line| &line.text);
        let found = self
            .alive()
            .map(|known| &known.stat)
            .filter(|stat| stat.pid != own_pid && is_called(name, &stat.name, line(stat.pid)));
        found.map(|stat| stat.pid).collect()
    }

    /// Whether it may have exec'd another program, with the same name, since the previous walk.
    fn is_young_now(&self, known: &Known) -> bool {
        let walk = self.walk.map_or(0, |walk| walk.at_unix_ns);
        known.is_young(walk)
    }

    fn has_line(&self, stat: &ProcessStat) -> bool {
        let line = self.command_lines.get(&stat.pid);
        line.is_some_and(|line| line.start_ticks == stat.start_ticks && line.name == stat.name)
    }

    fn read_line(&mut self, pid: u32) {
        let Some(stat) = self.stat(pid) else {
            return;
        };
        let line = KnownLine {
            start_ticks: stat.start_ticks,
            name: stat.name.clone(),
            text: self.files.command_line(pid).unwrap_or_default(),
        };
        self.command_lines.insert(pid, line);
    }

    /// Processes that hold a socket that listens on a port.
    pub(crate) fn listening(&mut self, port: u16, clock: &dyn Clock) -> Vec<u32> {
        let mut search = self.sockets.remove(&port).unwrap_or_default();
        if search.walk != self.walks {
            let begun = clock.thread_cpu_ns();
            search.walk = self.walks;
            // Checking all processes happens once per new socket: it is not representative of later walks.
            if !self.search(port, &mut search) {
                self.charge(clock.thread_cpu_ns().saturating_sub(begun));
            }
        }
        let holders = search.holders.iter().copied();
        let alive = holders
            .filter(|pid| self.stat(*pid).is_some_and(|stat| !stat.has_ended()))
            .collect();
        self.sockets.insert(port, search);
        alive
    }

    /// Finds the processes that hold a socket of a port: checks all processes if a socket is new, otherwise
    /// those that were not checked yet or may still close inherited sockets. Returns whether it checked all.
    fn search(&self, port: u16, search: &mut SocketSearch) -> bool {
        let inodes = self.files.listening_inodes(port);
        let of_all = inodes.iter().any(|inode| !search.inodes.contains(inode));
        if of_all {
            search.asked.clear();
        }
        search.inodes = inodes;
        let was_holder: HashSet<u32> = search.holders.drain(..).collect();
        search.asked.retain(|pid, _| self.known.contains_key(pid));
        if search.inodes.is_empty() {
            return of_all;
        }
        for known in self.alive() {
            let (pid, start_ticks) = (known.stat.pid, known.stat.start_ticks);
            let is_young = self.is_young_now(known);
            let was_asked = search.asked.insert(pid, start_ticks) == Some(start_ticks);
            let holds = match was_asked && !is_young {
                true => was_holder.contains(&pid),
                false => self.files.holds_socket(pid, &search.inodes),
            };
            if holds {
                search.holders.push(pid);
            }
        }
        of_all
    }

    /// Those that do not descend from another of them, sorted by id.
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

    /// The children of a process, sorted by id, without zombies.
    pub(crate) fn children(&self, pid: u32) -> Vec<u32> {
        let children = self.children.get(&pid).into_iter().flatten().copied();
        let mut children: Vec<u32> = children
            .filter(|pid| self.stat(*pid).is_some_and(|stat| !stat.has_ended()))
            .collect();
        children.sort_unstable();
        children
    }

    /// A process and all its descendants, including zombies.
    pub(crate) fn family(&self, root: u32) -> Vec<u32> {
        let mut family = vec![root];
        let mut met = HashSet::from([root]);
        let mut at = 0;
        while let Some(pid) = family.get(at) {
            // A table read while processes change may contain a cycle.
            let children = self.children.get(pid).into_iter().flatten();
            family.extend(children.filter(|child| met.insert(**child)));
            at += 1;
        }
        family
    }

    fn ancestors(&self, pid: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |pid: &u32| {
            let parent = self.stat(*pid)?.parent;
            (parent != 0 && parent != *pid).then_some(parent)
        };
        // No real chain is longer; a table read while processes change may contain a cycle.
        std::iter::successors(parent(&pid), parent).take(1_000)
    }
}

#[cfg(test)]
mod tests;
