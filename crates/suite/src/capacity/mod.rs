//! The load that a service sustains within its objectives: which probe comes next, and the result.
//!
//! [`Search`] returns one [`SearchStep`] after the other; the caller runs the probe and makes [`Figures`] from
//! its result and a [`Report`] from these. Must not know how a probe is run. Invariant: the same reports give
//! the same next probe.

mod answer;
mod figures;
mod fit;
mod judge;
mod rates;
mod search;
mod slo;

pub use answer::{Answer, Capacity, Confidence, Ended, GaveWay, Probe, ProbeFinding, SCHEMA};
pub use figures::{CountOfTotal, Figures};
pub use fit::{Crossing, Stress};
pub use judge::{Doubt, Judgement, Look, Measured, Outcome, Sureness, judge};
pub use search::{
    Aim, HIGHEST, LOWEST, Order, PROBES_MAX, Report, START, Search, SearchStep, Settings,
};
pub use slo::{Comparison, Objective, Share, Slo, Statistic, TimeBound};
