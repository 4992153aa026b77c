//! From the events of a run to the events of its page: once a second the visible parts, and new rows of the
//! charts.
//!
//! Must not know sockets. Invariants: a new reader first gets everything; nothing is rendered while there are
//! no readers.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

use hyper::body::Bytes;
use loadline_model::{RunEvent, RunResult};
use loadline_report::html::{self, Standing, Steering};
use loadline_run::RunWatch;
use serde_json::json;

use super::readers::{Reader, event};
use super::state::{Phase, State};

/// A message to the thread.
pub(super) enum Told {
    /// An event of the run.
    Run(Box<RunEvent>),
    /// A new reader.
    Reader(Reader),
    /// A request for the page, with these controls.
    Page(Steering, SyncSender<String>),
    /// A request for the report so far.
    Report(SyncSender<String>),
    /// The end of all messages.
    Close,
}

/// Handles messages until the end.
pub(super) fn tell(told: &Receiver<Told>, watch: Option<&RunWatch>, missed: &AtomicU64) {
    let mut story = Story {
        watch,
        missed,
        state: State::default(),
        readers: Vec::new(),
        rows_told: 0,
    };
    while let Ok(told) = told.recv() {
        match told {
            Told::Run(event) => story.take(*event),
            Told::Reader(reader) => story.welcome(reader),
            Told::Page(steering, to) => story.page(&steering, &to),
            Told::Report(to) => story.report(&to),
            Told::Close => return,
        }
    }
}

struct Story<'a> {
    watch: Option<&'a RunWatch>,
    /// Number of events that were dropped because the queue was full.
    missed: &'a AtomicU64,
    state: State,
    readers: Vec<Reader>,
    /// Number of rows that the charts of all readers have.
    rows_told: usize,
}

