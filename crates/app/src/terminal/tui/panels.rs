//! The panels: current values, scenarios, errors, checks, thresholds, the generator.
//!
//! Must not know charts. Invariant: a panel without content takes no room, and if there is too little room the
//! last panels are omitted entirely.

use std::time::Duration;

use loadline_model::result::{Row, RunResult};
use loadline_model::test_summary::{CheckSummary, Section};
use loadline_model::{ErrorClass, Scenario};
use loadline_report::k6::by_tag::shortened;
use loadline_report::units::{Bytes, count, counted, planned, rate, share, span};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::shown::{Look, Shown};

/// Maximum rows of a panel; and the maximum if the screen is short.
const ROWS_MAX: usize = 6;
const ROWS_MAX_SHORT: usize = 3;
/// A screen with fewer rows than this is short.
const SHORT: u16 = 16;

/// A panel's rows under its title.
struct Panel {
    title: &'static str,
    rows: Vec<Line<'static>>,
}

/// Between the two parts of the line of problems.
const GAP: &str = "   ";
/// Minimum columns of a shortened threshold in the line of problems; with fewer it is left out.
const THRESHOLD_MIN: usize = 12;

/// The problems in one line: the first failed threshold, and the most frequent failure. The threshold is
/// shortened if both do not fit.
pub(super) fn state(shown: &Shown, width: u16) -> Line<'static> {
    let look = shown.look;
    let Some(result) = shown.result.as_deref() else {
        return Line::default();
    };
    let all = judged(result);
    let failing = all.iter().filter(|(passed, _)| !passed).count();
    let failure = failures(result).into_iter().next().map(|(class, _)| {
        let counts = &result.totals.seen.counts;
        let failed = counts.failed_total();
        format!(
            "✗ {} failed ({}): {class}",
            counted(failed, "request"),
            share(failed, counts.started)
        )
    });
    let room = match &failure {
        None => usize::from(width),
        Some(text) => usize::from(width).saturating_sub(text.chars().count() + GAP.len()),
    };
    let thresholds = all.first().map(|(passed, worst)| match passed {
        true => {
            let text = format!("✓ {} met so far", counted(all.len() as u64, "threshold"));
            Span::styled(text, look.good())
        }
        false => {
            let text = format!("✗ {failing} of {} thresholds failing", all.len());
            let room = room.saturating_sub(text.chars().count() + 2);
            let text = match room >= worst.chars().count().min(THRESHOLD_MIN) {
                true => format!("{text}: {}", shortened(worst, room)),
                false => text,
            };
            Span::styled(text, look.bad())
        }
    });
    let failure = failure.map(|text| Span::styled(text, look.bad()));
    let gap = (thresholds.is_some() && failure.is_some()).then(|| Span::raw(GAP));
    Line::from_iter(thresholds.into_iter().chain(gap).chain(failure))
}

/// Draws the panels from the top, in several columns if there is room.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, shown: &Shown) {
    const COLUMN: u16 = 40;
    let columns = (area.width / COLUMN).max(1);
    let width = area.width / columns;
    let room = usize::from(width.saturating_sub(2));
    let (mut column, mut used) = (0, 0);
    let rows_max = match area.height {
        0..SHORT => ROWS_MAX_SHORT,
        _ => ROWS_MAX,
    };
    for panel in panels(shown, room, rows_max)
        .into_iter()
        .filter(|panel| !panel.rows.is_empty())
    {
        let height = panel.rows.len() as u16 + 2;
        if used + height - 1 > area.height {
            (column, used) = (column + 1, 0);
        }
        if column == columns || height - 1 > area.height {
            return;
        }
        let place = Rect {
            x: area.x + column * width + 1,
            y: area.y + used,
            width: width.saturating_sub(2),
            height: (height - 1).min(area.height - used),
        };
        let mut text = vec![Line::styled(panel.title, shown.look.strong())];
        text.extend(panel.rows);
        frame.render_widget(Paragraph::new(text), place);
        used += height;
    }
}

