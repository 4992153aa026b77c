//! The table by name of a script's requests, by value of the requested tag, or by URL.
//!
//! Must not know how rows were chosen. Invariant: every counted row is in the table or in the number of omitted
//! ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use loadline_model::RunResult;
use loadline_model::tag_series::{TagSeries, ValueSeries};
use loadline_model::test_summary::ByTag;
use serde_json::json;

use super::data::{four_digits, listed, shortest};
use super::markup::Html;
use crate::k6::by_tag::{COLUMNS, figures, shown_value};
use crate::units::{count, counted};

/// Maximum rows shown: longer tables are searched rather than read, and the outputs are better for that.
const ROWS_MAX: usize = 500;

/// The same during the run, when the table is sent each second.
const ROWS_NOW: usize = 50;

/// The table; nothing if all requests are alike.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    write_rows(html, result, ROWS_MAX);
}

/// The table of a run in progress.
pub(super) fn write_now(html: &mut Html, result: &RunResult) {
    write_rows(html, result, ROWS_NOW);
}

fn write_rows(html: &mut Html, result: &RunResult, rows_max: usize) {
    let Some(table) = ByTag::of(result).filter(|table| !table.rows.is_empty()) else {
        return;
    };
    let what_else = match table.over_time {
        Some(_) => "; click a row for its charts and errors",
        None => "",
    };
    let remark = format!("by {}{what_else}", table.tag);
    html.heading("Requests", &remark);
    html.wide();
    write_table(html, &table, ByTag::counted_ns(result), rows_max);
    html.raw("</div>");
    if let Some(hidden) = table
        .rows
        .len()
        .checked_sub(rows_max)
        .filter(|hidden| *hidden > 0)
    {
        let text = format!("and {} more values", count(hidden as u64));
        html.between("<p class=\"hint\">", &text, "</p>");
    }
    if table.overflowed > 0 {
        let text = format!(
            "{} with further values are counted only in the totals",
            counted(table.overflowed, "sample")
        );
        html.between("<p class=\"hint\">", &text, "</p>");
    }
}

/// The table. What a row shows below itself when selected is in its attributes, for the page's script.
fn write_table(html: &mut Html, table: &ByTag, counted_ns: u64, rows_max: usize) {
    let course = table.over_time.as_ref().map(fitting);
    html.raw("<table");
    if let Some(course) = &course {
        html.between(" data-at=\"", &numbers(&course.at_ns), "\"");
        html.between(" data-span=\"", &numbers(&course.span_ns), "\"");
    }
    html.raw("><thead><tr><th scope=\"col\"></th>");
    for name in COLUMNS {
        html.between("<th scope=\"col\" class=\"n\">", name, "</th>");
    }
    html.raw("</tr></thead><tbody>");
    let courses = course.iter().flat_map(|course| &course.values);
    let courses: BTreeMap<&str, &ValueSeries> = courses.map(|of| (of.value.as_str(), of)).collect();
    let failures = table.failures.iter();
    let failures: BTreeMap<&str, &Vec<(String, u64)>> =
        failures.map(|(value, why)| (value.as_str(), why)).collect();
    for (value, metrics) in table.rows.iter().take(rows_max) {
        html.raw("<tr");
        if let Some(course) = courses.get(value.as_str()) {
            html.between(" data-course=\"", &columns(course), "\"");
        }
        if let Some(why) = failures.get(value.as_str()) {
            html.between(" data-why=\"", &json!(why).to_string(), "\"");
        }
        html.between(
            "><th scope=\"row\"><code>",
            shown_value(value),
            "</code></th>",
        );
        for cell in figures(metrics, counted_ns) {
            html.between("<td class=\"n\">", &cell, "</td>");
        }
        html.raw("</tr>");
    }
    html.raw("</tbody></table>");
}

/// Characters of all rows' courses: what a page of a megabyte has room for beside its charts.
const COURSES_MAX: usize = 300_000;
/// Minimum rows of a course over time.
const COURSE_ROWS_MIN: usize = 12;

/// The course of all values, with as many rows as there is room for.
fn fitting(known: &TagSeries) -> TagSeries {
    let mut course = known.clone();
    loop {
        let size: usize = course.values.iter().map(|of| columns(of).len()).sum();
        if size <= COURSES_MAX || course.at_ns.len() < COURSE_ROWS_MIN * 2 {
            return course;
        }
        course.halve();
    }
}

/// Requests, failed requests (none: empty), median and 99th percentile, as lists of numbers.
fn columns(of: &ValueSeries) -> String {
    let failed: &[u64] = match of.failed.iter().any(|count| *count > 0) {
        true => &of.failed,
        false => &[],
    };
    let [p50, p99] = [&of.p50_ns, &of.p99_ns].map(|times| {
        listed(times.iter(), |out, ns| match ns {
            None => out.write_str("0"),
            Some(ns) => shortest(out, four_digits(*ns as f64) as u64),
        })
    });
    format!(
        "[{},{},{p50},{p99}]",
        numbers(&of.requests),
        numbers(failed)
    )
}

fn numbers(all: &[u64]) -> String {
    listed(all.iter(), |out, number| shortest(out, *number))
}
