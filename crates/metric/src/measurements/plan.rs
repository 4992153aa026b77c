//! Which series a script run keeps: its metrics always, everything else because somebody asked.
//!
//! Must not know why they are wanted. Invariant: no series grows with the number of requests, and
//! those that grow with the values of a tag have a limit.

use serde::{Deserialize, Serialize};

use crate::threshold::MetricSelector;
use crate::{BuiltIn, DEFAULT_SERIES_CAP, TagSet};

/// The tag by which k6 parts expected answers from others.
pub const EXPECTED_RESPONSE_TAG: &str = "expected_response";

/// Which series a script run keeps beside its metrics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeriesPlan {
    /// Sub-metrics: samples of a metric that carry all these tags. Each once.
    pub submetrics: Vec<MetricSelector>,
    /// Metrics and checks of each scenario for itself.
    pub by_scenario: bool,
    /// Metrics of each group for itself.
    pub by_group: bool,
    /// HTTP metrics for each value of this tag; `None`: not kept.
    pub by_tag: Option<String>,
    /// Rows of that table at most where nobody asked for it, so that it is no news if they do not suffice; `None`: it was
    /// asked for, and has [`Self::series_cap`] rows.
    #[serde(default)]
    pub by_tag_max: Option<usize>,
    /// Every metric by all its tags, for outputs that keep series.
    pub by_all_tags: bool,
    /// How many series there are, kept or not.
    pub counts_series: bool,
    /// Tags of the whole run, which an overflow series keeps.
    pub run_tags: TagSet,
    /// Values of [`Self::by_tag`], series of one metric, checks and groups that get a place of their own.
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
    /// The plan for thresholds on these metrics; those without tags need no series of their own.
    /// With `expected_response` the system tag of that name is on, and so is k6's own sub-metric of it.
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
