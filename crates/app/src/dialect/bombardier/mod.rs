//! bombardier 2.0: `bombardier [<flags>] <url>`.
//!
//! Must not know the layout of its report. Invariant: every flag of the tool is accepted, with its meaning.

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
    /// The line that describes the test.
    pub intro: bool,
    /// The bar.
    pub progress: bool,
    /// The report.
    pub result: bool,
}

/// The format of the result.
#[derive(Debug)]
pub enum Format {
    /// The report for people.
    PlainText,
    /// One line of JSON.
    Json,
    /// A Go template.
    Template(ReportTemplate),
}

/// The meaning of a bombardier command line.
#[derive(Debug)]
pub struct Job {
    /// The plan.
    pub plan: TestPlan,
    /// The parts of the command line that reports repeat.
    pub spec: Spec,
    /// Which parts are printed.
    pub print: Print,
    /// The format of the result.
    pub format: Format,
    /// Whether the verdict follows; disabled by `--no-verdict`, which is loadline's own flag.
    pub verdict: bool,
    /// Observers of the system under test, as written; `--observe` is loadline's own flag.
    pub observe: Vec<String>,
}

/// Parses a command line without the program's name.
///
/// # Errors
/// The tool's refusals, on standard output with exit code 1, as in the tool.
pub fn parse(arguments: &[String], files: &Files, seed: u64) -> Result<Job, Ending> {
    let flags = flags::Flags::read(arguments, files)?;
    plan::job(&flags, files, seed)
}

#[cfg(test)]
mod tests;
