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

docs/suite.md describes the file; `suite schema` prints its JSON Schema for editors.

Exit codes: 0 success, 99 a row failed, 103 stopped through the REST API, 104 invalid file, 105 stopped by a signal, 255 anything else failed.")]
pub struct SuiteArgs {
    /// What to do with the suite.
    #[command(subcommand)]
    pub action: SuiteAction,
}

/// What to do with a suite.
#[derive(Subcommand, Debug)]
pub enum SuiteAction {
    /// Create a suite file that is ready to run
    ///
    /// Comments in the file say what you can change. If a local process listens on the target's port, the
    /// suite observes it.
    Init(Box<SuiteInitArgs>),
    /// Show the rows and their command lines without running anything
    #[command(after_help = "\
Examples:
  loadline suite plan matrix.yaml
  loadline suite plan --only login --json matrix.yaml")]
    Plan(SuitePlanArgs),
    /// Run the suite from its beginning
    #[command(after_help = "\
Examples:
  loadline suite run matrix.yaml
  loadline suite run --only login --fresh matrix.yaml")]
    Run(SuiteRunArgs),
    /// Resume the suite: run rows that are unfinished or have changed
    #[command(after_help = "\
Examples:
  loadline suite resume matrix.yaml
  loadline suite resume --failed matrix.yaml")]
    Resume(SuiteResumeArgs),
    /// Show the state of each row
    #[command(after_help = "\
Example:
  loadline suite status matrix.yaml")]
    Status(SuiteFileArgs),
    /// Write the documents from the results so far
    #[command(after_help = "\
Example:
  loadline suite render matrix.yaml")]
    Render(SuiteRenderArgs),
    /// Show where a cell of a document comes from
    #[command(after_help = "\
Examples:
  loadline suite explain matrix.yaml login 'Requests per second'
  loadline suite explain matrix.yaml login 2 --document RESULTS.md")]
    Explain(SuiteExplainArgs),
    /// Print the JSON Schema of suite files
    #[command(after_help = "\
Example:
  loadline suite schema > suite.schema.json")]
    Schema,
}

/// Which suite.
#[derive(Args, Debug)]
pub struct SuiteFileArgs {
    /// The suite file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// State directory [default: FILE with the extension .state]
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}

/// Where a suite's documents go.
#[derive(Args, Debug)]
pub struct SuiteDocumentsArgs {
    /// Directory of documents whose path is relative [default: FILE's]
    #[arg(long, value_name = "DIR")]
    pub documents: Option<PathBuf>,
}

/// Options of `loadline suite render`.
#[derive(Args, Debug)]
pub struct SuiteRenderArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// Where documents go.
    #[command(flatten)]
    pub documents: SuiteDocumentsArgs,
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
    /// URL, k6 script (.js, .ts), JMeter plan (.jmx) or testbed file (.yaml); on a terminal you are asked
    #[arg(value_name = "WHAT", conflicts_with = "command")]
    pub what: Option<String>,
    /// Command line of hey, bombardier, loadline bench or k6 run
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Suite file to write; - is standard output
    #[arg(short, long, value_name = "FILE", default_value = "suite.yaml")]
    pub output: String,
    /// Overwrite existing files
    #[arg(long)]
    pub force: bool,
    /// URL of the service under test, if the script, plan or command line does not name it
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Preset of columns for the table
    #[arg(long, value_name = "PRESET", value_parser = PossibleValuesParser::new(presets::names()))]
    pub preset: Option<String>,
    /// VUs, one row per number [default: 1,10,50 for a URL, else as in the load]
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..))]
    pub vus: Vec<u64>,
    /// Duration of each run [default: 10s for a URL, else as in the load]
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub duration: Option<std::time::Duration>,
    /// Runs per row [default: 3 for a URL, else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeat: Option<u32>,
    /// Write a preset's example and its testbed to a new directory
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
    /// Select a row by identity or name (repeatable)
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
    /// Select a row by identity or name (repeatable)
    #[arg(long, value_name = "ROW")]
    pub only: Vec<String>,
    /// Show what would run without running it
    #[arg(long)]
    pub dry_run: bool,
    /// Set aside earlier results in the state directory
    #[arg(long)]
    pub fresh: bool,
    /// Where documents go.
    #[command(flatten)]
    pub documents: SuiteDocumentsArgs,
    /// Who may end it.
    #[command(flatten)]
    pub ending: SuiteEndingArgs,
}

/// How a suite can be ended beside signals.
#[derive(Args, Debug)]
pub struct SuiteEndingArgs {
    /// Serve a REST API that can stop the suite: docs/control.md
    #[arg(long, value_name = "HOST:PORT")]
    pub address: Option<String>,
}

/// Options of `loadline suite resume`.
#[derive(Args, Debug)]
pub struct SuiteResumeArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// Select a row by identity or name (repeatable)
    #[arg(long, value_name = "ROW")]
    pub only: Vec<String>,
    /// Show what would run without running it
    #[arg(long)]
    pub dry_run: bool,
    /// Repeat runs that failed their gates, too
    #[arg(long)]
    pub failed: bool,
    /// Where documents go.
    #[command(flatten)]
    pub documents: SuiteDocumentsArgs,
    /// Who may end it.
    #[command(flatten)]
    pub ending: SuiteEndingArgs,
}

/// Options of `loadline suite explain`.
#[derive(Args, Debug)]
pub struct SuiteExplainArgs {
    /// Which suite.
    #[command(flatten)]
    pub suite: SuiteFileArgs,
    /// Row, by identity or name
    #[arg(value_name = "ROW")]
    pub row: String,
    /// Column, by title or number (from 1)
    #[arg(value_name = "COLUMN")]
    pub column: String,
    /// Document file [default: the first with this row and column]
    #[arg(long, value_name = "FILE")]
    pub document: Option<String>,
}
