//! The thread that writes the rows.
//!
//! Must not know the layout. Invariant: as for [`LineSink`]. Rows are written as soon as the disk allows, so
//! k6's save interval has no effect.

use std::io;
use std::sync::mpsc::Receiver;

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::encode::{CsvLines, CsvOptions};
use crate::k6_lines::{Destination, LineSink, MetricDescription};
use crate::report::OnTrouble;

/// Writes a header and a row for each received value, until the senders are dropped. `describe` returns a
/// metric's definition and is called once per metric; `on_trouble` is called when writing starts to fail.
///
/// # Errors
/// No thread can be started.
pub fn start(
    destination: Destination,
    options: CsvOptions,
    receiver: Receiver<Vec<TaggedValues>>,
    describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
    on_trouble: OnTrouble,
) -> io::Result<LineSink> {
    LineSink::start(
        "k6 csv",
        CsvLines::new(options),
        destination,
        receiver,
        describe,
        on_trouble,
    )
}
