//! A chart of lines over time: panels stacked vertically, with title, axes and legend.
//!
//! Must not know results. Invariant: everything is drawn within the page.

use std::fmt::Write as _;

use loadline_model::markup::escaped;

use super::at;
use super::axis::{Axis, time_ticks};
use super::palette::Palette;

/// A chart before it is drawn.
pub(super) struct Chart {
    /// A short name, for the file and identifiers.
    pub(super) name: &'static str,
    pub(super) title: String,
    /// A description in words.
    pub(super) description: String,
    /// The end of the axis of time, in seconds.
    pub(super) seconds: f64,
    pub(super) panels: Vec<Panel>,
    /// Spans in seconds that are shaded, with what they are.
    pub(super) shades: Vec<Shade>,
    /// Marked instants.
    pub(super) marks: Vec<Mark>,
}

/// An instant with what happened.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mark {
    /// In the unit of the axis of time.
    pub(super) at: f64,
    /// A short label, shown beside it if there is room.
    pub(super) label: String,
    /// The full text.
    pub(super) text: String,
}

/// A value that is drawn across a panel.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limit {
    pub(super) value: f64,
    pub(super) text: String,
}

/// A span in seconds, and what it is.
pub(super) type Shade = (f64, f64, &'static str);

/// One system of axes.
pub(super) struct Panel {
    /// The unit of its axis.
    pub(super) label: &'static str,
    pub(super) axis: Axis,
    pub(super) lines: Vec<Line>,
    /// Limits for its values.
    pub(super) limits: Vec<Limit>,
}

/// A series of values over time.
pub(super) struct Line {
    pub(super) name: String,
    /// Its place in the palette.
    pub(super) colour: usize,
    pub(super) manner: Manner,
    /// Instants in seconds, and values; `None` is a gap.
    pub(super) points: Vec<(f64, Option<f64>)>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Solid,
    /// With the area below it.
    Filled,
    Dashed,
    Dotted,
    DashedAndDotted,
}

impl Manner {
    /// The attribute that makes it.
    pub(super) fn dash(self) -> &'static str {
        match self {
            Manner::Solid | Manner::Filled => "",
            Manner::Dashed => " stroke-dasharray=\"5 4\"",
            Manner::Dotted => " stroke-dasharray=\"2 5\"",
            Manner::DashedAndDotted => " stroke-dasharray=\"9 5 2 5\"",
        }
    }
}

pub(super) const WIDTH: f64 = 960.0;
pub(super) const LEFT: f64 = 76.0;
pub(super) const RIGHT: f64 = 24.0;
/// Above the first panel: title and legend.
pub(super) const TOP: f64 = 104.0;
const PANEL: f64 = 280.0;
const PANEL_OF_SEVERAL: f64 = 170.0;
const GAP: f64 = 52.0;
/// Below the last panel: labels of time.
pub(super) const BOTTOM: f64 = 56.0;
pub(super) const FONT: &str = "Roboto, 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif";
/// Mean width of a character at the size of legends.
const CHARACTER: f64 = 7.0;

/// Draws a chart.
pub(super) fn draw(chart: &Chart, palette: &Palette) -> String {
    let each = if chart.panels.len() > 1 {
        PANEL_OF_SEVERAL
    } else {
        PANEL
    };
    let count = chart.panels.len() as f64;
    let entries = entries(chart);
    let first = TOP + legend_height(&entries);
    let bottom = first + count * each + (count - 1.0) * GAP;
    let mut out = begin(
        chart.name,
        &chart.title,
        &chart.description,
        bottom + BOTTOM,
        palette,
    );
    legend(&mut out, &entries, palette);
    for (position, panel) in chart.panels.iter().enumerate() {
        let top = first + position as f64 * (each + GAP);
        grid(&mut out, panel, top, each, palette);
        shades(&mut out, &chart.shades, chart.seconds, (top, each), palette);
        for line in &panel.lines {
            draw_line(&mut out, line, panel, chart.seconds, (top, each), palette);
        }
        limits(&mut out, panel, top, each, palette);
        marks(&mut out, chart, top, each, palette);
        if position == 0 {
            labels(&mut out, chart, top, palette);
        }
        let is_last = position + 1 == chart.panels.len();
        time(&mut out, chart.seconds, top + each, is_last, palette);
    }
    out.push_str("</svg>\n");
    out
}

