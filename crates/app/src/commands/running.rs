//! One run with everything around it: signals, journal, samples, whoever watches.
//!
//! Must not know which command runs. Invariant: whatever the sinks meet with, the run's result is
//! returned.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};

use loadline_model::event::DEFECT_MARK;
use loadline_model::result::{RunResult, StopReason};
use loadline_model::sample::Sample;
use loadline_model::{ExitCode, RunCommand, RunEvent, TestPlan};
use loadline_run::steps::StepsSetup;
use loadline_run::{Load, ObserverFeed, RunSetup};

use crate::environment::RESULT_FILE;
use crate::journal::{Place, RunJournal};
use crate::observers::{self, WantedObservers};
use crate::result_files::ResultFiles;
use crate::terminal::print;
use crate::terminal::signals::{self, FirstSignal, SecondSignal};
use crate::{Ending, Env, last_word};

/// Batches of samples between the workers and the sink: enough to ride out a slow write, few enough
/// to stay small in memory.
const BATCHES: usize = 64;

/// A run about to take place.
pub(super) struct Run {
    plan: Arc<TestPlan>,
    orders: Sender<RunCommand>,
    commands: Receiver<RunCommand>,
    samples: Option<SyncSender<Vec<Sample>>>,
    journal: RunJournal,
    command_line: Vec<String>,
    observers: Option<ObserverFeed>,
    steps: Option<StepsSetup>,
    load: Option<Box<dyn Load>>,
    /// What wants results, too, beside the command line.
    env: Env,
}

impl Run {
    /// Prepares the process and what surrounds the run.
    ///
    /// # Errors
    /// The journal that the user named cannot be written, an observer that is required cannot read, or signals
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
            load: None,
            env: env.clone(),
        })
    }

    /// What will be done.
    pub(super) fn plan(&self) -> &Arc<TestPlan> {
        &self.plan
    }

    /// Where orders to the run go.
    pub(super) fn orders(&self) -> Sender<RunCommand> {
        self.orders.clone()
    }

    /// The channel on which every sample of the run will come.
    pub(super) fn samples(&mut self) -> Receiver<Vec<Sample>> {
        let (sender, receiver) = mpsc::sync_channel(BATCHES);
        self.samples = Some(sender);
        receiver
    }

    /// Where every sample of the run is to go.
    pub(super) fn hand_samples_to(&mut self, taker: SyncSender<Vec<Sample>>) {
        self.samples = Some(taker);
    }

    /// Who takes every sample of the run, for others that make the load.
    pub(super) fn take_samples(&mut self) -> Option<SyncSender<Vec<Sample>>> {
        self.samples.take()
    }

    /// Who makes the load in the place of an engine of this process.
    pub(super) fn let_others_load(&mut self, load: Box<dyn Load>) {
        self.load = Some(load);
    }

    /// What the threads of the plan's groups do.
    pub(super) fn follow_steps(&mut self, steps: StepsSetup) {
        self.steps = Some(steps);
    }

    /// Runs, telling `watch` what happens. The journal is handed back to be ended when the result
    /// has been told.
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
            load,
            env,
            ..
        } = self;
        let setup = RunSetup {
            load,
            commands,
            samples,
            script: None,
            steps,
            is_paused: false,
            watch: None,
            command_line,
            observers,
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
                let asked = env.get(RESULT_FILE).map(|path| (RESULT_FILE, path));
                let files = ResultFiles {
                    json: asked.into_iter().collect(),
                    ..ResultFiles::default()
                };
                Ok(Finished {
                    unwritten: files.write(&ran.result),
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
    /// To be ended when the result has been told.
    pub(super) journal: RunJournal,
    /// Why the file that the environment names for the result is not written.
    pub(super) unwritten: Vec<String>,
}

impl Finished {
    /// For commands that write no other file: what could not be written is told at once.
    ///
    /// # Errors
    /// The file that the environment names cannot be written.
    pub(super) fn apart(self) -> Result<(RunResult, RunJournal), Ending> {
        match self.unwritten.first() {
            Some(why) => Err(Ending::refusal(ExitCode::Other, why)),
            None => Ok((self.result, self.journal)),
        }
    }
}

/// The exit code of a dialect for a run that its tool would end with `usual`: what broke down is told whatever the tool does.
pub(super) fn dialect_code(result: &RunResult, usual: ExitCode) -> ExitCode {
    match result.totals.stop {
        StopReason::Defect => ExitCode::Internal,
        _ => usual,
    }
}

/// A run for whose samples there is no thread.
pub(super) fn no_thread(error: &std::io::Error) -> Ending {
    let message = format!(
        "the system refuses a thread for samples: {error}; raise its limits, such as ulimit -u"
    );
    Ending::refusal(ExitCode::Other, &message)
}

/// Says what of this program broke down, where something did.
fn tell_defect(result: &RunResult) {
    for mark in result.events.iter().filter(|mark| mark.kind == DEFECT_MARK) {
        print::to_stderr(&format!("loadline: {}\n", mark.text));
    }
}

/// The exit code of loadline's own commands for a result.
pub(super) fn exit_code(result: &RunResult) -> ExitCode {
    if matches!(
        result.totals.stop,
        StopReason::Interrupted | StopReason::Aborted
    ) {
        return ExitCode::ExternalAbort;
    }
    match result.totals.stop {
        StopReason::Remote => return ExitCode::RestAbort,
        StopReason::Defect => return ExitCode::Internal,
        StopReason::ObserverLost => return ExitCode::ObserverLost,
        _ => {}
    }
    if result.thresholds.iter().any(|outcome| !outcome.passed) {
        return ExitCode::ThresholdsFailed;
    }
    if result.totals.seen.counts.good == 0 {
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
