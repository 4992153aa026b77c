//! hey 0.1.5: `hey [options...] <url>`.
//!
//! Must not know how its report looks. Invariant: every flag of the tool is taken with its meaning;
//! what the tool does wrong by its own help (a lost -a, results beyond a million) is not.

mod flags;
mod plan;
mod usage;

use loadline_model::TestPlan;
use loadline_report::hey::ReportTemplate;

use crate::{Ending, Files};

/// What `-o` asks for.
#[derive(Debug)]
pub enum Output {
    /// The report for people.
    Summary,
    /// One row for each answer.
    Csv,
    /// A Go template over the report.
    Template(ReportTemplate),
}

/// What a hey command line asks for.
#[derive(Debug)]
pub struct Job {
    /// What runs.
    pub plan: TestPlan,
    /// What is printed.
    pub output: Output,
    /// What the verdict says of the plan.
    pub notes: Vec<String>,
    /// Whether the verdict follows; off with `--no-verdict`, which is ours.
    pub verdict: bool,
    /// Observers of the system under test as written; `--observe` is ours.
    pub observe: Vec<String>,
}

/// Reads a command line, the program's name not included.
///
/// # Errors
/// The tool's refusals with its exit codes: 1 for a value that it checks itself, 2 for its flag
/// parser's.
pub fn parse(arguments: &[String], files: &Files, seed: u64) -> Result<Job, Ending> {
    let flags = flags::Flags::read(arguments)?;
    plan::job(&flags, files, seed)
}

#[cfg(test)]
mod tests;
