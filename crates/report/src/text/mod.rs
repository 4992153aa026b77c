//! The terminal report of `loadline bench`: goodput first, the verdict last.
//!
//! Empty sections are omitted, so a short clean run has a short report. Must not know terminals. Invariant:
//! every rate says what it is an average or maximum of, every distribution how many values it has.

mod agents;
pub(crate) mod answers;
pub(crate) mod failures;
pub(crate) mod generator;
mod latency;
mod observed;
pub(crate) mod phases;
mod rates;

pub use latency::TimesHistogram;
use loadline_metric::TimeTrend;
use loadline_model::RunResult;
use loadline_model::result::StopReason;

use crate::page::Page;
use crate::style::Style;
use crate::{conservation, describe, verdict};

/// The whole report.
#[must_use]
pub fn render(result: &RunResult, style: &Style) -> String {
    let mut page = Page::new(*style);
    title(&mut page, result);
    rates::write(&mut page, result);
    rates::over_time(&mut page, result);
    latency::distribution(&mut page, result);
    latency::histogram(&mut page, result);
    phases::write(&mut page, result);
    answers::write(&mut page, result);
    failures::write(&mut page, result);
    answers::sources(&mut page, result);
    observed::write(&mut page, result);
    generator::write(&mut page, result);
    agents::write(&mut page, result);
    generator::thresholds(&mut page, result);
    page.section("Requests", "");
    page.paragraph("  ", 2, &conservation::line(result));
    verdict::write(&mut page, result);
    page.finish()
}

fn title(page: &mut Page, result: &RunResult) {
    page.section(
        &describe::title(&result.plan, &result.environment.command),
        "",
    );
    let load = describe::load(&result.plan);
    let style = page.style;
    for line in crate::page::wrap(&load, style.columns() - 2) {
        page.line(&format!("  {}", style.faint(&line)));
    }
    let Some(how) = how_ended(result.totals.stop) else {
        return;
    };
    let line = page.style.caution(&format!("  {how}"));
    page.line(&line);
}

/// How a run ended; `None` if as planned.
pub(crate) fn how_ended(stop: StopReason) -> Option<&'static str> {
    Some(match stop {
        StopReason::Finished => return None,
        StopReason::Interrupted => "stopped by a signal",
        StopReason::Aborted => "stopped at once by a second signal",
        StopReason::ThresholdCrossed => "stopped by a threshold",
        StopReason::Script => "ended by the script",
        StopReason::Remote => "stopped through the REST API or the live page",
        StopReason::ObserverLost => "ended because a required observer was lost",
        StopReason::Defect => "ended because a part of loadline crashed",
        StopReason::Crashed => "the process died; these figures are from its journal",
    })
}

/// The distribution of service time: answered and failed requests alike. Empty without a response: the times of failures
/// alone only show how a client gives up.
pub(crate) fn service_time(result: &RunResult) -> TimeTrend {
    match result.times("service_time_ns") {
        _ if !is_answered(result) => TimeTrend::default(),
        Some(metric) if metric.count > 0 => metric.histogram.clone(),
        _ => result.totals.seen.service_time(),
    }
}

/// The distribution of response time, likewise; `None` in a closed model.
pub(crate) fn response_time(result: &RunResult) -> Option<TimeTrend> {
    let trend = match result.metrics.get("response_time_ns") {
        Some(metric) => &metric.histogram,
        None => &result.totals.seen.response_time,
    };
    (!trend.is_empty()).then(|| match is_answered(result) {
        true => trend.clone(),
        false => TimeTrend::default(),
    })
}

fn is_answered(result: &RunResult) -> bool {
    result.totals.seen.counts.completed > 0
}
