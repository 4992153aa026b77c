//! Counts the series of a run, whether or not they are kept: k6 warns when there are many.
//!
//! Must not know which series are kept. Invariants: memory is bounded whatever the number; a series counts
//! once, however many workers saw it and whatever the order of its tags; the count is exact up to
//! [`EXACT_MAX`].

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{BuiltIn, HttpTimes, MetricId, Tagged};

/// Series counted individually, 8 bytes each; beyond this the number is estimated.
const EXACT_MAX: usize = 1 << 18;
/// Registers of the estimate, one byte each; its standard error is `1.04 / √REGISTERS`, 0.8 %.
const REGISTERS: usize = 1 << 14;
/// Recently seen series that a worker remembers; a power of two.
const RECENT: usize = 256;
/// Distinguishes the hash of an exchange from that of a metric.
const EXCHANGE: u64 = 1 << 32;

/// A set of series that only knows how many it holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Seen", into = "Seen")]
pub struct DistinctSeries(Seen);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Seen {
    /// The hash of each.
    Exact(BTreeSet<u64>),
    /// Registers of a HyperLogLog (Flajolet et al. 2007): the longest run of leading zeros, plus one.
    Estimate(Box<[u8]>),
}

impl TryFrom<Seen> for DistinctSeries {
    type Error = &'static str;

    fn try_from(seen: Seen) -> Result<DistinctSeries, &'static str> {
        match &seen {
            Seen::Exact(hashes) if hashes.len() > EXACT_MAX => {
                Err("too many series are listed one by one")
            }
            Seen::Estimate(registers) if registers.len() != REGISTERS => {
                Err("an estimate has another number of registers")
            }
            _ => Ok(DistinctSeries(seen)),
        }
    }
}

impl From<DistinctSeries> for Seen {
    fn from(series: DistinctSeries) -> Seen {
        series.0
    }
}

impl Default for DistinctSeries {
    fn default() -> DistinctSeries {
        DistinctSeries(Seen::Exact(BTreeSet::new()))
    }
}

impl DistinctSeries {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            Seen::Exact(hashes) => hashes.len() as u64,
            Seen::Estimate(registers) => estimate(registers),
        }
    }

    /// Adds the series of a metric with these tags.
    pub fn add(&mut self, metric: MetricId, tags: &dyn Tagged) {
        self.insert(mixed(hash_of(tags) ^ u64::from(metric.0)));
    }

    /// Merges another interval or worker.
    pub fn merge(&mut self, other: DistinctSeries) {
        match other.0 {
            Seen::Exact(hashes) => hashes.into_iter().for_each(|hash| self.insert(hash)),
            Seen::Estimate(theirs) => {
                for (mine, theirs) in self.registers().iter_mut().zip(theirs) {
                    *mine = theirs.max(*mine);
                }
            }
        }
    }

    fn insert(&mut self, hash: u64) {
        if let Seen::Exact(hashes) = &mut self.0 {
            hashes.insert(hash);
            if hashes.len() <= EXACT_MAX {
                return;
            }
        }
        register(self.registers(), hash);
    }

    fn registers(&mut self) -> &mut [u8] {
        if let Seen::Exact(hashes) = &self.0 {
            let mut registers = vec![0; REGISTERS].into_boxed_slice();
            hashes
                .iter()
                .for_each(|hash| register(&mut registers, *hash));
            self.0 = Seen::Estimate(registers);
        }
        match &mut self.0 {
            Seen::Estimate(registers) => registers,
            Seen::Exact(_) => unreachable!("it was just made an estimate"),
        }
    }
}

fn register(registers: &mut [u8], hash: u64) {
    let place = &mut registers[hash as usize % REGISTERS];
    let rank = (hash | (REGISTERS as u64 - 1)).leading_zeros() + 1;
    *place = (*place).max(rank as u8);
}

/// The count here is far above `2.5 · REGISTERS`, so the raw estimate needs no correction.
fn estimate(registers: &[u8]) -> u64 {
    let m = REGISTERS as f64;
    let alpha = 0.7213 / (1.0 + 1.079 / m);
    let sum: f64 = registers
        .iter()
        .map(|rank| (-f64::from(*rank)).exp2())
        .sum();
    (alpha * m * m / sum).round() as u64
}

/// The series that one worker saw, and those that are new since the last take.
#[derive(Debug)]
pub(super) struct SeriesCounter {
    recent: Box<[u64; RECENT]>,
    new: DistinctSeries,
}

impl Default for SeriesCounter {
    fn default() -> SeriesCounter {
        SeriesCounter {
            recent: Box::new([0; RECENT]),
            new: DistinctSeries::default(),
        }
    }
}

impl SeriesCounter {
    #[inline]
    pub(super) fn saw(&mut self, metric: MetricId, tags: &dyn Tagged) {
        let hash = mixed(hash_of(tags) ^ u64::from(metric.0));
        if self.is_new(hash) {
            self.new.insert(hash);
        }
    }

