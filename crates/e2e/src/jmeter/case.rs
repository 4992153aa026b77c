//! One case of the suite and how it is run: `plans/<name>.jmx`, with its settings in `cases.toml`, where a case
//! may also be a command line with a plan of another name.
//!
//! Must not know what a plan does. Invariant: an unknown word in `cases.toml` fails the suite.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::Value;

use super::{read, root};

/// A plan and how it is run.
#[derive(Clone, Debug, Default)]
pub(super) struct Case {
    /// Name of the plan without its extension.
    pub(super) name: String,
    /// Additional arguments.
    pub(super) args: Vec<String>,
    /// All arguments, instead of the usual ones; the plan is `plan.jmx`.
    pub(super) line: Option<String>,
    /// The plan, if its name differs.
    plan: Option<String>,
    /// Written to the results file before the run.
    pub(super) results: Option<String>,
    /// Whether the order of requests and rows is random even within a thread.
    pub(super) unordered: bool,
    /// Whether the number of rows and requests is random.
    pub(super) uncounted: bool,
    /// Whether the console output is specific to each tool.
    pub(super) unheard: bool,
}

impl Case {
    /// Every plan, by name.
    pub(super) fn all() -> Vec<Case> {
        let mut directives = directives();
        let mut names = names_in(&root().join("plans"), "jmx");
        let lines = directives
            .iter()
            .filter(|(_, table)| table.contains_key("line"));
        names.extend(lines.map(|(name, _)| name.clone()));
        names.sort();
        let cases = names.into_iter().map(|name| {
            let table = directives.remove(&name).unwrap_or_default();
            Case::directed(name, table)
        });
        cases.collect()
    }

    fn directed(name: String, table: BTreeMap<String, Value>) -> Case {
        let mut case = Case {
            name,
            ..Case::default()
        };
        for (word, value) in table {
            match (word.as_str(), value) {
                ("args", Value::String(text)) => {
                    case.args = text.split_whitespace().map(str::to_owned).collect();
                }
                ("line", Value::String(text)) => case.line = Some(text),
                ("plan", Value::String(text)) => case.plan = Some(text),
                ("uncounted", Value::Boolean(value)) => case.uncounted = value,
                ("unheard", Value::Boolean(value)) => case.unheard = value,
                ("results", Value::String(text)) => case.results = Some(text),
                ("unordered", Value::Boolean(value)) => case.unordered = value,
                (word, value) => panic!("cases.toml: {}: {word} = {value}", case.name),
            }
        }
        case
    }

    /// Whether it is a command line instead of a plan run in the usual way.
    pub(super) fn is_line(&self) -> bool {
        self.line.is_some()
    }

    /// The topic of the plan: its name up to the first `_`.
    pub(super) fn topic(&self) -> &str {
        self.name.split('_').next().unwrap_or(&self.name)
    }

    /// The path of the plan.
    pub(super) fn path(&self) -> PathBuf {
        let name = self.plan.as_ref().unwrap_or(&self.name);
        root().join("plans").join(format!("{name}.jmx"))
    }
}

/// Names of the plans with settings in `cases.toml`.
pub(super) fn directed() -> impl Iterator<Item = String> {
    directives().into_keys()
}

fn directives() -> BTreeMap<String, BTreeMap<String, Value>> {
    toml::from_str(&read(&root().join("cases.toml"))).expect("a table for each plan")
}

/// Sorted names of the files in a folder with an extension, without the extension.
pub(super) fn names_in(folder: &Path, extension: &str) -> Vec<String> {
    let found = std::fs::read_dir(folder)
        .unwrap_or_else(|why| panic!("{} can be read: {why}", folder.display()));
    let paths = found.map(|entry| entry.expect("a folder can be read to its end").path());
    let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == extension));
    let mut names: Vec<String> = wanted
        .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    names
}
