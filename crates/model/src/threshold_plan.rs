//! Thresholds of a script run as written in its options, and the series that a run keeps for them.
//!
//! Must not know when they are evaluated. Invariant: a threshold in a plan is well-formed; whether its metric
//! exists and supports it is checked once the script's metrics are known.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use loadline_metric::threshold::{ConditionError, MetricSelector, Threshold};
use loadline_metric::{SeriesPlan, TagSet};
use serde::{Deserialize, Deserializer, Serialize};

use crate::plan::TestPlan;
use crate::system_tags::SystemTag;
use crate::tag_series::VALUES_MAX;

/// One condition on one metric of a script run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThresholdPlan {
    /// The metric or sub-metric as named in the options: `name` or `name{tag:value}`.
    pub key: Arc<str>,
    /// The condition; it does not name a metric. `None`: the metric only has to appear in the summary.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "condition_of"
    )]
    pub condition: Option<Threshold>,
    /// Whether the run stops as soon as the condition fails.
    pub abort_on_fail: bool,
    /// Time from the start of the run during which it does not stop the run; default zero.
    #[serde(with = "crate::units::duration_text")]
    pub delay_abort_eval: Duration,
    /// Whether it is evaluated; default true. If not, outputs still list it and its sub-metric is kept.
    #[serde(default = "judged", skip_serializing_if = "is_true")]
    pub is_judged: bool,
}

fn judged() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

/// Why a threshold cannot be read; the texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThresholdPlanError {
    /// The metric's name, and what is wrong with it.
    Key {
        /// The part that is wrong.
        text: String,
        /// What is wrong.
        problem: KeyProblem,
    },
    /// What is wrong with the condition.
    Condition(ConditionError),
}

/// What is wrong with the name of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyProblem {
    /// A single brace.
    Unmatched,
    /// `}` before `{`.
    Reversed,
    /// Text after the closing brace.
    NotLast,
    /// Text between the braces that is not `tag:value`.
    Tag,
}

