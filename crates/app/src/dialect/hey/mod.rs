//! hey 0.1.5: `hey [options...] <url>`.
//!
//! Must not know the layout of its report. Invariant: every flag of the tool is accepted, with its meaning;
//! errors of the tool according to its own help (a lost -a, results beyond a million) are not copied.

mod flags;
mod plan;
mod usage;

use loadline_model::TestPlan;
use loadline_report::hey::ReportTemplate;

use crate::{Ending, Files};

/// The output selected by `-o`.
#[derive(Debug)]
pub enum Output {
    /// The report for people.
    Summary,
    /// One row per response.
    Csv,
    /// A Go template for the report.
    Template(ReportTemplate),
}

/// The meaning of a hey command line.
#[derive(Debug)]
pub struct Job {
    /// The plan.
    pub plan: TestPlan,
    /// The output.
    pub output: Output,
    /// Notes about the plan in the verdict.
    pub notes: Vec<String>,
    /// Whether the verdict follows; disabled by `--no-verdict`, which is loadline's own flag.
    pub verdict: bool,
    /// Observers of the system under test, as written; `--observe` is loadline's own flag.
    pub observe: Vec<String>,
}

/// Parses a command line without the program's name.
///
/// # Errors
/// The tool's refusals with its exit codes: 1 for a value that it checks itself, 2 for those of its flag
/// parser.
pub fn parse(arguments: &[String], files: &Files, seed: u64) -> Result<Job, Ending> {
    let flags = flags::Flags::read(arguments)?;
    plan::job(&flags, files, seed)
}

#[cfg(test)]
mod tests;
