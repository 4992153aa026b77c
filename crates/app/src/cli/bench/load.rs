//! Options: how much load, and for how long.
//!
//! Must not know executors. Invariant: one declaration per option.

use std::time::Duration;

use clap::{Args, ValueEnum};
use loadline_model::ArrivalRate;

use crate::cli::values::{self, Stages};

/// How much load, and for how long.
#[derive(Args, Debug)]
#[command(next_help_heading = "Load")]
pub struct LoadArgs {
    /// Connections, each with one virtual user (over HTTP/2: with --streams of them) [default: 50]
    #[arg(short = 'c', long, value_name = "N", value_parser = values::vus)]
    pub connections: Option<u32>,
    /// Stop after this many requests
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = values::positive_count)]
    pub requests: Option<u64>,
    /// Stop after this time; with -n whichever comes first [default: 10s when nothing else ends the
    /// run]
    #[arg(short = 'z', visible_short_alias = 'd', long, value_name = "DURATION",
        value_parser = values::positive_duration)]
    pub duration: Option<Duration>,
    /// Open model: requests due per second in all; also 0.5, 500/s, 30/m
    #[arg(short = 'r', long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<ArrivalRate>,
    /// Open model: virtual users at most; -c are made before the start [default: the larger of -c and
    /// the smaller of 10 x -c and rate x --timeout]
    #[arg(long, value_name = "N", value_parser = values::vus)]
    pub max_vus: Option<u32>,
    /// Ramp through stages: DURATION:TARGET,…
    ///
    /// Targets are virtual users, as in 30s:100,5m:100, starting from -c or else from 0. With -r, or
    /// with targets such as 100/s, they are rates, starting from -r or else from 0.
    #[arg(long, value_name = "STAGES", value_parser = values::stages, conflicts_with = "duration")]
    pub stages: Option<Stages>,
    /// Closed model: least time between two starts of one virtual user
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub pacing: Option<Duration>,
    /// Open model: how arrivals lie between the instants that the rate gives
    #[arg(long, value_name = "LAW", default_value = "even")]
    pub arrivals: Arrivals,
    /// Open model: starts may be bunched into windows of this length; 0 is precise and costs a wake-up
    /// per start
    #[arg(long, value_name = "DURATION", default_value = "200us", value_parser = values::duration)]
    pub start_window: Duration,
    /// The first part of the run whose requests are left out of the results
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = values::duration)]
    pub warm_up: Duration,
    /// Time that running and waiting requests get to end after the last start
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub graceful_stop: Duration,
    /// Worker threads [default: the cores that this process may use]
    #[arg(long, value_name = "N", value_parser = values::few)]
    pub workers: Option<u32>,
    /// Seed of everything random: arrivals, templates, order [default: another one each run]
    #[arg(long, value_name = "N", value_parser = values::whole)]
    pub seed: Option<u64>,
}

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// At even distances
    Even,
    /// As a Poisson process: independent arrivals, as of many users
    Poisson,
}
