//! The latency distribution and its histogram.
//!
//! Must not know phases. Invariant: service and response time stand side by side in an open model, and a
//! percentile based on few values is marked.

use loadline_metric::TimeTrend;
use loadline_model::RunResult;

use super::{response_time, service_time};
use crate::chart;
use crate::page::Page;
use crate::percentiles;
use crate::units::{count, counted, share, span, span_or_dash};

pub(super) fn distribution(page: &mut Page, result: &RunResult) {
    let service = service_time(result);
    if service.is_empty() {
        return;
    }
    let response = response_time(result);
    let remark = match &response {
        Some(_) => format!(
            "of {}; response from the scheduled start",
            counted(service.count(), "request")
        ),
        None => format!(
            "of {}, from start to last byte",
            counted(service.count(), "request")
        ),
    };
    let title = if response.is_some() {
        "Service and response time"
    } else {
        "Service time"
    };
    page.section(title, &remark);
    let trends: Vec<&TimeTrend> = std::iter::once(&service).chain(&response).collect();
    let mut rows = vec![line("fastest", &trends, |t| t.min().map(|ns| ns as f64))];
    rows.push(line("mean", &trends, TimeTrend::mean));
    let mut marked = false;
    for shown in percentiles::of(service.count()) {
        marked |= shown.is_guess;
        rows.push(line(&shown.name, &trends, |t| t.quantile(shown.quantile)));
    }
    rows.push(line("max", &trends, |t| t.max().map(|ns| ns as f64)));
    let head: &[&str] = if response.is_some() {
        &["", "service", "response"]
    } else {
        &[]
    };
    page.table(if response.is_some() { "<>>" } else { "<>" }, head, &rows);
    if marked {
        let line = page.style.faint("  * fewer than 10 values lie beyond it");
        page.line(&line);
    }
}

fn line(name: &str, trends: &[&TimeTrend], of: impl Fn(&TimeTrend) -> Option<f64>) -> Vec<String> {
    let mut cells = vec![format!("{name:<9}")];
    cells.extend(
        trends
            .iter()
            .map(|trend| format!("{:>10}", span_or_dash(of(trend)))),
    );
    cells
}

/// Bars are this many cells on a page of 100 columns, fewer on a narrower one.
const BAR_CELLS: usize = 40;
const BAR_MARGINS: usize = 44;

/// Number of requests by duration.
#[derive(Clone, Debug)]
pub struct TimesHistogram {
    /// What is shown: `response time` or `service time`.
    pub of: &'static str,
    /// Requests in all.
    pub count: u64,
    /// Upper bounds in nanoseconds, which are round, with the requests up to each that are above the one before.
    pub rows: Vec<(f64, u64)>,
}

impl TimesHistogram {
    /// The histogram of a run's response time, or in a closed model of its service time; `None`: it would show
    /// no shape.
    #[must_use]
    pub fn of(result: &RunResult) -> Option<TimesHistogram> {
        let (trend, of) = match response_time(result) {
            Some(response) => (response, "response time"),
            None => (service_time(result), "service time"),
        };
        let (min, max) = (trend.min()?, trend.max()?);
        if trend.count() < 2 || min == max {
            return None;
        }
        let p99 = trend.quantile(0.99).unwrap_or(max as f64);
        let bounds = chart::round_bounds(min as f64, p99, max as f64);
        let counts = trend.counts_per_bound(&bounds);
        Some(TimesHistogram {
            of,
            count: trend.count(),
            rows: bounds.into_iter().zip(counts).collect(),
        })
    }

    /// The rows as shown: `None` stands for several without requests.
    #[must_use]
    pub fn shown(&self) -> Vec<Option<(f64, u64)>> {
        let mut shown = Vec::new();
        for rows in self.rows.chunk_by(|one, next| one.1 == 0 && next.1 == 0) {
            match rows {
                [row] => shown.push(Some(*row)),
                _ => shown.push(None),
            }
        }
        shown
    }

    /// The maximum number of requests in a row.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.rows.iter().map(|row| row.1).max().unwrap_or(0)
    }
}

pub(super) fn histogram(page: &mut Page, result: &RunResult) {
    let Some(shape) = TimesHistogram::of(result) else {
        return;
    };
    let most = shape.most();
    page.section("Histogram", &format!("of {}", shape.of));
    let head = page.style.faint(&format!(
        "  {:>10} {:>12} {:>9}",
        "up to", "requests", "share"
    ));
    page.line(&head);
    let cells = page
        .style
        .columns()
        .saturating_sub(BAR_MARGINS)
        .min(BAR_CELLS);
    for row in shape.shown() {
        let Some((bound, number)) = row else {
            let gap = page.style.faint(&format!("  {:>10}", "⋮"));
            page.line(&gap);
            continue;
        };
        let figures = format!(
            "  {:>10} {:>12} {:>9}",
            span(bound),
            count(number),
            share(number, shape.count)
        );
        let bar = page.style.accent(&chart::bar(number, most, cells));
        page.line(&format!("{figures}  {bar}"));
    }
}
