//! What the value at a path in JSON is expected to be, by either kind of path.
//!
//! Must not know paths, nor how a failure is told. Invariant: a pattern is compiled once for each text.

use loadline_java::oro::{Oro, OroFault};

use crate::compiled::Compiled;

/// What the value at a path is expected to be.
#[derive(Clone, Debug, Default)]
pub struct ExpectedValue {
    /// Whether the value is checked; otherwise the path only has to exist.
    pub is_checked: bool,
    /// The value, or its pattern.
    pub expected: Compiled<Result<Oro, OroFault>>,
    /// Whether it is a pattern that must match completely.
    pub is_pattern: bool,
    /// Whether null is expected.
    pub is_null: bool,
    /// Whether the check is inverted.
    pub is_inverted: bool,
}
