//! The numbers of virtual users over a whole plan: virtual users that are needed one after another share a
//! number.
//!
//! Source: k6 plans as many virtual users as are needed at a time; once a scenario is done with one, the next
//! scenario uses it. Must not know what a number is used for. Invariant: two virtual users that may be needed
//! at the same time never share a number, and each gets the lowest number free when it is first needed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

use loadline_model::Nanos;

use crate::needs::VuNeed;

/// The numbers of a scenario's virtual users, from zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VuNumbers {
    /// Ranges in the order of the scenario's own numbers: the first own number, and the plan-wide numbers.
    rows: Vec<(u64, Range<u64>)>,
    /// How many the scenario needs.
    vus: u64,
    /// The first number above all of them.
    end: u64,
}

impl VuNumbers {
    /// The numbers for each scenario. The needs are given from the start of the plan.
    #[must_use]
    pub fn of_all(needs: &[Vec<VuNeed>]) -> Vec<VuNumbers> {
        let mut numbers = vec![VuNumbers::default(); needs.len()];
        let of_one = |(scenario, needs): (usize, &Vec<VuNeed>)| {
            let needs = needs.iter().copied();
            needs.map(|need| (scenario, need)).collect::<Vec<_>>()
        };
        let mut by_start: Vec<_> = needs.iter().enumerate().flat_map(of_one).collect();
        by_start.sort_by_key(|(_, need)| need.from);
        let mut free = FreeNumbers::default();
        for (scenario, need) in by_start {
            free.until(need.from);
            for range in free.take(need.vus) {
                if let Some(until) = need.until {
                    free.give_back_at(until, range.clone());
                }
                numbers[scenario].add(range);
            }
        }
        numbers
    }

    fn add(&mut self, range: Range<u64>) {
        let first = self.vus;
        self.vus += range.end - range.start;
        self.end = self.end.max(range.end);
        match self.rows.last_mut() {
            Some((_, last)) if last.end == range.start => last.end = range.end,
            _ => self.rows.push((first, range)),
        }
    }

    /// The number of a scenario's virtual user. Only an externally controlled scenario has more than were
    /// reserved; their numbers follow after all others.
    #[must_use]
    pub fn number(&self, vu: u64) -> u64 {
        if vu >= self.vus {
            return self.end + (vu - self.vus);
        }
        let row = self.rows.partition_point(|(first, _)| *first <= vu);
        let (first, range) = &self.rows[row - 1];
        range.start + (vu - first)
    }

    /// The reserved numbers, in the order of the scenario's own numbers.
    pub fn reserved(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().flat_map(|(_, range)| range.clone())
    }

    /// The first number above all of them.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }
}

/// The numbers that are free at an instant.
#[derive(Default)]
struct FreeNumbers {
    /// Ranges of free numbers that were used before: the first, and the one after the last.
    rows: BTreeMap<u64, u64>,
    /// The lowest number never used.
    fresh: u64,
    /// Numbers in use, by the instant at which they become free.
    taken: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
}

impl FreeNumbers {
    /// Advances to an instant.
    fn until(&mut self, now: Nanos) {
        while let Some(Reverse((_, start, end))) = self
            .taken
            .peek()
            .copied()
            .filter(|Reverse((at, ..))| *at <= now)
        {
            self.taken.pop();
            self.rows.insert(start, end);
        }
    }

    /// Takes the lowest ones.
    fn take(&mut self, count: u64) -> Vec<Range<u64>> {
        let (mut taken, mut left) = (Vec::new(), count);
        while left > 0 {
            let (start, end) = self.rows.pop_first().unwrap_or_else(|| {
                let start = self.fresh;
                self.fresh += left;
                (start, self.fresh)
            });
            let until = end.min(start + left);
            if until < end {
                self.rows.insert(until, end);
            }
            left -= until - start;
            taken.push(start..until);
        }
        taken
    }

    fn give_back_at(&mut self, at: Nanos, range: Range<u64>) {
        self.taken.push(Reverse((at, range.start, range.end)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(from: u64, until: Option<u64>, vus: u64) -> VuNeed {
        VuNeed {
            from: Nanos(from),
            until: until.map(Nanos),
            vus,
        }
    }

    fn numbers(needs: &[VuNeed]) -> Vec<Vec<u64>> {
        let needs: Vec<_> = needs.iter().map(|need| vec![*need]).collect();
        let all = VuNumbers::of_all(&needs);
        all.iter().map(|of| of.reserved().collect()).collect()
    }

    #[test]
    fn scenarios_that_follow_one_another_use_the_same_numbers() {
        let one_by_one = [(0, 1), (2, 3), (4, 5)].map(|(at, to)| need(at, Some(to), 3));
        assert_eq!(numbers(&one_by_one), vec![vec![0, 1, 2]; 3]);
    }

    #[test]
    fn scenarios_at_the_same_time_share_none() {
        let plan = [
            need(0, Some(10), 2),
            need(0, Some(4), 2),
            need(2, None, 1),
            // The second has ended and left a gap that is too small.
            need(5, Some(6), 3),
            need(20, Some(21), 2),
        ];
        let expected = [vec![0, 1], vec![2, 3], vec![4], vec![2, 3, 5], vec![0, 1]];
        assert_eq!(numbers(&plan), expected);
        let plan: Vec<_> = plan.iter().map(|need| vec![*need]).collect();
        let all = VuNumbers::of_all(&plan);
        let by_number: Vec<_> = (0..5).map(|vu| all[3].number(vu)).collect();
        assert_eq!(by_number, [2, 3, 5, 6, 7], "two more, scaled from outside");
        assert_eq!(all[3].end(), 6);
    }

    #[test]
    fn the_order_of_the_plan_does_not_matter_for_what_came_first() {
        let plan = [need(3, Some(5), 2), need(0, Some(4), 1)];
        assert_eq!(numbers(&plan), [vec![1, 2], vec![0]]);
        assert!(VuNumbers::of_all(&[]).is_empty());
    }

    #[test]
    fn a_ramp_takes_over_what_another_one_leaves() {
        let falls: Vec<_> = (0..3).map(|vu| need(0, Some(30 - 10 * vu), 1)).collect();
        let rises: Vec<_> = (0..3).map(|vu| need(10 + 10 * vu, None, 1)).collect();
        let all = VuNumbers::of_all(&[falls, rises]);
        assert_eq!(all[0].reserved().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(all[1].reserved().collect::<Vec<_>>(), [2, 1, 0]);
        assert_eq!(
            (0..4).map(|vu| all[1].number(vu)).collect::<Vec<_>>(),
            [2, 1, 0, 3]
        );
    }
}
