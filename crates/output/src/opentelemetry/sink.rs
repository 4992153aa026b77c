//! The thread that keeps the series and exports them.
//!
//! Must not know the layout. Invariants: the run never waits for the collector; what one export failed to
//! deliver is in the next one; the last export has its own retry policy.

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

/// Maximum series per request: far below gRPC's limit, even with histograms.
const SERIES_MAX: usize = 1_000;
/// Retries at the end of a run: three more attempts within two seconds if the collector responds.
const AT_END: Retry = Retry {
    first: Duration::from_millis(250),
    longest: Duration::from_secs(1),
    waits: 3,
};

/// The protocol of a collector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OtlpProtocol {
    /// gRPC.
    #[default]
    Grpc,
    /// HTTP/1.1 with protobuf bodies.
    Http,
}

/// Settings of the export.
#[derive(Clone)]
pub struct OtlpSettings {
    /// The protocol.
    pub protocol: OtlpProtocol,
    /// The address: complete for HTTP; scheme, host and port for gRPC.
    pub url: String,
    /// Additional headers.
    pub headers: Vec<(String, String)>,
    /// TLS settings.
    pub tls: TlsSettings,
    /// Time between exports.
    pub interval: Duration,
    /// Attributes of the resource: the service's name, and others.
    pub resource: Vec<(String, String)>,
    /// Prefix of every metric name.
    pub prefix: String,
}

impl fmt::Debug for OtlpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers may contain tokens.
        write!(f, "OtlpSettings({})", self.url)
    }
}

/// The outcome of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtlpReport {
    /// Number of series.
    pub series: usize,
    /// Series whose totals the collector does not have.
    pub lost: usize,
    /// Points that the collector rejected from accepted requests. They are not sent again; later points of the
    /// same series make up for them.
    pub rejected: u64,
    /// The reason; `None`: the collector has all series and rejected nothing.
    pub error: Option<String>,
}

/// A running export.
#[derive(Debug)]
pub struct OtlpSink {
    thread: SeriesThread<OtlpReport>,
}

impl OtlpSink {
    /// Starts it; `on_trouble` is called when exports start to fail.
    ///
    /// # Errors
    /// An invalid certificate or address, or no thread.
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

    /// Passes on an event.
    pub fn event(&self, event: &RunEvent) {
        self.thread.event(event);
    }

    /// Exports the rest and returns the outcome.
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
    /// The end of the last export, in milliseconds since 1970.
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

    /// Exports everything that changed since the collector was last up to date; an error includes the number of
    /// series that it lacks.
    fn export(&mut self) -> Result<(), (Refusal, usize)> {
        let Some(started_unix_ms) = self.state.started_unix_ms() else {
            return Ok(());
        };
        // Collectors forward one value per millisecond, and a run may end within the millisecond of the last
        // export.
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

    /// Counts points that the collector rejected; they must not be sent again.
    fn reject(&mut self, why: String, points: u64) {
        self.rejected = self.rejected.saturating_add(points);
        let told = format!("the collector rejected {points} points: {why}");
        self.rejection.get_or_insert(why);
        self.tell(&Refusal::Never(told));
    }

    /// Reports the first problem.
    fn tell(&mut self, refusal: &Refusal) {
        if !std::mem::replace(&mut self.is_told, true) {
            (self.on_trouble)(why(refusal));
        }
    }
}

fn why(refusal: &Refusal) -> &str {
    match refusal {
        Refusal::NotNow { why, .. }
        | Refusal::Partly { why, .. }
        | Refusal::TooLarge(why)
        | Refusal::Never(why) => why,
    }
}
