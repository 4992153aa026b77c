//! When each of a fixed number of places is free again: a heap whose least entry is replaced.
//!
//! Must not know what the places are. Invariant: `0` is the least of the heap.

#[derive(Clone, Debug)]
pub(crate) struct FreeTimes(Vec<u64>);

impl FreeTimes {
    /// All places are free from the start.
    ///
    /// # Panics
    /// When there is no place.
    pub(crate) fn new(places: u32) -> FreeTimes {
        assert!(places > 0, "at least one place");
        FreeTimes(vec![0; places as usize])
    }

    /// When the first place is free.
    pub(crate) fn earliest(&self) -> u64 {
        self.0[0]
    }

    /// Occupies the place that is free first, until `until`, which is not before that.
    pub(crate) fn occupy_earliest(&mut self, until: u64) {
        let heap = self.0.as_mut_slice();
        let mut hole = 0;
        loop {
            let left = 2 * hole + 1;
            if left >= heap.len() {
                break;
            }
            let right = left + 1;
            let least = if right < heap.len() && heap[right] < heap[left] {
                right
            } else {
                left
            };
            if heap[least] >= until {
                break;
            }
            heap[hole] = heap[least];
            hole = least;
        }
        heap[hole] = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_comes_first() {
        let mut times = FreeTimes::new(5);
        let mut sorted = [0; 5];
        for step in 0..200_u64 {
            assert_eq!(times.earliest(), sorted[0]);
            let until = sorted[0] + step * 7919 % 101;
            times.occupy_earliest(until);
            sorted[0] = until;
            sorted.sort_unstable();
        }
    }
}
