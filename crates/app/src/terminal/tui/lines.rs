//! The charts: rates over time, and percentiles over time.
//!
//! Must not know panels. Invariant: times are drawn on a logarithmic axis whose labels say so by their
//! values.

use loadline_model::result::{Percentiles, Row};
use loadline_report::units::{rate, span};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType};

use super::draw::Shown;

type Point = (f64, f64);

/// Draws both charts, the one below the other.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let rows: &[Row] = shown.result.as_ref().map_or(&[], |result| &result.series);
    let [above, below] = Layout::vertical([Constraint::Fill(1), Constraint::Fill(1)]).areas(area);
    rates(frame, above, shown, rows);
    times(frame, below, shown, rows);
}

fn middle_s(row: &Row) -> f64 {
    (row.at_ns as f64 + row.span_ns as f64 / 2.0) / 1e9
}

fn per_second(rows: &[Row], of: impl Fn(&Row) -> Option<u64>) -> Vec<Point> {
    let rows = rows.iter().filter(|row| row.span_ns > 0);
    rows.filter_map(|row| Some((middle_s(row), of(row)? as f64 * 1e9 / row.span_ns as f64)))
        .collect()
}

fn rates(frame: &mut Frame<'_>, area: Rect, shown: &Shown, rows: &[Row]) {
    let look = shown.look;
    let offered = per_second(rows, |row| row.offered);
    let answered = per_second(rows, |row| Some(row.completed));
    let failed = per_second(rows, |row| Some(row.failed + row.dropped));
    let has_failed = failed.iter().any(|(_, number)| *number > 0.0);
    let most = [&offered, &answered, &failed]
        .into_iter()
        .flatten()
        .map(|point| point.1)
        .fold(0.0, f64::max);
    let mut sets = Vec::new();
    if !offered.is_empty() {
        sets.push((offered_name(shown), look.caution(), &offered[..]));
    }
    sets.push(("answered", look.accent(), &answered[..]));
    if has_failed {
        sets.push(("failed", look.bad(), &failed[..]));
    }
    let top = rounded_up(most);
    let labels = [0.0, top / 2.0, top].map(rate);
    chart(
        frame,
        area,
        shown,
        "requests per second",
        &sets,
        (0.0, top),
        &labels,
    );
}

/// What is due are iterations, of which a script's send as many requests as they like.
pub(super) fn offered_name(shown: &Shown) -> &'static str {
    match shown.plan.script.is_some() {
        true => "iterations due",
        false => "offered",
    }
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
    let look = shown.look;
    let is_response = rows.iter().any(|row| row.response_time_ns.is_some());
    let of = |of: fn(&Percentiles) -> u64| -> Vec<Point> {
        let value = |row: &Row| {
            let times = if is_response {
                row.response_time_ns
            } else {
                row.service_time_ns
            };
            Some((middle_s(row), (of(&times?).max(1) as f64).log10()))
        };
        rows.iter().filter_map(value).collect()
    };
    let (p50, p90, p99) = (
        of(|times| times.p50),
        of(|times| times.p90),
        of(|times| times.p99),
    );
    let all = || {
        [&p50, &p90, &p99]
            .into_iter()
            .flatten()
            .map(|point| point.1)
    };
    let low = all().fold(f64::INFINITY, f64::min);
    let (low, high) = match low.is_finite() {
        true => (low - 0.1, all().fold(low, f64::max) + 0.1),
        false => (5.0, 7.0),
    };
    let labels = [low, f64::midpoint(low, high), high].map(|power| span(10_f64.powf(power)));
    let sets = [
        ("p99", look.bad(), &p99[..]),
        ("p90", look.second(), &p90[..]),
        ("p50", look.accent(), &p50[..]),
    ];
    let title = if is_response {
        "response time (logarithmic)"
    } else {
        "service time (logarithmic)"
    };
    chart(frame, area, shown, title, &sets, (low, high), &labels);
}

fn chart(
    frame: &mut Frame<'_>,
    area: Rect,
    shown: &Shown,
    title: &str,
    sets: &[(&str, Style, &[Point])],
    (low, high): (f64, f64),
    labels: &[String; 3],
) {
    let look = shown.look;
    let planned = shown.plan.duration().map_or(0.0, |time| time.as_secs_f64());
    let end = planned.max(shown.elapsed().as_secs_f64()).max(10.0);
    let data = sets.iter().map(|(_, style, points)| {
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(*style)
            .data(points)
    });
    let label = |text: String| Span::styled(text, look.faint());
    let x = [0.0, end / 2.0, end].map(|second| label(format!("{second:.0} s")));
    let y = labels.clone().map(label);
    let mut head = vec![Span::raw(format!(" {title} "))];
    head.extend(
        sets.iter()
            .map(|(name, style, _)| Span::styled(format!(" {name} "), *style)),
    );
    let block = Block::new()
        .borders(Borders::TOP)
        .border_style(look.faint());
    let chart = Chart::new(data.collect())
        .block(block.title(Line::from(head)))
        .x_axis(
            Axis::default()
                .bounds([0.0, end])
                .labels(x)
                .style(look.faint()),
        )
        .y_axis(
            Axis::default()
                .bounds([low, high])
                .labels(y)
                .style(look.faint()),
        )
        .legend_position(None);
    frame.render_widget(chart, area);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_an_axis_is_round_and_above_all() {
        assert_eq!(
            [0.0, 0.9, 1.0, 640.0, 12_345.0].map(rounded_up),
            [1.0, 1.0, 1.0, 800.0, 15_000.0]
        );
    }
}
