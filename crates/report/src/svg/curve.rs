//! A load curve: throughput and times over load instead of time.
//!
//! Must not know where the points come from. Invariant: everything is drawn within the page.

use super::axis::{Axis, Quantity};
use super::chart::{
    BOTTOM, Chart, LEFT, Line, Manner, Mark, Panel, RIGHT, TOP, WIDTH, across, begin, draw_line,
    entries, grid, legend, marks, push,
};
use super::palette::Palette;
use super::{Drawing, at};

/// Height of a panel, and the gap between two.
const PANEL: f64 = 220.0;
const GAP: f64 = 52.0;

/// A load curve.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCurve {
    /// Its title.
    pub title: String,
    /// What the load is, with its unit.
    pub load: &'static str,
    /// What [`CurvePoint::asked`] is.
    pub asked: &'static str,
    /// The points, ascending in load.
    pub points: Vec<CurvePoint>,
    /// Loads that are marked, with why.
    pub marks: Vec<(f64, String)>,
}

/// One load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The load.
    pub load: f64,
    /// The reference for throughput, per second: the offered load, or a law; `None` without one.
    pub asked: Option<f64>,
    /// Responses per second.
    pub throughput: f64,
    /// Median time in nanoseconds; `None` without a response.
    pub p50_ns: Option<u64>,
    /// 95th percentile of the same.
    pub p95_ns: Option<u64>,
    /// 99th percentile of the same.
    pub p99_ns: Option<u64>,
}

/// Draws a load curve, `load-curve`.
#[must_use]
pub fn load_curve(curve: &LoadCurve, palette: &Palette) -> Drawing {
    let loads = Axis::linear(
        curve
            .points
            .iter()
            .map(|point| point.load)
            .fold(0.0, f64::max),
        Quantity::Rate,
    );
    let chart = Chart {
        name: "load-curve",
        title: curve.title.clone(),
        description: description(curve),
        seconds: loads.high,
        panels: vec![throughput(curve), times(curve)],
        shades: Vec::new(),
        marks: curve.marks.iter().map(mark).collect(),
    };
    let count = chart.panels.len() as f64;
    let bottom = TOP + count * PANEL + (count - 1.0) * GAP;
    let mut out = begin(
        chart.name,
        &chart.title,
        &chart.description,
        bottom + BOTTOM,
        palette,
    );
    legend(&mut out, &entries(&chart), palette);
    for (position, panel) in chart.panels.iter().enumerate() {
        let top = TOP + position as f64 * (PANEL + GAP);
        grid(&mut out, panel, top, PANEL, palette);
        for line in &panel.lines {
            draw_line(&mut out, line, panel, loads.high, (top, PANEL), palette);
        }
        marks(&mut out, &chart, top, PANEL, palette);
        let is_last = position + 1 == chart.panels.len();
        load_axis(
            &mut out,
            &loads,
            top + PANEL,
            is_last.then_some(curve.load),
            palette,
        );
    }
    out.push_str("</svg>\n");
    Drawing {
        name: chart.name,
        svg: out,
    }
}

fn mark((load, why): &(f64, String)) -> Mark {
    Mark {
        at: *load,
        label: String::new(),
        text: why.clone(),
    }
}

fn description(curve: &LoadCurve) -> String {
    let best = curve
        .points
        .iter()
        .map(|point| point.throughput)
        .fold(0.0, f64::max);
    format!(
        "{} loads from {} to {} ({}); the highest throughput was {best:.0} per second",
        curve.points.len(),
        curve.points.first().map_or(0.0, |point| point.load),
        curve.points.last().map_or(0.0, |point| point.load),
        curve.load
    )
}

fn throughput(curve: &LoadCurve) -> Panel {
    let answered = curve
        .points
        .iter()
        .map(|point| (point.load, Some(point.throughput)));
    let asked = curve.points.iter().map(|point| (point.load, point.asked));
    let lines = vec![
        line("throughput", 0, Manner::Filled, answered.collect()),
        line(curve.asked, 4, Manner::Dashed, asked.collect()),
    ];
    let lines: Vec<Line> = lines
        .into_iter()
        .filter(|line| line.points.iter().any(|(_, value)| value.is_some()))
        .collect();
    Panel {
        label: "responses per second",
        axis: Axis::linear(highest(&lines), Quantity::Rate),
        lines,
        limits: Vec::new(),
    }
}

