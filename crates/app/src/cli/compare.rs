//! The options of `loadline compare`.
//!
//! Must not know how results are compared. Invariant: one declaration per option.

use std::path::PathBuf;

use clap::Args;
use loadline_report::compare::Condition;

/// Options of `loadline compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  loadline compare before.json after.json
  loadline compare before.json after.json --fail-if 'p99 +10%' --fail-if 'goodput -5%'
  loadline compare --group-by build old1.json old2.json old3.json new1.json new2.json new3.json
  loadline compare a.json b.json c.json --html comparison.html

Conditions: METRIC +AMOUNT (rose by more), METRIC -AMOUNT (fell by more), METRIC AMOUNT (either), against \
the first result. Metrics: goodput, rps, p50, p90, p95, p99, p99.9, max, mean, errors, failed, wrong, \
dropped, checks, cpu, cpu_per_request, rss, lag. Amounts: 10%, or in the metric's unit: 2ms, 50/s, 0.5pp, 10MB.

Exit codes: 0 success, 99 a condition was met, 104 invalid file or condition.")]
pub struct CompareArgs {
    /// JSON results or journals; the first is the baseline
    #[arg(required = true, num_args = 1.., value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Treat results with the same value of this label as repetitions
    #[arg(long, value_name = "LABEL")]
    pub group_by: Option<String>,
    /// Exit with code 99 if this condition is met (repeatable)
    #[arg(long, value_name = "CONDITION", value_parser = condition, allow_hyphen_values = true)]
    pub fail_if: Vec<Condition>,
    /// Write the comparison as a self-contained HTML page with overlaid charts
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print Markdown instead of tables for a terminal
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
    /// Print JSON instead of tables for a terminal
    #[arg(long)]
    pub json: bool,
    /// Disable colors
    #[arg(long)]
    pub no_color: bool,
}

fn condition(text: &str) -> Result<Condition, String> {
    text.parse()
        .map_err(|error: loadline_model::TextError| error.to_string())
}
