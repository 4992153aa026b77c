//! Errors by class with sample messages and a next step, and failed checks.
//!
//! Must not know Go's wordings. Invariant: every class with failures has a line.

use loadline_model::snapshot::ErrorKey;
use loadline_model::{ErrorClass, FrontEnd, RunResult};

use crate::failed;
use crate::page::{Page, bound, cut};
use crate::units::{count, counted, share};

/// Messages shown of one class; the JSON result has more.
const MESSAGES_MAX: usize = 2;
/// Characters of a message: what went wrong stands at its end, behind a URL that may be long.
const MESSAGE_MAX: usize = 400;

pub(super) fn write(page: &mut Page, result: &RunResult) {
    let counts = &result.totals.seen.counts;
    if counts.failed_total() > 0 {
        page.section(
            "Errors",
            &format!("of {} sent", counted(counts.started, "request")),
        );
        for (class, number) in failed::by_class(counts) {
            write_class(page, result, class, number);
        }
    }
    failed_checks(page, result);
}

fn write_class(page: &mut Page, result: &RunResult, class: ErrorClass, number: u64) {
    let style = page.style;
    let name = style.alarm(&format!("{:<16}", class.name()));
    let of = share(number, result.totals.seen.counts.started);
    page.line(&format!("  {name} {:>12}   {of}", count(number)));
    let mut messages: Vec<(&ErrorKey, u64)> = result
        .totals
        .seen
        .errors
        .rows()
        .filter(|(key, _)| key.class == class)
        .map(|(key, number)| (key, *number))
        .collect();
    messages.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    for (key, number) in messages.iter().take(MESSAGES_MAX) {
        let times = if messages.len() > 1 {
            format!(" ({}×)", count(*number))
        } else {
            String::new()
        };
        let text = cut(&message(key), MESSAGE_MAX);
        page.paragraph("    ", 6, &format!("{text}{times}"));
    }
    if messages.len() > MESSAGES_MAX {
        let more = format!("    and {} other messages", messages.len() - MESSAGES_MAX);
        page.line(&style.faint(&more));
    }
    let front_end = FrontEnd::of_command_line(&result.environment.command);
    let next_step = class.next_step(front_end);
    page.paragraph(&format!("    {} ", style.accent("→")), 6, &next_step);
}

pub(crate) fn message(key: &ErrorKey) -> String {
    let to = key
        .address
        .as_ref()
        .map_or_else(String::new, |address| format!(" ({address})"));
    let detail = if key.detail.is_empty() {
        key.class.name()
    } else {
        &key.detail
    };
    format!("{}{to}: {detail}", bound(&key.request))
}

fn failed_checks(page: &mut Page, result: &RunResult) {
    let checks = &result.totals.seen.failed_checks;
    if checks.is_empty() {
        return;
    }
    let answered = result.totals.seen.counts.completed;
    let mut rows: Vec<(&str, u64)> = checks
        .rows()
        .map(|(name, number)| (name.as_str(), *number))
        .collect();
    rows.sort_by_key(|(_, number)| std::cmp::Reverse(*number));
    rows.extend(
        checks
            .overflow()
            .map(|number| ("all other checks", *number)),
    );
    let width = page.style.columns().saturating_sub(40);
    let cells = |(name, number): &(&str, u64)| {
        vec![
            cut(name, width),
            count(*number),
            format!("{} of the responses", share(*number, answered)),
        ]
    };
    page.section("Failed checks", "");
    page.table("<><", &[], &rows.iter().map(cells).collect::<Vec<_>>());
}
