//! The verdict as text: the block that ends every report, including those of the dialects.
//!
//! Must not judge; that is done before. Invariant: the conservation line and the headline are always there;
//! findings follow, most severe first.

use loadline_model::RunResult;
use loadline_model::verdict::{Finding, Gravity};

use crate::conservation;
use crate::page::Page;
use crate::style::Style;
use crate::units::span;

/// The block for use after the reports of the dialects. These show service time, so it adds the response time
/// of an open model.
#[must_use]
pub fn render(result: &RunResult, style: &Style) -> String {
    let mut page = Page::new(*style);
    page.section("Requests", "");
    page.paragraph("  ", 2, &conservation::line(result));
    response_time(&mut page, result);
    write(&mut page, result);
    page.finish()
}

/// Adds the block to a page.
pub(crate) fn write(page: &mut Page, result: &RunResult) {
    let verdict = &result.verdict;
    page.section("Verdict", "");
    page.paragraph("  ", 2, &verdict.headline);
    for finding in &verdict.findings {
        // A headline that is a finding is not repeated.
        if finding.text != verdict.headline {
            write_text(page, finding);
        }
        if let Some(advice) = &finding.advice {
            let arrow = page.style.accent("→");
            page.paragraph(&format!("    {arrow} "), 6, advice);
        }
    }
}

fn write_text(page: &mut Page, finding: &Finding) {
    let style = page.style;
    let mark = match finding.gravity {
        Gravity::Note => style.faint("·"),
        Gravity::Caution => style.caution("!"),
        Gravity::Alarm => style.alarm("✗"),
    };
    page.paragraph(&format!("  {mark} "), 4, &finding.text);
}

/// Open models: from the scheduled start, in addition to the service time in the report above.
fn response_time(page: &mut Page, result: &RunResult) {
    let response = &result.totals.seen.response_time;
    if response.is_empty() {
        return;
    }
    let service = result.totals.seen.service_time();
    let at = |trend: &loadline_metric::TimeTrend| {
        let wanted = trend.quantiles(&[0.5, 0.95, 0.99, 1.0]).unwrap_or_default();
        let texts = ["p50", "p95", "p99", "max"].iter().zip(wanted);
        texts
            .map(|(name, ns)| format!("{name} {}", span(ns)))
            .collect::<Vec<_>>()
            .join(" · ")
    };
    page.paragraph(
        "  ",
        2,
        &format!("response time, from the scheduled start: {}", at(response)),
    );
    page.paragraph(
        "  ",
        2,
        &format!("service time, from the actual send: {}", at(&service)),
    );
}
