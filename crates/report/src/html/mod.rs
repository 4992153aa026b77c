//! Results as pages: the report in one self-contained file, and the page that shows a run while it
//! goes on. Both are the same sections and the same charts.
//!
//! Must not know files, sockets or clocks: whoever serves or stores a page does that. Invariants:
//! nothing on a page asks for anything outside of it, and whatever a result holds is text on a page,
//! never markup.

mod answers;
mod civil;
mod data;
mod document;
mod figures;
mod latency;
mod lines;
mod markup;
mod measured;
mod names;
mod observed;
mod setting;
mod verdict;

use loadline_model::event::Mark;
use loadline_model::result::Row;
use loadline_model::{Observations, RunResult};

use crate::describe;

use document::Kind;
use markup::Html;

/// One part of a page, which stands at an element of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The element's `id`.
    pub id: &'static str,
    /// What is in it, as markup; empty: the result has nothing to say here, and the part is hidden.
    pub html: String,
}

/// Bytes of a report: what is sent by mail and opened on a telephone.
const REPORT_MAX: usize = 1_000_000;

/// The report in one file: open it, print it, pass it on.
#[must_use]
pub fn report(result: &RunResult) -> String {
    let title = describe::title(&result.plan, &result.environment.command);
    let (kind, parts) = (Kind::Report(&title), parts(result));
    let room = REPORT_MAX.saturating_sub(document::document(kind, &parts, "").len());
    document::document(kind, &parts, &data::of_result(result, room))
}

/// What a page of a running test is told of it besides the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steering {
    /// Whether the run can be paused and resumed: whether a scenario is controlled from outside.
    pub can_pause: bool,
    /// A word that no other page has, for the page's own scripts; from a source that cannot be guessed.
    pub nonce: String,
}

/// The page of a run that goes on: it asks the server that it came from for `events`, and orders
/// with `POST command/…`.
#[must_use]
pub fn live(steering: &Steering) -> String {
    document::document(Kind::Live(steering), &[], &data::nothing())
}

/// The parts of a page, from the verdict to the plan, of a result that may be unfinished.
#[must_use]
pub fn parts(result: &RunResult) -> Vec<Part> {
    type Write = fn(&mut Html, &RunResult);
    let all: [(&'static str, Write); 16] = [
        ("title", setting::title),
        ("verdict", verdict::write),
        ("figures", figures::write),
        ("thresholds", verdict::thresholds),
        ("checks", measured::checks),
        ("latency", latency::write),
        ("errors", answers::errors),
        ("answers", answers::write),
        ("names", names::write),
        ("metrics", measured::metrics),
        ("scenarios", setting::scenarios),
        ("observed", observed::write),
        ("generator", setting::generator),
        ("agents", setting::agents),
        ("environment", setting::environment),
        ("plan", setting::plan),
    ];
    let written = all.into_iter().map(|(id, write)| {
        let mut html = Html::default();
        write(&mut html, result);
        Part {
            id,
            html: html.finish(),
        }
    });
    written.collect()
}

/// All that the charts of a page are drawn of, as JSON.
#[must_use]
pub fn chart_data(result: &RunResult) -> String {
    data::of_result(result, usize::MAX)
}

/// One more row, the marks since the last one and what observers saw in it, as JSON, for charts that are there already.
#[must_use]
pub fn chart_row(row: &Row, is_script: bool, marks: &[Mark], seen: &Observations) -> String {
    data::of_row(row, is_script, marks, seen)
}
