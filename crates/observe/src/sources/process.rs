//! `self` and `process`: resource usage of processes on this machine.
//!
//! Must not know how the walk over processes is made cheap. Invariants: a component is one process with its
//! descendants (or alone), and keeps its name across restarts; its CPU time is read more often than it is
//! reported, so that processes that end between two reads are counted.

mod find;
mod own_group;
mod place;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loadline_model::observation::{
    BUSIEST_PROCESS_METRIC, GAP_NOTE, PROCESSES_METRIC, RESTART_NOTE, RunWindow, TOTAL_COMPONENT,
    WORKERS_METRIC,
};

use super::{Source, Surroundings, Tick};
use crate::clock::{Clock, nanoseconds};
use crate::parse::proc::ProcessStat;
use crate::process::{Change, ProcessFiles, ProcessTable, ReadSpan, Slots};
use crate::readings::{Gap, Readings};
use crate::spec::ProcessSettings;
use find::{Finder, Found, Grouping};
use own_group::OwnGroup;
use place::{Place, Usage};

/// Maximum processes of one name that are watched at a time.
const PROCESSES_MAX: usize = 64;
/// Minimum interval of peeks between reads: the time that a process used since the last peek may be lost when
/// it ends.
const PEEK_MIN: Duration = Duration::from_millis(50);
/// The interval of peeks is this multiple of their cost: half a percent of one core.
const PEEK_COST_SHARE: u32 = 200;
/// Changes kept until the next read.
const CHANGES_MAX: usize = 256;
/// Less than this is not worth a note: the kernel itself accounts in hundredths of a second.
const MISSING_MIN_S: f64 = 0.02;

/// Reads processes.
pub(super) struct ProcessSource {
    finder: Finder,
    with_pss: bool,
    files: ProcessFiles,
    table: Arc<Mutex<ProcessTable>>,
    found: Found,
    /// The processes of each head at the last walk, by the head's place in `found.heads`.
    families: Vec<Vec<u32>>,
    seen_walk: u64,
    /// The number of walks at the first read: processes found by then had used CPU time before.
    first_walk: Option<u64>,
    slots: Slots<Identity>,
    changes: Vec<Change<Identity>>,
    /// Whether components have numbers: the first successful search found several processes.
    is_numbered: Option<bool>,
    places: HashMap<usize, Place>,
    /// All workers together, including what their supervisor gained from those it waited for.
    of_workers: Place,
    /// The control group, where there is one component.
    own_group: OwnGroup,
    /// Current head processes, as last read.
    heads: Vec<ProcessStat>,
    last_unix_ns: Option<u64>,
    /// The machine's total busy time at the first read, in seconds.
    machine_seconds: Option<f64>,
    /// CPU time of one reading.
    cost_ns: u64,
}

/// A process: ids are reused, but not with the same start time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    pid: u32,
    start_ticks: u64,
}

impl ProcessSource {
    pub(super) fn new(settings: &ProcessSettings, surroundings: &Surroundings) -> ProcessSource {
        let files = ProcessFiles::new(&surroundings.roots.proc);
        ProcessSource {
            finder: Finder::new(settings, surroundings.own_pid),
            with_pss: settings.pss,
            table: Arc::clone(&surroundings.table),
            found: Found::default(),
            families: Vec::new(),
            seen_walk: 0,
            first_walk: None,
            slots: Slots::new(PROCESSES_MAX),
            changes: Vec::new(),
            is_numbered: None,
            places: HashMap::new(),
            of_workers: Place::new(&files),
            own_group: OwnGroup::new(&surroundings.roots),
            heads: Vec::new(),
            last_unix_ns: None,
            machine_seconds: None,
            cost_ns: 0,
            files,
        }
    }

    /// Only this process.
    pub(super) fn own(surroundings: &Surroundings) -> ProcessSource {
        let settings = ProcessSettings {
            pid: Some(surroundings.own_pid),
            name: None,
            port: None,
            children: false,
            workers: false,
            pss: false,
        };
        ProcessSource::new(&settings, surroundings)
    }

