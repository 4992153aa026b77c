//! Executors as data: the policies that start iterations, and their parameters.
//!
//! Must not know how a start is decided; that is the `schedule` crate. Invariant: an executor that passed
//! [`Executor::validate`] has at least one virtual user and, if it has a rate, a unit.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::thread_group::ThreadGroup;
use crate::units::ArrivalRate;

/// One leg of a ramp of virtual users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VuStage {
    /// How long the leg takes; zero jumps.
    #[serde(with = "crate::units::duration_text")]
    pub duration: Duration,
    /// Virtual users at its end.
    pub target: u32,
}

/// One leg of a ramp of the arrival rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateStage {
    /// How long the leg takes; zero jumps.
    #[serde(with = "crate::units::duration_text")]
    pub duration: Duration,
    /// The arrival rate at its end.
    pub target: ArrivalRate,
}

/// How arrivals of an open model are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Spacing {
    /// Evenly: the i-th arrival is due when the planned number of starts reaches i (k6's rule).
    #[default]
    Even,
    /// Evenly; in addition, an arrival of a constant rate that is due exactly at the end starts too (k6's
    /// ticker).
    EvenToTheEnd,
    /// A Poisson process with the planned rate: independent arrivals, as from many users.
    Poisson {
        /// Seed of the arrival times; the same seed gives the same arrivals.
        seed: u64,
    },
}

/// The policy that starts iterations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Executor {
    /// Closed model: this many virtual users, each starting its next iteration when the last one ends.
    ConstantVus {
        /// Virtual users.
        vus: u32,
        /// Time during which iterations start; `None`: until stopped.
        #[serde(default, with = "crate::units::duration_text::option")]
        duration: Option<Duration>,
    },
    /// Closed model: the number of virtual users follows the stages.
    RampingVus {
        /// Virtual users at the start.
        start_vus: u32,
        /// The legs.
        stages: Vec<VuStage>,
        /// Time that a virtual user removed by a falling stage gets to finish its iteration.
        #[serde(with = "crate::units::duration_text")]
        graceful_ramp_down: Duration,
    },
    /// Closed model: virtual users share one number of iterations.
    SharedIterations {
        /// Virtual users.
        vus: u32,
        /// Iterations in all.
        iterations: u64,
        /// Time after which no iteration starts; `None` for no limit.
        #[serde(default, with = "crate::units::duration_text::option")]
        max_duration: Option<Duration>,
    },
    /// Closed model: each virtual user runs this many iterations.
    PerVuIterations {
        /// Virtual users.
        vus: u32,
        /// Iterations of each.
        iterations: u64,
        /// Time after which no iteration starts; `None` for no limit.
        #[serde(default, with = "crate::units::duration_text::option")]
        max_duration: Option<Duration>,
    },
    /// Closed model: the number of active virtual users is controlled from outside while the test runs.
    ExternallyControlled {
        /// Virtual users at the start.
        vus: u32,
        /// Virtual users initialized before the start; the maximum until more are allowed.
        max_vus: u32,
        /// Time during which iterations start; `None`: until stopped.
        #[serde(default, with = "crate::units::duration_text::option")]
        duration: Option<Duration>,
    },
    /// Open model: iterations are due at a constant rate, whatever the target does.
    ConstantArrivalRate {
        /// Planned starts.
        rate: ArrivalRate,
        /// Time during which iterations are due; `None`: until stopped.
        #[serde(default, with = "crate::units::duration_text::option")]
        duration: Option<Duration>,
        /// How arrivals are spaced.
        #[serde(default)]
        spacing: Spacing,
        /// Limit on the number of arrivals; `None`: no limit.
        iterations: Option<u64>,
        /// Virtual users initialized before the start.
        pre_allocated_vus: u32,
        /// Maximum virtual users.
        max_vus: u32,
    },
    /// Open model: the arrival rate follows the stages.
    RampingArrivalRate {
        /// The arrival rate at the start.
        start_rate: ArrivalRate,
        /// The legs.
        stages: Vec<RateStage>,
        /// How arrivals are spaced.
        #[serde(default)]
        spacing: Spacing,
        /// Limit on the number of arrivals; `None`: no limit.
        iterations: Option<u64>,
        /// Virtual users initialized before the start.
        pre_allocated_vus: u32,
        /// Maximum virtual users.
        max_vus: u32,
    },
    /// The threads of a JMeter plan's thread group: an iteration is a thread's life, or a thread's work for one
    /// arrival.
    ThreadGroup(ThreadGroup),
}

