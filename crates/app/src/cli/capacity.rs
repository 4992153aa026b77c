//! The options of `loadline capacity`.
//!
//! Must not know what they lead to. Invariant: one declaration per option.

use std::time::Duration;

use clap::Args;
use loadline_suite::capacity::Slo;

use super::probing::ProbingArgs;
use super::values;

/// The options of `loadline capacity`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CapacityArgs {
    /// What must hold for a rate to be carried, apart by commas
    ///
    /// p(N), med, avg, min and max of the response time, from the intended start (p(99)<200ms);
    /// errors<0.1%; checks=100%, checks>99%; goodput>99% of what was due.
    #[arg(long, value_name = "OBJECTIVES", value_parser = objectives)]
    pub slo: Slo,
    /// Exit with 99 unless this rate is shown to be carried, per second
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub at_least: Option<f64>,
    /// The first rate, and the lowest that is tried [default: 100/s is the first, 1/s the lowest]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub from: Option<f64>,
    /// The highest rate that is tried [default: no limit]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub to: Option<f64>,
    /// How narrow the answer is to be, as a share of it
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = precision)]
    pub precision: f64,
    /// How long a rate is measured; longer where the objectives need more samples
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::positive_duration)]
    pub probe: Duration,
    /// How long a rate is measured at most
    #[arg(long, value_name = "DURATION", default_value = "2m", value_parser = values::positive_duration)]
    pub probe_max: Duration,
    /// What is left out before each measurement
    #[arg(long, value_name = "DURATION", default_value = "5s", value_parser = values::duration)]
    pub warm_up: Duration,
    /// After this time no further rate is tried [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = values::positive_duration)]
    pub max_time: Option<Duration>,
    /// How long the target may take to recover from a rate that it did not carry
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = values::duration)]
    pub recovery: Duration,
    /// What is loaded, and how.
    #[command(flatten)]
    pub probing: ProbingArgs,
}

const EXAMPLES: &str = "\
Examples:
  loadline capacity --slo 'p(99)<200ms, errors<0.1%' http://localhost:8080/
      the highest rate at which 99 of 100 are answered within 200 ms, to within 2 %
  loadline capacity --slo 'p(95)<50ms, checks=100%' --expect status=200 --at-least 500 http://localhost:8080/
      for a pipeline: exit code 99 unless 500/s are carried
  loadline capacity --slo 'p(99)<1s' --precision 10% --max-time 5m checkout.js -- -e HOST=staging
      a k6 script: iterations per second, whatever its options say of load
  loadline capacity --slo 'p(99)<1s' plan.jmx -- -Jhost=staging
      a JMeter plan of one thread group: its iterations per second, whatever it says of threads

Exit codes: 0 answered, 99 --at-least is not shown, 104 a command line that cannot be run, 105 stopped
by a signal, with the answer as far as it was known.";

fn objectives(text: &str) -> Result<Slo, String> {
    text.parse()
        .map_err(|error: loadline_suite::capacity::SloError| error.to_string())
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
