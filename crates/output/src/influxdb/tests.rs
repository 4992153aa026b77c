//! Compares points with those that k6 v2.2.0 posted for the same values; hostile tags; a server.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use loadline_metric::{BuiltIn, MetricId, TagSet};
use loadline_model::sample::TaggedValues;
use proptest::prelude::*;

use super::encode::Points;
use super::{FieldKind, InfluxSettings, InfluxTarget, Precision};
use crate::GiveUp;
use crate::k6_lines::recorded::{Recorded, recorded};
use crate::k6_lines::{Lines, MetricDescription};

fn fields(names: &[(&str, FieldKind)]) -> Vec<(String, FieldKind)> {
    let owned = |(name, kind): &(&str, FieldKind)| ((*name).to_owned(), *kind);
    names.iter().map(owned).collect()
}

fn describe(id: MetricId) -> MetricDescription {
    MetricDescription {
        definition: BuiltIn::ALL[id.0 as usize].definition(),
        thresholds: Vec::new(),
        sub_metrics: Vec::new(),
    }
}

fn line(points: &mut Points, values: &TaggedValues) -> String {
    let mut out = Vec::new();
    points.append(values, &mut describe, &mut out);
    String::from_utf8(out).expect("points are text")
}

fn values(tags: TagSet, metadata: Option<TagSet>) -> TaggedValues {
    TaggedValues {
        request: None,
        time_unix_ns: 1_795_280_847_503_584_142,
        tags: Arc::new(tags),
        metadata: metadata.map(Arc::new),
        values: vec![(BuiltIn::HttpReqDuration.id(), 0.348_768)],
    }
}

#[test]
fn points_are_k6s_byte_for_byte() {
    let points = Points::new(fields(&[("url", FieldKind::Text)]), Precision::Nanosecond);
    let ours = Recorded::read().lines(points);
    let k6s = recorded("samples.lines");
    // k6's first point is invalid: a line end in a tag splits it in two.
    let k6s: Vec<&str> = k6s.lines().skip(2).collect();
    assert_eq!(ours.lines().skip(1).collect::<Vec<_>>(), k6s);
    assert!(
        ours.starts_with("t1,a=b,q=é<>&\"\\\\n\\t\\u0001\u{2028},run=r\\ &\\ x\\,\"q\","),
        "{ours}"
    );
    assert_eq!(ours.lines().count(), Recorded::read().values.len());
}

#[test]
fn fields_have_kinds_and_metadata_can_be_fields() {
    let kinds = [
        ("vu", FieldKind::Int),
        ("status", FieldKind::Int),
        ("expected_response", FieldKind::Bool),
        ("share", FieldKind::Float),
        ("method", FieldKind::Int),
        ("url", FieldKind::Text),
    ];
    let mut points = Points::new(fields(&kinds), Precision::Millisecond);
    let tags = TagSet::new()
        .with("expected_response", "true")
        .with("group", "")
        .with("method", "GET")
        .with("name", "a b")
        .with("share", "0.50")
        .with("status", "200")
        .with("url", "http://h/?q=\"\\\n");
    let metadata = TagSet::new().with("iter", "4").with("vu", "3");
    assert_eq!(
        line(&mut points, &values(tags, Some(metadata))),
        "http_req_duration,name=a\\ b expected_response=true,method=\"GET\",share=0.5,status=200i,\
         url=\"http://h/?q=\\\"\\\\\\\\n\",vu=3i,value=0.348768 1795280847503\n"
    );
}

#[test]
fn two_values_of_one_instant_stay_two() {
    let mut points = Points::new(Vec::new(), Precision::Nanosecond);
    let same = values(TagSet::new().with("a", "b"), None);
    let instants: Vec<String> = (0..3)
        .map(|_| line(&mut points, &same))
        .map(|line| {
            line.rsplit(' ')
                .next()
                .expect("it has an instant")
                .to_owned()
        })
        .collect();
    assert_eq!(
        instants,
        [
            "1795280847503584142\n",
            "1795280847503584143\n",
            "1795280847503584144\n"
        ]
    );
}

#[test]
fn a_precision_has_a_name_in_each_version() {
    let read = |name: &str| name.parse::<Precision>().expect("it is a precision");
    assert_eq!(read("us").name_in_v1(), "u");
    assert_eq!(read("u").name(), "us");
    assert_eq!(read("").name(), "ns");
    assert_eq!(read("h").unit_ns(), 3_600_000_000_000);
    assert!("d".parse::<Precision>().is_err());
}

