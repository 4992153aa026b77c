//! Responses, peers and failures.
//!
//! Must not judge. Invariant: every response is in one row, the rest in a row that says so; every error class
//! with failures has a row.

use loadline_model::bounded::Bounded;
use loadline_model::snapshot::{ErrorKey, Shape, ShapeTally, Tally};
use loadline_model::{ErrorClass, FrontEnd, RunResult};

use super::markup::{Html, Side};
use crate::failed;
use crate::text::answers::sizes;
use crate::text::failures::message;
use crate::units::{count, share, span_or_dash};

/// Rows of each table; the JSON result has them all.
const ROWS_MAX: usize = 20;
/// Messages of each error class.
const MESSAGES_MAX: usize = 3;

/// Responses by shape or status, a sampled body of each, and the peers.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    let seen = &result.totals.seen;
    if seen.shapes.is_empty() {
        statuses(html, result);
    } else {
        shapes(html, &seen.shapes);
    }
    failed_checks(html, result);
    if seen.peers.len() > 1 {
        tallies(html, "by remote address", &seen.peers);
    }
    if !seen.by_header.is_empty() {
        let name = result.plan.aggregation.by_header.as_deref();
        let remark = format!("by {}", name.unwrap_or("header"));
        tallies(html, &remark, &seen.by_header);
    }
}

fn shapes(html: &mut Html, table: &Bounded<Shape, ShapeTally>) {
    let mut shapes: Vec<(&Shape, &ShapeTally)> = table.rows().collect();
    shapes.sort_by_key(|(shape, tally)| (std::cmp::Reverse(tally.count), shape.status));
    let counted: u64 = shapes.iter().map(|(_, tally)| tally.count).sum();
    let all = counted + table.overflow().map_or(0, |tally| tally.count);
    let row = |(shape, tally): &(&Shape, &ShapeTally)| {
        let sample = tally.samples.iter().max_by_key(|sample| sample.count);
        vec![
            shape.status.to_string(),
            count(tally.count),
            share(tally.count, all),
            count(tally.good),
            sizes(&tally.body_size),
            shape.content_type.clone(),
            sample.map_or_else(String::new, |sample| sample.text.clone()),
        ]
    };
    let mut rows: Vec<Vec<String>> = shapes.iter().take(ROWS_MAX).map(row).collect();
    let shown: u64 = shapes
        .iter()
        .take(ROWS_MAX)
        .map(|(_, tally)| tally.count)
        .sum();
    if shown < all {
        let mut rest = vec![
            "other".to_owned(),
            count(all - shown),
            share(all - shown, all),
        ];
        rest.resize(7, String::new());
        rows.push(rest);
    }
    html.heading("Responses", "by status, size of the body and content type");
    let columns = [
        ("status", Side::Words),
        ("responses", Side::Numbers),
        ("share", Side::Numbers),
        ("good", Side::Numbers),
        ("body", Side::Words),
        ("content type", Side::Code),
        ("sample body", Side::Code),
    ];
    html.table(&columns, &rows);
}

fn statuses(html: &mut Html, result: &RunResult) {
    let table = &result.totals.seen.statuses;
    let mut statuses: Vec<(u16, u64)> = table.rows().map(|(status, n)| (*status, *n)).collect();
    statuses.sort_unstable();
    let all = result.totals.seen.counts.completed;
    let row = |name: String, number: u64| vec![name, count(number), share(number, all)];
    let mut rows: Vec<Vec<String>> = statuses
        .iter()
        .map(|(status, number)| row(status.to_string(), *number))
        .collect();
    rows.extend(table.overflow().map(|rest| row("other".to_owned(), *rest)));
    if rows.is_empty() {
        return;
    }
    html.heading("Responses", "by status");
    let columns = [
        ("status", Side::Words),
        ("responses", Side::Numbers),
        ("share", Side::Numbers),
    ];
    html.table(&columns, &rows);
}

