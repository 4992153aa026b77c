//! Tests of the faults: the effect of each on the wire.
//!
//! They must not open sockets. Invariant checked: every parameter of the table is read and has an effect.

use super::*;
use crate::request::parse_query;
use http::{HeaderMap, Method};
use std::net::{IpAddr, Ipv4Addr};

fn request(query: &str) -> Request {
    Request {
        method: Method::GET,
        path: "/".to_owned(),
        query_text: Some(query.to_owned()),
        query: parse_query(query),
        headers: HeaderMap::new(),
        body: Bytes::new(),
        peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
        secure: false,
    }
}

fn chosen(query: &str) -> Result<Option<Fault>, String> {
    choose(
        &request(query),
        Duration::from_secs(60),
        &mut Dice::seeded(1),
    )
}

/// The bytes, the sum of the pauses, and the end.
fn wire(fault: Fault, body: &'static str) -> (String, Duration, WireEnd) {
    wire_of(fault, Reply::text(StatusCode::OK, body), &Method::GET)
}

fn wire_of(fault: Fault, reply: Reply, method: &Method) -> (String, Duration, WireEnd) {
    let answer = fault.on_wire(reply, method);
    let mut all = Vec::new();
    let mut paused = Duration::ZERO;
    for chunk in answer.chunks.take(100_000) {
        let Chunk::Data { pause, bytes } = chunk else {
            panic!("a wire response cannot abort")
        };
        paused += pause;
        all.extend_from_slice(&bytes);
    }
    (
        String::from_utf8_lossy(&all).into_owned(),
        paused,
        answer.end,
    )
}

#[test]
fn every_parameter_is_read() {
    for (name, _) in PARAMETERS {
        let value = if name.starts_with("slow") { "1s" } else { "1" };
        let fault = chosen(&format!("{name}={value}")).unwrap();
        assert!(fault.is_some(), "{name}");
        let error = chosen(&format!("{name}=x")).unwrap_err();
        assert!(error.starts_with(name), "{error}");
    }
    assert_eq!(chosen("a=1"), Ok(None));
    assert_eq!(chosen("fail=0&reset=0"), Ok(None));
    assert!(
        chosen("slow_body=61s")
            .unwrap_err()
            .contains("longer than 60s")
    );
}

#[test]
fn fail_takes_a_status() {
    assert_eq!(
        chosen("fail=1"),
        Ok(Some(Fault::Fail(StatusCode::INTERNAL_SERVER_ERROR)))
    );
    assert_eq!(
        chosen("fail=1&fail_status=503"),
        Ok(Some(Fault::Fail(StatusCode::SERVICE_UNAVAILABLE)))
    );
    assert!(chosen("fail=1&fail_status=99").unwrap_err().contains("99"));
    assert!(chosen("fail=1.5").unwrap_err().contains("between 0 and 1"));
}

#[test]
fn truncation_and_reset_keep_half_of_the_body() {
    for (fault, expected) in [
        (Fault::Truncate, WireEnd::Close),
        (Fault::ResetMid, WireEnd::Reset),
    ] {
        let (text, _, end) = wire(fault, "12345678");
        assert!(
            text.contains("Content-Length: 8\r\n") && text.ends_with("\r\n\r\n1234"),
            "{text}"
        );
        assert_eq!(end, expected);
        assert!(wire(fault, "").0.contains("Content-Length: 1\r\n"));
    }
}

#[test]
fn wrong_length_leaves_surplus_bytes() {
    for body in ["12345678", ""] {
        let (text, _, end) = wire(Fault::WrongLength, body);
        let (head, sent) = text.split_once("\r\n\r\n").unwrap();
        let declared: usize = head
            .rsplit("Content-Length: ")
            .next()
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        assert_eq!(sent.len(), declared + SURPLUS);
        assert_eq!(end, WireEnd::Linger);
    }
}

#[test]
fn heads_can_be_huge_slow_or_preceded() {
    assert!(wire(Fault::HeaderBomb, "x").0.lines().count() > BOMB_LINES);
    let (text, _, _) = wire(Fault::EndlessHeaders, "x");
    assert!(text.len() > ENDLESS_BYTES - 1_000_000 && !text.contains("\r\n\r\n"));
    let (text, paused, _) = wire(Fault::SlowHeaders(Duration::from_secs(1)), "x");
    assert!(text.ends_with("\r\n\r\nx"));
    assert!(
        paused > Duration::from_millis(999) && paused <= Duration::from_secs(1),
        "{paused:?}"
    );
    let (text, _, _) = wire(Fault::Interim(3), "x");
    assert_eq!(text.matches("HTTP/1.1 103").count(), 3);
    assert!(text.contains("HTTP/1.1 200 OK"));
}

#[test]
fn an_answer_without_a_body_has_none_whatever_its_head_meets() {
    let faults = [
        Fault::Interim(2),
        Fault::SlowHeaders(Duration::from_secs(1)),
        Fault::HeaderBomb,
    ];
    for fault in faults {
        let (head, ..) = wire_of(
            fault,
            Reply::text(StatusCode::OK, "12345678"),
            &Method::HEAD,
        );
        assert!(head.ends_with("\r\n\r\n") && head.contains("Content-Length: 8\r\n"));
        let (empty, ..) = wire_of(fault, Reply::text(StatusCode::NO_CONTENT, ""), &Method::GET);
        assert!(!empty.contains("Content-Length"));
    }
}

#[test]
fn garbage_and_bad_chunks_are_no_http() {
    assert!(!wire(Fault::Garbage, "x").0.contains("HTTP/"));
    assert!(
        wire(Fault::BadChunk, "body")
            .0
            .contains("\r\n\r\n4\r\nbody\r\nzz")
    );
}

#[test]
fn a_slow_body_is_whole() {
    for body in ["", "x", "0123456789abcdef"] {
        let reply = slow_body(Duration::from_secs(1), Reply::text(StatusCode::OK, body));
        let ReplyBody::Chunks { length, .. } = &reply.body else {
            panic!("not paced")
        };
        assert_eq!(*length, Some(body.len() as u64));
        assert_eq!(gather(reply.body), body);
    }
}

#[test]
fn on_a_stream_most_faults_are_resets() {
    let reply = || Reply::text(StatusCode::OK, "1234");
    assert!(Fault::Garbage.on_stream(reply(), 0).is_none());
    let slow = Fault::SlowHeaders(Duration::from_nanos(7)).on_stream(reply(), 5);
    assert_eq!(slow.unwrap().not_before_ns, Some(12));
    let Some(Reply {
        body: ReplyBody::Chunks { chunks, length },
        ..
    }) = Fault::Truncate.on_stream(reply(), 0)
    else {
        panic!("not paced")
    };
    assert_eq!(length, Some(4));
    assert!(matches!(chunks.last(), Some(Chunk::Abort)));
}
