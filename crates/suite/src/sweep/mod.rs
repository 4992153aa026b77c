//! A load curve and what fits it.
//!
//! [`Values`] are the loads to try, a [`LoadPoint`] is what one of them measured, and a [`Curve`] is all of them with its knee, the
//! place where the p99 leaves its quiet level, and the fit of the Universal Scalability Law. Must not know how points are
//! measured. Invariant: a fit says how far off it is.

mod curve;
mod knee;
mod point;
mod usl;
mod values;

pub use curve::{Axis, Curve, SCHEMA, Scaling};
pub use knee::{Departure, Knee, NoKnee, departure, knee};
pub use point::LoadPoint;
pub use usl::{FACTOR_MIN, POINTS_MIN, Peak, Refusal, Usl};
pub use values::{VALUES_MAX, Values, ValuesError};
