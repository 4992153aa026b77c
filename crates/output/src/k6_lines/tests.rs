//! The thread of the line formats, with disks that accept everything, little or nothing.

use std::fs;
use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};

use flate2::read::GzDecoder;
use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::sample::TaggedValues;

use super::{Destination, LineSink, Lines, MetricDescription};
use crate::disk::Disk;
use crate::report::OnTrouble;

/// A line per value, and nothing else.
struct Numbers;

impl Lines for Numbers {
    fn head(&mut self, out: &mut Vec<u8>) {
        out.extend(b"head\n");
    }

    fn append(
        &mut self,
        values: &TaggedValues,
        describe: &mut dyn FnMut(MetricId) -> MetricDescription,
        out: &mut Vec<u8>,
    ) {
        for (metric, value) in &values.values {
            let name = describe(*metric).definition.name;
            writeln!(out, "{name} {value}").unwrap();
        }
    }
}

fn batch(values: &[f64]) -> Vec<TaggedValues> {
    let one = |value: &f64| TaggedValues {
        request: None,
        time_unix_ns: 0,
        tags: Arc::new(TagSet::new()),
        metadata: None,
        values: vec![(BuiltIn::HttpReqs.id(), *value)],
    };
    values.iter().map(one).collect()
}

fn start(destination: Destination, receiver: Receiver<Vec<TaggedValues>>) -> LineSink {
    start_telling(destination, receiver, Arc::new(|_| {}))
}

fn start_telling(
    destination: Destination,
    receiver: Receiver<Vec<TaggedValues>>,
    on_trouble: OnTrouble,
) -> LineSink {
    let describe = |id: MetricId| MetricDescription {
        definition: BuiltIn::ALL[id.0 as usize].definition(),
        thresholds: Vec::new(),
        sub_metrics: Vec::new(),
    };
    LineSink::start("test", Numbers, destination, receiver, describe, on_trouble).unwrap()
}

#[test]
fn every_value_becomes_a_line_under_the_head() {
    let disk = Disk::with_room(1_000);
    let (sender, receiver) = sync_channel(4);
    let sink = start(Destination::stream(disk.clone()), receiver);
    sender.send(batch(&[1.0, 2.0])).unwrap();
    sender.send(batch(&[3.5])).unwrap();
    drop(sender);
    let report = sink.finish();
    assert_eq!((report.written, report.lost), (3, 0));
    assert!(report.error.is_none());
    assert_eq!(
        disk.text(),
        "head\nhttp_reqs 1\nhttp_reqs 2\nhttp_reqs 3.5\n"
    );
}

#[test]
fn a_full_disk_is_told_at_the_end_and_never_holds_up_the_sender() {
    let disk = Disk::with_room(20);
    let (sender, receiver) = sync_channel(1);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_trouble: OnTrouble = Arc::new(move |why| tell.lock().unwrap().push(why.to_owned()));
    let sink = start_telling(Destination::stream(disk), receiver, on_trouble);
    for _ in 0..500 {
        sender
            .send(batch(&[1.0, 2.0]))
            .expect("the channel is drained");
    }
    drop(sender);
    let report = sink.finish();
    let kind = report.error.map(|error| error.kind());
    assert_eq!(kind, Some(io::ErrorKind::StorageFull));
    assert_eq!((report.written, report.lost), (0, 1_000));
    assert_eq!(told.lock().unwrap().len(), 1, "it is told once");
}

#[test]
fn a_name_that_ends_in_zst_asks_for_zstandard() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.ndjson.zst");
    let (sender, receiver) = sync_channel(1);
    let sink = start(Destination::create(&path).unwrap(), receiver);
    sender.send(batch(&[7.0])).unwrap();
    drop(sender);
    assert!(sink.finish().error.is_none());
    let text = zstd::decode_all(&*fs::read(&path).unwrap()).unwrap();
    assert_eq!(text, b"head\nhttp_reqs 7\n");
}

#[test]
fn a_name_that_ends_in_gz_asks_for_gzip() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv.gz");
    let (sender, receiver) = sync_channel(1);
    let sink = start(Destination::create(&path).unwrap(), receiver);
    sender.send(batch(&[7.0])).unwrap();
    drop(sender);
    assert!(sink.finish().error.is_none());
    let mut text = String::new();
    GzDecoder::new(&*fs::read(&path).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    assert_eq!(text, "head\nhttp_reqs 7\n");
    assert!(Destination::create(&folder.path().join("none/out.csv")).is_err());
}
