//! Tables that people keep making, ready: columns, formats and alignment under a name.
//!
//! Must not know results. Invariant: every preset is read by the same code as a user's own table, so a user can copy
//! one and change it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::DocumentError;
use super::spec::{ChartsSpec, ColumnSpec, TableSpec};

/// Names of the presets and what they hold.
const PRESETS: [(&str, &str); 6] = [
    (
        "component-resources",
        include_str!("presets/component-resources.yaml"),
    ),
    ("gateway", include_str!("presets/gateway.yaml")),
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

/// A preset as it is kept.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Preset {
    #[serde(default)]
    with: BTreeMap<String, String>,
    blank: String,
    columns: Vec<ColumnSpec>,
    #[serde(default)]
    charts: Option<ChartsSpec>,
}

/// The names of the presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|(name, _)| *name)
}

/// What a preset holds, as YAML that can be copied; `None`: there is none of the name.
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
    for (name, value) in &table.with {
        let known: Vec<&str> = preset.with.keys().map(String::as_str).collect();
        if !known.contains(&name.as_str()) {
            return Err(DocumentError::at(
                &wanted,
                format!("the preset leaves no `{name}` open"),
                format!("in `with` stand {}", known.join(", ")),
            ));
        }
        preset.with.insert(name.clone(), value.clone());
    }
    let intro = preset
        .charts
        .as_mut()
        .and_then(|charts| charts.intro.as_mut());
    for column in preset.columns.iter_mut().chain(intro) {
        fill_column(column, &preset.with);
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

fn fill_column(column: &mut ColumnSpec, with: &BTreeMap<String, String>) {
    fill(&mut column.title, with, false);
    let values = column.value.iter_mut().chain(&mut column.values);
    for value in values {
        fill(&mut value.value, with, true);
    }
}

/// A name that is put into an expression stands in quotes there, so that a quote in it is kept from ending them.
fn fill(text: &mut String, with: &BTreeMap<String, String>, is_quoted: bool) {
    for (name, value) in with {
        let value = match is_quoted {
            true => value.replace('\\', "\\\\").replace('"', "\\\""),
            false => value.clone(),
        };
        *text = text.replace(&format!("${{{name}}}"), &value);
    }
}

fn rename(columns: &mut [ColumnSpec], table: &TableSpec) -> Result<(), String> {
    for (from, to) in &table.titles {
        let found = columns.iter_mut().find(|column| column.title == *from);
        let column = found.ok_or_else(|| format!("the preset has no column `{from}`"))?;
        column.title.clone_from(to);
    }
    Ok(())
}