/// Parses a point as InfluxDB does: a backslash also takes the next character.
fn parsed(line: &str) -> (Vec<(String, String)>, String) {
    let mut parts = vec![String::new()];
    let mut chars = line.chars();
    let mut rest = String::new();
    while let Some(c) = chars.next() {
        let part = parts.last_mut().expect("there is one");
        match c {
            '\\' => {
                let next = chars.next().expect("no backslash is at the end");
                match next {
                    ',' | ' ' | '=' => part.extend(['\u{1}', next]),
                    other => part.extend(['\\', other]),
                }
            }
            ',' => parts.push(String::new()),
            ' ' => {
                rest = chars.collect();
                break;
            }
            c => part.push(c),
        }
    }
    let tags = parts.iter().skip(1).map(|part| {
        let unescaped = |text: &str| text.replace('\u{1}', "");
        let at = part
            .char_indices()
            .find(|(at, c)| *c == '=' && !part[..*at].ends_with('\u{1}'))
            .map(|(at, _)| at)
            .expect("a tag has a value");
        (unescaped(&part[..at]), unescaped(&part[at + 1..]))
    });
    (tags.collect(), rest)
}

proptest! {
    #[test]
    fn whatever_tags_hold_a_value_is_one_line_with_them(
        tags in proptest::collection::btree_map("[a-z ,=\\\\\"\n\t]{1,5}", "[a-zé ,=\\\\\"\n\r\u{7}]{1,8}", 0..5),
        field in "[a-z \\\\\"\n,=]{0,8}",
    ) {
        let mut points = Points::new(fields(&[("field", FieldKind::Text)]), Precision::Nanosecond);
        let mut set: TagSet = tags.clone().into_iter().collect();
        set.set("field", field.as_str());
        let line = line(&mut points, &values(set, None));
        prop_assert_eq!(line.matches('\n').count(), 1);
        let (read, rest) = parsed(line.trim_end());
        let plain = |text: &str| {
            text.replace(['\\', '/'], "|")
                .replace('\n', "|n")
                .replace('\r', "|r")
                .replace('\t', "|t")
                .replace('\u{7}', "|u0007")
        };
        let given: Vec<_> = tags.iter().map(|(name, value)| (plain(name), plain(value))).collect();
        let read: Vec<_> = read.iter().map(|(name, value)| (plain(name), plain(value))).collect();
        prop_assert_eq!(read, given);
        prop_assert!(rest.ends_with("value=0.348768 1795280847503584142"), "{}", rest);
        let quoted = rest.strip_prefix("field=").map(|rest| &rest[..rest.len() - "value=0.348768 1795280847503584142".len() - 1]);
        if let Some(quoted) = quoted {
            let inner = &quoted[1..quoted.len() - 1];
            let unescaped = inner.replace("\\\\", "|").replace("\\\"", "\"");
            prop_assert!(!unescaped.contains('\\'));
            prop_assert_eq!(unescaped, field.replace('\\', "|").replace('\n', "|n"));
        }
    }
}

/// A server that answers requests one after another, each on its own connection.
fn server(answers: Vec<&'static str>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = format!("http://{}", listener.local_addr().expect("it has one"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            requests.lock().unwrap().push(request(&mut stream));
            let close = "Connection: close\r\n";
            let (head, body) = answer.split_once('|').unwrap_or((answer, ""));
            write!(
                stream,
                "HTTP/1.1 {head}\r\n{close}Content-Length: {}\r\n\r\n{body}",
                body.len()
            )
            .expect("it is read");
        }
    });
    (address, seen)
}

/// Head and body of a request.
fn request(stream: &mut impl Read) -> String {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("the head comes whole");
        text.push(byte[0]);
    }
    let mut head = String::from_utf8(text)
        .expect("a head is text")
        .to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("it is a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body).expect("the body comes whole");
    head.push_str(&String::from_utf8(body).expect("points are text"));
    head
}

fn settings(address: String, target: InfluxTarget) -> InfluxSettings {
    InfluxSettings {
        address,
        target,
        precision: Precision::Nanosecond,
        fields: Vec::new(),
        push_interval: Duration::from_secs(1),
        concurrent_writes: 1,
        trusts_all: false,
        proxy: None,
        datagram_bytes: 512,
    }
}

#[test]
fn points_go_in_datagrams_too() {
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let address = format!("udp://{}", receiver.local_addr().expect("it is bound"));
    let (written, lost, _) = send_one(settings(address, v1()));
    assert_eq!((written, lost), (1, 0));
    let mut datagram = [0; 512];
    let length = receiver.recv(&mut datagram).expect("it was sent");
    let text = String::from_utf8_lossy(&datagram[..length]);
    assert!(text.starts_with("http_req_duration"), "{text}");
}

