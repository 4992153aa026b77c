//! Signed requests against a server that checks them. Must not know how a signature is made.

use std::sync::Arc;

use super::client::{Client, packed};
use super::queue::{Outcome, Request};
use super::settings::{Settings, Sources};
use super::sink::{Push, PushReport};
use crate::fixture;
use crate::sigv4::Service;
use crate::sigv4::checking::{Checking, REGION, Received, SECRET, TOKEN};

/// Settings for a target here: `{}` is host and port.
fn settings_of(server: &Checking, url: &str, more: &[(&str, &str)]) -> Settings {
    let words = [
        ("K6_PROMETHEUS_RW_SIGV4_REGION", REGION),
        ("K6_PROMETHEUS_RW_SIGV4_ACCESS_KEY", "AKIDEXAMPLE"),
        ("K6_PROMETHEUS_RW_SIGV4_SECRET_KEY", SECRET),
        ("LOADLINE_PROMETHEUS_RW_PROTOCOL", "1.0"),
    ];
    let words = words.iter().chain(more);
    let variables = words.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let sources = Sources {
        url: Some(&url.replace("{}", &server.address)),
        variables: &variables.collect(),
        section: None,
    };
    Settings::read(&sources, false).expect("they mean something")
}

fn pushed(settings: &Settings, body: &[u8]) -> Outcome {
    let client = Client::new(settings).expect("nothing is wrong with it");
    client.push(&Request {
        body: packed(body),
        is_v2: false,
        samples: 1,
        is_known: false,
    })
}

#[test]
fn requests_are_taken_whatever_their_address() {
    for url in [
        "http://{}",
        "http://{}/",
        "http://{}/workspaces/ws-1/api/v1/remote_write",
        "http://{}/a%20b/c:d/e~f+g",
        "http://{}/w?b=2&a=1&a=0&a-b=3&empty&c=x%2Fy%20z",
        "http://user:password@{}/w?x=1",
    ] {
        let server = Checking::start(Service::Prometheus);
        let outcome = pushed(&settings_of(&server, url, &[]), b"points");
        let (request, checked) = server.seen().pop().expect("it came in");
        assert_eq!(checked, Ok(()), "{url}: {request:?}");
        assert!(matches!(outcome, Outcome::Taken), "{url}");
    }
}

#[test]
fn tokens_and_own_headers_go_with_a_signature() {
    let server = Checking::start(Service::Prometheus);
    let more = [
        ("LOADLINE_PROMETHEUS_RW_SIGV4_SESSION_TOKEN", TOKEN),
        ("K6_PROMETHEUS_RW_HTTP_HEADERS", "Z-Last:1,A-First:2"),
        ("K6_PROMETHEUS_RW_USERNAME", "somebody"),
    ];
    let settings = settings_of(&server, "http://{}/w?q=1", &more);
    assert!(matches!(pushed(&settings, b""), Outcome::Taken));
    let client = Client::new(&settings).expect("nothing is wrong with it");
    let url = format!(
        "http://{}/api/v1/query?query=up%7Ba%3D%22b%22%7D",
        server.address
    );
    assert_eq!(client.get(&url), Ok(String::new()));
    for (request, checked) in server.seen() {
        assert_eq!(checked, Ok(()), "{request:?}");
        assert_eq!(request.headers["x-amz-security-token"], TOKEN);
        assert_eq!(request.headers["a-first"], "2");
        let signed = "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token";
        assert!(request.headers["authorization"].contains(signed));
    }
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn the_server_refuses_what_is_signed_with_another_key_or_changed_on_the_way() {
    let server = Checking::start(Service::Prometheus);
    let other = [("K6_PROMETHEUS_RW_SIGV4_SECRET_KEY", "another")];
    let settings = settings_of(&server, "http://{}/w", &other);
    assert!(matches!(pushed(&settings, b"x"), Outcome::Refused(_)));
    let settings = settings_of(&server, "http://{}/w?a=1", &[]);
    assert!(matches!(pushed(&settings, b"x"), Outcome::Taken));
    let (taken, _) = server.seen().pop().expect("it came in");
    let changes: [fn(&mut Received); 4] = [
        |request| request.body.push(0),
        |request| request.target.push('2'),
        |request| request.method = "PUT".to_owned(),
        |request| {
            request
                .headers
                .insert("host".to_owned(), "elsewhere".to_owned());
        },
    ];
    for change in changes {
        let mut changed = taken.clone();
        change(&mut changed);
        assert!(changed.check(Service::Prometheus).is_err(), "{changed:?}");
    }
}

#[test]
fn a_whole_run_is_pushed_signed() {
    let server = Checking::start(Service::Prometheus);
    let settings = settings_of(
        &server,
        "http://{}/workspaces/ws-1/api/v1/remote_write",
        &[],
    );
    let push = Push::start(&settings, false, Arc::new(|_, _| {})).expect("a thread");
    push.event(&fixture::started());
    (0..3).for_each(|number| push.event(&fixture::second(number)));
    let report: PushReport = push.finish();
    assert_eq!((report.error, report.counts.refused), (None, 0));
    let seen = server.seen();
    assert!(!seen.is_empty());
    for (request, checked) in seen {
        assert_eq!(checked, Ok(()), "{request:?}");
    }
}
