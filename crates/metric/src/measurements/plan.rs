//! Which series a script run keeps: its metrics always, everything else on request.
//!
//! Must not know why they are requested. Invariant: no series grows with the number of requests, and series
//! that grow with the values of a tag are limited.

use serde::{Deserialize, Serialize};

use crate::threshold::MetricSelector;
use crate::{BuiltIn, DEFAULT_SERIES_CAP, TagSet};

/// The tag by which k6 separates expected responses from others.
pub const EXPECTED_RESPONSE_TAG: &str = "expected_response";

/// Which series a script run keeps besides its metrics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesPlan {
    /// Sub-metrics: samples of a metric that carry all these tags. No duplicates.
    pub submetrics: Vec<MetricSelector>,
    /// Whether to keep metrics and checks of each scenario separately.
    pub by_scenario: bool,
    /// Whether to keep metrics of each group separately.
    pub by_group: bool,
    /// Keep HTTP metrics for each value of this tag; `None`: do not.
    pub by_tag: Option<String>,
    /// Limit on the rows of that table if the user did not request it; exceeding it is not reported. `None`:
    /// the user requested it, and [`Self::series_cap`] applies.
    #[serde(default)]
    pub by_tag_max: Option<usize>,
    /// Whether to keep every metric by its full set of tags, for outputs that keep series.
    pub by_all_tags: bool,
    /// Whether to count the series, kept or not.
    pub counts_series: bool,
    /// Tags of the whole run; the overflow series keeps them.
    pub run_tags: TagSet,
    /// Limit on the values of [`Self::by_tag`], on the series of one metric, and on checks and groups.
    pub series_cap: usize,
}

impl Default for SeriesPlan {
    fn default() -> SeriesPlan {
        SeriesPlan {
            submetrics: Vec::new(),
            by_scenario: false,
            by_group: false,
            by_tag: None,
            by_tag_max: None,
            by_all_tags: false,
            counts_series: false,
            run_tags: TagSet::new(),
            series_cap: DEFAULT_SERIES_CAP,
        }
    }
}

impl SeriesPlan {
    /// The plan for thresholds on these metrics; metrics without tags need no extra series. If
    /// `expected_response` is true, the system tag of that name is on, and so is k6's own sub-metric of it.
    #[must_use]
    pub fn for_thresholds<'a>(
        selectors: impl IntoIterator<Item = &'a MetricSelector>,
        expected_response: bool,
    ) -> SeriesPlan {
        let mut plan = SeriesPlan::default();
        if expected_response {
            plan.add(MetricSelector {
                metric: BuiltIn::HttpReqDuration.name().into(),
                tags: TagSet::new().with(EXPECTED_RESPONSE_TAG, "true"),
            });
        }
        for selector in selectors {
            plan.add(selector.clone());
        }
        plan
    }

    fn add(&mut self, selector: MetricSelector) {
        if !selector.tags.is_empty() && !self.submetrics.contains(&selector) {
            self.submetrics.push(selector);
        }
    }
}