    /// Reads everything that is watched, and searches for new processes if allowed.
    fn observe(&mut self, table: &mut ProcessTable, clock: &dyn Clock) {
        let begun = clock.thread_cpu_ns();
        let from_unix_ns = clock.unix_ns();
        // Who was never there is not missed.
        let is_vacant = self.slots.held().count() < self.slots.len();
        self.search(table, clock, is_vacant);
        if !is_vacant && self.has_lost_a_head() {
            self.search(table, clock, true);
        }
        let identities: Vec<Identity> = self.heads.iter().map(Identity::of).collect();
        let changes = self.slots.set(&identities);
        self.changes.extend(changes);
        self.changes.truncate(CHANGES_MAX);
        if !self.heads.is_empty() {
            let several = self.heads.len() > 1 || self.finder.is_of_several();
            self.is_numbered.get_or_insert(several);
        }
        self.meter(table, from_unix_ns, clock);
        if self.first_walk.is_none() {
            self.first_walk = Some(table.walks());
            self.machine_seconds = self.files.machine_seconds();
        }
        self.cost_ns = clock.thread_cpu_ns().saturating_sub(begun);
    }

    /// Finds the head processes of components, and reads them.
    fn search(&mut self, table: &mut ProcessTable, clock: &dyn Clock, is_urgent: bool) {
        if self.finder.wants_walks() {
            table.refresh(clock, is_urgent);
        }
        if self.seen_walk != table.walks() || self.first_walk.is_none() {
            self.seen_walk = table.walks();
            self.found = self.finder.find(table, clock);
            let heads = self.found.heads.iter();
            self.families = heads
                .map(|head| match self.finder.grouping {
                    Grouping::Alone => vec![*head],
                    Grouping::Family | Grouping::Workers => table.family(*head),
                })
                .collect();
        }
        let heads = self.found.heads.iter();
        let heads = heads.filter_map(|pid| self.files.stat(*pid));
        self.heads = heads.filter(|stat| !stat.has_ended()).collect();
    }

    /// Whether a previous head process is gone.
    fn has_lost_a_head(&self) -> bool {
        let mut held = self.slots.held();
        held.any(|(_, held, _)| !self.heads.iter().any(|stat| Identity::of(stat) == *held))
    }

    /// Updates the CPU time of all components; reading started at `from_unix_ns`.
    fn meter(&mut self, table: &ProcessTable, from_unix_ns: u64, clock: &dyn Clock) {
        let mut members = self.members();
        let mut owner: HashMap<u32, usize> = HashMap::new();
        for (place, stats) in &members {
            owner.extend(stats.iter().map(|stat| (stat.pid, *place)));
        }
        let mut moved: HashMap<(u32, u64), u64> = HashMap::new();
        for (number, place) in &mut self.places {
            for (pid, start_ticks) in place.known() {
                let is_supervisor = self.found.supervisors.contains(&pid);
                if is_supervisor || owner.get(&pid).is_some_and(|owner| owner != number) {
                    let counted = place.release(pid, start_ticks);
                    moved.extend(counted.map(|ticks| ((pid, start_ticks), ticks)));
                } else if !owner.contains_key(&pid) && self.finder.grouping != Grouping::Alone {
                    // Its parent has ended and it keeps running: it stays in its component.
                    let stat = self.files.stat(pid);
                    let stat = stat.filter(|stat| stat.start_ticks == start_ticks);
                    members.entry(*number).or_default().extend(stat);
                }
            }
        }
        let first_walk = self.first_walk;
        let base = |stat: &ProcessStat| match first_walk {
            None => u64::MAX,
            Some(walk) => match moved.get(&(stat.pid, stat.start_ticks)) {
                Some(counted) => *counted,
                // Processes that existed unseen before the first read count from now on.
                None if table.was_there(stat, walk) => u64::MAX,
                None => 0,
            },
        };
        let with_children = self.finder.grouping != Grouping::Alone;
        let of_workers = (self.finder.grouping == Grouping::Workers)
            .then(|| self.workers_and_their_supervisors(table, &members));
        let span = ReadSpan {
            from_unix_ns,
            to_unix_ns: clock.unix_ns(),
        };
        if let Some(all) = of_workers {
            self.of_workers.take(all, true, span, &self.files, base);
        }
        for (number, place) in &mut self.places {
            let stats = members.remove(number).unwrap_or_default();
            place.take(stats, with_children, span, &self.files, base);
        }
        for (number, stats) in members {
            let place = self.places.entry(number);
            let place = place.or_insert_with(|| Place::new(&self.files));
            place.take(stats, with_children, span, &self.files, base);
        }
    }

