//! The numbers of virtual users over a whole plan: scenarios that follow one another use the same ones.
//!
//! Source: k6 plans as many virtual users as are wanted at a time, and those of a scenario that has
//! ended serve the next. Must not know what a number is used for. Invariant: two scenarios that can run
//! at the same time share no number, and every scenario has the least that are free when it begins.

use std::ops::Range;
use std::time::Duration;

/// The time of a scenario, and what it needs then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VuReservation {
    /// When it begins.
    pub start: Duration,
    /// When its last iteration must have ended; `None`: it may go on for ever.
    pub end: Option<Duration>,
    /// Virtual users at most.
    pub vus: u64,
}

/// The numbers of a scenario's virtual users, from zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VuNumbers(Vec<Range<u64>>);

impl VuNumbers {
    /// The numbers of each scenario, in the order in which they are given.
    #[must_use]
    pub fn of_all(reservations: &[VuReservation]) -> Vec<VuNumbers> {
        let mut by_start: Vec<usize> = (0..reservations.len()).collect();
        by_start.sort_by_key(|index| reservations[*index].start);
        let mut numbers = vec![VuNumbers::default(); reservations.len()];
        for (place, &index) in by_start.iter().enumerate() {
            let own = reservations[index];
            let still_runs = |other: &&usize| {
                let end = reservations[**other].end;
                end.is_none_or(|end| end > own.start)
            };
            let taken = by_start[..place].iter().filter(still_runs);
            let taken = taken.flat_map(|other| numbers[*other].0.iter().cloned());
            numbers[index] = VuNumbers(least_free(taken.collect(), own.vus));
        }
        numbers
    }

    /// The number of a scenario's virtual user; one beyond those that were reserved, which only a
    /// scenario has that is controlled from outside, comes after them.
    #[must_use]
    pub fn number(&self, vu: u64) -> u64 {
        let mut left = vu;
        for range in &self.0 {
            let length = range.end - range.start;
            if left < length {
                return range.start + left;
            }
            left -= length;
        }
        self.end() + left
    }

    /// Whether one of those that were reserved has this number.
    #[must_use]
    pub fn contains(&self, number: u64) -> bool {
        self.0.iter().any(|range| range.contains(&number))
    }

    /// The first number above all of them.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.0.last().map_or(0, |range| range.end)
    }
}

/// The least numbers outside what is taken.
fn least_free(mut taken: Vec<Range<u64>>, count: u64) -> Vec<Range<u64>> {
    taken.sort_by_key(|range| range.start);
    let (mut free, mut from, mut left) = (Vec::new(), 0, count);
    for range in taken {
        let gap = range.start.saturating_sub(from).min(left);
        if gap > 0 {
            free.push(from..from + gap);
            left -= gap;
        }
        from = from.max(range.end);
    }
    if left > 0 {
        free.push(from..from + left);
    }
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reservation(start: u64, end: Option<u64>, vus: u64) -> VuReservation {
        VuReservation {
            start: Duration::from_secs(start),
            end: end.map(Duration::from_secs),
            vus,
        }
    }

    fn numbers(reservations: &[VuReservation]) -> Vec<Vec<u64>> {
        let all = VuNumbers::of_all(reservations);
        let of_one = |(numbers, own): (&VuNumbers, &VuReservation)| {
            (0..own.vus).map(|vu| numbers.number(vu)).collect()
        };
        all.iter().zip(reservations).map(of_one).collect()
    }

    #[test]
    fn scenarios_that_follow_one_another_use_the_same_numbers() {
        let one_by_one = [(0, 1), (2, 3), (4, 5)].map(|(at, to)| reservation(at, Some(to), 3));
        assert_eq!(numbers(&one_by_one), vec![vec![0, 1, 2]; 3]);
    }

    #[test]
    fn scenarios_at_the_same_time_share_none() {
        let plan = [
            reservation(0, Some(10), 2),
            reservation(0, Some(4), 2),
            reservation(2, None, 1),
            // The second has ended, and left a gap that is too small.
            reservation(5, Some(6), 3),
            reservation(20, Some(21), 2),
        ];
        let expected = [vec![0, 1], vec![2, 3], vec![4], vec![2, 3, 5], vec![0, 1]];
        assert_eq!(numbers(&plan), expected);
        let last = &VuNumbers::of_all(&plan)[3];
        assert_eq!((last.end(), last.number(4)), (6, 7), "scaled from outside");
        let reserved = (0..8).filter(|number| last.contains(*number));
        assert_eq!(reserved.collect::<Vec<_>>(), [2, 3, 5]);
    }

    #[test]
    fn the_order_of_the_plan_does_not_matter_for_what_came_first() {
        let plan = [reservation(3, Some(5), 2), reservation(0, Some(4), 1)];
        assert_eq!(numbers(&plan), [vec![1, 2], vec![0]]);
        assert!(VuNumbers::of_all(&[]).is_empty());
    }
}
