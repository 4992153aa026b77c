//! What one worker of one process runs of a plan.
//!
//! Two levels: processes get segments, assigned by striping; the workers of a process take the segment's
//! indexes in turn (own index modulo workers). Must not know threads or processes. Invariant: the segment is
//! part of the sequence, and the worker is below the number of workers.

use super::ratio::common_divisor;
use super::{MAX_CYCLE, Segment, SegmentError, SegmentSequence, Stripes};

/// One worker's exact share of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    segment: Segment,
    sequence: SegmentSequence,
    worker: u32,
    workers: u32,
    /// The segment's own indexes, before the workers divide them.
    stripes: Stripes,
}

impl Share {
    /// The share of worker `worker` of `workers` in the process that runs `segment`.
    ///
    /// # Errors
    /// [`SegmentError::NotInSequence`] if the sequence does not contain the segment.
    ///
    /// # Panics
    /// If `worker` is not below `workers`.
    pub fn new(
        segment: Segment,
        sequence: SegmentSequence,
        worker: u32,
        workers: u32,
    ) -> Result<Share, SegmentError> {
        assert!(worker < workers, "worker {worker} of {workers}");
        let stripes = sequence.stripes(&segment)?;
        Ok(Share {
            segment,
            sequence,
            worker,
            workers,
            stripes,
        })
    }

    /// The share of one worker in a process that runs everything.
    ///
    /// # Panics
    /// If `worker` is not below `workers`.
    #[must_use]
    pub fn whole(worker: u32, workers: u32) -> Share {
        Share::new(Segment::whole(), SegmentSequence::whole(), worker, workers)
            .expect("the whole is the one segment of its sequence")
    }

    /// The slice of the plan that all workers of the process run together, as the share of a single worker.
    #[must_use]
    pub fn of_process(&self) -> Share {
        Share {
            worker: 0,
            workers: 1,
            ..self.clone()
        }
    }

    /// The share of another worker of the same process.
    ///
    /// # Panics
    /// If `worker` is not below the number of workers.
    #[must_use]
    pub fn for_worker(&self, worker: u32) -> Share {
        assert!(worker < self.workers, "worker {worker} of {}", self.workers);
        Share {
            worker,
            ..self.clone()
        }
    }

    /// The process's slice.
    #[must_use]
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The slices of all processes.
    #[must_use]
    pub fn sequence(&self) -> &SegmentSequence {
        &self.sequence
    }

    /// Number of this worker in its process, from zero.
    #[must_use]
    pub fn worker(&self) -> u32 {
        self.worker
    }

    /// Workers in the process.
    #[must_use]
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// The part of `value` for the whole process; over all segments it sums to `value`.
    #[must_use]
    pub fn scale(&self, value: u64) -> u64 {
        self.stripes.count_below(value)
    }

    /// How many of the global indexes below `bound` belong to this worker.
    #[must_use]
    #[inline]
    pub fn count_below(&self, bound: u64) -> u64 {
        let of_process = self.stripes.count_below(bound);
        of_process
            .saturating_sub(u64::from(self.worker))
            .div_ceil(u64::from(self.workers))
    }

    /// The global index of this worker's `number`-th index, from zero; `None` beyond 64 bits.
    #[must_use]
    #[inline]
    pub fn nth(&self, number: u64) -> Option<u64> {
        let of_process = number
            .checked_mul(u64::from(self.workers))?
            .checked_add(u64::from(self.worker))?;
        self.nth_of_process(of_process)
    }

    /// The global index of the `number`-th index of all workers of the process, from zero; `None` beyond 64 bits.
    #[must_use]
    #[inline]
    pub fn nth_of_process(&self, number: u64) -> Option<u64> {
        self.stripes.nth(number)
    }

    /// This worker's global indexes, in order.
    #[must_use]
    pub fn indexes(&self) -> SegmentedIndex {
        SegmentedIndex {
            share: self.clone(),
            passed: 0,
        }
    }

    /// The process's stripes for something divided in the same proportion as `value` instead of by segment
    /// lengths; `None` if the process gets nothing of `value`.
    ///
    /// k6 divides shared iterations this way: in proportion to the virtual users of each process. If the
    /// pattern for `value` repeats only after more than [`MAX_CYCLE`], each process has thousands of them, and
    /// the segments' own stripes are used.
    #[must_use]
    pub fn stripes_by(&self, value: u64) -> Option<Stripes> {
        let scaled = self.sequence.scale_all(value);
        let own = self
            .sequence
            .segments()
            .iter()
            .position(|segment| *segment == self.segment)?;
        if scaled[own] == 0 {
            return None;
        }
        let common = scaled.iter().copied().fold(0, common_divisor);
        if value / common > MAX_CYCLE {
            return Some(self.stripes.clone());
        }
        let weights: Vec<u64> = scaled
            .iter()
            .filter(|part| **part > 0)
            .map(|part| part / common)
            .collect();
        let before = scaled[..own].iter().filter(|part| **part > 0).count();
        Some(Stripes::new(&weights, before))
    }

    /// The same worker's share of something divided in the same proportion as `value` instead of by segment
    /// lengths; `None` if the process gets nothing of `value`.
    ///
    /// k6 divides arrivals this way: in proportion to the maximum virtual users of each process.
    #[must_use]
    pub fn divided_by(&self, value: u64) -> Option<Share> {
        Some(Share {
            stripes: self.stripes_by(value)?,
            ..self.clone()
        })
    }
}