/// Problems come directly after the current values: the last panels are omitted first. `room`: columns of a row.
fn panels(shown: &Shown, room: usize, rows_max: usize) -> Vec<Panel> {
    let look = shown.look;
    let Some(result) = shown.result.as_deref() else {
        return Vec::new();
    };
    let panel = |title, mut rows: Vec<Line<'static>>| {
        if rows.len() > rows_max {
            let more = rows.len() - (rows_max - 1);
            rows.truncate(rows_max - 1);
            rows.push(Line::styled(format!("  and {more} more"), look.faint()));
        }
        Panel { title, rows }
    };
    vec![
        Panel {
            title: "Now",
            rows: now(shown, result),
        },
        panel("Thresholds", thresholds(result, room, look)),
        panel("Errors", errors(result, look)),
        panel("So far", so_far(shown, result)),
        panel("Scenarios", scenarios(shown, room, result)),
        panel("Checks", checks(result, room, look)),
        panel("Generator", generator(result)),
    ]
}

fn row(label: &str, value: &str) -> Line<'static> {
    Line::from(format!("  {label:<15}{value}"))
}

fn now(shown: &Shown, result: &RunResult) -> Vec<Line<'static>> {
    let Some(last) = result.series.last() else {
        return vec![Line::styled("  starting", shown.look.faint())];
    };
    let per_second = |number: u64| rate(last.per_second(number).unwrap_or_default());
    let mut rows = vec![row("answered", &per_second(last.completed))];
    if let Some(offered) = last.offered {
        let what = match shown.plan.sends_several() {
            true => "iterations due",
            false => "offered",
        };
        rows.push(row(what, &per_second(offered)));
    }
    let times = [
        ("response", last.response_time_ns),
        ("service", last.service_time_ns),
    ];
    let line = |what: &str, cells: [String; 3]| {
        let [p50, p90, p99] = cells;
        Line::from(format!("  {what:<9}{p50:>9}{p90:>9}{p99:>9}"))
    };
    if times.iter().any(|(_, times)| times.is_some()) {
        let head = line("time", ["p50", "p90", "p99"].map(str::to_owned));
        rows.push(head.style(shown.look.faint()));
    }
    for (what, times) in times {
        rows.extend(times.map(|times| {
            line(
                what,
                [times.p50, times.p90, times.p99].map(|ns| span(ns as f64)),
            )
        }));
    }
    let waiting = match last.waiting {
        0 => String::new(),
        waiting => format!(", {} wait", count(waiting)),
    };
    rows.push(row(
        "VUs",
        &format!("{} busy{waiting}", count(last.active_vus)),
    ));
    rows
}

fn so_far(shown: &Shown, result: &RunResult) -> Vec<Line<'static>> {
    let look = shown.look;
    // Dropped starts are iterations; for a script it is unknown how many requests they would have sent.
    let is_script = shown.plan.sends_several();
    let counts = &result.totals.seen.counts;
    let mut rows = vec![
        row("goodput", &rate(result.totals.rates.goodput)),
        row("answered", &count(counts.completed)),
    ];
    let wrong = counts.outcomes().wrong();
    for (label, number, of) in [
        ("not good", wrong, counts.completed),
        ("failed", counts.failed_total(), counts.started),
        ("dropped", counts.dropped, counts.dropped + counts.started),
    ] {
        let told = match label {
            "dropped" if is_script => format!("{} iterations", count(number)),
            _ => format!("{} ({})", count(number), share(number, of)),
        };
        if number > 0 {
            rows.push(row(label, &told).style(look.bad()));
        }
    }
    rows
}

/// Thresholds, failed ones first.
fn judged(result: &RunResult) -> Vec<(bool, String)> {
    let metrics = result
        .summary
        .iter()
        .flat_map(|summary| &summary.root.metrics);
    let of_script = metrics.flat_map(|metric| {
        let named = |source: &str| format!("{}: {source}", metric.key());
        metric
            .thresholds
            .iter()
            .map(move |one| (one.passed, named(&one.source)))
    });
    // Those of a script are also in its summary, with their current state.
    let own = result
        .thresholds
        .iter()
        .filter(|_| result.summary.is_none())
        .map(|one| (one.passed, one.threshold.clone()));
    let mut all: Vec<(bool, String)> = own.chain(of_script).collect();
    all.sort_by_key(|(passed, _)| *passed);
    all
}

fn thresholds(result: &RunResult, room: usize, look: Look) -> Vec<Line<'static>> {
    let row = |(passed, text): (bool, String)| {
        let (mark, style) = if passed {
            ("✓", look.good())
        } else {
            ("✗", look.bad())
        };
        Line::from(vec![
            Span::styled(format!("  {mark} "), style),
            Span::raw(shortened(&text, room.saturating_sub(4))),
        ])
    };
    judged(result).into_iter().map(row).collect()
}

