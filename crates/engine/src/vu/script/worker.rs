//! State shared by a worker's script virtual users, and by those of a scenario on it.
//!
//! Must not know virtual users. Invariant: nothing here grows with the number of iterations.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use loadline_metric::{MetricId, MetricRegistry, TagSet};
use loadline_model::plan::{Scenario, ScriptBehaviour as ScriptFunction};
use loadline_model::sample::VusAtWork;
use loadline_model::segment::Share;
use loadline_model::system_tags::SystemTag;
use loadline_model::{Nanos, RunCommand, ScenarioChange, TestPlan};
use loadline_schedule::iterations_of_process;
use loadline_script::host::{LogEntry, LogLevel};
use loadline_script::vu::{ScenarioSetup, ScriptFailure, SetupData, StackPool, VuIds};
use loadline_script::{Program, ScriptVu};

use super::numbers::PlanNumbers;
use super::retired::RetiredVus;
use crate::clock::Clock;
use crate::exchange::Answer;
use crate::live::{LiveCounters, LiveTotals, iterations_ended, vus_at_work};
use crate::mailbox::Mailbox;
use crate::record_script::{Occasion, ScriptRecorder};
use crate::report::WorkerReport;
use crate::script::{InitFailure, ScriptLog, ScriptSetup, ScriptSignal};
use crate::vu::script_client::ScriptClientSettings;

/// State shared by a worker's script virtual users.
pub(crate) struct WorkerScript {
    pub(crate) program: Arc<Program>,
    pub(crate) registry: Arc<MetricRegistry>,
    pub(crate) recorder: RefCell<ScriptRecorder>,
    pub(crate) log: Arc<dyn ScriptLog>,
    pub(crate) client: Rc<ScriptClientSettings>,
    pub(crate) stacks: Rc<StackPool>,
    /// This worker's own counters.
    pub(crate) live: Arc<LiveCounters>,
    /// Every worker's counters.
    pub(crate) all_live: Vec<Arc<LiveCounters>>,
    /// Passes responses to the request counts.
    pub(crate) answer: RefCell<Answer>,
    /// Minimum duration of an iteration, including the wait after its end.
    pub(crate) iteration_min: Duration,
    /// Where finished virtual users go: owned by the worker, which outlives them.
    retired: RefCell<Weak<RetiredVus>>,
    told_of_infinity: Arc<AtomicBool>,
    reports: Sender<WorkerReport>,
    /// Every worker's mailbox, to end the test.
    mailboxes: Vec<Arc<Mailbox>>,
}

/// What script virtual users need from their worker.
pub(crate) struct WorkerMeans {
    pub(crate) clock: Clock,
    pub(crate) warm_up: Duration,
    pub(crate) client: Rc<ScriptClientSettings>,
    pub(crate) live: Arc<LiveCounters>,
    pub(crate) all_live: Vec<Arc<LiveCounters>>,
    pub(crate) iteration_min: Duration,
    /// Whether infinite values were reported; shared by the workers.
    pub(crate) told_of_infinity: Arc<AtomicBool>,
    pub(crate) reports: Sender<WorkerReport>,
    pub(crate) mailboxes: Vec<Arc<Mailbox>>,
}

impl WorkerScript {
    pub(crate) fn new(setup: &ScriptSetup, means: WorkerMeans) -> WorkerScript {
        WorkerScript {
            program: Arc::clone(&setup.program),
            registry: Arc::clone(&setup.metrics.registry),
            recorder: RefCell::new(ScriptRecorder::new(
                means.clock,
                &setup.metrics,
                means.warm_up,
            )),
            log: Arc::clone(&setup.log),
            client: means.client,
            stacks: StackPool::new(),
            live: means.live,
            all_live: means.all_live,
            answer: RefCell::default(),
            iteration_min: means.iteration_min,
            retired: RefCell::default(),
            told_of_infinity: means.told_of_infinity,
            reports: means.reports,
            mailboxes: means.mailboxes,
        }
    }

    /// Sets the place for finished virtual users. Before that they are freed at once.
    pub(crate) fn retire_to(&self, retired: &Rc<RetiredVus>) {
        *self.retired.borrow_mut() = Rc::downgrade(retired);
    }

