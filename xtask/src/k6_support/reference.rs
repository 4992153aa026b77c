//! Reads `reference.toml`: the features of k6, section by section.
//!
//! Must not know the features of loadline. Invariant: every remark and every reason belongs to a row.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::Result;

const FILE: &str = include_str!("reference.toml");

/// How a row is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// By requesting its help.
    Command,
    /// By searching the help of `run`.
    Flag,
    /// By searching the code for its name.
    Variable,
    /// By inspecting a script that sets it.
    Option,
    /// By inspecting a script with a scenario of this executor.
    Executor,
    /// By inspecting a script whose scenario has this key.
    Scenario,
    /// By importing it in a script.
    Module,
    /// By searching for it in a running script.
    Member,
    /// By a threshold on it.
    Metric,
    /// By searching the declared tags for its name.
    Tag,
    /// By running a test with it.
    Output,
    /// By requesting it from the REST API of a running script's own run.
    Route,
    /// It cannot be checked: it is supported if scripts of the suite use it.
    Proof,
}

/// One table of the page.
#[derive(Debug)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) ask: Ask,
    /// The parent of the rows; empty if they have none.
    pub(super) of: String,
    /// Text that a script must contain to count as a proof; empty: any script does.
    pub(super) mention: String,
    pub(super) rows: Vec<String>,
    /// Remarks on rows, by name.
    pub(super) remarks: BTreeMap<String, String>,
    /// Why a row is missing, by name.
    pub(super) missing: BTreeMap<String, String>,
}

/// All sections.
///
/// # Errors
/// The file is invalid; the message names the section.
pub(super) fn read() -> Result<Vec<Section>> {
    parse(FILE)
}

fn parse(text: &str) -> Result<Vec<Section>> {
    let table: Table = text
        .parse()
        .map_err(|error| format!("reference.toml: {error}"))?;
    let sections = table.get("section").and_then(Value::as_array);
    let sections = sections.ok_or("reference.toml holds no [[section]]")?;
    sections.iter().map(section).collect()
}

fn section(value: &Value) -> Result<Section> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let title = text("title").to_owned();
    let ask = ask_named(text("ask"))
        .ok_or_else(|| format!("reference.toml: {title:?}: unknown ask {:?}", text("ask")))?;
    let rows: Vec<String> = text("rows").split_whitespace().map(str::to_owned).collect();
    let (remarks, missing) = (by_row(value, "remarks"), by_row(value, "missing"));
    let mut explained = remarks.keys().chain(missing.keys());
    match explained.find(|name| !rows.contains(name)) {
        Some(name) => Err(format!("reference.toml: {title:?} has no row {name}")),
        None => Ok(Section {
            title,
            ask,
            of: text("of").to_owned(),
            mention: text("mention").to_owned(),
            rows,
            remarks,
            missing,
        }),
    }
}

fn by_row(section: &Value, key: &str) -> BTreeMap<String, String> {
    let table = section.get(key).and_then(Value::as_table);
    let pairs = table.into_iter().flatten();
    pairs
        .filter_map(|(name, text)| Some((name.clone(), text.as_str()?.to_owned())))
        .collect()
}

fn ask_named(name: &str) -> Option<Ask> {
    Some(match name {
        "command" => Ask::Command,
        "flag" => Ask::Flag,
        "variable" => Ask::Variable,
        "option" => Ask::Option,
        "executor" => Ask::Executor,
        "scenario" => Ask::Scenario,
        "module" => Ask::Module,
        "member" => Ask::Member,
        "metric" => Ask::Metric,
        "tag" => Ask::Tag,
        "output" => Ask::Output,
        "route" => Ask::Route,
        "proof" => Ask::Proof,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_sound_and_no_row_stands_twice() {
        for section in read().expect("it is read") {
            let mut rows = section.rows.clone();
            rows.sort();
            rows.dedup();
            assert_eq!(rows.len(), section.rows.len(), "{}", section.title);
            assert!(!rows.is_empty(), "{}", section.title);
        }
    }

    #[test]
    fn a_remark_without_a_row_is_refused() {
        let text =
            "[[section]]\ntitle = 't'\nask = 'flag'\nrows = 'a b'\n[section.remarks]\nc = 'x'";
        assert!(parse(text).is_err_and(|error| error.contains("no row c")));
    }
}
