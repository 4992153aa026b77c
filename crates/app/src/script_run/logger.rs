//! The log of a script run: lines of the script, the engine and the command, to the destination that the user
//! chose.
//!
//! Must not know the content. Invariant: a line is written as a whole, and lines of several workers are never
//! mixed.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use loadline_model::ExitCode;
use loadline_output::k6_lines::push_rfc3339;
use loadline_report::Style;
use loadline_run::{Clock, ScriptLog, Traced};
use loadline_script::host::{LogEntry, LogLevel};
use loadline_script::secrets::Secrets;

use super::trace::{self, TraceLook};
use crate::dialect::go_text;
use crate::k6::{K6Error, Level, LogFormat, LogOutput, LogSettings, Notice};
use crate::terminal::print;

/// Minimum width of a message on a terminal in columns, as in logrus.
const MESSAGE_COLUMNS: usize = 44;

/// The log of a script run.
pub(crate) struct Logger {
    clock: Clock,
    format: LogFormat,
    lowest: Level,
    console_lowest: Level,
    /// Whether lines are written for a terminal with colours: without them they are written as for a file,
    /// as in k6.
    for_terminal: bool,
    stream: Mutex<Option<Stream>>,
    /// The destination of the script's console; `None`: the log.
    console: Option<Mutex<File>>,
    /// The format of traces on standard error.
    look: TraceLook,
    /// Values that are never written.
    secrets: Arc<Secrets>,
    /// The last error that was not logged by the script itself.
    last_error: Mutex<Option<String>>,
}

enum Stream {
    Stderr,
    Stdout,
    File(File),
}

impl Logger {
    /// Opens the log.
    ///
    /// # Errors
    /// A file that cannot be written, or an unsupported destination.
    pub(crate) fn open(settings: &LogSettings) -> Result<Logger, K6Error> {
        let mut lowest = if settings.verbose {
            Level::Debug
        } else {
            Level::Info
        };
        let stream = match &settings.output {
            LogOutput::Stderr => Some(Stream::Stderr),
            LogOutput::Stdout => Some(Stream::Stdout),
            LogOutput::None => None,
            LogOutput::File { path, level } => {
                lowest = level.as_deref().map_or(lowest, level_of);
                Some(Stream::File(log_file(path)?))
            }
            LogOutput::Loki(_) => {
                return Err(K6Error::new(
                    ExitCode::InvalidConfig,
                    "--log-output loki is not supported: write to a file and let an agent ship it",
                ));
            }
        };
        let is_terminal = match &stream {
            Some(Stream::Stderr) => io::stderr().is_terminal(),
            Some(Stream::Stdout) => io::stdout().is_terminal(),
            Some(Stream::File(_)) | None => false,
        };
        Ok(Logger {
            clock: Clock::start(),
            format: settings.format,
            lowest,
            console_lowest: match settings.verbose {
                true => Level::Debug,
                false => Level::Info,
            },
            for_terminal: is_terminal && !settings.no_color,
            stream: Mutex::new(stream),
            console: None,
            look: TraceLook {
                style: Style::default(),
                shows_secrets: false,
            },
            secrets: Arc::default(),
            last_error: Mutex::default(),
        })
    }

