//! How many series there may be, and what is told when there were more.
//!
//! Must not know how series are kept. Invariant: a word on too many series names the tag that made them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{OVERFLOW_TAG, TagSet};

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

/// The tags of a series for all that found no place: the run's, and the mark.
#[must_use]
pub fn overflow_tags(run_tags: &TagSet) -> TagSet {
    run_tags.clone().with(OVERFLOW_TAG, "true")
}

impl Explosion {
    /// Why a metric whose series have these tags is full.
    pub fn of<'a>(metric: Arc<str>, series: impl Iterator<Item = &'a TagSet>) -> Explosion {
        let mut values: BTreeMap<&Arc<str>, BTreeSet<&str>> = BTreeMap::new();
        for (name, value) in series.flat_map(TagSet::as_slice) {
            values.entry(name).or_default().insert(value);
        }
        let widest = values.iter().map(|(name, values)| (values.len(), *name));
        let (values, tag) = widest
            .max()
            .map_or((0, None), |(values, tag)| (values, Some(Arc::clone(tag))));
        Explosion {
            metric,
            tag,
            values,
        }
    }
}

impl fmt::Display for Explosion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "metric {} has more than {} values of the tag `{}`: what comes beyond is counted together \
             under overflow:true; give the tag fewer values",
            self.metric,
            self.values,
            self.tag.as_deref().unwrap_or_default()
        )
    }
}
