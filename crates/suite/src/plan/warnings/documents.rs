//! Names in a document that no row has: the cells would stay empty without a visible reason.
//!
//! Must not know results. Invariants: no warning for what any row has; a document that cannot be made is an
//! error.

use std::collections::BTreeSet;

use loadline_model::nearest::nearest;
use loadline_model::wildcard::fits;

use super::super::settings::Front;
use super::super::{PlannedGroup, PlannedRow, Said};
use crate::document::{self, DocumentSpec, Named, OtherRow, Reference};
use crate::file::{Problem, SuiteFile};

/// Kinds of observers whose components are called as the observer is.
const NAMED_ALIKE: [&str; 7] = [
    "self", "cgroup", "host", "replicas", "http", "command", "log",
];
/// Names that a message lists.
const LISTED_MAX: usize = 10;

/// All that is doubtful about the documents of a suite.
pub(super) fn doubts(
    file: &SuiteFile,
    groups: &[PlannedGroup],
    rows: &[PlannedRow],
) -> Vec<Problem> {
    let known = Known { file, groups, rows };
    let of_document = |document| {
        let (references, _) = document::references(document).unwrap_or_default();
        let lost = references
            .iter()
            .filter_map(|reference| known.lost(reference));
        let idle = match known.is_observed_elsewhere() {
            true => Vec::new(),
            false => idle_names(document, rows),
        };
        lost.chain(idle).collect::<Vec<_>>()
    };
    file.documents.iter().flat_map(of_document).collect()
}

/// Refuses a document that names a row which is not there: it could not be made after the runs.
///
/// # Errors
/// The row, with its place and what to write.
pub(in crate::plan) fn check_rows(file: &SuiteFile, rows: &[PlannedRow]) -> Result<(), Problem> {
    for document in &file.documents {
        let (_, others) = document::references(document).unwrap_or_default();
        let is_there = |other: &OtherRow| {
            let mut rows = rows.iter();
            rows.any(|row| other.is(&row.id, |name| row.labels.get(name).map(String::as_str)))
        };
        if let Some(other) = others.into_iter().find(|other| !is_there(other)) {
            let shown = rows.first().map_or("", |row| &row.id);
            return Err(Problem::new(
                other.at.or(document.file.at).unwrap_or_default(),
                format!("no row is `{}`", other.name),
                format!(
                    "write a row's id, such as {shown}, or label=value as one row has it; `suite plan` lists the rows"
                ),
            ));
        }
    }
    Ok(())
}

/// The available names.
struct Known<'a> {
    file: &'a SuiteFile,
    groups: &'a [PlannedGroup],
    rows: &'a [PlannedRow],
}

impl Known<'_> {
    /// What is lost on a setting of a document; `None`: nothing is.
    fn lost(&self, reference: &Reference) -> Option<Problem> {
        let mut lost = reference.names.iter().filter(|named| !self.has(named));
        let first = lost.next()?;
        if reference.any && lost.count() + 1 < reference.names.len() {
            return None;
        }
        let (what, name, known) = self.told(first);
        let fix = match nearest(&name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => listed(&known),
        };
        Some(Problem::new(reference.at.unwrap_or_default(), what, fix))
    }

    fn has(&self, named: &Named) -> bool {
        match named {
            Named::Observer(_) if self.is_observed_elsewhere() => true,
            Named::Label(name, Some(value)) => self
                .rows
                .iter()
                .any(|row| row.labels.get(name) == Some(value)),
            named => self.names_like(named).contains(named.name()),
        }
    }

    /// What is wrong, the name that is wrong, and those that there are.
    fn told(&self, named: &Named) -> (String, String, Vec<&str>) {
        let known = self.names_like(named).into_iter().collect();
        let name = named.name();
        let what = match named {
            Named::Group(_) => format!(
                "the table takes rows of the group `{name}`, which does not exist: it stays empty"
            ),
            Named::Label(_, Some(value)) if self.names_like(named).contains(name) => {
                let values = self.rows.iter().filter_map(|row| row.labels.get(name));
                let values: BTreeSet<&str> = values.map(String::as_str).collect();
                let what = format!(
                    "the table takes rows with {name}={value}, and no row has it: it stays empty"
                );
                return (what, value.clone(), values.into_iter().collect());
            }
            Named::Label(..) => format!("no row has a label `{name}`: the cells stay empty"),
            Named::Env(_) => {
                format!("no row has a variable `{name}` in `env`: the cells stay empty")
            }
            Named::Plan(_) => format!("no row's plan has `{name}`: the cells stay empty"),
            Named::Suite(_) => format!("the suite has no fact `{name}`: the cells stay empty"),
            Named::Observer(_) => format!("no row has an observer `{name}`: the cells stay empty"),
        };
        (what, name.to_owned(), known)
    }

    /// All names of a kind.
    fn names_like(&self, named: &Named) -> BTreeSet<&str> {
        let keys = |of: fn(&PlannedRow) -> &std::collections::BTreeMap<String, String>| {
            self.rows.iter().flat_map(move |row| of(row).keys())
        };
        match named {
            Named::Group(_) => {
                let groups = self.groups.iter();
                groups.filter_map(|group| group.name.as_deref()).collect()
            }
            Named::Label(..) => keys(|row| &row.labels).map(String::as_str).collect(),
            Named::Env(_) => keys(|row| &row.env).map(String::as_str).collect(),
            // What no line determines, the run does.
            Named::Plan(_) => {
                let facts = keys(|row| &row.facts).map(String::as_str);
                facts.chain(Said::FACTS).collect()
            }
            Named::Suite(_) => {
                let facts = self.file.facts.iter().map(|(name, _)| name.as_str());
                facts.chain(["name"]).collect()
            }
            Named::Observer(_) => {
                let settings = self.rows.iter();
                let observers = settings.filter_map(|row| row.settings.observe.as_ref());
                let observers = observers.filter_map(|(_, observers)| observers.as_object());
                observers
                    .flat_map(|all| all.keys().map(String::as_str))
                    .collect()
            }
        }
    }

    /// Whether observers are named where only the run reads them: in arguments, or in other shapes than by name.
    fn is_observed_elsewhere(&self) -> bool {
        self.rows.iter().any(|row| {
            let front: &[String] = match &row.settings.front {
                Front::Script { args, .. } | Front::Plan { args, .. } => args,
                Front::Bench(args) | Front::Hey(args) | Front::Bombardier(args) => args,
            };
            let observers = row.settings.observe.as_ref();
            front.iter().any(|word| word.starts_with("--observe"))
                || observers.is_some_and(|(_, observers)| !observers.is_object())
        })
    }
}