impl Executor {
    /// Whether arrivals are independent of completions.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Executor::ConstantArrivalRate { .. } | Executor::RampingArrivalRate { .. } => true,
            Executor::ThreadGroup(group) => group.is_open(),
            _ => false,
        }
    }

    /// The name that k6 scripts and reports use.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Executor::ConstantVus { .. } => "constant-vus",
            Executor::RampingVus { .. } => "ramping-vus",
            Executor::SharedIterations { .. } => "shared-iterations",
            Executor::PerVuIterations { .. } => "per-vu-iterations",
            Executor::ExternallyControlled { .. } => "externally-controlled",
            Executor::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Executor::RampingArrivalRate { .. } => "ramping-arrival-rate",
            Executor::ThreadGroup(_) => "thread-group",
        }
    }

    /// Maximum virtual users.
    #[must_use]
    pub fn max_vus(&self) -> u32 {
        match self {
            Executor::ConstantVus { vus, .. }
            | Executor::SharedIterations { vus, .. }
            | Executor::PerVuIterations { vus, .. } => *vus,
            Executor::RampingVus {
                start_vus, stages, ..
            } => stages
                .iter()
                .map(|stage| stage.target)
                .fold(*start_vus, u32::max),
            Executor::ExternallyControlled { max_vus, .. }
            | Executor::ConstantArrivalRate { max_vus, .. }
            | Executor::RampingArrivalRate { max_vus, .. } => *max_vus,
            Executor::ThreadGroup(group) => group.threads_max(),
        }
    }

    /// The time during which iterations may start; `None` if only a count or a stop ends it.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        match self {
            Executor::ConstantVus { duration, .. }
            | Executor::ExternallyControlled { duration, .. }
            | Executor::ConstantArrivalRate { duration, .. } => *duration,
            Executor::SharedIterations { max_duration, .. }
            | Executor::PerVuIterations { max_duration, .. } => *max_duration,
            Executor::RampingVus { stages, .. } => {
                Some(stages.iter().map(|stage| stage.duration).sum())
            }
            Executor::RampingArrivalRate { stages, .. } => {
                Some(stages.iter().map(|stage| stage.duration).sum())
            }
            // Threads end on their own.
            Executor::ThreadGroup(_) => None,
        }
    }

    /// The planned number of iterations if a count ends the run; otherwise `None`.
    #[must_use]
    pub fn planned_iterations(&self) -> Option<u64> {
        match self {
            Executor::SharedIterations { iterations, .. } => Some(*iterations),
            Executor::PerVuIterations {
                vus, iterations, ..
            } => Some(iterations.saturating_mul(u64::from(*vus))),
            Executor::ConstantArrivalRate { iterations, .. }
            | Executor::RampingArrivalRate { iterations, .. } => *iterations,
            Executor::ConstantVus { .. }
            | Executor::RampingVus { .. }
            | Executor::ExternallyControlled { .. } => None,
            Executor::ThreadGroup(group) => group.planned_starts(),
        }
    }

    /// How long a limited number of arrivals takes at an even, constant rate, capped by the duration; `None`
    /// for everything else.
    #[must_use]
    pub fn time_of_count(&self) -> Option<Duration> {
        let Executor::ConstantArrivalRate {
            rate,
            duration,
            spacing: Spacing::Even,
            iterations: Some(iterations),
            ..
        } = self
        else {
            return None;
        };
        let ns = u128::from(*iterations) * u128::from(rate.per.0) / u128::from(rate.starts.max(1));
        let lasts = Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX));
        Some(duration.map_or(lasts, |most| most.min(lasts)))
    }

    /// The highest arrival rate of an open model, in starts per second.
    #[must_use]
    pub fn peak_rate(&self) -> Option<f64> {
        match self {
            Executor::ConstantArrivalRate { rate, .. } => Some(rate.starts_per_second()),
            Executor::RampingArrivalRate {
                start_rate, stages, ..
            } => Some(
                stages
                    .iter()
                    .map(|stage| stage.target.starts_per_second())
                    .fold(start_rate.starts_per_second(), f64::max),
            ),
            _ => None,
        }
    }

    /// Checks that this executor can be run.
    ///
    /// # Errors
    /// The first contradiction found, in words for the user.
    pub fn validate(&self) -> Result<(), String> {
        if self.max_vus() == 0 {
            return Err(format!("{}: needs at least one virtual user", self.name()));
        }
        match self {
            Executor::SharedIterations {
                vus, iterations, ..
            } if *iterations < u64::from(*vus) => Err(format!(
                "shared-iterations: {iterations} iterations are fewer than {vus} VUs"
            )),
            Executor::ExternallyControlled { vus, max_vus, .. } if vus > max_vus => Err(format!(
                "externally-controlled: {vus} VUs at the start are more than the {max_vus} allowed"
            )),
            Executor::ConstantArrivalRate {
                pre_allocated_vus,
                max_vus,
                ..
            }
            | Executor::RampingArrivalRate {
                pre_allocated_vus,
                max_vus,
                ..
            } if pre_allocated_vus > max_vus => Err(format!(
                "{}: {pre_allocated_vus} VUs before the start are more than the {max_vus} allowed",
                self.name()
            )),
            Executor::ConstantArrivalRate { rate, .. } if rate.starts == 0 || rate.per.0 == 0 => {
                Err("constant-arrival-rate: the arrival rate must be above zero".to_owned())
            }
            Executor::RampingArrivalRate { stages, .. } if stages.is_empty() => {
                Err("ramping-arrival-rate: needs at least one stage".to_owned())
            }
            Executor::RampingVus { stages, .. } if stages.is_empty() => {
                Err("ramping-vus: needs at least one stage".to_owned())
            }
            Executor::ThreadGroup(group) => group.validate(),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_virtual_user_does_its_own_number_of_iterations() {
        let planned = |vus, iterations| {
            let executor = Executor::PerVuIterations {
                vus,
                iterations,
                max_duration: None,
            };
            executor.planned_iterations()
        };
        assert_eq!(planned(3, 7), Some(21));
        assert_eq!(planned(2, u64::MAX), Some(u64::MAX));
    }

    #[test]
    fn a_count_of_even_arrivals_lasts_until_the_next_one_would_be_due() {
        let lasts = |spacing, iterations, duration| {
            Executor::ConstantArrivalRate {
                rate: ArrivalRate::per_second(100),
                duration,
                spacing,
                iterations,
                pre_allocated_vus: 1,
                max_vus: 1,
            }
            .time_of_count()
        };
        let ms = Duration::from_millis;
        assert_eq!(lasts(Spacing::Even, Some(50), None), Some(ms(500)));
        assert_eq!(lasts(Spacing::Even, Some(50), Some(ms(200))), Some(ms(200)));
        assert_eq!(lasts(Spacing::Even, None, Some(ms(200))), None);
        assert_eq!(lasts(Spacing::Poisson { seed: 1 }, Some(50), None), None);
    }
}
