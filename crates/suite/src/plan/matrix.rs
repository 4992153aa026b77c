//! The combinations of axes, with exclusions and additions, and single rows.
//!
//! Must not know what settings mean. Invariant: the first axis changes slowest.

use std::collections::BTreeMap;

use crate::file::{
    At, Axis, AxisValue, Entry, GroupSpec, HookNodes, Node, Problem, SETTINGS, Value,
};

/// Maximum rows of a group: a larger product is a mistake.
const ROWS_MAX: usize = 10_000;

/// A row before its settings are read.
#[derive(Clone, Debug)]
pub(super) struct Combination {
    /// Where errors are reported.
    pub(super) at: At,
    /// Its name.
    pub(super) name: Option<String>,
    /// Values of axes by name, the axes' order kept in [`Combination::order`].
    pub(super) axes: BTreeMap<String, String>,
    /// The axes' names in order.
    pub(super) order: Vec<String>,
    /// Its settings from below to the top.
    pub(super) layers: Vec<Node>,
    /// Its own hooks.
    pub(super) hooks: HookNodes,
}

/// All rows of a group.
pub(super) fn combinations(group: &GroupSpec) -> Result<Vec<Combination>, Problem> {
    let size = group.axes.iter().map(|axis| axis.values.len());
    let size = size.fold(1_usize, usize::saturating_mul);
    if size > ROWS_MAX {
        let at = group.axes.first().map_or_else(At::default, |axis| axis.at);
        let what = format!("the axes make {size} rows");
        return Err(Problem::new(at, what, format!("keep them to {ROWS_MAX}")));
    }
    check_exclude(group)?;
    let mut rows = product(group);
    rows.retain(|row| !is_excluded(group, row));
    for node in &group.include {
        rows.push(included(group, node)?);
    }
    rows.extend(group.rows.iter().map(|row| Combination {
        at: row.settings.at,
        name: row.name.clone(),
        axes: BTreeMap::new(),
        order: Vec::new(),
        layers: layers(group, &[], &row.settings),
        hooks: row.hooks.clone(),
    }));
    Ok(rows)
}

fn layers(group: &GroupSpec, values: &[&AxisValue], own: &Node) -> Vec<Node> {
    let values = values.iter().map(|value| &value.settings);
    let all = group.defaults.iter().chain(values).chain([own]);
    all.cloned().collect()
}

fn product(group: &GroupSpec) -> Vec<Combination> {
    if group.axes.is_empty() {
        return Vec::new();
    }
    let mut picks: Vec<Vec<&AxisValue>> = vec![Vec::new()];
    for axis in &group.axes {
        let longer = picks.iter().flat_map(|pick| {
            let with = move |value| pick.iter().copied().chain([value]).collect::<Vec<_>>();
            axis.values.iter().map(with)
        });
        picks = longer.collect();
    }
    picks.iter().map(|pick| combination(group, pick)).collect()
}

fn combination(group: &GroupSpec, pick: &[&AxisValue]) -> Combination {
    let names = group.axes.iter().map(|axis| axis.name.clone());
    let values = pick.iter().map(|value| value.label.clone());
    let at = pick.last().map_or_else(At::default, |value| value.at);
    let nothing = Node {
        at,
        value: Value::Map(Vec::new()),
    };
    Combination {
        at,
        name: None,
        axes: names.clone().zip(values).collect(),
        order: names.collect(),
        layers: layers(group, pick, &nothing),
        hooks: HookNodes::default(),
    }
}

fn check_exclude(group: &GroupSpec) -> Result<(), Problem> {
    for entry in group.exclude.iter().flat_map(Node::entries) {
        let axis = axis_of(group, entry)?;
        let label = entry.node.scalar().unwrap_or_default();
        if !axis.values.iter().any(|value| value.label == label) {
            let labels: Vec<&str> = axis
                .values
                .iter()
                .map(|value| value.label.as_str())
                .collect();
            let what = format!("the axis `{}` has no value {label:?}", axis.name);
            return Err(Problem::new(
                entry.node.at,
                what,
                format!("it has {}", labels.join(", ")),
            ));
        }
    }
    Ok(())
}

fn axis_of<'a>(group: &'a GroupSpec, entry: &Entry) -> Result<&'a Axis, Problem> {
    let found = group.axes.iter().find(|axis| axis.name == entry.key);
    found.ok_or_else(|| {
        let names: Vec<&str> = group.axes.iter().map(|axis| axis.name.as_str()).collect();
        let fix = if names.is_empty() {
            "there are no axes here".to_owned()
        } else {
            format!("the axes are {}", names.join(", "))
        };
        Problem::new(entry.at, format!("there is no axis `{}`", entry.key), fix)
    })
}

fn is_excluded(group: &GroupSpec, row: &Combination) -> bool {
    let matches = |node: &Node| {
        let mut entries = node.entries().iter();
        entries.all(|entry| row.axes.get(&entry.key) == entry.node.scalar().as_ref())
    };
    group.exclude.iter().any(matches)
}

/// A further combination: known values of axes bring their settings, others are used as they are.
fn included(group: &GroupSpec, node: &Node) -> Result<Combination, Problem> {
    let mut known: Vec<&AxisValue> = Vec::new();
    let mut row = Combination {
        at: node.at,
        name: None,
        axes: BTreeMap::new(),
        order: group.axes.iter().map(|axis| axis.name.clone()).collect(),
        layers: Vec::new(),
        hooks: crate::file::hooks(node),
    };
    for entry in node.entries() {
        let is_setting = SETTINGS.iter().any(|key| key.name == entry.key);
        let is_hook =
            ["prepare", "before", "between", "after", "cleanup"].contains(&entry.key.as_str());
        if is_hook || (is_setting && !group.axes.iter().any(|axis| axis.name == entry.key)) {
            continue;
        }
        let axis = axis_of(group, entry)?;
        let Some(label) = entry.node.scalar() else {
            let what = format!("`{}` got {}", entry.key, entry.node.described());
            return Err(Problem::new(
                entry.node.at,
                what,
                "write a value of the axis",
            ));
        };
        known.extend(axis.values.iter().find(|value| value.label == label));
        row.axes.insert(entry.key.clone(), label);
    }
    row.layers = layers(group, &known, node);
    Ok(row)
}
