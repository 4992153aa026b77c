//! Iterations per virtual user: each runs the same number.
//!
//! Must not know the end of the scenario. Invariant: round `r` of virtual user `v` of `n` has the index `r * n
//! + v`, so all indexes together have no gaps, however the plan is divided.

use loadline_model::segment::Share;

use crate::global_vu;
use crate::next::Next;

#[derive(Debug)]
pub(crate) struct PerVuIterations {
    share: Share,
    /// Virtual users of the whole test.
    all_vus: u64,
    /// Iterations per virtual user; not divided by segments, as in k6.
    iterations: u64,
    /// Iterations started, by local virtual user.
    started: Vec<u64>,
}

impl PerVuIterations {
    pub(crate) fn new(share: &Share, vus: u32, all_vus: u32, iterations: u64) -> PerVuIterations {
        PerVuIterations {
            share: share.clone(),
            all_vus: u64::from(all_vus),
            iterations,
            started: vec![0; vus as usize],
        }
    }

    #[inline]
    pub(crate) fn next(&mut self, vu: u32) -> Next {
        let started = &mut self.started[vu as usize];
        if *started == self.iterations {
            return Next::Finished;
        }
        let first = u64::from(global_vu(&self.share, vu));
        let iteration = started.saturating_mul(self.all_vus).saturating_add(first);
        *started += 1;
        Next::Start { iteration }
    }

    pub(crate) fn unstarted(&self) -> u64 {
        self.unstarted_by_vu().fold(0, u64::saturating_add)
    }

    /// Unstarted iterations of each virtual user.
    pub(crate) fn unstarted_by_vu(&self) -> impl Iterator<Item = u64> {
        self.started.iter().map(|started| self.iterations - started)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_virtual_user_runs_its_number() {
        let mut policy = PerVuIterations::new(&Share::whole(1, 2), 1, 3, 2);
        assert_eq!(policy.next(0), Next::Start { iteration: 1 });
        assert_eq!(policy.unstarted(), 1);
        assert_eq!(policy.next(0), Next::Start { iteration: 4 });
        assert_eq!(policy.next(0), Next::Finished);
        assert_eq!((policy.next(0), policy.unstarted()), (Next::Finished, 0));
    }
}
