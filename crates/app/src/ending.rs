//! How a command ends without a run: help, a version, a refusal.
//!
//! Must not know which command it was. Invariant: a refusal names what is wrong and has the exit code that the
//! owner of the command line (loadline or a dialect) defines.

use std::borrow::Cow;
use std::fmt;

use loadline_model::ExitCode;
use loadline_model::secret::redacted_text;

use crate::terminal::print;

/// The prefix of refusals on standard error.
const PREFIX: &str = "loadline: ";

/// Text for both streams, and an exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The exit code.
    pub code: ExitCode,
    /// For standard output, with line ends.
    pub out: String,
    /// For standard error, with line ends.
    pub err: String,
}

impl Ending {
    /// A reply on standard output, such as help.
    #[must_use]
    pub fn answer(text: impl Into<String>) -> Ending {
        Ending {
            code: ExitCode::Ok,
            out: text.into(),
            err: String::new(),
        }
    }

    /// A refusal of loadline's own commands: nothing was sent.
    #[must_use]
    pub fn usage(message: &str) -> Ending {
        Ending::refusal(ExitCode::InvalidConfig, message)
    }

    /// A refusal with another exit code, printed on standard error.
    #[must_use]
    pub fn refusal(code: ExitCode, message: &str) -> Ending {
        Ending {
            code,
            out: String::new(),
            err: format!("{PREFIX}{message}\n"),
        }
    }

    /// The text of a refusal, without the program's name.
    pub(crate) fn message(&self) -> &str {
        let text = self.err.trim_end();
        text.strip_prefix(PREFIX).unwrap_or(text)
    }

    /// Writes both texts and returns the exit code. Secrets are removed, as a refusal may quote a URL with a
    /// password.
    #[must_use]
    pub fn tell(&self) -> ExitCode {
        let shown = |text| match self.code {
            ExitCode::Ok => Cow::Borrowed(text),
            _ => redacted_text(text),
        };
        print::to_stderr(&shown(&self.err));
        // A reader that closed the stream has seen what it wanted.
        let _ = print::to_stdout(&shown(&self.out));
        self.code
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exit code {}", self.code.code())?;
        if !self.out.is_empty() {
            write!(f, "\n--- stdout\n{}", self.out)?;
        }
        if !self.err.is_empty() {
            write!(f, "\n--- stderr\n{}", self.err)?;
        }
        Ok(())
    }
}
