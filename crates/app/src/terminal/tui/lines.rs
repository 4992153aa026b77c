//! The charts: rates and percentiles over time.
//!
//! Must not know panels. Invariant: times are drawn on a logarithmic axis, which is visible in the values of
//! its labels.

use loadline_model::result::{Percentiles, Row};
use loadline_report::units::{rate, span};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType};

use super::shown::Shown;

type Point = (f64, f64);

/// The style of a line, so that lines are distinguishable without colours.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    Line,
    Dots,
    Blocks,
    Full,
}

impl Drawn {
    fn marker(self) -> Marker {
        match self {
            Drawn::Line => Marker::Braille,
            Drawn::Dots => Marker::Dot,
            Drawn::Blocks => Marker::Bar,
            Drawn::Full => Marker::Block,
        }
    }

    /// The sign before its name.
    fn sign(self) -> char {
        match self {
            Drawn::Line => '⠒',
            Drawn::Dots => '•',
            Drawn::Blocks => '▄',
            Drawn::Full => '█',
        }
    }
}

/// With fewer rows than this two charts would have one row for their lines.
const BOTH: u16 = 10;

/// Draws both charts, one below the other; on a short screen only the first.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let rows: &[Row] = shown.result.as_ref().map_or(&[], |result| &result.series);
    if area.height < BOTH {
        return rates(frame, area, shown, rows);
    }
    let [above, below] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(area);
    rates(frame, above, shown, rows);
    times(frame, below, shown, rows);
}

fn middle_s(row: &Row) -> f64 {
    (row.at_ns as f64 + row.span_ns as f64 / 2.0) / 1e9
}

fn per_second(rows: &[Row], of: impl Fn(&Row) -> Option<u64>) -> Vec<Point> {
    rows.iter()
        .filter_map(|row| Some((middle_s(row), row.per_second(of(row)?)?)))
        .collect()
}

fn rates(frame: &mut Frame<'_>, area: Rect, shown: &Shown, rows: &[Row]) {
    let look = shown.look;
    // Due and dropped starts are iterations: those of a script are shown as numbers beside its requests.
    let is_script = shown.plan.sends_several();
    let offered = per_second(rows, |row| row.offered.filter(|_| !is_script));
    let answered = per_second(rows, |row| Some(row.completed));
    let failed = per_second(rows, |row| match is_script {
        true => Some(row.failed),
        false => Some(row.failed + row.dropped),
    });
    let has_failed = failed.iter().any(|(_, number)| *number > 0.0);
    let most = [&offered, &answered, &failed]
        .into_iter()
        .flatten()
        .map(|point| point.1)
        .fold(0.0, f64::max);
    let mut sets = Vec::new();
    if !offered.is_empty() {
        sets.push(("offered", Drawn::Dots, look.caution(), &offered[..]));
    }
    sets.push(("answered", Drawn::Line, look.accent(), &answered[..]));
    if has_failed {
        sets.push(("failed", Drawn::Blocks, look.bad(), &failed[..]));
    }
    let top = rounded_up(most);
    let labels = match graph_rows(area) {
        0..MIDDLE_FROM => vec![0.0, top],
        _ => vec![0.0, top / 2.0, top],
    };
    let axis = ValueAxis {
        low: 0.0,
        high: top,
        labels: labels.into_iter().map(rate).collect(),
    };
    chart(frame, area, shown, "requests per second", &sets, &axis);
}

/// An axis of values, with evenly spaced labels from one end to the other.
struct ValueAxis {
    low: f64,
    high: f64,
    labels: Vec<String>,
}

/// Columns of the labels of values: both charts begin at the same column, and stay there when values change.
const LABEL: usize = 7;

/// Number of rows from which there is room for a label in the middle.
const MIDDLE_FROM: u16 = 5;

/// The rows of a chart left for its lines: title, axis and labels take three.
fn graph_rows(area: Rect) -> u16 {
    area.height.saturating_sub(3)
}

/// The next of 1, 1.5, 2, 3, 4, 5, 6, 8 and 10 times a power of ten.
fn rounded_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let decade = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0].map(|step| step * decade);
    steps
        .into_iter()
        .find(|step| *step >= value)
        .unwrap_or(decade * 10.0)
}

fn times(frame: &mut Frame<'_>, area: Rect, shown: &Shown, rows: &[Row]) {
    type Times = fn(&Row) -> Option<Percentiles>;
    let (response, service): (Times, Times) =
        (|row| row.response_time_ns, |row| row.service_time_ns);
    let look = shown.look;
    let of = |times: Times, of: fn(&Percentiles) -> u64| -> Vec<Point> {
        let value = |row: &Row| Some((middle_s(row), (of(&times(row)?).max(1) as f64).log10()));
        rows.iter().filter_map(value).collect()
    };
    let p50 = |times: &Percentiles| times.p50;
    let p90 = |times: &Percentiles| times.p90;
    let p99 = |times: &Percentiles| times.p99;
    // The lighter of two lines is drawn later, over the other.
    let (title, lines) = match rows.iter().any(|row| row.response_time_ns.is_some()) {
        true => (
            "times, log",
            [
                ("service p50", Drawn::Full, look.accent(), of(service, p50)),
                (
                    "response p50",
                    Drawn::Blocks,
                    look.second(),
                    of(response, p50),
                ),
                ("service p99", Drawn::Dots, look.caution(), of(service, p99)),
                ("response p99", Drawn::Line, look.bad(), of(response, p99)),
            ]
            .to_vec(),
        ),
        false => (
            "service time, log scale",
            [
                ("p50", Drawn::Blocks, look.accent(), of(service, p50)),
                ("p90", Drawn::Dots, look.second(), of(service, p90)),
                ("p99", Drawn::Line, look.bad(), of(service, p99)),
            ]
            .to_vec(),
        ),
    };
    let all = || {
        lines
            .iter()
            .flat_map(|(_, _, _, points)| points)
            .map(|point| point.1)
    };
    let (least, most) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(0.0, f64::max),
    );
    let axis = decades(least, most, graph_rows(area));
    let sets: Vec<_> = lines
        .iter()
        .map(|(name, drawn, style, points)| (*name, *drawn, *style, &points[..]))
        .collect();
    chart(frame, area, shown, title, &sets, &axis);
}

