//! Remote write as a sink: a thread that keeps the series, and makes points of what changed.
//!
//! Must not know how points are encoded or sent. Invariants: the run never waits for the receiver; after the
//! run everything is pushed once more, within a time limit.

use std::io;
use std::time::Duration;

use loadline_model::RunEvent;
use loadline_model::audit::Audit;

use super::audit::audit;
use super::client::Client;
use super::encode::stale;
use super::other_writer::{self, Sent};
use super::points::{Point, Points};
use super::queue::{Counts, RefusedSeries};
use super::senders::{Senders, Tell, now};
use super::settings::Settings;
use crate::report::THREAD_FAILED;
use crate::series::{Inbox, SeriesState, SeriesThread};

/// Time limit for the receiver to accept the rest after the run.
const END_MAX: Duration = Duration::from_secs(30);

/// The same for a receiver that never responded: just long enough to be sure of that.
const END_MAX_UNANSWERED: Duration = Duration::from_secs(2);
/// Time of the first points: early, so that an unavailable receiver is reported soon.
const FIRST_PUSH: Duration = Duration::from_millis(500);

/// The outcome for a run's series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushReport {
    /// Outcomes of samples.
    pub counts: Counts,
    /// The first refusal; `None`: there was none.
    pub refused: Option<RefusedSeries>,
    /// Total time for building the requests of all pushes, in microseconds.
    pub flush_sum_us: u64,
    /// The longest such time.
    pub flush_max_us: u64,
    /// Number of pushes.
    pub pushes: u64,
    /// Why the rest could not be pushed at the end; `None`: it was.
    pub error: Option<String>,
    /// How the receiver's totals compare; `None`: not requested.
    pub audit: Option<Audit>,
    /// Whether another run wrote the same series at the same time.
    pub is_mixed: bool,
}

/// A running remote write.
pub struct Push {
    thread: SeriesThread<PushReport>,
}

impl Push {
    /// Starts it. `audits`: whether to query the receiver for the totals at the end.
    ///
    /// # Errors
    /// An invalid client certificate, or no thread.
    pub fn start(settings: &Settings, audits: bool, tell: Tell) -> io::Result<Push> {
        let client = Client::new(settings).map_err(io::Error::other)?;
        let keeper = Keeper {
            settings: settings.clone(),
            senders: Senders::new(client, settings.protocol, tell),
            state: SeriesState::default(),
            points: Points::new(&settings.trends),
            missed: 0,
            told_from_ms: None,
            report: PushReport::default(),
        };
        let thread = SeriesThread::start("remote write", move |inbox| keeper.run(inbox, audits))?;
        Ok(Push { thread })
    }

    /// Passes on an event.
    pub fn event(&self, event: &RunEvent) {
        self.thread.event(event);
    }

    /// Pushes the rest and returns the outcome.
    #[must_use]
    pub fn finish(self) -> PushReport {
        self.thread.finish().unwrap_or_else(|| PushReport {
            error: Some(THREAD_FAILED.to_owned()),
            ..PushReport::default()
        })
    }
}

/// The thread that keeps the series.
struct Keeper {
    settings: Settings,
    state: SeriesState,
    points: Points,
    senders: Senders,
    /// Samples lost for good so far.
    missed: u64,
    /// Timestamp of the first points, in milliseconds since 1970; `None`: there were none yet.
    told_from_ms: Option<u64>,
    report: PushReport,
}

impl Keeper {
    fn run(mut self, inbox: &Inbox, audits: bool) -> PushReport {
        loop {
            let interval = self.settings.push_interval;
            let taken = inbox.take(match self.report.pushes {
                0 => interval.min(FIRST_PUSH),
                _ => interval,
            });
            for event in &taken.events {
                self.state.add(event);
            }
            if let Some(explosion) = self.state.new_explosion() {
                self.senders.warn(&explosion);
            }
            if taken.has_ended {
                self.points.tell_rest();
            }
            self.push();
            if taken.has_ended {
                break;
            }
        }
        self.end(audits);
        self.report
    }

    /// Passes what changed to the senders.
    fn push(&mut self) {
        let missed = self.senders.missed();
        if missed != std::mem::replace(&mut self.missed, missed) {
            self.points.tell_again();
        }
        self.senders.decide_version();
        let begun = now();
        if let Err(error) = self.senders.begin(&self.settings, &self.state) {
            self.report.error = Some(format!("cannot start a thread: {error}"));
            return;
        }
        self.points
            .take(&self.state, |point| self.senders.add(point));
        if self.senders.flush() == 0 {
            return;
        }
        let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.report.flush_sum_us += took;
        self.report.flush_max_us = self.report.flush_max_us.max(took);
        self.report.pushes += 1;
        self.told_from_ms
            .get_or_insert_with(|| self.points.told_until_ms());
    }

    fn end(&mut self, audits: bool) {
        if self.settings.stale_markers {
            self.push_stale_markers();
        }
        let patience = match self.senders.has_answered() {
            true => END_MAX,
            false => END_MAX_UNANSWERED,
        };
        let sent = self.senders.finish(now() + patience);
        self.report.counts = sent.counts;
        self.report.refused = sent.refused;
        self.report.error = self.report.error.take().or(sent.error);
        if let Some(first_ms) = self.told_from_ms
            && self.report.error.is_none()
        {
            let sent = Sent {
                points: &self.points,
                first_ms,
                looks_at_each: audits,
            };
            let client = self.senders.client();
            self.report.is_mixed = other_writer::is_there(client, &self.settings, &sent);
        }
        if audits && self.report.error.is_none() {
            let told = audit(
                self.senders.client(),
                &self.settings,
                &self.state,
                &mut self.points,
            );
            self.report.audit = Some(told);
        }
    }

    fn push_stale_markers(&mut self) {
        let at_ms = self.points.told_until_ms() as i64 + 1;
        for identity in self.points.identities() {
            self.senders.add(Point {
                identity,
                at_ms,
                value: stale(),
                zero_at_ms: None,
            });
        }
        self.senders.flush();
    }
}
