//! One virtual user: a QuickJS runtime on a stackful coroutine.
//!
//! [`ScriptVu::begin`] starts a [`Task`]; [`ScriptVu::resume`] continues it until it asks for something or
//! ends. Must not know who fulfils the asks. Invariant: at most one task runs at a time, and a started task is
//! resumed to its end, if necessary with [`Resume::Cancel`].

mod ask;
mod core;
mod event_loop;
mod failure;
mod pausing;
mod raw_texts;
mod rejections;
mod returned;
mod stack;
mod state;

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use corosensei::{Coroutine, CoroutineResult};
use loadline_metric::TagSet;

pub use ask::{Ask, OpId, Resume, Wait};
pub use failure::{FailureKind, ScriptFailure};
pub use pausing::{Pauser, Pausing, Progress};
pub use stack::StackPool;
pub use state::VuIds;

pub(crate) use self::core::move_in;
pub(crate) use event_loop::Timer;
pub(crate) use failure::{failure_of, failure_of_value, frames_of};
pub(crate) use state::{Stage, VuState, cancellation, state};

use self::core::VuCore;
use crate::exports::Exports;
use crate::host::Host;
use crate::program::Program;
use stack::PooledStack;

/// A task for a virtual user.
#[derive(Clone, Debug)]
pub enum Task {
    /// Run the module code; must come first.
    Init,
    /// Call `setup()` or `teardown(data)`, if the script exports it.
    Hook {
        /// Which one.
        function: Hook,
        /// The return value of `setup()` as JSON; `None`: nothing.
        data: Option<Arc<str>>,
        /// Tags of all its samples.
        tags: Rc<TagSet>,
    },
    /// Run one iteration.
    Iteration(Iteration),
    /// Call `handleSummary(data)`, if the script exports it.
    Summary {
        /// Its argument as JSON.
        data: Arc<str>,
    },
}

/// A function that runs once per test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// `setup`
    Setup,
    /// `teardown`
    Teardown,
}

impl Hook {
    /// Its export name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Hook::Setup => "setup",
            Hook::Teardown => "teardown",
        }
    }
}

/// The return value of `setup()` as JSON: set once, after the virtual users were created.
pub type SetupData = Arc<OnceLock<Arc<str>>>;

/// One iteration.
#[derive(Clone, Debug)]
pub struct Iteration {
    /// Facts of the scenario; the same value for all its iterations.
    pub scenario: Rc<ScenarioSetup>,
    /// Number of the iteration of this virtual user, from zero (`__ITER`).
    pub number: u64,
}

/// Data shared by all iterations of a scenario.
#[derive(Debug)]
pub struct ScenarioSetup {
    /// The exported function.
    pub function: Arc<str>,
    /// Variables of the scenario, which override `__ENV`.
    pub env: Vec<(String, String)>,
    /// The return value of `setup()`; empty: nothing.
    pub data: SetupData,
    /// Tags of all samples: those of the run and the scenario, and the scenario's name.
    pub tags: Rc<TagSet>,
}

/// The result of a task.
#[derive(Debug)]
pub enum Ending {
    /// It completed. For `setup()` the JSON of its return value, for `handleSummary()` the files to write;
    /// `None` if it returned nothing or does not exist.
    Done(Option<Returned>),
    /// It failed.
    Failed(ScriptFailure),
    /// It was cancelled from outside.
    Cancelled,
}

/// The return value of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Returned {
    /// A value as JSON.
    Json(String),
    /// The result of `handleSummary(data)`.
    Summary(Box<SummaryOutcome>),
}

/// Contents by file name; `stdout` and `stderr` are streams.
pub type NamedFiles = Vec<(String, Vec<u8>)>;

/// The result of `handleSummary(data)`.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryOutcome {
    /// Its return value, or the reason of its rejected promise; `None`: nothing. An error: that cannot be written.
    pub files: Result<Option<NamedFiles>, ScriptFailure>,
    /// Its argument as the function left it, as JSON.
    pub data: String,
    /// Unhandled rejections; they end nothing.
    pub unheard: Vec<ScriptFailure>,
}

/// The state of a task.
#[derive(Debug)]
pub enum Step {
    /// It is suspended with this request.
    Asks(Ask),
    /// It has ended.
    Ended(Ending),
}

/// One virtual user.
pub struct ScriptVu {
    core: Rc<VuCore>,
    running: Option<Coroutine<Resume, Ask, Ending, PooledStack>>,
    stacks: Rc<StackPool>,
}

impl ScriptVu {
    /// A virtual user whose module code has not run yet.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new(
        program: Arc<Program>,
        host: Rc<dyn Host>,
        stacks: Rc<StackPool>,
        ids: VuIds,
    ) -> Result<ScriptVu, ScriptFailure> {
        let state = VuState::new(host, program, ids);
        Ok(ScriptVu {
            core: Rc::new(VuCore::new(state)?),
            running: None,
            stacks,
        })
    }

    /// Starts a task.
    ///
    /// # Errors
    /// The system has no memory for its stack.
    pub fn begin(&mut self, task: Task) -> Result<Step, ScriptFailure> {
        debug_assert!(self.running.is_none(), "one task at a time");
        let stack = StackPool::take(&self.stacks).map_err(ScriptFailure::no_stack)?;
        let core = Rc::clone(&self.core);
        let extent = stack.extent();
        self.running = Some(Coroutine::with_stack(stack, move |yielder, _| {
            core.run(yielder, &task, extent)
        }));
        Ok(self.resume(Resume::Go))
    }

    /// Continues the task.
    pub fn resume(&mut self, resume: Resume) -> Step {
        // Taken out, so that a panic inside leaves nothing that could be resumed again.
        let Some(mut running) = self.running.take() else {
            return Step::Ended(Ending::Cancelled);
        };
        match running.resume(resume) {
            CoroutineResult::Yield(ask) => {
                self.running = Some(running);
                Step::Asks(ask)
            }
            CoroutineResult::Return(ending) => {
                drop(running.into_stack());
                Step::Ended(ending)
            }
        }
    }

    /// Cancels the current task, if any: no more script code runs.
    pub fn cancel(&mut self) {
        while self.running.is_some() {
            if let Step::Ended(_) = self.resume(Resume::Cancel) {
                break;
            }
        }
    }

    /// Whether it can run further tasks: a cancelled or failed task may have left pending jobs, which must not
    /// run.
    #[must_use]
    pub fn is_reusable(&self) -> bool {
        self.core.is_reusable()
    }

    /// The tags of a sample made now; without the group, unless it is the empty one.
    #[must_use]
    pub fn tags(&self) -> Rc<TagSet> {
        self.core.tags()
    }

    /// The script's exports; `None` before its module code has run.
    ///
    /// # Errors
    /// Its options cannot be read.
    pub fn exports(&self) -> Result<Option<Exports>, ScriptFailure> {
        self.core.exports()
    }
}

impl Drop for ScriptVu {
    fn drop(&mut self) {
        self.cancel();
    }
}
