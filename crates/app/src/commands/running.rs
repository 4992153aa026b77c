//! One run with its surroundings: signals, journal, samples, watchers.
//!
//! Must not know which command runs. Invariant: whatever happens to the sinks, the run's result is returned.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

use loadline_model::event::DEFECT_MARK;
use loadline_model::result::{RunResult, StopReason};
use loadline_model::sample::Sample;
use loadline_model::{ExitCode, RunCommand, RunEvent, TestPlan};
use loadline_run::steps::StepsSetup;
use loadline_run::{Load, ObserverFeed, RunSetup, RunWatch};

use crate::journal::{Place, RunJournal};
use crate::observers::{self, WantedObservers};
use crate::result_files::ResultFiles;
use crate::terminal::print;
use crate::terminal::signals::{self, FirstSignal, SecondSignal};
use crate::{Ending, Env, last_word};

/// Batches of samples between the workers and the sink: enough to bridge a slow write, few enough to use little
/// memory.
const BATCHES: usize = 64;

/// A run that is about to start.
pub(super) struct Run {
    plan: Arc<TestPlan>,
    orders: Sender<RunCommand>,
    commands: Receiver<RunCommand>,
    samples: Option<SyncSender<Vec<Sample>>>,
    journal: RunJournal,
    command_line: Vec<String>,
    observers: Option<ObserverFeed>,
    steps: Option<StepsSetup>,
    watch: Option<Arc<RunWatch>>,
    load: Option<Box<dyn Load>>,
    /// For additional outputs of results besides the command line.
    env: Env,
}

impl Run {
    /// Prepares the process and the surroundings of the run.
    ///
    /// # Errors
    /// The journal or the result file named by the user cannot be written, a required observer cannot read, or signals
    /// cannot be caught.
    pub(super) fn prepare(
        plan: TestPlan,
        journal: Place,
        wanted: &WantedObservers,
        command_line: &[String],
        first: FirstSignal,
        env: &Env,
    ) -> Result<Run, Ending> {
        loadline_run::prepare_process();
        let files = ResultFiles::of_env(env).check();
        files.map_err(|why| Ending::usage(&why))?;
        let journal = RunJournal::begin(journal)?;
        let (orders, commands) = signals::orders(first, SecondSignal::Ends)?;
        let command_line = command_line.to_vec();
        Ok(Run {
            plan: Arc::new(plan),
            orders,
            commands,
            samples: None,
            journal,
            command_line,
            observers: wanted
                .start(env)
                .map_err(|refusal| Ending::refusal(refusal.code, &refusal.message))?,
            steps: None,
            watch: None,
            load: None,
            env: env.clone(),
        })
    }

    /// The plan.
    pub(super) fn plan(&self) -> &Arc<TestPlan> {
        &self.plan
    }

    /// The receiver of orders to the run.
    pub(super) fn orders(&self) -> Sender<RunCommand> {
        self.orders.clone()
    }

    /// The channel with every sample of the run.
    pub(super) fn samples(&mut self) -> Receiver<Vec<Sample>> {
        let (sender, receiver) = mpsc::sync_channel(BATCHES);
        self.samples = Some(sender);
        receiver
    }

    /// Sets the receiver of every sample of the run.
    pub(super) fn hand_samples_to(&mut self, taker: SyncSender<Vec<Sample>>) {
        self.samples = Some(taker);
    }

    /// The receiver of every sample of the run, for a load made elsewhere.
    pub(super) fn take_samples(&mut self) -> Option<SyncSender<Vec<Sample>>> {
        self.samples.take()
    }

    /// Sets the load that replaces an engine of this process.
    pub(super) fn let_others_load(&mut self, load: Box<dyn Load>) {
        self.load = Some(load);
    }

    /// Sets the work of the threads of the plan's groups.
    pub(super) fn follow_steps(&mut self, steps: StepsSetup) {
        self.steps = Some(steps);
    }

