//! The options of `loadline sweep`.
//!
//! Must not know their effects. Invariant: one declaration per option.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};
use loadline_suite::sweep::Values;

use super::probing::ProbingArgs;
use super::values;

/// The options of `loadline sweep`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("axis").required(true)))]
pub struct SweepArgs {
    /// Open model: rates to try, per second
    ///
    /// A list (100,200,400), a range with a step (100..2000/100) or a factor (100..6400*2), or both
    /// joined by commas.
    #[arg(long, value_name = "RATES", group = "axis", value_parser = loads)]
    pub rates: Option<Values>,
    /// Closed model: numbers of VUs to try, written like rates
    #[arg(long, value_name = "VUS", group = "axis", value_parser = loads)]
    pub concurrency: Option<Values>,
    /// Duration of each measurement
    #[arg(short = 'z', visible_short_alias = 'd', long, value_name = "DURATION", default_value = "20s",
        value_parser = values::positive_duration)]
    pub duration: Duration,
    /// Warm-up before each measurement, left out of the results
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub warm_up: Duration,
    /// Pause between two loads, for the target to recover
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = values::duration)]
    pub pause: Duration,
    /// Print the table as Markdown
    #[arg(long)]
    pub markdown: bool,
    /// Write the table to a CSV file
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// Write the load curve to DIR as SVG and PNG
    #[arg(long, value_name = "DIR")]
    pub charts: Option<PathBuf>,
    /// What is loaded, and how.
    #[command(flatten)]
    pub probing: ProbingArgs,
}

const EXAMPLES: &str = "\
Examples:
  loadline sweep --rates 100..2000/100 http://localhost:8080/
      twenty rates, 20 s each: throughput, response times, and the knee
  loadline sweep --concurrency 1..256*2 --charts charts http://localhost:8080/
      how throughput scales with VUs, and the best number by the Universal Scalability Law
  loadline sweep --rates 10,20,50,100 --markdown -q checkout.js -- -e HOST=staging
      a k6 script at four rates, as a Markdown table

Exit codes: 0 success, 1 no request was answered, 104 invalid command line,
105 stopped by a signal, with the results so far.";

fn loads(text: &str) -> Result<Values, String> {
    text.parse()
        .map_err(|error: loadline_model::TextError| error.to_string())
}
