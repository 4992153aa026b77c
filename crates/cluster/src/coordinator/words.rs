//! What the coordinator says and starts, beside its decisions.
//!
//! Must not know who decided. Invariants: whoever hands something over never waits for a terminal, a file or a process;
//! words are said in their order; log lines that would take too much memory are counted, and that is said.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use loadline_script::host::LogLevel;
use prost::Message as _;

use crate::generated::LogLine;
use crate::message::level_to_send;

/// Maximum bytes of log lines that wait to be written.
const WAITING_MAX: usize = 8 << 20;

/// How words are said and processes started; each may block.
pub(super) struct Mouth {
    /// Writes a line of an agent's log.
    pub(super) log: Box<dyn Fn(&LogLine) + Send>,
    /// Writes a note for the user.
    pub(super) note: Box<dyn Fn(&str) + Send>,
    /// Starts a replacement for the agent of this name.
    pub(super) replace: Box<dyn Fn(&str) + Send>,
}

/// The words that wait, and the threads that say them; these end when it is dropped.
pub(super) struct Words {
    said: Sender<Word>,
    /// Names of agents to be replaced: a terminal that is not read must not keep an agent from being replaced.
    lost: Sender<String>,
    waiting: Arc<Waiting>,
}

enum Word {
    Log(LogLine),
    Note(String),
}

#[derive(Default)]
struct Waiting {
    state: Mutex<State>,
    /// Notified when no word waits any more.
    all_said: Condvar,
}

#[derive(Default)]
struct State {
    words: usize,
    /// Bytes of the log lines among them.
    bytes: usize,
    /// Log lines that were left out since that was last said.
    left_out: u64,
}

impl Words {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system has no thread.
    pub(super) fn start(mouth: Mouth) -> io::Result<Words> {
        let Mouth { log, note, replace } = mouth;
        let (said, words) = channel();
        let (lost, names) = channel::<String>();
        let waiting = Arc::<Waiting>::default();
        let seen = Arc::clone(&waiting);
        thread::Builder::new()
            .name("coordinator-words".to_owned())
            .spawn(move || say(&words, &seen, &*log, &*note))?;
        thread::Builder::new()
            .name("coordinator-starts".to_owned())
            .spawn(move || names.iter().for_each(|name| replace(&name)))?;
        Ok(Words {
            said,
            lost,
            waiting,
        })
    }

    /// A line of an agent's log is to be written, unless too many wait.
    pub(super) fn log(&self, line: LogLine) {
        let bytes = line.encoded_len();
        let mut state = self.waiting.state();
        if state.bytes + bytes > WAITING_MAX && state.bytes > 0 {
            state.left_out += 1;
            return;
        }
        state.bytes += bytes;
        self.hand_over(state, Word::Log(line));
    }

    /// A note is to be written. There are a few for each agent.
    pub(super) fn note(&self, text: String) {
        self.hand_over(self.waiting.state(), Word::Note(text));
    }

    /// The agent of this name is to be replaced.
    pub(super) fn lost(&self, name: String) {
        // A thread that panicked starts nothing more.
        drop(self.lost.send(name));
    }

    /// Waits until everything is said, up to `limit`.
    pub(super) fn settle(&self, limit: Duration) {
        let state = self.waiting.state();
        let waited = self
            .waiting
            .all_said
            .wait_timeout_while(state, limit, |state| state.words > 0);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// While the state is locked, so that words keep their order.
    fn hand_over(&self, mut state: MutexGuard<'_, State>, word: Word) {
        if self.said.send(word).is_ok() {
            state.words += 1;
        }
    }
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a word with this many bytes of a log was said; returns how many lines were left out since.
    fn told(&self, bytes: usize) -> u64 {
        let mut state = self.state();
        state.bytes = state.bytes.saturating_sub(bytes);
        std::mem::take(&mut state.left_out)
    }

    /// Notes that nothing more is to be said about a word.
    fn done(&self) {
        let mut state = self.state();
        state.words = state.words.saturating_sub(1);
        if state.words == 0 {
            self.all_said.notify_all();
        }
    }
}

fn say(words: &Receiver<Word>, waiting: &Waiting, log: &dyn Fn(&LogLine), note: &dyn Fn(&str)) {
    for word in words {
        let bytes = match word {
            Word::Log(line) => {
                log(&line);
                line.encoded_len()
            }
            Word::Note(text) => {
                note(&text);
                0
            }
        };
        let left_out = waiting.told(bytes);
        if left_out > 0 {
            log(&lines_left_out(left_out));
        }
        waiting.done();
    }
}

fn lines_left_out(count: u64) -> LogLine {
    LogLine {
        level: level_to_send(LogLevel::Warning).into(),
        message: format!(
            "{count} lines of the agents' logs are missing: they arrived faster than they could be written"
        ),
        ..LogLine::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn line(message: String) -> LogLine {
        LogLine {
            message,
            ..LogLine::default()
        }
    }

    #[test]
    fn a_log_that_is_not_read_holds_nobody_up_and_what_is_missing_is_said() {
        let (written, read) = sync_channel::<String>(0);
        let (start, started) = channel();
        let to_note = written.clone();
        let words = Words::start(Mouth {
            log: Box::new(move |line| drop(written.send(line.message.clone()))),
            note: Box::new(move |text| drop(to_note.send(text.to_owned()))),
            replace: Box::new(move |name| drop(start.send(name.to_owned()))),
        });
        let words = words.expect("there are threads");
        let long = "x".repeat(1 << 20);
        // Nobody reads: all of this returns.
        for number in 0..20 {
            words.log(line(format!("{number} {long}")));
        }
        words.note("vienna has joined".to_owned());
        words.lost("osaka".to_owned());
        words.settle(Duration::from_millis(1));
        assert_eq!(
            started.recv_timeout(LIMIT).as_deref(),
            Ok("osaka"),
            "an agent is replaced all the same"
        );
        let told: Vec<String> = (0..9)
            .map(|_| read.recv_timeout(LIMIT).expect("it is said"))
            .collect();
        let starts: Vec<&str> = told.iter().map(|text| &text[..2]).collect();
        assert_eq!(
            starts,
            ["0 ", "13", "1 ", "2 ", "3 ", "4 ", "5 ", "6 ", "vi"],
            "in their order"
        );
        assert!(
            told[1].starts_with("13 lines of the agents' logs are missing"),
            "{}",
            told[1]
        );
        words.settle(LIMIT);
        words.log(line("again".to_owned()));
        assert_eq!(read.recv_timeout(LIMIT).as_deref(), Ok("again"));
    }
}
