//! A closed model against a simulated server.
//!
//! Must not know which executor it is. Invariant: virtual users act by rising instant, the lower
//! number first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use loadline_model::Nanos;
use loadline_schedule::{Closed, Next};

use crate::outcome::Outcome;
use crate::server::Server;

/// How a closed run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedRun {
    /// Time after the schedule's end that running iterations get.
    pub graceful_stop: Duration,
    /// When the run is stopped though the schedule goes on; `None`: it is not.
    pub stop_at: Option<Nanos>,
}

/// Lets the schedule's virtual users run against the server until all are finished.
pub fn run_closed(schedule: &mut Closed, run: ClosedRun, server: &mut Server) -> Outcome {
    let mut outcome = Outcome::default();
    let end = [schedule.end(), run.stop_at].into_iter().flatten().min();
    let last_cut = end.map(|end| end + run.graceful_stop);
    let mut idle: BinaryHeap<Reverse<(Nanos, u32)>> = (0..schedule.vus())
        .map(|vu| Reverse((Nanos::ZERO, vu)))
        .collect();
    while let Some(Reverse((now, vu))) = idle.pop() {
        if run.stop_at.is_some_and(|stop| now >= stop) {
            schedule.stop();
        }
        match schedule.next(vu, now) {
            Next::Finished => {}
            Next::Wait { until } => idle.push(Reverse((until, vu))),
            Next::Start { .. } => {
                let answer = server.submit(now);
                let own_cut = schedule.interrupt_at(vu, now);
                let cut = [own_cut, last_cut].into_iter().flatten().min();
                outcome.record(now, now, answer, cut);
                let free = cut.map_or(answer.at, |cut| cut.min(answer.at));
                idle.push(Reverse((free, vu)));
            }
        }
    }
    schedule.stop();
    outcome
}
