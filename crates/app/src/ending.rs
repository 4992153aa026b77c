//! How a command ends without a run: help, a version, a refusal.
//!
//! Must not know which command it was. Invariant: a refusal names what is wrong and has the exit code that the
//! owner of the command line (loadline or a dialect) defines.

use std::borrow::Cow;
use std::fmt;
use std::io;

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
        match self.out.is_empty() {
            true => self.code,
            false => self.told(print::to_stdout(&shown(&self.out))),
        }
    }

    /// The exit code, once the answer was written or could not be. A refusal keeps its own.
    fn told(&self, written: io::Result<()>) -> ExitCode {
        let Err(error) = written else {
            return self.code;
        };
        let unwritten = Ending::unwritten("standard output", &error);
        print::to_stderr(&unwritten.err);
        match self.code {
            ExitCode::Ok => unwritten.code,
            refused => refused,
        }
    }

    /// What a command was asked for could not be written to standard output.
    pub(crate) fn unwritten(what: &str, error: &io::Error) -> Ending {
        let text = format!("{what} cannot be written: {error}");
        Ending::refusal(ExitCode::Other, &text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_could_not_be_written_is_no_success() {
        let full = || Err(io::Error::from(io::ErrorKind::StorageFull));
        let answer = Ending::answer("a schema\n");
        assert_eq!(answer.told(full()), ExitCode::Other);
        assert_eq!(answer.told(Ok(())), ExitCode::Ok);
        let refusal = Ending::usage("no such option");
        assert_eq!(refusal.told(full()), ExitCode::InvalidConfig);
    }
}
