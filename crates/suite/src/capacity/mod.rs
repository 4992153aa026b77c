//! The load that a service carries within its objectives: which probe comes next, and the answer.
//!
//! [`Search`] says what to do, one [`SearchStep`] after the other; whoever runs probes makes [`Figures`] of each result and a
//! [`Report`] of these. Must not know how a probe is run. Invariant: the same answers give the same next probe.

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
pub use judge::{Doubt, Judgement, Measured, Outcome, Sureness, has_recovered, judge};
pub use search::{
    Aim, HIGHEST, LOWEST, Order, PROBES_MAX, Report, START, Search, SearchStep, Settings,
};
pub use slo::{Comparison, Objective, Share, Slo, SloError, Statistic, TimeBound};