/// The head of a drawing: its size, its name for those who do not see it, its ground and its title.
pub(super) fn begin(
    name: &str,
    title: &str,
    description: &str,
    height: f64,
    palette: &Palette,
) -> String {
    let (shown, told) = (escaped(title), escaped(description));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
         height=\"{h}\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\" \
         font-family=\"{FONT}\" font-size=\"13\">\n<title id=\"{name}-title\">{shown}</title>\n\
         <desc id=\"{name}-desc\">{told}</desc>\n",
        w = at(WIDTH),
        h = at(height)
    );
    if let Some(ground) = palette.ground {
        push(
            &mut out,
            format_args!("<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n"),
        );
    }
    push(
        &mut out,
        format_args!(
            "<text x=\"{}\" y=\"32\" font-size=\"18\" font-weight=\"bold\" fill=\"{}\">{shown}</text>\n",
            at(LEFT - 52.0),
            palette.ink
        ),
    );
    out
}

pub(super) fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text)
        .expect("writing to a string cannot fail");
}

/// The position of an instant.
pub(super) fn across(second: f64, seconds: f64) -> f64 {
    let share = if seconds > 0.0 {
        (second / seconds).clamp(0.0, 1.0)
    } else {
        0.0
    };
    LEFT + share * (WIDTH - LEFT - RIGHT)
}

/// An entry of the legend: a name, its colour, and how it is drawn.
pub(super) struct Entry {
    name: String,
    /// The place in the palette; `None`: ink.
    colour: Option<usize>,
    manner: Manner,
}

/// The lines of a chart and its limits; limits outside of the chart are listed as such.
pub(super) fn entries(chart: &Chart) -> Vec<Entry> {
    let lines = chart.panels.iter().flat_map(|panel| &panel.lines);
    let lines = lines.filter(|line| !line.name.is_empty());
    let lines = lines.map(|line| Entry {
        name: line.name.clone(),
        colour: Some(line.colour),
        manner: line.manner,
    });
    let limits = chart.panels.iter().flat_map(|panel| {
        panel.limits.iter().map(|limit| {
            let place = match panel.axis.holds(limit.value) {
                true => "",
                false if limit.value > panel.axis.high => ", above what is drawn",
                false => ", below what is drawn",
            };
            Entry {
                name: format!("threshold {}{place}", limit.text),
                colour: None,
                manner: Manner::Dashed,
            }
        })
    });
    lines.chain(limits).collect()
}

/// Height of a row of a legend.
const ENTRY: f64 = 20.0;
/// Most rows of a legend.
const ENTRY_ROWS_MAX: usize = 6;

/// Where each entry stands: its left end and its row; those for which there is no row have no place.
fn places(entries: &[Entry]) -> Vec<(f64, usize)> {
    let (mut x, mut row) = (LEFT - 52.0, 0);
    let mut places = Vec::new();
    for entry in entries {
        let width = entry.name.chars().count() as f64 * CHARACTER + 56.0;
        if x + width > WIDTH && x > LEFT - 52.0 {
            (x, row) = (LEFT - 52.0, row + 1);
        }
        if row >= ENTRY_ROWS_MAX {
            break;
        }
        places.push((x, row));
        x += width;
    }
    places
}

/// The height of a legend beyond its first row.
pub(super) fn legend_height(entries: &[Entry]) -> f64 {
    places(entries)
        .last()
        .map_or(0.0, |(_, row)| *row as f64 * ENTRY)
}

pub(super) fn legend(out: &mut String, entries: &[Entry], palette: &Palette) {
    for (entry, (x, row)) in entries.iter().zip(places(entries)) {
        let colour = entry.colour.map_or(palette.ink, |of| palette.series(of));
        let down = row as f64 * ENTRY;
        push(
            out,
            format_args!(
                "<path d=\"M{} {}h22\" stroke=\"{colour}\" stroke-width=\"{}\"{}/><text x=\"{}\" \
             y=\"{}\" fill=\"{}\">{}</text>\n",
                at(x),
                at(56.0 + down),
                if entry.colour.is_some() { "3" } else { "1.5" },
                entry.manner.dash(),
                at(x + 29.0),
                at(60.5 + down),
                palette.ink,
                escaped(&entry.name)
            ),
        );
    }
}

