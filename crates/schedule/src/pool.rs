//! The only thing that workers share while they run: the iterations left to claim.
//!
//! Must not know who claims. Invariant: every iteration of the process is claimed once, or returned when the
//! pool is closed. Batches shrink with the remaining number, so each worker touches the counter only a few
//! times. The last few rounds of all virtual users are claimed one by one, so that none is idle while another
//! has a second iteration to run.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use loadline_model::Executor;
use loadline_model::segment::{Share, Stripes};

/// A worker claims at most the remaining number divided by this and by the number of workers.
const BATCHES_PER_WORKER: u64 = 8;

/// Rounds of all virtual users at the end whose iterations are claimed one by one.
const ROUNDS_ALONE: u64 = 4;

/// The shared iterations of one process.
#[derive(Debug)]
pub struct IterationPool {
    /// Iterations claimed; equals `total` when none is left.
    claimed: AtomicU64,
    /// Iterations of this process.
    total: u64,
    /// The process's own indexes among all iterations; `None` if it has none.
    stripes: Option<Stripes>,
    workers: u64,
    /// Iterations at the end that are claimed one by one.
    alone: u64,
}

impl IterationPool {
    /// The pool for all workers of the process that `share` belongs to; any worker's share will do. Empty for
    /// every executor except shared iterations.
    ///
    /// As in k6, a process gets iterations in proportion to its virtual users.
    #[must_use]
    pub fn for_executor(executor: &Executor, share: &Share) -> IterationPool {
        let (stripes, iterations, vus) = match executor {
            Executor::SharedIterations {
                vus, iterations, ..
            } => {
                let vus = u64::from(*vus);
                (share.stripes_by(vus), *iterations, vus)
            }
            _ => (None, 0, 0),
        };
        IterationPool {
            claimed: AtomicU64::new(0),
            total: stripes
                .as_ref()
                .map_or(0, |stripes| stripes.count_below(iterations)),
            stripes,
            workers: u64::from(share.workers()),
            alone: vus.saturating_mul(ROUNDS_ALONE),
        }
    }

    /// Total iterations of this process.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Claims a batch of numbers within the process; `None` if none is left.
    pub(crate) fn claim(&self) -> Option<Range<u64>> {
        let batch = |left: u64| {
            let in_batches = left.saturating_sub(self.alone);
            (in_batches / (BATCHES_PER_WORKER * self.workers)).max(1)
        };
        // Only the counter is shared, so no other memory needs ordering.
        self.claimed
            .try_update(Ordering::Relaxed, Ordering::Relaxed, |claimed| {
                let left = self.total - claimed;
                (left > 0).then(|| claimed + batch(left))
            })
            .ok()
            .map(|claimed| claimed..claimed + batch(self.total - claimed))
    }

    /// Takes everything that is left and returns how much it was.
    pub(crate) fn close(&self) -> u64 {
        self.total - self.claimed.swap(self.total, Ordering::Relaxed)
    }

    /// The index of a claimed number in the whole test.
    #[inline]
    pub(crate) fn index(&self, number: u64) -> u64 {
        self.stripes
            .as_ref()
            .and_then(|stripes| stripes.nth(number))
            .expect("a claimed number is one of the process's indexes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_shrink_and_leave_nothing() {
        let executor = Executor::SharedIterations {
            vus: 4,
            iterations: 100,
            max_duration: None,
        };
        let pool = IterationPool::for_executor(&executor, &Share::whole(0, 2));
        let batches: Vec<Range<u64>> = std::iter::from_fn(|| pool.claim()).collect();
        assert_eq!(batches.first(), Some(&(0..5)));
        let last_rounds = &batches[batches.len() - 4 * 4..];
        assert!(last_rounds.iter().all(|batch| batch.end - batch.start == 1));
        assert_eq!(last_rounds.last(), Some(&(99..100)));
        assert!(batches.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(pool.close(), 0);
    }

    #[test]
    fn a_closed_pool_is_empty() {
        let executor = Executor::SharedIterations {
            vus: 1,
            iterations: 80,
            max_duration: None,
        };
        let pool = IterationPool::for_executor(&executor, &Share::whole(0, 1));
        assert_eq!(pool.claim(), Some(0..9));
        assert_eq!((pool.close(), pool.close(), pool.claim()), (71, 0, None));
    }
}
