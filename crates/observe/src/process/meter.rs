//! The CPU time of a changing group of processes.
//!
//! Must not know where the numbers come from. Invariant: CPU time of the group is counted once, wherever it
//! ends up: a process that ends passes its time to the parent that waits for it, and time that no parent waited
//! for remains counted.

use std::collections::HashMap;

use crate::parse::proc::ProcessStat;

/// What was known about each process of a group at the last reading.
///
/// The times of live processes, including those of children that they waited for, form a sum that waiting does
/// not change: the parent gains what the child had. A process that is gone removes its time from the sum; it
/// reappears either as the parent's gain or, if no parent gained it, as time that is no longer in any file and
/// is kept here.
#[derive(Clone, Debug)]
pub(crate) struct CpuMeter {
    /// The number of CPUs: more threads cannot run at a time.
    processors: u64,
    /// Files contain two times in whole clock ticks, rounded down; this is the time of a process that may be in
    /// neither.
    rounding_ns: u64,
    known: HashMap<u32, Known>,
    /// By parent: its gain beyond the children known to be gone (positive), or what is gone but was not gained
    /// (negative) at the last reading. Files are not read at the same instant, so the two may be one reading
    /// apart.
    carried: HashMap<u32, i64>,
    /// Time reported in excess so far, because files were not read at the same instant; the next reading
    /// subtracts it.
    debt: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    start_ticks: u64,
    total_ticks: u64,
    children_ticks: u64,
    parent: u32,
    has_ended: bool,
    threads: u64,
    /// Earliest time at which it was read.
    read_unix_ns: u64,
}

/// When files were read: each of them at some instant between these two, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSpan {
    pub(crate) from_unix_ns: u64,
    pub(crate) to_unix_ns: u64,
}

/// The result of a reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advance {
    /// Clock ticks used by the group since the last reading.
    pub(crate) ticks: u64,
    /// Upper bound for the unaccounted time of processes that ended: the time since they were last read, times
    /// the number of threads that can run.
    pub(crate) unread_ns: u64,
    /// Live parents that gained nothing from a child that is gone.
    pub(crate) without_gain: Vec<u32>,
}

/// Sums over processes that are gone, by their nearest live ancestor.
#[derive(Clone, Debug, Default)]
struct Gone {
    ticks: u64,
    unread_ns: u64,
    processes: u64,
}

impl CpuMeter {
    /// For a machine with this number of CPUs and this clock tick.
    pub(crate) fn new(processors: u64, tick_ns: u64) -> CpuMeter {
        CpuMeter {
            processors,
            rounding_ns: 2 * tick_ns,
            known: HashMap::new(),
            carried: HashMap::new(),
            debt: 0,
        }
    }

    /// Updates from the members' files. `base` returns what not to count for a new member: all of it if the
    /// member existed unseen, nothing if it started since. With `with_children`, the time of children that were
    /// waited for also counts.
    pub(crate) fn advance(
        &mut self,
        members: &[ProcessStat],
        with_children: bool,
        span: ReadSpan,
        base: impl Fn(&ProcessStat) -> u64,
    ) -> Advance {
        let before = std::mem::take(&mut self.known);
        let mut change = 0_i64;
        let mut gains: HashMap<u32, u64> = HashMap::new();
        for stat in members {
            let now = Known::of(stat, with_children, span.from_unix_ns);
            let known = before.get(&stat.pid);
            let (total, children) = match known.filter(|known| known.is(stat)) {
                Some(known) => (known.total_ticks, known.children_ticks),
                None => (base(stat).min(now.total_ticks), now.children_ticks),
            };
            change += signed(now.total_ticks) - signed(total);
            gains.insert(stat.pid, now.children_ticks.saturating_sub(children));
            self.known.insert(stat.pid, now);
        }
        let mut advance = Advance::default();
        let gone = self.gone(&before, span.to_unix_ns);
        change += self.settle(&gains, gone, with_children, &mut advance);
        advance.ticks = self.paid(change);
        advance
    }

    /// How much of a member's time was counted, in clock ticks.
    pub(crate) fn counted(&self, pid: u32, start_ticks: u64) -> Option<u64> {
        let known = self.known.get(&pid)?;
        (known.start_ticks == start_ticks).then_some(known.total_ticks)
    }

    /// Forgets a process that lives on outside of this group.
    pub(crate) fn release(&mut self, pid: u32) {
        self.known.remove(&pid);
    }

