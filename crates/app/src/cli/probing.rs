//! Options that the commands share which put one load after another on a target: `capacity` and `sweep`.
//!
//! Must not know what they lead to. Invariant: one declaration per option.

use std::time::Duration;

use clap::Args;
use loadline_model::Check;

use super::bench::{Arrivals, BodyArgs, ConnectionArgs, ObserveArgs, RequestArgs, TlsArgs};
use super::values;

/// What is loaded, and how.
#[derive(Args, Debug)]
pub struct ProbingArgs {
    /// URL to request, a k6 script (.js, .mjs, .ts, or an archive .tar), or a JMeter plan (.jmx)
    #[arg(value_name = "URL|SCRIPT|PLAN")]
    pub target: String,
    /// Flags of `loadline run` for a script or a plan, behind --
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
}

/// Who sends.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct UserArgs {
    /// Open model: connections (of a script: virtual users) that are made before the start
    #[arg(short = 'c', long, value_name = "N", default_value = "50", value_parser = values::vus)]
    pub connections: u32,
    /// Open model: virtual users at most [default: twice as many as the objectives or a second would
    /// need at the rate]
    #[arg(long, value_name = "N", value_parser = values::vus)]
    pub max_vus: Option<u32>,
    /// Open model: how arrivals lie between the instants that the rate gives
    #[arg(long, value_name = "LAW", default_value = "even")]
    pub arrivals: Arrivals,
    /// Open model: starts may be bunched into windows of this length
    #[arg(long, value_name = "DURATION", default_value = "200us", value_parser = values::duration)]
    pub start_window: Duration,
    /// Time that running and waiting requests get to end after each load
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub graceful_stop: Duration,
    /// Of a script: the function that is run [default: the default one]
    #[arg(long, value_name = "FUNCTION")]
    pub exec: Option<String>,
    /// Worker threads [default: the cores that this process may use]
    #[arg(long, value_name = "N", value_parser = values::few)]
    pub workers: Option<u32>,
    /// Seed of everything random: arrivals, templates, order [default: another one each time]
    #[arg(long, value_name = "N", value_parser = values::whole)]
    pub seed: Option<u64>,
}

/// What is told.
#[derive(Args, Debug)]
#[command(next_help_heading = "Results")]
pub struct ToldArgs {
    /// What an answer must satisfy to count as good (repeatable) [default: a status from 200 to 399]
    #[arg(long, value_name = "CHECK", value_parser = Check::parse)]
    pub expect: Vec<Check>,
    /// Write everything as JSON to a file; - writes it, and nothing else, to standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// No progress
    #[arg(short = 'q', long)]
    pub quiet: bool,
    /// No colours
    #[arg(long)]
    pub no_color: bool,
}
