//! The options of `loadline capacity`.
//!
//! Must not know their effects. Invariant: one declaration per option.

use std::time::Duration;

use clap::Args;
use loadline_suite::capacity::Slo;

use super::probing::ProbingArgs;
use super::values;

/// The options of `loadline capacity`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CapacityArgs {
    /// Objectives that a rate must meet, comma-separated
    ///
    /// p(N), med, avg, min and max of the response time, counted from the scheduled start, as in
    /// p(99)<200ms; errors<0.1%; checks=100%, checks>99%; goodput>99% of the scheduled requests.
    #[arg(long, value_name = "OBJECTIVES", value_parser = objectives)]
    pub slo: Slo,
    /// Exit with code 99 unless the target sustains this rate, per second
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub at_least: Option<f64>,
    /// First rate to try, and the lowest one [default: start at 100/s, down to 1/s]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub from: Option<f64>,
    /// Highest rate to try [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub to: Option<f64>,
    /// Width of the result's interval, relative to the rate
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = precision)]
    pub precision: f64,
    /// Minimum duration of a probe; longer if the objectives need more samples
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::positive_duration)]
    pub probe: Duration,
    /// Maximum duration of a probe
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = values::positive_duration)]
    pub probe_max: Duration,
    /// Warm-up before each measurement, left out of the results
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub warm_up: Duration,
    /// Start no further probe after this time [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub max_time: Option<Duration>,
    /// Maximum time to wait for the target to recover after it was overloaded
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::duration)]
    pub recovery: Duration,
    /// What is loaded, and how.
    #[command(flatten)]
    pub probing: ProbingArgs,
}

const EXAMPLES: &str = "\
Examples:
  loadline capacity --slo 'p(99)<200ms, errors<0.1%' http://localhost:8080/
      find the highest rate with a p99 below 200 ms, to within 2 %
  loadline capacity --slo 'p(95)<50ms, errors=0%' --at-least 500 http://localhost:8080/
      in CI: exit with 99 unless the target sustains 500/s
  loadline capacity --slo 'p(99)<1s' --precision 10% --max-time 5m checkout.js -- -e HOST=staging
      a k6 script, in iterations per second; its own load options are ignored
  loadline capacity --slo 'p(99)<1s' plan.jmx -- -Jhost=staging
      a JMeter plan with one thread group, in iterations per second

Exit codes: 0 success, 1 no request was answered, 99 --at-least not met, 104 invalid command line,
105 stopped by a signal, with the result so far.";

fn objectives(text: &str) -> Result<Slo, String> {
    text.parse()
        .map_err(|error: loadline_model::TextError| error.to_string())
}

fn rate(text: &str) -> Result<f64, String> {
    values::positive_rate(text).map(|rate| rate.starts_per_second())
}

fn precision(text: &str) -> Result<f64, String> {
    let bad = || format!("{text:?} is not from 0.5% to 50%; write 2%");
    let percent = text.strip_suffix('%').ok_or_else(bad)?;
    let percent: f64 = percent.parse().map_err(|_| bad())?;
    match (0.5..=50.0).contains(&percent) {
        true => Ok(percent / 100.0),
        false => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_are_in_percent() {
        assert_eq!(precision("2%"), Ok(0.02));
        for bad in ["2", "0%", "60%", "x%"] {
            assert!(precision(bad).is_err(), "{bad}");
        }
    }
}
