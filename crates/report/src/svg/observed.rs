//! Processor and memory of the service under test, beside the load.
//!
//! Must not know SVG. Invariant: a time at which nothing was read is a gap in its line.

use std::collections::BTreeMap;

use loadline_model::RunResult;

use super::axis::Quantity;
use super::chart::{Chart, Line, Manner, Panel};
use super::content::{chart, end_s, panel};
use crate::observed;
use crate::units::{count, span};

/// Most lines of a panel: as many as there are colours to tell them apart.
const LINES_MAX: usize = 6;
/// Most points of a line: more than a screen has columns for.
const POINTS_MAX: usize = 600;

/// What is drawn: the metric, the panel's label, and the quantity of its axis.
const PANELS: [(&str, &str, Quantity); 2] = [
    ("cpu_cores", "CPU, cores", Quantity::Cores),
    ("memory_bytes", "memory", Quantity::Size),
];

/// The chart; `None` where neither was observed.
pub(super) fn resources(result: &RunResult) -> Option<Chart> {
    let columns = observed::columns(&result.observations, &result.series);
    let panels: Vec<Panel> = PANELS
        .into_iter()
        .filter_map(|(metric, label, quantity)| {
            let lines = lines(columns.get(metric)?, result);
            Some(panel(label, quantity, lines))
        })
        .collect();
    if panels.is_empty() {
        return None;
    }
    let lines = panels.iter().map(|panel| panel.lines.len() as u64).sum();
    let description = format!(
        "Processor and memory of the service under test over {}: {} lines.",
        span(end_s(result) * 1e9),
        count(lines)
    );
    let title = "Service under test: CPU and memory";
    Some(chart(result, "observed", title, description, panels))
}

fn lines(columns: &BTreeMap<String, Vec<Option<f64>>>, result: &RunResult) -> Vec<Line> {
    let each = result.series.len().div_ceil(POINTS_MAX).max(1);
    let middle = |rows: &[loadline_model::result::Row]| {
        let from = rows.first().map_or(0, |row| row.at_ns);
        let to = rows
            .last()
            .map_or(0, |row| row.at_ns.saturating_add(row.span_ns));
        (from as f64 + to as f64) / 2e9
    };
    let line = |(place, (name, values)): (usize, (&String, &Vec<Option<f64>>))| {
        let groups = result.series.chunks(each).zip(values.chunks(each));
        let points = groups.map(|(rows, values)| {
            // A peak is not lost when seconds are joined.
            let most = values.iter().flatten().copied().reduce(f64::max);
            (middle(rows), most)
        });
        Line {
            name: name.clone(),
            colour: place,
            manner: match name.ends_with(" limit") {
                true => Manner::Dashed,
                false => Manner::Solid,
            },
            points: points.collect(),
        }
    };
    columns
        .iter()
        .take(LINES_MAX)
        .enumerate()
        .map(line)
        .collect()
}
