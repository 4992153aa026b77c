//! `self` and `process`: what processes of this machine use.
//!
//! Must not know how the walk over processes is made cheap. Invariant: a component is one process with its children (or
//! alone), and keeps its name when it is started anew.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use loadline_model::observation::{GAP_NOTE, RESTART_NOTE, TOTAL_COMPONENT};

use super::{Source, Surroundings, Tick};
use crate::clock::seconds_between;
use crate::parse::proc::ProcessStat;
use crate::process::{Change, CpuMeter, ProcessFiles, ProcessTable, Slots};
use crate::readings::{Gap, Readings};
use crate::spec::ProcessSettings;

/// Processes of one name that are watched at a time.
const PROCESSES_MAX: usize = 64;
/// Limits of open files are read again after so many looks: a program may raise its own.
const LIMIT_LOOKS: u32 = 30;

/// Which processes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    Pid(u32),
    Name(String),
    Port(u16),
}

/// Reads processes.
pub(super) struct ProcessSource {
    target: Target,
    with_children: bool,
    with_pss: bool,
    own_pid: u32,
    files: ProcessFiles,
    table: Arc<Mutex<ProcessTable>>,
    slots: Slots<Identity>,
    /// Whether components have numbers: several processes were found at the first look that found any.
    is_numbered: Option<bool>,
    meters: HashMap<usize, SlotMeter>,
    limits: HashMap<u32, (u32, Option<u64>)>,
    last_unix_ns: Option<u64>,
}

/// A process: numbers are used again, but not with the same time of start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    pid: u32,
    start_ticks: u64,
}

/// What is kept of a component from look to look.
#[derive(Debug, Default)]
struct SlotMeter {
    cpu: CpuMeter,
    /// When it was last read, in nanoseconds since 1970.
    last_unix_ns: Option<u64>,
}

/// What was read of a component.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    cpu_cores: Option<f64>,
    memory_bytes: f64,
    threads: u64,
    /// Of the process that has the most open.
    open_files: Option<u64>,
    open_files_limit: Option<u64>,
    pss_bytes: Option<u64>,
}

impl ProcessSource {
    pub(super) fn new(settings: &ProcessSettings, surroundings: &Surroundings) -> ProcessSource {
        let target = match (settings.pid, &settings.name, settings.port) {
            (Some(pid), _, _) => Target::Pid(pid),
            (None, Some(name), _) => Target::Name(name.clone()),
            (None, None, port) => Target::Port(port.unwrap_or_default()),
        };
        let table = Arc::clone(&surroundings.table);
        ProcessSource {
            target,
            with_children: settings.children,
            with_pss: settings.pss,
            own_pid: surroundings.own_pid,
            files: ProcessFiles::new(&surroundings.roots.proc),
            table,
            slots: Slots::new(PROCESSES_MAX),
            is_numbered: None,
            meters: HashMap::new(),
            limits: HashMap::new(),
            last_unix_ns: None,
        }
    }

    /// This process alone.
    pub(super) fn own(surroundings: &Surroundings) -> ProcessSource {
        let settings = ProcessSettings {
            pid: Some(surroundings.own_pid),
            name: None,
            port: None,
            children: false,
            pss: false,
        };
        ProcessSource::new(&settings, surroundings)
    }

    /// The processes that head components, and the table they were found in.
    fn find(&self, table: &mut ProcessTable, tick: &Tick<'_>) -> Vec<u32> {
        if self.with_children || !matches!(self.target, Target::Pid(_)) {
            table.refresh(tick.clock);
        }
        let found = match &self.target {
            Target::Pid(pid) => vec![*pid],
            Target::Name(name) => table.called(name, self.own_pid),
            Target::Port(port) => table.listening(*port, tick.clock),
        };
        match self.with_children {
            true => table.topmost(&found),
            false => {
                let mut found = found;
                found.sort_unstable();
                found
            }
        }
    }

    fn nothing_found(&self) -> Gap {
        Gap(match &self.target {
            Target::Pid(pid) => format!("there is no process {pid}"),
            Target::Name(name) => format!("there is no process called {name}"),
            Target::Port(port) => format!(
                "no process that can be seen from here listens on port {port}; one of another user, or in another container, needs more rights"
            ),
        })
    }

    fn component(&self, readings: &Readings, place: usize) -> Arc<str> {
        let observer = readings.observer();
        match place == 0 && self.is_numbered != Some(true) {
            true => observer,
            false => Arc::from(format!("{observer}[{}]", place + 1)),
        }
    }

    fn tell_changes(&self, changes: Vec<Change<Identity>>, readings: &mut Readings) {
        for change in changes {
            match change {
                Change::Gone { place, before } => {
                    let component = self.component(readings, place);
                    let text = format!("process {} has ended", before.pid);
                    readings.remark(&component, GAP_NOTE, text);
                }
                Change::Replaced { place, before, now } => {
                    let component = self.component(readings, place);
                    let text = format!(
                        "process {} runs in the place of process {}",
                        now.pid, before.pid
                    );
                    readings.remark(&component, RESTART_NOTE, text);
                }
            }
        }
    }

