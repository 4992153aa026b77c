//! Options: the observers of the run.
//!
//! Must not know how anything is read. Invariant: one declaration per option.

use std::time::Duration;

use clap::Args;

use crate::cli::values;
use crate::observers::{self, WantedObservers};

/// What is observed beside the load.
#[derive(Args, Debug)]
#[command(next_help_heading = "Observers")]
pub struct ObserveArgs {
    /// Observe a part of the service under test (repeatable)
    ///
    /// self, process:name:nginx, process:port:8080, process:pid:4711, cgroup:PATH, host, prometheus:URL;query=…,
    /// scrape:URL;metric=…, log:FILE;match=…, http:URL;path=…, command:PROGRAM, pipeline:…, pod:SELECTOR,
    /// node:SELECTOR, replicas:KIND/NAME, @FILE; see docs/observe.md for settings.
    #[arg(long, value_name = "[NAME=]KIND[:VALUE][;KEY=VALUE]...")]
    pub observe: Vec<String>,
    /// Observe for this long before the load
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = values::duration,
        env = observers::BASELINE)]
    pub observe_baseline: Duration,
    /// Observe for this long after the load
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = values::duration,
        env = observers::TAIL)]
    pub observe_tail: Duration,
}

impl ObserveArgs {
    /// The requested observers.
    pub(crate) fn wanted(&self) -> WantedObservers {
        WantedObservers {
            specs: self.observe.clone(),
            baseline: self.observe_baseline,
            tail: self.observe_tail,
        }
    }
}
