//! Ready-made tables for common needs: columns, formats and alignment under a name.
//!
//! Must not know results. Invariant: presets are read by the same code as a user's own table, so a user can
//! copy and change one.

use std::collections::BTreeMap;

use loadline_yaml::{At, Placed};
use serde::Deserialize;

use super::DocumentError;
use super::spec::{ChartsSpec, ColumnSpec, TableSpec};

/// Names of the presets and what they hold.
const PRESETS: [(&str, &str); 6] = [
    (
        "component-resources",
        include_str!("presets/component-resources.yaml"),
    ),
    (
        "gateway",
        concat!(
            include_str!("presets/gateway.yaml"),
            include_str!("presets/gateway-charts.yaml")
        ),
    ),
    // Twenty-four hours of the same are the same table, and how they went by.
    (
        "gateway-endurance",
        concat!(
            include_str!("presets/gateway.yaml"),
            include_str!("presets/gateway-endurance-charts.yaml")
        ),
    ),
    (
        "cold-and-sustained",
        include_str!("presets/cold-and-sustained.yaml"),
    ),
    (
        "client-location",
        include_str!("presets/client-location.yaml"),
    ),
    ("replicas", include_str!("presets/replicas.yaml")),
];

/// The names of the presets.
pub(crate) const NAMES: &[&str] = &[
    PRESETS[0].0,
    PRESETS[1].0,
    PRESETS[2].0,
    PRESETS[3].0,
    PRESETS[4].0,
    PRESETS[5].0,
];

/// A preset as it is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preset {
    #[serde(default)]
    with: BTreeMap<String, Placed<String>>,
    blank: String,
    columns: Vec<ColumnSpec>,
    #[serde(default)]
    charts: Option<ChartsSpec>,
}

/// The names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}

/// The content of a preset, as YAML that can be copied; `None`: there is no preset with this name.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    let found = PRESETS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// Puts a table's preset before its own settings.
pub(super) fn expand(table: &mut TableSpec) -> Result<(), DocumentError> {
    let Some(wanted) = table.preset.clone() else {
        return Ok(());
    };
    let names: Vec<&str> = names().collect();
    let text = text(&wanted.value).ok_or_else(|| {
        DocumentError::at(
            &wanted,
            format!("there is no preset `{}`", wanted.value),
            format!("use one of {}", names.join(", ")),
        )
    })?;
    let mut preset: Preset = loadline_yaml::from_str(text).expect("presets are tested");
    // Its own values are not in a file of the user's.
    preset.with.values_mut().for_each(|value| value.at = None);
    for (name, value) in &table.with {
        let known: Vec<&str> = preset.with.keys().map(String::as_str).collect();
        if !known.contains(&name.as_str()) {
            return Err(DocumentError::at(
                value,
                format!("the preset leaves no `{name}` open"),
                format!("`with` contains {}", known.join(", ")),
            ));
        }
        preset.with.insert(name.clone(), value.clone());
    }
    let with = &preset.with;
    preset.columns.retain(|column| !lacks_a_name(column, with));
    let intro = preset
        .charts
        .as_mut()
        .and_then(|charts| charts.intro.as_mut());
    for column in preset.columns.iter_mut().chain(intro) {
        fill_column(column, &preset.with, wanted.at);
    }
    rename(&mut preset.columns, table).map_err(|what| {
        DocumentError::at(&wanted, what, "take one of the preset's titles".to_owned())
    })?;
    preset.columns.append(&mut table.columns);
    table.columns = preset.columns;
    table.charts = table.charts.take().or(preset.charts);
    table.blank = table.blank.take().or(Some(preset.blank));
    Ok(())
}

/// Whether a column needs a name that was left empty: it would stay empty too.
fn lacks_a_name(column: &ColumnSpec, with: &BTreeMap<String, Placed<String>>) -> bool {
    let mut values = column.value.iter().chain(&column.values);
    let empty = with.iter().filter(|(_, value)| value.value.is_empty());
    let holes: Vec<String> = empty.map(|(name, _)| hole(name)).collect();
    values.any(|value| holes.iter().any(|hole| value.value.contains(hole)))
}

fn hole(name: &str) -> String {
    format!("${{{name}}}")
}

/// Fills in the names of a column. Its parts then have the position of the text that the user wrote: the value of a
/// name, otherwise the preset's name.
fn fill_column(
    column: &mut ColumnSpec,
    with: &BTreeMap<String, Placed<String>>,
    preset: Option<At>,
) {
    fill(&mut column.title, with, false);
    for value in column.value.iter_mut().chain(&mut column.values) {
        value.at = fill(&mut value.value, with, true).or(preset);
    }
    if let Some(format) = &mut column.format {
        format.at = preset;
    }
}

/// Fills in names, and returns the position of the first value from the user. A name is quoted in an expression, so a
/// quote in it is escaped.
fn fill(text: &mut String, with: &BTreeMap<String, Placed<String>>, is_quoted: bool) -> Option<At> {
    let mut at = None;
    for (name, value) in with {
        let hole = hole(name);
        if !text.contains(&hole) {
            continue;
        }
        at = at.or(value.at);
        let value = match is_quoted {
            true => value.value.replace('\\', "\\\\").replace('"', "\\\""),
            false => value.value.clone(),
        };
        *text = text.replace(&hole, &value);
    }
    at
}

fn rename(columns: &mut [ColumnSpec], table: &TableSpec) -> Result<(), String> {
    for (from, to) in &table.titles {
        let found = columns.iter_mut().find(|column| column.title == *from);
        let column = found.ok_or_else(|| format!("the preset has no column `{from}`"))?;
        column.title.clone_from(to);
    }
    Ok(())
}
