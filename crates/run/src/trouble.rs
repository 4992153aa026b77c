//! What decides how a script's test ends.
//!
//! Must not know when anything runs. Invariant: every trouble has an exit code and a message.

use std::borrow::Cow;
use std::time::Duration;

use loadline_engine::hook::AroundEnding;
use loadline_engine::{InitFailure, ScriptSignal, StartError};
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
    pub hint: Option<Cow<'static, str>>,
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

    /// A signal stopped a function of the script.
    pub(crate) fn stopped(function: &str) -> Trouble {
        let message = format!("{function}() was stopped by a signal");
        Trouble::new(ExitCode::ExternalAbort, message)
    }

    /// Whether it ends the test.
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
                hint: Some("script exception".into()),
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
        ScriptSignal::InitFailed(InitFailure { vu, failure }) => {
            let thrown = Trouble::thrown(failure);
            let kind = thrown.hint.map(|kind| format!(" ({kind})"));
            let kind = kind.unwrap_or_default();
            Trouble {
                hint: Some(format!("error while initializing VU #{vu}{kind}").into()),
                ..thrown
            }
        }
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
                "setup" => "You can increase the time limit via the setupTimeout option".into(),
                _ => "You can increase the time limit via the teardownTimeout option".into(),
            }),
            ..Trouble::new(code, out_of_time(function, limit))
        }),
        AroundEnding::Stopped => Some(Trouble::stopped(function)),
    }
}

/// The message for a function of the script that did not return in time.
pub(crate) fn out_of_time(function: &str, limit: Duration) -> String {
    let seconds = limit.as_secs_f64();
    format!("{function}() execution timed out after {seconds:.0} seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_told_rounded_as_k6_does() {
        let told = [900, 1500, 1900, 2500, 60_000].map(|ms| {
            let text = out_of_time("setup", Duration::from_millis(ms));
            text["setup() execution timed out after ".len()..].to_owned()
        });
        let want = [
            "1 seconds",
            "2 seconds",
            "2 seconds",
            "2 seconds",
            "60 seconds",
        ];
        assert_eq!(told, want);
    }

    #[test]
    fn a_failed_initialization_names_its_virtual_user() {
        let of = |kind| {
            let failure = ScriptFailure {
                kind,
                message: "Error: no".to_owned(),
                trace: String::new(),
            };
            let failed = InitFailure { vu: 2, failure };
            trouble_of(&ScriptSignal::InitFailed(failed)).hint
        };
        let hint = of(FailureKind::Thrown);
        assert_eq!(
            hint.as_deref(),
            Some("error while initializing VU #2 (script exception)")
        );
        let hint = of(FailureKind::Aborted);
        assert_eq!(hint.as_deref(), Some("error while initializing VU #2"));
    }
}