/// The names that there are, in words.
fn listed(known: &[&str]) -> String {
    let shown = known.iter().take(LISTED_MAX).copied().collect::<Vec<_>>();
    match (known.len(), known.len().saturating_sub(LISTED_MAX)) {
        (0, _) => "there is none: add it to the rows, or remove it from the document".to_owned(),
        (_, 0) => format!("there are {}", shown.join(", ")),
        (_, more) => format!("there are {} and {more} more", shown.join(", ")),
    }
}

/// Rules of `components` that no observer's component can fit, as far as those are known before a run.
fn idle_names(document: &DocumentSpec, rows: &[PlannedRow]) -> Vec<Problem> {
    let observers = rows.iter().filter_map(|row| row.settings.observe.as_ref());
    let observers = observers.filter_map(|(_, observers)| observers.as_object());
    let names: Vec<Called> = observers
        .flatten()
        .map(|(name, settings)| Called::of(name, settings))
        .collect();
    let rules = document.components.iter();
    let idle = rules.filter(|rule| !names.iter().any(|name| name.may_fit(&rule.pattern.value)));
    let told = idle.map(|rule| {
        let pattern = &rule.pattern.value;
        Problem::new(
            rule.pattern.at.unwrap_or_default(),
            format!("no observed component is called like `{pattern}`, which `components` of {} renames", document.file.value),
            format!("write the name of an observer in place of `{pattern}`, followed by [*] if it sees several processes"),
        )
    });
    told.collect()
}

/// What the components of an observer are called.
enum Called {
    /// One of these.
    As(Vec<String>),
    /// As a cluster names pods, containers and nodes.
    ByCluster,
    /// According to the observers.
    Anyhow,
}

impl Called {
    fn of(name: &str, settings: &serde_json::Value) -> Called {
        let own = name.to_owned();
        let is = |kind: &&str| settings.get(*kind).is_some();
        if NAMED_ALIKE.iter().any(&is) {
            return Called::As(vec![own]);
        }
        if is(&"process") {
            return Called::As(vec![format!("{own}[1]"), format!("{own}[2]"), own]);
        }
        let scrape = settings.get("scrape");
        match scrape.filter(|scrape| scrape.get("by").is_none()) {
            Some(scrape) => {
                let metrics = ["metric", "metrics"]
                    .iter()
                    .find_map(|key| scrape.get(key)?.as_array());
                let metrics = metrics.into_iter().flatten().filter_map(|of| of.as_str());
                Called::As(metrics.map(str::to_owned).chain([own]).collect())
            }
            None if is(&"pod") || is(&"node") => Called::ByCluster,
            None => Called::Anyhow,
        }
    }

    fn may_fit(&self, pattern: &str) -> bool {
        let is_of_clusters =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./*".contains(c);
        match self {
            Called::As(names) => names.iter().any(|name| fits(pattern, name)),
            Called::ByCluster => pattern.chars().all(is_of_clusters),
            Called::Anyhow => true,
        }
    }
}
