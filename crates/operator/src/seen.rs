//! The observed state of a test: its pods and Jobs, as far as decisions need it.
//!
//! Must not know the reaction. Invariant: missing data is absent here, never guessed.

use std::collections::BTreeSet;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use k8s_openapi::jiff::Timestamp;
use loadline_model::Figures;

use crate::names::Names;
use crate::results;
use crate::status::Runs;

/// The role of a pod or Job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The coordinator's.
    Coordinator,
    /// That of the agent with this number.
    Agent(u32),
    /// The Job of all agents.
    Agents,
}

impl Role {
    /// The agent's number; `None`: it is not an agent.
    #[must_use]
    pub fn agent(self) -> Option<u32> {
        match self {
            Role::Agent(number) => Some(number),
            Role::Coordinator | Role::Agents => None,
        }
    }
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The init container; `None`: it was the program itself.
    pub before: Option<String>,
    /// Its exit code.
    pub code: i32,
    /// The kubelet's reason, such as `OOMKilled`.
    pub reason: String,
    /// Its last lines of output; if it left figures, its error.
    pub message: String,
    /// The figures that it left; `None`: none, or invalid ones.
    pub figures: Option<Box<Figures>>,
    /// When.
    pub at: Option<Timestamp>,
}

/// The progress of a pod in passing its result on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOn {
    /// It waits for the coordinator's end.
    Awaited,
    /// It ended, with this exit code.
    Ended(i32),
}

/// Why something does not start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hindrance {
    /// One word.
    pub reason: String,
    /// In the cluster's words.
    pub message: String,
}

/// A pod.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenPod {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Its node; `None`: none yet.
    pub node: Option<String>,
    /// When it was created.
    pub made: Option<Timestamp>,
    /// Why it is not scheduled, and since when.
    pub unscheduled: Option<(Hindrance, Option<Timestamp>)>,
    /// Why one of its containers does not start.
    pub waiting: Option<Hindrance>,
    /// Whether its program is running.
    pub is_running: bool,
    /// How its program, or one before it, ended.
    pub ended: Option<Ended>,
    /// Its progress in passing its result on; `None`: it passes none on.
    pub hand_on: Option<HandOn>,
    /// The cluster's last warning about it; only queried if nothing else explains why it does not start.
    pub warning: Option<Hindrance>,
    /// Why the whole pod was ended from outside: evicted, preempted, node lost.
    pub removed: Option<Hindrance>,
}

/// A Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenJob {
    /// Its name.
    pub name: String,
    /// Distinguishes it from an earlier one with the same name.
    pub uid: String,
    /// Its role.
    pub role: Role,
    /// Whether it is being deleted.
    pub is_going: bool,
    /// Whether it has failed.
    pub has_failed: bool,
    /// Whether one of its pods failed and none exists now: the next one comes after a delay that doubles with each
    /// failure.
    pub is_between_pods: bool,
    /// How many pods it should have at a time.
    pub pods: usize,
    /// When it was created.
    pub made: Option<Timestamp>,
    /// The cluster's last warning about it; only queried if it has no pod.
    pub warning: Option<Hindrance>,
}

/// What the coordinator's log reports about agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The script was read, and agents may join.
    pub is_listening: bool,
    /// How many have joined.
    pub joined: u32,
    /// The progress of a suite.
    pub runs: Option<Runs>,
}

impl Heard {
    /// Adds a line of a suite's log.
    pub fn take_of_suite(&mut self, line: &str) {
        let number = |text: &str| text.parse::<u32>().ok();
        if let Some((total, done)) = line.split_once(", ")
            && let Some(total) = total.strip_suffix(" runs").or(total.strip_suffix(" run"))
            && let Some(done) = done.strip_suffix(" done")
            && let (Some(done), Some(total)) = (number(done), number(total))
        {
            self.runs = Some(Runs { done, total });
        }
        if let Some((begun, _)) = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("] "))
            && let Some((begun, total)) = begun.split_once('/')
            && let (Some(begun), Some(total)) = (number(begun), number(total))
        {
            let done = begun.saturating_sub(1);
            self.runs = Some(Runs { done, total });
        }
        if let Some(runs) = &mut self.runs
            && (line.starts_with("  ✓ ") || line.starts_with("  ✗ "))
        {
            runs.done = runs.total.min(runs.done + 1);
        }
    }

    /// Adds a line of the log.
    pub fn take(&mut self, line: &str) {
        self.is_listening |= line.starts_with("waiting for ") && line.contains(" agents, each ");
        let Some((_, counts)) = line.split_once(" has joined: ") else {
            return;
        };
        if let Some((joined, of)) = counts.trim().split_once(" of ")
            && let (Ok(joined), Ok(_)) = (joined.parse::<u32>(), of.parse::<u32>())
        {
            self.is_listening = true;
            self.joined = self.joined.max(joined);
        }
    }
}