/// A logarithmic axis with whole powers of ten around all values; `least` and `most` are exponents. Each power
/// has a label if there is room.
fn decades(least: f64, most: f64, rows: u16) -> ValueAxis {
    let (low, high) = match least.is_finite() {
        true => (least.floor(), most.ceil().max(least.floor() + 1.0)),
        false => (5.0, 7.0),
    };
    let count = (high - low) as u16;
    let step = if rows > 2 * count { 1 } else { count };
    let powers = (0..=count).step_by(usize::from(step));
    ValueAxis {
        low,
        high,
        labels: powers
            .map(|power| span(10_f64.powf(low + f64::from(power))))
            .collect(),
    }
}

/// The next run length, in seconds, whose half is a round number too.
fn round_length(seconds: f64) -> f64 {
    const LENGTHS: [f64; 12] = [
        10.0, 20.0, 30.0, 40.0, 60.0, 120.0, 180.0, 240.0, 300.0, 360.0, 480.0, 600.0,
    ];
    let known = LENGTHS.into_iter().find(|length| *length >= seconds);
    let step = if seconds <= 3_600.0 { 120.0 } else { 600.0 };
    known.unwrap_or_else(|| (seconds / step).ceil() * step)
}

/// Draws lines over the time of the run, and events as vertical lines.
fn chart(
    frame: &mut Frame<'_>,
    area: Rect,
    shown: &Shown,
    title: &str,
    sets: &[(&str, Drawn, Style, &[Point])],
    axis: &ValueAxis,
) {
    let look = shown.look;
    // Not up to a limit that the run may never reach.
    let filled = shown.plan.time_filled();
    let planned = filled.map_or(0.0, |time| time.as_secs_f64());
    let end = round_length(planned.max(shown.elapsed().as_secs_f64()));
    let marks: Vec<[Point; 2]> = (shown.result.iter())
        .flat_map(|result| &result.events)
        .map(|mark| mark.at_ns as f64 / 1e9)
        .map(|at_s| [(at_s, axis.low), (at_s, axis.high)])
        .collect();
    let marks = marks.iter().map(|mark| {
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(look.faint())
            .data(mark)
    });
    let data = sets.iter().map(|(_, drawn, style, points)| {
        Dataset::default()
            .marker(drawn.marker())
            .graph_type(GraphType::Line)
            .style(*style)
            .data(points)
    });
    let label = |text: String| Span::styled(text, look.faint());
    let x = [0.0, end / 2.0, end].map(|second| label(axis_time(second)));
    let y: Vec<_> = (axis.labels.iter())
        .map(|text| label(format!("{text:>LABEL$}")))
        .collect();
    let mut head = vec![Span::raw(format!(" {title} "))];
    head.extend(
        sets.iter().map(|(name, drawn, style, _)| {
            Span::styled(format!(" {} {name} ", drawn.sign()), *style)
        }),
    );
    let block = Block::new()
        .borders(Borders::TOP)
        .border_style(look.faint());
    let chart = Chart::new(marks.chain(data).collect())
        .block(block.title(Line::from(head)))
        .x_axis(
            Axis::default()
                .bounds([0.0, end])
                .labels(x)
                .style(look.faint()),
        )
        .y_axis(
            Axis::default()
                .bounds([axis.low, axis.high])
                .labels(y)
                .style(look.faint()),
        )
        .legend_position(None);
    frame.render_widget(chart, area);
}

/// A time on the axis: in minutes if they are whole.
fn axis_time(seconds: f64) -> String {
    match seconds {
        60.0.. if seconds % 60.0 == 0.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_at_round_values() {
        let lengths = [3.0, 25.0, 45.0, 601.0, 3_601.0].map(round_length);
        assert_eq!(lengths, [10.0, 30.0, 60.0, 720.0, 4_200.0]);
        let axis = decades(200_000_f64.log10(), 12_000_000_f64.log10(), 9);
        assert_eq!(axis.labels, ["100 µs", "1 ms", "10 ms", "100 ms"]);
        let short = decades(200_000_f64.log10(), 12_000_000_f64.log10(), 2);
        assert_eq!(short.labels, ["100 µs", "100 ms"]);
        assert_eq!(axis_time(30.0) + &axis_time(600.0), "30 s10 min");
    }

    #[test]
    fn the_top_of_an_axis_is_round_and_above_all() {
        assert_eq!(
            [0.0, 0.9, 1.0, 640.0, 12_345.0].map(rounded_up),
            [1.0, 1.0, 1.0, 800.0, 15_000.0]
        );
    }
}
