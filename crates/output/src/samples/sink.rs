//! The thread that writes samples.
//!
//! Must not know the row's layout. Invariant: written + lost = samples received. A batch is written in one
//! piece, so the disk contains complete rows up to an error.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};

use loadline_model::sample::Sample;

use super::encode::Rows;

/// The outcome of the samples.
#[derive(Debug, Default)]
pub struct SamplesReport {
    /// Samples whose rows were written.
    pub written: u64,
    /// Samples of the batch with the write error, and all after it.
    pub lost: u64,
    /// The write error; `None` when every row was written.
    pub error: Option<io::Error>,
}

/// A running thread that writes samples as they come.
#[derive(Debug)]
pub struct SampleSink {
    thread: JoinHandle<SamplesReport>,
}

impl SampleSink {
    /// Writes `header` (with its line end, or empty) and then a row for each received sample, until the sender
    /// is dropped. `format` appends a row with its line end.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(
        mut destination: impl Write + Send + 'static,
        header: String,
        receiver: Receiver<Vec<Sample>>,
        format: impl FnMut(&Sample, &mut String) + Send + 'static,
    ) -> io::Result<SampleSink> {
        let thread = thread::Builder::new()
            .name("samples".to_owned())
            .spawn(move || drain(&receiver, &mut destination, &header, Rows::new(format)))?;
        Ok(SampleSink { thread })
    }

    /// Waits for the last sample and returns the report. The sender must have been dropped, or this waits until
    /// it is.
    #[must_use]
    pub fn finish(self) -> SamplesReport {
        self.thread.join().unwrap_or_else(|_| SamplesReport {
            error: Some(io::Error::other(
                "the row formatter failed; this is a defect of loadline",
            )),
            ..SamplesReport::default()
        })
    }
}

fn drain<F: FnMut(&Sample, &mut String)>(
    receiver: &Receiver<Vec<Sample>>,
    destination: &mut impl Write,
    header: &str,
    mut rows: Rows<F>,
) -> SamplesReport {
    let error = put(destination, header.as_bytes()).err();
    let mut report = SamplesReport {
        error,
        ..SamplesReport::default()
    };
    for batch in receiver {
        if report.error.is_none() {
            report.error = put(destination, rows.of(&batch)).err();
        }
        let fate = if report.error.is_none() {
            &mut report.written
        } else {
            &mut report.lost
        };
        *fate += batch.len() as u64;
    }
    report
}

fn put(destination: &mut impl Write, text: &[u8]) -> io::Result<()> {
    destination.write_all(text)?;
    destination.flush()
}
