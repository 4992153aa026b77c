//! The thread that keeps the series and exports them.
//!
//! Must not know the layout. Invariants: the run never waits for the collector; what one export did
//! not bring, the next one does; the last export has a patience of its own.

use std::fmt;
use std::io;
use std::time::Duration;

use loadline_metric::TagSet;
use loadline_model::RunEvent;

use super::encode::{Envelope, Span, request};
use super::post::Way;
use crate::push::{Ending, Refusal, Retry, TlsSettings};
use crate::report::{OnTrouble, THREAD_FAILED};
use crate::series::{Inbox, Series, SeriesState, SeriesThread};

/// Series in one request at most: far below what gRPC takes, histograms and all.
const SERIES_MAX: usize = 1_000;
/// The patience at the end of a run: three times more, within two seconds, where the collector answers.
const AT_END: Retry = Retry {
    first: Duration::from_millis(250),
    longest: Duration::from_secs(1),
    waits: 3,
};

/// What a collector speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// gRPC.
    #[default]
    Grpc,
    /// HTTP/1.1 with bodies in protocol buffers.
    Http,
}

/// What series are exported with.
#[derive(Clone)]
pub struct OtlpSettings {
    /// How.
    pub protocol: OtlpProtocol,
    /// Where: with HTTP the whole address, with gRPC scheme, host and port.
    pub url: String,
    /// Headers sent along.
    pub headers: Vec<(String, String)>,
    /// How the collector is known.
    pub tls: TlsSettings,
    /// How often.
    pub interval: Duration,
    /// Attributes of the resource: the service's name, and others.
    pub resource: Vec<(String, String)>,
    /// What stands before every metric's name.
    pub prefix: String,
}

impl fmt::Debug for OtlpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers hold tokens.
        write!(f, "OtlpSettings({})", self.url)
    }
}

/// What became of the series.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpReport {
    /// Series that there were.
    pub series: usize,
    /// Series whose totals the collector does not have.
    pub lost: usize,
    /// Points that the collector left out of requests that it took; they are not sent again, and those
    /// of series that changed afterwards were made up for.
    pub rejected: u64,
    /// Why; `None`: it has them all, and rejected none.
    pub error: Option<String>,
}

/// A running export.
#[derive(Debug)]
pub struct OtlpSink {
    thread: SeriesThread<OtlpReport>,
}

impl OtlpSink {
    /// Starts it; `on_trouble` is told when exports begin to fail.
    ///
    /// # Errors
    /// A certificate or an address that cannot be used, or no thread.
    pub fn start(settings: OtlpSettings, on_trouble: OnTrouble) -> io::Result<OtlpSink> {
        let exporter = Exporter {
            way: Way::of(&settings).map_err(io::Error::other)?,
            interval: settings.interval,
            envelope: Envelope {
                resource: settings.resource,
                prefix: settings.prefix,
            },
            state: SeriesState::default(),
            exported: 0,
            told_until_ms: 0,
            on_trouble,
            is_told: false,
            rejected: 0,
            rejection: None,
        };
        let thread = SeriesThread::start("opentelemetry", move |inbox| exporter.run(inbox))?;
        Ok(OtlpSink { thread })
    }

    /// Tells what happened.
    pub fn event(&self, event: &RunEvent) {
        self.thread.event(event);
    }

    /// Exports what is left, and gives the outcome.
    #[must_use]
    pub fn finish(self) -> OtlpReport {
        self.thread.finish().unwrap_or_else(|| OtlpReport {
            error: Some(THREAD_FAILED.to_owned()),
            ..OtlpReport::default()
        })
    }
}

struct Exporter {
    way: Way,
    interval: Duration,
    envelope: Envelope,
    state: SeriesState,
    /// The addition up to which the collector has everything.
    exported: u64,
    /// When the last export was of, in milliseconds since 1970.
    told_until_ms: u64,
    on_trouble: OnTrouble,
    is_told: bool,
    /// Points rejected so far, and the first reason.
    rejected: u64,
    rejection: Option<String>,
}

impl Exporter {
    fn run(mut self, inbox: &Inbox) -> OtlpReport {
        loop {
            let taken = inbox.take(self.interval);
            for event in &taken.events {
                self.state.add(event);
            }
            if let Some(explosion) = self.state.new_explosion() {
                (self.on_trouble)(&explosion);
            }
            if taken.has_ended {
                return self.end();
            }
            if let Err((refusal, _)) = self.export() {
                self.tell(&refusal);
            }
        }
    }

    fn end(mut self) -> OtlpReport {
        let (ending, mut failures) = (Ending::default(), 0);
        ending.come();
        let (refusal, lost) = loop {
            let Err((refusal, lost)) = self.export() else {
                return OtlpReport {
                    series: self.state.len(),
                    lost: 0,
                    rejected: self.rejected,
                    error: self.rejection,
                };
            };
            failures += 1;
            self.tell(&refusal);
            match AT_END.wait(failures) {
                Some(wait) if matches!(refusal, Refusal::NotNow { .. }) && !ending.is_over() => {
                    ending.wait(wait);
                }
                _ => break (refusal, lost),
            }
        };
        OtlpReport {
            series: self.state.len(),
            lost,
            rejected: self.rejected,
            error: Some(why(&refusal).to_owned()),
        }
    }

    /// Exports what changed since the collector had everything; in an error how many series it does
    /// not have.
    fn export(&mut self) -> Result<(), (Refusal, usize)> {
        let Some(started_unix_ms) = self.state.started_unix_ms() else {
            return Ok(());
        };
        // Collectors pass one value on for each millisecond, and a run may end within the one of the last export.
        let until_unix_ms = self.state.until_unix_ms().max(self.told_until_ms + 1);
        let span = Span {
            start_unix_ns: started_unix_ms * 1_000_000,
            until_unix_ns: until_unix_ms * 1_000_000,
        };
        let all = self.state.iter();
        let changed: Vec<(&TagSet, &Series)> = all
            .filter(|(_, series)| series.changed > self.exported)
            .collect();
        let mut rejections = Vec::new();
        for (at, part) in changed.chunks(SERIES_MAX).enumerate() {
            let body = request(&self.envelope, span, part.iter().copied());
            let left = || changed.len() - at * SERIES_MAX;
            match self.way.post(&body) {
                Err(Refusal::Partly { why, lost }) => rejections.push((why, lost)),
                outcome => outcome.map_err(|refusal| (refusal, left()))?,
            }
        }
        self.exported = self.state.additions();
        if !changed.is_empty() {
            self.told_until_ms = until_unix_ms;
        }
        for (why, points) in rejections {
            self.reject(why, points);
        }
        Ok(())
    }

    /// Counts points that the collector does not want; it must not be asked twice.
    fn reject(&mut self, why: String, points: u64) {
        self.rejected = self.rejected.saturating_add(points);
        let told = format!("the collector rejected {points} points: {why}");
        self.rejection.get_or_insert(why);
        self.tell(&Refusal::Never(told));
    }

    /// Tells of the first trouble.
    fn tell(&mut self, refusal: &Refusal) {
        if !std::mem::replace(&mut self.is_told, true) {
            (self.on_trouble)(why(refusal));
        }
    }
}

fn why(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::NotNow { why, .. } | Refusal::Partly { why, .. } | Refusal::Never(why) => why,
    }
}
