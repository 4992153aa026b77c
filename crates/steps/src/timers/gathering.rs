//! A place where threads wait until there are enough of them (Synchronizing Timer).
//!
//! Must not know time limits' clock. Invariant: a thread that was let go is let go once; whoever gives up waiting lets all go
//! that wait with it, as in JMeter.

/// The threads that wait for each other.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    /// How many it takes; 0: not known yet.
    parties: u64,
    waiting: u64,
    /// How often threads were let go.
    round: u64,
}

/// What a thread that comes is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// It goes on, and so do all that waited.
    Go,
    /// It waits until the round is another.
    Wait {
        /// The round that it waits in.
        round: u64,
    },
}

impl Gathering {
    /// A thread comes; `parties`: how many it takes, of which the first thread's word stands.
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

    /// Whether those that wait in a round were let go.
    pub(crate) fn is_over(&self, round: u64) -> bool {
        self.round != round
    }

    /// Lets go whoever waits.
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
