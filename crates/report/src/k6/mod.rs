//! Everything that k6 prints about a test: its description, its progress and its summary, as text and as data;
//! and the table by values of a tag, which k6 does not have.
//!
//! Layouts, numbers and shapes were measured on k6 v2.2.0. Must not know clocks, terminals or files: the caller
//! provides times, colours and destinations. Invariant: no test, however empty, makes a summary fail.

pub mod by_tag;
mod data;
mod describe;
mod export;
mod json_text;
mod legacy;
mod number;
mod order;
mod paint;
mod progress;
mod rest;
mod rows;
mod stats;
mod text;
mod trace;

use loadline_model::TestSummary;

pub use by_tag::by_tag;
pub use data::{HandleSummaryContext, handle_summary_data};
pub use describe::{ScenarioDescription, TestDescription, header};
pub use export::{MachineSummaryContext, machine_readable, summary_export};
pub use json_text::indented;
pub use number::SummaryTimeUnit;
pub use progress::{ProgressState, ScenarioProgress, ScenarioStatus, TestPhase, block, progress};
pub use rest::{group_document, groups_document, metric_document, metrics_document};
pub use stats::{TrendStat, UnknownStat};
pub use trace::{RequestTrace, TraceOutcome, check_trace, request_trace};

/// The layout of the text summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Totals, without the parts of requests.
    #[default]
    Compact,
    /// Every metric, and sections for scenarios and groups.
    Full,
    /// The layout of k6 before version 1.
    Legacy,
}

/// Settings of the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOptions {
    /// The layout.
    pub mode: Mode,
    /// Statistics of trends, in the order shown; k6's six.
    pub trend_stats: Vec<TrendStat>,
    /// The unit of all times; `None`: each in the unit that fits it.
    pub time_unit: Option<SummaryTimeUnit>,
    /// Whether escape sequences for colours are written.
    pub colour: bool,
}

impl Default for SummaryOptions {
    fn default() -> SummaryOptions {
        SummaryOptions {
            mode: Mode::Compact,
            trend_stats: TrendStat::defaults(),
            time_unit: None,
            colour: false,
        }
    }
}

/// The text of the summary, as returned by `textSummary(data)`.
#[must_use]
pub fn text(summary: &TestSummary, options: &SummaryOptions) -> String {
    match options.mode {
        Mode::Compact | Mode::Full => text::render(summary, options),
        Mode::Legacy => legacy::render(summary, options),
    }
}

/// The summary for standard output if the script does not handle it: with an empty line before and after.
#[must_use]
pub fn stdout(summary: &TestSummary, options: &SummaryOptions) -> String {
    format!("\n{}\n\n", text(summary, options))
}
