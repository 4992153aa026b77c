//! Responses, read completely.
//!
//! Must not know the request. Invariant: a body is read up to a limit, so that its connection can be reused.

use std::io::Read as _;
use std::time::Duration;

use ureq::Body;
use ureq::http::{HeaderMap, Response, header};

/// Maximum characters of a response in a message.
const SHOWN_MAX: usize = 200;

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body; empty if it could not be read completely.
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads a response with a body of at most `bytes_max` bytes; the second value says why the body could not
    /// be read.
    pub fn read(mut answer: Response<Body>, bytes_max: u64) -> (Answer, Result<(), String>) {
        let body = answer.body_mut().with_config().limit(bytes_max);
        let (body, read) = match body.read_to_vec() {
            Ok(body) => (body, Ok(())),
            Err(error) => (Vec::new(), Err(crate::told(&error))),
        };
        let answer = Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body,
        };
        (answer, read)
    }

    /// Like `read`, for callers that need the body.
    ///
    /// # Errors
    /// Why the body could not be read.
    pub fn read_whole(answer: Response<Body>, bytes_max: u64) -> Result<Answer, String> {
        let (answer, read) = Answer::read(answer, bytes_max);
        read.map(|()| answer)
    }

    /// Reads a response and the start of its body: of a longer one, the first `bytes_max` bytes.
    ///
    /// # Errors
    /// Why the body could not be read.
    pub fn read_start(mut answer: Response<Body>, bytes_max: u64) -> Result<Answer, String> {
        let mut body = Vec::new();
        let mut start = answer.body_mut().as_reader().take(bytes_max);
        start
            .read_to_end(&mut body)
            .map_err(|error| error.to_string())?;
        Ok(Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().clone(),
            body,
        })
    }

    /// The body as text; empty if it is not text.
    #[must_use]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or_default()
    }

    /// The response in one line.
    #[must_use]
    pub fn told(&self) -> String {
        let shown = shown(self.text());
        match shown.is_empty() {
            true => format!("the server answered {}", self.status),
            false => format!("the server answered {}: {shown}", self.status),
        }
    }
}

/// What a server said, for a message: its first line, truncated, without what a terminal would interpret.
#[must_use]
pub fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    line.chars().take(SHOWN_MAX).map(plain).collect()
}

/// How long the server wants clients to wait; `None`: it did not give a number of seconds.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    value.parse().ok().map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_server_said_is_one_short_line_that_no_terminal_obeys() {
        assert_eq!(super::shown("\x1b[31mbad\x07\nmore"), " [31mbad ");
        assert_eq!(super::shown(&"x".repeat(5_000)).len(), super::SHOWN_MAX);
    }
}
