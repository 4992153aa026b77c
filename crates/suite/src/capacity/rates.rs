//! What is known of each rate that was tried: votes of probes, until they settle.
//!
//! A sequential test: a certain probe has two votes, any other one, and a rate is settled by a lead of two votes or
//! after [`PROBES_MAX`] probes, where a tie means no. Near the edge, if there are enough probes for a line through
//! them, that line decides for all of them together. Must not know which rate is tried next. Invariant: without such
//! a line the votes of a rate are those of its own probes alone.

use super::fit::{Crossing, Evidence, Fit};
use super::judge::{Doubt, Judgement, Outcome, Sureness};

/// Maximum probes of one rate that are needed to settle it.
const PROBES_MAX: u32 = 3;
/// The lead of votes that settles a rate.
const LEAD: i32 = 2;
/// Minimum probes for a line that may end a search: fewer fit one by chance.
const FIT_MIN: usize = 8;
/// Maximum probes for a line: four times as many would make it twice as certain.
const FIT_MAX: usize = 16;
/// This many probes in which the generator was the limit settle that it is.
const LIMITED: u32 = 2;

/// What a rate has been settled to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// More probes are needed.
    Open,
    /// The objectives hold.
    Held,
    /// They do not.
    Broke,
    /// The generator does not get there.
    Limited,
}

/// How long a probe was.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProbeLength {
    /// Whether it had its full length. A short one looks whether a rate is far from the edge.
    pub(super) is_full: bool,
    /// Whether it cannot be made longer any more.
    pub(super) is_longest: bool,
}

/// A rate and its probes.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub(super) rate: f64,
    lead: i32,
    pub(super) held: u32,
    pub(super) broke: u32,
    limited: u32,
    /// Probes of full length, and the votes among them.
    full: u32,
    full_held: u32,
    full_broke: u32,
    /// Whether one of them was sure.
    is_sure: bool,
    /// How often its probes were made longer because of too few samples.
    pub(super) longer: u32,
    /// Whether a probe of full length broke in a way that is not counted by requests.
    is_beyond: bool,
    standing: Standing,
}

impl Tried {
    fn new(rate: f64) -> Tried {
        Tried {
            rate,
            lead: 0,
            held: 0,
            broke: 0,
            limited: 0,
            full: 0,
            full_held: 0,
            full_broke: 0,
            is_sure: false,
            longer: 0,
            is_beyond: false,
            standing: Standing::Open,
        }
    }

    /// Adds a probe's outcome.
    fn add(&mut self, outcome: Outcome, length: ProbeLength) {
        let ProbeLength {
            is_full,
            is_longest,
        } = length;
        self.full += u32::from(is_full);
        let sure = [Sureness::Sure, Sureness::Likely];
        self.is_sure |= is_full
            && matches!(outcome, Outcome::Held { sureness } | Outcome::Broke { sureness } if sure.contains(&sureness));
        let weight = |sureness| match sureness {
            Sureness::Sure => LEAD,
            // A wide margin of a short probe says that the rate is far from the edge.
            Sureness::Likely if !is_full => LEAD,
            Sureness::Likely | Sureness::Close => 1,
        };
        match outcome {
            Outcome::Held { sureness } => self.vote(weight(sureness), is_full),
            Outcome::Broke { sureness } => self.vote(-weight(sureness), is_full),
            Outcome::Inconclusive { why } => match why {
                Doubt::Generator | Doubt::Plan => self.limited += 1,
                Doubt::FewHeld if is_longest => self.vote(1, is_full),
                Doubt::FewBroke if is_longest => self.vote(-1, is_full),
                // After a short probe one of full length comes anyway.
                Doubt::FewHeld | Doubt::FewBroke => self.longer += u32::from(is_full),
            },
        }
    }

    fn vote(&mut self, weight: i32, is_full: bool) {
        self.lead += weight;
        if weight > 0 {
            self.held += 1;
            self.full_held += u32::from(is_full);
        } else {
            self.broke += 1;
            self.full_broke += u32::from(is_full);
        }
    }

    fn votes(&self) -> u32 {
        self.held + self.broke
    }

    pub(super) fn standing(&self) -> Standing {
        self.standing
    }

    fn by_votes(&self) -> Standing {
        if self.limited >= LIMITED && self.limited > self.votes() {
            return Standing::Limited;
        }
        match self.lead {
            lead if lead >= LEAD => Standing::Held,
            lead if lead <= -LEAD => Standing::Broke,
            lead if self.votes() >= PROBES_MAX && lead > 0 => Standing::Held,
            _ if self.votes() >= PROBES_MAX => Standing::Broke,
            _ => Standing::Open,
        }
    }

