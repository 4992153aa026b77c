//! Additions for script runs: gauges of the whole run, thresholds during the run, the summary.
//!
//! Must not know how a run is stopped or shown. Invariant: the summary is made from the sum of all workers'
//! measurements, and from gauges that only exist for the whole run.

use std::sync::Arc;
use std::time::Duration;

use loadline_engine::ScriptMetrics;
use loadline_engine::batches::ValueSender;
use loadline_engine::live::LiveTotals;
use loadline_metric::{Aggregated, BuiltIn, MeasurementsDelta, MetricId, TagSet};
use loadline_model::event::{DROPPED_MARK, MANY_SERIES_MARK, Mark, WARNING_MARK};
use loadline_model::result::ThresholdOutcome;
use loadline_model::sample::TaggedValues;
use loadline_model::summarize::HeldThresholds;
use loadline_model::tag_series::TagRows;
use loadline_model::test_summary::ThresholdSummary;
use loadline_model::units::duration_ns;
use loadline_model::{Snapshot, TestPlan, TestSummary};

use crate::thresholds::HeldTogether;
use crate::watch::RunWatch;

/// Number of series above which k6 warns, repeated whenever it has doubled.
const SERIES_SUGGESTED: u64 = 100_000;

/// The part of a conductor for script runs.
pub(crate) struct ScriptConduct {
    thresholds: HeldTogether,
    values: Option<ValueSender>,
    by_tag: Option<String>,
    tag_rows: TagRows,
    fails_on_drop: bool,
    told_of_explosion: bool,
    /// Number of series from which k6 warns next.
    series_warned_at: u64,
    /// The tags of the run, which its gauges have too.
    tags: Arc<TagSet>,
}

/// A part of the run that has been emitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) span_ns: u64,
    pub(crate) until_ns: u64,
}

impl ScriptConduct {
    /// For a plan, before it runs; `watch` shows its thresholds, if there is one.
    ///
    /// # Errors
    /// A threshold that cannot be evaluated, in k6's words.
    pub(crate) fn new(
        plan: &TestPlan,
        metrics: &ScriptMetrics,
        watch: Option<&RunWatch>,
    ) -> Result<ScriptConduct, String> {
        let settings = plan.script.as_deref();
        let fails_on_drop = settings.is_some_and(|script| script.fail_on_drop);
        let thresholds = match watch {
            Some(watch) => watch.thresholds().clone(),
            None => HeldTogether::of_plan(plan, &metrics.registry)?,
        };
        Ok(ScriptConduct {
            thresholds,
            values: metrics.values.clone(),
            by_tag: metrics.series.by_tag.clone(),
            tag_rows: TagRows::default(),
            fails_on_drop,
            told_of_explosion: false,
            series_warned_at: SERIES_SUGGESTED,
            tags: Arc::new(plan.run_tags()),
        })
    }

    /// Adds the gauges of a whole second to the workers' data: k6's `vus` and `vus_max`, starting at second
    /// one.
    pub(crate) fn gauge(
        &mut self,
        seen: &mut Snapshot,
        live: &LiveTotals,
        until_ns: u64,
        started_unix_ms: u64,
    ) {
        let gauges = [
            (BuiltIn::Vus, live.vus_active as f64),
            (BuiltIn::VusMax, live.vus_made as f64),
        ];
        let script = seen.script.get_or_insert_default();
        for (metric, value) in gauges {
            script
                .set_gauge(metric, value, until_ns)
                .expect("a whole number is finite");
            script.distinct.add(metric.id(), &*self.tags);
        }
        let tagged = TaggedValues {
            request: None,
            time_unix_ns: started_unix_ms.saturating_mul(1_000_000) + until_ns,
            tags: Arc::clone(&self.tags),
            metadata: None,
            values: gauges.map(|(metric, value)| (metric.id(), value)).to_vec(),
        };
        if let Some(values) = &self.values
            && values.send(vec![tagged]).is_err()
        {
            self.values = None;
        }
    }

    /// Stores the data by value of the requested tag.
    pub(crate) fn keep_by_tag(&mut self, seen: &Snapshot, at: Part) {
        if self.by_tag.is_some() {
            let by_tag = seen.script.as_deref().and_then(|seen| seen.by_tag.as_ref());
            let at_ns = at.until_ns.saturating_sub(at.span_ns);
            self.tag_rows.add(at_ns, at.span_ns, by_tag);
        }
    }

