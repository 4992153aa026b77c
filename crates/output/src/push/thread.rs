//! The thread that encodes values into pieces and passes them to a carrier.
//!
//! Must not know a layout or a protocol, nor clocks: a piece is as old as the time span of its values.
//! Invariant: a value is in exactly one piece; a piece waits for more values no longer than the interval.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::ending::Ending;
use crate::k6_lines::{Lines, MetricDescription};
use crate::report::SinkReport;

/// Some values, encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    /// The number of values.
    pub(crate) values: u64,
}

/// Delivers pieces.
pub(crate) trait Carrier: Send + 'static {
    /// Size at which a piece is passed on without waiting for more.
    fn piece_bytes(&self) -> usize;
    /// Takes a piece; may block until there is room.
    fn carry(&mut self, piece: Piece);
    /// Waits for the outcome of the last piece.
    fn finish(self) -> SinkReport;
}

/// Settings of the thread.
pub(crate) struct Pushing<L, C> {
    /// The thread's name.
    pub(crate) name: &'static str,
    /// The encoder.
    pub(crate) lines: L,
    /// Where they go.
    pub(crate) carrier: C,
    /// How long a piece waits for more values.
    pub(crate) interval: Duration,
    /// Notifies the carrier that the run has ended, however many pieces it still has.
    pub(crate) ending: Arc<Ending>,
}

/// A running thread that sends values as they come.
#[derive(Debug)]
pub struct PushSink {
    thread: JoinHandle<SinkReport>,
    ending: Arc<Ending>,
}

impl PushSink {
    pub(crate) fn start<L: Lines, C: Carrier>(
        pushing: Pushing<L, C>,
        receiver: Receiver<Vec<TaggedValues>>,
        describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
    ) -> io::Result<PushSink> {
        let ending = Arc::clone(&pushing.ending);
        let thread = thread::Builder::new()
            .name(pushing.name.to_owned())
            .spawn(move || drain(pushing, &receiver, describe))?;
        Ok(PushSink { thread, ending })
    }

    /// Waits for the outcome of the last value and returns the report. The senders must have been dropped, or
    /// this waits until they are.
    #[must_use]
    pub fn finish(self) -> SinkReport {
        self.ending.come();
        self.thread
            .join()
            .unwrap_or_else(|_| SinkReport::of_a_defect())
    }
}

fn drain<L: Lines, C: Carrier>(
    mut pushing: Pushing<L, C>,
    receiver: &Receiver<Vec<TaggedValues>>,
    mut describe: impl FnMut(MetricId) -> MetricDescription,
) -> SinkReport {
    let mut open = Open::default();
    loop {
        match receiver.recv_timeout(pushing.interval) {
            Ok(batch) => {
                for values in &batch {
                    open.add(values, &mut pushing.lines, &mut describe);
                    if open.piece.bytes.len() >= pushing.carrier.piece_bytes() {
                        open.close(&mut pushing.carrier);
                    }
                }
                if open.age() >= pushing.interval {
                    open.close(&mut pushing.carrier);
                }
            }
            Err(RecvTimeoutError::Timeout) => open.close(&mut pushing.carrier),
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    open.close(&mut pushing.carrier);
    pushing.carrier.finish()
}

/// The piece that values are added to.
#[derive(Default)]
struct Open {
    piece: Piece,
    /// The times of its oldest and newest value.
    times_ns: Option<(u64, u64)>,
}

impl Open {
    fn add(
        &mut self,
        values: &TaggedValues,
        lines: &mut impl Lines,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
    ) {
        lines.append(values, describe, &mut self.piece.bytes);
        self.piece.values += values.values.len() as u64;
        let at = values.time_unix_ns;
        let (oldest, newest) = self.times_ns.unwrap_or((at, at));
        self.times_ns = Some((oldest.min(at), newest.max(at)));
    }

    fn age(&self) -> Duration {
        let (oldest, newest) = self.times_ns.unwrap_or_default();
        Duration::from_nanos(newest - oldest)
    }

    fn close(&mut self, carrier: &mut impl Carrier) {
        self.times_ns = None;
        if self.piece.values > 0 {
            carrier.carry(mem::take(&mut self.piece));
        }
    }
}
