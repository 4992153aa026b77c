//! The thread of the rows.
//!
//! Must not know the layout. Invariant: as for [`LineSink`]. Rows are on the disk as soon as it can
//! take them, so k6's save interval has nothing to wait for.

use std::io;
use std::sync::mpsc::Receiver;

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::encode::{CsvLines, CsvOptions};
use crate::k6_lines::{Destination, LineSink, MetricDescription};
use crate::report::OnTrouble;

/// Writes a header, and a row for each value received until the sending ends are dropped;
/// `describe` tells what a metric is, and is asked once per metric; `on_trouble` is told when the
/// destination begins to fail.
///
/// # Errors
/// When no thread can be started.
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
