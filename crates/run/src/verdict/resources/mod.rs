//! Observations of the system under test as findings: which resource of which component was at its limit, who
//! was idle, what leaked, which stage is the slowest.
//!
//! Must not know how anything was read. Invariant: a finding names the component and the numbers; nothing is
//! judged that was not observed.

mod between;
mod component;
mod levels;
mod notes;
mod queues;
mod replicas;
mod stages;

use loadline_model::verdict::{Finding, Gravity};

use super::code::Code;
use super::facts::Facts;

/// Whether a sign shows who was in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Weight {
    /// Worth knowing; the target may be the limit for another reason.
    Remark,
    /// It explains why a target is slow.
    Explains,
    /// The service does not keep up, whether or not its responses show it.
    Decides,
}

/// An observation of the target.
struct Sign {
    weight: Weight,
    /// The fact in a few words, for the headline.
    short: String,
    finding: Finding,
}

impl Sign {
    /// A sign that explains a slow target, and whose short text is complete.
    fn explaining(code: Code, gravity: Gravity, short: String, advice: &str) -> Sign {
        Sign {
            weight: Weight::Explains,
            finding: code.finding(gravity, short.clone(), advice),
            short,
        }
    }
}

/// What observations say about the limit.
pub(super) struct Seen {
    /// The fact that best explains a slow target, in a few words.
    pub(super) culprit: Option<String>,
    /// Whether the service did not keep up, whatever its responses say.
    pub(super) decides: bool,
    /// Whether the service reports itself as fast, although every client waits.
    pub(super) is_between: bool,
    pub(super) findings: Vec<Finding>,
}

pub(super) fn judge(facts: &Facts<'_>) -> Seen {
    let observations = facts.evidence.observations;
    let Some(phases) = observations.phases else {
        return Seen {
            culprit: None,
            decides: false,
            is_between: false,
            findings: notes::findings(observations),
        };
    };
    let components = component::all(observations, phases);
    let mut signs = levels::signs(&components, facts);
    signs.extend(replicas::signs(&components));
    signs.extend(stages::signs(&components));
    signs.extend(queues::sign(&components, facts));
    signs.extend(notes::signs(&observations.notes));
    // The heaviest first; equal ones in the order of discovery.
    signs.sort_by_key(|sign| std::cmp::Reverse(sign.weight));
    let culprit = signs
        .first()
        .filter(|sign| sign.weight >= Weight::Explains)
        .map(|sign| sign.short.clone());
    let decides = signs.iter().any(|sign| sign.weight == Weight::Decides);
    let between = between::sign(&components, facts);
    let is_between = between
        .as_ref()
        .is_some_and(|sign| sign.weight == Weight::Remark)
        && culprit.is_none();
    let queue = between
        .as_ref()
        .filter(|sign| sign.weight == Weight::Explains);
    let culprit = culprit.or_else(|| queue.map(|sign| sign.short.clone()));
    let mut findings: Vec<Finding> = signs.into_iter().map(|sign| sign.finding).collect();
    findings.extend(between.map(|sign| sign.finding));
    findings.extend(notes::findings(observations));
    Seen {
        culprit,
        decides,
        is_between,
        findings,
    }
}
