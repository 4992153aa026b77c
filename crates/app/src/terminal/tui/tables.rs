//! Views that replace the charts at the press of a key: the histogram of times, and requests by name.
//!
//! Must not know keys. Invariant: if there is nothing to show, a line says why.

use loadline_model::test_summary::ByTag;
use loadline_report::chart::bar;
use loadline_report::k6::by_tag;
use loadline_report::text::TimesHistogram;
use loadline_report::units::{count, share, span};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

use super::shown::Shown;

/// Columns before a bar, and the maximum length of a bar.
const BEFORE_BAR: u16 = 36;
const BAR_MAX: u16 = 60;

/// Draws a histogram of times.
pub(super) fn distribution(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let shape = shown.result.as_deref().and_then(TimesHistogram::of);
    let Some(shape) = shape else {
        return nothing(
            frame,
            area,
            shown,
            "distribution",
            "no distribution yet: too few responses",
        );
    };
    let cells = usize::from(area.width.saturating_sub(BEFORE_BAR + 2).min(BAR_MAX));
    let most = shape.most();
    let row = |row: Option<(f64, u64)>| match row {
        None => Line::styled(format!("  {:>10}", "⋮"), shown.look.faint()),
        Some((bound, number)) => Line::from(vec![
            Span::raw(format!(
                "  {:>10} {:>11} {:>9}  ",
                span(bound),
                count(number),
                share(number, shape.count)
            )),
            Span::styled(bar(number, most, cells), shown.look.accent()),
        ]),
    };
    let mut lines = vec![Line::styled(
        format!("  {:>10} {:>11} {:>9}", "up to", "requests", "share"),
        shown.look.faint(),
    )];
    lines.extend(shape.shown().into_iter().map(row));
    let title = format!("distribution of {}, whole run", shape.of);
    block(frame, area, shown, &title, lines);
}

/// Draws a row for each name, those with most requests first.
pub(super) fn names(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    let result = shown.result.as_deref();
    let table = result.and_then(|result| Some((ByTag::of(result)?, ByTag::counted_ns(result))));
    let Some((table, counted_ns)) = table.filter(|(table, _)| !table.rows.is_empty()) else {
        let is_steps = shown.plan.script.is_none() && shown.plan.sends_several();
        let why = match is_steps {
            true => "the report at the end has a plan's requests by name",
            false => "one kind of request so far, nothing to list",
        };
        return nothing(frame, area, shown, "requests", why);
    };
    const FIGURE: usize = 9;
    // On a narrow screen the least informative columns are omitted to leave room for the names.
    let fitting = usize::from(area.width).saturating_sub(22) / (FIGURE + 1);
    let columns = by_tag::most_telling(fitting);
    let name = usize::from(area.width)
        .saturating_sub(columns.len() * (FIGURE + 1) + 2)
        .min(60);
    let line = |name_of: &str, figures: &[&str]| {
        let mut text = format!("  {:<name$}", by_tag::shortened(name_of, name));
        for column in &columns {
            text.push_str(&format!(" {:>FIGURE$}", figures[*column]));
        }
        text
    };
    let room = usize::from(area.height.saturating_sub(2));
    let head = line("", &by_tag::COLUMNS);
    let mut lines = vec![Line::styled(head, shown.look.faint())];
    for cells in by_tag::cells(&table, counted_ns, room) {
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        lines.push(Line::raw(line(cells[0], &cells[1..])));
    }
    let left_out = table.rows.len().saturating_sub(room);
    let title = match left_out {
        0 => format!("requests by {}", table.tag),
        left_out => format!("requests by {}, {left_out} more not shown", table.tag),
    };
    block(frame, area, shown, &title, lines);
}

fn nothing(frame: &mut Frame<'_>, area: Rect, shown: &Shown, title: &str, why: &str) {
    let line = Line::styled(format!("  {why}"), shown.look.faint());
    block(frame, area, shown, title, vec![line]);
}

fn block(frame: &mut Frame<'_>, area: Rect, shown: &Shown, title: &str, lines: Vec<Line<'_>>) {
    let block = Block::new()
        .borders(Borders::TOP)
        .border_style(shown.look.faint())
        .title(Span::raw(format!(" {title} ")));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