    /// Whether two probes of full length agree; three, where all of them were close.
    fn is_agreed(&self) -> bool {
        let enough = if self.is_sure { 2 } else { 3 };
        match self.standing {
            Standing::Limited => true,
            Standing::Held => self.full_held >= enough,
            Standing::Broke => self.full_broke >= enough,
            Standing::Open => false,
        }
    }

    fn may_lie_on_a_line(&self) -> bool {
        self.full > 0 && !self.is_beyond && self.limited == 0
    }

    /// Probes of full length.
    pub(super) fn full(&self) -> u32 {
        self.full
    }

    /// Whether its probes contradict each other.
    pub(super) fn is_disputed(&self) -> bool {
        self.held > 0 && self.broke > 0
    }
}

/// All rates that were tried, by rate.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    tried: Vec<Tried>,
    /// Of probes of full length.
    evidence: Vec<Evidence>,
    fit: Option<Fit>,
}

impl Rates {
    pub(super) fn add(&mut self, rate: f64, judgement: &Judgement, length: ProbeLength) {
        let position = self.tried.partition_point(|tried| tried.rate < rate);
        if self
            .tried
            .get(position)
            .is_none_or(|tried| tried.rate > rate)
        {
            self.tried.insert(position, Tried::new(rate));
        }
        let tried = &mut self.tried[position];
        tried.add(judgement.outcome, length);
        let has_broken = matches!(judgement.outcome, Outcome::Broke { .. });
        tried.is_beyond |= length.is_full && has_broken && judgement.stress.is_none();
        if let Some(stress) = judgement
            .stress
            .filter(|_| length.is_full && !judgement.outcome.is_void())
        {
            self.evidence.push(Evidence { rate, stress });
        }
        self.settle();
    }

    /// Settles all rates again.
    fn settle(&mut self) {
        self.fit = Fit::of(&self.evidence);
        for tried in &mut self.tried {
            let fit = self.fit.as_ref().filter(|_| tried.may_lie_on_a_line());
            tried.standing = match fit.and_then(|fit| fit.holds(tried.rate)) {
                Some(true) => Standing::Held,
                Some(false) => Standing::Broke,
                None => tried.by_votes(),
            };
        }
    }

    /// Whether a rate may be an edge of the result: the line decides for it and is certain enough or will hardly
    /// improve, otherwise two probes agree.
    pub(super) fn is_confirmed(&self, tried: &Tried, precision: f64) -> bool {
        match self.line_at(tried) {
            Some(crossing) => {
                let is_narrow = crossing.half_width <= precision * crossing.rate;
                (is_narrow && crossing.probes >= FIT_MIN) || crossing.probes >= FIT_MAX
            }
            None => tried.is_agreed(),
        }
    }

    /// Whether an edge is as sure as asked for, without a probe to the contrary.
    pub(super) fn is_sure(&self, tried: &Tried, precision: f64) -> bool {
        match self.line_at(tried) {
            Some(crossing) => crossing.half_width <= 2.0 * precision * crossing.rate,
            None => tried.is_agreed() && !tried.is_disputed(),
        }
    }

    /// The crossing of the line that decides for a rate; `None` where votes do.
    pub(super) fn line_at(&self, tried: &Tried) -> Option<Crossing> {
        let fit = self.fit.as_ref().filter(|_| tried.may_lie_on_a_line())?;
        fit.holds(tried.rate).map(|_| fit.crossing)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tried.is_empty()
    }

    pub(super) fn get(&self, rate: f64) -> Option<&Tried> {
        self.tried.iter().find(|tried| tried.rate == rate)
    }

    /// The unsettled one; there is at most one.
    pub(super) fn open(&self) -> Option<&Tried> {
        self.tried
            .iter()
            .find(|tried| tried.standing() == Standing::Open)
    }

    /// The lowest rate that is known not to be carried.
    pub(super) fn upper(&self) -> Option<&Tried> {
        let not_carried =
            |tried: &&Tried| matches!(tried.standing(), Standing::Broke | Standing::Limited);
        self.tried.iter().find(not_carried)
    }

    /// The highest rate below the first one not carried that is known to hold.
    pub(super) fn lower(&self) -> Option<&Tried> {
        let below = self.upper().map_or(f64::INFINITY, |upper| upper.rate);
        self.tried
            .iter()
            .rev()
            .find(|tried| tried.rate < below && tried.standing() == Standing::Held)
    }

