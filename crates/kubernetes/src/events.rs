//! Events as they happen: a watch that is kept up on a thread of its own.
//!
//! Must not know which events matter. Invariants: an event is told once for each time it was counted; what could not be
//! watched is told, never passed over; at most [`WAITING_MAX`] events wait to be taken.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::{
    Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel, sync_channel,
};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use ureq::Agent;

use crate::access::{Call, Stream};
use crate::cluster::Cluster;
use crate::error::{Error, ErrorKind, Result};
use crate::json;
use crate::objects::Event;
use crate::place::{Place, Verb};
use crate::selector::Selector;

/// Events that wait to be taken; beyond it the watch waits.
const WAITING_MAX: usize = 1024;
/// Seconds after which the server ends a watch, so that a dead connection is noticed.
const WATCH_S: &str = "240";
/// How long to wait after trouble.
const PAUSE: Duration = Duration::from_secs(2);
/// Bytes of one line of a watch.
const LINE_MAX: u64 = 4 << 20;

/// Events as they happen. Watching ends when it is dropped.
#[derive(Debug)]
pub struct EventFeed {
    events: Receiver<Event>,
    trouble: Arc<Mutex<Option<String>>>,
    reading: Arc<Mutex<Option<Agent>>>,
    /// Dropped to end the thread.
    _end: Sender<()>,
}

pub(crate) fn place(namespace: &str) -> Place {
    Place::of("v1", "events").within(namespace)
}

impl EventFeed {
    pub(crate) fn start(
        cluster: Cluster,
        namespace: &str,
        selector: &Selector,
    ) -> Result<EventFeed> {
        let (_, version) = cluster.events(namespace, selector)?;
        EventFeed::from_version(cluster, namespace, selector, version)
    }

    /// Goes on from a version of the list.
    pub(crate) fn from_version(
        cluster: Cluster,
        namespace: &str,
        selector: &Selector,
        version: String,
    ) -> Result<EventFeed> {
        let (sender, events) = sync_channel(WAITING_MAX);
        let (end, ended) = channel();
        let feed = EventFeed {
            events,
            trouble: Arc::default(),
            reading: Arc::default(),
            _end: end,
        };
        let mut watch = Watch {
            cluster,
            namespace: namespace.to_owned(),
            selector: selector.clone(),
            version,
            sender,
            trouble: Arc::clone(&feed.trouble),
            reading: Arc::clone(&feed.reading),
        };
        thread::Builder::new()
            .name("kubernetes-events".to_owned())
            .spawn(move || watch.keep_up(&ended))
            .map_err(|error| Error::config(format!("no thread could be started: {error}")))?;
        Ok(feed)
    }

    /// What happened since it was asked last.
    #[must_use]
    pub fn take(&self) -> Vec<Event> {
        self.events.try_iter().collect()
    }

    /// Why events may be missing since it was asked last; `None`: none are.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        lock(&self.trouble).take()
    }
}

impl Drop for EventFeed {
    fn drop(&mut self) {
        if let Some(agent) = lock(&self.reading).take() {
            agent.shutdown();
        }
    }
}

struct Watch {
    cluster: Cluster,
    namespace: String,
    selector: Selector,
    /// From which version of the list to go on.
    version: String,
    sender: SyncSender<Event>,
    trouble: Arc<Mutex<Option<String>>>,
    reading: Arc<Mutex<Option<Agent>>>,
}

/// What one line of a watch says.
enum Line {
    Event(Box<Event>),
    Version,
    Gone,
    Trouble(String),
}

impl Watch {
    /// Watches until the feed is dropped.
    fn keep_up(&mut self, ended: &Receiver<()>) {
        while ended.try_recv() == Err(TryRecvError::Empty) {
            let Err(error) = self.watch_once() else {
                continue;
            };
            *lock(&self.trouble) = Some(error.to_string());
            if error.kind() == ErrorKind::Gone {
                self.list_anew();
            }
            if ended.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    fn watch_once(&mut self) -> Result<()> {
        let call = Call::new(Verb::Watch, place(&self.namespace))
            .queries(self.selector.query())
            .query("watch", "true")
            .query("allowWatchBookmarks", "true")
            .query("timeoutSeconds", WATCH_S)
            .query("resourceVersion", self.version.clone());
        let stream = self.cluster.client.stream(&call)?;
        *lock(&self.reading) = Some(stream.agent());
        self.read(BufReader::new(stream))
    }

    fn read(&mut self, mut reader: BufReader<Stream>) -> Result<()> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = reader.by_ref().take(LINE_MAX).read_until(b'\n', &mut line);
            match read {
                // The server ends a watch after a while.
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) => {
                    return Err(Error::new(
                        ErrorKind::Unreachable,
                        format!("the watch of events broke off: {error}"),
                    ));
                }
            }
            match self.understood(&line) {
                Line::Event(event) => {
                    // Nobody takes any more.
                    if self.sender.send(*event).is_err() {
                        return Ok(());
                    }
                }
                Line::Version => {}
                Line::Gone => {
                    return Err(Error::new(
                        ErrorKind::Gone,
                        "events were missed: the cluster no longer keeps them",
                    ));
                }
                Line::Trouble(text) => return Err(Error::answer(text)),
            }
        }
    }

    fn understood(&mut self, line: &[u8]) -> Line {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            return Line::Trouble("the watch of events has a line that is no JSON".to_owned());
        };
        if let Some(version) = json::filled(&value, "/object/metadata/resourceVersion") {
            self.version = version;
        }
        match json::text(&value, "/type") {
            Some("ADDED" | "MODIFIED") => Line::Event(Box::new(Event::read(&value["object"]))),
            Some("ERROR") if json::number(&value, "/object/code") == Some(410) => Line::Gone,
            Some("ERROR") => Line::Trouble(format!(
                "the watch of events ended: {}",
                json::owned(&value, "/object/message")
            )),
            _ => Line::Version,
        }
    }

    /// What happened since is lost, which has been told.
    fn list_anew(&mut self) {
        if let Ok((_, version)) = self.cluster.events(&self.namespace, &self.selector) {
            self.version = version;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