    /// The same log with the script's console in a separate file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn with_console(mut self, path: &str) -> Result<Logger, K6Error> {
        self.console = Some(Mutex::new(appended(path).map_err(K6Error::other)?));
        Ok(self)
    }

    /// The same log with these secrets removed.
    pub(crate) fn without(mut self, secrets: Arc<Secrets>) -> Logger {
        self.secrets = secrets;
        self
    }

    /// The same log with another format of traces.
    pub(crate) fn with_look(mut self, look: TraceLook) -> Logger {
        self.look = look;
        self
    }

    /// Writes a line without the values of secrets. Otherwise the script's own lines stay as they are; lines
    /// about the script have all known kinds of secrets removed.
    pub(crate) fn tell(&self, notice: &Notice) {
        self.tell_with(notice, self.console.as_ref());
    }

    fn tell_with(&self, notice: &Notice, console: Option<&Mutex<File>>) {
        let notice = &self.redacted(notice);
        let is_source =
            |(name, value): &(Cow<'static, str>, String)| name == "source" && value == "console";
        let redacted = match notice.fields.iter().any(is_source) {
            true => Cow::Borrowed(notice),
            false => Cow::Owned(notice.redacted()),
        };
        let notice = &*redacted;
        if notice.level >= Level::Error && !notice.fields.iter().any(is_source) {
            let mut last = self
                .last_error
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            *last = Some(notice.message.clone());
        }
        match console {
            Some(file) if notice.fields.iter().any(is_source) => {
                // The level of a log file does not apply to the console.
                if notice.level < self.console_lowest {
                    return;
                }
                let mut notice = notice.clone();
                notice.fields.retain(|field| !is_source(field));
                let line = self.format.line(&notice, &self.time());
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // A log that cannot be written must not end the test.
                drop(file.write_all(line.as_bytes()));
            }
            _ if notice.level < self.lowest => {}
            _ => self.write(&self.line(notice)),
        }
    }

    /// The last logged error, except those logged by the script itself.
    pub(crate) fn last_error(&self) -> Option<String> {
        let last = self.last_error.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn redacted(&self, notice: &Notice) -> Notice {
        let field = |(name, value): &(Cow<'static, str>, String)| {
            let name = match self.secrets.redacted(name) {
                Cow::Borrowed(_) => name.clone(),
                Cow::Owned(redacted) => redacted.into(),
            };
            (name, self.secrets.redacted(value).into_owned())
        };
        Notice {
            level: notice.level,
            message: self.secrets.redacted(&notice.message).into_owned(),
            fields: notice.fields.iter().map(field).collect(),
        }
    }

    fn line(&self, notice: &Notice) -> String {
        match (self.for_terminal, self.format) {
            (true, LogFormat::Text) => terminal_line(notice, self.clock.now().0 / 1_000_000_000),
            _ => self.format.line(notice, &self.time()),
        }
    }

    fn time(&self) -> String {
        let mut text = Vec::new();
        push_rfc3339(self.clock.started_unix_ns() + self.clock.now().0, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }

    fn write(&self, line: &str) {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let written = match &mut *stream {
            Some(Stream::Stderr) => print::bytes_to_stderr(line.as_bytes()),
            Some(Stream::Stdout) => print::bytes_to_stdout(line.as_bytes()),
            Some(Stream::File(file)) => file.write_all(line.as_bytes()),
            None => Ok(()),
        };
        // A log that cannot be written must not end the test.
        drop(written);
    }
}

impl ScriptLog for Logger {
    fn traced(&self, scenario: &str, what: &Traced<'_>) {
        // Holds the lock of the log, so that its lines do not interrupt a block.
        let stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let block = trace::block(scenario, what, self.look);
        print::to_stderr(&self.secrets.redacted(&block));
        drop(stream);
    }

    fn write(&self, entry: &LogEntry<'_>) {
        let mut fields: Vec<(Cow<'static, str>, String)> = entry
            .fields
            .iter()
            .map(|(name, value)| (Cow::Owned((*name).to_owned()), (*value).to_owned()))
            .collect();
        fields.sort();
        // Console output of the init context is part of the log, as in k6.
        let console = self.console.as_ref().filter(|_| !entry.in_init);
        let notice = Notice {
            level: match entry.level {
                LogLevel::Debug => Level::Debug,
                LogLevel::Info => Level::Info,
                LogLevel::Warning => Level::Warning,
                LogLevel::Error => Level::Error,
            },
            message: entry.message.to_owned(),
            fields,
        };
        self.tell_with(&notice, console);
    }
}

fn log_file(path: &str) -> Result<File, K6Error> {
    let folder = Path::new(path).parent();
    let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
    let opened = match folder {
        Some(folder) if !folder.exists() => {
            let folder = folder.display();
            Err(format!("provided directory '{folder}' does not exist"))
        }
        _ => appended(path).map_err(|why| format!("failed to open logfile {path}: {why}")),
    };
    opened.map_err(K6Error::other)
}

fn appended(path: &str) -> Result<File, String> {
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| go_text::open_error(path, &error))
}

fn level_of(name: &str) -> Level {
    match name {
        "trace" | "debug" => Level::Debug,
        "warn" | "warning" => Level::Warning,
        "error" | "fatal" | "panic" => Level::Error,
        _ => Level::Info,
    }
}

/// A line in the format of logrus for a terminal.
fn terminal_line(notice: &Notice, seconds: u64) -> String {
    let (name, code) = match notice.level {
        Level::Debug => ("DEBU", 37),
        Level::Info => ("INFO", 36),
        Level::Warning => ("WARN", 33),
        Level::Error => ("ERRO", 31),
    };
    let paint = |text: &str| format!("\x1b[{code}m{text}\x1b[0m");
    let fields: String = notice
        .fields
        .iter()
        .map(|(name, value)| {
            let one = Notice::new(Level::Info, value.as_str()).to_string();
            let value = one.split_once("msg=").map_or("", |(_, value)| value);
            format!(" {}={value}", paint(name))
        })
        .collect();
    let message = &notice.message;
    format!(
        "{}[{seconds:04}] {message:<MESSAGE_COLUMNS$} {fields}\n",
        paint(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_terminal_lines_look_as_logrus_makes_them() {
        let notice = Notice::new(Level::Warning, "hot").with("source", "a b");
        let expected = format!(
            "\x1b[33mWARN\x1b[0m[0007] hot{}  \x1b[33msource\x1b[0m=\"a b\"\n",
            " ".repeat(41)
        );
        assert_eq!(terminal_line(&notice, 7), expected);
    }
}
