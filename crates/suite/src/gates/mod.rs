//! Whether a row can be trusted.
//!
//! Must not know how a row was run. Invariant: a requested gate that cannot be judged fails; a default gate
//! becomes a note instead.

mod judge;
mod shapes;
#[cfg(test)]
pub(crate) mod tests;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::file::{Fields, GATES, Problem};

pub use judge::{Evidence, failed_samples, judge, restarts, throughput_variation};

/// Share of checks that must hold unless the file says otherwise.
const CHECKS: f64 = 1.0;
/// Share of requests that must get a good response.
const GOODPUT: f64 = 0.99;
/// Share of responses that may have a shape that no other repetition has.
const FOREIGN: f64 = 0.01;
/// Variation from second to second that is allowed where `steady: true` names none.
const VARIATION: f64 = 0.1;

/// A condition for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gate {
    /// Share of checks that held.
    Checks,
    /// Thresholds held.
    Thresholds,
    /// Share of requests with a good response.
    Goodput,
    /// Responses look as in the other repetitions.
    Shapes,
    /// The offered load was delivered.
    Delivered,
    /// The target was not restarted or killed.
    Restarts,
    /// The generator was not what limited the run.
    Generator,
    /// Audited outputs hold what was measured.
    Outputs,
    /// Throughput varied little.
    Steady,
}

impl Gate {
    /// Every gate.
    pub const ALL: [Gate; 9] = [
        Gate::Checks,
        Gate::Thresholds,
        Gate::Goodput,
        Gate::Shapes,
        Gate::Delivered,
        Gate::Restarts,
        Gate::Generator,
        Gate::Outputs,
        Gate::Steady,
    ];

    /// Its key in a suite file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Gate::Checks => "checks",
            Gate::Thresholds => "thresholds",
            Gate::Goodput => "goodput",
            Gate::Shapes => "shapes",
            Gate::Delivered => "delivered",
            Gate::Restarts => "restarts",
            Gate::Generator => "generator",
            Gate::Outputs => "outputs",
            Gate::Steady => "steady",
        }
    }

    /// What it holds against by default; `None`: it is off.
    fn usual(self) -> Option<f64> {
        match self {
            Gate::Checks => Some(CHECKS),
            Gate::Goodput => Some(GOODPUT),
            Gate::Shapes => Some(FOREIGN),
            Gate::Restarts => Some(0.0),
            Gate::Steady => None,
            Gate::Thresholds | Gate::Delivered | Gate::Generator | Gate::Outputs => Some(1.0),
        }
    }
}

/// A gate with a row's settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateSetting {
    /// Which.
    pub gate: Gate,
    /// Its limit: a share, or a count; 1 for a yes-or-no gate.
    pub limit: f64,
    /// Whether the file asks for it.
    pub asked: bool,
}

/// The gates of a row, in the order of [`Gate::ALL`], without those that are off.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Gates(pub Vec<GateSetting>);

impl Default for Gates {
    fn default() -> Gates {
        let usual = Gate::ALL.iter().filter_map(|gate| {
            Some(GateSetting {
                gate: *gate,
                limit: gate.usual()?,
                asked: false,
            })
        });
        Gates(usual.collect())
    }
}

impl Gates {
    /// Reads `gates` of a row's settings.
    ///
    /// # Errors
    /// A value is of another kind.
    pub(crate) fn of(settings: Fields) -> Result<Gates, Problem> {
        let Some(fields) = settings.object("gates", &GATES)? else {
            return Ok(Gates::default());
        };
        let mut gates = Vec::new();
        for gate in Gate::ALL {
            gates.extend(setting(fields, gate)?);
        }
        Ok(Gates(gates))
    }
}

fn setting(fields: Fields, gate: Gate) -> Result<Option<GateSetting>, Problem> {
    let asked = |limit| GateSetting {
        gate,
        limit,
        asked: true,
    };
    let Some(node) = fields.get(gate.name()) else {
        let usual = gate.usual().map(|limit| GateSetting {
            asked: false,
            ..asked(limit)
        });
        return Ok(usual);
    };
    match node.flag() {
        Some(false) => Ok(None),
        Some(true) => Ok(Some(asked(gate.usual().unwrap_or(VARIATION)))),
        _ if gate == Gate::Restarts => {
            let count = fields.count(gate.name())?.unwrap_or_default();
            Ok(Some(asked(count as f64)))
        }
        _ => Ok(fields.share(gate.name())?.map(asked)),
    }
}

/// The outcome of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateOutcome {
    /// Which gate.
    pub gate: Gate,
    /// What was found.
    pub finding: Finding,
    /// What was found, in words.
    pub text: String,
}

/// What a gate found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It cannot be judged, and the file asked for it: not passed.
    NotJudged,
    /// It cannot be judged, and was not requested.
    Note,
}

impl GateOutcome {
    /// Whether it fails the row.
    #[must_use]
    pub fn fails(&self) -> bool {
        matches!(self.finding, Finding::Failed | Finding::NotJudged)
    }
}

impl fmt::Display for GateOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.gate.name(), self.text)
    }
}
