//! Common parts of the tests of the running server: starting it on a free port, and a plain HTTP/1.1 client.
//!
//! It must not use the crate's own parsing. Invariant: every read has a time limit, so no test can hang.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part"
)]

use loadline_target::{Running, TargetConfig, serve};
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// Defaults, on a free port.
pub fn config() -> TargetConfig {
    TargetConfig {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        graceful_stop: Duration::from_millis(200),
        ..TargetConfig::default()
    }
}

/// A server with defaults.
pub fn start() -> Running {
    serve(config()).expect("the server starts on a free port")
}

/// A parsed response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The `dur` fields of `Server-Timing` by name.
    pub fn timings(&self) -> HashMap<String, f64> {
        let value = self
            .header("server-timing")
            .expect("the response has a Server-Timing header");
        let entries = value.split(',').filter_map(|entry| {
            let (name, duration) = entry.trim().split_once(";dur=")?;
            Some((name.to_owned(), duration.split(';').next()?.parse().ok()?))
        });
        entries.collect()
    }
}

pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("the server listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("the option is legal");
    stream
}

/// Reads until the server closes; an error such as a reset also ends it.
pub fn read_all(mut stream: TcpStream) -> (Vec<u8>, std::io::Result<usize>) {
    let mut all = Vec::new();
    let result = stream.read_to_end(&mut all);
    (all, result)
}

/// One request on its own connection, with a body of known length.
pub fn request(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> Answer {
    let (raw, result) = read_all(send(address, method, path, headers, body));
    result.expect("the response ends with a close");
    split(&raw)
}

/// Sends one request that asks to close the connection; the caller reads the response.
pub fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &str,
    body: &[u8],
) -> TcpStream {
    let mut stream = connect(address);
    let length = if body.is_empty() {
        String::new()
    } else {
        format!("Content-Length: {}\r\n", body.len())
    };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{length}{headers}\r\n"
    );
    stream.write_all(head.as_bytes()).expect("the server reads");
    stream.write_all(body).expect("the server reads");
    stream
}

pub fn get(address: SocketAddr, path: &str) -> Answer {
    request(address, "GET", path, "", b"")
}

/// Parses a complete response; chunked bodies are joined.
pub fn split(raw: &[u8]) -> Answer {
    let end = raw
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .expect("the response has a head");
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|s| s.parse().ok())
        .expect("a status line");
    let mut body = raw[end + 4..].to_vec();
    if head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        body = join_chunks(&body);
    }
    Answer { status, head, body }
}

fn join_chunks(mut raw: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let line = raw
            .windows(2)
            .position(|w| w == b"\r\n")
            .expect("a chunk size line");
        let size = std::str::from_utf8(&raw[..line]).expect("a chunk size is text");
        let size = usize::from_str_radix(size, 16).expect("a chunk size is hexadecimal");
        raw = &raw[line + 2..];
        if size == 0 {
            return body;
        }
        body.extend_from_slice(&raw[..size]);
        raw = &raw[size + 2..];
    }
}
