//! Live progress: a block for a terminal that is redrawn every second, and one plain line for a pipe.
//!
//! Must not know terminals or clocks: elapsed time is an argument. Invariant: constant size, however long the
//! run.

use std::collections::VecDeque;
use std::time::Duration;

use loadline_model::result::Row;
use loadline_model::snapshot::Counts;
use loadline_model::{RunResult, TestPlan};

use crate::chart;
use crate::page::cut;
use crate::style::Style;
use crate::units::{count, counted, planned, rate, span};

/// Seconds that the sparkline looks back.
const LOOK_BACK: usize = 60;
/// The narrowest terminal whose lines do not run over, in columns.
const WIDTH_MIN: usize = 20;
/// The shortest bar, in cells.
const BAR_MIN: usize = 10;

/// The data of the progress: totals, and the last rows.
#[derive(Clone, Debug)]
pub struct Progress {
    planned_requests: Option<u64>,
    planned_time: Option<Duration>,
    is_open: bool,
    elapsed_ns: u64,
    completed: u64,
    good: u64,
    failed: u64,
    dropped: u64,
    rows: VecDeque<Row>,
}

impl Progress {
    /// The progress before the start of a plan.
    #[must_use]
    pub fn new(plan: &TestPlan) -> Progress {
        let counts: Option<Vec<u64>> = plan
            .scenarios
            .iter()
            .map(|s| s.planned_iterations())
            .collect();
        Progress {
            planned_requests: counts.map(|counts| counts.iter().sum()),
            planned_time: plan.duration(),
            is_open: plan.is_open(),
            elapsed_ns: 0,
            completed: 0,
            good: 0,
            failed: 0,
            dropped: 0,
            rows: VecDeque::with_capacity(LOOK_BACK),
        }
    }

    /// The progress of a running test. A script plans iterations, which are not counted here, so only a time
    /// shows its length.
    pub(crate) fn so_far(result: &RunResult) -> Progress {
        let (plan, totals) = (&result.plan, &result.totals);
        let counts = [&totals.seen.counts, &totals.seen.warm_up];
        let sum = |of: fn(&Counts) -> u64| counts.iter().map(|counts| of(counts)).sum();
        let mut progress = Progress {
            elapsed_ns: totals.elapsed_ns,
            completed: sum(|counts| counts.completed),
            good: sum(|counts| counts.good),
            failed: sum(Counts::failed_total),
            dropped: sum(|counts| counts.dropped),
            ..Progress::new(plan)
        };
        if plan.sends_several()
            && plan
                .scenarios
                .iter()
                .any(|s| s.planned_iterations().is_some())
        {
            progress.planned_requests = None;
            progress.planned_time = None;
        }
        progress
    }

    /// Adds a second of the run.
    pub fn add(&mut self, row: &Row) {
        self.elapsed_ns = row.at_ns.saturating_add(row.span_ns);
        self.completed += row.completed;
        self.good += row.good;
        self.failed += row.failed;
        self.dropped += row.dropped;
        if self.rows.len() == LOOK_BACK {
            self.rows.pop_front();
        }
        self.rows.push_back(row.clone());
    }

    /// The completed share, from 0 to 1; `None` if only a signal ends the run. If a count and a time may end
    /// it, the larger share counts.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let by_count = self
            .planned_requests
            .map(|planned| self.done() as f64 / planned.max(1) as f64);
        let by_time = self
            .planned_time
            .filter(|time| !time.is_zero())
            .map(|time| self.elapsed_ns as f64 / time.as_nanos() as f64);
        let share = match (by_count, by_time) {
            (Some(count), Some(time)) => count.max(time),
            (count, time) => count.or(time)?,
        };
        Some(share.clamp(0.0, 1.0))
    }

    fn done(&self) -> u64 {
        self.completed + self.failed
    }

    /// Nanoseconds until the end, as far as is known.
    pub(crate) fn left_ns(&self) -> Option<f64> {
        let share = self.share().filter(|share| *share > 0.0)?;
        Some(self.elapsed_ns as f64 * (1.0 - share) / share)
    }

    pub(crate) fn extent(&self) -> String {
        let elapsed = planned(Duration::from_secs(self.elapsed_ns / 1_000_000_000));
        match (self.planned_requests, self.planned_time) {
            (Some(requests), _) => format!("{} / {} requests", count(self.done()), count(requests)),
            (None, Some(time)) => format!("{elapsed} / {}", planned(time)),
            (None, None) => format!("{elapsed}, until stopped"),
        }
    }

    /// Rate, p50 and p99 of the last row.
    fn now(&self) -> Vec<String> {
        let Some(row) = self.rows.back() else {
            return vec!["starting".to_owned()];
        };
        let per_second = |number: u64| rate(row.per_second(number).unwrap_or_default());
        let mut parts = vec![per_second(row.completed)];
        if let Some(offered) = row.offered {
            parts.push(format!("offered {}", per_second(offered)));
        }
        if let Some(times) = row.response_time_ns.or(row.service_time_ns) {
            let name = if self.is_open { "response " } else { "" };
            parts.push(format!("{name}p50 {}", span(times.p50 as f64)));
            parts.push(format!("p99 {}", span(times.p99 as f64)));
        }
        parts
    }

    /// Busy virtual users of the last row, and arrivals that wait for one.
    fn vus(&self) -> Vec<String> {
        let Some(row) = self.rows.back() else {
            return Vec::new();
        };
        let mut parts = vec![format!("{} busy", counted(row.active_vus, "VU"))];
        if row.waiting > 0 {
            parts.push(format!("{} waiting", count(row.waiting)));
        }
        parts
    }

    fn sums(&self) -> Vec<String> {
        let mut parts = vec![format!("{} answered", count(self.completed))];
        if self.good < self.completed {
            parts.push(format!("{} not good", count(self.completed - self.good)));
        }
        if self.failed > 0 {
            parts.push(format!("{} failed", count(self.failed)));
        }
        if self.dropped > 0 {
            parts.push(format!("{} dropped", count(self.dropped)));
        }
        parts
    }
}

