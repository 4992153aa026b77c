//! Receivers of samples in addition to the results of the run: listeners with their own files, and savers of
//! responses.
//!
//! Must not know files or their formats. Invariant: a listener is identified by its index in the program.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::sample::Sample;
use crate::text::Text;
use crate::world::World;

/// The index of a listener in its program.
pub type ListenerId = usize;

/// Default prefix of a file name that is relative to the plan's folder.
const BASE_PREFIX: &str = "~/";

/// Receives samples.
#[derive(Debug)]
pub enum Listener {
    /// Writes them to a file.
    File(FileListener),
    /// Saves their responses, each to a file.
    Saver(AnswerSaver),
    /// Logs progress with the number of samples, in lines with this name.
    Summary(Text),
    /// Sends metrics of them to a metric store.
    Backend(BackendListener),
}

/// Sends metrics of samples to a metric store.
#[derive(Debug)]
pub struct BackendListener {
    /// Its name.
    pub name: String,
    /// The protocol of the store.
    pub kind: BackendKind,
    /// Its arguments, by their names in JMeter.
    pub arguments: Vec<(String, Text)>,
}

/// The protocol of a metric store.
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
    /// The samples to write.
    pub wanted: Wanted,
    /// The fields to write, by the names of JMeter's `saveConfig`; `None`: as set by properties.
    pub switches: Option<Vec<(String, String)>>,
}

/// Which samples are selected: all, unless one of the two is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Failed ones.
    pub failed: bool,
    /// Successful ones.
    pub good: bool,
}

impl Wanted {
    /// Whether a sample is selected.
    #[must_use]
    pub fn has(self, sample: &Sample) -> bool {
        match sample.success {
            true => self.good || !self.failed,
            false => self.failed || !self.good,
        }
    }
}

/// Saves the responses of samples and their sub-samples.
#[derive(Debug)]
pub struct AnswerSaver {
    /// Its number within the program.
    pub id: usize,
    /// The prefix of its file names.
    pub prefix: Text,
    /// Whether successful samples are skipped.
    pub failed_only: bool,
    /// Whether failed samples are skipped.
    pub good_only: bool,
    /// Whether samples of transactions are skipped.
    pub skips_transactions: bool,
    /// Whether names contain the start time.
    pub has_timestamp: bool,
    /// Whether files are numbered.
    pub is_numbered: bool,
    /// Minimum digits of a number.
    pub digits: Text,
    /// Whether names end with a suffix from the content type.
    pub has_suffix: bool,
    /// The variable in which the name is stored; blank: none.
    pub variable: Text,
}

/// A completed sample with its listeners.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The sample.
    pub sample: Arc<Sample>,
    /// The listeners that receive it, the innermost first.
    pub listeners: Arc<[ListenerId]>,
    /// Its role in the results of the run.
    pub standing: Standing,
}

/// The role of a reported sample in the results of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// A result.
    Result,
    /// Part of a transaction that is or becomes a result.
    Part,
    /// A transaction that was already a result before its end; that many of its samples were included then.
    Again(usize),
    /// Never reported, since JMeter drops it; but its request was sent.
    Lost,
}

impl Heard {
    /// Whether it is a result of the run.
    #[must_use]
    pub fn is_result(&self) -> bool {
        self.standing == Standing::Result
    }

    /// The samples that were not reported otherwise.
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
    /// A sample that is only in the results of the run.
    fn from(sample: Sample) -> Heard {
        Heard {
            sample: Arc::new(sample),
            listeners: Arc::default(),
            standing: Standing::Result,
        }
    }
}

impl Program {
    /// The names of the files written by listeners, as in the plan.
    pub fn listener_files(&self) -> impl Iterator<Item = &str> {
        let files = self.listeners.iter().filter_map(|listener| match listener {
            Listener::File(file) => Some(file.file.source()),
            Listener::Saver(_) | Listener::Summary(_) | Listener::Backend(_) => None,
        });
        files.filter(|name| !name.is_empty())
    }
}

/// The path of a listener's file: a name that starts with the prefix is relative to the plan's folder.
#[must_use]
pub fn place_of(name: &str, world: &dyn World) -> String {
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
        assert_eq!(
            place_of("~/a/b.csv", bench.scope().host.world()),
            "./a/b.csv"
        );
        assert_eq!(
            place_of("a/~/b.csv", bench.scope().host.world()),
            "a/~/b.csv"
        );
    }
}
