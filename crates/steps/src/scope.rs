//! The state of a thread that texts, extractors and assertions can read and change.
//!
//! Must not know controllers. Invariant: everything in here belongs to one thread, except the content of
//! [`Commons`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::action::Action;
use crate::expression::Known;
use crate::host::Host;
use crate::sample::Sample;
use crate::script::kept::{Kept, Shared};
use crate::thrown::Thrown;
use crate::variables::Variables;

/// The identity of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadIdentity {
    /// Its number within its group, from 1.
    pub number: u32,
    /// The name of its group.
    pub group: String,
    /// The number of threads that the plan sets for its group, as written; `None`: the group has no such
    /// number.
    pub group_threads: Option<String>,
    /// Its own name: `<group> <number of the group>-<number>`.
    pub name: String,
    /// The file name of the plan, without its folder.
    pub plan: String,
}

/// State that functions keep between evaluations in one thread, by call site.
#[derive(Debug, Default)]
pub struct FunctionMemory {
    /// Counters (`__counter`), by call site.
    pub counters: HashMap<u64, u64>,
    /// The thread's current row in each file of `__CSVRead`, by name or alias; `None`: the next one, at the
    /// next access.
    pub rows: HashMap<String, Option<usize>>,
    /// The exception of the first function that failed since this was last taken: the current sample fails with
    /// it; `None`: none has failed.
    pub(crate) exception: Option<Thrown>,
    /// Whether the function at work reported that it has no value: its variable is left as it is.
    pub(crate) has_no_value: bool,
    /// The uncaught Java error (not an exception) thrown by a script: the thread ends with it, and the current
    /// sample is lost; `None`: none was thrown.
    pub(crate) uncaught: Option<String>,
    /// Scripts created at run time.
    pub scripts: Known,
    /// State of scripts in Groovy and BeanShell.
    pub kept: Kept,
    /// The action requested by a script after the current sampler.
    pub(crate) ordered: Option<Action>,
    /// Sleep time of scripts that the thread still has to wait, in milliseconds.
    pub owed_ms: u64,
    /// Depth of nested evaluations of texts created at run time.
    pub depth: u32,
}

/// The share of the plan's threads that run here if several processes run one plan: from data shared by all
/// threads, each takes only the values of its turn, so that none is used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the share, from 0.
    pub number: u32,
    /// The number of shares; at least 1.
    pub of: u32,
}

impl Default for Part {
    /// The whole plan.
    fn default() -> Part {
        Part { number: 0, of: 1 }
    }
}

impl Part {
    /// How many values belong to others before its next own one.
    pub(crate) fn skipped(self, is_first: bool) -> u32 {
        match is_first {
            true => self.number,
            false => self.of.saturating_sub(1),
        }
    }

    /// The global number of its own value number `count`, from 1.
    #[must_use]
    pub fn numbered(self, count: u64) -> u64 {
        let before = count.saturating_sub(1).saturating_mul(self.of.into());
        before.saturating_add(u64::from(self.number) + 1)
    }
}

/// State shared by all threads of a run.
#[derive(Debug, Default)]
pub struct Commons {
    /// Their share of the plan's threads.
    pub part: Part,
    /// Counters shared by all threads, by call site.
    pub counters: Mutex<HashMap<u64, u64>>,
    /// The next row of each file of `__CSVRead`, by name or alias.
    pub rows: Mutex<HashMap<String, usize>>,
    /// The rows of each file.
    pub tables: Mutex<HashMap<String, Arc<Rows>>>,
    /// The files for aliases of `__CSVRead`.
    pub aliases: Mutex<HashMap<String, String>>,
    /// The current position of each `__StringFromFile`, by call site.
    pub cursors: Mutex<HashMap<u64, LineCursor>>,
    /// The nodes that each `__XPath` returns in turn, by file and expression.
    pub nodes: Mutex<HashMap<(String, String), NodesInTurn>>,
    /// Script values stored as properties that are not texts, each with the text of its property.
    pub objects: Mutex<HashMap<String, (String, Arc<Shared>)>>,
    /// Locked during a run of a script that uses a queue of these.
    pub queues: Mutex<()>,
    /// State of the plan's elements, for all threads.
    pub(crate) elements: crate::commons::Elements,
}

/// The position of a line reader in its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCursor {
    /// The current file; empty: none yet.
    pub file: String,
    /// The byte offset of the next line.
    pub at: usize,
    /// The number of the file, if files are numbered.
    pub number: i64,
}

/// The values of the nodes that an expression finds in a file, and the next one.
#[derive(Debug)]
pub struct NodesInTurn {
    /// The values; never empty.
    pub(crate) values: Vec<String>,
    /// The index of the next one.
    pub(crate) next: usize,
}

/// The rows of a file of `__CSVRead`: up to its first empty line, with fields separated by plain commas.
#[derive(Debug, Default)]
pub struct Rows(pub(crate) Vec<Vec<String>>);

impl Rows {
    /// Parses the text of a file.
    pub(crate) fn read(text: &str) -> Rows {
        let lines = text.lines().take_while(|line| !line.is_empty());
        Rows(
            lines
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect(),
        )
    }

    /// Takes the next row of a file for a thread: the last is followed by the first.
    pub(crate) fn take(
        &self,
        next: &Mutex<HashMap<String, usize>>,
        name: &str,
        part: Part,
    ) -> usize {
        let within = |at: usize| at.checked_rem(self.0.len()).unwrap_or(0);
        let mut next = locked(next);
        let next = next
            .entry(name.to_owned())
            .or_insert_with(|| within(part.number as usize));
        let at = *next;
        *next = within(at + part.of as usize);
        at
    }
}

impl Commons {
    /// The shared state of the threads in a share of the plan.
    #[must_use]
    pub fn of_part(part: Part) -> Commons {
        Commons {
            part,
            ..Commons::default()
        }
    }

    /// Increments the counter of a call site, and returns it.
    pub(crate) fn advance(&self, site: u64) -> u64 {
        let mut counters = locked(&self.counters);
        let count = counters.entry(site).or_default();
        *count += 1;
        self.part.numbered(*count)
    }
}

/// Locks a mutex. A poisoned one is still usable: its counts and positions are consistent at any time.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state that an evaluation can read and change.
pub struct Scope<'a> {
    /// The thread's variables.
    pub variables: &'a mut Variables,
    /// The environment.
    pub host: &'a dyn Host,
    /// The thread's identity.
    pub thread: &'a ThreadIdentity,
    /// The state of its functions.
    pub memory: &'a mut FunctionMemory,
    /// The state shared by all threads.
    pub commons: &'a Commons,
    /// The last sample; `None` before the first.
    pub previous: Option<&'a Arc<Sample>>,
    /// The name of the sampler that is being prepared, or was just run.
    pub sampler: &'a str,
    /// Iterations of the thread group's loop that this thread has started.
    pub iteration: u64,
}

impl Scope<'_> {
    /// The current value of a variable, also if it is an object.
    pub(crate) fn variable(&mut self, name: &str) -> Option<&str> {
        self.memory.kept.refresh(name, self.variables);
        self.variables.get(name)
    }
}
