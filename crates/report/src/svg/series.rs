//! Charts of given points.
//!
//! Must not know what is counted. Invariant: a chart without points is omitted.

use super::axis::Quantity;
use super::chart::{self, Chart, Line, Manner, Panel};
use super::content::{axis_of_times, panel};
use super::palette::SERIES;
use super::{Drawing, Palette};

/// Values over time.
pub(crate) struct Series {
    pub(crate) name: String,
    /// Instants in seconds, and values; `None` is a gap.
    pub(crate) points: Vec<(f64, Option<f64>)>,
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Nanoseconds.
    Span,
    /// So many a second.
    Rate,
    /// Bytes a second.
    Size,
}

/// A chart of series, as many as there are colours; `what` names the axis of values.
pub(crate) fn over_time(
    name: &'static str,
    (title, what): (&str, &'static str),
    unit: Unit,
    seconds: f64,
    series: Vec<Series>,
) -> Option<Drawing> {
    let lines = series.into_iter().take(SERIES).enumerate();
    let lines = lines.map(|(colour, series)| Line {
        name: series.name,
        colour,
        manner: Manner::Solid,
        points: series.points,
    });
    let lines: Vec<Line> = lines.collect();
    let has_points = lines
        .iter()
        .any(|line| line.points.iter().any(|point| point.1.is_some()));
    if !has_points || seconds <= 0.0 {
        return None;
    }
    let panel = match unit {
        Unit::Span => Panel {
            label: what,
            axis: axis_of_times(&lines, &[])?,
            lines,
            limits: Vec::new(),
        },
        Unit::Rate => panel(what, Quantity::Rate, lines, Vec::new()),
        Unit::Size => panel(what, Quantity::Size, lines, Vec::new()),
    };
    let chart = Chart {
        name,
        title: title.to_owned(),
        description: format!("{title}: {what}."),
        seconds,
        panels: vec![panel],
        shades: Vec::new(),
        marks: Vec::new(),
    };
    Some(Drawing {
        name,
        svg: chart::draw(&chart, &Palette::PAGE),
    })
}