    /// The processes of a component as they are now.
    fn members(&self, table: &ProcessTable, root: &ProcessStat) -> Vec<ProcessStat> {
        if !self.with_children {
            return vec![root.clone()];
        }
        let family = table.family(root.pid).into_iter();
        let others = family
            .filter(|pid| *pid != root.pid)
            .filter_map(|pid| self.files.stat(pid));
        std::iter::once(root.clone()).chain(others).collect()
    }

    fn usage(
        &mut self,
        place: usize,
        members: &[ProcessStat],
        table: &ProcessTable,
        now_unix_ns: u64,
    ) -> Usage {
        let meter = self.meters.entry(place).or_default();
        // A process that was there before the first look counts from then on.
        let is_first = self.last_unix_ns.is_none();
        let ticks = meter.cpu.advance(members, self.with_children, |stat| {
            !is_first && table.is_new(stat)
        });
        let since = meter.last_unix_ns.replace(now_unix_ns);
        // A component that came since the last look used its time since then.
        let since = since.or(self.last_unix_ns);
        let elapsed = since.map(|since| seconds_between(since, now_unix_ns));
        let seconds = ticks as f64 / self.files.ticks_per_second;
        let pages: u64 = members.iter().map(|stat| stat.resident_pages).sum();
        let most_open = members
            .iter()
            .filter_map(|stat| Some((self.files.open_files(stat.pid)?, stat.pid)))
            .max();
        let pss = members
            .iter()
            .filter(|_| self.with_pss)
            .filter_map(|stat| self.files.proportional_bytes(stat.pid));
        Usage {
            cpu_cores: elapsed
                .filter(|elapsed| *elapsed > 0.0)
                .map(|e| seconds / e),
            memory_bytes: pages as f64 * self.files.page_bytes,
            threads: members.iter().map(|stat| stat.threads).sum(),
            open_files: most_open.map(|(open, _)| open),
            pss_bytes: pss.reduce(|a, b| a + b),
            open_files_limit: most_open.and_then(|(_, pid)| self.limit(pid)),
        }
    }

    /// The limit of open files, read now and then.
    fn limit(&mut self, pid: u32) -> Option<u64> {
        let (looks, limit) = self.limits.get(&pid).copied().unwrap_or((0, None));
        let limit = match looks % LIMIT_LOOKS {
            0 => self.files.open_files_limit(pid),
            _ => limit,
        };
        if self.limits.len() > PROCESSES_MAX {
            self.limits.clear();
        }
        self.limits.insert(pid, (looks + 1, limit));
        limit
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
        readings.put(component, "memory_bytes", usage.memory_bytes);
        readings.put(component, "threads", usage.threads as f64);
        for (metric, value) in files {
            if let Some(value) = value {
                readings.put(component, metric, value as f64);
            }
        }
        if self.with_pss && usage.pss_bytes.is_none() {
            readings.missing(component, "its proportional share of memory cannot be read; that needs the rights of its user");
        }
        readings.put(component, "restarts", restarts as f64);
    }
}

impl Source for ProcessSource {
    fn read(&mut self, tick: &Tick<'_>, readings: &mut Readings) -> Result<(), Gap> {
        let shared = Arc::clone(&self.table);
        // The table is whole after each walk, whoever panicked.
        let mut table = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let heads = self.find(&mut table, tick);
        let alive = heads.into_iter().filter_map(|pid| self.files.stat(pid));
        let alive: Vec<ProcessStat> = alive.filter(|stat| stat.state != 'Z').collect();
        let identities: Vec<Identity> = alive.iter().map(Identity::of).collect();
        let changes = self.slots.set(&identities);
        if !alive.is_empty() {
            let several = alive.len() > 1 || !self.with_children && self.is_by_name();
            self.is_numbered.get_or_insert(several);
        }
        self.tell_changes(changes, readings);
        let held: Vec<(usize, Identity, u64)> = self
            .slots
            .held()
            .map(|(place, identity, replaced)| (place, *identity, replaced))
            .collect();
        let now = tick.clock.unix_ns();
        let (mut total_cores, mut total_bytes) = (0.0, 0.0);
        for (place, identity, restarts) in &held {
            let Some(root) = alive.iter().find(|stat| Identity::of(stat) == *identity) else {
                continue;
            };
            let members = self.members(&table, root);
            let usage = self.usage(*place, &members, &table, now);
            total_cores += usage.cpu_cores.unwrap_or(f64::NAN);
            total_bytes += usage.memory_bytes;
            let component = self.component(readings, *place);
            self.tell(&component, &usage, *restarts, readings);
        }
        self.last_unix_ns = Some(now);
        if held.is_empty() {
            return Err(self.nothing_found());
        }
        if self.slots.len() > 1 {
            readings.put(TOTAL_COMPONENT, "cpu_cores", total_cores);
            readings.put(TOTAL_COMPONENT, "memory_bytes", total_bytes);
        }
        Ok(())
    }
}

impl ProcessSource {
    /// Whether several processes may be found.
    fn is_by_name(&self) -> bool {
        !matches!(self.target, Target::Pid(_))
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