    /// The members at the last reading, with their start times.
    pub(crate) fn members(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.known
            .iter()
            .map(|(pid, known)| (*pid, known.start_ticks))
    }

    /// Members that are gone, by their nearest live ancestor; `None`: there is none in the group.
    fn gone(&self, before: &HashMap<u32, Known>, now_unix_ns: u64) -> HashMap<Option<u32>, Gone> {
        let is_there = |pid: u32, known: &Known| {
            let now = self.known.get(&pid);
            now.is_some_and(|now| now.start_ticks == known.start_ticks)
        };
        let mut all: HashMap<Option<u32>, Gone> = HashMap::new();
        for known in before.iter().filter(|(pid, known)| !is_there(**pid, known)) {
            let known = known.1;
            let mut heir = known.parent;
            // A chain of parents is no longer than the number of processes; files read while they change may
            // form a cycle.
            for _ in 0..before.len() {
                match before.get(&heir) {
                    Some(parent) if !is_there(heir, parent) => heir = parent.parent,
                    _ => break,
                }
            }
            let lives = |parent: &&Known| is_there(heir, parent);
            let heir = before.get(&heir).filter(lives).map(|_| heir);
            let gone = all.entry(heir).or_default();
            gone.ticks += known.total_ticks;
            gone.processes += 1;
            if !known.has_ended {
                let since = now_unix_ns.saturating_sub(known.read_unix_ns);
                gone.unread_ns += since.saturating_mul(known.threads.min(self.processors).max(1));
            }
        }
        all
    }

    /// The change of the sum caused by members that are gone: nothing if no parent gained their time, otherwise
    /// their time.
    fn settle(
        &mut self,
        gains: &HashMap<u32, u64>,
        mut gone: HashMap<Option<u32>, Gone>,
        with_children: bool,
        advance: &mut Advance,
    ) -> i64 {
        // Without a parent in the group, or if children do not count, the time remains counted.
        for orphans in gone.extract_if(|heir, _| heir.is_none() || !with_children) {
            advance.unread_ns += orphans.1.unread_ns + orphans.1.processes * self.rounding_ns;
        }
        let carried = std::mem::take(&mut self.carried);
        let mut change = 0;
        for (parent, gain) in gains.iter().filter(|_| with_children) {
            let left = gone.remove(&Some(*parent));
            let is_short = left.is_some();
            let left = left.unwrap_or_default();
            let carry = carried.get(parent).copied().unwrap_or(0);
            let balance = signed(*gain) - signed(left.ticks);
            let (paid, rest) = match (carry.signum(), balance.signum()) {
                // An earlier gain belongs to members that are gone now.
                (1, -1) => (carry.min(-balance), (balance + carry).min(0)),
                // The current gain belongs to members that went earlier, whose time was kept here.
                (-1, 1) => ((-carry).min(balance), (balance + carry).max(0)),
                _ => (0, balance),
            };
            change -= match balance {
                ..0 => signed(left.ticks) + rest,
                _ => signed(left.ticks) + paid,
            };
            if rest != 0 {
                self.carried.insert(*parent, rest);
            }
            if is_short && rest < 0 {
                advance.unread_ns += left.unread_ns;
            }
            if is_short && *gain == 0 && rest <= 0 && carry <= 0 {
                advance.without_gain.push(*parent);
            }
        }
        change
    }

    /// The sum never decreases: excess time is subtracted from later time.
    fn paid(&mut self, change: i64) -> u64 {
        let owed = signed(self.debt);
        let balance = change - owed;
        self.debt = u64::try_from(-balance).unwrap_or(0);
        u64::try_from(balance).unwrap_or(0)
    }
}

impl Known {
    fn of(stat: &ProcessStat, with_children: bool, read_unix_ns: u64) -> Known {
        let children_ticks = if with_children {
            stat.children_ticks
        } else {
            0
        };
        Known {
            start_ticks: stat.start_ticks,
            total_ticks: stat.cpu_ticks.saturating_add(children_ticks),
            children_ticks,
            parent: stat.parent,
            has_ended: stat.has_ended(),
            threads: stat.threads,
            read_unix_ns,
        }
    }

    fn is(&self, stat: &ProcessStat) -> bool {
        self.start_ticks == stat.start_ticks
    }
}

/// Ticks as a number that may be taken off; 2⁶³ ticks are three thousand million years.
fn signed(ticks: u64) -> i64 {
    i64::try_from(ticks).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
