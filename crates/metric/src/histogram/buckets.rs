//! Counts per bucket index: a short sorted list first, 64-counter pages once the list is full.
//!
//! Must not know what an index means. Invariant: the count of an index is its page's counter plus its entry in
//! the list; a counter that would overflow moves into the list, so counts never wrap (they saturate at
//! `u64::MAX`).

use std::iter;

/// Entries kept as a list before pages are used: below this number, a list (1 KB) is smaller than the pages.
const LIST_MAX: usize = 64;
const PAGE_LEN: usize = 64;
const PAGE_SHIFT: u32 = PAGE_LEN.ilog2();
/// Directory entry without a page. Never a page number: all indices together need fewer than 17,000 pages.
const NO_PAGE: u16 = u16::MAX;

/// The buckets of one sign. Empty is `default()`.
#[derive(Clone, Debug, Default)]
pub(super) struct Buckets {
    /// The page number (index >> 6) of the directory's first entry.
    first_page: i32,
    /// Index into `pages` per page number; empty until the list has overflowed.
    directory: Vec<u16>,
    pages: Vec<[u32; PAGE_LEN]>,
    /// Ascending by index, no entry with count 0.
    list: Vec<(i32, u64)>,
}

impl Buckets {
    /// Counts one value at `index`.
    #[inline]
    pub(super) fn add_one(&mut self, index: i32) {
        self.add(index, 1);
    }

    /// Counts `n` values at `index`.
    #[inline]
    pub(super) fn add(&mut self, index: i32, n: u64) {
        // A page before the first one wraps round to an index beyond the directory.
        let place = (index >> PAGE_SHIFT).wrapping_sub(self.first_page) as u32 as usize;
        if let Some(&page) = self.directory.get(place)
            && let Some(counters) = self.pages.get_mut(usize::from(page))
        {
            let counter = &mut counters[counter_place(index)];
            if let Some(total) = sum_in_u32(*counter, n) {
                *counter = total;
                return;
            }
        }
        self.add_slowly(index, n);
    }

    #[cold]
    #[inline(never)]
    fn add_slowly(&mut self, index: i32, n: u64) {
        if n == 0 {
            return;
        }
        if self.directory.is_empty() {
            if self.list.len() < LIST_MAX
                || self.list.binary_search_by_key(&index, by_index).is_ok()
            {
                return self.add_to_list(index, n);
            }
            self.turn_list_into_pages();
        }
        self.add_to_page(index, n);
    }

    fn turn_list_into_pages(&mut self) {
        for (index, count) in std::mem::take(&mut self.list) {
            self.add_to_page(index, count);
        }
    }

    fn add_to_list(&mut self, index: i32, n: u64) {
        match self.list.binary_search_by_key(&index, by_index) {
            Ok(at) => self.list[at].1 = self.list[at].1.saturating_add(n),
            Err(at) => self.list.insert(at, (index, n)),
        }
    }

    fn add_to_page(&mut self, index: i32, n: u64) {
        let counter = self.counter_mut(index);
        match sum_in_u32(*counter, n) {
            Some(total) => *counter = total,
            None => {
                let carried = u64::from(std::mem::take(counter));
                self.add_to_list(index, n.saturating_add(carried));
            }
        }
    }

    fn counter_mut(&mut self, index: i32) -> &mut u32 {
        let place = self.directory_place(index >> PAGE_SHIFT);
        if self.directory[place] == NO_PAGE {
            self.directory[place] =
                u16::try_from(self.pages.len()).expect("all indices need fewer than 17,000 pages");
            // Grown by an eighth, not doubled: pages are most of a histogram's memory.
            if self.pages.len() == self.pages.capacity() {
                self.pages.reserve_exact(4 + self.pages.len() / 8);
            }
            self.pages.push([0; PAGE_LEN]);
        }
        &mut self.pages[usize::from(self.directory[place])][counter_place(index)]
    }

    /// Extends the directory to cover `page` and returns its index.
    fn directory_place(&mut self, page: i32) -> usize {
        if self.directory.is_empty() {
            self.first_page = page;
        }
        if page < self.first_page {
            let missing = (self.first_page - page) as usize;
            self.directory
                .splice(0..0, iter::repeat_n(NO_PAGE, missing));
            self.first_page = page;
        }
        let place = (page - self.first_page) as usize;
        if place >= self.directory.len() {
            self.directory.resize(place + 1, NO_PAGE);
        }
        place
    }

