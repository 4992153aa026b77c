//! Options common to the commands that apply one load after another to a target: `capacity` and `sweep`.
//!
//! Must not know their effects. Invariant: one declaration per option.

use std::time::Duration;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command};
use loadline_model::Check;

use super::bench::{Arrivals, BodyArgs, ConnectionArgs, ObserveArgs, RequestArgs, TlsArgs};
use super::values;

/// What is loaded, and how.
#[derive(Args, Debug)]
pub struct ProbingArgs {
    /// URL to request, a k6 script (.js, .mjs, .ts, or an archive .tar), or a JMeter plan (.jmx)
    #[arg(value_name = "URL|SCRIPT|PLAN")]
    pub target: String,
    /// Flags of `loadline run` for a script or a plan, after --
    #[arg(last = true, value_name = "FLAGS")]
    pub script_flags: Vec<String>,
    /// Who sends.
    #[command(flatten)]
    pub users: UserArgs,
    /// What is sent.
    #[command(flatten)]
    pub request: RequestArgs,
    /// The body.
    #[command(flatten)]
    pub body: BodyArgs,
    /// How connections are made.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// How TLS is spoken.
    #[command(flatten)]
    pub tls: TlsArgs,
    /// What is observed beside the load.
    #[command(flatten)]
    pub observe: ObserveArgs,
    /// What is told.
    #[command(flatten)]
    pub told: ToldArgs,
    /// The given options that only a URL has.
    #[arg(skip)]
    pub of_urls: Vec<String>,
}

/// The options on a command line that only a URL has.
pub(super) fn given_of_urls(given: &ArgMatches) -> Vec<String> {
    let all = RequestArgs::augment_args(Command::new("of URLs"));
    let all = TlsArgs::augment_args(ConnectionArgs::augment_args(BodyArgs::augment_args(all)));
    let is_given =
        |arg: &&Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let longs = all
        .get_arguments()
        .filter(is_given)
        .filter_map(Arg::get_long);
    longs.map(|long| format!("--{long}")).collect()
}

/// Who sends.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct UserArgs {
    /// Open model: connections (for a script: VUs) allocated before the start
    #[arg(short = 'c', long, value_name = "N", default_value = "50", value_parser = values::vus)]
    pub connections: u32,
    /// Open model: maximum VUs [default: twice what the rate needs at the objective's response time, or at
    /// 1 s]
    #[arg(long, value_name = "N", value_parser = values::vus)]
    pub max_vus: Option<u32>,
    /// Open model: how arrivals are spaced
    #[arg(long, value_name = "LAW", default_value = "even")]
    pub arrivals: Arrivals,
    /// Open model: batch request starts in windows of this length
    #[arg(long, value_name = "DURATION", default_value = "200us", value_parser = values::duration)]
    pub start_window: Duration,
    /// Time for running requests to finish after each load
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub graceful_stop: Duration,
    /// Script function to run [default: the default export]
    #[arg(long, value_name = "FUNCTION")]
    pub exec: Option<String>,
    /// Worker threads [default: available cores]
    #[arg(long, value_name = "N", value_parser = values::few)]
    pub workers: Option<u32>,
    /// Random seed for arrivals, templates and order [default: random]
    #[arg(long, value_name = "N", value_parser = values::whole)]
    pub seed: Option<u64>,
}

/// What is told.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct ToldArgs {
    /// Check that a response must pass to count as goodput (repeatable) [default: status 200 to 399]
    #[arg(long, value_name = "CHECK", value_parser = Check::parse)]
    pub expect: Vec<Check>,
    /// Write all results as JSON to a file; - writes only the JSON to standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Hide the progress
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// Disable colors
    #[arg(long)]
    pub no_color: bool,
}
