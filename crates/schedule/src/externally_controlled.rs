//! Virtual users whose number is controlled from outside: each active one starts again as soon as its iteration
//! ends.
//!
//! Must not know who controls it. Invariant: nothing starts on a virtual user whose number in the whole test is at
//! or above the requested number, which is zero while the scenario is paused.

use loadline_model::Nanos;
use loadline_model::segment::Share;

use crate::global_vu;
use crate::next::{Next, Numbering};

#[derive(Debug)]
pub(crate) struct ExternallyControlled {
    share: Share,
    /// Active virtual users of the whole test.
    at_work: u32,
    numbering: Numbering,
}

impl ExternallyControlled {
    pub(crate) fn new(share: &Share, at_work: u32) -> ExternallyControlled {
        ExternallyControlled {
            share: share.clone(),
            at_work,
            numbering: Numbering::new(share),
        }
    }

    pub(crate) fn steer(&mut self, at_work: u32) {
        self.at_work = at_work;
    }

    /// Active virtual users of the whole test.
    pub(crate) fn at_work(&self) -> u32 {
        self.at_work
    }

    pub(crate) fn next(&mut self, vu: u32) -> Next {
        if global_vu(&self.share, vu) < self.at_work {
            self.numbering.start()
        } else {
            Next::Wait { until: Nanos::MAX }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_those_at_work_start() {
        let mut policy = ExternallyControlled::new(&Share::whole(1, 2), 2);
        let waits = Next::Wait { until: Nanos::MAX };
        assert_eq!(
            policy.next(0),
            Next::Start { iteration: 1 },
            "number 1 of 2"
        );
        assert_eq!(policy.next(1), waits, "number 3 of 2");
        policy.steer(4);
        assert_eq!(policy.next(1), Next::Start { iteration: 3 });
        policy.steer(0);
        assert_eq!((policy.next(0), policy.at_work()), (waits, 0));
        policy.steer(4);
        assert_eq!(policy.next(0), Next::Start { iteration: 5 });
    }
}