/// Failures by class, the most frequent first.
fn failures(result: &RunResult) -> Vec<(&'static str, u64)> {
    let counts = &result.totals.seen.counts;
    let classes = ErrorClass::ALL
        .iter()
        .map(|class| (class.name(), counts.failed[class.index()]));
    let mut classes: Vec<(&str, u64)> = classes.filter(|(_, number)| *number > 0).collect();
    classes.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    classes
}

fn errors(result: &RunResult, look: Look) -> Vec<Line<'static>> {
    let counts = &result.totals.seen.counts;
    let row = |(name, number): (&str, u64)| {
        let of = share(number, counts.started);
        Line::styled(
            format!("  {name:<17}{:>9}  {of}", count(number)),
            look.bad(),
        )
    };
    failures(result).into_iter().map(row).collect()
}

fn scenarios(shown: &Shown, room: usize, result: &RunResult) -> Vec<Line<'static>> {
    // Beside it are a bar of 12 columns and the iterations.
    let columns = room.saturating_sub(26).clamp(12, 30);
    let elapsed = shown.elapsed();
    let is_alone = shown.plan.scenarios.len() == 1 && shown.plan.script.is_none();
    let row = |scenario: &Scenario| {
        let name = &scenario.name;
        let change = result.totals.seen.scenarios.get(name.as_str());
        let iterations = change.map_or_else(String::new, |change| {
            format!("  {} done", count(change.iterations))
        });
        Line::from(format!(
            "  {:<columns$} {}{iterations}",
            shortened(name, columns),
            progress(scenario, elapsed)
        ))
    };
    match is_alone {
        // Its content is already in the header.
        true => Vec::new(),
        false => shown.plan.scenarios.iter().map(row).collect(),
    }
}

fn progress(scenario: &Scenario, elapsed: Duration) -> String {
    if elapsed < scenario.start_time {
        return format!(
            "in {}",
            planned(Duration::from_secs(
                (scenario.start_time - elapsed).as_secs()
            ))
        );
    }
    let since = elapsed - scenario.start_time;
    match scenario
        .executor
        .duration()
        .filter(|length| !length.is_zero())
    {
        None => "running".to_owned(),
        Some(length) => {
            let done = (since.as_secs_f64() / length.as_secs_f64()).min(1.0);
            let full = (done * 6.0).round() as usize;
            format!(
                "{}{} {:3.0} %",
                "━".repeat(full),
                "─".repeat(6 - full),
                done * 100.0
            )
        }
    }
}

/// Checks, those with most failures first.
fn checks(result: &RunResult, room: usize, look: Look) -> Vec<Line<'static>> {
    let mut found = Vec::new();
    if let Some(summary) = &result.summary {
        gather(&summary.root, &mut found);
    }
    found.sort_by_key(|check| std::cmp::Reverse(check.fails));
    let of_script = found
        .into_iter()
        .map(|check| (check.fails, check.passes + check.fails, check.name.clone()));
    let answered = result.totals.seen.counts.completed;
    let failed = result.totals.seen.failed_checks.rows();
    let own = failed.map(|(name, number)| (*number, answered, name.clone()));
    let row = |(fails, made, name): (u64, u64, String)| {
        let held = share(made.saturating_sub(fails), made);
        let style = if fails > 0 { look.bad() } else { look.good() };
        Line::from(vec![
            Span::styled(format!("  {held:>8} "), style),
            Span::raw(shortened(&name, room.saturating_sub(11))),
        ])
    };
    own.chain(of_script).map(row).collect()
}

fn gather<'r>(section: &'r Section, found: &mut Vec<&'r CheckSummary>) {
    found.extend(&section.checks);
    section
        .groups
        .iter()
        .for_each(|(_, group)| gather(group, found));
}

fn generator(result: &RunResult) -> Vec<Line<'static>> {
    let Some(last) = result.series.last() else {
        return Vec::new();
    };
    let used = &last.generator;
    let mut rows = vec![
        row(
            "CPU",
            &format!(
                "{:.2} of {:.0} cores",
                used.cpu_cores, result.environment.cores
            ),
        ),
        row(
            "busiest",
            &format!("{:.0} % of its core", used.busiest_worker * 100.0),
        ),
        row("memory", &Bytes(used.rss_bytes).to_string()),
    ];
    rows.extend(lag(last).map(|lag| row("schedule lag", &lag)));
    rows
}

fn lag(last: &Row) -> Option<String> {
    last.lag_p99_ns.map(|ns| format!("p99 {}", span(ns as f64)))
}