fn failed_checks(html: &mut Html, result: &RunResult) {
    let checks = &result.totals.seen.failed_checks;
    let answered = result.totals.seen.counts.completed;
    let mut rows: Vec<(&str, u64)> = checks.rows().map(|(name, n)| (name.as_str(), *n)).collect();
    rows.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    rows.extend(
        checks
            .overflow()
            .map(|number| ("all other checks", *number)),
    );
    if rows.is_empty() {
        return;
    }
    html.heading("Failed checks", "of the responses");
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|(name, number)| vec![(*name).to_owned(), count(*number), share(*number, answered)])
        .collect();
    let columns = [
        ("check", Side::Code),
        ("responses", Side::Numbers),
        ("share", Side::Numbers),
    ];
    html.table(&columns, &rows);
}

fn tallies(html: &mut Html, remark: &str, table: &Bounded<String, Tally>) {
    let mut all: Vec<(&str, &Tally)> = table.rows().map(|(name, t)| (name.as_str(), t)).collect();
    all.sort_by_key(|(name, tally)| (std::cmp::Reverse(tally.answered), *name));
    let overflow = table.overflow();
    let answered: u64 = all.iter().map(|(_, tally)| tally.answered).sum();
    let answered = answered + overflow.map_or(0, |tally| tally.answered);
    let cells = |name: &str, tally: &Tally| {
        vec![
            if name.is_empty() { "(none)" } else { name }.to_owned(),
            count(tally.answered),
            share(tally.answered, answered),
            count(tally.failed),
            span_or_dash(tally.time.mean()),
            span_or_dash(tally.time.max().map(|ns| ns as f64)),
        ]
    };
    let shown = all.iter().take(ROWS_MAX);
    let mut rows: Vec<Vec<String>> = shown.map(|(name, tally)| cells(name, tally)).collect();
    let mut rest = overflow.cloned().unwrap_or_default();
    all.iter()
        .skip(ROWS_MAX)
        .for_each(|(_, tally)| rest.merge(tally));
    if rest != Tally::default() {
        rows.push(cells("all others", &rest));
    }
    html.heading("Responses by server", remark);
    let columns = [
        ("", Side::Code),
        ("answered", Side::Numbers),
        ("share", Side::Numbers),
        ("failed", Side::Numbers),
        ("mean", Side::Numbers),
        ("slowest", Side::Numbers),
    ];
    html.table(&columns, &rows);
}

/// Failures by class, with their commonest messages and what to do about them.
pub(super) fn errors(html: &mut Html, result: &RunResult) {
    let counts = &result.totals.seen.counts;
    let classes = failed::by_class(counts);
    if classes.is_empty() {
        return;
    }
    html.heading("Errors", "by class");
    html.wide();
    html.raw("<table><thead><tr><th scope=\"col\">class</th>");
    html.raw("<th scope=\"col\" class=\"n\">requests</th><th scope=\"col\" class=\"n\">share</th>");
    html.raw("<th scope=\"col\">what was seen</th></tr></thead><tbody>");
    let front_end = FrontEnd::of_command_line(&result.environment.command);
    for (class, number) in classes {
        html.between("<tr><th scope=\"row\">", class.name(), "</th>");
        html.between("<td class=\"n\">", &count(number), "</td>");
        html.between(
            "<td class=\"n\">",
            &share(number, counts.started),
            "</td><td>",
        );
        messages(html, result, class);
        html.between(
            "<span class=\"advice\">",
            &class.next_step(front_end),
            "</span></td></tr>",
        );
    }
    html.raw("</tbody></table></div>");
}

fn messages(html: &mut Html, result: &RunResult, class: ErrorClass) {
    let rows = result.totals.seen.errors.rows();
    let mut messages: Vec<(&ErrorKey, u64)> = rows
        .filter(|(key, _)| key.class == class)
        .map(|(key, number)| (key, *number))
        .collect();
    messages.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    for (key, number) in messages.iter().take(MESSAGES_MAX) {
        let times = format!(" ({}×)", count(*number));
        html.between("<code>", &message(key).replace('\u{a0}', " "), "</code>");
        html.text(&times).raw("<br>");
    }
    if let Some(more) = messages
        .len()
        .checked_sub(MESSAGES_MAX)
        .filter(|more| *more > 0)
    {
        html.text(&format!("and {} other messages", count(more as u64)))
            .raw("<br>");
    }
}