/// Shaded spans, with their names.
pub(super) fn shades(
    out: &mut String,
    spans: &[Shade],
    seconds: f64,
    (top, height): (f64, f64),
    palette: &Palette,
) {
    for (from, to, name) in spans {
        let (left, right) = (across(*from, seconds), across(*to, seconds));
        push(
            out,
            format_args!(
                "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" opacity=\"0.6\"><title>{name}</title></rect>\n",
                at(left),
                at(top),
                at(right - left),
                at(height),
                palette.grid
            ),
        );
        if right - left > name.len() as f64 * CHARACTER {
            push(
                out,
                format_args!(
                    "<text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"{}\">{name}</text>\n",
                    at(left + 6.0),
                    at(top + 16.0),
                    palette.faint
                ),
            );
        }
    }
}

/// Horizontal lines with their labels, and what they count.
pub(super) fn grid(out: &mut String, panel: &Panel, top: f64, height: f64, palette: &Palette) {
    for (value, label) in panel.axis.ticks() {
        let y = top + height * (1.0 - panel.axis.place(value));
        push(
            out,
            format_args!(
                "<path d=\"M{} {}H{}\" stroke=\"{}\"/><text x=\"{}\" y=\"{}\" text-anchor=\"end\" \
             fill=\"{}\">{label}</text>\n",
                at(LEFT),
                at(y),
                at(WIDTH - RIGHT),
                palette.grid,
                at(LEFT - 9.0),
                at(y + 4.5),
                palette.faint
            ),
        );
    }
    push(
        out,
        format_args!(
            "<text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"{}\">{}</text>\n",
            at(LEFT - 52.0),
            at(top - 16.0),
            palette.faint,
            panel.label
        ),
    );
}

/// The axis of time below a panel; all but the last have its marks alone.
pub(super) fn time(out: &mut String, seconds: f64, y: f64, is_last: bool, palette: &Palette) {
    let (ticks, unit) = time_ticks(seconds);
    push(
        out,
        format_args!(
            "<path d=\"M{} {}H{}\" stroke=\"{}\"/>\n",
            at(LEFT),
            at(y),
            at(WIDTH - RIGHT),
            palette.faint
        ),
    );
    for (second, label) in ticks {
        let x = across(second, seconds);
        push(
            out,
            format_args!(
                "<path d=\"M{} {}v5\" stroke=\"{}\"/>",
                at(x),
                at(y),
                palette.faint
            ),
        );
        if is_last {
            push(
                out,
                format_args!(
                    "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{label}</text>\n",
                    at(x),
                    at(y + 20.0),
                    palette.faint
                ),
            );
        }
    }
    if is_last {
        push(
            out,
            format_args!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"12\" fill=\"{}\">time since the start, {unit}</text>\n",
                at(WIDTH - RIGHT),
                at(y + 40.0),
                palette.faint
            ),
        );
    }
}

/// The limits of a panel, each with its words at the right end.
fn limits(out: &mut String, panel: &Panel, top: f64, height: f64, palette: &Palette) {
    let drawn = panel.limits.iter();
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for limit in drawn.filter(|limit| panel.axis.holds(limit.value)) {
        let y = top + height * (1.0 - panel.axis.place(limit.value));
        // Labels of lines that are close together are placed side by side.
        let beside = taken.iter().filter(|(other, _)| (other - y).abs() < 15.0);
        let right = beside
            .map(|(_, left)| *left)
            .fold(WIDTH - RIGHT - 4.0, f64::min);
        push(
            out,
            format_args!(
                "<path d=\"M{} {}H{}\" stroke=\"{}\" stroke-width=\"1.5\" stroke-dasharray=\"7 4\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\" font-size=\"12\" fill=\"{}\">{}</text>\n",
                at(LEFT),
                at(y),
                at(WIDTH - RIGHT),
                palette.ink,
                at(right),
                at(if y < top + 16.0 { y + 14.0 } else { y - 5.0 }),
                palette.ink,
                escaped(&limit.text)
            ),
        );
        taken.push((
            y,
            right - limit.text.chars().count() as f64 * SMALL_CHARACTER - 10.0,
        ));
    }
}

