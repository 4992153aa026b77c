//! The input of a run, and its outcome.
//!
//! Must not know how a run is conducted. Invariant: a run that did not take place has a reason.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};

use loadline_engine::steps::{StepsSetup, StepsState};
use loadline_engine::{ScriptMetrics, ScriptSetup, StartError};
use loadline_model::result::RunResult;
use loadline_model::sample::Sample;
use loadline_model::{ExitCode, RunCommand};

use crate::load::Load;
use crate::observing::ObserverFeed;
use crate::trouble::{Trouble, exit_code_of};
use crate::watch::RunWatch;

/// The input of a run beside its plan.
pub struct RunSetup {
    /// Where the load is made; `None`: by an engine in this process.
    pub load: Option<Box<dyn Load>>,
    /// Orders from outside; a channel without a sender gives none.
    pub commands: Receiver<RunCommand>,
    /// Receiver of every single sample; `None`: samples are not needed.
    pub samples: Option<SyncSender<Vec<Sample>>>,
    /// The script; `None` for other runs.
    pub script: Option<RunScript>,
    /// The steps of the plan's groups; `None` for other runs.
    pub steps: Option<StepsSetup>,
    /// Whether a script's test waits for [`RunCommand::Resume`] before `setup()`.
    pub is_paused: bool,
    /// For another thread to follow the run of a script or of steps; `None`: nobody does.
    pub watch: Option<Arc<RunWatch>>,
    /// The command line, for the result.
    pub command_line: Vec<String>,
    /// Observers of the system under test; `None`: there are none.
    pub observers: Option<ObserverFeed>,
}

impl RunSetup {
    /// A run in this process of neither a script nor steps, which nobody observes or follows.
    #[must_use]
    pub fn new(commands: Receiver<RunCommand>, command_line: Vec<String>) -> RunSetup {
        RunSetup {
            load: None,
            commands,
            samples: None,
            script: None,
            steps: None,
            is_paused: false,
            watch: None,
            command_line,
            observers: None,
        }
    }

    /// The threads of steps in this process; `None`: there are none, or other agents run and count them.
    pub(crate) fn own_threads(&self) -> Option<Arc<StepsState>> {
        let own = self.steps.as_ref().filter(|_| self.load.is_none());
        own.map(|steps| Arc::clone(&steps.state))
    }

    /// The metrics of the run; `None`: it has none.
    pub(crate) fn metrics(&self) -> Option<&ScriptMetrics> {
        let of_script = self.script.as_ref().map(|script| &script.setup.metrics);
        let of_steps = self.steps.as_ref().and_then(|steps| steps.metrics.as_ref());
        of_script.or(of_steps)
    }
}

/// A script to be run.
pub struct RunScript {
    /// The setup for the engine.
    pub setup: ScriptSetup,
    /// The functions that the script exports.
    pub functions: Vec<String>,
}

/// Why a run did not take place.
#[derive(Debug)]
pub enum RunError {
    /// The plan cannot be run.
    Start(StartError),
    /// No worker could run.
    Workers(Vec<String>),
    /// A part of this program panicked before anything was sent.
    Defect(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Start(error) => error.fmt(f),
            RunError::Workers(why) => f.write_str(&why.join("; ")),
            RunError::Defect(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for RunError {}

impl RunError {
    /// The exit code for it.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            RunError::Start(error) => exit_code_of(error),
            RunError::Workers(_) => ExitCode::Other,
            RunError::Defect(_) => ExitCode::Internal,
        }
    }
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Ran {
    /// The result.
    pub result: RunResult,
    /// What decides how a script's test ends, in order of occurrence; empty for other runs.
    pub troubles: Vec<Trouble>,
    /// Number of interrupted iterations of a script.
    pub interrupted: u64,
    /// Number of completed iterations of a script.
    pub complete: u64,
}
