//! Results as pages: the report in one self-contained file, and the live page of a running test. Both have the
//! same sections and charts.
//!
//! Must not know files, sockets or clocks: the caller serves or stores a page. Invariants: nothing on a page
//! loads anything external, and the content of a result is text on a page, never markup.

mod answers;
mod contents;
mod data;
mod document;
mod figures;
mod latency;
mod markup;
mod measured;
mod names;
mod observed;
mod progress;
mod setting;
mod spark;
mod verdict;

use loadline_model::RunResult;
use loadline_model::result::Row;

use crate::describe;

use document::Kind;
use markup::Html;

/// One part of a page, which fills an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The element's `id`.
    pub id: &'static str,
    /// Its content as markup; empty: the part is hidden.
    pub html: String,
}

/// Bytes of a report: what is sent by mail and opened on a telephone.
const REPORT_MAX: usize = 1_000_000;

/// The report in one self-contained file.
#[must_use]
pub fn report(result: &RunResult) -> String {
    let title = describe::title(&result.plan, &result.environment.command);
    let (kind, parts) = (Kind::Report(&title), parts(result));
    let room = REPORT_MAX.saturating_sub(document::document(kind, &parts, "").len());
    document::document(kind, &parts, &data::of_result(result, room))
}

/// What the page of a running test needs besides the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steering {
    /// Whether the run can be paused and resumed: whether a scenario is controlled from outside.
    pub can_pause: bool,
    /// The nonce of the page's own scripts; unique and unpredictable.
    pub nonce: String,
}

/// The current state of a run, for its live page.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// What it would be if it ended now.
    pub result: &'a RunResult,
    /// The last seconds as one row; `None` when there is none yet, and when the run is over.
    pub now: Option<&'a Row>,
}

/// The page of a running test with what is known so far. It subscribes to `events` on its own server, and sends
/// commands with `POST command/…`. `status`: what the run is doing, in words.
#[must_use]
pub fn live(steering: &Steering, status: &str, standing: Option<Standing<'_>>) -> String {
    match standing {
        None => document::document(Kind::Live(steering, status, ""), &[], &data::nothing()),
        Some(standing) => {
            let result = standing.result;
            let title = describe::title(&result.plan, &result.environment.command);
            let kind = Kind::Live(steering, status, &title);
            let data = data::of_result(result, usize::MAX);
            document::document(kind, &live_parts(standing), &data)
        }
    }
}

/// The parts of a running test's page: those of its report, its progress, and current values among its figures.
#[must_use]
pub fn live_parts(standing: Standing<'_>) -> Vec<Part> {
    let mut parts = parts_at(standing);
    parts.push(part("progress", |html| {
        progress::write(html, standing.result);
    }));
    parts
}

/// The parts of a report, from the verdict to the plan.
#[must_use]
pub fn parts(result: &RunResult) -> Vec<Part> {
    parts_at(Standing { result, now: None })
}

fn parts_at(Standing { result, now }: Standing<'_>) -> Vec<Part> {
    type Write = fn(&mut Html, &RunResult);
    let all: [(&'static str, Write); 15] = [
        ("title", setting::title),
        ("verdict", verdict::write),
        ("thresholds", verdict::thresholds),
        ("checks", measured::checks),
        ("latency", latency::write),
        ("errors", answers::errors),
        ("answers", answers::write),
        (
            "names",
            if now.is_some() {
                names::write_now
            } else {
                names::write
            },
        ),
        ("metrics", measured::metrics),
        ("scenarios", setting::scenarios),
        ("observed", observed::write),
        ("generator", setting::generator),
        ("agents", setting::agents),
        ("environment", setting::environment),
        ("plan", setting::plan),
    ];
    let mut parts: Vec<Part> = all
        .into_iter()
        .map(|(id, write)| part(id, |html| write(html, result)))
        .collect();
    parts.push(part("figures", |html| figures::write(html, result, now)));
    parts
}

fn part(id: &'static str, write: impl FnOnce(&mut Html)) -> Part {
    let mut html = Html::default();
    write(&mut html);
    Part {
        id,
        html: html.finish(),
    }
}

/// All chart data of a page, as JSON.
#[must_use]
pub fn chart_data(result: &RunResult) -> String {
    data::of_result(result, usize::MAX)
}

/// One more row with what observers saw in it, and all marks, as JSON, for existing charts. `result`: the run
/// so far.
#[must_use]
pub fn chart_row(row: &Row, result: &RunResult) -> String {
    data::of_row(row, result)
}
