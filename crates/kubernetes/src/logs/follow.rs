//! The logs of all selected pods, followed across restarts.
//!
//! Must not know what the lines mean. Invariants: a line is returned once; possible gaps (a container ended
//! twice between two checks, a slow reader) are reported; at most [`WAITING_MAX`] lines are queued.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use ureq::Agent;

use super::{LogOptions, LogReader, LogSince, log_call};
use crate::access::Prepared;
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::objects::{Phase, Pod};
use crate::selector::Selector;
use crate::time;

/// Lines that wait to be taken; beyond it the readers wait, and the cluster keeps the lines.
const WAITING_MAX: usize = 16_384;
/// How often pods are looked for.
pub(super) const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Containers that are followed at a time, each on a thread.
const CONTAINERS_MAX: usize = 64;
/// Notes that wait to be taken.
const NOTES_MAX: usize = 256;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// The pod's name.
    pub pod: Arc<str>,
    /// The container's name.
    pub container: Arc<str>,
    /// When the container printed it, in nanoseconds since 1970; `None`: unknown.
    pub at_unix_ns: Option<u64>,
    /// The line without its end.
    pub text: String,
}

/// What arrived since the last call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogBatch {
    /// Lines; those of one container are in order.
    pub lines: Vec<LogLine>,
    /// Where lines may be missing, and why, in words.
    pub notes: Vec<String>,
}

/// The logs of selected pods. Following ends when it is dropped.
#[derive(Debug)]
pub struct LogFollower {
    lines: Receiver<LogLine>,
    shared: Arc<FollowState>,
    /// Dropped to end the looking.
    _end: Sender<()>,
}

/// What the threads and the follower share.
#[derive(Debug, Default)]
struct FollowState {
    notes: Mutex<Vec<String>>,
    /// How far each container's log was read.
    logs: Mutex<BTreeMap<Key, Progress>>,
    is_over: Mutex<bool>,
}

/// A container of a pod that is not another one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    pod_uid: String,
    container: String,
}

#[derive(Debug, Default)]
struct Progress {
    /// The number of restarts before the current log started.
    restarts: u32,
    /// The instant of the last line; lines up to it were given. Those after a restart are later.
    last_unix_ns: u64,
    /// Which part of it was asked for.
    options: LogOptions,
    /// Ends the reading; `None`: nobody reads.
    reading: Option<Agent>,
    /// Whether the container ended and all of it was read.
    is_done: bool,
}

impl LogFollower {
    pub(crate) fn start(
        cluster: Cluster,
        namespace: &str,
        selector: &Selector,
        options: &LogOptions,
        look_every: Duration,
    ) -> Result<LogFollower> {
        let (sender, lines) = sync_channel(WAITING_MAX);
        let (end, ended) = channel();
        let shared = Arc::new(FollowState::default());
        let look = PodWatch {
            cluster,
            namespace: namespace.to_owned(),
            selector: selector.clone(),
            options: options.clone(),
            sender,
            shared: Arc::clone(&shared),
        };
        // The first check is done here, so that missing permissions are reported immediately.
        look.once(Look::First)?;
        thread::Builder::new()
            .name("kubernetes-logs".to_owned())
            .spawn(move || look.until(&ended, look_every))
            .map_err(|error| Error::config(format!("cannot start a thread: {error}")))?;
        Ok(LogFollower {
            lines,
            shared,
            _end: end,
        })
    }

    /// Takes what arrived since the last call; does not wait.
    #[must_use]
    pub fn take(&self) -> LogBatch {
        LogBatch {
            lines: self.lines.try_iter().take(WAITING_MAX).collect(),
            notes: std::mem::take(&mut *lock(&self.shared.notes)),
        }
    }
}

#[cfg(test)]
impl LogFollower {
    /// The next line, waiting at most this long; `None`: none came.
    pub(crate) fn next_within(&self, time: Duration) -> Option<LogLine> {
        self.lines.recv_timeout(time).ok()
    }
}

impl Drop for LogFollower {
    fn drop(&mut self) {
        *lock(&self.shared.is_over) = true;
        for progress in lock(&self.shared.logs).values_mut() {
            if let Some(agent) = progress.reading.take() {
                agent.shutdown();
            }
        }
    }
}

/// Which look for pods it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// What is there is read as the options say.
    First,
    /// What has come since is read from its beginning.
    Later,
}

/// Searches pods and starts readers.
struct PodWatch {
    cluster: Cluster,
    namespace: String,
    selector: Selector,
    options: LogOptions,
    sender: SyncSender<LogLine>,
    shared: Arc<FollowState>,
}

