//! A heat map of service times: a column per second, a cell per band of time, darker with more requests.
//!
//! The shade of a cell is the logarithm of its share of the fullest cell, so that few slow requests are visible
//! next to many fast ones. Must not know files. Invariant: at most 240 columns.

use std::collections::BTreeMap;

use loadline_model::RunResult;
use loadline_model::heat::{BANDS_PER_DOUBLING, Heat};

use super::at;
use super::axis::{Axis, Quantity};
use super::chart::{BOTTOM, Panel, RIGHT, TOP, WIDTH, across, begin, grid, push, shades, time};
use super::content::{end_s, warm_up};
use super::palette::{HEAT, Palette};
use crate::units::{count, span};

const COLUMNS_MAX: usize = 240;
const HEIGHT: f64 = 320.0;

/// Requests of a stretch of time.
struct Column {
    from_s: f64,
    to_s: f64,
    heat: Heat,
}

/// Draws the heat map; `None` for results without bands.
pub(super) fn draw(result: &RunResult, palette: &Palette) -> Option<String> {
    let columns = columns(result);
    let bands = || columns.iter().flat_map(|column| column.heat.bands());
    let lowest = bands().map(|(band, _)| *band).min()?;
    let highest = bands().map(|(band, _)| *band).max()?;
    let requests: u64 = bands()
        .map(|(_, count)| *count)
        .fold(0, u64::saturating_add);
    // Three bands at least, or a single one would fill the page.
    let bottom = bound(u32::from(lowest.saturating_sub(1)));
    let axis = Axis {
        low: bottom,
        high: bound(u32::from(highest) + 2),
        is_logarithmic: true,
        quantity: Quantity::Span,
    };
    let seconds = end_s(result);
    let description = format!(
        "Heat map of {} service times over {}, from {} to {}: each column a stretch of time, the darker a \
         cell the more requests took that long.",
        count(requests),
        span(seconds * 1e9),
        span(bound(u32::from(lowest))),
        span(bound(u32::from(highest) + 1))
    );
    let mut out = begin(
        "heatmap",
        "Service time, heat map",
        &description,
        TOP + HEIGHT + BOTTOM,
        palette,
    );
    let panel = Panel {
        label: "service time, logarithmic",
        axis,
        lines: Vec::new(),
        limits: Vec::new(),
    };
    grid(&mut out, &panel, TOP, HEIGHT, palette);
    shades(&mut out, &warm_up(result), seconds, (TOP, HEIGHT), palette);
    cells(&mut out, &columns, &axis, seconds);
    time(&mut out, seconds, TOP + HEIGHT, true, palette);
    let most = bands().map(|(_, count)| *count).max().unwrap_or(1);
    scale(&mut out, most, palette);
    out.push_str("</svg>\n");
    Some(out)
}

/// The lower bound of a band in nanoseconds.
fn bound(band: u32) -> f64 {
    2.0_f64.powf(f64::from(band) / f64::from(BANDS_PER_DOUBLING))
}

fn columns(result: &RunResult) -> Vec<Column> {
    let rows = &result.series;
    let each = rows.len().div_ceil(COLUMNS_MAX).max(1);
    let column = |rows: &[loadline_model::result::Row]| {
        let mut heat = Heat::default();
        rows.iter().for_each(|row| heat.merge(&row.heat));
        let (first, last) = (rows.first(), rows.last());
        Column {
            from_s: first.map_or(0.0, |row| row.at_ns as f64 / 1e9),
            to_s: last.map_or(0.0, |row| {
                row.at_ns.saturating_add(row.span_ns) as f64 / 1e9
            }),
            heat,
        }
    };
    rows.chunks(each).map(column).collect()
}

/// All cells, one path a shade.
fn cells(out: &mut String, columns: &[Column], axis: &Axis, seconds: f64) {
    let most = columns
        .iter()
        .flat_map(|column| column.heat.bands())
        .map(|(_, count)| *count)
        .max();
    let most = most.unwrap_or(1);
    let mut paths: BTreeMap<usize, String> = BTreeMap::new();
    for column in columns {
        let (left, right) = (across(column.from_s, seconds), across(column.to_s, seconds));
        for (band, count) in column.heat.bands() {
            let band = u32::from(*band);
            let y = |value: f64| TOP + HEIGHT * (1.0 - axis.place(value));
            let (low, high) = (y(bound(band)), y(bound(band + 1)));
            let path = paths.entry(shade(*count, most)).or_default();
            push(
                path,
                format_args!(
                    "M{} {}h{}v{}h-{}z",
                    at(left),
                    at(high),
                    at(right - left),
                    at(low - high),
                    at(right - left)
                ),
            );
        }
    }
    for (shade, path) in paths {
        push(
            out,
            format_args!(
                "<path d=\"{path}\" fill=\"{}\" shape-rendering=\"crispEdges\"/>\n",
                HEAT[shade]
            ),
        );
    }
}

/// The shade for a number of requests.
fn shade(count: u64, most: u64) -> usize {
    let last = HEAT.len() - 1;
    if most <= 1 {
        return last;
    }
    let share = (count.max(1) as f64).ln() / (most as f64).ln();
    ((share * last as f64).round() as usize).min(last)
}

/// The shades with what they stand for.
fn scale(out: &mut String, most: u64, palette: &Palette) {
    const CELL: f64 = 22.0;
    let left = WIDTH - RIGHT - CELL * HEAT.len() as f64;
    for (position, colour) in HEAT.iter().enumerate() {
        push(
            out,
            format_args!(
                "<rect x=\"{}\" y=\"26\" width=\"{}\" height=\"12\" fill=\"{colour}\"/>",
                at(left + position as f64 * CELL),
                at(CELL)
            ),
        );
    }
    let text = |x: f64, anchor: &str, text: &str| {
        format!(
            "<text x=\"{}\" y=\"54\" font-size=\"12\" text-anchor=\"{anchor}\" fill=\"{}\">{text}</text>\n",
            at(x),
            palette.faint
        )
    };
    out.push_str(&text(left, "start", "1"));
    let end = WIDTH - RIGHT;
    out.push_str(&text(end, "end", &format!("{} requests", count(most))));
}