fn times(curve: &LoadCurve) -> Panel {
    let of = |percentile: fn(&CurvePoint) -> Option<u64>| {
        let points = curve.points.iter();
        points
            .map(|point| (point.load, percentile(point).map(|ns| ns as f64)))
            .collect()
    };
    let lines = vec![
        line("p50", 2, Manner::Solid, of(|point| point.p50_ns)),
        line("p95", 3, Manner::Solid, of(|point| point.p95_ns)),
        line("p99", 1, Manner::Solid, of(|point| point.p99_ns)),
    ];
    let values = lines
        .iter()
        .flat_map(|line: &Line| line.points.iter().filter_map(|(_, value)| *value));
    let lowest = values.fold(f64::INFINITY, f64::min);
    Panel {
        label: "time",
        axis: Axis::of_times(
            if lowest.is_finite() { lowest } else { 1.0 },
            highest(&lines),
        ),
        lines,
        limits: Vec::new(),
    }
}

fn line(name: &str, colour: usize, manner: Manner, points: Vec<(f64, Option<f64>)>) -> Line {
    Line {
        name: name.to_owned(),
        colour,
        manner,
        points,
    }
}

fn highest(lines: &[Line]) -> f64 {
    let values = lines
        .iter()
        .flat_map(|line| line.points.iter().filter_map(|(_, value)| *value));
    values.fold(0.0, f64::max)
}

/// The axis of loads below a panel; with labels where it is the last.
fn load_axis(out: &mut String, loads: &Axis, y: f64, label: Option<&str>, palette: &Palette) {
    let (left, right) = (at(LEFT), at(WIDTH - RIGHT));
    push(
        out,
        format_args!(
            "<path d=\"M{left} {}H{right}\" stroke=\"{}\"/>\n",
            at(y),
            palette.faint
        ),
    );
    for (load, text) in loads.ticks() {
        let x = at(across(load, loads.high));
        push(
            out,
            format_args!(
                "<path d=\"M{x} {}v5\" stroke=\"{}\"/>",
                at(y),
                palette.faint
            ),
        );
        if label.is_some() {
            push(
                out,
                format_args!(
                    "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" fill=\"{}\">{text}</text>\n",
                    at(y + 20.0),
                    palette.faint
                ),
            );
        }
    }
    if let Some(label) = label {
        push(
            out,
            format_args!(
                "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\" font-size=\"12\" fill=\"{}\">{label}</text>\n",
                at(y + 40.0),
                palette.faint
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: Vec<CurvePoint>) -> LoadCurve {
        LoadCurve {
            title: "Load curve of <h> & co".to_owned(),
            load: "virtual users",
            asked: "offered",
            points,
            marks: vec![(2.0, "the knee".to_owned())],
        }
    }

    fn point(load: f64, p99_ns: Option<u64>) -> CurvePoint {
        CurvePoint {
            load,
            asked: Some(load),
            throughput: load.min(2.0),
            p50_ns: Some(1_000_000),
            p95_ns: Some(2_000_000),
            p99_ns,
        }
    }

    #[test]
    fn every_curve_is_a_whole_drawing() {
        let whole = vec![
            point(1.0, Some(3_000_000)),
            point(2.0, None),
            point(4.0, Some(90_000_000)),
        ];
        for points in [Vec::new(), vec![point(1.0, None)], whole] {
            let drawing = load_curve(&curve(points), &Palette::PAPER);
            let document = roxmltree::Document::parse(&drawing.svg).expect("well-formed");
            assert_eq!(document.root_element().tag_name().name(), "svg");
            assert!(
                !drawing.svg.contains("NaN") && !drawing.svg.contains("inf"),
                "{}",
                drawing.svg
            );
        }
    }

    #[test]
    fn lines_names_and_marks_are_drawn() {
        let svg = load_curve(
            &curve(vec![
                point(1.0, Some(3_000_000)),
                point(4.0, Some(5_000_000)),
            ]),
            &Palette::PAPER,
        )
        .svg;
        for text in [
            "throughput",
            "offered",
            "p50",
            "p95",
            "p99",
            "virtual users",
            "the knee",
            "&lt;h&gt;",
        ] {
            assert!(svg.contains(text), "{text}");
        }
    }
}