impl PodWatch {
    fn until(&self, ended: &Receiver<()>, look_every: Duration) {
        while ended.recv_timeout(look_every) == Err(RecvTimeoutError::Timeout) {
            if let Err(error) = self.once(Look::Later) {
                self.shared.note(error.to_string());
            }
        }
    }

    fn once(&self, look: Look) -> Result<()> {
        let pods = self.cluster.pods(&self.namespace, &self.selector)?;
        for pod in &pods {
            self.look_at(pod, look);
        }
        // Containers that are gone for good need not be remembered.
        lock(&self.shared.logs).retain(|key, progress| {
            progress.reading.is_some() || pods.iter().any(|pod| pod.uid == key.pod_uid)
        });
        Ok(())
    }

    fn look_at(&self, pod: &Pod, look: Look) {
        let wanted = |name: &str| {
            self.options
                .container
                .as_deref()
                .is_none_or(|only| only == name)
        };
        for container in pod.containers.iter().filter(|one| wanted(&one.name)) {
            let has_begun = container.is_running || container.last_end.is_some();
            if !has_begun {
                continue;
            }
            let key = Key {
                pod_uid: pod.uid.clone(),
                container: container.name.clone(),
            };
            self.follow(pod, key, container.restarts, look);
        }
    }

    fn follow(&self, pod: &Pod, key: Key, restarts: u32, look: Look) {
        let logs = lock(&self.shared.logs);
        let known = logs.get(&key);
        if known.is_none()
            && logs.values().filter(|one| one.reading.is_some()).count() >= CONTAINERS_MAX
        {
            drop(logs);
            self.shared.note(format!(
                "the log of {} is not followed: {CONTAINERS_MAX} containers are at a time",
                pod.name
            ));
            return;
        }
        if known.is_some_and(|known| {
            known.reading.is_some() || (known.is_done && known.restarts == restarts)
        }) {
            return;
        }
        let after_unix_ns = known.map_or(0, |known| known.last_unix_ns);
        let restarted = known.map_or(0, |known| restarts.saturating_sub(known.restarts));
        let mut options = LogOptions {
            container: Some(key.container.clone()),
            is_previous: false,
            ..self.options.clone()
        };
        match known {
            None if look == Look::First => {}
            // No line has arrived yet.
            Some(known) if restarted == 0 && known.last_unix_ns == 0 => {
                options.clone_from(&known.options);
            }
            Some(known) if restarted == 0 => {
                options.tail = None;
                options.since = Some(LogSince::Instant(known.last_unix_ns));
            }
            // Began while we watched: all of it is new.
            _ => (options.since, options.tail) = (None, None),
        }
        drop(logs);
        if restarted > 1 {
            self.shared.note(format!(
                "{}/{} restarted {restarted} times between two readings: lines may be missing",
                pod.name, key.container
            ));
        }
        let part = LogPart {
            restarts,
            is_over: pod.phase == Phase::Succeeded || pod.phase == Phase::Failed,
            has_restarted: restarted > 0,
            options,
        };
        self.start_reader(pod, key, part, after_unix_ns);
    }

    fn start_reader(&self, pod: &Pod, key: Key, part: LogPart, after_unix_ns: u64) {
        let reader = ContainerLogReader {
            cluster: self.cluster.clone(),
            namespace: pod.namespace.clone(),
            pod: pod.name.as_str().into(),
            container: key.container.as_str().into(),
            key,
            sender: self.sender.clone(),
            shared: Arc::clone(&self.shared),
        };
        // How long a log is silent before it begins is the container's affair.
        let prepared = match self.cluster.client.prepare(None) {
            Ok(prepared) => prepared,
            Err(error) => return self.shared.note(error.to_string()),
        };
        let progress = Progress {
            restarts: part.restarts,
            last_unix_ns: after_unix_ns,
            options: part.options.clone(),
            reading: Some(prepared.agent()),
            is_done: false,
        };
        let key = reader.key.clone();
        lock(&self.shared.logs).insert(key.clone(), progress);
        let spawned = thread::Builder::new()
            .name("kubernetes-log".to_owned())
            .spawn(move || reader.read(prepared, &part));
        if let Err(error) = spawned {
            // The next look tries again.
            if let Some(progress) = lock(&self.shared.logs).get_mut(&key) {
                progress.reading = None;
            }
            self.shared.note(format!("cannot start a thread: {error}"));
        }
    }
}

/// Which part of a container's log is read.
struct LogPart {
    restarts: u32,
    /// Whether the pod ended, so that nothing follows.
    is_over: bool,
    /// Whether the container was restarted since its log was read, so that the end of the log before is missing.
    has_restarted: bool,
    options: LogOptions,
}

