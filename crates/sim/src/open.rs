//! An open model against a simulated server.
//!
//! Must not know how arrivals are spaced. Invariant: arrivals start in the order in which they are
//! due; one that waits gets the virtual user that is free first.

use std::time::Duration;

use loadline_model::{Nanos, OnExhausted};
use loadline_schedule::Open;

use crate::free_times::FreeTimes;
use crate::outcome::Outcome;
use crate::server::Server;

/// How an open run treats its arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRun {
    /// Virtual users; at least one.
    pub vus: u32,
    /// What happens to an arrival that finds none free.
    pub on_exhausted: OnExhausted,
    /// Time after the schedule's end in which arrivals that wait may start and started ones end.
    pub grace: Duration,
}

/// Takes every arrival of the schedule to the server.
///
/// A schedule without an end in time is run until it has no arrival left.
///
/// # Panics
/// When the run has no virtual user.
pub fn run_open(schedule: &mut Open, run: OpenRun, server: &mut Server) -> Outcome {
    let mut outcome = Outcome::default();
    let mut vus = FreeTimes::new(run.vus);
    let cut = schedule.end().map(|end| end + run.grace);
    while let Some(arrival) = schedule.take() {
        let intended = arrival.intended;
        let free = Nanos(vus.earliest());
        if free > intended && run.on_exhausted == OnExhausted::Drop {
            outcome.dropped += 1;
            continue;
        }
        let sent = intended.max(free);
        if cut.is_some_and(|cut| sent >= cut) {
            outcome.never_started += 1;
            continue;
        }
        let answer = server.submit(sent);
        vus.occupy_earliest(answer.at.0);
        outcome.record(intended, sent, answer, cut);
    }
    outcome
}
