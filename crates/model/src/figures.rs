//! The figures of a result: the few numbers that summarize a test, small enough for a container's termination
//! message.
//!
//! A coordinator writes them; whoever watches its pod reads them, as untrusted data. Must not know where they
//! are written to. Invariants: what is written is complete JSON within its limit, or nothing; what was read is
//! within the limits below.

use loadline_go::GoDuration;
use loadline_metric::{Aggregated, TimeTrend};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::result::RunResult;

/// The start of figures, so that no other text is mistaken for them.
const MARK: &str = "figures/v1";
/// Maximum thresholds that are read.
const THRESHOLDS_MAX: usize = 64;
/// Maximum characters of a name or condition that are read.
const NAME_MAX: usize = 256;
/// Maximum characters of a sentence that are read.
const SENTENCE_MAX: usize = 1_024;
/// Length to which a sentence is cut before it is dropped.
const SENTENCE_SHORT: usize = 240;
/// The largest count that readers with signed 64-bit numbers accept.
const COUNT_MAX: u64 = i64::MAX as u64;

/// The result of a test, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Figures {
    /// Outcomes of requests; `None`: none was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestFigures>,
    /// Outcomes of iterations; `None`: an iteration is one request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<IterationFigures>,
    /// Completed requests per second over the whole run; `None`: none was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Percentiles; `None`: nothing was timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<TimeFigures>,
    /// Maximum active virtual users; `None`: the run ended before they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vus_max: Option<u64>,
    /// The share of the planned iterations that were started; `None`: none were planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_share: Option<f64>,
    /// The share of the started requests that were lost with an agent.
    pub lost_share: f64,
    /// From the start of the load to its last response, as Go writes durations; empty: unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub duration: String,
    /// Results of thresholds, crossed ones first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdFigure>,
    /// Number of thresholds that did not fit.
    #[serde(skip_serializing_if = "is_zero")]
    pub thresholds_left_out: u64,
    /// The verdict in one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// What went wrong; `None`: nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Outcomes of requests: `started = completed + failed + interrupted + lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestFigures {
    /// Started.
    pub started: u64,
    /// Answered completely.
    pub completed: u64,
    /// Failed.
    pub failed: u64,
    /// Cut short by the end of the run.
    pub interrupted: u64,
    /// Started by an agent that was lost.
    pub lost: u64,
}

/// Outcomes of iterations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct IterationFigures {
    /// How many the plan asked for; `None`: as many as possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// Complete.
    pub completed: u64,
    /// Cut short by the end of the run.
    pub interrupted: u64,
    /// Due without a free virtual user, so not started.
    pub dropped: u64,
}

/// Percentiles of one metric, formatted like Go durations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeFigures {
    /// The metric: `http_req_duration` for scripts, `response_time` for open models, otherwise `service_time`.
    pub metric: String,
    /// Number of values.
    pub count: u64,
    /// 95th percentile.
    pub p95: String,
    /// 99th percentile.
    pub p99: String,
}

/// The result of a threshold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThresholdFigure {
    /// Its metric; empty if the condition names it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The condition as written.
    pub condition: String,
    /// The observed value, in the metric's unit; `None`: there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether it passed.
    pub passed: bool,
}

