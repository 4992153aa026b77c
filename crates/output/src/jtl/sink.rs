//! The thread of the rows.
//!
//! Must not know the layout. Invariant: as for [`LineSink`].

use std::io;
use std::sync::mpsc::Receiver;

use loadline_metric::MetricId;
use loadline_model::sample::TaggedValues;

use super::encode::JtlLines;
use crate::k6_lines::{Destination, LineSink, MetricDescription};
use crate::report::OnTrouble;

/// Writes a header and a row for each request among the received values, until the senders are dropped.
/// `on_trouble` is called when writing starts to fail.
///
/// # Errors
/// No thread can be started.
pub fn start(
    destination: Destination,
    receiver: Receiver<Vec<TaggedValues>>,
    describe: impl FnMut(MetricId) -> MetricDescription + Send + 'static,
    on_trouble: OnTrouble,
) -> io::Result<LineSink> {
    LineSink::start(
        "jtl",
        JtlLines::default(),
        destination,
        receiver,
        describe,
        on_trouble,
    )
}
