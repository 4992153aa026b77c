//! Requests by duration, in bands wide enough to keep a second in a few numbers: the data of a heat map.
//!
//! Must not know what is drawn. Source of the bands: the base-2 exponential histogram at scale 2; our own
//! buckets subdivide it exactly. Invariant: bands ascend, none is empty, and merging two adds their counts.

use loadline_metric::{Schema, TimeTrend};
use serde::{Deserialize, Deserializer, Serialize};

/// Bands in each doubling of time: a band is 19 % wide.
pub const BANDS_PER_DOUBLING: u32 = 4;

const SCHEMA: i8 = BANDS_PER_DOUBLING.ilog2() as i8;
/// The band of the longest time that can be recorded.
const BAND_MAX: i32 = u8::MAX as i32;

/// Requests by duration. Band `b` holds times above `2^(b/4)` ns, up to `2^((b+1)/4)` ns; times of a nanosecond
/// or less are in band 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Heat(Vec<(u8, u64)>);

impl Heat {
    /// The bands of a distribution.
    #[must_use]
    pub fn of(times: &TimeTrend) -> Heat {
        let schema = Schema::new(SCHEMA).expect("scale 2 is within the scales there are");
        let coarse = times.histogram().downscale(schema);
        let mut heat = Heat::default();
        heat.add(0, coarse.zero);
        for bucket in coarse.positive {
            heat.add(bucket.index.clamp(0, BAND_MAX) as u8, bucket.count);
        }
        heat
    }

    /// Merges the requests of another interval.
    pub fn merge(&mut self, other: &Heat) {
        for (band, count) in &other.0 {
            self.add(*band, *count);
        }
    }

    /// Bands with their counts, ascending.
    #[must_use]
    pub fn bands(&self) -> &[(u8, u64)] {
        &self.0
    }

    /// The time in nanoseconds that this share of the requests did not exceed, interpolated within its band by
    /// rank; `None` without requests.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let all: u64 = self.0.iter().map(|(_, count)| count).sum();
        let rank = share.clamp(0.0, 1.0) * all as f64;
        let mut below = 0.0;
        let last = self.0.last()?;
        for (band, count) in &self.0 {
            let within = (rank - below) / *count as f64;
            if within <= 1.0 || (band, count) == (&last.0, &last.1) {
                return Some(edge(f64::from(*band) + within.clamp(0.0, 1.0)).round() as u64);
            }
            below += *count as f64;
        }
        None
    }

    /// The requests in bands of which every time is above this many nanoseconds.
    #[must_use]
    pub fn above(&self, ns: u64) -> u64 {
        let bands = self.0.iter().rev();
        bands
            .take_while(|(band, _)| lower_edge(*band) >= ns as f64)
            .map(|(_, count)| count)
            .sum()
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, band: u8, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.binary_search_by_key(&band, |(band, _)| *band) {
            Ok(place) => self.0[place].1 = self.0[place].1.saturating_add(count),
            Err(place) => self.0.insert(place, (band, count)),
        }
    }
}

/// The nanoseconds at a place on the scale of bands.
fn edge(place: f64) -> f64 {
    (place / f64::from(BANDS_PER_DOUBLING)).exp2()
}

fn lower_edge(band: u8) -> f64 {
    edge(f64::from(band))
}

impl<'de> Deserialize<'de> for Heat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Heat, D::Error> {
        let mut heat = Heat::default();
        for (band, count) in Vec::<(u8, u64)>::deserialize(from)? {
            heat.add(band, count);
        }
        Ok(heat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(times: &[u64]) -> Heat {
        let mut trend = TimeTrend::new();
        times.iter().for_each(|ns| trend.record(*ns));
        Heat::of(&trend)
    }

    #[test]
    fn bands_are_quarters_of_a_doubling() {
        let heat = of(&[0, 1, 1 << 20, (1 << 20) + 1, 1 << 21]);
        assert_eq!(heat.bands(), [(0, 2), (79, 1), (80, 1), (83, 1)]);
        assert_eq!(of(&[u64::MAX]).bands(), [(255, 1)]);
    }

    #[test]
    fn quantiles_lie_in_their_band() {
        assert_eq!(Heat::default().quantile(0.5), None);
        let heat = of(&(1..=1_000).map(|ms| ms * 1_000_000).collect::<Vec<u64>>());
        for (share, ms) in [(0.1, 100.0), (0.5, 500.0), (0.9, 900.0), (0.99, 990.0)] {
            let told = heat.quantile(share).expect("there are requests") as f64 / 1e6;
            assert!((told / ms - 1.0).abs() < 0.1, "{share}: {told} ms");
        }
    }

    #[test]
    fn requests_above_a_time_are_in_bands_above_it() {
        let heat = of(&[1 << 20, 1 << 21, (1 << 21) + 1, 1 << 30]);
        let above = [1 << 19, 1 << 20, 1 << 21, (1 << 21) + 1, 1 << 30].map(|ns| heat.above(ns));
        assert_eq!(above, [4, 3, 2, 1, 0]);
        assert_eq!(Heat::default().above(0), 0);
    }

    #[test]
    fn it_is_a_plain_list_in_data() {
        let json = serde_json::to_string(&of(&[1 << 20])).expect("it is data");
        assert_eq!(json, "[[79,1]]");
        let read: Heat = serde_json::from_str("[[9,1],[3,0],[2,5],[9,2]]").expect("pairs");
        assert_eq!(read.bands(), [(2, 5), (9, 3)], "whoever wrote it");
    }

    proptest! {
        #[test]
        fn joined_spans_are_as_one(a in prop::collection::vec(0_u64..1 << 40, 0..50),
                                   b in prop::collection::vec(0_u64..1 << 40, 0..50)) {
            let mut joined = of(&a);
            joined.merge(&of(&b));
            prop_assert_eq!(&joined, &of(&[a.clone(), b.clone()].concat()));
            let counted: u64 = joined.bands().iter().map(|(_, count)| count).sum();
            prop_assert_eq!(counted, (a.len() + b.len()) as u64);
        }
    }
}
