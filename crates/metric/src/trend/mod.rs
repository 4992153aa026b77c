//! Trends: distributions of times (`TimeTrend`, exact integer ns) and of arbitrary values (`ValueTrend`,
//! `f64`).
//!
//! Must not know units beyond that, nor where values come from. Invariant: count, minimum and maximum are
//! exact; percentiles are exact up to [`RAW_VALUES_MAX`] values and within 0.068 % beyond.

mod distribution;
mod encoding;
mod time;
mod value;

pub use distribution::RAW_VALUES_MAX;
pub use time::TimeTrend;
pub use value::ValueTrend;
