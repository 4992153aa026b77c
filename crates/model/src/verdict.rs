//! The verdict as data: whether the offered load was delivered, what limited it, what to change, and whether
//! the numbers can be trusted.
//!
//! Must not know how it is reached; that is the `run` crate. Invariant: every finding contains its evidence in
//! numbers.

use serde::{Deserialize, Serialize};

/// Whether the requested load was delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// All of it.
    Delivered,
    /// Less than requested.
    FellShort,
    /// No particular load was requested: the closed model runs as fast as the target allows.
    AsFastAsPossible,
    /// The run ended too early to tell.
    Unfinished,
}

/// What limited the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The system under test.
    Target,
    /// The network in between.
    Network,
    /// This machine or process.
    Generator,
    /// The plan itself: too few virtual users for the rate, or pauses that determine the rate.
    Plan,
    /// Nothing: the load was delivered with room to spare.
    Nobody,
    /// The evidence is inconclusive.
    Unknown,
}

/// The severity of a finding.
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

/// A finding with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A stable identifier for programs, such as `offered-load-missed`.
    pub code: String,
    /// Its severity.
    pub gravity: Gravity,
    /// The finding with its numbers, in one sentence.
    pub text: String,
    /// What to change; `None` if nothing.
    pub advice: Option<String>,
}

/// Where throughput stopped following the offered load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// Offered load at the knee, per second.
    pub offered: f64,
    /// Highest completed rate, per second.
    pub throughput: f64,
    /// 99th percentile of the response time just before the knee, in nanoseconds.
    pub p99_before_ns: Option<u64>,
}

/// The verdict of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the load was delivered.
    pub delivery: Delivery,
    /// What limited the run.
    pub limit: Limit,
    /// Summary in one sentence.
    pub headline: String,
    /// The findings, most severe first.
    pub findings: Vec<Finding>,
    /// The saturation point of the target; `None` if no knee was seen.
    pub saturation: Option<Saturation>,
    /// Half width of the 95 % confidence interval of the mean rate, relative to the mean; `None` if the run is
    /// too short to tell.
    pub rate_error: Option<f64>,
}

impl Verdict {
    /// A verdict without findings.
    #[must_use]
    pub fn new(delivery: Delivery, limit: Limit, headline: impl Into<String>) -> Verdict {
        Verdict {
            delivery,
            limit,
            headline: headline.into(),
            findings: Vec::new(),
            saturation: None,
            rate_error: None,
        }
    }

    /// The verdict of a run that has not ended, or whose end is not known.
    #[must_use]
    pub fn unfinished(headline: impl Into<String>) -> Verdict {
        Verdict::new(Delivery::Unfinished, Limit::Unknown, headline)
    }
}