    /// Takes over the script of a virtual user that has finished.
    pub(super) fn retire(&self, vu: ScriptVu) {
        if let Some(retired) = self.retired.borrow().upgrade() {
            retired.take(vu);
        }
    }

    /// The counts of all workers.
    pub(crate) fn live_totals(&self) -> LiveTotals {
        let mut sum = LiveTotals::default();
        for counters in &self.all_live {
            counters.add_to(&mut sum);
        }
        sum
    }

    /// Active virtual users, of a scenario and in total.
    pub(crate) fn vus_at_work(&self, scenario: &ScenarioScript) -> VusAtWork {
        let numbers = scenario.numbers.as_ref();
        vus_at_work(&self.all_live, numbers.map(|(_, index)| *index))
    }

    pub(crate) fn abort(&self, message: &str) {
        self.signal(ScriptSignal::Aborted(message.to_owned()));
        self.stop_all();
    }

    pub(crate) fn mark_failed(&self, message: &str) {
        self.signal(ScriptSignal::MarkedFailed(message.to_owned()));
    }

    /// A virtual user that the test needs could not be initialized.
    pub(crate) fn init_failed(&self, failure: InitFailure) {
        self.signal(ScriptSignal::InitFailed(failure));
        self.stop_all();
    }

    /// Warns, once per run, about a value that no metric can hold.
    pub(crate) fn tell_of_infinity(&self, metric: MetricId) {
        if !self.told_of_infinity.swap(true, Ordering::Relaxed) {
            let definition = self.registry.get(metric);
            let name =
                definition.map_or_else(String::new, |definition| definition.name.to_string());
            self.log.write(&LogEntry {
                level: LogLevel::Warning,
                message: &format!(
                    "a value of metric '{name}' is infinite: such values are not recorded"
                ),
                fields: &[],
                in_init: false,
            });
        }
    }

    /// Stops every worker immediately, before the run could: nothing more may start.
    fn stop_all(&self) {
        for mailbox in &self.mailboxes {
            mailbox.command(RunCommand::StopNow);
        }
    }

    /// Records iterations of a scenario that were due but not started.
    pub(crate) fn dropped(&self, scenario: &ScenarioScript, count: u64, at: Nanos) {
        self.left_out(scenario, count, at);
        scenario.note(|change| change.dropped += count);
    }

    /// Adds iterations that did not start to the metric.
    pub(crate) fn left_out(&self, scenario: &ScenarioScript, count: u64, at: Nanos) {
        let on = Occasion {
            at,
            tags: &*scenario.tags_of_no_vu,
            metadata: None,
        };
        self.recorder.borrow_mut().dropped(count, on);
    }

    /// Warns, once for all workers, that more virtual users would be needed than the scenario may have.
    pub(crate) fn warn_of_want(&self, scenario: &ScenarioScript) {
        let numbers = scenario.numbers.as_ref();
        let Some(vus) = numbers.and_then(|(numbers, index)| numbers.first_lack(*index)) else {
            return;
        };
        self.log.write(&LogEntry {
            level: LogLevel::Warning,
            message: &format!(
                "Insufficient VUs, reached {vus} active VUs and cannot initialize more"
            ),
            fields: &[
                ("executor", scenario.executor),
                ("scenario", &scenario.name),
            ],
            in_init: false,
        });
    }

    /// Logs that a virtual user could not be initialized; the run goes on without it.
    pub(crate) fn tell_of_loss(&self, scenario: &ScenarioScript, failure: &ScriptFailure) {
        self.log.write(&LogEntry {
            level: LogLevel::Error,
            message: "Error while allocating unplanned VU",
            fields: &[
                ("error", &failure.to_string()),
                ("executor", scenario.executor),
                ("scenario", &scenario.name),
            ],
            in_init: false,
        });
    }

    /// Counts an initialized virtual user of a scenario, unless an earlier one had the same number.
    pub(crate) fn note_made(&self, scenario: &ScenarioScript, vu: u64) {
        scenario.note(|change| change.vus_made += 1);
        if scenario.is_new(vu) {
            self.live.count_made();
        }
    }