    /// The same, for all metrics of an HTTP exchange.
    #[inline]
    pub(super) fn saw_http(&mut self, judged: bool, tags: &dyn Tagged) {
        let of_tags = hash_of(tags);
        if self.is_new(mixed(of_tags ^ EXCHANGE ^ u64::from(judged))) {
            let times = HttpTimes::default().each().map(|(metric, _)| metric);
            let counted = [BuiltIn::HttpReqs].into_iter();
            let failed = judged.then_some(BuiltIn::HttpReqFailed);
            for metric in counted.chain(failed).chain(times) {
                self.new.insert(mixed(of_tags ^ u64::from(metric.id().0)));
            }
        }
    }

    /// Whether this hash was not seen recently; marks it as seen.
    #[inline]
    fn is_new(&mut self, hash: u64) -> bool {
        let place = &mut self.recent[(hash >> 32) as usize % RECENT];
        std::mem::replace(place, hash) != hash
    }

    pub(super) fn take(&mut self) -> DistinctSeries {
        std::mem::take(&mut self.new)
    }
}

/// The sum of the tags' hashes, so that their order does not matter.
#[inline]
fn hash_of(tags: &dyn Tagged) -> u64 {
    let mut sum = 0_u64;
    tags.each_tag(&mut |name, value| {
        let tag = fold(fold(0, name.as_bytes()), value.as_bytes());
        sum = sum.wrapping_add(mixed(tag));
    });
    sum
}

/// The finalizer of SplitMix64: every input bit flips half of the output bits.
#[inline]
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Folds text into a number that spreads well after mixing, or in its upper bits.
#[inline]
pub(super) fn fold(start: u64, text: &[u8]) -> u64 {
    let step =
        |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    let (words, rest) = text.as_chunks::<8>();
    let sum = words
        .iter()
        .fold(step(start, text.len() as u64), |sum, word| {
            step(sum, u64::from_le_bytes(*word))
        });
    step(sum, tail(rest))
}

/// Up to seven bytes as a number.
#[inline]
fn tail(rest: &[u8]) -> u64 {
    let byte = |at: usize| u64::from(rest[at]);
    match rest.len() {
        0 => 0,
        n @ 1..4 => byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16,
        _ => {
            let (first, last) = (rest.first_chunk::<4>(), rest.last_chunk::<4>());
            let word =
                |chunk: Option<&[u8; 4]>| chunk.map_or(0, |chunk| u32::from_le_bytes(*chunk));
            u64::from(word(first)) | u64::from(word(last)) << 32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TagSet;

    fn tags(n: usize) -> TagSet {
        TagSet::new()
            .with("name", format!("http://site.example/items/{n}"))
            .with("status", "200")
    }

    fn counted(range: std::ops::Range<usize>) -> DistinctSeries {
        let mut series = DistinctSeries::default();
        for n in range {
            series.add(MetricId(0), &tags(n));
        }
        series
    }

    #[test]
    fn a_series_counts_once_however_many_workers_saw_it() {
        let mut whole = counted(0..70_000);
        whole.merge(counted(50_000..120_000));
        whole.merge(counted(0..120_000));
        assert_eq!(whole.count(), 120_000);
        let order = |names: [&str; 2]| {
            let mut counter = SeriesCounter::default();
            let [first, second] = names;
            counter.saw(
                MetricId(1),
                &TagSet::new().with(first, "1").with(second, "1"),
            );
            counter.take()
        };
        assert_eq!(order(["a", "b"]), order(["b", "a"]));
        let swapped = |a: &str, b: &str| {
            let mut series = DistinctSeries::default();
            series.add(MetricId(1), &TagSet::new().with("a", a).with("b", b));
            series
        };
        assert_ne!(swapped("1", "2"), swapped("2", "1"));
    }

    #[test]
    fn beyond_the_limit_the_count_is_close_and_memory_stays() {
        let mut whole = counted(0..200_000);
        whole.merge(counted(100_000..600_000));
        let count = whole.count() as f64;
        assert!((count / 600_000.0 - 1.0).abs() < 0.03, "{count}");
        let Seen::Estimate(registers) = &whole.0 else {
            panic!("it must have become an estimate");
        };
        assert_eq!(registers.len(), REGISTERS);
        let again = whole.clone();
        whole.merge(counted(0..1_000));
        whole.merge(again.clone());
        assert_eq!(whole, again);
    }

    #[test]
    fn an_exchange_is_a_series_of_each_of_its_metrics() {
        let mut counter = SeriesCounter::default();
        counter.saw_http(false, &tags(1));
        assert_eq!(counter.take().count(), 8);
        counter.saw_http(true, &tags(1));
        counter.saw_http(true, &tags(1));
        let mut whole = counter.take();
        assert_eq!(whole.count(), 9);
        whole.add(BuiltIn::HttpReqs.id(), &tags(1));
        assert_eq!(whole.count(), 9);
    }

    #[test]
    fn texts_of_all_lengths_are_told_apart() {
        let text = "abcdefghijklmnopqrstuvwxyz";
        let folds: BTreeSet<u64> = (0..=text.len())
            .flat_map(|end| {
                [
                    fold(0, &text.as_bytes()[..end]),
                    fold(1, &text.as_bytes()[..end]),
                ]
            })
            .collect();
        assert_eq!(folds.len(), 2 * (text.len() + 1));
    }
}
