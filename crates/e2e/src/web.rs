//! A well-behaved web server with responses from the caller, and HTTP functions for the other servers.
//!
//! Must not know faults. Invariant: one response for each request head with its complete body, in order.

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// The first byte of a client that uses TLS, which no request starts with.
const TLS_HANDSHAKE: u8 = 0x16;
/// Maximum bytes of a request head.
const HEAD_MAX: usize = 64 * 1024;

/// `ok`, compressed with gzip.
pub(crate) const OK_IN_GZIP: &[u8] = &[
    0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xcb, 0xcf, 6, 0, 0x47, 0xdd, 0xdc, 0x79, 2, 0, 0, 0,
];

/// A request as the server saw it.
#[derive(Debug, Default)]
pub struct Request {
    /// Request line and header lines, without the blank line.
    pub head: String,
    /// The body, where a Content-Length announced one.
    pub body: Vec<u8>,
}

impl Request {
    /// A word of the request line: 0 the method, 1 the target.
    #[must_use]
    pub fn word(&self, number: usize) -> &str {
        let line = self.head.lines().next().unwrap_or_default();
        line.split(' ').nth(number).unwrap_or_default()
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// Reads the next request; `None` at the end of the stream.
    ///
    /// # Errors
    /// The stream's, or a head without an end.
    pub fn read(stream: &mut impl Read) -> io::Result<Option<Request>> {
        let Some(head) = read_head(stream)? else {
            return Ok(None);
        };
        let mut request = Request {
            head,
            body: Vec::new(),
        };
        let length = request
            .header("content-length")
            .and_then(|text| text.parse().ok());
        request.body.resize(length.unwrap_or(0), 0);
        stream.read_exact(&mut request.body)?;
        Ok(Some(request))
    }
}

/// Reads a request head byte by byte, so that nothing beyond it is consumed; `None` at the end of the stream.
///
/// # Errors
/// The stream's, or a head without an end.
pub fn read_head(stream: &mut impl Read) -> io::Result<Option<String>> {
    let head = read_head_bytes(stream)?;
    Ok(head.map(|head| String::from_utf8_lossy(&head).trim_end().to_owned()))
}

/// The same, byte for byte, including the blank line.
pub(crate) fn read_head_bytes(stream: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    let mut byte = [0_u8];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
        if head.len() > HEAD_MAX || head[0] == TLS_HANDSHAKE {
            return Err(io::ErrorKind::InvalidData.into());
        }
    }
    Ok(Some(head))
}

/// Reads the body that a head announces, and appends its raw bytes to the head.
pub(crate) fn read_body_bytes(stream: &mut impl Read, into: &mut Vec<u8>) -> io::Result<()> {
    let text = String::from_utf8_lossy(into).to_ascii_lowercase();
    if text.contains("\r\ntransfer-encoding: chunked") {
        while !into.ends_with(b"\r\n0\r\n\r\n") {
            take(stream, 1, into)?;
        }
        return Ok(());
    }
    let length = text.split("\r\ncontent-length: ").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
    take(stream, length.unwrap_or(0), into)
}

fn take(stream: &mut impl Read, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
    let start = into.len();
    into.resize(start + count, 0);
    let read = stream.read_exact(&mut into[start..]);
    if read.is_err() {
        into.truncate(start);
    }
    read
}

/// Responds to every request of a connection with the result of `answer`.
///
/// # Errors
/// The stream's.
pub fn serve(
    mut stream: &TcpStream,
    mut answer: impl FnMut(&Request) -> Vec<u8>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    while let Some(request) = Request::read(&mut stream)? {
        stream.write_all(&answer(&request))?;
        if request.header("connection") == Some("close") {
            break;
        }
    }
    Ok(())
}

/// A `200 OK` with a body.
#[must_use]
pub fn ok(body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
}
