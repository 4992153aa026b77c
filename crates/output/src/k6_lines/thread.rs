//! The thread that encodes values as lines and writes them.
//!
//! Must not know a format's layout. Invariant: written + lost = values received. Lines are written as soon as
//! no further batch is waiting, and in large pieces if batches arrive faster than the disk writes.

use std::io;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::{self, JoinHandle};

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::describe::MetricDescription;
use super::destination::Destination;
use crate::report::{OnTrouble, SinkReport};

/// Maximum bytes collected before they are written, not counting the last batch.
const PIECE_BYTES: usize = 256 << 10;

/// Encodes values as lines.
pub(crate) trait Lines: Send + 'static {
    /// Text before the first value.
    fn head(&mut self, out: &mut Vec<u8>);
    /// The lines of values; `describe` returns a metric's definition.
    fn append(
        &mut self,
        values: &TaggedValues,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    );
}

/// A running thread that writes values as they arrive.
#[derive(Debug)]
pub struct LineSink {
    thread: JoinHandle<SinkReport>,
}

impl LineSink {
    pub(crate) fn start(
        name: &str,
        lines: impl Lines,
        destination: Destination,
        receiver: Receiver<Vec<TaggedValues>>,
        describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
        on_trouble: OnTrouble,
    ) -> io::Result<LineSink> {
        let writer = Writer {
            destination,
            piece: Vec::new(),
            in_piece: 0,
            report: SinkReport::default(),
            on_trouble,
        };
        let thread = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || writer.drain(&receiver, lines, describe))?;
        Ok(LineSink { thread })
    }

    /// Waits for the last value and returns the report. The senders must have been dropped, or this waits until
    /// they are.
    #[must_use]
    pub fn finish(self) -> SinkReport {
        self.thread
            .join()
            .unwrap_or_else(|_| SinkReport::of_a_defect())
    }
}

struct Writer {
    destination: Destination,
    /// Lines not written yet, and the number of their values.
    piece: Vec<u8>,
    in_piece: u64,
    report: SinkReport,
    on_trouble: OnTrouble,
}

impl Writer {
    fn drain(
        mut self,
        receiver: &Receiver<Vec<TaggedValues>>,
        mut lines: impl Lines,
        mut describe: impl FnMut(MetricId) -> MetricDescription,
    ) -> SinkReport {
        lines.head(&mut self.piece);
        self.write();
        while let Some(batch) = self.next(receiver) {
            for values in &batch {
                self.in_piece += values.values.len() as u64;
                if self.report.error.is_none() {
                    lines.append(values, &mut describe, &mut self.piece);
                }
            }
            if self.piece.len() >= PIECE_BYTES {
                self.write();
            }
        }
        self.write();
        if let Err(error) = self.destination.finish() {
            self.report.error.get_or_insert(error);
        }
        self.report
    }

    /// The next batch; writes before waiting for one. `None` at the end.
    fn next(&mut self, receiver: &Receiver<Vec<TaggedValues>>) -> Option<Vec<TaggedValues>> {
        match receiver.try_recv() {
            Ok(batch) => Some(batch),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                self.write();
                receiver.recv().ok()
            }
        }
    }

    fn write(&mut self) {
        if self.report.error.is_none() && !self.piece.is_empty() {
            let error = self.destination.write(&self.piece).err();
            if let Some(error) = &error {
                (self.on_trouble)(&error.to_string());
            }
            self.report.error = error;
        }
        let fate = if self.report.error.is_none() {
            &mut self.report.written
        } else {
            &mut self.report.lost
        };
        *fate += std::mem::take(&mut self.in_piece);
        self.piece.clear();
    }
}
