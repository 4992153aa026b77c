//! Compares lines of JSON with those that k6 v2.2.0 wrote for the same values.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;

use loadline_metric::MetricId;

use super::encode::JsonLines;
use crate::k6_lines::Destination;
use crate::k6_lines::recorded::{Recorded, recorded};

#[test]
fn lines_are_k6s_byte_for_byte() {
    let ours = Recorded::read().lines(JsonLines::default());
    for (our_line, k6s_line) in ours.lines().zip(recorded("samples.jsonl").lines()) {
        assert_eq!(our_line, k6s_line);
    }
    assert_eq!(ours, recorded("samples.jsonl"));
}

#[test]
fn the_thread_writes_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.json");
    let read = Recorded::read();
    let (sender, receiver) = sync_channel(1);
    let metrics = read.metrics;
    let describe = move |id: MetricId| metrics[id.0 as usize].clone();
    let sink = super::start(
        Destination::create(&path).unwrap(),
        receiver,
        describe,
        Arc::new(|_| {}),
    )
    .unwrap();
    let written = read.values.len() as u64;
    sender.send(read.values).unwrap();
    drop(sender);
    let report = sink.finish();
    assert_eq!((report.written, report.lost), (written, 0));
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        recorded("samples.jsonl")
    );
}
