//! A rendezvous where threads wait until there are enough of them (Synchronizing Timer).
//!
//! Must not know the clock of time limits. Invariant: a waiting thread is released once; as in JMeter, one that
//! gives up releases all others with it.

/// Threads waiting for each other.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// How many are required; 0: not known yet.
    parties: u64,
    waiting: u64,
    /// How often threads were released.
    round: u64,
}

/// The result for an arriving thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// It continues, and so do all that waited.
    Go,
    /// It waits until the round changes.
    Wait {
        /// The current round.
        round: u64,
    },
}

impl Gathering {
    /// A thread arrives; `parties`: the required number, which the first thread sets.
    pub(crate) fn come(&mut self, parties: u64) -> Gathered {
        if self.parties == 0 {
            self.parties = parties.max(1);
        }
        self.waiting += 1;
        if self.waiting >= self.parties {
            self.let_go();
            return Gathered::Go;
        }
        Gathered::Wait { round: self.round }
    }

    /// Whether those that wait in a round were released.
    pub(crate) fn is_over(&self, round: u64) -> bool {
        self.round != round
    }

    /// Releases all waiting threads.
    pub(crate) fn let_go(&mut self) {
        self.waiting = 0;
        self.round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_leave_together() {
        let mut gathering = Gathering::default();
        assert_eq!(gathering.come(3), Gathered::Wait { round: 0 });
        assert_eq!(gathering.come(3), Gathered::Wait { round: 0 });
        assert!(!gathering.is_over(0));
        assert_eq!(gathering.come(3), Gathered::Go);
        assert!(gathering.is_over(0));
        assert_eq!(
            gathering.come(1),
            Gathered::Wait { round: 1 },
            "the first word stands"
        );
        gathering.let_go();
        assert!(gathering.is_over(1));
    }

    #[test]
    fn one_is_enough_where_none_is_wanted() {
        assert_eq!(Gathering::default().come(0), Gathered::Go);
    }
}
