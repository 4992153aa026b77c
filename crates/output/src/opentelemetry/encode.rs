//! Requests of the metrics service, in protocol buffers.
//!
//! Source: <https://github.com/open-telemetry/opentelemetry-proto>, version 1. Must not know how a request is
//! sent. Invariants: a trend's counts are exact and it has at most [`BUCKETS_MAX`] buckets per sign; attributes
//! without a value are omitted, as in k6.

use loadline_metric::{Aggregated, Bucket, Contains, Downscaled, Histogram, Schema, TagSet};

use crate::prometheus::protobuf::{double, entry, fixed, message, packed, text, uint, zigzag};
use crate::series::Series;

/// Maximum buckets of one sign, as recommended by the specification.
const BUCKETS_MAX: usize = 160;
/// Scales, finest first.
const SCALES: std::ops::RangeInclusive<i8> = -4..=8;
/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u64 = 2;
/// Nanoseconds to milliseconds, the unit of k6's times.
const NS_TO_MS: f64 = 1e-6;
/// The attribute that distinguishes the two counters of a rate.
const CONDITION: &str = "condition";

/// What all requests of a run have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Envelope {
    /// Attributes of the resource: the service's name, and others.
    pub(super) resource: Vec<(String, String)>,
    /// Prefix of every metric name.
    pub(super) prefix: String,
}

/// Start and end of a point's sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start_unix_ns: u64,
    pub(super) until_unix_ns: u64,
}

/// A request with these series.
pub(super) fn request<'a>(
    envelope: &Envelope,
    span: Span,
    series: impl Iterator<Item = (&'a TagSet, &'a Series)>,
) -> Vec<u8> {
    let mut out = Vec::new();
    message(&mut out, 1, |out| {
        message(out, 1, |out| {
            for (name, value) in &envelope.resource {
                attribute(out, 1, name, value);
            }
        });
        message(out, 2, |out| {
            message(out, 1, |out| {
                text(out, 1, "loadline");
                text(out, 2, env!("CARGO_PKG_VERSION"));
            });
            for (tags, series) in series {
                message(out, 2, |out| metric(out, envelope, span, tags, series));
            }
        });
    });
    out
}

fn metric(out: &mut Vec<u8>, envelope: &Envelope, span: Span, tags: &TagSet, series: &Series) {
    let family = &series.family;
    let own = if family.is_own { "loadline_" } else { "" };
    // k6 uses two counters in one for a rate, with these names.
    let end = match series.value {
        Aggregated::Rate(_) => ".total",
        _ => "",
    };
    text(
        out,
        1,
        &format!("{}{own}{}{end}", envelope.prefix, family.name),
    );
    let unit = match family.contains {
        Contains::Time => "ms",
        Contains::Data => "By",
        Contains::Default => "",
    };
    text(out, 3, unit);
    match &series.value {
        Aggregated::Counter(counter) => message(out, 7, |out| {
            let total = counter.total();
            point(out, span, tags, None, |out| {
                fixed(out, 4, total.to_bits());
            });
            monotonic(out);
        }),
        Aggregated::Rate(rate) => message(out, 7, |out| {
            let zero = rate.total() - rate.nonzero();
            for (condition, count) in [("nonzero", rate.nonzero()), ("zero", zero)] {
                point(out, span, tags, Some(condition), |out| fixed(out, 6, count));
            }
            monotonic(out);
        }),
        Aggregated::Gauge(gauge) => message(out, 5, |out| {
            let last = gauge.last().unwrap_or_default();
            point(out, span, tags, None, |out| fixed(out, 4, last.to_bits()));
        }),
        Aggregated::Times(trend) => {
            let ms = |ns: u64| ns as f64 * NS_TO_MS;
            let facts = Facts {
                sum: trend.sum() as f64 * NS_TO_MS,
                least: trend.min().map(ms),
                greatest: trend.max().map(ms),
            };
            message(out, 10, |out| {
                histogram(out, span, tags, (trend.histogram(), NS_TO_MS), &facts);
            });
        }
        Aggregated::Values(trend) => {
            let facts = Facts {
                sum: trend.sum(),
                least: trend.min(),
                greatest: trend.max(),
            };
            message(out, 10, |out| {
                histogram(out, span, tags, (trend.histogram(), 1.0), &facts);
            });
        }
    }
}

