//! What a part of a plan would have offered: for agents that are lost.
//!
//! Must not start anything. Invariant: it counts like the workers of the part.

use std::sync::Arc;

use loadline_model::{Nanos, TestPlan};
use loadline_schedule::{IterationPool, Open, Schedule};

/// The arrivals of a plan's segment.
#[derive(Debug)]
pub struct PlannedArrivals {
    /// The open scenarios, each with its start and, where time ends it, its end.
    scenarios: Vec<(Nanos, Option<Nanos>, Open)>,
    /// Those due before belong to another process.
    from: Nanos,
}

impl PlannedArrivals {
    /// The arrivals of a plan with its segment that are due at `from` or later.
    ///
    /// # Errors
    /// The plan's segment is not in its sequence, in words for the user.
    pub fn of(plan: &TestPlan, from: Nanos) -> Result<PlannedArrivals, String> {
        let share = plan.share(0, 1)?;
        let of_one = |scenario: &loadline_model::Scenario| {
            let pool = Arc::new(IterationPool::for_executor(&scenario.executor, &share));
            let schedule = Schedule::new(&scenario.executor, &share, &pool);
            let end = schedule.end();
            match schedule {
                Schedule::Open(open) => Some((Nanos::from(scenario.start_time), end, open)),
                Schedule::Closed(_) => None,
            }
        };
        Ok(PlannedArrivals {
            scenarios: plan.scenarios.iter().filter_map(of_one).collect(),
            from,
        })
    }

    /// Arrivals due up to an instant of the run.
    #[must_use]
    pub fn by(&self, now: Nanos) -> u64 {
        self.all_by(now).saturating_sub(self.all_before(self.from))
    }

    /// Arrivals due before an instant of the run.
    #[must_use]
    pub fn before(&self, now: Nanos) -> u64 {
        self.all_before(now)
            .saturating_sub(self.all_before(self.from))
    }

    fn all_before(&self, now: Nanos) -> u64 {
        let just_before = now.0.checked_sub(1);
        just_before.map_or(0, |before| self.all_by(Nanos(before)))
    }

    fn all_by(&self, now: Nanos) -> u64 {
        let begun = self.scenarios.iter().filter(|(start, ..)| *start <= now);
        begun
            .map(|(start, end, open)| {
                let since = Nanos(now.since(*start));
                open.planned_by(since.min(end.unwrap_or(Nanos::MAX)))
            })
            .sum()
    }
}
