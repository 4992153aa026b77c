//! The Prometheus protobuf format, which supports native histograms: length-delimited
//! `io.prometheus.client.MetricFamily` messages.
//!
//! It must not know where the numbers come from. Field numbers are those of client_model's `metrics.proto`.
//! Invariant: native buckets are written as spans and deltas whose sum is the count.

use super::histogram::{BOUNDS_NS, SCHEMA, ServiceTimes};
use super::{ExposedKind, Family, Series, Value};

/// The type of the format.
pub(super) const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";
/// Below this value in seconds everything counts as zero; no measured time is.
const ZERO_THRESHOLD: f64 = 1e-10;

/// Writes all families.
pub(super) fn encode(families: &[Family]) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families {
        let message = encode_family(family);
        varint(&mut out, message.len() as u64);
        out.extend_from_slice(&message);
    }
    out
}

fn encode_family(family: &Family) -> Vec<u8> {
    let mut out = Vec::new();
    field_bytes(&mut out, 1, family.name.as_bytes());
    field_bytes(&mut out, 2, family.help.as_bytes());
    let kind = match family.kind {
        ExposedKind::Counter => 0,
        ExposedKind::Gauge => 1,
        ExposedKind::Histogram => 4,
    };
    field_varint(&mut out, 3, kind);
    for series in &family.series {
        field_bytes(&mut out, 4, &encode_series(series, family.kind));
    }
    out
}

fn encode_series(series: &Series, kind: ExposedKind) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in &series.labels {
        let mut label = Vec::new();
        field_bytes(&mut label, 1, name.as_bytes());
        field_bytes(&mut label, 2, value.as_bytes());
        field_bytes(&mut out, 1, &label);
    }
    match &series.value {
        Value::Number(value) => {
            let mut number = Vec::new();
            field_double(&mut number, 1, *value);
            field_bytes(
                &mut out,
                if kind == ExposedKind::Counter { 3 } else { 2 },
                &number,
            );
        }
        Value::Times(times) => field_bytes(&mut out, 7, &encode_histogram(times)),
    }
    out
}

fn encode_histogram(times: &ServiceTimes) -> Vec<u8> {
    let mut out = Vec::new();
    field_varint(&mut out, 1, times.count);
    field_double(&mut out, 2, times.sum_seconds());
    let mut cumulative = 0;
    for (count, bound) in times.classic.iter().zip(BOUNDS_NS) {
        cumulative += count;
        let mut bucket = Vec::new();
        field_varint(&mut bucket, 1, cumulative);
        field_double(&mut bucket, 2, bound as f64 / 1e9);
        field_bytes(&mut out, 3, &bucket);
    }
    field_varint(&mut out, 5, zigzag(i64::from(SCHEMA)));
    field_double(&mut out, 6, ZERO_THRESHOLD);
    field_varint(&mut out, 7, 0);
    let (spans, deltas) = spans_and_deltas(times.native_buckets());
    for (offset, length) in spans {
        let mut span = Vec::new();
        field_varint(&mut span, 1, zigzag(i64::from(offset)));
        field_varint(&mut span, 2, u64::from(length));
        field_bytes(&mut out, 12, &span);
    }
    for delta in deltas {
        field_varint(&mut out, 13, zigzag(delta));
    }
    out
}

