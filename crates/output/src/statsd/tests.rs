//! Messages of every kind, hostile tags, and sockets that are there, late and gone.

use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::sample::TaggedValues;
use proptest::prelude::*;

use super::encode::Messages;
use super::{DatagramAddress, StatsdSettings};
use crate::SinkReport;
use crate::k6_lines::{Lines, MetricDescription};

fn describe(id: MetricId) -> MetricDescription {
    MetricDescription {
        definition: BuiltIn::ALL[id.0 as usize].definition(),
        thresholds: Vec::new(),
        sub_metrics: Vec::new(),
    }
}

fn values(tags: TagSet, values: &[(BuiltIn, f64)]) -> TaggedValues {
    TaggedValues {
        request: None,
        time_unix_ns: 1,
        tags: Arc::new(tags),
        metadata: Some(Arc::new(TagSet::new().with("vu", "7"))),
        values: values
            .iter()
            .map(|(metric, value)| (metric.id(), *value))
            .collect(),
    }
}

fn messages(blocked: Option<&[&str]>, values: &TaggedValues) -> String {
    let blocked = blocked.map(|tags| tags.iter().map(|tag| (*tag).to_owned()).collect());
    let mut out = Vec::new();
    Messages::new("k6.".to_owned(), blocked).append(values, &mut describe, &mut out);
    String::from_utf8(out).expect("messages are text")
}

#[test]
fn each_kind_of_metric_has_its_type() {
    let all = values(
        TagSet::new().with("method", "GET"),
        &[
            (BuiltIn::HttpReqs, 1.0),
            (BuiltIn::HttpReqDuration, 0.348_768),
            (BuiltIn::Vus, 20.0),
            (BuiltIn::HttpReqFailed, 0.0),
        ],
    );
    assert_eq!(
        messages(None, &all),
        "k6.http_reqs:1|c\nk6.http_req_duration:0.348768|ms\nk6.vus:20|g\nk6.http_req_failed:0|c\n"
    );
    let check = TagSet::new().with("check", "is: 200|x");
    let held = |value| values(check.clone(), &[(BuiltIn::Checks, value)]);
    assert_eq!(messages(None, &held(1.0)), "k6.check.is_ 200_x.pass:1|c\n");
    assert_eq!(messages(None, &held(0.0)), "k6.check.is_ 200_x.fail:1|c\n");
}

#[test]
fn tags_are_told_but_for_those_that_are_blocked() {
    let tags = TagSet::new()
        .with("group", "")
        .with("method", "GET")
        .with("name", "a,b|c")
        .with("url", "http://h/");
    let one = values(tags, &[(BuiltIn::HttpReqs, 1.0)]);
    assert_eq!(
        messages(Some(&["vu", "iter", "url"]), &one),
        "k6.http_reqs:1|c|#method:GET,name:a_b_c\n"
    );
    assert_eq!(
        messages(Some(&["name"]), &one),
        "k6.http_reqs:1|c|#method:GET,url:http://h/,vu:7\n"
    );
}

proptest! {
    #[test]
    fn whatever_tags_hold_a_value_is_one_message(
        tags in proptest::collection::btree_map("[a-z:|,#@\n]{1,4}", "[a-z:|,#@\n\r]{0,6}", 0..5),
    ) {
        let set: TagSet = tags.clone().into_iter().collect();
        let text = messages(Some(&["vu"]), &values(set, &[(BuiltIn::HttpReqs, 1.0)]));
        prop_assert_eq!(text.matches('\n').count(), 1);
        let told = tags.values().filter(|value| !value.is_empty()).count();
        let rest = text.trim_end().strip_prefix("k6.http_reqs:1|c").expect("it begins so");
        let read: Vec<&str> = match rest.strip_prefix("|#") {
            Some(rest) => rest.split(',').collect(),
            None => Vec::new(),
        };
        prop_assert_eq!(read.len(), told);
        prop_assert!(read.iter().all(|tag| tag.contains(':') && !tag.contains('|')));
    }
}

fn send(address: DatagramAddress, batches: Vec<usize>) -> (SinkReport, Vec<String>) {
    let settings = StatsdSettings {
        address,
        namespace: String::new(),
        buffer_size: 3,
        push_interval: Duration::from_secs(60),
        blocked_tags: None,
    };
    let (sender, receiver) = sync_channel(1);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_trouble = Arc::new(move |why: &str| tell.lock().unwrap().push(why.to_owned()));
    let sink = super::start(settings, receiver, describe, on_trouble).expect("it starts");
    for count in batches {
        let one = values(TagSet::new(), &[(BuiltIn::HttpReqs, 1.0)]);
        sender.send(vec![one; count]).expect("it listens");
    }
    drop(sender);
    let report = sink.finish();
    let told = told.lock().unwrap().clone();
    (report, told)
}

#[test]
fn datagrams_of_so_many_messages_arrive() {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let address = receiver.local_addr().expect("it has one").to_string();
    let (report, told) = send(DatagramAddress::Udp(address), vec![4, 3]);
    assert_eq!((report.written, report.lost), (7, 0));
    assert!(told.is_empty());
    let mut sizes = Vec::new();
    for _ in 0..3 {
        let mut datagram = [0; 100];
        let length = receiver.recv(&mut datagram).expect("it was sent");
        let text = std::str::from_utf8(&datagram[..length]).expect("it is text");
        assert!(text.lines().all(|line| line == "http_reqs:1|c"));
        sizes.push(text.lines().count());
    }
    assert_eq!(sizes, [3, 3, 1]);
}

#[test]
fn a_socket_of_this_machine_is_written_to() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("socket");
    let receiver = UnixDatagram::bind(&path).expect("there is room");
    let (report, _) = send(DatagramAddress::Unix(path.clone()), vec![2]);
    assert_eq!((report.written, report.lost), (2, 0));
    let mut datagram = [0; 100];
    let length = receiver.recv(&mut datagram).expect("it was sent");
    assert_eq!(&datagram[..length], b"http_reqs:1|c\nhttp_reqs:1|c");
    drop(receiver);
    let (report, told) = send(DatagramAddress::Unix(path), vec![2, 2]);
    assert_eq!((report.written, report.lost), (0, 4));
    assert_eq!(told.len(), 1, "it is told once");
}

#[test]
fn addresses_are_read() {
    let read = |text: &str| {
        text.parse::<DatagramAddress>()
            .unwrap_or_else(|never| match never {})
    };
    assert_eq!(
        read("unix:///run/dsd.socket"),
        DatagramAddress::Unix("/run/dsd.socket".into())
    );
    assert_eq!(read("udp://h:1"), DatagramAddress::Udp("h:1".to_owned()));
    assert_eq!(read("h:1").to_string(), "h:1");
    assert_eq!(read("unix:///a").to_string(), "unix:///a");
}
