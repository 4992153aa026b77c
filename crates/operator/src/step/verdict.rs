//! The result of a test, from the exit codes of its coordinator and agents.
//!
//! Must not know the following stages. Invariant: every exit code has a reason, and a non-zero one has a
//! message.

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use loadline_model::{ExitCode, Figures};

use super::elapsed;
use super::losses::told;
use crate::seen::{Ended, Hindrance, SeenJob, SeenPod};
use crate::status::{Lost, Outcome, Stage};

/// Maximum bytes of a log's end in a message.
const TAIL_MAX: usize = 1_024;
/// Exit codes from here on mean a signal.
const KILLED: i32 = 128;
/// Exit codes of a program that was killed.
const SIGNALS: std::ops::RangeInclusive<i32> = 129..=159;
/// How long to wait for the test's end after an agent's: an agent ends with the test, and its end may be seen first.
const HESITATION: Duration = Duration::from_secs(5);

/// How a coordinator ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CoordinatorEnd {
    /// On its own.
    Ended(Ended),
    /// Its pod was ended from outside.
    Removed(Hindrance),
    /// It does not exist any more.
    Gone,
}

impl CoordinatorEnd {
    /// The figures that it left.
    pub(super) fn figures(&self) -> Option<Box<Figures>> {
        match self {
            CoordinatorEnd::Ended(ended) => ended.figures.clone(),
            CoordinatorEnd::Removed(_) | CoordinatorEnd::Gone => None,
        }
    }

    /// Its exit code.
    pub(super) fn code(&self) -> Option<i32> {
        match self {
            CoordinatorEnd::Ended(ended) if ended.before.is_none() => Some(ended.code),
            CoordinatorEnd::Ended(_) | CoordinatorEnd::Removed(_) | CoordinatorEnd::Gone => None,
        }
    }

    /// When it ended.
    pub(super) fn at(&self) -> Option<Timestamp> {
        match self {
            CoordinatorEnd::Ended(ended) => ended.at,
            CoordinatorEnd::Removed(_) | CoordinatorEnd::Gone => None,
        }
    }

    /// Whether the test ran: by its figures, or by an exit code that only a test with load has.
    pub(super) fn has_run(&self) -> bool {
        let CoordinatorEnd::Ended(ended) = self else {
            return false;
        };
        let has_load = ended.figures.as_ref().is_some_and(|left| left.has_load());
        has_load
            || self
                .code()
                .and_then(known)
                .is_some_and(ExitCode::is_after_load)
    }
}

/// Whether a coordinator has ended, and how.
pub(super) fn end_of(
    pod: Option<&SeenPod>,
    job: Option<&SeenJob>,
    stage: Stage,
) -> Option<CoordinatorEnd> {
    if let Some(pod) = pod {
        if stage < Stage::Stopped && is_replaced(pod, job) {
            return None;
        }
        return match (&pod.ended, &pod.removed) {
            (Some(ended), removed) if removed.is_none() || ended.code < KILLED => {
                Some(CoordinatorEnd::Ended(ended.clone()))
            }
            (_, Some(removed)) if !pod.is_running => Some(CoordinatorEnd::Removed(removed.clone())),
            _ => None,
        };
    }
    let is_gone = job.map_or(stage > Stage::Initialization, |job| job.has_failed);
    is_gone.then_some(CoordinatorEnd::Gone)
}

/// Whether the Job replaces this pod.
pub(super) fn is_replaced(pod: &SeenPod, job: Option<&SeenJob>) -> bool {
    let is_at_work = job.is_some_and(|job| !job.has_failed && !job.is_going);
    let is_moved_or_killed = match &pod.ended {
        Some(ended) => ended.before.is_none() && SIGNALS.contains(&ended.code),
        None => pod.removed.is_some() && !pod.is_running,
    };
    is_at_work && is_moved_or_killed
}

/// Why a pod was evicted or killed.
pub(super) fn cause(pod: &SeenPod) -> String {
    if let Some(removed) = &pod.removed {
        return with(&removed.reason, &removed.message);
    }
    let ended = pod.ended.as_ref();
    ended.map_or_else(String::new, |ended| match ended.reason.as_str() {
        "" | "Error" => format!("exit code {}", ended.code),
        reason => format!("{reason}, exit code {}", ended.code),
    })
}

/// The outcome of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is running, or ended with the test.
    Fine,
    /// It ended, and the test is about to; if the test still runs after this time the agent is lost.
    Doubtful(Duration),
    /// It is lost, for this cause.
    Lost(String),
}

