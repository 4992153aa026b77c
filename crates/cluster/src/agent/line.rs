//! An agent's messages over its current connection.
//!
//! Must not know their content. Invariants: messages that may be lost are dropped while there is no connection;
//! log lines are kept up to a limit, and those beyond it are counted.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loadline_engine::ScriptLog;
use loadline_script::host::{LogEntry, LogLevel};
use loadline_script::secrets::Secrets;
use tokio::sync::mpsc::UnboundedSender;

use super::HiddenSecrets;
use crate::generated::from_agent::What;
use crate::generated::{FromAgent, LogLine, log_line};
use crate::message::level_to_send;

/// Maximum log lines that wait for a connection.
const LINES_MAX: usize = 1_000;

/// One connection; messages over a closed one are lost.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) to: UnboundedSender<FromAgent>,
    /// Secrets that no message may contain.
    pub(super) secrets: HiddenSecrets,
}

impl Line {
    pub(super) fn say(&self, mut what: What) {
        if let Some(secrets) = self.secrets.get() {
            hide(secrets, &mut what);
        }
        // If the connection is closed, its other end notices.
        drop(self.to.send(FromAgent { what: Some(what) }));
    }
}

/// Removes secrets from the texts of a message. The coordinator cannot: it does not know which secrets an agent's
/// script has requested.
fn hide(secrets: &Secrets, what: &mut What) {
    let hide = |text: &mut String| {
        if let Cow::Owned(hidden) = secrets.redacted(text) {
            *text = hidden;
        }
    };
    match what {
        What::Log(line) => {
            hide(&mut line.message);
            for field in &mut line.fields {
                hide(&mut field.name);
                hide(&mut field.value);
            }
        }
        What::Signal(signal) => {
            hide(&mut signal.message);
            hide(&mut signal.trace);
        }
        What::Refusal(refusal) => hide(&mut refusal.why),
        _ => {}
    }
}

/// The current connection, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct Outgoing {
    state: Arc<Mutex<State>>,
    /// Secrets that no message may contain, over any connection.
    pub(super) secrets: HiddenSecrets,
}

#[derive(Debug, Default)]
struct State {
    line: Option<Line>,
    /// Waiting log lines.
    waiting: VecDeque<LogLine>,
    /// How many were dropped.
    dropped: u64,
}

impl Outgoing {
    /// Sends it now; without a connection only log lines wait.
    pub(super) fn say(&self, what: What) {
        let mut state = self.state();
        match (&state.line, what) {
            (Some(line), what) => line.say(what),
            (None, What::Log(_)) if state.waiting.len() >= LINES_MAX => state.dropped += 1,
            (None, What::Log(entry)) => state.waiting.push_back(entry),
            (None, _) => {}
        }
    }

    /// There is a connection: sends what has waited.
    pub(super) fn connect(&self, line: Line) {
        let mut state = self.state();
        let dropped = std::mem::take(&mut state.dropped);
        for entry in state.waiting.drain(..) {
            line.say(What::Log(entry));
        }
        if dropped > 0 {
            line.say(What::Log(LogLine {
                level: level_to_send(LogLevel::Warning).into(),
                message: format!(
                    "{dropped} lines of the log are missing: there was no connection to the coordinator"
                ),
                ..LogLine::default()
            }));
        }
        state.line = Some(line);
    }

    /// The connection is closed.
    pub(super) fn disconnect(&self) {
        self.state().line = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScriptLog for Outgoing {
    fn write(&self, entry: &LogEntry<'_>) {
        let fields = entry.fields.iter();
        let fields = fields.map(|(name, value)| log_line::Field {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        });
        self.say(What::Log(LogLine {
            level: level_to_send(entry.level).into(),
            message: entry.message.to_owned(),
            fields: fields.collect(),
            in_init: entry.in_init,
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::OnceLock;

    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::generated::{Refusal, Signal};

    #[test]
    fn lines_of_the_log_wait_for_a_connection_up_to_a_bound() {
        let outgoing = Outgoing::default();
        for _ in 0..LINES_MAX + 2 {
            outgoing.say(What::Log(LogLine::default()));
        }
        let (sender, mut said) = unbounded_channel();
        outgoing.connect(Line {
            to: sender,
            secrets: HiddenSecrets::default(),
        });
        let mut told = Vec::new();
        while let Ok(FromAgent {
            what: Some(What::Log(line)),
        }) = said.try_recv()
        {
            told.push(line.message);
        }
        assert_eq!(told.len(), LINES_MAX + 1);
        assert!(
            told[LINES_MAX].starts_with("2 lines"),
            "{}",
            told[LINES_MAX]
        );
        outgoing.disconnect();
        outgoing.say(What::Log(LogLine::default()));
        assert!(said.try_recv().is_err(), "nobody hears it");
    }

    #[test]
    fn nothing_that_is_said_shows_a_secret_that_was_handed_out() {
        let source = BTreeMap::from([("key".to_owned(), "s3cret".to_owned())]);
        let secrets = Secrets::new(BTreeMap::from([("default".to_owned(), Arc::new(source))]));
        secrets.get("default", "key").expect("it is there");
        let (to, mut said) = unbounded_channel();
        let outgoing = Outgoing {
            secrets: Arc::new(OnceLock::from(Arc::new(secrets))),
            ..Outgoing::default()
        };
        // One line that waits for a connection, and one that does not.
        let entry = LogEntry {
            level: LogLevel::Info,
            message: "it is s3cret",
            fields: &[("s3cret", "a s3cret b")],
            in_init: false,
        };
        outgoing.write(&entry);
        let secrets = Arc::clone(&outgoing.secrets);
        let line = Line { to, secrets };
        outgoing.connect(line.clone());
        outgoing.write(&entry);
        line.say(What::Signal(Signal {
            message: "s3cret".to_owned(),
            trace: "at s3cret".to_owned(),
            ..Default::default()
        }));
        let why = "s3cret".to_owned();
        line.say(What::Refusal(Refusal { why }));
        for _ in 0..4 {
            let said = said.try_recv().expect("it was said");
            let text = format!("{said:?}");
            assert!(!text.contains("s3cret") && text.contains("***"), "{text}");
        }
    }
}
