//! The executor that the load options describe.
//!
//! Must not know requests. Invariant: there is at least one stop condition; the default is 10 seconds.

use std::time::Duration;

use loadline_model::executor::{Executor, RateStage, Spacing, VuStage};
use loadline_model::units::ArrivalRate;

use crate::cli::bench::{Arrivals, LoadArgs};
use crate::cli::values::{Stage, VUS_MAX};

/// Default number of connections.
pub(super) const CONNECTIONS: u32 = 50;
/// Default duration if nothing else ends the run.
const DURATION: Duration = Duration::from_secs(10);

/// The executor.
pub(super) fn executor(
    load: &LoadArgs,
    per_connection: u32,
    timeout: Duration,
    seed: u64,
) -> Result<Executor, String> {
    let vus = load
        .connections
        .unwrap_or(CONNECTIONS)
        .checked_mul(per_connection)
        .filter(|vus| *vus <= VUS_MAX)
        .ok_or_else(|| {
            format!("-c times --streams is more than {VUS_MAX} virtual users; lower one of them")
        })?;
    let is_open = load.rate.is_some()
        || load
            .stages
            .as_ref()
            .is_some_and(|stages| stages.0.iter().any(|leg| leg.is_rate));
    if is_open {
        open(load, vus, timeout, seed)
    } else {
        closed(load, vus)
    }
}

fn closed(load: &LoadArgs, vus: u32) -> Result<Executor, String> {
    if load.max_vus.is_some() {
        return Err("--max-vus needs an arrival rate: give -r, or use -c alone".to_owned());
    }
    if load.arrivals == Arrivals::Poisson {
        return Err("--arrivals poisson needs an arrival rate: give -r".to_owned());
    }
    if let Some(stages) = &load.stages {
        if load.requests.is_some() {
            return Err("-n and --stages of virtual users exclude each other; drop one".to_owned());
        }
        return ramping_vus(load, &stages.0, vus);
    }
    Ok(match load.requests {
        Some(iterations) => Executor::SharedIterations {
            vus: vus.min(u32::try_from(iterations).unwrap_or(u32::MAX)),
            iterations,
            max_duration: load.duration,
        },
        None => Executor::ConstantVus {
            vus,
            duration: load.duration.or(Some(DURATION)),
        },
    })
}

fn ramping_vus(load: &LoadArgs, legs: &[Stage], vus: u32) -> Result<Executor, String> {
    let stages: Result<Vec<VuStage>, String> = legs
        .iter()
        .map(|leg| {
            Ok(VuStage {
                duration: leg.duration,
                target: whole_vus(leg.target)?,
            })
        })
        .collect();
    let stages = stages?;
    let start_vus = if load.connections.is_some() { vus } else { 0 };
    if start_vus == 0 && stages.iter().all(|stage| stage.target == 0) {
        return Err("--stages: no stage has a virtual user; write DURATION:TARGET".to_owned());
    }
    Ok(Executor::RampingVus {
        start_vus,
        stages,
        graceful_ramp_down: load.graceful_stop,
    })
}

fn whole_vus(target: ArrivalRate) -> Result<u32, String> {
    let whole = (target.per == ArrivalRate::per_second(1).per)
        .then(|| u32::try_from(target.starts).ok())
        .flatten()
        .filter(|vus| *vus <= VUS_MAX);
    whole.ok_or_else(|| {
        format!(
            "--stages: {} is not a number of virtual users; for a rate write {}/s",
            target.starts_per_second(),
            target.starts_per_second()
        )
    })
}

fn open(load: &LoadArgs, vus: u32, timeout: Duration, seed: u64) -> Result<Executor, String> {
    if load.pacing.is_some() {
        return Err("--pacing needs a closed model: remove it or the arrival rate".to_owned());
    }
    let spacing = match load.arrivals {
        Arrivals::Even => Spacing::Even,
        Arrivals::Poisson => Spacing::Poisson { seed },
    };
    let start_rate = load.rate.unwrap_or(ArrivalRate::per_second(0));
    let legs = load.stages.as_ref().map_or(&[][..], |stages| &stages.0);
    let peak = legs.iter().map(|leg| leg.target.starts_per_second());
    let peak = peak.fold(start_rate.starts_per_second(), f64::max);
    if peak <= 0.0 {
        return Err(
            "the arrival rate is zero throughout; give -r, or stages, above zero".to_owned(),
        );
    }
    let max_vus = load
        .max_vus
        .unwrap_or_else(|| default_max_vus(vus, peak, timeout));
    let pre_allocated_vus = vus.min(max_vus);
    let iterations = load.requests;
    if legs.is_empty() {
        let duration = match (load.duration, iterations) {
            (None, None) => Some(DURATION),
            (duration, _) => duration,
        };
        return Ok(Executor::ConstantArrivalRate {
            rate: start_rate,
            duration,
            spacing,
            iterations,
            pre_allocated_vus,
            max_vus,
        });
    }
    let stages = legs.iter().map(|leg| RateStage {
        duration: leg.duration,
        target: leg.target,
    });
    Ok(Executor::RampingArrivalRate {
        start_rate,
        stages: stages.collect(),
        spacing,
        iterations,
        pre_allocated_vus,
        max_vus,
    })
}

/// max(c, min(10·c, rate·timeout)): as many as could wait for a target that never responds, up to ten times the
/// requested number.
fn default_max_vus(vus: u32, peak: f64, timeout: Duration) -> u32 {
    let waiting = if timeout.is_zero() {
        f64::INFINITY
    } else {
        peak * timeout.as_secs_f64()
    };
    let most = vus.saturating_mul(10).min(VUS_MAX);
    vus.max((f64::from(most)).min(waiting.ceil()) as u32)
}
