//! Points on the integral of an arrival rate.
//!
//! Must not know rates. Invariant: points are compared exactly, without floating point.

/// A planned number of starts with a fraction: a point on the integral of the arrival rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Planned {
    pub(crate) whole: u64,
    /// In units of 2^-32.
    pub(crate) fraction: u32,
}
