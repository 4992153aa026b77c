//! The test plan: everything that a run needs, printable before it starts.
//!
//! Three front ends produce it; nothing after them knows which. Must not know flags or file formats. Invariant:
//! a plan that passed [`TestPlan::validate`] can be run.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loadline_metric::TagSet;
use loadline_metric::threshold::Threshold;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::client::ClientPlan;
use crate::executor::Executor;
use crate::request::RequestMix;
use crate::script_settings::ScriptSettings;
use crate::secret::redacted_field;
use crate::segment::{Segment, SegmentError, SegmentSequence, Share};
use crate::threshold_plan::ThresholdPlan;

/// What happens to an arrival that is due when no virtual user is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnExhausted {
    /// It is not started but counted as dropped (k6's rule).
    Drop,
    /// It waits and starts late; its response time includes the wait.
    Queue,
}

/// What a virtual user does in one iteration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Behaviour {
    /// Sends one request made from templates.
    Requests(RequestMix),
    /// Runs a function of the plan's script.
    Script(ScriptBehaviour),
    /// Runs a thread of a JMeter plan's thread group.
    Steps(StepsBehaviour),
}

/// A thread group of a JMeter plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepsBehaviour {
    /// Its index among the groups, from 0.
    pub group: usize,
    /// Whether it contains a sampler that sends HTTP requests.
    #[serde(default)]
    pub sends: bool,
}

/// A function of the plan's script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptBehaviour {
    /// Name of the exported function.
    pub exec: String,
    /// Variables that the scenario adds to the script's environment.
    pub env: BTreeMap<String, String>,
}

/// Behaviour, executor, start time and tags.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Name, unique in the plan.
    pub name: String,
    /// Start time, from the start of the run.
    #[serde(with = "crate::units::duration_text")]
    pub start_time: Duration,
    /// The policy that starts iterations.
    pub executor: Executor,
    /// What happens to arrivals without a free virtual user.
    pub on_exhausted: OnExhausted,
    /// Minimum time between two starts of one virtual user (closed model); `None`: no pacing.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub pacing: Option<Duration>,
    /// Time that running iterations get to finish after the last start.
    #[serde(with = "crate::units::duration_text")]
    pub graceful_stop: Duration,
    /// Time after the end during which queued arrivals may still start; after it they count as interrupted.
    #[serde(with = "crate::units::duration_text")]
    pub queue_grace: Duration,
    /// What a virtual user does.
    pub behaviour: Behaviour,
    /// What a response must satisfy to count as goodput; empty: a status from 200 to 399.
    pub checks: Vec<Check>,
    /// Tags of every series of the scenario.
    pub tags: BTreeMap<String, String>,
}

impl Scenario {
    /// The requests that its virtual users send; `None` if a script or steps decide.
    #[must_use]
    pub fn requests(&self) -> Option<&RequestMix> {
        match &self.behaviour {
            Behaviour::Requests(mix) => Some(mix),
            Behaviour::Script(_) | Behaviour::Steps(_) => None,
        }
    }

    /// The planned number of iterations; `None` if only time limits them. For steps, the executor starts whole
    /// threads, so their number says nothing about iterations.
    #[must_use]
    pub fn planned_iterations(&self) -> Option<u64> {
        match &self.behaviour {
            Behaviour::Steps(_) => None,
            Behaviour::Requests(_) | Behaviour::Script(_) => self.executor.planned_iterations(),
        }
    }
}

/// The part of the plan that this process runs, if several processes share it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSegment {
    /// The part.
    pub segment: Segment,
    /// All parts.
    pub sequence: SegmentSequence,
    /// Whether it stands alone (`--execution-segment`): the others are run by processes that know nothing of it,
    /// so that its scripts number their virtual users from 1, as under k6.
    #[serde(default)]
    pub is_apart: bool,
}

impl PlanSegment {
    /// A part of a sequence; without a sequence, the part defines its own.
    ///
    /// # Errors
    /// [`SegmentError::NotInSequence`], and those of [`SegmentSequence::new`].
    pub fn new(
        segment: Segment,
        sequence: Option<SegmentSequence>,
    ) -> Result<PlanSegment, SegmentError> {
        let sequence = match sequence {
            Some(sequence) => sequence,
            None => SegmentSequence::new(vec![segment])?,
        };
        sequence.stripes(&segment)?;
        Ok(PlanSegment {
            segment,
            sequence,
            is_apart: false,
        })
    }

    /// The same part, standing alone.
    #[must_use]
    pub fn apart(self) -> PlanSegment {
        PlanSegment {
            is_apart: true,
            ..self
        }
    }
}

/// Which series a run keeps beyond its totals, on request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AggregationPlan {
    /// Count responses and times per value of this response header (`--by header:NAME`).
    pub by_header: Option<String>,
    /// Send every single sample to a sink (CSV and template reports).
    pub samples: bool,
    /// Length of short windows in which rates of completed requests are recorded as a distribution
    /// (bombardier's `Reqs/sec`); `None`: do not.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub rate_window: Option<Duration>,
}