    fn signal(&self, signal: ScriptSignal) {
        // A run that no longer listens has given up.
        drop(self.reports.send(WorkerReport::Script(signal)));
    }
}

/// State shared by the virtual users of a script scenario.
pub(crate) struct ScenarioScript {
    /// What it shares with the other scenarios on the worker.
    pub(crate) worker: Rc<WorkerScript>,
    /// Whether it is one of the plan's; otherwise it stands for `setup`, `teardown` or `handleSummary`.
    pub(crate) is_scenario: bool,
    pub(crate) name: Arc<str>,
    pub(crate) executor: &'static str,
    /// From the start of the run.
    pub(crate) start: Nanos,
    duration: Option<Duration>,
    /// Iterations of this instance; `None`: a duration limits them.
    planned: Option<u64>,
    /// The numbers of its virtual users, and its place among the scenarios; `None`: its only one has
    /// number 0.
    numbers: Option<(Arc<PlanNumbers>, usize)>,
    /// The function, its environment and data, and the tags of its samples.
    pub(crate) setup: Rc<ScenarioSetup>,
    /// Those tags, and the empty group.
    pub(crate) tags_at_top: Rc<TagSet>,
    /// The tags of samples that no virtual user records.
    tags_of_no_vu: Rc<TagSet>,
    /// Iterations of this scenario started in this instance; `None`: it is no scenario of the plan.
    begun: Option<BegunIterations>,
    /// What changed since the last report.
    pub(crate) change: Cell<ScenarioChange>,
}

/// Iterations started in this instance, by scenario.
pub(crate) type AllBegun = Arc<[AtomicU64]>;

/// The place of one scenario among them.
struct BegunIterations {
    all: AllBegun,
    scenario: usize,
    /// Whether the instance runs the whole plan: iterations that none can miss have the numbers of the test.
    is_whole: bool,
}

impl ScenarioScript {
    /// Records that one of its virtual users became active or idle.
    pub(crate) fn note_active(&self, is_active: bool) {
        self.note(|change| change.vus_active += if is_active { 1 } else { -1 });
    }

    /// Records a change of the scenario.
    pub(crate) fn note(&self, make: impl FnOnce(&mut ScenarioChange)) {
        let mut change = self.change.get();
        make(&mut change);
        self.change.set(change);
    }

    pub(crate) fn new(
        worker: &Rc<WorkerScript>,
        (plan, index, share): (&TestPlan, usize, &Share),
        function: &ScriptFunction,
        data: &SetupData,
        numbers: &Arc<PlanNumbers>,
        begun: &AllBegun,
    ) -> ScenarioScript {
        let scenario = &plan.scenarios[index];
        let tags = tags_of(plan, scenario);
        let tags_at_top = with_group(plan, &tags, "");
        ScenarioScript {
            worker: Rc::clone(worker),
            is_scenario: true,
            name: scenario.name.as_str().into(),
            executor: scenario.executor.name(),
            start: Nanos::from(scenario.start_time),
            duration: scenario.executor.duration(),
            planned: iterations_of_process(&scenario.executor, share),
            numbers: Some((Arc::clone(numbers), index)),
            setup: Rc::new(ScenarioSetup {
                function: function.exec.as_str().into(),
                env: function.env.clone().into_iter().collect(),
                data: Arc::clone(data),
                tags: Rc::new(tags),
            }),
            tags_at_top: Rc::new(tags_at_top),
            tags_of_no_vu: Rc::new(tags_of_no_vu(plan, scenario)),
            begun: Some(BegunIterations {
                all: Arc::clone(begun),
                scenario: index,
                is_whole: plan.segment.is_none(),
            }),
            change: Cell::default(),
        }
    }

    /// The numbers of one of its virtual users.
    pub(super) fn ids(&self, vu: u64) -> VuIds {
        let numbers = self.numbers.as_ref();
        numbers.map_or_else(VuIds::default, |(numbers, scenario)| {
            numbers.ids(*scenario, vu)
        })
    }

    /// Whether a later scenario takes over one of its virtual users.
    pub(super) fn has_heir(&self, vu: u64) -> bool {
        let numbers = self.numbers.as_ref();
        numbers.is_some_and(|(numbers, scenario)| numbers.has_heir(*scenario, vu))
    }