impl Story<'_> {
    fn take(&mut self, event: RunEvent) {
        let is_worth_telling = matches!(
            event,
            RunEvent::Before(_)
                | RunEvent::Started { .. }
                | RunEvent::Second { .. }
                | RunEvent::Finished(_)
        );
        // The start time, and the thresholds.
        let is_start = matches!(event, RunEvent::Started { .. });
        self.state.take(event);
        if is_worth_telling {
            self.spread(is_start);
        }
    }

    /// Sends changes, or everything, to all readers.
    fn spread(&mut self, is_start: bool) {
        let rows = self.state.rows().len();
        let is_whole = is_start || rows < self.rows_told || self.state.phase() == Phase::Ended;
        self.readers.retain(|reader| !reader.is_gone());
        if !self.readers.is_empty() {
            let events = match is_whole {
                true => vec![self.whole()],
                false => self.news(),
            };
            let hears = |reader: &Reader| events.iter().all(|event| reader.tell(event));
            self.readers.retain(hears);
        }
        self.rows_told = rows;
    }

    fn welcome(&mut self, reader: Reader) {
        // Events since the last second are sent with the next one: existing readers have not received them
        // either.
        if reader.tell(&self.whole()) {
            self.readers.push(reader);
        }
    }

    fn page(&self, steering: &Steering, to: &SyncSender<String>) {
        let (result, now) = (self.state.result(self.watch), self.state.now());
        let standing = result.as_deref().map(|result| Standing {
            result,
            now: now.as_ref(),
        });
        // The requester may have disconnected.
        drop(to.send(html::live(steering, &self.status(), standing)));
    }

    fn report(&self, to: &SyncSender<String>) {
        if let Some(result) = self.state.result(self.watch) {
            // The requester may have disconnected.
            drop(to.send(html::report(&result)));
        }
    }

    /// Everything: parts and charts.
    fn whole(&self) -> Bytes {
        let result = self.state.result(self.watch);
        let charts = result.as_ref().map(|result| html::chart_data(result));
        let parts = result.map_or_else(BTreeMap::new, |result| self.parts(&result));
        self.written("whole", &parts, charts.as_deref(), None)
    }

    /// The current parts, and each new row.
    fn news(&self) -> Vec<Bytes> {
        let result = self.state.result(self.watch);
        let Some(result) = result else {
            return vec![self.written("second", &BTreeMap::new(), None, None)];
        };
        let parts = self.parts(&result);
        let new = &self.state.rows()[self.rows_told..];
        if new.is_empty() {
            return vec![self.written("second", &parts, None, None)];
        }
        let rows = new.iter().map(|row| {
            let row = html::chart_row(row, &result);
            self.written("second", &parts, None, Some(&row))
        });
        rows.collect()
    }

    fn parts(&self, result: &RunResult) -> BTreeMap<&'static str, String> {
        let now = self.state.now();
        let parts = html::live_parts(Standing {
            result,
            now: now.as_ref(),
        });
        parts.into_iter().map(|part| (part.id, part.html)).collect()
    }

    fn written(
        &self,
        name: &str,
        parts: &BTreeMap<&str, String>,
        charts: Option<&str>,
        row: Option<&str>,
    ) -> Bytes {
        let told = json!({
            "phase": self.state.phase().name(),
            "status": self.status(),
            "parts": parts,
        });
        // The data of charts is JSON already.
        let mut told = told.to_string();
        for (name, json) in [("charts", charts), ("row", row)] {
            if let Some(json) = json {
                told.pop();
                told.push_str(&format!(",\"{name}\":{json}}}"));
            }
        }
        event(name, &told)
    }

    fn status(&self) -> String {
        let seconds = self.state.elapsed_ns() as f64 / 1e9;
        let missed = self.missed.load(Ordering::Relaxed);
        let status = match self.state.phase() {
            Phase::Preparing => "initializing virtual users".to_owned(),
            Phase::Waiting => "paused: press Resume to start".to_owned(),
            Phase::Setup => "setup() runs".to_owned(),
            Phase::Running => format!("running, {seconds:.0} s"),
            Phase::Ended => format!("ended after {seconds:.1} s"),
        };
        match missed {
            0 => status,
            missed => format!("{status}; this page missed {missed} of the run's events"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;

    use super::super::state::ROWS_SHOWN;
    use loadline_model::result::Row;
    use loadline_model::{RunEvent, Snapshot};
    use serde_json::Value;

    use super::super::readers::Place;
    use super::*;

    fn started() -> Told {
        let words = ["loadline", "bench", "h"].map(str::to_owned);
        Told::Run(Box::new(RunEvent::Started {
            plan: Arc::new(crate::plan::tests_support::plan_of(&words)),
            environment: Arc::default(),
            started_unix_ms: 7,
        }))
    }

    fn second(number: u64) -> Told {
        let mut delta = Snapshot::default();
        (delta.counts.started, delta.counts.completed) = (5, 5);
        Told::Run(Box::new(RunEvent::Second {
            row: Row {
                at_ns: number * 1_000_000_000,
                span_ns: 1_000_000_000,
                completed: 5,
                ..Row::default()
            },
            delta: Arc::new(delta),
        }))
    }

    /// A new reader and the events that it has received at the end.
    fn joins() -> (Told, impl FnOnce() -> Vec<(String, Value)>) {
        let place = Place::take(&Arc::default()).expect("a place");
        let (reader, mut channel) = Reader::new(Arc::default(), place);
        let heard = move || {
            let mut events = Vec::new();
            while let Ok(event) = channel.try_recv() {
                let text = String::from_utf8(event.to_vec()).expect("text");
                let (name, data) = text.split_once("\ndata: ").expect("an event has data");
                let data = serde_json::from_str(data).expect("which are JSON");
                events.push((name.to_owned(), data));
            }
            events
        };
        (Told::Reader(reader), heard)
    }

    fn told(all: Vec<Told>) {
        let (sender, receiver) = mpsc::channel();
        for one in all {
            sender.send(one).expect("it is there");
        }
        drop(sender);
        tell(&receiver, None, &AtomicU64::new(0));
    }

    #[test]
    fn a_late_reader_is_told_everything_and_then_what_is_new() {
        let (reader, heard) = joins();
        told(vec![
            started(),
            second(0),
            second(1),
            reader,
            second(2),
            Told::Close,
        ]);
        let events = heard();
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["event: whole", "event: second"]);
        let (_, whole) = &events[0];
        assert_eq!(whole["charts"]["completed"], json!([5, 5]));
        assert_eq!(whole["phase"], "running");
        let (_, news) = &events[1];
        assert_eq!(news["row"]["row"]["at"], json!(2_000_000_000_u64));
        let answered = news["parts"]["figures"].as_str().expect("markup");
        assert!(answered.contains("<dd>15</dd>"), "{answered}");
        assert!(news.get("charts").is_none());
    }

    #[test]
    fn halved_rows_are_told_whole() {
        let last = ROWS_SHOWN as u64 - 1;
        let (reader, heard) = joins();
        let mut all = vec![started()];
        all.extend((0..last).map(second));
        all.extend([reader, second(last)]);
        told(all);
        let events = heard();
        assert_eq!(events.len(), 2);
        let (name, whole) = &events[1];
        assert_eq!(name, "event: whole");
        let spans = whole["charts"]["span"].as_array().expect("a column");
        assert_eq!(
            (spans.len(), spans[0].as_f64()),
            (ROWS_SHOWN / 2, Some(2e9))
        );
    }

    #[test]
    fn the_report_of_what_was_measured_so_far_can_be_had() {
        let (to, report) = mpsc::sync_channel(1);
        told(vec![started(), second(0), Told::Report(to)]);
        let report = report.recv().expect("a report");
        assert!(report.starts_with("<!DOCTYPE html>"));
        let (to, none) = mpsc::sync_channel(1);
        told(vec![Told::Report(to)]);
        assert!(none.recv().is_err());
    }

    #[test]
    fn a_page_is_served_with_what_is_known() {
        let (to, page) = mpsc::sync_channel(1);
        let steering = Steering::default();
        told(vec![
            started(),
            second(0),
            second(1),
            Told::Page(steering, to),
        ]);
        let page = page.recv().expect("a page");
        assert!(page.contains("\"completed\":[5,5]"), "its charts have rows");
        assert!(
            page.contains("<dd class=\"now\">now <b>0/s</b>"),
            "{page:.200}"
        );
        assert!(page.contains(">running, 2 s</p>"));
    }

    #[test]
    fn the_start_is_told_whole() {
        let (reader, heard) = joins();
        told(vec![reader, started(), second(0)]);
        let events = heard();
        let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["event: whole", "event: whole", "event: second"]);
        assert_eq!(events[1].1["charts"]["began"], json!(7));
    }

    #[test]
    fn before_the_start_a_page_says_what_is_waited_for() {
        use loadline_model::event::Before;
        let (reader, heard) = joins();
        told(vec![
            Told::Run(Box::new(RunEvent::Before(Before::Paused))),
            reader,
        ]);
        let events = heard();
        assert_eq!(events[0].1["phase"], "waiting");
        assert_eq!(events[0].1["parts"], json!({}));
    }
}
