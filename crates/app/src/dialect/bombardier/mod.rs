//! bombardier 2.0: `bombardier [<flags>] <url>`.
//!
//! Must not know how its report looks. Invariant: every flag of the tool is taken with its meaning.

mod fasthttp;
mod flags;
mod given;
mod plan;
mod usage;

use loadline_model::TestPlan;
use loadline_report::bombardier::{ReportTemplate, Spec};

use crate::{Ending, Files};

/// Which parts are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Print {
    /// The line that says what will be done.
    pub intro: bool,
    /// The bar.
    pub progress: bool,
    /// The report.
    pub result: bool,
}

/// How the result is printed.
#[derive(Debug)]
pub enum Format {
    /// The report for people.
    PlainText,
    /// One line of JSON.
    Json,
    /// A Go template.
    Template(ReportTemplate),
}

/// What a bombardier command line asks for.
#[derive(Debug)]
pub struct Job {
    /// What runs.
    pub plan: TestPlan,
    /// What the reports repeat of the command line.
    pub spec: Spec,
    /// Which parts are printed.
    pub print: Print,
    /// How the result is printed.
    pub format: Format,
    /// Whether the verdict follows; off with `--no-verdict`, which is ours.
    pub verdict: bool,
    /// Observers of the system under test as written; `--observe` is ours.
    pub observe: Vec<String>,
}

/// Reads a command line, the program's name not included.
///
/// # Errors
/// The tool's refusals, on standard output with exit code 1 as it gives them.
pub fn parse(arguments: &[String], files: &Files, seed: u64) -> Result<Job, Ending> {
    let flags = flags::Flags::read(arguments, files)?;
    plan::job(&flags, files, seed)
}

#[cfg(test)]
mod tests;
