//! What decides how a script's test ends.
//!
//! Must not know when anything runs. Invariant: every trouble has an exit code and a message.

use std::time::Duration;

use loadline_engine::hook::AroundEnding;
use loadline_engine::{ScriptSignal, StartError};
use loadline_model::ExitCode;
use loadline_script::vu::{FailureKind, Hook, ScriptFailure};

/// Something that decides how the test ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The exit code for it.
    pub code: ExitCode,
    /// What happened, as logged at the end.
    pub message: String,
    /// What helps against it, or the kind of trouble; `None`: the message says it.
    pub hint: Option<&'static str>,
    /// Whether the message includes the stack trace of a script.
    pub is_thrown: bool,
}

impl Trouble {
    pub(crate) fn new(code: ExitCode, message: impl Into<String>) -> Trouble {
        Trouble {
            code,
            message: message.into(),
            hint: None,
            is_thrown: false,
        }
    }

    /// Whether it ends the test.
    /// A signal stopped a function of the script.
    pub(crate) fn stopped(function: &str) -> Trouble {
        let message = format!("{function}() was stopped by a signal");
        Trouble::new(ExitCode::ExternalAbort, message)
    }

    pub(crate) fn ends_test(&self) -> bool {
        self.code != ExitCode::MarkedFailed
    }

    /// The trouble for a failure of a script without which the test cannot continue.
    #[must_use]
    pub fn thrown(failure: &ScriptFailure) -> Trouble {
        let message = failure.to_string();
        match failure.kind {
            FailureKind::Thrown | FailureKind::OutOfMemory => Trouble {
                code: ExitCode::ScriptException,
                message,
                hint: Some("script exception"),
                is_thrown: true,
            },
            FailureKind::Aborted => Trouble::new(ExitCode::ScriptAbort, message),
            FailureKind::Rejected | FailureKind::BadData | FailureKind::BadOutput => {
                Trouble::new(ExitCode::Other, message)
            }
        }
    }
}

/// The trouble for a script's action on its own test.
pub(crate) fn trouble_of(signal: &ScriptSignal) -> Trouble {
    match signal {
        ScriptSignal::Aborted(message) => Trouble::new(ExitCode::ScriptAbort, message.as_str()),
        ScriptSignal::MarkedFailed(_) => {
            Trouble::new(ExitCode::MarkedFailed, "test run was marked as failed")
        }
        ScriptSignal::InitFailed(failure) => Trouble::thrown(failure),
    }
}

/// The trouble for a function of the script that could not be started.
pub(crate) fn unstarted(hook: Hook, error: &StartError) -> Trouble {
    Trouble::new(
        exit_code_of(error),
        format!("{}() could not be run: {error}", hook.name()),
    )
}

/// The exit code if nothing more can be done than to report it.
pub(crate) fn exit_code_of(error: &StartError) -> ExitCode {
    match error {
        StartError::Plan(_) | StartError::Tls(_) => ExitCode::InvalidConfig,
        StartError::Thread(_) | StartError::Runtime(_) => ExitCode::Other,
    }
}

/// The trouble for the way in which `setup` or `teardown` ended; `None`: it returned.
pub(crate) fn trouble_in(
    ending: AroundEnding,
    (code, function, limit): (ExitCode, &str, Duration),
) -> Option<Trouble> {
    match ending {
        AroundEnding::Done(_) => None,
        AroundEnding::Failed(failure) => Some(Trouble::thrown(&failure)),
        AroundEnding::TimedOut => Some(Trouble {
            hint: Some(match function {
                "setup" => "You can increase the time limit via the setupTimeout option",
                _ => "You can increase the time limit via the teardownTimeout option",
            }),
            ..Trouble::new(code, out_of_time(function, limit))
        }),
        AroundEnding::Stopped => Some(Trouble::stopped(function)),
    }
}

/// The message for a function of the script that did not return in time.
pub(crate) fn out_of_time(function: &str, limit: Duration) -> String {
    let seconds = limit.as_secs();
    format!("{function}() execution timed out after {seconds} seconds")
}
