//! The options of `loadline suite`.
//!
//! Must not know suites. Invariant: one declaration per option.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use loadline_suite::document::presets;

use super::values;

/// Options of `loadline suite`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  loadline suite init http://127.0.0.1:8080/
  loadline suite plan matrix.yaml
  loadline suite run matrix.yaml
  loadline suite resume matrix.yaml
  loadline suite render matrix.yaml
  loadline suite explain matrix.yaml scenario-1-3fa2c1 'Requests per second'

docs/suite.md describes the file; suite schema prints its JSON Schema for editors.

Exit codes: 0, 99 when a row failed, 104 when the file cannot be run, 105 when stopped by a signal, 255 when something
beside the rows failed.")]
pub struct SuiteArgs {
    /// What to do with the suite.
    #[command(subcommand)]
    pub action: SuiteAction,
}

/// What to do with a suite.
#[derive(Subcommand, Debug)]
pub enum SuiteAction {
    /// Write a first suite file, which runs as it is
    ///
    /// The file has comments that say what may be changed. What listens on the target's port of this machine is
    /// observed.
    Init(Box<SuiteInitArgs>),
    /// Show the rows and the command lines of their phases; nothing is run
    Plan(SuitePlanArgs),
    /// Run the suite from its beginning
    Run(SuiteRunArgs),
    /// Go on with the suite: run what is unfinished or has changed
    Resume(SuiteResumeArgs),
    /// Show how the rows stand
    Status(SuiteFileArgs),
    /// Write the documents of what was measured so far
    Render(SuiteFileArgs),
    /// Show where a cell of a document comes from
    Explain(SuiteExplainArgs),
    /// Print the JSON Schema of suite files
    Schema,
}

/// Which suite.
#[derive(Args, Debug)]
pub struct SuiteFileArgs {
    /// The suite file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The state folder [default: FILE with .state instead of its ending]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

/// Options of `loadline suite init`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  loadline suite init http://127.0.0.1:8080/
  loadline suite init script.js --target http://127.0.0.1:8080
  loadline suite init plan.jmx
  loadline suite init testbed.yaml --preset replicas
  loadline suite init -- hey -c 50 -z 10s http://127.0.0.1:8080/
  loadline suite init --example gateway")]
pub struct SuiteInitArgs {
    /// A URL, a k6 script (.js, .ts), a JMeter plan (.jmx) or a testbed file (.yaml); asked for on a terminal
    #[arg(value_name = "WHAT", conflicts_with = "command")]
    pub what: Option<String>,
    /// A command line as it was typed: hey, bombardier, loadline bench, k6 run
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Where the suite is written; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "suite.yaml")]
    pub output: String,
    /// Overwrite files that are there
    #[arg(long)]
    pub force: bool,
    /// URL of what is tested, where a script, a plan or a command line does not say it
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Ready columns of the table
    #[arg(long, value_name = "PRESET", value_parser = PossibleValuesParser::new(presets::names()))]
    pub preset: Option<String>,
    /// Virtual users, a row for each number [default: 1,10,50 for a URL; what the load says otherwise]
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub vus: Vec<u64>,
    /// Length of each run [default: 10s for a URL; what the load says otherwise]
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub duration: Option<std::time::Duration>,
    /// Runs of each row [default: 3 for a URL; 1 otherwise]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: Option<u32>,
    /// Write the example of a preset with its testbed, in a folder of its own
    #[arg(long, value_name = "PRESET", conflicts_with_all = ["what", "command", "preset", "target", "vus", "duration", "repeat"],
        value_parser = PossibleValuesParser::new(presets::names()))]
    pub example: Option<String>,
}

/// Options of `loadline suite plan`.
#[derive(Args, Debug)]
pub struct SuitePlanArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// This row alone, by its identity or name (repeatable)
    #[arg(long, value_name = "ROW")]
    pub only: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `loadline suite run`.
#[derive(Args, Debug)]
pub struct SuiteRunArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// This row alone, by its identity or name (repeatable)
    #[arg(long, value_name = "ROW")]
    pub only: Vec<String>,
    /// Show what would be run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Set aside what the state folder holds of earlier runs
    #[arg(long)]
    pub fresh: bool,
}

/// Options of `loadline suite resume`.
#[derive(Args, Debug)]
pub struct SuiteResumeArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// This row alone, by its identity or name (repeatable)
    #[arg(long, value_name = "ROW")]
    pub only: Vec<String>,
    /// Show what would be run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Make runs that failed their gates again, too
    #[arg(long)]
    pub failed: bool,
}

/// Options of `loadline suite explain`.
#[derive(Args, Debug)]
pub struct SuiteExplainArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// The row, by its identity or name
    #[arg(value_name = "ROW")]
    pub row: String,
    /// The column, by its title or its number from 1 on
    #[arg(value_name = "COLUMN")]
    pub column: String,
    /// The document, by its file [default: the first that has the row and the column]
    #[arg(long, value_name = "FILE")]
    pub document: Option<String>,
}