/// Label of the pods of an Indexed Job.
const INDEX_LABEL: &str = "batch.kubernetes.io/job-completion-index";

fn role(names: &Names<'_>, job: &str) -> Option<Role> {
    if job == names.coordinator() {
        return Some(Role::Coordinator);
    }
    match names.kind.is_indexed() {
        true => (job == names.agents()).then_some(Role::Agents),
        false => names.number(job).map(Role::Agent),
    }
}

/// The role of a pod of this Job; `index`: its index, if the Job has many.
fn pod_role(names: &Names<'_>, job: &str, index: Option<&String>) -> Option<Role> {
    match role(names, job)? {
        Role::Agents => {
            let index = index?.parse::<u32>().ok()?;
            index.checked_add(1).map(Role::Agent)
        }
        role => Some(role),
    }
}

impl SeenJob {
    /// A Job of a test; `None`: it belongs to none, or to an earlier one with the same name.
    #[must_use]
    pub fn of(job: &Job, names: &Names<'_>, uid: &str) -> Option<SeenJob> {
        let mut owners = job.metadata.owner_references.iter().flatten();
        owners.find(|owner| owner.uid == uid)?;
        let name = job.metadata.name.clone()?;
        let conditions = job.status.iter().flat_map(|status| &status.conditions);
        let wanted = job.spec.as_ref().and_then(|spec| spec.completions);
        Some(SeenJob {
            role: role(names, &name)?,
            name,
            uid: job.metadata.uid.clone().unwrap_or_default(),
            pods: wanted
                .and_then(|wanted| usize::try_from(wanted).ok())
                .unwrap_or(1),
            is_between_pods: job.status.as_ref().is_some_and(|status| {
                status.failed.unwrap_or(0) > 0 && status.active.unwrap_or(0) == 0
            }),
            is_going: job.metadata.deletion_timestamp.is_some(),
            has_failed: conditions
                .flatten()
                .any(|condition| condition.type_ == "Failed" && condition.status == "True"),
            made: job.metadata.creation_timestamp.as_ref().map(|time| time.0),
            warning: None,
        })
    }

    /// Whether one of its pods does not exist yet, or was deleted.
    #[must_use]
    pub fn lacks_a_pod(&self, pods: &[SeenPod]) -> bool {
        let is_of_job =
            |role: Role| role == self.role || self.role == Role::Agents && role.agent().is_some();
        let roles = pods
            .iter()
            .map(|pod| pod.role)
            .filter(|role| is_of_job(*role));
        let there: BTreeSet<Option<u32>> = roles.map(Role::agent).collect();
        there.len() < self.pods
    }
}

impl SeenPod {
    /// A pod of one of a test's Jobs.
    #[must_use]
    pub fn of(pod: &Pod, names: &Names<'_>) -> Option<SeenPod> {
        let labels = pod.metadata.labels.as_ref()?;
        let job = labels.get("batch.kubernetes.io/job-name");
        let job = job.or_else(|| labels.get("job-name"))?;
        let status = pod.status.clone().unwrap_or_default();
        let before = status.init_container_statuses.unwrap_or_default();
        let containers = status.container_statuses.unwrap_or_default();
        let ours = containers
            .iter()
            .find(|status| status.name == names.kind.container());
        let mut failed_before = before.iter().filter_map(|status| {
            let ended = ended(status).filter(|ended| ended.code != 0)?;
            let before = Some(status.name.clone());
            Some(Ended { before, ..ended })
        });
        let failed_before = failed_before.next_back();
        let is_failed = status.phase.as_deref() == Some("Failed");
        let conditions = status.conditions.iter().flatten();
        let unscheduled = conditions
            .clone()
            .find(|condition| condition.type_ == "PodScheduled" && condition.status == "False")
            .map(|condition| {
                let why = Hindrance {
                    reason: condition.reason.clone().unwrap_or_default(),
                    message: condition.message.clone().unwrap_or_default(),
                };
                (why, condition.last_transition_time.as_ref().map(|at| at.0))
            });
        let disrupted = conditions
            .clone()
            .find(|condition| condition.type_ == "DisruptionTarget" && condition.status == "True")
            .map(|condition| Hindrance {
                reason: condition.reason.clone().unwrap_or_default(),
                message: condition.message.clone().unwrap_or_default(),
            });
        let evicted = status.reason.filter(|_| is_failed).map(|reason| Hindrance {
            reason,
            message: status.message.unwrap_or_default(),
        });
        Some(SeenPod {
            name: pod.metadata.name.clone()?,
            role: pod_role(names, job, labels.get(INDEX_LABEL))?,
            node: pod.spec.as_ref().and_then(|spec| spec.node_name.clone()),
            made: pod.metadata.creation_timestamp.as_ref().map(|time| time.0),
            unscheduled,
            waiting: before.iter().chain(ours).find_map(waiting),
            warning: None,
            is_running: ours.is_some_and(is_running),
            hand_on: containers
                .iter()
                .find(|status| status.name == results::CONTAINER)
                .map(|status| {
                    let ended = ended(status).map(|ended| ended.code);
                    ended.map_or(HandOn::Awaited, HandOn::Ended)
                }),
            ended: failed_before.filter(|_| is_failed).or(ours.and_then(ended)),
            removed: evicted.or(disrupted),
        })
    }

