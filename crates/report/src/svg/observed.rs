//! CPU and memory of the service under test, next to the load.
//!
//! Must not know SVG. Invariant: a time without a reading is a gap in its line.

use std::collections::BTreeMap;

use loadline_model::RunResult;

use super::axis::Quantity;
use super::chart::{Chart, Line, Manner};
use super::content::{chart, end_s, panel};
use crate::observed;
use crate::units::{count, span};

/// Maximum lines of a panel: the number of distinct colours.
const LINES_MAX: usize = 6;
/// Most points of a line: more than a screen has columns for.
const POINTS_MAX: usize = 600;

/// One chart of one quantity.
struct Shown {
    metric: &'static str,
    name: &'static str,
    title: &'static str,
    label: &'static str,
    quantity: Quantity,
}

const CPU: Shown = Shown {
    metric: "cpu_cores",
    name: "cpu",
    title: "Service under test: CPU",
    label: "CPU, cores",
    quantity: Quantity::Cores,
};
const MEMORY: Shown = Shown {
    metric: "memory_bytes",
    name: "memory",
    title: "Service under test: memory",
    label: "memory",
    quantity: Quantity::Size,
};

/// Processor use by component; `None` where none was observed.
pub(super) fn cpu(result: &RunResult) -> Option<Chart> {
    resource(result, &CPU)
}

/// Memory by component; `None` where none was observed.
pub(super) fn memory(result: &RunResult) -> Option<Chart> {
    resource(result, &MEMORY)
}

fn resource(result: &RunResult, shown: &Shown) -> Option<Chart> {
    let columns = observed::columns(&result.observations, &result.series);
    let lines = lines(columns.get(shown.metric)?, result);
    let description = format!(
        "{} over {}: {} lines.",
        shown.title,
        span(end_s(result) * 1e9),
        count(lines.len() as u64)
    );
    let panel = panel(shown.label, shown.quantity, lines, Vec::new());
    Some(chart(
        result,
        shown.name,
        shown.title,
        description,
        vec![panel],
    ))
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
