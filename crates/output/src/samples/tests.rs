//! The samples' thread, with disks that accept everything, little or nothing.

use std::io;
use std::sync::mpsc::{Receiver, channel, sync_channel};

use loadline_model::sample::Sample;

use super::SampleSink;
use crate::disk::Disk;
use crate::fixture::sample;

fn start(disk: &Disk, receiver: Receiver<Vec<Sample>>) -> SampleSink {
    let row = |sample: &Sample, out: &mut String| {
        out.push_str(&format!("{},{}\n", sample.start_ns, sample.status));
    };
    SampleSink::start(disk.clone(), "start,status\n".to_owned(), receiver, row).unwrap()
}

#[test]
fn every_sample_becomes_a_row_under_the_header() {
    let disk = Disk::with_room(1_000);
    let (sender, receiver) = channel();
    let sink = start(&disk, receiver);
    sender.send(vec![sample(1), sample(2)]).unwrap();
    sender.send(vec![sample(3)]).unwrap();
    drop(sender);
    let report = sink.finish();
    assert_eq!((report.written, report.lost), (3, 0));
    assert!(report.error.is_none());
    assert_eq!(disk.text(), "start,status\n1,200\n2,200\n3,200\n");
}

#[test]
fn a_full_disk_is_told_at_the_end_and_never_holds_up_the_sender() {
    let disk = Disk::with_room(30);
    let (sender, receiver) = sync_channel(1);
    let sink = start(&disk, receiver);
    for number in 0..1_000 {
        sender
            .send(vec![sample(number), sample(number)])
            .expect("the channel is drained");
    }
    drop(sender);
    let report = sink.finish();
    assert_eq!(
        report.error.map(|error| error.kind()),
        Some(io::ErrorKind::StorageFull)
    );
    assert_eq!(report.written + report.lost, 2_000);
    assert_eq!(
        report.written, 2,
        "the first batch fitted, the second did not"
    );
}

#[test]
fn a_disk_that_takes_nothing_loses_every_sample_and_says_so() {
    let (sender, receiver) = channel();
    let sink = start(&Disk::with_room(0), receiver);
    sender.send(vec![sample(1)]).unwrap();
    drop(sender);
    let report = sink.finish();
    assert_eq!((report.written, report.lost), (0, 1));
    assert!(report.error.is_some());
}

#[test]
fn a_formatter_that_panics_is_an_error_at_the_end() {
    let (sender, receiver) = channel();
    let sink =
        SampleSink::start(io::sink(), String::new(), receiver, |_, _| panic!("no row")).unwrap();
    sender.send(vec![sample(1)]).unwrap();
    drop(sender);
    assert!(sink.finish().error.is_some());
}