/// Sends one value; returns the values written and lost, and the messages.
fn send_one(settings: InfluxSettings) -> (u64, u64, Vec<String>) {
    send(settings, 1)
}

/// The same for several values.
fn send(settings: InfluxSettings, count: usize) -> (u64, u64, Vec<String>) {
    let (sender, receiver) = sync_channel(1);
    let told = Arc::new(Mutex::new(Vec::new()));
    let tell = Arc::clone(&told);
    let on_trouble = Arc::new(move |why: &str| tell.lock().unwrap().push(why.to_owned()));
    let sink = super::start(
        settings,
        receiver,
        describe,
        (on_trouble, GiveUp::default()),
    )
    .expect("it starts");
    sender
        .send(vec![values(TagSet::new(), None); count])
        .expect("it listens");
    drop(sender);
    let report = sink.finish();
    let told = told.lock().unwrap().clone();
    (report.written, report.lost, told)
}

fn v1() -> InfluxTarget {
    InfluxTarget::V1 {
        database: "my db".to_owned(),
        retention: String::new(),
        consistency: "any".to_owned(),
        user: Some(("u".to_owned(), "p".to_owned())),
    }
}

#[test]
fn a_missing_database_is_made_and_the_points_are_sent_again() {
    let (address, seen) = server(vec![
        r#"404 Not Found|{"error":"database not found: \"my db\""}"#,
        "200 OK|{}",
        "204 No Content",
    ]);
    assert_eq!(send_one(settings(address, v1())), (1, 0, Vec::new()));
    let seen = seen.lock().unwrap();
    let first = |at: usize| {
        seen[at]
            .lines()
            .next()
            .expect("a request has a line")
            .to_owned()
    };
    assert_eq!(
        first(0),
        "post /write?consistency=any&db=my+db&precision=ns&rp= http/1.1"
    );
    assert_eq!(
        first(1),
        "post /query?q=create+database+%22my+db%22 http/1.1"
    );
    assert_eq!(first(2), first(0));
    assert!(seen[2].contains("authorization: basic dtpw"), "{}", seen[2]);
    assert!(
        seen[2].ends_with("http_req_duration value=0.348768 1795280847503584142\n"),
        "{}",
        seen[2]
    );
}

#[test]
fn points_that_are_too_many_for_one_body_are_sent_in_parts() {
    let too_large = "413 Request Entity Too Large|too large";
    let (address, seen) = server(vec![too_large, "204 No Content", "204 No Content"]);
    let (written, lost, _) = send(settings(address, v1()), 3);
    assert_eq!((written, lost), (3, 0));
    let seen = seen.lock().unwrap();
    let points = seen
        .iter()
        .map(|text| text.matches("http_req_duration").count());
    assert_eq!(points.collect::<Vec<_>>(), [3, 1, 2]);

    let (address, _) = server(vec![too_large]);
    assert_eq!(send_one(settings(address, v1())).1, 1);
}

#[test]
fn version_2_has_a_token_and_a_busy_server_is_asked_again() {
    let (address, seen) = server(vec!["503 Service Unavailable|busy", "204 No Content"]);
    let target = InfluxTarget::V2 {
        organization: "o".to_owned(),
        bucket: "b".to_owned(),
        token: Some("secret".to_owned()),
    };
    let settings = settings(address, target);
    assert!(!format!("{settings:?}").contains("secret"));
    let (written, lost, told) = send_one(settings);
    assert_eq!((written, lost), (1, 0));
    assert_eq!(told, ["the server answered 503: busy"]);
    let seen = seen.lock().unwrap();
    assert!(
        seen[1].starts_with("post /api/v2/write?bucket=b&org=o&precision=ns http/1.1"),
        "{}",
        seen[1]
    );
    assert!(
        seen[1].contains("authorization: token secret"),
        "{}",
        seen[1]
    );
}

#[test]
fn what_a_server_will_never_take_is_lost_at_once() {
    let (address, seen) = server(vec![r#"401 Unauthorized|{"error":"no"}"#]);
    let (written, lost, told) = send_one(settings(address, v1()));
    assert_eq!((written, lost), (0, 1));
    assert_eq!(told, [r#"the server answered 401: {"error":"no"}"#]);
    assert_eq!(seen.lock().unwrap().len(), 1);

    let partial = r#"400 Bad Request|{"error":"partial write: field type conflict dropped=0"}"#;
    let (address, _) = server(vec![partial]);
    let (written, lost, _) = send_one(settings(address, v1()));
    assert_eq!((written, lost), (1, 0));
}