/// Iterates over the global indexes of one share, forwards and backwards.
#[derive(Clone, Debug)]
pub struct SegmentedIndex {
    share: Share,
    /// How many of the share's indexes have been passed.
    passed: u64,
}

impl SegmentedIndex {
    /// How many of the share's indexes have been passed.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// The next index; `None` beyond 64 bits.
    #[must_use]
    #[inline]
    pub fn peek(&self) -> Option<u64> {
        self.share.nth(self.passed)
    }

    /// Steps back over the previous index and returns it; `None` at the start.
    pub fn prev(&mut self) -> Option<u64> {
        self.passed = self.passed.checked_sub(1)?;
        self.peek()
    }

    /// Moves so that the next index is the share's first one at or above `bound`.
    pub fn goto(&mut self, bound: u64) {
        self.passed = self.share.count_below(bound);
    }
}

impl Iterator for SegmentedIndex {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let index = self.peek()?;
        self.passed += 1;
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All shares of a plan that is split at these points (in thousandths), with this many workers each.
    fn shares(cuts: &[u64], workers: u32) -> Vec<Share> {
        let points: Vec<String> = cuts.iter().map(|cut| format!("{cut}/60")).collect();
        let sequence: SegmentSequence = match points.len() {
            0 => SegmentSequence::whole(),
            _ => format!("0,{},1", points.join(","))
                .parse()
                .expect("ascending points"),
        };
        let each = |segment: &Segment| {
            let first = Share::new(*segment, sequence.clone(), 0, workers).expect("its segment");
            (0..workers)
                .map(move |worker| first.for_worker(worker))
                .collect::<Vec<_>>()
        };
        sequence.segments().iter().flat_map(each).collect()
    }

    fn cuts() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::btree_set(1_u64..60, 0..5).prop_map(|set| set.into_iter().collect())
    }

    #[test]
    fn a_foreign_segment_is_refused() {
        let sequence: SegmentSequence = "0,1/2,1".parse().expect("well formed");
        let segment: Segment = "0:1/3".parse().expect("well formed");
        let refused = Share::new(segment, sequence, 0, 1);
        assert_eq!(refused, Err(SegmentError::NotInSequence(segment)));
    }

    #[test]
    fn the_walk_goes_both_ways() {
        let mut index = Share::whole(1, 3).indexes();
        assert_eq!(index.by_ref().take(3).collect::<Vec<_>>(), [1, 4, 7]);
        assert_eq!(index.prev(), Some(7));
        assert_eq!(
            (index.prev(), index.prev(), index.prev()),
            (Some(4), Some(1), None)
        );
        index.goto(5);
        assert_eq!((index.passed(), index.peek()), (2, Some(7)));
        index.goto(4);
        assert_eq!(index.next(), Some(4));
    }

    /// Three VUs over two halves are 2 and 1, so six iterations are split into 4 and 2, not 3 and 3.
    #[test]
    fn something_else_may_set_the_proportion() {
        let halves = shares(&[30], 1);
        let counts: Vec<u64> = halves
            .iter()
            .map(|share| {
                share
                    .stripes_by(3)
                    .map_or(0, |stripes| stripes.count_below(6))
            })
            .collect();
        assert_eq!(counts, [4, 2]);
        assert_eq!(halves[1].stripes_by(1), None);
        assert_eq!(halves[0].stripes_by(1), Some(Stripes::whole()));
        let many = halves[0].stripes_by(2_100_001).expect("it has half");
        assert_eq!(many.count_below(10), 5);
    }

    /// Five VUs over four quarters are 2, 1, 1 and 1; one VU leaves three of the quarters empty.
    #[test]
    fn workers_divide_what_something_else_divides() {
        let quarters = shares(&[15, 30, 45], 1);
        let own = |share: &Share, vus| {
            let share = share.divided_by(vus)?;
            Some((0..3).filter_map(|number| share.nth(number)).collect())
        };
        let five: Vec<Option<Vec<u64>>> = quarters.iter().map(|share| own(share, 5)).collect();
        assert_eq!(
            five,
            [[0, 3, 5], [1, 6, 11], [2, 7, 12], [4, 9, 14]].map(|own| Some(own.to_vec()))
        );
        let alone: Vec<Option<Vec<u64>>> = quarters.iter().map(|share| own(share, 1)).collect();
        assert_eq!(alone, [Some(vec![0, 1, 2]), None, None, None]);
    }

    proptest! {
        #[test]
        fn every_index_belongs_to_one_worker(cuts in cuts(), workers in 1_u32..6, n in 0_u64..500) {
            let shares = shares(&cuts, workers);
            let mut seen: Vec<u64> = shares
                .iter()
                .flat_map(|share| share.indexes().take_while(|index| *index < n))
                .collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
            let counted: u64 = shares.iter().map(|share| share.count_below(n)).sum();
            prop_assert_eq!(counted, n);
        }

        #[test]
        fn what_value_divides_is_divided_completely(
            cuts in cuts(),
            value in 1_u64..100,
            divided in 0_u64..10_000,
        ) {
            let counts: u64 = shares(&cuts, 1)
                .iter()
                .filter_map(|share| share.stripes_by(value))
                .map(|stripes| stripes.count_below(divided))
                .sum();
            prop_assert_eq!(counts, divided);
        }
    }
}
