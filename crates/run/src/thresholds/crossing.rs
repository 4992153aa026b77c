//! When a threshold is first crossed during a run.
//!
//! Must not know how thresholds are evaluated, nor who gets the report. Invariant: each is reported once; a
//! lower bound, which a run cannot have reached at its start, only after it held before.

use loadline_metric::threshold::{Operator, Outcome, Threshold};

/// The state of one threshold.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossing {
    has_held: bool,
    is_told: bool,
}

impl Crossing {
    /// Takes the current outcome; returns whether this is the first crossing.
    pub(super) fn is_first(&mut self, threshold: &Threshold, outcome: Outcome) -> bool {
        self.has_held |= outcome == Outcome::Passed;
        let is_upper = matches!(threshold.operator, Operator::Less | Operator::AtMost);
        let is_crossed = outcome == Outcome::Failed && (is_upper || self.has_held);
        is_crossed && !std::mem::replace(&mut self.is_told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(text: &str, outcomes: &[Outcome]) -> Vec<bool> {
        let threshold = text.parse().expect("a threshold");
        let mut crossing = Crossing::default();
        let take = |outcome: &Outcome| crossing.is_first(&threshold, *outcome);
        outcomes.iter().map(take).collect()
    }

    #[test]
    fn a_crossing_is_told_once() {
        use Outcome::{Failed, NoData, Passed};
        let seen = first("p(95)<5", &[NoData, Failed, Passed, Failed]);
        assert_eq!(seen, [false, true, false, false]);
        let seen = first("goodput>5", &[Failed, Failed, Passed, Failed, Failed]);
        assert_eq!(seen, [false, false, false, true, false]);
        let seen = first("dropped_iterations: count==0", &[Passed, Failed]);
        assert_eq!(seen, [false, true]);
    }
}