/// Reads one container's log on a thread.
struct ContainerLogReader {
    cluster: Cluster,
    namespace: String,
    pod: Arc<str>,
    container: Arc<str>,
    key: Key,
    sender: SyncSender<LogLine>,
    shared: Arc<FollowState>,
}

impl ContainerLogReader {
    fn read(&self, prepared: Prepared, part: &LogPart) {
        if part.has_restarted {
            self.read_previous(part);
        }
        let is_whole = self.read_current(prepared, part);
        let mut logs = lock(&self.shared.logs);
        if let Some(progress) = logs.get_mut(&self.key) {
            progress.reading = None;
            // A log that ended with its container is only reread after a restart. A cleanly broken connection looks
            // the same, so a container that is still running is checked again.
            progress.is_done = is_whole && part.is_over;
        }
    }

    /// Whether the log was read to its end.
    fn read_current(&self, prepared: Prepared, part: &LogPart) -> bool {
        let call = log_call(&self.namespace, &self.pod)
            .queries(part.options.query())
            .query("timestamps", "true")
            .query("follow", "true");
        match prepared.open(&self.cluster.client, &call) {
            Ok(stream) => self.pass_on(&mut LogReader::new(stream)),
            // The pod may have ended meanwhile; the next search shows it.
            Err(error) if error.is_not_found() => false,
            Err(error) => {
                self.trouble(error.to_string());
                false
            }
        }
    }

    /// The lines that the container printed before its restart and that were not read.
    fn read_previous(&self, part: &LogPart) {
        let options = LogOptions {
            is_previous: true,
            since: Some(LogSince::Instant(self.last_unix_ns())),
            tail: None,
            ..part.options.clone()
        };
        let call = log_call(&self.namespace, &self.pod)
            .queries(options.query())
            .query("timestamps", "true");
        match self.cluster.client.stream(&call) {
            Ok(stream) => {
                self.pass_on(&mut LogReader::new(stream));
            }
            Err(error) => self.shared.note(format!(
                "the end of the log of {}/{} before its restart is missing: {error}",
                self.pod, self.container
            )),
        }
    }

    /// Passes lines on until there are no more; returns whether the log ended on its own.
    fn pass_on(&self, log: &mut LogReader) -> bool {
        loop {
            let line = match log.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => return true,
                Err(error) => {
                    self.trouble(format!(
                        "the log of {}/{} was interrupted and is followed again: {error}",
                        self.pod, self.container
                    ));
                    return false;
                }
            };
            let (at_unix_ns, text) = stamped(&line);
            if at_unix_ns.is_some_and(|at| at <= self.last_unix_ns()) {
                continue;
            }
            let line = LogLine {
                pod: Arc::clone(&self.pod),
                container: Arc::clone(&self.container),
                at_unix_ns,
                text: text.to_owned(),
            };
            // The receiver has ended.
            if self.sender.send(line).is_err() {
                return false;
            }
            if let Some(at) = at_unix_ns {
                self.set_last(at);
            }
        }
    }

    /// Reports what went wrong, unless the receiver has ended.
    fn trouble(&self, text: String) {
        if !*lock(&self.shared.is_over) {
            self.shared.note(text);
        }
    }

    fn last_unix_ns(&self) -> u64 {
        let logs = lock(&self.shared.logs);
        logs.get(&self.key)
            .map_or(0, |progress| progress.last_unix_ns)
    }

    fn set_last(&self, at_unix_ns: u64) {
        if let Some(progress) = lock(&self.shared.logs).get_mut(&self.key) {
            progress.last_unix_ns = at_unix_ns;
        }
    }
}

impl FollowState {
    fn note(&self, text: String) {
        let mut notes = lock(&self.notes);
        // A persistent error is reported once until it is taken.
        if notes.len() < NOTES_MAX && !notes.contains(&text) {
            notes.push(text);
        }
    }
}

/// The instant before a line, and the line.
pub(super) fn stamped(line: &str) -> (Option<u64>, &str) {
    let Some((stamp, text)) = line.split_once(' ') else {
        return match time::parse(line) {
            Some(at) => (Some(at), ""),
            None => (None, line),
        };
    };
    match time::parse(stamp) {
        Some(at) => (Some(at), text),
        None => (None, line),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stamp_stands_before_the_line() {
        let (at, text) = stamped("1970-01-01T00:00:01.000000002Z acked 7");
        assert_eq!((at, text), (Some(1_000_000_002), "acked 7"));
        assert_eq!(stamped("1970-01-01T00:00:01Z"), (Some(1_000_000_000), ""));
        assert_eq!(stamped("no stamp"), (None, "no stamp"));
    }
}