impl fmt::Display for ThresholdPlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ThresholdPlanError::Key { text, problem } => {
                let problem = match problem {
                    KeyProblem::Unmatched => "has unmatched opening/close curly brace",
                    KeyProblem::Reversed => "closing curly brace appears before opening one",
                    KeyProblem::NotLast => "lacks a closing curly brace in its last position",
                    KeyProblem::Tag => "tag expression is malformed",
                };
                write!(
                    f,
                    "unable to validate threshold expressions; reason: parsing metric name failed, \
                     metric {text:?} {problem}"
                )
            }
            ThresholdPlanError::Condition(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ThresholdPlanError {}

impl ThresholdPlan {
    /// Parses a threshold: its key and the condition.
    ///
    /// # Errors
    /// [`ThresholdPlanError`] with k6's words.
    pub fn parse(
        key: &str,
        condition: &str,
        abort_on_fail: bool,
        delay_abort_eval: Duration,
    ) -> Result<ThresholdPlan, ThresholdPlanError> {
        selector_of(key)?;
        let condition =
            Threshold::parse_script(condition).map_err(ThresholdPlanError::Condition)?;
        Ok(ThresholdPlan {
            key: key.into(),
            condition: Some(condition),
            abort_on_fail,
            delay_abort_eval,
            is_judged: true,
        })
    }

    /// A key without conditions: its metric is kept and reported.
    ///
    /// # Errors
    /// [`ThresholdPlanError`] with k6's words.
    pub fn without_condition(key: &str) -> Result<ThresholdPlan, ThresholdPlanError> {
        selector_of(key)?;
        Ok(ThresholdPlan {
            key: key.into(),
            condition: None,
            abort_on_fail: false,
            delay_abort_eval: Duration::ZERO,
            is_judged: true,
        })
    }

    /// The metric, and the tags of the sub-metric if the key has any.
    #[must_use]
    pub fn selector(&self) -> MetricSelector {
        selector_of(&self.key).unwrap_or_else(|_| MetricSelector::whole(Arc::clone(&self.key)))
    }

    /// The key as k6 shows it: without spaces around the text between the braces.
    #[must_use]
    pub fn shown_key(&self) -> String {
        match (self.key.split_once('{'), self.suffix()) {
            (Some((name, _)), Some(suffix)) => format!("{name}{{{suffix}}}"),
            _ => self.key.to_string(),
        }
    }

    /// The text between the braces of the key, as written; `None` for a whole metric.
    #[must_use]
    pub fn suffix(&self) -> Option<&str> {
        let (_, inner) = self.key.split_once('{')?;
        Some(inner.strip_suffix('}').unwrap_or(inner).trim())
    }
}

impl TestPlan {
    /// Which series a run of this plan keeps: those needed by its thresholds and its summary.
    #[must_use]
    pub fn series(&self) -> SeriesPlan {
        let selectors: Vec<_> = self
            .script_thresholds
            .iter()
            .map(ThresholdPlan::selector)
            .collect();
        let Some(script) = &self.script else {
            return SeriesPlan::for_thresholds(&selectors, false);
        };
        let expected_response = script.series.system_tags.has(SystemTag::ExpectedResponse);
        SeriesPlan {
            by_scenario: script.series.by_scenario,
            by_group: script.series.by_scenario,
            by_tag: Some(script.series.table_tag().to_owned()),
            by_tag_max: script.series.by_tag.is_none().then_some(VALUES_MAX),
            run_tags: self.run_tags(),
            series_cap: script.series.series_max as usize,
            ..SeriesPlan::for_thresholds(&selectors, expected_response)
        }
    }
}

/// Parses `name` or `name{tag:value,tag:value}` by k6's rules: quotes and spaces around names and values are
/// dropped, a value ends at the next comma, and the last value of a repeated tag wins.
fn selector_of(key: &str) -> Result<MetricSelector, ThresholdPlanError> {
    let wrong = |text: &str, problem| {
        Err(ThresholdPlanError::Key {
            text: text.to_owned(),
            problem,
        })
    };
    let (open, close) = match (key.find('{'), key.rfind('}')) {
        (None, None) => return Ok(MetricSelector::whole(key)),
        (Some(open), Some(close)) => (open, close),
        _ => return wrong(key, KeyProblem::Unmatched),
    };
    if close < open {
        return wrong(key, KeyProblem::Reversed);
    }
    if close + 1 != key.len() {
        return wrong(key, KeyProblem::NotLast);
    }
    let mut tags = TagSet::new();
    for tag in key[open + 1..close].split(',') {
        match tag.split_once(':') {
            Some((name, value)) if !value.is_empty() => tags.set(bare(name), bare(value)),
            _ => return wrong(tag, KeyProblem::Tag),
        }
    }
    Ok(MetricSelector {
        metric: key[..open].into(),
        tags,
    })
}

fn condition_of<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Threshold>, D::Error> {
    let text = String::deserialize(from)?;
    let read = Threshold::parse_script(&text).map_err(serde::de::Error::custom)?;
    Ok(Some(read))
}

fn bare(text: &str) -> &str {
    text.trim().trim_matches(['"', '\'']).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(key: &str, condition: &str) -> Result<ThresholdPlan, ThresholdPlanError> {
        ThresholdPlan::parse(key, condition, false, Duration::ZERO)
    }

    #[test]
    fn keys_are_read_as_k6_reads_them() {
        let plan = parse("http_reqs{ a : b , c:\"d\",'e':'f:g' }", "count<1").expect("a good key");
        let tags = TagSet::new().with("a", "b").with("c", "d").with("e", "f:g");
        assert_eq!(plan.selector().tags, tags);
        assert_eq!(&*plan.selector().metric, "http_reqs");
        assert_eq!(plan.suffix(), Some("a : b , c:\"d\",'e':'f:g'"));
        let shown = "http_reqs{a : b , c:\"d\",'e':'f:g'}";
        assert_eq!(plan.shown_key(), shown);
        assert_eq!(
            parse("http_reqs", "count<1").expect("a name").suffix(),
            None
        );
    }

    #[test]
    fn bad_keys_are_told_as_k6_tells_them() {
        let reason =
            "unable to validate threshold expressions; reason: parsing metric name failed, metric ";
        for (key, problem) in [
            ("x}", "\"x}\" has unmatched opening/close curly brace"),
            (
                "x}{",
                "\"x}{\" closing curly brace appears before opening one",
            ),
            (
                "x{a:b}c",
                "\"x{a:b}c\" lacks a closing curly brace in its last position",
            ),
            ("x{}", "\"\" tag expression is malformed"),
            ("x{a:}", "\"a:\" tag expression is malformed"),
            ("x{a:b,}", "\"\" tag expression is malformed"),
        ] {
            let told = parse(key, "count<1").expect_err(key).to_string();
            assert_eq!(told, format!("{reason}{problem}"));
        }
    }

    #[test]
    fn conditions_survive_the_json_of_a_plan() {
        for condition in [
            "p<5",
            "avg<1_000",
            "avg>-Inf",
            " p(95)[1m] < 500 ",
            "rate<1%",
        ] {
            let plan = parse("x", condition).expect(condition);
            let json = serde_json::to_string(&plan).expect("a plan has a text");
            let read: ThresholdPlan = serde_json::from_str(&json).expect(&json);
            assert_eq!(read, plan);
        }
        assert!(
            serde_json::from_str::<ThresholdPlan>(r#"{"key":"x","condition":"p95<5"}"#).is_err()
        );
    }
}
