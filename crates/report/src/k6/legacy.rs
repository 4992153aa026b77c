//! The summary in the layout of k6 before version 1: groups and checks as a tree, then all metrics.
//!
//! Must not know how values were computed. Invariant: every metric has one line.

use loadline_model::TestSummary;
use loadline_model::test_summary::CheckSummary;

use super::paint::Paint;
use super::rows::{Columns, Row};
use super::stats::{Metric, Stats};
use super::text::fails;
use super::{SummaryOptions, order};

/// The summary's text as the `textSummary` of the library k6-summary gives it.
pub(super) fn render(summary: &TestSummary, options: &SummaryOptions) -> String {
    let paint = Paint {
        colour: options.colour,
    };
    let root = Stats::of(&summary.root, summary.duration_ns, &options.trend_stats);
    let mut lines = Vec::new();
    section(&root, 5, paint, &mut lines);
    metrics(&root, options, paint, &mut lines);
    lines.join("\n")
}

fn section(stats: &Stats, indent: usize, paint: Paint, lines: &mut Vec<String>) {
    let spaces = " ".repeat(indent);
    for check in &stats.checks {
        lines.extend(check_lines(check, &spaces, paint));
    }
    if !stats.checks.is_empty() {
        lines.push(String::new());
    }
    for (name, group) in &stats.groups {
        lines.push(format!("{spaces}█ {name}"));
        lines.push(String::new());
        section(group, indent + 2, paint, lines);
    }
}

fn check_lines(check: &CheckSummary, spaces: &str, paint: Paint) -> Vec<String> {
    if check.fails == 0 {
        return vec![paint.green(&format!("{spaces}✓ {}", check.name))];
    }
    vec![
        paint.red(&format!("{spaces}✗ {}", check.name)),
        paint.red(&format!("{spaces} {}", fails(check))),
    ]
}

fn metrics(root: &Stats, options: &SummaryOptions, paint: Paint, lines: &mut Vec<String>) {
    let mut shown: Vec<&Metric> = root.metrics.iter().collect();
    shown.sort_by(|a, b| order::compare(&a.key, &b.key));
    let rows: Vec<Row> = shown
        .iter()
        .map(|metric| {
            let (gap, name) = if metric.is_sub_metric {
                ("  ", format!("{{ {} }}", metric.suffix()))
            } else {
                ("", metric.name.clone())
            };
            let lead = format!("   {gap}{} ", mark(metric, paint));
            let unit = options.time_unit;
            Row::of(name, &metric.values, metric.contains, unit).led_by(lead, gap.len())
        })
        .collect();
    let columns = Columns::of(&rows);
    lines.extend(rows.iter().map(|row| columns.line(row, paint)));
}

/// Whether all thresholds of a metric held; a space where it has none.
fn mark(metric: &Metric, paint: Paint) -> String {
    if metric.thresholds.is_empty() {
        return " ".to_owned();
    }
    if metric.thresholds.iter().all(|threshold| threshold.passed) {
        paint.green("✓")
    } else {
        paint.red("✗")
    }
}
