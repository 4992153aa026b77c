//! The numbers of iterations, in the test and in this instance.
//!
//! Must not know what an iteration does. Invariant: as in k6, the iterations of a script that start in an open model are
//! numbered without holes, whatever was dropped before.

use loadline_schedule::{Arrival, Schedule};

use super::ScenarioShare;

impl ScenarioShare {
    /// The number within this instance of an iteration of a closed model that starts now, given its number within
    /// the test.
    #[inline]
    pub(crate) fn number_in_instance(&self, iteration: u64) -> u64 {
        let script = self.script.as_ref();
        script.map_or(iteration, |script| script.number_in_instance(iteration))
    }

    /// The numbers within the test and within this instance of the iteration that an arrival starts now.
    pub(crate) fn numbers_of(&self, arrival: Arrival) -> (u64, u64) {
        let of_arrival = (arrival.iteration, arrival.iteration);
        let (Some(script), Schedule::Open(open)) = (&self.script, &*self.schedule.borrow()) else {
            return of_arrival;
        };
        let earlier = script.count_begun();
        let in_test = open.number_of_start(earlier);
        (in_test.unwrap_or(arrival.iteration), earlier)
    }
}