/// Several lines for a terminal, each with a line end. None is wider than the terminal, or the next block would not
/// cover this one.
#[must_use]
pub fn block(progress: &Progress, style: &Style) -> String {
    let width = style.width.max(WIDTH_MIN);
    let mut lines = vec![first_line(progress, width, *style)];
    lines.push(labelled("now", &progress.now(), width, *style));
    lines.push(labelled("", &progress.vus(), width, *style));
    let sums = labelled("so far", &progress.sums(), width, *style);
    lines.push(if progress.failed + progress.dropped > 0 {
        style.caution(&sums)
    } else {
        sums
    });
    let rates: Vec<f64> = progress
        .rows
        .iter()
        .skip((progress.rows.len() + 2).saturating_sub(width))
        .map(|row| row.per_second(row.completed).unwrap_or_default())
        .collect();
    lines.push(format!("  {}", style.accent(&chart::sparkline(&rates))));
    lines
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// How far the run is; the bar is left out if there is no room for it.
fn first_line(progress: &Progress, width: usize, style: Style) -> String {
    let left = match progress.left_ns() {
        Some(ns) if ns >= 0.5e9 => format!("{} left", span(ns)),
        _ => String::new(),
    };
    let extent = progress.extent();
    let percent = progress
        .share()
        .map_or_else(String::new, |share| format!("{:3.0} %", share * 100.0));
    let without_bar = format!("  {extent}   {percent}  {left}");
    if without_bar.chars().count() + BAR_MIN > width {
        return cut(without_bar.trim_end(), width);
    }
    let cells = width
        .saturating_sub(extent.chars().count() + 26)
        .clamp(BAR_MIN, 50);
    let bar = progress
        .share()
        .map_or_else(String::new, |share| bar(share, cells, style));
    format!("  {extent}  {bar} {percent}  {left}")
}

/// Parts in one line that is never wider than the page, or the block would jump.
fn labelled(label: &str, parts: &[String], width: usize, style: Style) -> String {
    let shown = cut(&parts.join("   "), width.saturating_sub(11));
    format!("  {} {shown}", style.faint(&format!("{label:<7}")))
}

fn bar(share: f64, cells: usize, style: Style) -> String {
    let full = (share * cells as f64).round() as usize;
    format!(
        "{}{}",
        style.accent(&"━".repeat(full)),
        style.faint(&"─".repeat(cells - full.min(cells)))
    )
}

/// One plain line without a line end, for a pipe.
#[must_use]
pub fn line(progress: &Progress) -> String {
    let mut parts = vec![planned(Duration::from_secs(
        progress.elapsed_ns / 1_000_000_000,
    ))];
    if progress.planned_requests.is_some() || progress.planned_time.is_some() {
        let percent = progress.share().unwrap_or(0.0) * 100.0;
        parts.push(format!("{percent:.0} % done"));
    }
    parts.extend(progress.now());
    parts.extend(progress.vus());
    parts.extend(progress.sums());
    if let Some(ns) = progress.left_ns().filter(|ns| *ns >= 0.5e9) {
        parts.push(format!("{} left", span(ns)));
    }
    parts.join(", ")
}
