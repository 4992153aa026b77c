//! The verdict as data: was the offered load delivered, who was in the way, what to change, and
//! may the numbers be believed.
//!
//! Must not know how it is reached; that is the `run` crate. Invariant: every finding carries its
//! evidence in numbers.

use serde::{Deserialize, Serialize};

/// Whether the load that was asked for was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// All of it.
    Delivered,
    /// Less than was asked for.
    FellShort,
    /// Nothing particular was asked for: the closed model takes what it gets.
    AsFastAsPossible,
    /// The run ended before it could be said.
    Unfinished,
}

/// Who limited the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The system under test.
    Target,
    /// What lies between.
    Network,
    /// This machine or process.
    Generator,
    /// The plan itself: too few virtual users for the rate, or pauses that set the pace.
    Plan,
    /// Nobody: the load was delivered with room to spare.
    Nobody,
    /// The evidence does not say.
    Unknown,
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gravity {
    /// Worth knowing.
    Note,
    /// The numbers need care.
    Caution,
    /// The numbers do not mean what they seem to.
    Alarm,
}

/// One thing found, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable name for programs, such as `offered-load-missed`.
    pub code: String,
    /// How grave.
    pub gravity: Gravity,
    /// What was found, with the numbers, in one sentence.
    pub text: String,
    /// What to change; `None` when nothing needs to.
    pub advice: Option<String>,
}

/// Where throughput stopped following the offered load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// Offered load at the knee, per second.
    pub offered: f64,
    /// Highest completed rate, per second.
    pub throughput: f64,
    /// 99th percentile of the response time just before it, in nanoseconds.
    pub p99_before_ns: Option<u64>,
}

/// The verdict of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the load was delivered.
    pub delivery: Delivery,
    /// Who limited the run.
    pub limit: Limit,
    /// The whole in one sentence.
    pub headline: String,
    /// What was found, the gravest first.
    pub findings: Vec<Finding>,
    /// Where the target saturated; `None` when no knee was seen.
    pub saturation: Option<Saturation>,
    /// Half width of the 95 % confidence interval of the mean rate, as a share of it; `None` when
    /// the run is too short to say.
    pub rate_error: Option<f64>,
}
