//! A load curve and its fit.
//!
//! [`Values`] are the loads to try, a [`LoadPoint`] is the measurement at one of them, and a [`Curve`] is all
//! of them with the knee, the point where the p99 leaves its quiet level, and the fit of the Universal
//! Scalability Law. Must not know how points are measured. Invariant: a fit reports its error.

mod curve;
mod knee;
mod point;
mod usl;
mod values;

pub use curve::{Axis, Curve, SCHEMA, Scaling};
pub use knee::{Departure, Knee, NoKnee, departure, knee};
pub use point::LoadPoint;
pub use usl::{FACTOR_MIN, POINTS_MIN, Peak, Refusal, Usl};
pub use values::{VALUES_MAX, Values};