    /// Sets who follows the metrics of the run.
    pub(super) fn let_watch(&mut self, watch: Arc<RunWatch>) {
        self.watch = Some(watch);
    }

    /// Runs, passing events to `watch`. The journal is returned, to be ended when the result has been reported.
    ///
    /// # Errors
    /// The plan could not be started.
    pub(super) fn go(self, watch: &mut dyn FnMut(&RunEvent)) -> Result<Finished, Ending> {
        let Run {
            plan,
            commands,
            samples,
            mut journal,
            command_line,
            observers,
            steps,
            watch: metrics_watch,
            load,
            env,
            ..
        } = self;
        let setup = RunSetup {
            load,
            samples,
            steps,
            watch: metrics_watch,
            observers,
            ..RunSetup::new(commands, command_line)
        };
        let mut on_event = |event: RunEvent| {
            journal.record(&event);
            observers::warn(&event);
            watch(&event);
        };
        let ran = loadline_run::run(plan, setup, &mut on_event);
        signals::note_end_of_load();
        match ran {
            Ok(ran) => {
                tell_defect(&ran.result);
                last_word::leave(&env, &ran.result, ran.interrupted, None);
                Ok(Finished {
                    unwritten: ResultFiles::of_env(&env).write(&ran.result),
                    result: ran.result,
                    journal,
                })
            }
            Err(error) => {
                journal.end(true)?;
                Err(Ending::refusal(error.exit_code(), &error.to_string()))
            }
        }
    }
}

/// A run that has ended.
pub(super) struct Finished {
    pub(super) result: RunResult,
    /// To be ended when the result has been reported.
    pub(super) journal: RunJournal,
    /// Why the result file named by the environment was not written.
    pub(super) unwritten: Vec<String>,
}

impl Finished {
    /// For commands that write no other file: a write failure is returned as an error.
    ///
    /// # Errors
    /// The file named by the environment cannot be written.
    pub(super) fn apart(self) -> Result<(RunResult, RunJournal), Ending> {
        match self.unwritten.first() {
            Some(why) => Err(Ending::refusal(ExitCode::Other, why)),
            None => Ok((self.result, self.journal)),
        }
    }
}

/// The exit code of a dialect for a run that its tool would end with `usual`: a defect of loadline always has
/// its own.
pub(super) fn dialect_code(result: &RunResult, usual: ExitCode) -> ExitCode {
    match result.totals.stop {
        StopReason::Defect => ExitCode::Internal,
        _ => usual,
    }
}

/// The error if no thread for samples can be started.
pub(super) fn no_thread(error: &std::io::Error) -> Ending {
    let message =
        format!("cannot start a thread for samples: {error}; raise its limits, such as ulimit -u");
    Ending::refusal(ExitCode::Other, &message)
}

/// Reports a defect of this program, if there was one.
fn tell_defect(result: &RunResult) {
    for mark in result.events.iter().filter(|mark| mark.kind == DEFECT_MARK) {
        print::to_stderr(&format!("loadline: {}\n", mark.text));
    }
}

/// The exit code of loadline's own commands for a result of requests.
pub(super) fn exit_code(result: &RunResult) -> ExitCode {
    exit_code_of(result, result.totals.seen.counts.good > 0)
}

/// The same for a run of which it is known by other means whether anything succeeded.
pub(super) fn exit_code_of(result: &RunResult, has_good: bool) -> ExitCode {
    if let Some(code) = result.totals.stop.exit_code() {
        return code;
    }
    if result.thresholds.iter().any(|outcome| !outcome.passed) {
        return ExitCode::ThresholdsFailed;
    }
    if !has_good {
        return ExitCode::NothingSucceeded;
    }
    if result.has_lost_agents() {
        return ExitCode::AgentLost;
    }
    if signals::impatience().load(Ordering::Relaxed) {
        return ExitCode::ExternalAbort;
    }
    ExitCode::Ok
}
