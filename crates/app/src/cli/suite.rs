//! The options of `loadline suite`.
//!
//! Must not know suites. Invariant: one declaration per option.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Options of `loadline suite`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
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