fn monotonic(out: &mut Vec<u8>) {
    uint(out, 2, CUMULATIVE);
    uint(out, 3, 1);
}

/// A number's point; `value` writes the number.
fn point(
    out: &mut Vec<u8>,
    span: Span,
    tags: &TagSet,
    condition: Option<&str>,
    value: impl FnOnce(&mut Vec<u8>),
) {
    message(out, 1, |out| {
        times(out, span);
        value(out);
        attributes(out, 7, tags);
        if let Some(condition) = condition {
            attribute(out, 7, CONDITION, condition);
        }
    });
}

fn times(out: &mut Vec<u8>, span: Span) {
    fixed(out, 2, span.start_unix_ns);
    fixed(out, 3, span.until_unix_ns);
}

/// The fields of a histogram besides its buckets.
struct Facts {
    sum: f64,
    least: Option<f64>,
    greatest: Option<f64>,
}

/// An exponential histogram; `factor` converts values to the metric's unit.
fn histogram(
    out: &mut Vec<u8>,
    span: Span,
    tags: &TagSet,
    (values, factor): (&Histogram, f64),
    facts: &Facts,
) {
    let buckets = fitting(values, factor);
    message(out, 1, |out| {
        attributes(out, 1, tags);
        times(out, span);
        fixed(out, 4, values.count());
        double(out, 5, facts.sum);
        uint(out, 6, zigzag(i64::from(buckets.scale)));
        fixed(out, 7, buckets.zero);
        side(out, 8, &buckets.positive);
        side(out, 9, &buckets.negative);
        for (field, fact) in [(12, facts.least), (13, facts.greatest)] {
            if let Some(fact) = fact {
                fixed(out, field, fact.to_bits());
            }
        }
    });
    uint(out, 2, CUMULATIVE);
}

/// The buckets in the finest scale that needs few enough of them. The range of values only grows, so a series'
/// scale only decreases, as the specification requires.
fn fitting(values: &Histogram, factor: f64) -> Downscaled {
    let at = |scale: i8| {
        let schema = Schema::new(scale).expect("all of these scales exist");
        if factor == 1.0 {
            values.downscale(schema)
        } else {
            values.downscale_times(schema, factor)
        }
    };
    let width = |side: &[Bucket]| match (side.first(), side.last()) {
        (Some(first), Some(last)) => (last.index - first.index) as usize + 1,
        _ => 0,
    };
    let fits = |buckets: &Downscaled| {
        width(&buckets.positive) <= BUCKETS_MAX && width(&buckets.negative) <= BUCKETS_MAX
    };
    SCALES
        .rev()
        .map(at)
        .find(fits)
        .unwrap_or_else(|| at(*SCALES.start()))
}

/// Buckets of one sign: the number of the first, and the counts of all up to the last.
fn side(out: &mut Vec<u8>, field: u32, buckets: &[Bucket]) {
    let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else {
        return;
    };
    let mut counts = vec![0; (last.index - first.index) as usize + 1];
    for bucket in buckets {
        counts[(bucket.index - first.index) as usize] = bucket.count;
    }
    message(out, field, |out| {
        uint(out, 1, zigzag(i64::from(first.index)));
        packed(out, 2, counts);
    });
}

fn attributes(out: &mut Vec<u8>, field: u32, tags: &TagSet) {
    for (name, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
        attribute(out, field, name, value);
    }
}

fn attribute(out: &mut Vec<u8>, field: u32, name: &str, value: &str) {
    message(out, field, |out| {
        text(out, 1, name);
        message(out, 2, |out| entry(out, 1, value.as_bytes()));
    });
}