/// Everything that a run needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestPlan {
    /// The scenarios, which run concurrently.
    pub scenarios: Vec<Scenario>,
    /// How connections are made.
    pub client: ClientPlan,
    /// What must hold at the end.
    pub thresholds: Vec<Threshold>,
    /// Time at the start whose samples are excluded from the results.
    #[serde(with = "crate::units::duration_text")]
    pub warm_up: Duration,
    /// Starts of an open model may be bunched into windows of this length; zero is precise and costs one
    /// wake-up per start.
    #[serde(with = "crate::units::duration_text")]
    pub start_window: Duration,
    /// Worker threads; `None`: as many as the cores this process may use, but not more than VUs.
    pub workers: Option<u32>,
    /// Series beyond the totals.
    pub aggregation: AggregationPlan,
    /// The user's own key-value labels, copied to the result.
    pub labels: BTreeMap<String, String>,
    /// Tags of every series and value of the run, so that a receiver can tell runs apart.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// The part of the plan that this process runs; `None`: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<PlanSegment>,
    /// Settings of script scenarios; `None` if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Arc<ScriptSettings>>,
    /// Thresholds on a script's metrics; empty if there are no script scenarios.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub script_thresholds: Vec<ThresholdPlan>,
}

impl TestPlan {
    /// A plan without scenarios: the init context runs under it before its options are known.
    #[must_use]
    pub fn without_load(client: ClientPlan) -> TestPlan {
        TestPlan {
            scenarios: Vec::new(),
            client,
            thresholds: Vec::new(),
            warm_up: Duration::ZERO,
            start_window: Duration::ZERO,
            workers: None,
            aggregation: AggregationPlan::default(),
            labels: BTreeMap::new(),
            tags: BTreeMap::new(),
            seed: 0,
            segment: None,
            script: None,
            script_thresholds: Vec::new(),
        }
    }

    /// The tags of the run, as a set.
    #[must_use]
    pub fn run_tags(&self) -> TagSet {
        let texts = self.tags.iter();
        let texts = texts.map(|(name, value)| (name.as_str(), value.as_str()));
        texts.collect()
    }

    /// The plan without its secrets, as in results, pages and journals.
    #[must_use]
    pub fn redacted(&self) -> TestPlan {
        let hide = |values: &mut BTreeMap<String, String>| {
            for (name, value) in values {
                *value = redacted_field(name, value).into_owned();
            }
        };
        let mut plan = self.clone();
        hide(&mut plan.labels);
        for scenario in &mut plan.scenarios {
            match &mut scenario.behaviour {
                Behaviour::Requests(mix) => mix.requests.iter_mut().for_each(|one| one.redact()),
                Behaviour::Script(script) => hide(&mut script.env),
                Behaviour::Steps(_) => {}
            }
        }
        plan
    }

    /// The share of the plan that this process runs, from 0 to 1.
    #[must_use]
    pub fn segment_share(&self) -> f64 {
        let part = self.segment.as_ref();
        part.map_or(1.0, |part| part.segment.share())
    }

    /// Checks that the plan can be run.
    ///
    /// # Errors
    /// The first contradiction found, in words for the user.
    pub fn validate(&self) -> Result<(), String> {
        if self.scenarios.is_empty() {
            return Err("the plan has no scenario".to_owned());
        }
        for scenario in &self.scenarios {
            scenario.executor.validate()?;
            if scenario
                .requests()
                .is_some_and(|mix| mix.requests.is_empty())
            {
                return Err(format!("scenario {}: has no request", scenario.name));
            }
            if matches!(scenario.behaviour, Behaviour::Script(_)) && self.script.is_none() {
                return Err(format!("scenario {}: has no script", scenario.name));
            }
        }
        self.share(0, 1)?;
        self.client.validate()
    }

    /// The share of one worker of this process.
    ///
    /// # Errors
    /// The plan's segment is not part of its sequence, in words for the user.
    ///
    /// # Panics
    /// If `worker` is not below `workers`.
    pub fn share(&self, worker: u32, workers: u32) -> Result<Share, String> {
        match &self.segment {
            None => Ok(Share::whole(worker, workers)),
            Some(part) => Share::new(part.segment, part.sequence.clone(), worker, workers)
                .map_err(|error| error.to_string()),
        }
    }

    /// Maximum virtual users over all scenarios.
    #[must_use]
    pub fn max_vus(&self) -> u32 {
        self.scenarios
            .iter()
            .map(|s| s.executor.max_vus())
            .fold(0, u32::saturating_add)
    }

    /// When the last scenario stops starting iterations; `None` if only a count or a stop ends it.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        let mut longest = Duration::ZERO;
        for scenario in &self.scenarios {
            longest = longest.max(scenario.start_time + scenario.executor.duration()?);
        }
        Some(longest)
    }

    /// The planned number of iterations over all scenarios; `None` if any scenario is limited by time only.
    #[must_use]
    pub fn planned_iterations(&self) -> Option<u64> {
        self.scenarios.iter().try_fold(0_u64, |sum, s| {
            Some(sum.saturating_add(s.planned_iterations()?))
        })
    }

    /// The longest time that a scenario fills with load whatever the target does; `None` if no scenario has a
    /// length known in advance: each ends after a number of responses or of random arrivals, or when stopped.
    #[must_use]
    pub fn time_filled(&self) -> Option<Duration> {
        let filled = |scenario: &Scenario| {
            let executor = &scenario.executor;
            let length = match executor.planned_iterations() {
                Some(_) => executor.time_of_count(),
                None => executor.duration(),
            };
            Some(scenario.start_time + length?)
        };
        self.scenarios.iter().filter_map(filled).max()
    }

    /// Whether iterations of some scenario send a variable number of requests; a script's always do.
    #[must_use]
    pub fn sends_several(&self) -> bool {
        self.script.is_some() || self.scenarios.iter().any(|one| one.requests().is_none())
    }

    /// Whether any scenario has arrivals independent of completions.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.scenarios.iter().any(|s| s.executor.is_open())
    }

    /// Whether virtual users of any scenario wait until their next iteration is due.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.scenarios.iter().any(|s| s.pacing.is_some())
    }
}