    /// The non-empty buckets, ascending by index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        let mut paged = self.paged().peekable();
        let mut listed = self.list.iter().copied().peekable();
        iter::from_fn(
            move || match (paged.peek().copied(), listed.peek().copied()) {
                (Some((index, low)), Some((other, high))) if index == other => {
                    paged.next();
                    listed.next();
                    Some((index, high.saturating_add(low)))
                }
                (Some((index, _)), Some((other, _))) if other < index => listed.next(),
                (Some(_), _) => paged.next(),
                (None, _) => listed.next(),
            },
        )
    }

    fn paged(&self) -> impl Iterator<Item = (i32, u64)> + '_ {
        self.directory
            .iter()
            .enumerate()
            .filter(|&(_, &page)| page != NO_PAGE)
            .flat_map(move |(place, &page)| {
                let first = (self.first_page + place as i32) << PAGE_SHIFT;
                let counters = self.pages[usize::from(page)].iter().zip(first..);
                counters
                    .filter(|&(&n, _)| n > 0)
                    .map(|(&n, index)| (index, u64::from(n)))
            })
    }

    /// Clears all counts; keeps the memory.
    pub(super) fn clear(&mut self) {
        for page in &mut self.pages {
            page.fill(0);
        }
        self.list.clear();
    }

    /// A copy without empty pages.
    pub(super) fn compact_copy(&self) -> Self {
        let mut copy = Self::default();
        copy.merge(self);
        copy
    }

    /// Adds all counts of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        for (index, count) in other.iter() {
            self.add(index, count);
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.directory.capacity() * size_of::<u16>()
            + self.pages.capacity() * size_of::<[u32; PAGE_LEN]>()
            + self.list.capacity() * size_of::<(i32, u64)>()
    }
}

/// Equal when the same indices hold the same counts, however they are stored.
impl PartialEq for Buckets {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Buckets {}

fn by_index(entry: &(i32, u64)) -> i32 {
    entry.0
}

#[inline]
fn counter_place(index: i32) -> usize {
    index as usize & (PAGE_LEN - 1)
}

#[inline]
fn sum_in_u32(counter: u32, n: u64) -> Option<u32> {
    u32::try_from(u64::from(counter).checked_add(n)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_full_counter_spills_and_never_wraps() {
        let mut buckets = Buckets::default();
        for index in 0..100 {
            buckets.add(index, u64::from(u32::MAX));
        }
        for _ in 0..3 {
            buckets.add_one(7);
        }
        buckets.add(8, u64::MAX - 5);
        let counts: BTreeMap<i32, u64> = buckets.iter().collect();
        assert_eq!(counts[&7], u64::from(u32::MAX) + 3);
        assert_eq!(counts[&8], u64::MAX);
        assert_eq!(counts[&9], u64::from(u32::MAX));
        assert_eq!(counts.len(), 100);
    }

    #[test]
    fn cleared_keeps_its_memory_and_a_compact_copy_does_not() {
        let mut buckets = Buckets::default();
        for index in -5_000..5_000 {
            buckets.add_one(index);
        }
        let full = buckets.heap_bytes();
        buckets.clear();
        assert_eq!(buckets, Buckets::default());
        assert_eq!(buckets.heap_bytes(), full);
        buckets.add_one(3);
        assert_eq!(buckets.compact_copy(), buckets);
        assert!(buckets.compact_copy().heap_bytes() < 200);
    }

    proptest! {
        #[test]
        fn stores_what_a_map_stores(
            adds in prop::collection::vec((-300_000i32..300_000, prop_oneof![1u64..9, Just(u64::from(u32::MAX))]), 0..300),
        ) {
            let mut buckets = Buckets::default();
            let mut oracle = BTreeMap::new();
            for (index, n) in adds {
                // Squeezed so that buckets repeat, but both ends stay far apart.
                let index = index / 1000 * 7;
                buckets.add(index, n);
                *oracle.entry(index).or_insert(0) += n;
            }
            prop_assert!(buckets.iter().eq(oracle));
        }
    }
}