#[derive(Serialize)]
struct Marked<'a> {
    loadline: &'static str,
    #[serde(flatten)]
    figures: &'a Figures,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Figures {
    /// The figures of a result. Interrupted iterations and an error are not part of a result; the caller adds
    /// them.
    #[must_use]
    pub fn of(result: &RunResult) -> Figures {
        let totals = &result.totals;
        let whole = totals.seen.whole();
        let started = whole.started;
        let requests = (started > 0).then(|| RequestFigures {
            started,
            completed: whole.completed,
            failed: whole.failed_total(),
            interrupted: whole.interrupted,
            lost: whole.lost,
        });
        let mut thresholds = thresholds(result);
        thresholds.sort_by_key(|threshold| threshold.passed);
        Figures {
            iterations: iterations(result),
            rate: (started > 0).then(|| rounded(totals.rates.average, 100.0)),
            times: times(result),
            vus_max: Some(totals.active_vus_max).filter(|vus| *vus > 0),
            delivered_share: result.delivered_share().map(|share| rounded(share, 1e4)),
            lost_share: requests.as_ref().map_or(0.0, lost_share),
            duration: span(totals.elapsed_ns as f64),
            thresholds,
            thresholds_left_out: 0,
            verdict: Some(result.verdict.headline.clone()),
            error: None,
            requests,
        }
    }

    /// Whether the test made load.
    #[must_use]
    pub fn has_load(&self) -> bool {
        let begun = |made: &IterationFigures| made.completed + made.interrupted > 0;
        self.requests.is_some() || self.iterations.as_ref().is_some_and(begun)
    }

    /// JSON of at most `bytes_max` bytes. The least important goes first: passed thresholds, the ends of
    /// sentences, other thresholds, sentences. Empty if not even the numbers fit.
    #[must_use]
    pub fn within(mut self, bytes_max: usize) -> String {
        loop {
            let marked = Marked {
                loadline: MARK,
                figures: &self,
            };
            let text = serde_json::to_string(&marked).unwrap_or_default();
            if text.len() <= bytes_max {
                return text;
            }
            if !self.leave_something_out() {
                return String::new();
            }
        }
    }

    fn leave_something_out(&mut self) -> bool {
        let holds = self.thresholds.last().is_some_and(|last| last.passed);
        let sentences = [&mut self.verdict, &mut self.error];
        let long = sentences.into_iter().flatten();
        let long: Vec<&mut String> = long.filter(|text| text.len() > SENTENCE_SHORT).collect();
        if !holds && !long.is_empty() {
            for text in long {
                text.truncate(text.floor_char_boundary(SENTENCE_SHORT));
            }
            return true;
        }
        if self.thresholds.pop().is_some() {
            self.thresholds_left_out += 1;
            return true;
        }
        self.verdict.take().is_some() || self.error.take().is_some()
    }

    /// Parses untrusted figures; `None`: the text is something else, or corrupt.
    #[must_use]
    pub fn read(text: &str) -> Option<Figures> {
        let value: Value = serde_json::from_str(text.trim()).ok()?;
        if value["loadline"] != MARK {
            return None;
        }
        let mut figures = Figures::deserialize(value).ok()?;
        figures.bound();
        Some(figures)
    }

    /// Whether a text was meant to be figures, even if it is corrupt.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        let begin = format!("{{\"loadline\":\"{MARK}\"");
        text.trim_start().starts_with(&begin)
    }

    /// Clamps everything to the limits of its readers.
    fn bound(&mut self) {
        if let Some(requests) = &mut self.requests {
            let RequestFigures {
                started,
                completed,
                failed,
                interrupted,
                lost,
            } = requests;
            for count in [started, completed, failed, interrupted, lost] {
                *count = (*count).min(COUNT_MAX);
            }
        }
        if let Some(iterations) = &mut self.iterations {
            let IterationFigures {
                planned,
                completed,
                interrupted,
                dropped,
            } = iterations;
            for count in [completed, interrupted, dropped].into_iter().chain(planned) {
                *count = (*count).min(COUNT_MAX);
            }
        }
        if let Some(times) = &mut self.times {
            times.count = times.count.min(COUNT_MAX);
            for text in [&mut times.metric, &mut times.p95, &mut times.p99] {
                clean(text, NAME_MAX);
            }
        }
        self.vus_max = self.vus_max.map(|vus| vus.min(COUNT_MAX));
        clean(&mut self.duration, NAME_MAX);
        let more = self.thresholds.len().saturating_sub(THRESHOLDS_MAX) as u64;
        self.thresholds.truncate(THRESHOLDS_MAX);
        self.thresholds_left_out = self.thresholds_left_out.saturating_add(more).min(COUNT_MAX);
        for threshold in &mut self.thresholds {
            clean(&mut threshold.name, NAME_MAX);
            clean(&mut threshold.condition, NAME_MAX);
        }
        for text in [&mut self.verdict, &mut self.error].into_iter().flatten() {
            clean(text, SENTENCE_MAX);
        }
    }
}

/// Removes control characters that a terminal would interpret, and truncates.
fn clean(text: &mut String, most: usize) {
    let is_odd = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if text.contains(is_odd) {
        *text = text.replace(is_odd, " ");
    }
    text.truncate(text.floor_char_boundary(most));
}

fn lost_share(requests: &RequestFigures) -> f64 {
    rounded(requests.lost as f64 / requests.started as f64, 1e4)
}

fn rounded(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps
}

/// Nanoseconds in Go's format, with four digits.
fn span(ns: f64) -> String {
    let ns = ns.max(0.0);
    let digits = ns.max(1.0).log10().floor();
    let step = 10_f64.powf((digits - 3.0).max(0.0));
    GoDuration(((ns / step).round() * step) as i64).to_string()
}

fn iterations(result: &RunResult) -> Option<IterationFigures> {
    let summary = result.summary.as_ref()?;
    let counted = |name: &str| {
        let mut metrics = summary.root.metrics.iter();
        let metric =
            metrics.find(|metric| !metric.is_sub_metric() && &*metric.definition.name == name)?;
        match &metric.values {
            Aggregated::Counter(counter) => Some(counter.total() as u64),
            _ => None,
        }
    };
    Some(IterationFigures {
        planned: result.totals.asked,
        completed: counted("iterations").unwrap_or_default(),
        interrupted: 0,
        dropped: counted("dropped_iterations").unwrap_or_default(),
    })
}

fn times(result: &RunResult) -> Option<TimeFigures> {
    let summary = result.summary.as_ref();
    let of_script = summary.and_then(|summary| {
        let mut metrics = summary.root.metrics.iter();
        let metric = metrics.find(|metric| {
            !metric.is_sub_metric() && &*metric.definition.name == "http_req_duration"
        })?;
        match &metric.values {
            Aggregated::Times(trend) => of_trend("http_req_duration", trend),
            _ => None,
        }
    });
    of_script.or_else(|| {
        let seen = &result.totals.seen;
        match seen.response_time.is_empty() {
            true => of_trend("service_time", &seen.service_time()),
            false => of_trend("response_time", &seen.response_time),
        }
    })
}

fn of_trend(metric: &str, trend: &TimeTrend) -> Option<TimeFigures> {
    let [p95, p99] = trend.quantiles(&[0.95, 0.99])?.try_into().ok()?;
    Some(TimeFigures {
        metric: metric.to_owned(),
        count: trend.count(),
        p95: span(p95),
        p99: span(p99),
    })
}

fn thresholds(result: &RunResult) -> Vec<ThresholdFigure> {
    let Some(summary) = &result.summary else {
        let own = result.thresholds.iter().map(|outcome| ThresholdFigure {
            name: String::new(),
            condition: outcome.threshold.clone(),
            value: outcome.value,
            passed: outcome.passed,
        });
        return own.collect();
    };
    let of_script = summary.root.metrics.iter().flat_map(|metric| {
        metric.thresholds.iter().map(|threshold| ThresholdFigure {
            name: metric.key(),
            condition: threshold.source.to_string(),
            value: threshold.observed,
            passed: threshold.passed,
        })
    });
    of_script.collect()
}

#[cfg(test)]
mod tests;
