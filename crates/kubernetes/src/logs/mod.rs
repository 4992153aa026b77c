//! Container logs: read completely, followed, or for all selected pods across restarts.
//!
//! Must not know what the lines mean. Invariants: a line is truncated at [`LINE_MAX`]; interruptions are
//! reported.

mod follow;
mod reader;

use std::io::{self, Read};

use crate::access::Call;
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::place::{ApiPlace, Verb};
use crate::selector::Selector;
use crate::time;

pub use follow::{LogBatch, LogFollower, LogLine};
pub use reader::LogReader;

/// Bytes of a line that are kept.
pub(crate) const LINE_MAX: usize = 64 << 10;
/// Bytes of a log that are read at once.
const WHOLE_MAX: u64 = 64 << 20;

/// The requested part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogOptions {
    /// Of which container; `None`: of the only one. When logs of a selector are followed: of all.
    pub container: Option<String>,
    /// From when on; `None`: from its beginning.
    pub since: Option<LogSince>,
    /// At most this many of its last lines; `None`: all.
    pub tail: Option<u64>,
    /// At most this many of its first bytes; `None`: all.
    pub bytes: Option<u64>,
    /// Whether the log of the container before the last restart is meant.
    pub is_previous: bool,
}

/// The start of the requested part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogSince {
    /// This many seconds ago, at least one.
    Seconds(u64),
    /// An instant, in nanoseconds since 1970; the API takes whole seconds, so lines of that second may come besides.
    Instant(u64),
}

impl LogOptions {
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = Vec::new();
        if let Some(container) = &self.container {
            query.push(("container", container.clone()));
        }
        match self.since {
            None => {}
            Some(LogSince::Seconds(seconds)) => query.push(("sinceSeconds", seconds.to_string())),
            Some(LogSince::Instant(ns)) => query.push(("sinceTime", time::format(ns))),
        }
        if let Some(lines) = self.tail {
            query.push(("tailLines", lines.to_string()));
        }
        if let Some(bytes) = self.bytes {
            query.push(("limitBytes", bytes.to_string()));
        }
        if self.is_previous {
            query.push(("previous", "true".to_owned()));
        }
        query
    }
}

impl Cluster {
    /// The log of a pod's container so far.
    ///
    /// # Errors
    /// There is no such pod or container, it is larger than 64 MiB, or the cluster does not respond.
    pub fn log(&self, namespace: &str, pod: &str, options: &LogOptions) -> Result<String> {
        let call = log_call(namespace, pod).queries(options.query());
        let mut text = Vec::new();
        let mut stream = self.client.stream(&call)?.take(WHOLE_MAX + 1);
        let read = stream.read_to_end(&mut text);
        read.map_err(|error| interrupted(pod, &error))?;
        if text.len() as u64 > WHOLE_MAX {
            return Err(Error::answer(format!(
                "the log of {pod} is larger than {} MiB; ask for a part of it",
                WHOLE_MAX >> 20
            )));
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Passes on the lines so far of a pod's container that are later than an instant, in nanoseconds since 1970,
    /// with their instants; zero: all.
    ///
    /// # Errors
    /// There is no such pod or container, or the cluster does not respond.
    pub fn log_after(
        &self,
        namespace: &str,
        pod: &str,
        options: &LogOptions,
        after_unix_ns: u64,
        line: &mut dyn FnMut(&str, Option<u64>),
    ) -> Result<()> {
        let options = LogOptions {
            since: (after_unix_ns > 0).then_some(LogSince::Instant(after_unix_ns)),
            ..options.clone()
        };
        let call = log_call(namespace, pod)
            .queries(options.query())
            .query("timestamps", "true");
        let mut reader = LogReader::new(self.client.stream(&call)?);
        let broken = |error| interrupted(pod, &error);
        while let Some(text) = reader.next_line().map_err(broken)? {
            let (at_unix_ns, text) = follow::stamped(&text);
            if at_unix_ns.is_none_or(|at| at > after_unix_ns) {
                line(text, at_unix_ns);
            }
        }
        Ok(())
    }

    /// Follows the logs of all containers (or the named one) of all selected pods, including later ones and
    /// across restarts, on separate threads.
    ///
    /// # Errors
    /// The cluster does not respond, or does not allow it.
    pub fn follow_logs(
        &self,
        namespace: &str,
        selector: &Selector,
        options: &LogOptions,
    ) -> Result<LogFollower> {
        LogFollower::start(
            self.clone(),
            namespace,
            selector,
            options,
            follow::LOOK_EVERY,
        )
    }
}

fn interrupted(pod: &str, error: &io::Error) -> Error {
    let text = format!("the log of {pod} was interrupted: {error}");
    Error::new(ErrorKind::Unreachable, text)
}

fn log_call(namespace: &str, pod: &str) -> Call {
    let place = ApiPlace::of("v1", "pods").within(namespace).named(pod);
    Call::new(Verb::Get, place.part("log"))
}
