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
    /// Connections, one VU each (HTTP/2: --streams VUs each) [default: 50]
    #[arg(short = 'c', long, value_name = "N", value_parser = values::vus)]
    pub connections: Option<u32>,
    /// Stop after this many requests
    #[arg(short = 'n', long, value_name = "COUNT", value_parser = values::positive_count)]
    pub requests: Option<u64>,
    /// Stop after this time; with -n whichever comes first [default: 10s if nothing else stops the run]
    #[arg(short = 'z', visible_short_alias = 'd', long, value_name = "DURATION",
        value_parser = values::positive_duration)]
    pub duration: Option<Duration>,
    /// Open model: total arrival rate per second; also 0.5, 500/s, 30/m
    #[arg(short = 'r', long, value_name = "RATE", value_parser = values::rate)]
    pub rate: Option<ArrivalRate>,
    /// Open model: maximum VUs; -c VUs are allocated before the start [default: 10 x -c, or rate x
    /// --timeout if that is less, but at least -c]
    #[arg(long, value_name = "N", value_parser = values::vus)]
    pub max_vus: Option<u32>,
    /// Ramp through stages, DURATION:TARGET,…
    ///
    /// Targets are VUs, as in 30s:100,5m:100, starting from -c or 0. With -r, or with targets such as
    /// 100/s, they are rates, starting from -r or 0.
    #[arg(long, value_name = "STAGES", value_parser = values::stages, conflicts_with = "duration")]
    pub stages: Option<Stages>,
    /// Closed model: minimum time between two requests of one VU
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub pacing: Option<Duration>,
    /// Open model: how arrivals are spaced
    #[arg(long, value_name = "LAW", default_value = "even")]
    pub arrivals: Arrivals,
    /// Open model: batch request starts in windows of this length; 0 is exact but costs more CPU
    #[arg(long, value_name = "DURATION", default_value = "200us", value_parser = values::duration)]
    pub start_window: Duration,
    /// Leave this first part of the run out of the results
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = values::duration)]
    pub warm_up: Duration,
    /// Time for running requests to finish after the last start
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub graceful_stop: Duration,
    /// Worker threads [default: available cores]
    #[arg(long, value_name = "N", value_parser = values::few)]
    pub workers: Option<u32>,
    /// Random seed for arrivals, templates and order [default: random]
    #[arg(long, value_name = "N", value_parser = values::whole)]
    pub seed: Option<u64>,
}

/// How arrivals are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// Evenly spaced
    Even,
    /// Poisson process: independent arrivals, as from many users
    Poisson,
}