/// Runs of neighbouring buckets as (gap since the last run, length), and each count less the one before.
fn spans_and_deltas(buckets: impl Iterator<Item = (i32, u64)>) -> (Vec<(i32, u32)>, Vec<i64>) {
    let mut spans: Vec<(i32, u32)> = Vec::new();
    let mut deltas = Vec::new();
    let (mut next, mut before) = (0, 0_i64);
    for (index, count) in buckets {
        match spans.last_mut() {
            Some((_, length)) if index == next => *length += 1,
            _ => spans.push((index - next, 1)),
        }
        next = index + 1;
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        deltas.push(count - before);
        before = count;
    }
    (spans, deltas)
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

fn field_varint(out: &mut Vec<u8>, number: u64, value: u64) {
    varint(out, number << 3);
    varint(out, value);
}

fn field_double(out: &mut Vec<u8>, number: u64, value: f64) {
    varint(out, (number << 3) | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn field_bytes(out: &mut Vec<u8>, number: u64, value: &[u8]) {
    varint(out, (number << 3) | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A decoded field: number and value.
    #[derive(Debug)]
    enum Field<'a> {
        Varint(u64, u64),
        Double(u64, f64),
        Bytes(u64, &'a [u8]),
    }

    fn take_varint(input: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = input.split_first().unwrap();
            *input = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
        }
        panic!("varint too long");
    }

    fn take<'a>(input: &mut &'a [u8], length: usize) -> &'a [u8] {
        let (taken, rest) = input.split_at(length);
        *input = rest;
        taken
    }

    fn decode(mut input: &[u8]) -> Vec<Field<'_>> {
        let mut fields = Vec::new();
        while !input.is_empty() {
            let tag = take_varint(&mut input);
            fields.push(match tag & 7 {
                0 => Field::Varint(tag >> 3, take_varint(&mut input)),
                1 => {
                    let raw = take(&mut input, 8).try_into().unwrap();
                    Field::Double(tag >> 3, f64::from_le_bytes(raw))
                }
                2 => {
                    let length = usize::try_from(take_varint(&mut input)).unwrap();
                    Field::Bytes(tag >> 3, take(&mut input, length))
                }
                other => panic!("wire type {other}"),
            });
        }
        fields
    }

    fn bytes<'a>(fields: &[Field<'a>], wanted: u64) -> Vec<&'a [u8]> {
        let all = fields.iter();
        all.filter_map(|f| match f {
            Field::Bytes(n, b) if *n == wanted => Some(*b),
            _ => None,
        })
        .collect()
    }

    fn varints(fields: &[Field<'_>], wanted: u64) -> Vec<u64> {
        let all = fields.iter();
        all.filter_map(|f| match f {
            Field::Varint(n, v) if *n == wanted => Some(*v),
            _ => None,
        })
        .collect()
    }

    fn unzigzag(value: u64) -> i64 {
        (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
    }

    fn families(times: ServiceTimes) -> [Family; 2] {
        let labels = vec![("path", "/get".to_owned())];
        let histogram = Series {
            labels,
            value: Value::Times(Box::new(times)),
        };
        let number = Series {
            labels: Vec::new(),
            value: Value::Number(2.5),
        };
        [
            Family {
                name: "a",
                help: "A.",
                kind: ExposedKind::Histogram,
                series: vec![histogram],
            },
            Family {
                name: "b_total",
                help: "B.",
                kind: ExposedKind::Counter,
                series: vec![number],
            },
        ]
    }

    #[test]
    fn what_is_encoded_can_be_decoded() {
        let mut times = ServiceTimes::default();
        for value in [
            1_000_000_000,
            1_000_000_000,
            1_050_000_000,
            4_000_000_000,
            90_000,
        ] {
            times.record(value);
        }
        let encoded = encode(&families(times.clone()));
        let mut rest = &encoded[..];
        let length = usize::try_from(take_varint(&mut rest)).unwrap();
        let family = decode(take(&mut rest, length));
        assert_eq!(bytes(&family, 1), [b"a"]);
        assert_eq!(varints(&family, 3), [4]);
        let metric = decode(bytes(&family, 4)[0]);
        let label = decode(bytes(&metric, 1)[0]);
        assert_eq!(
            (bytes(&label, 1)[0], bytes(&label, 2)[0]),
            (&b"path"[..], &b"/get"[..])
        );
        let histogram = decode(bytes(&metric, 7)[0]);
        assert_eq!(varints(&histogram, 1), [5]);
        assert_eq!(
            varints(&histogram, 5)
                .iter()
                .map(|v| unzigzag(*v))
                .collect::<Vec<_>>(),
            [3]
        );
        assert_eq!(bytes(&histogram, 3).len(), BOUNDS_NS.len());
        assert_eq!(
            native(&histogram),
            times.native_buckets().collect::<Vec<_>>()
        );

        let length = usize::try_from(take_varint(&mut rest)).unwrap();
        let family = decode(take(&mut rest, length));
        assert!(rest.is_empty());
        let metric = decode(bytes(&family, 4)[0]);
        let number = decode(bytes(&metric, 3)[0]);
        assert!(matches!(number[..], [Field::Double(1, v)] if (v - 2.5).abs() < 1e-12));
    }

    /// The native buckets, as a reader of the format rebuilds them from spans and deltas.
    fn native(histogram: &[Field<'_>]) -> Vec<(i32, u64)> {
        let mut deltas = varints(histogram, 13).into_iter().map(unzigzag);
        let (mut index, mut count) = (0_i64, 0_i64);
        let mut buckets = Vec::new();
        for span in bytes(histogram, 12) {
            let span = decode(span);
            index += unzigzag(varints(&span, 1)[0]);
            for _ in 0..varints(&span, 2)[0] {
                count += deltas.next().unwrap();
                buckets.push((i32::try_from(index).unwrap(), u64::try_from(count).unwrap()));
                index += 1;
            }
        }
        assert!(deltas.next().is_none());
        buckets
    }

    #[test]
    fn varints_use_seven_bits_a_byte() {
        for (value, expected) in [(0, &[0_u8][..]), (127, &[127]), (300, &[0xac, 2])] {
            let mut out = Vec::new();
            varint(&mut out, value);
            assert_eq!(out, expected);
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
    }
}
