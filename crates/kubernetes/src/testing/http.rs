//! HTTP/1.1 for a server: reads a request, writes a response, complete or in chunks.
//!
//! Must not know what is requested. Invariant: a response is framed so that the connection can be reused or
//! closed.

use std::io::{self, Read, Write};

use serde_json::Value;

/// Bytes of a request that are taken.
const REQUEST_MAX: usize = 8 << 20;

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Decoded parts of the path.
    pub(super) parts: Vec<String>,
    /// Path and query as they were sent.
    pub(super) target: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) kind: &'static str,
    pub(super) body: Vec<u8>,
    pub(super) retry_after_s: Option<u64>,
}

impl Request {
    pub(super) fn header(&self, wanted: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn parameter(&self, wanted: &str) -> Option<&str> {
        let found = self.query.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn is(&self, parameter: &str) -> bool {
        matches!(self.parameter(parameter), Some("true" | "1"))
    }

    /// Reads a request; `None`: the client went.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Option<Request>> {
        let mut read = Vec::new();
        let mut byte = [0];
        // Byte by byte, so that nothing of what follows is taken; tests are small.
        while !read.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte)? == 0 {
                return Ok(None);
            }
            read.push(byte[0]);
            if read.len() > REQUEST_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
        }
        let head = String::from_utf8_lossy(&read).into_owned();
        let mut lines = head.lines();
        let mut first = lines.next().unwrap_or_default().split(' ');
        let method = first.next().unwrap_or_default().to_owned();
        let target = first.next().unwrap_or_default().to_owned();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        let mut request = Request {
            parts: path
                .split('/')
                .filter(|part| !part.is_empty())
                .map(decoded)
                .collect(),
            query: pairs
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect(),
            method,
            headers,
            body: Vec::new(),
            target,
        };
        let length = request
            .header("content-length")
            .and_then(|length| length.parse().ok());
        request.body = vec![0; length.unwrap_or(0_usize).min(REQUEST_MAX)];
        stream.read_exact(&mut request.body)?;
        Ok(Some(request))
    }
}

impl Answer {
    pub(super) fn json(status: u16, value: &Value) -> Answer {
        Answer {
            status,
            kind: "application/json",
            body: value.to_string().into_bytes(),
            retry_after_s: None,
        }
    }

    pub(super) fn text(text: String) -> Answer {
        Answer {
            status: 200,
            kind: "text/plain",
            body: text.into_bytes(),
            retry_after_s: None,
        }
    }

    pub(super) fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let (status, kind, length) = (self.status, self.kind, self.body.len());
        let mut head = format!(
            "HTTP/1.1 {status} Answer\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
        );
        if let Some(seconds) = self.retry_after_s {
            head.push_str(&format!("Retry-After: {seconds}\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        stream.write_all(&self.body)?;
        stream.flush()
    }
}

/// Starts a response whose length is not known yet.
pub(super) fn begin_chunks(stream: &mut impl Write, kind: &str) -> io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
    )?;
    stream.flush()
}

pub(super) fn chunk(stream: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    write!(stream, "{:x}\r\n", bytes.len())?;
    stream.write_all(bytes)?;
    stream.write_all(b"\r\n")?;
    stream.flush()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        bytes.push(match byte {
            b'%' => (digit().unwrap_or(0) * 16 + digit().unwrap_or(0)) as u8,
            b'+' => b' ',
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