/// The outcome of an agent; `code`: the exit code of the test, which its agents share.
pub(super) fn fate(
    pod: Option<&SeenPod>,
    job: Option<&SeenJob>,
    code: Option<i32>,
    now: Timestamp,
) -> Fate {
    let Some(pod) = pod else {
        return match job.is_none_or(|job| job.has_failed) {
            true => Fate::Lost("its pod was deleted".to_owned()),
            false => Fate::Fine,
        };
    };
    if let Some(removed) = &pod.removed {
        return Fate::Lost(with(&removed.reason, &removed.message));
    }
    let Some(ended) = &pod.ended else {
        return Fate::Fine;
    };
    if code == Some(ended.code) && ended.before.is_none() {
        return Fate::Fine;
    }
    let waited = elapsed(ended.at.unwrap_or(now), now);
    if code.is_none() && ended.code < KILLED && waited < HESITATION {
        return Fate::Doubtful(HESITATION - waited);
    }
    let word = match (&ended.before, ended.reason.as_str()) {
        (Some(before), _) => format!("its init container {before} ended"),
        (None, "" | "Error" | "Completed") => "it ended".to_owned(),
        (None, reason) => reason.to_owned(),
    };
    let said = last_error(&ended.message);
    let cause = format!("{word} with exit code {}", ended.code);
    Fate::Lost(with(&cause, &said.unwrap_or_default()))
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    pub(super) message: String,
}

impl Verdict {
    /// The result from the end of a coordinator.
    pub(super) fn of(end: &CoordinatorEnd, lost: &[Lost], tail: &str) -> Verdict {
        let error = |reason: &str, message: String| Verdict {
            outcome: Outcome::Error,
            reason: reason.to_owned(),
            message,
        };
        let ended = match end {
            CoordinatorEnd::Ended(ended) => ended,
            CoordinatorEnd::Removed(why) => {
                return error(&why.reason, with("the coordinator's pod", &why.message));
            }
            CoordinatorEnd::Gone => {
                let message = "the coordinator's pod is gone, and with it the result";
                return error("CoordinatorLost", message.to_owned());
            }
        };
        let said = said(ended, tail);
        if let Some(before) = &ended.before {
            let message = format!(
                "init container {before} ended with exit code {}",
                ended.code
            );
            return error("InitContainerFailed", with(&message, &said));
        }
        let Some(code) = known(ended.code) else {
            let reason = match ended.reason.as_str() {
                "" | "Error" => "CoordinatorFailed",
                reason => reason,
            };
            let message = format!("the coordinator ended with exit code {}", ended.code);
            return error(reason, with(&message, &said));
        };
        let outcome = match code {
            ExitCode::Ok => Outcome::Passed,
            ExitCode::ThresholdsFailed | ExitCode::MarkedFailed => Outcome::Failed,
            _ => Outcome::Error,
        };
        let said = match (outcome, lost) {
            (Outcome::Passed, _) => String::new(),
            (Outcome::Error, [_, ..]) => told(lost),
            (Outcome::Error | Outcome::Failed, _) => said,
        };
        let reason = match code {
            ExitCode::Ok => "Passed".to_owned(),
            code => format!("{code:?}"),
        };
        Verdict {
            outcome,
            reason,
            message: match code {
                // What it may mean is long, and says nothing beside what it was.
                ExitCode::Other if !said.is_empty() => said,
                code => with(code.meaning(), &said),
            },
        }
    }
}

impl Verdict {
    /// The same in the words of suites, whose rows may fail for other reasons than thresholds.
    pub(super) fn of_suite(mut self) -> Verdict {
        let word = format!("{:?}", ExitCode::ThresholdsFailed);
        if self.reason == word {
            "RowFailed".clone_into(&mut self.reason);
            let usual = ExitCode::ThresholdsFailed.meaning();
            self.message = self.message.replacen(usual, "a row failed", 1);
        }
        self
    }
}

/// The coordinator's reason for its end: from its figures, or the last error of its log.
fn said(ended: &Ended, tail: &str) -> String {
    let log = match ended.message.trim() {
        message if ended.figures.is_some() => return last_bytes(message, TAIL_MAX).to_owned(),
        "" => tail.trim(),
        message => message,
    };
    last_error(log).unwrap_or_else(|| last_bytes(log, TAIL_MAX).to_owned())
}

fn known(code: i32) -> Option<ExitCode> {
    // Lower codes belong to other commands; here they come from a program that is not loadline.
    ExitCode::of(code).filter(|code| *code == ExitCode::Ok || code.code() >= 97)
}

fn with(first: &str, second: &str) -> String {
    match second {
        "" => first.to_owned(),
        second => format!("{first}: {second}"),
    }
}

/// The message of the last line with an error.
fn last_error(log: &str) -> Option<String> {
    let mut lines = log.lines().rev();
    let line = lines
        .find_map(|line| line.split_once(" level=error msg="))?
        .1;
    let mut message = String::new();
    let Some(quoted) = line.strip_prefix('"') else {
        return line.split(' ').next().map(str::to_owned);
    };
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => match letters.next() {
                Some('n') => message.push('\n'),
                Some('t') => message.push('\t'),
                Some(other) => message.push(other),
                None => break,
            },
            other => message.push(other),
        }
    }
    message.truncate(message.floor_char_boundary(TAIL_MAX));
    Some(message)
}

/// The end of a text, cut at a line where there is one.
fn last_bytes(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let from = text.ceil_char_boundary(text.len() - most);
    let end = &text[from..];
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}
