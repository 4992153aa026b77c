//! Export to HdrHistogram's V2 encoding, so that existing plotters and mergers can read our distributions.
//!
//! Must not know files or reports. Source: HdrHistogram's `AbstractHistogram.encodeIntoByteBuffer` (V2 cookies) and
//! its zigzag LEB128 with at most 9 bytes. Invariant: total count is kept; each value is at most 0.068 % (our bucket)
//! plus 0.05 % (theirs, at 3 significant digits) off, and the extremes only by theirs.

use crate::TimeTrend;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::ZlibEncoder};
use std::io::Write as _;

const V2_COOKIE: u32 = 0x1c84_9303 | WORD_SIZE_TAG;
const V2_COMPRESSED_COOKIE: u32 = 0x1c84_9304 | WORD_SIZE_TAG;
/// Readers take the width of counts from here; V2 writes variable-width counts and still sets it.
const WORD_SIZE_TAG: u32 = 0x10;
const SIGNIFICANT_DIGITS: u32 = 3;
/// `log2` of the sub-buckets per half bucket: 2,048 sub-buckets resolve 3 digits.
const SUB_BUCKET_HALF_BITS: u32 = 10;
const SUB_BUCKET_MASK: u64 = (1 << (SUB_BUCKET_HALF_BITS + 1)) - 1;
/// HdrHistogram's values and counts are signed.
const LARGEST: u64 = i64::MAX as u64;

/// The uncompressed V2 form of a trend, in ns, with 3 significant digits and a lowest value of 1.
#[must_use]
pub fn encode_v2(trend: &TimeTrend) -> Vec<u8> {
    let payload = payload(&counts(trend));
    let highest = trend.max().unwrap_or(0).clamp(2, LARGEST);
    let mut bytes = Vec::with_capacity(40 + payload.len());
    bytes.extend(V2_COOKIE.to_be_bytes());
    bytes.extend(length(&payload).to_be_bytes());
    bytes.extend(0u32.to_be_bytes()); // normalizing index offset
    bytes.extend(SIGNIFICANT_DIGITS.to_be_bytes());
    bytes.extend(1u64.to_be_bytes()); // lowest discernible value
    bytes.extend(highest.to_be_bytes());
    bytes.extend(1f64.to_be_bytes()); // integer to double conversion ratio
    bytes.extend(payload);
    bytes
}

/// The compressed V2 form as base64, as in histogram logs; it starts with `HISTF`.
#[must_use]
pub fn encode_v2_base64(trend: &TimeTrend) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder
        .write_all(&encode_v2(trend))
        .expect("a Vec takes every write");
    let compressed = encoder.finish().expect("a Vec takes every write");
    let mut bytes = Vec::with_capacity(8 + compressed.len());
    bytes.extend(V2_COMPRESSED_COOKIE.to_be_bytes());
    bytes.extend(length(&compressed).to_be_bytes());
    bytes.extend(compressed);
    STANDARD.encode(bytes)
}

fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).expect("56,320 counts of at most 9 bytes fit")
}

/// Counts by HdrHistogram's index, up to that of the largest value.
fn counts(trend: &TimeTrend) -> Vec<u64> {
    let Some(max) = trend.max() else {
        return Vec::new();
    };
    let mut counts = vec![0u64; index_of(max) + 1];
    trend.for_each(|value, n| {
        // Rounding a time beyond 2^53 to f64 may lift it above the largest.
        let count = &mut counts[index_of((value.round() as u64).min(max))];
        *count = count.saturating_add(n).min(LARGEST);
    });
    counts
}

fn index_of(value: u64) -> usize {
    let value = value.min(LARGEST);
    let bucket = 63 - SUB_BUCKET_HALF_BITS - (value | SUB_BUCKET_MASK).leading_zeros();
    let sub_bucket = (value >> bucket) as usize;
    ((bucket as usize) << SUB_BUCKET_HALF_BITS) + sub_bucket
}

/// Counts as zigzag LEB128; a run of zeros is written as its negated length.
fn payload(counts: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for run in counts.chunk_by(|a, b| *a == 0 && *b == 0) {
        let number = if run[0] == 0 {
            -(run.len() as i64)
        } else {
            run[0] as i64
        };
        write_zigzag(&mut bytes, number);
    }
    bytes
}

fn write_zigzag(bytes: &mut Vec<u8>, number: i64) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    for _ in 0..8 {
        if rest < 0x80 {
            bytes.push(rest as u8);
            return;
        }
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    // The ninth byte carries eight bits: 8 * 7 + 8 = 64.
    bytes.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::Histogram as Oracle;
    use hdrhistogram::serialization::Deserializer;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Oracle<u64> {
        Deserializer::new()
            .deserialize(&mut &*bytes)
            .expect("the oracle reads it")
    }

    fn trend(values: impl IntoIterator<Item = u64>) -> TimeTrend {
        let mut trend = TimeTrend::new();
        values.into_iter().for_each(|ns| trend.record(ns));
        trend
    }

    #[test]
    fn the_log_form_begins_as_logs_do() {
        let text = encode_v2_base64(&trend([1, 2, 3]));
        assert!(text.starts_with("HISTFAAA"), "{text}");
        assert_eq!(read(&STANDARD.decode(text).unwrap()).len(), 3);
    }

    #[test]
    fn empty_and_extreme_trends_can_be_read() {
        assert_eq!(read(&encode_v2(&TimeTrend::new())).len(), 0);
        assert_eq!(read(&encode_v2(&trend([0]))).max(), 0);
        assert_eq!(read(&encode_v2(&trend([i64::MAX as u64]))).len(), 1);
        let mut many = TimeTrend::new();
        many.record_n(5, 1 << 62);
        assert_eq!(read(&encode_v2(&many)).count_at(5), 1 << 62);
    }

    #[test]
    fn extremes_are_kept_beyond_the_raw_values() {
        let many = trend((0..5_000).map(|i| 1_000_003 + i * 7_919));
        let oracle = read(&encode_v2(&many));
        assert_eq!(oracle.len(), 5_000);
        assert!(oracle.equivalent(oracle.min(), many.min().unwrap()));
        assert!(oracle.equivalent(oracle.max(), many.max().unwrap()));
        let one_value = trend(std::iter::repeat_n(1_000_003, 5_000));
        assert_eq!(read(&encode_v2(&one_value)).count_at(1_000_003), 5_000);
    }

    proptest! {
        #[test]
        fn few_values_are_exactly_those_of_the_oracle(values in prop::collection::vec((0u64..1 << 40, 0u32..30), 1..100)) {
            let values: Vec<u64> = values.into_iter().map(|(value, shift)| value >> shift).collect();
            let mut oracle = Oracle::<u64>::new_with_bounds(1, 1 << 41, 3).unwrap();
            values.iter().for_each(|&value| oracle.record(value).unwrap());
            prop_assert_eq!(read(&encode_v2(&trend(values))), oracle);
        }
    }
}