    /// Notes that a virtual user was made; whether none of its number was before.
    fn is_new(&self, vu: u64) -> bool {
        let numbers = self.numbers.as_ref();
        numbers.is_none_or(|(numbers, scenario)| numbers.note_made(*scenario, vu))
    }

    /// Stands in for a scenario while a function runs that runs once per test.
    pub(crate) fn around(
        worker: &Rc<WorkerScript>,
        plan: &TestPlan,
        group: &str,
    ) -> ScenarioScript {
        let tags = plan.run_tags();
        let tags_at_top = with_group(plan, &tags, group);
        let tags = Rc::new(tags);
        ScenarioScript {
            worker: Rc::clone(worker),
            is_scenario: false,
            name: "".into(),
            executor: "",
            start: Nanos::ZERO,
            duration: None,
            planned: None,
            numbers: None,
            setup: Rc::new(ScenarioSetup {
                function: "".into(),
                env: Vec::new(),
                data: Arc::default(),
                tags: Rc::clone(&tags),
            }),
            tags_at_top: Rc::new(tags_at_top),
            tags_of_no_vu: tags,
            begun: None,
            change: Cell::default(),
        }
    }

    /// The number within this instance of the iteration that starts now, given its number within the test.
    pub(crate) fn number_in_instance(&self, in_test: u64) -> u64 {
        match &self.begun {
            Some(begun) if !begun.is_whole => self.count_begun(),
            _ => in_test,
        }
    }

    /// Counts an iteration that starts now; returns how many this instance started before.
    pub(crate) fn count_begun(&self) -> u64 {
        let begun = self.begun.as_ref();
        begun.map_or(0, |begun| {
            begun.all[begun.scenario].fetch_add(1, Ordering::Relaxed)
        })
    }

    /// Counts an iteration that ended, in whatever way.
    pub(crate) fn count_ended(&self) {
        if let Some(begun) = &self.begun {
            self.worker.live.count_ended(begun.scenario);
        }
    }

    /// The completed share of the scenario in this instance, from 0 to 1: as in k6, of its iterations if it has a number
    /// of them, otherwise of its time.
    pub(crate) fn progress(&self, now: Nanos) -> f64 {
        let ended = || {
            let begun = self.begun.as_ref();
            begun.map_or(0, |begun| {
                iterations_ended(&self.worker.all_live, begun.scenario)
            })
        };
        let share = match (self.planned, self.duration) {
            (Some(planned), _) => ended() as f64 / planned.max(1) as f64,
            (None, Some(duration)) => now.since(self.start) as f64 / duration.as_nanos() as f64,
            (None, None) => 0.0,
        };
        share.clamp(0.0, 1.0)
    }
}

/// The tags of all samples of a scenario's virtual users.
pub(crate) fn tags_of(plan: &TestPlan, scenario: &Scenario) -> TagSet {
    let mut tags = plan.run_tags();
    for (name, value) in &scenario.tags {
        tags.set(name.as_str(), value.as_str());
    }
    name_scenario(&mut tags, plan, scenario);
    tags
}

/// The tags of samples that no virtual user records, without those of a scenario's virtual users.
fn tags_of_no_vu(plan: &TestPlan, scenario: &Scenario) -> TagSet {
    let mut tags = plan.run_tags();
    name_scenario(&mut tags, plan, scenario);
    tags
}

fn name_scenario(tags: &mut TagSet, plan: &TestPlan, scenario: &Scenario) {
    if system_tag(plan, SystemTag::Scenario) {
        tags.set("scenario", scenario.name.as_str());
    }
}

/// Tags with the group of this path, if the group tag is enabled.
pub(crate) fn with_group(plan: &TestPlan, tags: &TagSet, path: &str) -> TagSet {
    if system_tag(plan, SystemTag::Group) {
        tags.clone().with("group", path)
    } else {
        tags.clone()
    }
}

fn system_tag(plan: &TestPlan, tag: SystemTag) -> bool {
    let settings = plan.script.as_deref();
    settings.is_some_and(|script| script.series.system_tags.has(tag))
}
