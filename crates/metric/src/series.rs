//! How many series there may be, and what is told when there were more.
//!
//! Must not know how series are kept. Invariant: a word on too many series names the tag that made them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Series that are kept apart unless told otherwise: at 300 bytes to 30 KB each, what a generator can still afford.
pub const DEFAULT_SERIES_CAP: usize = 100_000;

/// Why series overflowed: the tag with the most values when the cap was first met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explosion {
    /// The metric whose series first found no place.
    pub metric: Arc<str>,
    /// Of that series' tags the one with the most distinct values; `None` when it has no tags.
    pub tag: Option<Arc<str>>,
    /// Distinct values of that tag at that moment.
    pub values: usize,
}
