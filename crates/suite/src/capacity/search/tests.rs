//! Searches against targets of known capacity, in virtual time.
//!
//! Must not know how a search decides. Invariant: fixed seeds.

mod decided;
mod queues;

use std::time::Duration;

use loadline_model::verdict::Limit;

use super::super::answer::{Answer, ProbeFinding};
use super::super::judge::{Judgement, Look, Outcome, Sureness};
use super::{Order, Report, Search, SearchStep, Settings};

const SURELY_HELD: Outcome = Outcome::Held {
    sureness: Sureness::Sure,
};
const SURELY_NOT: Outcome = Outcome::Broke {
    sureness: Sureness::Sure,
};

fn settings() -> Settings {
    Settings {
        from: None,
        to: None,
        precision: 0.02,
        probe: Duration::from_secs(30),
        probe_max: Duration::from_secs(60),
        warm_up: Duration::from_secs(5),
        recovery: Duration::from_secs(3),
        recoveries_max: 10,
        time_max: None,
        samples_min: 2_000,
    }
}

fn report(outcome: Outcome) -> Report {
    Report {
        judgement: Judgement {
            outcome,
            objectives: Vec::new(),
            samples: 10_000,
            not_carried: None,
            stress: None,
        },
        found: ProbeFinding {
            throughput: 0.0,
            limit: Limit::Unknown,
            headline: String::new(),
            findings: Vec::new(),
        },
    }
}

/// Runs a search to its end in virtual time; recoveries succeed at once.
fn run(settings: Settings, mut probe: impl FnMut(&Order) -> Report) -> Answer {
    let slo = "p(99)<200ms".parse().expect("objectives");
    let mut search = Search::new(slo, settings);
    let mut spent = Duration::ZERO;
    loop {
        match search.next(spent) {
            SearchStep::Probe(order) => {
                spent += order.length();
                search.told(probe(&order));
            }
            SearchStep::Recover(order) => {
                spent += order.length();
                search.told_recovery(Look::Recovered);
            }
            SearchStep::Done(answer) => return *answer,
        }
    }
}
