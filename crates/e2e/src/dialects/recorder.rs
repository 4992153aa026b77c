//! A server that records every byte of its requests, and responds by path.
//!
//! Must not know the client. Invariant: a request is recorded before the response; an incomplete one is
//! recorded as far as it came.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::certificates::{Authority, Validity};
use crate::server::{Server, Stop, lock};
use crate::web;

/// How long `/slow` delays its response: longer than any timeout in the table.
const SLOW: Duration = Duration::from_secs(3);
/// The requests to a recorder, in order of arrival.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<Vec<u8>>>>);

impl Asked {
    /// Takes the requests so far.
    pub(super) fn take(&self) -> Vec<Vec<u8>> {
        std::mem::take(&mut *lock(&self.0))
    }
}

/// A listening recorder, and its records.
pub(super) struct Recorder {
    pub(super) server: Server,
    pub(super) asked: Asked,
}

impl Recorder {
    /// Starts one on 127.0.0.1; its redirects to another host lead to `elsewhere`.
    pub(super) fn start(elsewhere: &str) -> Recorder {
        Recorder::start_at(Ipv4Addr::LOCALHOST.into(), elsewhere)
    }

    /// Starts one on the IPv6 loopback address.
    pub(super) fn start_v6() -> Recorder {
        Recorder::start_at(Ipv6Addr::LOCALHOST.into(), "")
    }

    fn start_at(address: std::net::IpAddr, elsewhere: &str) -> Recorder {
        let asked = Asked::default();
        let kept = asked.clone();
        let elsewhere = elsewhere.to_owned();
        let server = Server::start_at(SocketAddr::new(address, 0), move |stream, stop| {
            stream.set_nodelay(true)?;
            let mut stream = stream;
            let here = format!("http://{}", stream.local_addr()?);
            serve(
                &mut stream,
                &kept,
                stop,
                &Places {
                    here,
                    elsewhere: elsewhere.clone(),
                },
            )
        });
        Recorder { server, asked }
    }

    /// Starts one with TLS, with an untrusted certificate.
    pub(super) fn start_tls() -> Recorder {
        let asked = Asked::default();
        let kept = asked.clone();
        let identity = Authority::new("nobody").sign("127.0.0.1", Validity::Now);
        let places = Places::default();
        let server =
            identity.serve_by(&[], move |stream, stop| serve(stream, &kept, stop, &places));
        Recorder { server, asked }
    }
}

/// The targets of redirects.
#[derive(Default)]
struct Places {
    here: String,
    elsewhere: String,
}

fn serve(
    stream: &mut (impl Read + Write),
    asked: &Asked,
    stop: &Stop,
    places: &Places,
) -> io::Result<()> {
    while let Some(head) = web::read_head_bytes(stream)? {
        let mut request = head.clone();
        let whole = web::read_body_bytes(stream, &mut request);
        lock(&asked.0).push(request);
        whole?;
        let answer = Answer::to(&String::from_utf8_lossy(&head), places);
        if answer.after > Duration::ZERO && !stop.pause(answer.after) {
            break;
        }
        stream.write_all(&answer.bytes)?;
        if answer.closes {
            break;
        }
    }
    Ok(())
}

/// The bytes of the response, and whether the connection then ends.
struct Answer {
    bytes: Vec<u8>,
    after: Duration,
    closes: bool,
}

impl Answer {
    fn to(head: &str, places: &Places) -> Answer {
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let has_body = method != "HEAD";
        let (bytes, closes) = match path {
            _ if method == "CONNECT" => (plain("403 Forbidden", "", "", true), true),
            "/hangup" => (Vec::new(), true),
            "/garbage" => (b"garbage\r\n\r\n".to_vec(), true),
            "/cut" => (
                b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ncut".to_vec(),
                true,
            ),
            "/until-close" => (b"HTTP/1.1 200 OK\r\n\r\nok".to_vec(), true),
            "/closing" => (
                plain("200 OK", "Connection: close\r\n", "ok", has_body),
                true,
            ),
            "/interim" => {
                let mut bytes = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".to_vec();
                bytes.extend(plain("200 OK", "", "ok", has_body));
                (bytes, false)
            }
            "/chunked" => {
                let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                ([head, "2\r\nok\r\n0\r\n\r\n"].concat().into_bytes(), false)
            }
            "/gzip" => (gzip(head), false),
            "/loop" => (plain("302 Found", "Location: /loop\r\n", "", true), false),
            _ => (by_parts(path, places, has_body), false),
        };
        let after = if path == "/slow" {
            SLOW
        } else {
            Duration::ZERO
        };
        Answer {
            bytes,
            after,
            closes,
        }
    }
}

/// `/STATUS`, `/FORM/STATUS` and `/status/STATUS`; anything else gets the response `ok`.
fn by_parts(path: &str, places: &Places, has_body: bool) -> Vec<u8> {
    let (form, status) = path[1.min(path.len())..]
        .split_once('/')
        .unwrap_or(("", path));
    let status = status.trim_start_matches('/');
    let is_status = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    if !is_status {
        return plain("200 OK", "", "ok", has_body);
    }
    let Places { here, elsewhere } = places;
    let location = match form {
        "status" if matches!(status, "204" | "304") => {
            return format!("HTTP/1.1 {status} X\r\n\r\n").into_bytes();
        }
        "status" => return plain(&format!("{status} X"), "", "ok", has_body),
        "absolute" => format!("{here}/landed"),
        "elsewhere" => format!("{elsewhere}/landed"),
        "relative" => "landed".to_owned(),
        "dots" => "../a/./b/../landed".to_owned(),
        "query" => "?landed".to_owned(),
        "fragment" => "/landed#part".to_owned(),
        "umlaut" => "/lände?d=ü".to_owned(),
        "space" => "/a b?c d".to_owned(),
        "schemeless" => elsewhere.trim_start_matches("http:").to_owned() + "/landed",
        "ftp" => "ftp://example.test/".to_owned(),
        "bad" => "/%zz".to_owned(),
        "two" => "/303".to_owned(),
        "nowhere" => return plain(&format!("{status} X"), "", "", has_body),
        _ => "/landed?from=here".to_owned(),
    };
    plain(
        &format!("{status} X"),
        &format!("Location: {location}\r\n"),
        "go",
        has_body,
    )
}

fn gzip(head: &str) -> Vec<u8> {
    if !head
        .to_ascii_lowercase()
        .contains("\r\naccept-encoding: gzip")
    {
        return plain("200 OK", "", "ok", true);
    }
    let length = web::OK_IN_GZIP.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), web::OK_IN_GZIP].concat()
}

fn plain(status: &str, lines: &str, body: &str, has_body: bool) -> Vec<u8> {
    let length = body.len();
    let body = if has_body { body } else { "" };
    format!("HTTP/1.1 {status}\r\n{lines}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}
