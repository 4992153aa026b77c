//! What loadline measures with: metric kinds, tag sets, series, the histogram and the thresholds on them.
//!
//! This crate must not know clocks, sockets, files, threads or how anything is shown: time and values
//! come in as arguments, aggregates go out as data.
//!
//! Invariant: every aggregate merges, so that the merge of parts says the same as one aggregate that saw
//! everything, and its size depends on the spread of the values, never on how many were recorded.

mod aggregated;
mod definition;
pub mod hdr;
mod histogram;
pub mod measurements;
mod registry;
mod scalar;
mod series;
pub mod student;
mod sum;
mod tags;
pub mod threshold;
mod trend;

pub use aggregated::Aggregated;
pub use definition::{BuiltIn, Contains, MetricDefinition, MetricId, MetricType};
pub use histogram::{
    Bucket, DecodeError, Downscaled, Histogram, MAX_INDEX, MIN_INDEX, SCALE, Schema, index_of_u64,
    lower_bound, midpoint, upper_bound,
};
pub use measurements::{
    DistinctSeries, HttpTimes, Measurements, MeasurementsDelta, MetricValues, SeriesDelta,
    SeriesPlan, SeriesValues,
};
pub use registry::{DeclareError, METRICS_MAX, MetricRegistry};
pub use scalar::{Counter, Gauge, NotFinite, Rate, Summary, ValueCounter};
pub use series::{DEFAULT_SERIES_CAP, Explosion, overflow_tags};
pub use tags::{OVERFLOW_TAG, TagSet, Tagged};
pub use trend::{RAW_VALUES_MAX, TimeTrend, ValueTrend};
