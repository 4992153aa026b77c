//! Each fault, and what k6 v2.2.0 reports for it.

use std::net::{IpAddr, Ipv4Addr};

use loadline_model::ClientPlan;
use loadline_model::script_names::{HostAddress, HostnamePatterns, Hosts};
use loadline_model::script_settings::ScriptSettings;

use super::server::{Act, Server, listen};
use super::{Bench, origin, request};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n";

/// Acts after the request was read; code, tag, body as far as it arrived.
type Row = (Vec<Act>, u16, &'static str, Option<&'static [u8]>);

fn broken_answers() -> Vec<Row> {
    let send = |bytes| vec![Act::Send(bytes)];
    let then = |bytes, act| vec![Act::Send(bytes), act];
    vec![
        (vec![], 1000, "EOF", None),
        (
            vec![Act::Reset],
            1220,
            "read: connection reset by peer",
            None,
        ),
        (send(HEAD), 1000, "unexpected EOF", None),
        (
            send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
            1000,
            "unexpected EOF",
            Some(b"abc"),
        ),
        (
            send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            1000,
            "unexpected EOF",
            Some(b"abc"),
        ),
        (
            then(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                Act::Hold,
            ),
            1000,
            "invalid byte in chunk length",
            Some(b""),
        ),
        (
            then(b"garbage is here\r\n\r\n", Act::Hold),
            1000,
            "malformed HTTP status code \"is\"",
            None,
        ),
        (
            then(b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n", Act::Hold),
            1000,
            "malformed MIME header: missing colon: \"no colon here\"",
            None,
        ),
        (
            then(b"HTTP/1.1 200 OK\r\nX: a\x1bb\r\n\r\n", Act::Hold),
            1000,
            "malformed MIME header line: \"X: a\\x1bb\"",
            None,
        ),
    ]
}

/// Lengths that are none, or several.
fn broken_lengths() -> Vec<Row> {
    let hold = |bytes| vec![Act::Send(bytes), Act::Hold];
    vec![
        (
            hold(b"HTTP/1.1 200 OK\r\nContent-Length: x1\r\n\r\n"),
            1000,
            "bad Content-Length \"x1\"",
            None,
        ),
        (
            hold(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
            1000,
            "http: message cannot contain multiple Content-Length headers; got [\"1\" \"2\"]",
            None,
        ),
        (
            hold(b"HTTP/1.1 200 OK\r\nContent-Length: 02\r\nContent-Length: 2\r\n\r\nab"),
            1000,
            "http: message cannot contain multiple Content-Length headers; got [\"02\" \"2\"]",
            None,
        ),
    ]
}

/// Heads that break off: of a reset, Go forgets that it was one.
fn broken_heads() -> Vec<Row> {
    let then = |bytes, act| vec![Act::Send(bytes), act];
    let reset_after = |bytes| vec![Act::Send(bytes), Act::Reset];
    vec![
        (
            vec![Act::Send(b"HTTP/1.1 ")],
            1000,
            "malformed HTTP status code \"\"",
            None,
        ),
        (
            reset_after(b"HTTP"),
            1000,
            "malformed HTTP response \"HTTP\"",
            None,
        ),
        (
            reset_after(b"HTTP/1.1 200 OK\r\nCon"),
            1000,
            "malformed MIME header: missing colon: \"Con\"",
            None,
        ),
        (
            reset_after(b"HTTP/1.1 200 OK\r\nX-One: 1"),
            1000,
            "unexpected EOF",
            None,
        ),
        (
            reset_after(b"HTTP/1.1 200 OK\r\nX-One: 1\r"),
            1000,
            "malformed MIME header line: \"X-One: 1\\r\"",
            None,
        ),
        (
            vec![Act::Send(b"HTTP/1.1 200 OK\r\nX-One: 1\r\n\r")],
            1000,
            "malformed MIME header: missing colon: \"\\r\"",
            None,
        ),
        (
            then(b"HTTP/1.1 200 OK\r\nX: a \r\r\n\r\n", Act::Hold),
            1000,
            "malformed MIME header line: \"X: a \\r\"",
            None,
        ),
    ]
}

#[test]
fn broken_answers_are_told_in_k6s_words() {
    super::in_runtime(async {
        let rows = broken_answers()
            .into_iter()
            .chain(broken_lengths())
            .chain(broken_heads());
        for (acts, code, tag, body) in rows {
            let acts = [vec![Act::Read], acts].concat();
            let shown = format!("{acts:?}");
            let server = Server::start([acts]).await;
            let failure = Bench::plain().failure(&server.origin).await;
            assert_eq!((failure.code, failure.tag.as_str()), (code, tag), "{shown}");
            let partial = failure.partial_body.as_ref();
            let partial = partial.map(|partial| partial.bytes.as_slice());
            assert_eq!(partial, body, "{shown}");
            assert_eq!(failure.remote, Some(server.address), "{shown}");
            assert!(failure.times.blocked > 0, "{shown}");
        }
    });
}

#[test]
fn details_read_as_gos() {
    super::in_runtime(async {
        let server = Server::start([vec![Act::Read, Act::Send(b"HTTP/1.1 2x OK\r\n\r\n")]]).await;
        assert_eq!(
            Bench::plain().failure(&server.origin).await.detail,
            "net/http: HTTP/1.x transport connection broken: malformed HTTP status code \"2x\""
        );
        let server = Server::start([vec![Act::Read, Act::Send(b"HTTP/1.1 200 OK\r\n")]]).await;
        assert_eq!(
            Bench::plain().failure(&server.origin).await.detail,
            "net/http: HTTP/1.x transport connection broken: unexpected EOF"
        );
        let (listener, address) = listen().await;
        drop(listener);
        let refused = Bench::plain()
            .failure(&origin(&format!("http://{address}/")))
            .await;
        assert_eq!(
            (refused.code, refused.tag.as_str()),
            (1212, "dial: connection refused")
        );
        assert_eq!(
            refused.detail,
            format!("dial tcp {address}: connect: connection refused")
        );
        assert_eq!((refused.remote, refused.times.blocked), (None, 0));
    });
}

#[test]
fn more_than_was_announced_ends_the_connection_alone() {
    super::in_runtime(async {
        let server = Server::start([vec![
            Act::Read,
            Act::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokextra"),
            Act::Hold,
        ]])
        .await;
        let bench = Bench::plain();
        for connections in 1..=2 {
            assert_eq!(bench.answer(&server.origin).await.body, b"ok");
            assert_eq!(server.connections(), connections);
        }
        assert_eq!(bench.connections.take().surplus, 2);
    });
}

#[test]
fn what_may_not_be_sent_is_refused_before_anything_is_connected() {
    super::in_runtime(async {
        let (listener, address) = listen().await;
        drop(listener);
        let at = origin(&format!("http://{address}/"));
        let outcome = Bench::plain()
            .client
            .exchange(&request("G ET", &at, None))
            .await;
        let failure = outcome.expect("nothing is cut").expect_err("no method");
        assert_eq!(failure.tag, "net/http: invalid method \"G ET\"");
    });
}

#[test]
fn names_and_networks_can_be_forbidden() {
    let mut script = ScriptSettings::default();
    script.names.blocked_hostnames =
        HostnamePatterns::parse(["*.bar"]).expect("the test's pattern");
    script.names.blocked_networks = vec!["127.0.0.0/8".parse().expect("the test's network")];
    script.names.hosts = Hosts::new([(
        "given",
        HostAddress {
            ip: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: None,
        },
    )])
    .expect("the test's host");
    super::in_runtime(async {
        let bench = Bench::new(&ClientPlan::default(), &script);
        for (url, code, detail) in [
            (
                "http://foo.bar/",
                1111,
                "hostname (foo.bar) is in a blocked pattern (*.bar)",
            ),
            (
                "http://127.0.0.1:1/",
                1110,
                "IP (127.0.0.1) is in a blacklisted range (127.0.0.0/8)",
            ),
            (
                "http://given/",
                1110,
                "IP (127.0.0.1) is in a blacklisted range (127.0.0.0/8)",
            ),
        ] {
            let failure = bench.failure(&origin(url)).await;
            assert_eq!((failure.code, failure.detail.as_str()), (code, detail));
        }
    });
}

#[test]
fn names_can_be_given_addresses() {
    super::in_runtime(async {
        let server = Server::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let mut script = ScriptSettings::default();
        let address = HostAddress {
            ip: server.address.ip(),
            port: Some(server.address.port()),
        };
        script.names.hosts = Hosts::new([("*.example", address)]).expect("the test's host");
        let bench = Bench::new(&ClientPlan::default(), &script);
        let answer = bench.answer(&origin("http://a.example/")).await;
        assert_eq!(answer.remote, Some(server.address));
        assert!(server.requests()[0].contains("Host: a.example\r\n"));
    });
}
