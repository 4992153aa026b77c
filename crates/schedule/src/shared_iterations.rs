//! Shared iterations: virtual users take iterations from a shared number until it is used up.
//!
//! Must not know other workers, except through the pool. Invariant: whatever this worker claimed, it starts or
//! counts as unstarted.

use std::ops::Range;
use std::sync::Arc;

use crate::next::Next;
use crate::pool::IterationPool;

#[derive(Debug)]
pub(crate) struct SharedIterations {
    pool: Arc<IterationPool>,
    /// Claimed but not started.
    batch: Range<u64>,
    /// What was left in the pool when this worker closed it.
    left_over: u64,
}

impl SharedIterations {
    pub(crate) fn new(pool: Arc<IterationPool>) -> SharedIterations {
        SharedIterations {
            pool,
            batch: 0..0,
            left_over: 0,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Next {
        if self.batch.is_empty() {
            self.batch = self.pool.claim().unwrap_or(0..0);
        }
        match self.batch.next() {
            Some(number) => Next::Start {
                iteration: self.pool.index(number),
            },
            None => Next::Finished,
        }
    }

    pub(crate) fn stop(&mut self) {
        self.left_over = self.pool.close();
    }

    pub(crate) fn unstarted(&self) -> u64 {
        self.left_over + (self.batch.end - self.batch.start)
    }
}

#[cfg(test)]
mod tests {
    use loadline_model::Executor;
    use loadline_model::segment::Share;

    use super::*;

    #[test]
    fn a_worker_without_virtual_users_leaves_the_pool_to_the_others() {
        let executor = Executor::SharedIterations {
            vus: 1,
            iterations: 9,
            max_duration: None,
        };
        let shares = [0, 1].map(|worker| Share::whole(worker, 2));
        let pool = Arc::new(IterationPool::for_executor(&executor, &shares[0]));
        let [mut one, mut other] = shares.map(|share| crate::Closed::new(&executor, &share, &pool));
        if one.vus() > 0 {
            std::mem::swap(&mut one, &mut other);
        }
        assert_eq!((one.vus(), other.vus()), (0, 1));
        one.stop();
        assert_eq!(one.unstarted(), 0);
        other.stop();
        assert_eq!(other.unstarted(), 9);
    }

    #[test]
    fn every_iteration_is_started_or_counted() {
        let executor = Executor::SharedIterations {
            vus: 2,
            iterations: 50,
            max_duration: None,
        };
        let pool = Arc::new(IterationPool::for_executor(&executor, &Share::whole(0, 2)));
        let mut workers = [
            SharedIterations::new(Arc::clone(&pool)),
            SharedIterations::new(Arc::clone(&pool)),
        ];
        for turn in 0..7 {
            assert!(matches!(workers[turn % 2].next(), Next::Start { .. }));
        }
        workers.iter_mut().for_each(SharedIterations::stop);
        assert_eq!(workers[0].unstarted() + workers[1].unstarted(), 43);
    }
}