/// Mean width of a character at the size of labels.
const SMALL_CHARACTER: f64 = 5.6;
/// Rows of words of marks above a panel, from below: how high, and from where they may begin, as what a panel counts
/// stands at the left of the upper one.
const LABEL_ROWS: [(f64, f64); 2] = [(3.0, 0.0), (17.0, 200.0)];

/// The words of marks above the first panel; those for which there is no room are tooltips alone.
fn labels(out: &mut String, chart: &Chart, top: f64, palette: &Palette) {
    let mut ends = LABEL_ROWS.map(|(_, from)| from);
    for mark in chart.marks.iter().filter(|mark| !mark.label.is_empty()) {
        let x = across(mark.at, chart.seconds);
        let width = mark.label.chars().count() as f64 * SMALL_CHARACTER;
        let left = match x + width > WIDTH - 4.0 {
            true => x - width,
            false => x,
        };
        let Some(row) = ends.iter().position(|end| *end <= left) else {
            continue;
        };
        ends[row] = left + width + 6.0;
        push(
            out,
            format_args!(
                "<text x=\"{}\" y=\"{}\" font-size=\"12\" fill=\"{}\">{}</text>\n",
                at(left),
                at(top - LABEL_ROWS[row].0),
                palette.ink,
                escaped(&mark.label)
            ),
        );
    }
}

pub(super) fn marks(out: &mut String, chart: &Chart, top: f64, height: f64, palette: &Palette) {
    for mark in &chart.marks {
        push(
            out,
            format_args!(
                "<path d=\"M{} {}v{}\" stroke=\"{}\" stroke-dasharray=\"2 3\"><title>{}</title></path>\n",
                at(across(mark.at, chart.seconds)),
                at(top),
                at(height),
                palette.ink,
                escaped(&mark.text)
            ),
        );
    }
}

pub(super) fn draw_line(
    out: &mut String,
    line: &Line,
    panel: &Panel,
    seconds: f64,
    (top, height): (f64, f64),
    palette: &Palette,
) {
    let colour = palette.series(line.colour);
    for run in runs(&line.points) {
        let points: Vec<(f64, f64)> = run
            .iter()
            .map(|(second, value)| {
                (
                    across(*second, seconds),
                    top + height * (1.0 - panel.axis.place(*value)),
                )
            })
            .collect();
        if let [(x, y)] = points.as_slice() {
            push(
                out,
                format_args!(
                    "<circle cx=\"{}\" cy=\"{}\" r=\"2.5\" fill=\"{colour}\"/>\n",
                    at(*x),
                    at(*y)
                ),
            );
            continue;
        }
        let path = path_of(&points);
        if line.manner == Manner::Filled {
            let first = points[0].0;
            push(
                out,
                format_args!(
                    "<path d=\"{path}V{}H{}z\" fill=\"{colour}\" opacity=\"0.12\"/>\n",
                    at(top + height),
                    at(first)
                ),
            );
        }
        let dash = line.manner.dash();
        push(
            out,
            format_args!(
                "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash}/>\n"
            ),
        );
    }
}

pub(super) fn path_of(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (position, (x, y)) in points.iter().enumerate() {
        let lead = if position == 0 { 'M' } else { 'L' };
        push(&mut path, format_args!("{lead}{} {}", at(*x), at(*y)));
    }
    path
}

/// The stretches without a gap.
pub(super) fn runs(points: &[(f64, Option<f64>)]) -> Vec<Vec<(f64, f64)>> {
    let stretches = points.split(|(_, value)| value.is_none());
    stretches
        .filter(|stretch| !stretch.is_empty())
        .map(|stretch| {
            stretch
                .iter()
                .filter_map(|(x, y)| Some((*x, (*y)?)))
                .collect()
        })
        .collect()
}
