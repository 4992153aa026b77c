//! The limit on the number of series, and the explanation when a run exceeds it.
//!
//! Must not know how series are kept. Invariant: an explosion of series names the tag that caused it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{OVERFLOW_TAG, TagSet};

/// Default limit on separate series. At 300 bytes to 30 KB each, this is what a generator can still afford.
pub const DEFAULT_SERIES_CAP: usize = 100_000;

/// Why series overflowed: the tag with the most values when the limit was first reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explosion {
    /// The metric of the first series beyond the limit.
    pub metric: Arc<str>,
    /// The tag of that metric's series with the most distinct values; `None` when they have no tags.
    pub tag: Option<Arc<str>>,
    /// Distinct values of that tag at that moment.
    pub values: usize,
}

/// The tags of the overflow series: the tags of the run, and [`OVERFLOW_TAG`].
#[must_use]
pub fn overflow_tags(run_tags: &TagSet) -> TagSet {
    run_tags.clone().with(OVERFLOW_TAG, "true")
}

impl Explosion {
    /// Explains why `metric` is at its limit, from the tags of its series.
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