    /// Whether its program has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.removed.is_some()
    }
}

fn is_running(status: &ContainerStatus) -> bool {
    let state = status.state.as_ref();
    state.is_some_and(|state| state.running.is_some())
}

fn waiting(status: &ContainerStatus) -> Option<Hindrance> {
    let waiting = status.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.clone()?;
    let is_usual = matches!(reason.as_str(), "ContainerCreating" | "PodInitializing");
    (!is_usual).then(|| Hindrance {
        reason,
        message: waiting.message.clone().unwrap_or_default(),
    })
}

fn ended(status: &ContainerStatus) -> Option<Ended> {
    let ended = status.state.as_ref()?.terminated.as_ref()?;
    let message = ended.message.clone().unwrap_or_default();
    let figures = Figures::read(&message).map(Box::new);
    Some(Ended {
        before: None,
        code: ended.exit_code,
        reason: ended.reason.clone().unwrap_or_default(),
        message: match &figures {
            Some(figures) => figures.error.clone().unwrap_or_default(),
            // Broken figures are ignored; the log has the facts.
            None if Figures::is_meant(&message) => String::new(),
            None => message,
        },
        figures,
        at: ended.finished_at.as_ref().map(|at| at.0),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use loadline_model::test_kind::TestKind;

    fn pod(status: &serde_json::Value) -> SeenPod {
        let pod = json!({
            "metadata": {"name": "t-2-x", "labels": {"job-name": "t-2"}},
            "status": status,
        });
        let pod = serde_json::from_value(pod).expect("a pod");
        SeenPod::of(&pod, &Names::new(TestKind::TestRun, "t", "u")).expect("a pod of the test")
    }

    #[test]
    fn a_pod_tells_what_keeps_it() {
        let unscheduled = pod(&json!({"phase": "Pending", "conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/1 nodes are available", "lastTransitionTime": "2026-01-01T00:00:00Z",
        }]}));
        assert_eq!(unscheduled.role, Role::Agent(2));
        let (why, since) = unscheduled.unscheduled.expect("it has no node");
        assert_eq!(why.message, "0/1 nodes are available");
        assert!(since.is_some());
        let state = |state| {
            json!({"containerStatuses": [{"name": "k6", "state": state,
            "image": "", "imageID": "", "ready": false, "restartCount": 0}]})
        };
        let pulling = pod(&state(
            json!({"waiting": {"reason": "ErrImagePull", "message": "no"}}),
        ));
        assert_eq!(pulling.waiting.expect("it waits").reason, "ErrImagePull");
        let usual = pod(&state(json!({"waiting": {"reason": "ContainerCreating"}})));
        assert_eq!(usual.waiting, None);
        let killed = pod(&state(
            json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}),
        ));
        assert_eq!(killed.ended.expect("it ended").reason, "OOMKilled");
        let before = pod(
            &json!({"phase": "Failed", "initContainerStatuses": [{"name": "i", "image": "",
            "imageID": "", "ready": false, "restartCount": 0, "state": {"terminated": {"exitCode": 1}}}]}),
        );
        assert_eq!(before.ended.expect("it ended").before.as_deref(), Some("i"));
        let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"});
        assert!(pod(&evicted).is_over());
    }

    #[test]
    fn the_log_of_a_suite_tells_how_far_it_is() {
        let mut heard = Heard::default();
        let mut after = |line: &str| {
            heard.take_of_suite(line);
            heard.runs.map(|runs| (runs.done, runs.total))
        };
        assert_eq!(after("  ✓ a: early"), None);
        assert_eq!(after("1 run, 0 done"), Some((0, 1)));
        assert_eq!(after("3 runs, 0 done"), Some((0, 3)));
        assert_eq!(after("[1/3] a"), Some((0, 3)));
        assert_eq!(after("  run (10s): loadline bench x"), Some((0, 3)));
        assert_eq!(after("  ✗ a: failed"), Some((1, 3)));
        assert_eq!(after("[1/3] a · try 2"), Some((0, 3)));
        assert_eq!(after("  ✓ a: 10 rps · about 1m left"), Some((1, 3)));
        assert_eq!(after("[3/3] c"), Some((2, 3)));
        assert_eq!(after("[x/3] c"), Some((2, 3)));
        assert_eq!(after("  ✓ c: 10 rps"), Some((3, 3)));
        assert_eq!(after("  ✓ c: again"), Some((3, 3)));
    }

    #[test]
    fn pods_of_one_job_are_told_apart_by_their_index() {
        let names = Names::new(TestKind::LoadTest, "t", "u");
        let of = |job: &str, index: Option<&str>| {
            let mut labels = json!({"job-name": job});
            if let Some(index) = index {
                labels[INDEX_LABEL] = json!(index);
            }
            let pod = json!({"metadata": {"name": "x", "labels": labels}});
            let pod = serde_json::from_value(pod).expect("a pod");
            SeenPod::of(&pod, &names)
        };
        let role = |job, index| of(job, index).map(|pod| pod.role);
        assert_eq!(role("t-agent", Some("0")), Some(Role::Agent(1)));
        assert_eq!(role("t-coordinator", None), Some(Role::Coordinator));
        for (job, index) in [
            ("t-agent", None),
            ("t-agent", Some("x")),
            ("t-agent", Some("4294967295")),
            ("t-1", Some("0")),
            ("t-2", None),
        ] {
            assert_eq!(role(job, index), None, "{job} {index:?}");
        }
        let job = json!({
            "metadata": {"name": "t-agent", "uid": "j", "ownerReferences": [
                {"apiVersion": "loadline.io/v1alpha1", "kind": "LoadTest", "name": "t", "uid": "u"},
            ]},
            "spec": {"completions": 2, "template": {}},
        });
        let job = serde_json::from_value(job).expect("a Job");
        let job = SeenJob::of(&job, &names, "u").expect("the Job of all agents");
        assert_eq!(job.role, Role::Agents);
        let pods = |all: &[&str]| -> Vec<SeenPod> {
            all.iter()
                .filter_map(|index| of("t-agent", Some(index)))
                .collect()
        };
        assert!(job.lacks_a_pod(&pods(&["0", "0"])));
        assert!(!job.lacks_a_pod(&pods(&["0", "1"])));
    }

    #[test]
    fn a_last_word_is_figures_or_a_log() {
        let said = |message: &str| {
            let ended = json!({"terminated": {"exitCode": 99, "message": message}});
            let pod = pod(&json!({"containerStatuses": [{"name": "k6", "state": ended,
                "image": "", "imageID": "", "ready": false, "restartCount": 0}]}));
            pod.ended.expect("it ended")
        };
        let figures = Figures {
            error: Some("why".to_owned()),
            vus_max: Some(3),
            ..Figures::default()
        };
        let text = figures.clone().within(4_096);
        let told = said(&text);
        assert_eq!(
            (told.message.as_str(), told.figures),
            ("why", Some(Box::new(figures)))
        );
        let cut = said(&text[..text.len() - 2]);
        assert_eq!((cut.message.as_str(), cut.figures), ("", None));
        assert_eq!(said("level=error msg=x").message, "level=error msg=x");
    }

    #[test]
    fn the_log_tells_who_is_there() {
        let mut heard = Heard::default();
        heard.take("time=\"\" level=info msg=\"waiting for 2 agents, each\"");
        assert_eq!(heard, Heard::default());
        heard.take("waiting for 2 agents, each started with: loadline agent --join 1:2");
        assert!(heard.is_listening);
        heard.take("t-1 has joined: 1 of 2");
        heard.take("t-2 has joined: 2 of 2");
        heard.take("a script's line has joined: many of us");
        assert_eq!(heard.joined, 2);
    }
}
