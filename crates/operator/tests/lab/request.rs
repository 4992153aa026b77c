//! Reads a complete HTTP request.
//!
//! Must not know the response. Invariant: no more of a body is read than the reader allows.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

/// A request.
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    /// By name in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// Reads one with a body of so many bytes at most.
    pub(crate) fn read(stream: impl Read, body_max: u64) -> std::io::Result<Request> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let mut headers = BTreeMap::new();
        for line in reader.by_ref().lines() {
            let line = line?;
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length");
        let length = length.and_then(|text| text.parse().ok()).unwrap_or(0);
        let mut body = Vec::new();
        reader.take(length.min(body_max)).read_to_end(&mut body)?;
        Ok(Request {
            method,
            target,
            headers,
            body,
        })
    }
}
