//! What a text, an extractor or an assertion of a thread may see and change while it is evaluated.
//!
//! Must not know controllers. Invariant: everything in here belongs to one thread, but what [`Commons`] holds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::action::Action;
use crate::expression::Known;
use crate::host::Host;
use crate::sample::Sample;
use crate::script::kept::{Kept, Shared};
use crate::thrown::Thrown;
use crate::variables::Variables;

/// Who a thread is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadIdentity {
    /// Its number within its group, from 1.
    pub number: u32,
    /// The name of its group.
    pub group: String,
    /// How many threads the plan gives its group, as it says it; `None`: the group has no such number.
    pub group_threads: Option<String>,
    /// Its own name: `<group> <number of the group>-<number>`.
    pub name: String,
    /// The file name of the plan, without its folder.
    pub plan: String,
}

/// What functions keep from one evaluation to the next, in one thread, by the place that calls them.
#[derive(Debug, Default)]
pub struct FunctionMemory {
    /// Counters (`__counter`), by call site.
    pub counters: HashMap<u64, u64>,
    /// The row that the thread is at in each file of `__CSVRead`, by name or alias; `None`: the next one, when it is
    /// wanted.
    pub rows: HashMap<String, Option<usize>>,
    /// What the first function threw that failed since this was last taken: the sample that it is for fails with it;
    /// `None`: none has failed.
    pub(crate) exception: Option<Thrown>,
    /// The error of Java's (no exception) that a script threw and nobody catches: the thread ends with it, and the sample
    /// at work is lost; `None`: none was thrown.
    pub(crate) uncaught: Option<String>,
    /// Scripts that were made up while the test ran.
    pub scripts: Known,
    /// What scripts in Groovy and BeanShell keep.
    pub kept: Kept,
    /// What a script ordered the thread to do after the sampler at work.
    pub(crate) ordered: Option<Action>,
    /// How long scripts have slept that the thread has yet to, in milliseconds.
    pub owed_ms: u64,
    /// How many texts that came up while the test runs are being evaluated within each other.
    pub depth: u32,
}

/// Which part of the plan's threads run here, where several processes run one plan: of what all threads draw from, each takes
/// the values whose turn it is, so that none is given twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the part, from 0.
    pub number: u32,
    /// How many parts there are; at least 1.
    pub of: u32,
}

impl Default for Part {
    /// The whole.
    fn default() -> Part {
        Part { number: 0, of: 1 }
    }
}

impl Part {
    /// How many values are others' before the next one that is its own.
    pub(crate) fn skipped(self, is_first: bool) -> u32 {
        match is_first {
            true => self.number,
            false => self.of.saturating_sub(1),
        }
    }

    /// Its value number `count`, from 1, as it is numbered in the whole.
    #[must_use]
    pub fn numbered(self, count: u64) -> u64 {
        let before = count.saturating_sub(1).saturating_mul(self.of.into());
        before.saturating_add(u64::from(self.number) + 1)
    }
}

/// What all threads of a run share.
#[derive(Debug, Default)]
pub struct Commons {
    /// Which part of the plan's threads they are.
    pub part: Part,
    /// Counters of all threads, by call site.
    pub counters: Mutex<HashMap<u64, u64>>,
    /// The next row of each file of `__CSVRead`, by name or alias.
    pub rows: Mutex<HashMap<String, usize>>,
    /// The rows of each.
    pub tables: Mutex<HashMap<String, Arc<Rows>>>,
    /// The file that an alias of `__CSVRead` stands for.
    pub aliases: Mutex<HashMap<String, String>>,
    /// Where each `__StringFromFile` reads on, by call site.
    pub cursors: Mutex<HashMap<u64, LineCursor>>,
    /// The nodes that each `__XPath` gives in turn, by file and expression.
    pub nodes: Mutex<HashMap<(String, String), NodesInTurn>>,
    /// Values of scripts among the properties that are no texts, each with the text that its property has.
    pub objects: Mutex<HashMap<String, (String, Arc<Shared>)>>,
    /// Held by a run of a script that has a queue of these.
    pub queues: Mutex<()>,
    /// What elements of the plan keep for all threads.
    pub(crate) elements: crate::commons::Elements,
}

/// Where a reader of lines is in its files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineCursor {
    /// The file that is read; empty: none yet.
    pub file: String,
    /// The byte that the next line begins at.
    pub at: usize,
    /// The number of the file, where they are numbered.
    pub number: i64,
}

/// The values of the nodes that an expression finds in a file, and which is next.
#[derive(Debug)]
pub struct NodesInTurn {
    /// The values; never none.
    pub(crate) values: Vec<String>,
    /// The place of the next.
    pub(crate) next: usize,
}

/// The rows of a file of `__CSVRead`: up to its first empty line, fields between plain commas.
#[derive(Debug, Default)]
pub struct Rows(pub(crate) Vec<Vec<String>>);

impl Rows {
    /// Reads the text of a file.
    pub(crate) fn read(text: &str) -> Rows {
        let lines = text.lines().take_while(|line| !line.is_empty());
        Rows(
            lines
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect(),
        )
    }

    /// Takes the next row of a file for a thread: after the last comes the first.
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
    /// What the threads of a part of the plan share.
    #[must_use]
    pub fn of_part(part: Part) -> Commons {
        Commons {
            part,
            ..Commons::default()
        }
    }

    /// Counts one more at a call site, and gives the count.
    pub(crate) fn advance(&self, site: u64) -> u64 {
        let mut counters = locked(&self.counters);
        let count = counters.entry(site).or_default();
        *count += 1;
        self.part.numbered(*count)
    }
}

/// What a lock guards. Whoever panicked while holding it left counts and positions, which are whole at any time.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What an evaluation may see and change.
pub struct Scope<'a> {
    /// The thread's variables.
    pub variables: &'a mut Variables,
    /// The world outside.
    pub host: &'a dyn Host,
    /// Who the thread is.
    pub thread: &'a ThreadIdentity,
    /// What its functions remember.
    pub memory: &'a mut FunctionMemory,
    /// What all threads share.
    pub commons: &'a Commons,
    /// The sample that came last; `None` before the first.
    pub previous: Option<&'a Arc<Sample>>,
    /// The name of the sampler that is being made ready, or was just run.
    pub sampler: &'a str,
    /// Passes of the thread group's loop that this thread has begun.
    pub iteration: u64,
}

impl Scope<'_> {
    /// The value of a variable, an object's as it is now.
    pub(crate) fn variable(&mut self, name: &str) -> Option<&str> {
        self.memory.kept.refresh(name, self.variables);
        self.variables.get(name)
    }
}