    /// Evaluates the thresholds on the run so far, `elapsed` after the start of the test; returns k6's message if
    /// one of them ends it.
    pub(crate) fn hold(
        &mut self,
        part: &Snapshot,
        total: &Snapshot,
        at: Part,
        elapsed: Duration,
    ) -> Option<String> {
        let (part, total) = (part.script.as_deref(), total.script.as_deref());
        let crossed = self.thresholds.lock().told(part, total, at, elapsed)?;
        Some(premature_end(&crossed))
    }

    /// The thresholds that were crossed for the first time since the last call.
    pub(crate) fn first_crossed(&mut self) -> Vec<String> {
        self.thresholds.lock().take_first_crossed()
    }

    /// Evaluates the thresholds on the measurements of `setup()` so far; returns k6's message if one of them
    /// ends the test.
    pub(crate) fn crossed_in_setup(
        &self,
        seen: &MeasurementsDelta,
        elapsed: Duration,
    ) -> Option<String> {
        let crossed = self.thresholds.lock().crossed(Some(seen), elapsed, true)?;
        Some(premature_end(&crossed))
    }

    /// The warning about a tag with too many values, once.
    pub(crate) fn explosion(&mut self, total: &Snapshot, at_ns: u64) -> Option<Mark> {
        let explosion = total.script.as_deref()?.explosion.as_ref()?;
        if std::mem::replace(&mut self.told_of_explosion, true) {
            return None;
        }
        Some(Mark {
            at_ns,
            kind: WARNING_MARK.to_owned(),
            text: explosion.to_string(),
        })
    }

    /// k6's warning about many series, each time their number has doubled.
    pub(crate) fn many_series(&mut self, total: &Snapshot, at_ns: u64) -> Option<Mark> {
        let count = total.script.as_deref()?.distinct.count();
        if count <= self.series_warned_at {
            return None;
        }
        while self.series_warned_at < count {
            self.series_warned_at = self.series_warned_at.saturating_mul(2);
        }
        Some(Mark {
            at_ns,
            kind: MANY_SERIES_MARK.to_owned(),
            text: format!(
                "The test has generated metrics with {count} unique time series, which is higher than the \
                 suggested limit of {SERIES_SUGGESTED} and could cause high memory usage. Consider not using \
                 high-cardinality values like unique IDs as metric tags or, if you need them in the URL, use the \
                 name metric tag or URL grouping. See https://grafana.com/docs/k6/latest/using-k6/tags-and-groups/ \
                 for details."
            ),
        })
    }

    /// The warning about iterations that were not started; `None` if there are none, or if they count as a
    /// failure anyway.
    pub(crate) fn dropped(&self, total: &Snapshot, at_ns: u64) -> Option<Mark> {
        let dropped = match value_of(total.script.as_deref()?, BuiltIn::DroppedIterations.id())? {
            Aggregated::Counter(counter) if counter.total() > 0.0 => counter.total(),
            _ => return None,
        };
        (!self.fails_on_drop).then(|| Mark {
            at_ns,
            kind: DROPPED_MARK.to_owned(),
            text: format!(
                "iterations that were due and not started: {dropped} (dropped_iterations); --fail-on-drop \
                 makes this a failure"
            ),
        })
    }

    /// The summary and the outcomes of the thresholds, for the measurements of a run of this length.
    pub(crate) fn finish(
        &mut self,
        seen: &MeasurementsDelta,
        length: Duration,
    ) -> (TestSummary, Vec<ThresholdOutcome>) {
        let held = self.thresholds.lock().finish(seen, length);
        let outcomes = held
            .iter()
            .flat_map(|(key, held)| {
                let outcome = |threshold: &ThresholdSummary| ThresholdOutcome {
                    threshold: format!("{key}: {}", threshold.source),
                    value: threshold.observed,
                    passed: threshold.passed,
                };
                held.thresholds.iter().map(outcome).collect::<Vec<_>>()
            })
            .collect();
        let held: Vec<HeldThresholds> = held.into_iter().map(|(_, held)| held).collect();
        let mut summary = TestSummary::of(seen, duration_ns(length), self.by_tag.as_deref(), &held);
        if let Some(by_tag) = &mut summary.by_tag {
            by_tag.over_time = self.tag_rows.series();
        }
        (summary, outcomes)
    }
}

fn value_of(seen: &MeasurementsDelta, metric: MetricId) -> Option<&Aggregated> {
    seen.root.values.get(&metric)
}

fn premature_end(crossed: &[Arc<str>]) -> String {
    format!(
        "thresholds on metrics '{}' were crossed; at least one has abortOnFail enabled, stopping test \
         prematurely",
        crossed.join(", ")
    )
}
