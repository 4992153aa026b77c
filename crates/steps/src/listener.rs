//! What hears of samples beside the results of the run: listeners with files of their own, and savers of answers.
//!
//! Must not know files nor their forms. Invariant: a listener is named by its place in the program.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

/// The place of a listener within its program.
pub type ListenerId = usize;

/// What a name of a file begins with that is beside the plan, where the property says nothing else.
const BASE_PREFIX: &str = "~/";

/// Hears of samples.
#[derive(Debug)]
pub enum Listener {
    /// Writes them to a file.
    File(FileListener),
    /// Saves their answers, each to a file.
    Saver(AnswerSaver),
    /// Tells on the way how many there were, in lines with this name.
    Summary(Text),
    /// Tells a store of metrics of them.
    Backend(BackendListener),
}

/// Tells a store of metrics of samples.
#[derive(Debug)]
pub struct BackendListener {
    /// Its name.
    pub name: String,
    /// What the store understands.
    pub kind: BackendKind,
    /// Its arguments, by the names that JMeter gives them.
    pub arguments: Vec<(String, Text)>,
}

/// What a store of metrics understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendKind {
    /// InfluxDB's line protocol.
    Influx,
    /// Graphite's plain text.
    Graphite,
}

/// Writes samples to a file.
#[derive(Debug)]
pub struct FileListener {
    /// The file; blank: it writes none.
    pub file: Text,
    /// Which samples it writes.
    pub wanted: Wanted,
    /// What it writes of each, by the names of JMeter's `saveConfig`; `None`: what properties say.
    pub switches: Option<Vec<(String, String)>>,
}

/// Which samples are wanted: all of them, unless one of the two is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Failed ones.
    pub failed: bool,
    /// Successful ones.
    pub good: bool,
}

impl Wanted {
    /// Whether a sample is wanted by this alone.
    #[must_use]
    pub fn has(self, sample: &Sample) -> bool {
        match sample.success {
            true => self.good || !self.failed,
            false => self.failed || !self.good,
        }
    }
}

/// Saves the answers of samples, and of those below them.
#[derive(Debug)]
pub struct AnswerSaver {
    /// Its number within the program.
    pub id: usize,
    /// What the names of its files begin with.
    pub prefix: Text,
    /// Whether it leaves successful samples out.
    pub failed_only: bool,
    /// Whether it leaves failed samples out.
    pub good_only: bool,
    /// Whether samples of transactions are left out.
    pub skips_transactions: bool,
    /// Whether the instant of the start stands in names.
    pub has_timestamp: bool,
    /// Whether files are numbered.
    pub is_numbered: bool,
    /// Digits of a number, at least.
    pub digits: Text,
    /// Whether names end with what the content type says.
    pub has_suffix: bool,
    /// The variable that is set to the name; blank: none.
    pub variable: Text,
}

/// A sample that is done, and who hears of it.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The sample.
    pub sample: Arc<Sample>,
    /// The listeners that it is told to, the innermost first.
    pub listeners: Arc<[ListenerId]>,
    /// What it is to the results of the run.
    pub standing: Standing,
}

/// What a sample that is heard of is to the results of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// A result.
    Result,
    /// Part of a transaction, which is a result or becomes one.
    Part,
    /// A transaction that was a result before its end; so many of its samples were told with it.
    Again(usize),
    /// Never told, as JMeter loses it; what it sent was sent.
    Lost,
}

impl Heard {
    /// Whether it is a result of the run.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.standing == Standing::Result
    }

    /// The samples that nothing else tells of.
    #[must_use]
    pub fn news(&self) -> &[Sample] {
        match self.standing {
            Standing::Result | Standing::Lost => std::slice::from_ref(&self.sample),
            Standing::Part => &[],
            Standing::Again(known) => self.sample.children.get(known..).unwrap_or_default(),
        }
    }
}

impl From<Sample> for Heard {
    /// A sample that the results of the run have, and nobody else.
    fn from(sample: Sample) -> Heard {
        Heard {
            sample: Arc::new(sample),
            listeners: Arc::default(),
            standing: Standing::Result,
        }
    }
}

impl Program {
    /// The names of the files that listeners write, as they are written in the plan.
    pub fn listener_files(&self) -> impl Iterator<Item = &str> {
        let files = self.listeners.iter().filter_map(|listener| match listener {
            Listener::File(file) => Some(file.file.source()),
            Listener::Saver(_) | Listener::Summary(_) | Listener::Backend(_) => None,
        });
        files.filter(|name| !name.is_empty())
    }
}

/// Where a file of a listener is: one whose name begins with a mark is beside the plan.
#[must_use]
pub fn place_of(name: &str, scope: &Scope<'_>) -> String {
    let world = scope.host.world();
    let prefix = world.property("jmeter.save.saveservice.base_prefix");
    match name.strip_prefix(prefix.as_deref().unwrap_or(BASE_PREFIX)) {
        Some(rest) => format!("{}/{rest}", world.plan_folder()),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;

    #[test]
    fn both_kinds_are_wanted_unless_one_is_named() {
        let sample = |success| Sample {
            success,
            ..Sample::default()
        };
        for (failed, good, wanted) in [
            (false, false, (true, true)),
            (true, false, (true, false)),
            (false, true, (false, true)),
            (true, true, (true, true)),
        ] {
            let filter = Wanted { failed, good };
            let seen = (filter.has(&sample(false)), filter.has(&sample(true)));
            assert_eq!(seen, wanted, "{filter:?}");
        }
    }

    #[test]
    fn a_mark_stands_for_the_folder_of_the_plan() {
        let mut bench = Bench::default();
        assert_eq!(place_of("~/a/b.csv", &bench.scope()), "./a/b.csv");
        assert_eq!(place_of("a/~/b.csv", &bench.scope()), "a/~/b.csv");
    }
}