    /// The current processes of each component.
    fn members(&self) -> HashMap<usize, Vec<ProcessStat>> {
        let mut members = HashMap::new();
        for (place, identity, _) in self.slots.held() {
            let Some(head) = self.heads.iter().find(|one| Identity::of(one) == *identity) else {
                continue;
            };
            let at = self.found.heads.iter().position(|pid| *pid == head.pid);
            let family = at.and_then(|at| self.families.get(at));
            let others = family.into_iter().flatten();
            let others = others
                .filter(|pid| **pid != head.pid)
                .filter_map(|pid| self.files.stat(*pid));
            members.insert(place, std::iter::once(head.clone()).chain(others).collect());
        }
        members
    }

    /// Everything below the topmost processes; of supervisors only what they gained from children they waited
    /// for.
    fn workers_and_their_supervisors(
        &self,
        table: &ProcessTable,
        workers: &HashMap<usize, Vec<ProcessStat>>,
    ) -> Vec<ProcessStat> {
        let mut all: HashMap<u32, ProcessStat> = HashMap::new();
        for stat in workers.values().flatten() {
            all.insert(stat.pid, stat.clone());
        }
        let roots = self.found.roots.iter();
        for pid in roots.flat_map(|root| table.family(*root)) {
            if let Some(mut stat) = self.files.stat(pid).filter(|_| !all.contains_key(&pid)) {
                if self.found.supervisors.contains(&pid) {
                    stat.cpu_ticks = 0;
                }
                all.insert(pid, stat);
            }
        }
        all.into_values().collect()
    }

    fn component(&self, readings: &Readings, place: usize) -> Arc<str> {
        let observer = readings.observer();
        match place == 0 && self.is_numbered != Some(true) {
            true => observer,
            false => Arc::from(format!("{observer}[{}]", place + 1)),
        }
    }

    fn tell_changes(&mut self, readings: &mut Readings) {
        let changes = std::mem::take(&mut self.changes);
        for (number, change) in changes.iter().enumerate() {
            match change {
                Change::Gone { place, before } => {
                    // If the slot is taken again in the same read, the process was restarted: a single note
                    // covers both.
                    let mut later = changes[number + 1..].iter();
                    if later.any(|other| other.is_replaced(*place)) {
                        continue;
                    }
                    let component = self.component(readings, *place);
                    let text = format!("process {} has ended", before.pid);
                    readings.remark(&component, GAP_NOTE, text);
                }
                Change::Replaced { place, before, now } => {
                    let component = self.component(readings, *place);
                    let text = format!("process {} has replaced process {}", now.pid, before.pid);
                    readings.remark(&component, RESTART_NOTE, text);
                }
            }
        }
    }

    fn tell(&self, component: &str, usage: &Usage, restarts: u64, readings: &mut Readings) {
        let files = [
            ("open_files", usage.open_files),
            ("open_files_limit", usage.open_files_limit),
            ("memory_pss_bytes", usage.pss_bytes),
        ];
        if let Some(cores) = usage.cpu_cores {
            readings.put(component, "cpu_cores", cores);
        }
        if let Some(cores) = usage.busiest_cores {
            readings.put(component, BUSIEST_PROCESS_METRIC, cores);
        }
        readings.put(component, "memory_bytes", usage.memory_bytes);
        readings.put(component, "threads", usage.threads as f64);
        readings.put(component, PROCESSES_METRIC, usage.processes as f64);
        for (metric, value) in files {
            if let Some(value) = value {
                readings.put(component, metric, value as f64);
            }
        }
        if self.with_pss && usage.pss_bytes.is_none() {
            readings.missing(component, "its proportional share of memory cannot be read; that needs the permissions of its user");
        }
        readings.put(component, "restarts", restarts as f64);
    }