    /// A probe of full length that held above a rate that does not: `(held, broke)`, the widest apart. Near a line through many probes
    /// that is noise.
    pub(super) fn contradiction(&self) -> Option<(f64, f64)> {
        let broke = self
            .tried
            .iter()
            .find(|tried| tried.standing() == Standing::Broke)?;
        let held = self
            .tried
            .iter()
            .rev()
            .find(|tried| tried.full_held > 0 && self.line_at(tried).is_none())?;
        (held.rate > broke.rate).then_some((held.rate, broke.rate))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fit::Stress;
    use super::*;

    const LONGEST: ProbeLength = ProbeLength {
        is_full: true,
        is_longest: true,
    };
    const SURE: Outcome = Outcome::Held {
        sureness: Sureness::Sure,
    };
    const SURELY_NOT: Outcome = Outcome::Broke {
        sureness: Sureness::Sure,
    };
    const CLOSE: Outcome = Outcome::Held {
        sureness: Sureness::Close,
    };
    const CLOSELY_NOT: Outcome = Outcome::Broke {
        sureness: Sureness::Close,
    };

    fn judged(outcome: Outcome, stress: Option<Stress>) -> Judgement {
        Judgement {
            outcome,
            objectives: Vec::new(),
            samples: 10_000,
            not_carried: None,
            stress,
        }
    }

    fn standing(outcomes: &[Outcome]) -> (Standing, bool) {
        let mut rates = Rates::default();
        for outcome in outcomes {
            rates.add(5.0, &judged(*outcome, None), LONGEST);
        }
        let tried = rates.get(5.0).expect("it was tried");
        (tried.standing(), rates.is_confirmed(tried, 0.02))
    }

    #[test]
    fn votes_settle_a_rate() {
        let few = Outcome::Inconclusive {
            why: Doubt::FewHeld,
        };
        let limited = Outcome::Inconclusive {
            why: Doubt::Generator,
        };
        for (outcomes, expected) in [
            (vec![SURE], (Standing::Held, false)),
            (vec![SURE, CLOSE], (Standing::Held, true)),
            (vec![CLOSE], (Standing::Open, false)),
            (vec![CLOSE, CLOSE], (Standing::Held, false)),
            (vec![CLOSE, CLOSE, CLOSE], (Standing::Held, true)),
            (vec![few, few], (Standing::Held, false)),
            (vec![CLOSE, CLOSELY_NOT, CLOSE], (Standing::Held, false)),
            (
                vec![CLOSE, CLOSELY_NOT, CLOSELY_NOT],
                (Standing::Broke, false),
            ),
            (vec![CLOSE, CLOSE, SURELY_NOT], (Standing::Broke, false)),
            (vec![SURE, SURELY_NOT], (Standing::Open, false)),
            (
                vec![SURE, CLOSELY_NOT, CLOSELY_NOT],
                (Standing::Broke, true),
            ),
            (vec![limited], (Standing::Open, false)),
            (vec![limited, limited], (Standing::Limited, true)),
            (vec![limited, SURE], (Standing::Held, false)),
        ] {
            assert_eq!(standing(&outcomes), expected, "{outcomes:?}");
        }
    }

    #[test]
    fn the_first_rate_not_carried_is_the_upper_edge() {
        let mut rates = Rates::default();
        for (rate, outcome) in [
            (10.0, SURE),
            (40.0, SURE),
            (20.0, SURELY_NOT),
            (80.0, SURELY_NOT),
        ] {
            rates.add(rate, &judged(outcome, None), LONGEST);
        }
        assert_eq!(rates.upper().map(|tried| tried.rate), Some(20.0));
        assert_eq!(rates.lower().map(|tried| tried.rate), Some(10.0));
        assert_eq!(rates.contradiction(), Some((40.0, 20.0)));
    }

    #[test]
    fn a_line_through_many_probes_outvotes_one() {
        let mut rates = Rates::default();
        for (rate, observed, outcome) in [
            (480.0, 40.0, SURE),
            (490.0, 60.0, SURE),
            // By chance it broke, though the others say that it should hold.
            (495.0, 104.0, CLOSELY_NOT),
            (495.0, 90.0, CLOSE),
            (505.0, 120.0, CLOSELY_NOT),
            (520.0, 240.0, SURELY_NOT),
        ] {
            let stress = Stress {
                observed,
                allowed: 100.0,
            };
            rates.add(rate, &judged(outcome, Some(stress)), LONGEST);
        }
        let edges = (
            rates.lower().map(|tried| tried.rate),
            rates.upper().map(|tried| tried.rate),
        );
        assert_eq!(edges, (Some(495.0), Some(505.0)));
        let lower = rates.lower().expect("an edge");
        let crossing = rates.line_at(lower).expect("a line");
        assert!((495.0..505.0).contains(&crossing.rate), "{crossing:?}");
        assert_eq!(rates.contradiction(), None);
        // A rate at which the load was not carried at all is decided by its own probe.
        rates.add(490.0, &judged(SURELY_NOT, None), LONGEST);
        assert_eq!(rates.get(490.0).map(Tried::standing), Some(Standing::Open));
    }
}
