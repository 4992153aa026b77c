//! Selects the processes of an observer by id, name or port; leaves out supervisors if workers are wanted.
//!
//! Must not know what is read of them. Invariant: a process and its descendant are only both selected if
//! children do not count as part of their parents.

use crate::clock::Clock;
use crate::process::ProcessTable;
use crate::readings::Gap;
use crate::spec::ProcessSettings;

/// The selection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Pid(u32),
    Name(String),
    Port(u16),
}

/// What forms a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// A process with all its descendants.
    Family,
    /// Each selected process alone.
    Alone,
    /// Each worker with all its descendants, without the supervisor that started it.
    Workers,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// The head processes of components.
    pub(super) heads: Vec<u32>,
    /// The topmost processes above them, if only workers are wanted.
    pub(super) roots: Vec<u32>,
    /// Processes that start workers but serve nothing themselves.
    pub(super) supervisors: Vec<u32>,
}

/// Finds processes.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    pub(super) target: Target,
    pub(super) grouping: Grouping,
    /// Never found by name.
    pub(super) own_pid: u32,
}

impl Finder {
    pub(super) fn new(settings: &ProcessSettings, own_pid: u32) -> Finder {
        let target = match (settings.pid, &settings.name, settings.port) {
            (Some(pid), _, _) => Target::Pid(pid),
            (None, Some(name), _) => Target::Name(name.clone()),
            (None, None, port) => Target::Port(port.unwrap_or_default()),
        };
        let grouping = match (settings.workers, settings.children) {
            (true, _) => Grouping::Workers,
            (false, true) => Grouping::Family,
            (false, false) => Grouping::Alone,
        };
        Finder {
            target,
            grouping,
            own_pid,
        }
    }

    /// Whether all processes of the machine have to be known.
    pub(super) fn wants_walks(&self) -> bool {
        self.grouping != Grouping::Alone || !matches!(self.target, Target::Pid(_))
    }

    /// Whether several processes may be found.
    pub(super) fn is_of_several(&self) -> bool {
        self.grouping == Grouping::Workers
            || self.grouping == Grouping::Alone && !matches!(self.target, Target::Pid(_))
    }

    pub(super) fn find(&self, table: &mut ProcessTable, clock: &dyn Clock) -> Found {
        let mut found = match &self.target {
            Target::Pid(pid) => vec![*pid],
            Target::Name(name) => table.called(name, self.own_pid),
            Target::Port(port) => table.listening(*port, clock),
        };
        found.sort_unstable();
        match self.grouping {
            Grouping::Alone => Found {
                heads: found,
                ..Found::default()
            },
            Grouping::Family => Found {
                heads: table.topmost(&found),
                ..Found::default()
            },
            Grouping::Workers => {
                let serves = match self.target {
                    Target::Port(_) => found.as_slice(),
                    Target::Pid(_) | Target::Name(_) => &[],
                };
                workers(table, table.topmost(&found), serves)
            }
        }
    }

    pub(super) fn nothing_found(&self) -> Gap {
        Gap(match &self.target {
            Target::Pid(pid) => format!("there is no process {pid}"),
            Target::Name(name) => format!("there is no process called {name}"),
            Target::Port(port) => format!(
                "no visible process listens on port {port}; a process of another user or in another container needs more permissions"
            ),
        })
    }
}

/// The workers below the topmost processes. `serves`: processes known to hold the socket.
fn workers(table: &ProcessTable, roots: Vec<u32>, serves: &[u32]) -> Found {
    let mut found = Found::default();
    for root in &roots {
        let mut supervisor = *root;
        while let Some(next) = wrapped(table, supervisor) {
            found.supervisors.push(supervisor);
            supervisor = next;
        }
        let below = workers_of(table, supervisor, serves);
        if below.is_empty() {
            // A process without workers does the work itself.
            found.heads.push(supervisor);
        } else {
            found.supervisors.push(supervisor);
            found.heads.extend(below);
        }
    }
    found.roots = roots;
    found.heads.sort_unstable();
    found
}

/// The only child of a process that merely starts it: a shell or an `init` around a supervisor.
fn wrapped(table: &ProcessTable, pid: u32) -> Option<u32> {
    let [only] = table.children(pid)[..] else {
        return None;
    };
    let name = |pid| table.stat(pid).map(|stat| &stat.name);
    (name(only) != name(pid) && !table.children(only).is_empty()).then_some(only)
}

/// The working children: those that hold the socket, otherwise those that run the same program, otherwise all.
fn workers_of(table: &ProcessTable, supervisor: u32, serves: &[u32]) -> Vec<u32> {
    let children = table.children(supervisor);
    let name = |pid| table.stat(pid).map(|stat| &stat.name);
    let holds = |pid: &u32| serves.contains(pid);
    let is_alike = |pid: &u32| name(*pid) == name(supervisor);
    if children.iter().any(holds) {
        children.into_iter().filter(holds).collect()
    } else if children.iter().any(is_alike) {
        children.into_iter().filter(is_alike).collect()
    } else {
        children
    }
}
