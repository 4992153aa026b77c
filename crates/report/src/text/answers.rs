//! Responses: shapes with a sampled body, and peers.
//!
//! Must not judge. Invariant: every response is in one row, the rest in a row that says so.

use loadline_metric::Summary;
use loadline_model::RunResult;
use loadline_model::bounded::Bounded;
use loadline_model::snapshot::{Shape, ShapeTally, Tally};
use loadline_model::test_summary::ByTag;

use crate::k6::by_tag;
use crate::page::{Page, cut};
use crate::units::{Bytes, count, share, span_or_dash};

/// Rows of each table on a page; the JSON result has them all.
const ROWS_MAX: usize = 12;

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let seen = &result.totals.seen;
    if seen.shapes.is_empty() {
        statuses(page, result);
        return;
    }
    let mut shapes: Vec<(&Shape, &ShapeTally)> = seen.shapes.rows().collect();
    shapes.sort_by_key(|(shape, tally)| (std::cmp::Reverse(tally.count), shape.status));
    let all = shapes.iter().map(|(_, tally)| tally.count).sum::<u64>();
    let all = all + seen.shapes.overflow().map_or(0, |tally| tally.count);
    page.section("Responses", "by status, size of the body and content type");
    let row = |(shape, tally): &(&Shape, &ShapeTally)| {
        let good = if tally.good == tally.count {
            String::new()
        } else {
            format!("{} good", count(tally.good))
        };
        let kind = if shape.content_type.is_empty() {
            "no content type"
        } else {
            &shape.content_type
        };
        vec![
            shape.status.to_string(),
            count(tally.count),
            share(tally.count, all),
            sizes(&tally.body_size),
            cut(kind, 40),
            good,
        ]
    };
    let mut rows: Vec<Vec<String>> = shapes.iter().take(ROWS_MAX).map(row).collect();
    let shown = shapes
        .iter()
        .take(ROWS_MAX)
        .map(|(_, tally)| tally.count)
        .sum::<u64>();
    if shown < all {
        let rest = vec!["other".into(), count(all - shown), share(all - shown, all)];
        rows.push([rest, vec![String::new(); 3]].concat());
    }
    page.table("<>>><<", &[], &rows);
    samples(page, &shapes);
}

pub(crate) fn sizes(size: &Summary) -> String {
    match (size.min(), size.max()) {
        (Some(0), Some(0)) | (None, _) | (_, None) => "no body".to_owned(),
        (Some(min), Some(max)) if min == max => Bytes(min).to_string(),
        (Some(min), Some(max)) => format!("{} to {}", Bytes(min), Bytes(max)),
    }
}

/// One body of each of the commonest shapes, so that a wrong response is visible at a glance.
fn samples(page: &mut Page, shapes: &[(&Shape, &ShapeTally)]) {
    const SHAPES_SAMPLED: usize = 3;
    let style = page.style;
    for (shape, tally) in shapes.iter().take(SHAPES_SAMPLED) {
        let Some(sample) = tally.samples.iter().max_by_key(|sample| sample.count) else {
            continue;
        };
        if sample.text.trim().is_empty() {
            continue;
        }
        let note = if tally.sampled == 1 {
            "the only one".to_owned()
        } else if sample.count == tally.sampled {
            format!("identical in all {} sampled", count(tally.sampled))
        } else {
            format!("one of {} sampled", count(tally.sampled))
        };
        let flat: String = sample
            .text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
        let lead = format!("  body of {}: ", shape.status);
        let used = lead.chars().count() + note.chars().count() + 3;
        let shown = cut(&flat, style.columns().saturating_sub(used));
        page.line(&format!("{lead}{shown}   {}", style.faint(&note)));
    }
}

fn statuses(page: &mut Page, result: &RunResult) {
    let seen = &result.totals.seen;
    if seen.statuses.is_empty() {
        return;
    }
    let mut rows: Vec<(u16, u64)> = seen
        .statuses
        .rows()
        .map(|(status, n)| (*status, *n))
        .collect();
    rows.sort_unstable();
    let all = seen.counts.completed;
    let mut cells: Vec<Vec<String>> = rows
        .iter()
        .map(|(status, number)| vec![status.to_string(), count(*number), share(*number, all)])
        .collect();
    if let Some(rest) = seen.statuses.overflow() {
        cells.push(vec!["other".into(), count(*rest), share(*rest, all)]);
    }
    page.section("Responses", "by status");
    page.table("<>>", &[], &cells);
}

/// Requests and peers, if there were several or if they were requested.
pub(super) fn sources(page: &mut Page, result: &RunResult) {
    let seen = &result.totals.seen;
    if let Some(table) = ByTag::of(result).filter(|_| !seen.requests.is_empty()) {
        by_tag::write(page, &table, ByTag::counted_ns(result));
    }
    if seen.peers.len() > 1 {
        tallies(page, "By remote address", &seen.peers);
    }
    if !seen.by_header.is_empty() {
        let name = result
            .plan
            .aggregation
            .by_header
            .as_deref()
            .unwrap_or("header");
        tallies(page, &format!("By {name}"), &seen.by_header);
    }
}

fn tallies(page: &mut Page, title: &str, table: &Bounded<String, Tally>) {
    let mut rows: Vec<(&str, &Tally)> = table
        .rows()
        .map(|(name, tally)| (name.as_str(), tally))
        .collect();
    let all = rows.iter().map(|(_, tally)| tally.answered).sum::<u64>();
    let all = all + table.overflow().map_or(0, |tally| tally.answered);
    rows.sort_by_key(|(name, tally)| (std::cmp::Reverse(tally.answered), *name));
    let cells = |name: &str, tally: &Tally| {
        vec![
            cut(if name.is_empty() { "(none)" } else { name }, 48),
            count(tally.answered),
            share(tally.answered, all),
            count(tally.failed),
            span_or_dash(tally.time.mean()),
            span_or_dash(tally.time.max().map(|ns| ns as f64)),
        ]
    };
    let mut lines: Vec<Vec<String>> = rows
        .iter()
        .take(ROWS_MAX)
        .map(|(name, tally)| cells(name, tally))
        .collect();
    let mut rest = table.overflow().cloned().unwrap_or_default();
    rows.iter()
        .skip(ROWS_MAX)
        .for_each(|(_, tally)| rest.merge(tally));
    if rest != Tally::default() {
        lines.push(cells("all others", &rest));
    }
    page.section(title, "");
    page.table(
        "<>>>>>",
        &["", "answered", "share", "failed", "mean", "slowest"],
        &lines,
    );
}