    /// Reports all present components; returns their sums.
    fn tell_all(&mut self, now_unix_ns: u64, readings: &mut Readings) -> (f64, f64) {
        let held: Vec<(usize, Identity, u64)> = self
            .slots
            .held()
            .map(|(place, identity, replaced)| (place, *identity, replaced))
            .collect();
        let of_group = self.of_group();
        let (mut total_cores, mut total_bytes) = (0.0, 0.0);
        for (number, identity, restarts) in held {
            let Some(place) = self.places.get_mut(&number) else {
                continue;
            };
            // A component that appeared since the last read used its time since then.
            let since = self.last_unix_ns;
            let usage = place.look(now_unix_ns, since, of_group, self.with_pss, &self.files);
            total_cores += usage.cpu_cores.unwrap_or(f64::NAN);
            total_bytes += usage.memory_bytes;
            let component = self.component(readings, number);
            self.tell(&component, &usage, restarts, readings);
            let others = self.heads.iter();
            let workers = others.filter(|stat| stat.parent == identity.pid).count();
            if self.finder.grouping == Grouping::Alone && workers > 0 {
                readings.put(&component, WORKERS_METRIC, workers as f64);
            }
        }
        (total_cores, total_bytes)
    }

    /// What the control group of the only component used since the last read, if the component has it to
    /// itself.
    fn of_group(&mut self) -> Option<f64> {
        let is_whole = self.finder.grouping == Grouping::Family && self.slots.len() == 1;
        let head = self.heads.first().filter(|_| is_whole).map(|stat| stat.pid);
        let members = self.places.get(&0).map_or(&[][..], Place::members);
        self.own_group.look(head, members, &self.files)
    }

    /// Reports how much of a component's time may be missing, and why.
    fn tell_missing(&self, component: &str, place: &Place, readings: &mut Readings) {
        let unread_s = place.missing.unread_ns as f64 / 1e9;
        let counted_s = place.told_s;
        if place.missing.ignores_children {
            let machine = self.files.machine_seconds().zip(self.machine_seconds);
            let at_most = machine.map(|(now, first)| (now - first - counted_s).max(0.0));
            let bound = at_most.map_or_else(String::new, |most| {
                format!("; at most {most:.1} s, which is what all others of the machine used")
            });
            let text = format!(
                "{counted_s:.2} s of CPU time are counted, without that of children that ended between two readings: the service ignores their end (SIGCHLD), so the kernel keeps no account of them{bound}. Observe its control group instead"
            );
            readings.missing(component, text);
        } else if unread_s >= MISSING_MIN_S {
            let text = format!(
                "{counted_s:.2} s of CPU time are counted; at most {unread_s:.2} s are missing, which processes that ended may have used since they were last read"
            );
            readings.missing(component, text);
        }
    }
}

impl Source for ProcessSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let shared = Arc::clone(&self.table);
        // The table is consistent after each walk, even if a thread panicked.
        let mut table = shared.lock().unwrap_or_else(PoisonError::into_inner);
        self.observe(&mut table, tick.clock);
        drop(table);
        let now = tick.clock.unix_ns();
        readings.read_at(now);
        self.tell_changes(readings);
        let since = self.last_unix_ns;
        let (total_cores, total_bytes) = self.tell_all(now, readings);
        let of_workers = self.of_workers.look(now, since, None, false, &self.files);
        self.last_unix_ns = Some(now);
        if self.heads.is_empty() {
            return Err(self.finder.nothing_found());
        }
        if self.slots.len() > 1 {
            let cores = match self.finder.grouping {
                Grouping::Workers => of_workers.cpu_cores.unwrap_or(f64::NAN),
                Grouping::Alone | Grouping::Family => total_cores,
            };
            readings.put(TOTAL_COMPONENT, "cpu_cores", cores);
            readings.put(TOTAL_COMPONENT, "memory_bytes", total_bytes);
        }
        Ok(())
    }

    fn peek(&mut self, clock: &dyn Clock) {
        let shared = Arc::clone(&self.table);
        let mut table = shared.lock().unwrap_or_else(PoisonError::into_inner);
        self.observe(&mut table, clock);
    }

    fn peek_span_ns(&self) -> Option<u64> {
        let by_cost = self.cost_ns.saturating_mul(u64::from(PEEK_COST_SHARE));
        Some(by_cost.max(nanoseconds(PEEK_MIN)))
    }

    fn conclude(&mut self, _: &RunWindow, readings: &mut Readings) -> Result<(), Gap> {
        let mut numbers: Vec<usize> = self.places.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            let component = self.component(readings, number);
            self.tell_missing(&component, &self.places[&number], readings);
        }
        Ok(())
    }
}

impl Identity {
    fn of(stat: &ProcessStat) -> Identity {
        Identity {
            pid: stat.pid,
            start_ticks: stat.start_ticks,
        }
    }
}

#[cfg(test)]
mod tests;
