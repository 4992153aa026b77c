//! The progress of a run: elapsed, planned and remaining time, with a bar if its length is known.
//!
//! Must not know clocks. Invariant: a run that only ends with its responses or a command has no bar.

use loadline_model::RunResult;

use super::markup::Html;
use super::verdict::is_going_on;
use crate::progress::Progress;
use crate::units::span;

/// Nothing of a run that is over.
pub(super) fn write(html: &mut Html, result: &RunResult) {
    if !is_going_on(result) {
        return;
    }
    let progress = Progress::so_far(result);
    let left = progress.left_ns().filter(|ns| *ns >= 0.5e9);
    let left = left.map_or_else(String::new, |ns| format!(", {} left", span(ns)));
    if let Some(share) = progress.share() {
        let percent = format!("{:.1}", share * 100.0);
        html.between(
            "<progress max=\"100\" value=\"",
            &percent,
            "\" aria-label=\"done of the run\"></progress>",
        );
    }
    html.between("<span>", &format!("{}{left}", progress.extent()), "</span>");
}
