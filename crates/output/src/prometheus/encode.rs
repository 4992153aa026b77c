//! Encodes points as remote-write requests, before compression.
//!
//! Must not know who sends them. Sources: <https://prometheus.io/docs/specs/prw/remote_write_spec/> and
//! `…/remote_write_spec_2_0/`. Invariant: both versions contain the same points.

use std::collections::BTreeMap;

use super::native::{Native, Side};
use super::points::{Family, Kind, Point, Value};
use super::protobuf::{
    double, entry, int, message, packed, sint, text, uint, uint_of_choice, zigzag,
};

/// The value that ends a series (Prometheus' `StaleNaN`).
const STALE: u64 = 0x7ff0_0000_0000_0002;
/// Values closer to zero than this count as zero: the client library's, 2^-128.
const ZERO_THRESHOLD: f64 = f64::from_bits((1023 - 128) << 52);
/// The reset hint of the first point of a histogram: it starts from zero. Later points have no hint.
const RESET: u64 = 1;

/// A request, and the number of its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Encoded {
    pub(super) body: Vec<u8>,
    pub(super) samples: u64,
}

/// The value that marks the end of a series.
pub(super) fn stale() -> Value {
    Value::Number(f64::from_bits(STALE))
}

/// The points as a `WriteRequest` of version 1.0, with descriptions of the families that are new to the
/// receiver.
pub(super) fn v1(points: &[Point], described: &[&Family]) -> Encoded {
    let mut body = Vec::new();
    let mut samples = 0;
    for point in points {
        message(&mut body, 1, |out| {
            for (name, value) in point.identity.labels() {
                message(out, 1, |out| {
                    text(out, 1, name);
                    text(out, 2, value);
                });
            }
            samples += values(out, point, [2, 4]);
        });
    }
    for family in described {
        message(&mut body, 3, |out| {
            uint(out, 1, type_number(family.kind));
            text(out, 2, &family.name);
            text(out, 4, &family.help);
            text(out, 5, family.unit);
        });
    }
    Encoded { body, samples }
}

/// The points as a `Request` of version 2.0; `started_ms` is the start of the sums.
pub(super) fn v2(points: &[Point], started_ms: i64) -> Encoded {
    let mut symbols = Symbols::default();
    let mut series = Vec::new();
    let mut samples = 0;
    for point in points {
        let family = &*point.identity.family;
        let references: Vec<u64> = point
            .identity
            .labels()
            .flat_map(|(name, value)| [symbols.number(name), symbols.number(value)])
            .collect();
        let (help, unit) = (symbols.number(&family.help), symbols.number(family.unit));
        message(&mut series, 5, |out| {
            packed(out, 1, references);
            samples += values(out, point, [2, 3]);
            message(out, 5, |out| {
                uint(out, 1, type_number(family.kind));
                uint(out, 3, help);
                uint(out, 4, unit);
            });
            if family.kind != Kind::Gauge {
                int(out, 6, started_ms);
            }
        });
    }
    let mut body = Vec::with_capacity(series.len() + 4096);
    for symbol in &symbols.list {
        entry(&mut body, 4, symbol.as_bytes());
    }
    body.extend(series);
    Encoded { body, samples }
}

/// Strings that are written once; number 0 is the empty one.
struct Symbols<'a> {
    list: Vec<&'a str>,
    numbers: BTreeMap<&'a str, u64>,
}

impl Default for Symbols<'_> {
    fn default() -> Self {
        Symbols {
            list: vec![""],
            numbers: BTreeMap::from([("", 0)]),
        }
    }
}

impl<'a> Symbols<'a> {
    fn number(&mut self, text: &'a str) -> u64 {
        let list = &mut self.list;
        *self.numbers.entry(text).or_insert_with(|| {
            list.push(text);
            list.len() as u64 - 1
        })
    }
}

/// Both versions use the same numbers for types.
fn type_number(kind: Kind) -> u64 {
    match kind {
        Kind::Counter => 1,
        Kind::Gauge => 2,
        Kind::Histogram => 3,
    }
}

/// Writes the samples of a point to the fields for numbers and for histograms; returns their number.
fn values(out: &mut Vec<u8>, point: &Point, [number_field, histogram_field]: [u32; 2]) -> u64 {
    match &point.value {
        Value::Number(value) => {
            if let Some(zero_at_ms) = point.zero_at_ms {
                sample(out, number_field, 0.0, zero_at_ms);
            }
            sample(out, number_field, *value, point.at_ms);
        }
        Value::Histogram(native) => {
            if let Some(zero_at_ms) = point.zero_at_ms {
                let empty = Native {
                    schema: native.schema,
                    ..Native::default()
                };
                message(out, histogram_field, |out| {
                    histogram(out, &empty, zero_at_ms, RESET);
                });
            }
            message(out, histogram_field, |out| {
                histogram(out, native, point.at_ms, 0);
            });
        }
    }
    1 + u64::from(point.zero_at_ms.is_some())
}

fn sample(out: &mut Vec<u8>, field: u32, value: f64, at_ms: i64) {
    message(out, field, |out| {
        double(out, 1, value);
        int(out, 2, at_ms);
    });
}

fn histogram(out: &mut Vec<u8>, native: &Native, at_ms: i64, reset_hint: u64) {
    uint_of_choice(out, 1, native.count);
    double(out, 3, native.sum);
    sint(out, 4, i64::from(native.schema));
    double(out, 5, ZERO_THRESHOLD);
    uint_of_choice(out, 6, native.zero);
    side(out, &native.negative, [8, 9]);
    side(out, &native.positive, [11, 12]);
    uint(out, 14, reset_hint);
    int(out, 15, at_ms);
}

fn side(out: &mut Vec<u8>, side: &Side, [spans, deltas]: [u32; 2]) {
    for span in &side.spans {
        message(out, spans, |out| {
            sint(out, 1, i64::from(span.offset));
            uint(out, 2, u64::from(span.length));
        });
    }
    packed(out, deltas, side.deltas.iter().map(|delta| zigzag(*delta)));
}
