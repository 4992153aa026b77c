//! The line that accounts for every request: planned, sent, answered, failed, never answered.
//!
//! Must not know layout. Invariant: the numbers add up, or the line says that they do not.

use loadline_model::snapshot::Counts;
use loadline_model::{ErrorClass, RunResult};

use crate::page::bound;
use crate::units::count;

/// The line, without its label; to be wrapped.
pub(crate) fn line(result: &RunResult) -> String {
    line_with(result, "never answered")
}

/// The same for a run that goes on: what it cuts short if it ends now is in flight.
pub(crate) fn line_so_far(result: &RunResult) -> String {
    line_with(result, "in flight")
}

fn line_with(result: &RunResult, unanswered: &str) -> String {
    let totals = &result.totals;
    let (counts, warm_up) = (&totals.seen.counts, &totals.seen.warm_up);
    let whole = totals.seen.whole();
    let lost = match result.agents.is_empty() {
        true => "of unknown outcome",
        false => "lost with an agent",
    };
    let mut parts = Vec::new();
    // What a script or an open group plans are iterations, each of any number of requests: the line names both.
    let plans_iterations = result.plan.sends_several() && totals.asked.is_some();
    let (iterations, requests) = match result.plan.script.is_some() || plans_iterations {
        true => ("iterations ", "requests "),
        false => ("", ""),
    };
    if let Some(asked) = totals.asked {
        parts.push(format!("{iterations}planned {}", count(asked)));
    }
    parts.push(format!("{requests}sent {}", count(whole.started)));
    parts.push(format!("answered {}", count(whole.completed)));
    let failed = count(whole.failed_total());
    parts.push(format!("failed {failed}{}", by_class(&whole)));
    for (of, what, number) in [
        ("", unanswered, whole.interrupted),
        ("", lost, whole.lost),
        (iterations, "dropped", whole.dropped),
        (iterations, "never started", totals.never_started),
    ] {
        if number > 0 {
            parts.push(format!("{of}{what} {}", count(number)));
        }
    }
    if warm_up.started > 0 {
        parts.push(format!(
            "{} of those sent in the warm-up",
            count(warm_up.started)
        ));
    }
    let parts: Vec<String> = parts.iter().map(|part| bound(part)).collect();
    let mut line = parts.join(" · ");
    if !(counts.is_conserved() && warm_up.is_conserved()) {
        line.push_str(" - this does not add up, which is a defect of loadline: please report it");
    }
    line
}

fn by_class(whole: &Counts) -> String {
    let classes: Vec<String> = ErrorClass::ALL
        .iter()
        .zip(whole.failed)
        .filter(|(_, sum)| *sum > 0)
        .map(|(class, sum)| format!("{} {}", class.name(), count(sum)))
        .collect();
    if classes.is_empty() {
        String::new()
    } else {
        format!(" ({})", classes.join(", "))
    }
}
