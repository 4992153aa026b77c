//! Injected faults: the effect of `?fail=0.01` and similar parameters on a response.
//!
//! It must not know sockets. Invariant: without a fault parameter in the query, a response is unchanged; an
//! invalid fault parameter is reported as the client's mistake, never ignored.

use crate::duration;
use crate::random::Dice;
use crate::reply::{Chunk, Chunks, Reply, ReplyBody};
use crate::request::{Request, title_case};
use bytes::Bytes;
use http::{Method, StatusCode};
use std::iter;
use std::time::Duration;

/// How many header lines `header_bomb` sends: more than any client's limit.
const BOMB_LINES: usize = 20_000;
/// How much `endless_headers` sends at most, so that a client without limits ends some day.
const ENDLESS_BYTES: usize = 256 * 1024 * 1024;
/// The most interim answers that `interim` sends.
const INTERIM_MAX: u32 = 100_000;
/// How many bytes of a body `wrong_length` leaves out of the declared length.
const SURPLUS: usize = 5;
/// In how many pieces `slow_body` sends.
const SLOW_PIECES: usize = 10;
/// How much of a streamed body is gathered in order to disturb it.
const GATHERED_MAX: usize = 16 * 1024 * 1024;

/// A disturbance of one answer. The query parameter of each is in [`PARAMETERS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fault {
    /// An error status instead of the endpoint's answer.
    Fail(StatusCode),
    /// A TCP reset without an answer.
    Reset,
    /// The connection is closed without an answer.
    Close,
    /// No answer, until the longest delay is over.
    Stall,
    /// Text that is no HTTP.
    Garbage,
    /// The body stops halfway and the connection closes.
    Truncate,
    /// The head arrives, half of the body, then a TCP reset.
    ResetMid,
    /// `Content-Length` is smaller than the body.
    WrongLength,
    /// A chunked body with a chunk size that is no number.
    BadChunk,
    /// A head with 20,000 lines.
    HeaderBomb,
    /// A head that does not end.
    EndlessHeaders,
    /// This many 103 answers before the answer.
    Interim(u32),
    /// The head arrives byte by byte over this time.
    SlowHeaders(Duration),
    /// The body arrives in pieces over this time.
    SlowBody(Duration),
}

/// Query parameters, in the order in which they are tried, with what the index page says of them.
pub(crate) const PARAMETERS: [(&str, &str); 14] = [
    (
        "fail",
        "probability of an error status (500, or fail_status=503)",
    ),
    ("reset", "probability of a TCP reset without a response"),
    ("close", "probability of a close without a response"),
    (
        "stall",
        "probability of no response until the longest delay (60 s) is over",
    ),
    ("garbage", "probability of a response that is not HTTP"),
    (
        "truncate",
        "probability of a body that stops halfway, then a close",
    ),
    (
        "reset_mid",
        "probability of a TCP reset halfway through the body",
    ),
    (
        "wrong_length",
        "probability of a Content-Length 5 bytes too small",
    ),
    (
        "bad_chunk",
        "probability of a chunked body with a broken chunk size",
    ),
    ("header_bomb", "probability of 20,000 header lines"),
    (
        "endless_headers",
        "probability of a head that does not end (256 MiB)",
    ),
    ("interim", "number of 103 responses before the response"),
    (
        "slow_headers",
        "time over which the head is sent byte by byte",
    ),
    ("slow_body", "time over which the body is sent in 10 pieces"),
];

/// Decides which fault, if any, this request meets; slow ones may take up to `time_max`.
///
/// # Errors
/// Names the parameter that cannot be read and its form.
pub(crate) fn choose(
    request: &Request,
    time_max: Duration,
    dice: &mut Dice,
) -> Result<Option<Fault>, String> {
    for (name, _) in PARAMETERS {
        if let Some(text) = request.query(name)
            && let Some(fault) = read(name, text, request, dice)?
        {
            return match fault {
                Fault::SlowHeaders(time) | Fault::SlowBody(time) if time > time_max => {
                    Err(format!("{name}={text} is longer than {time_max:?}"))
                }
                _ => Ok(Some(fault)),
            };
        }
    }
    Ok(None)
}

fn read(
    name: &str,
    text: &str,
    request: &Request,
    dice: &mut Dice,
) -> Result<Option<Fault>, String> {
    let explained = |reason: String| format!("{name}: {reason}");
    match name {
        "interim" => {
            let count = text
                .parse::<u32>()
                .ok()
                .filter(|count| *count <= INTERIM_MAX);
            return count
                .map(|count| Some(Fault::Interim(count)))
                .ok_or_else(|| format!("interim={text} is not a number up to {INTERIM_MAX}"));
        }
        "slow_headers" => {
            return duration::parse(text)
                .map(|d| Some(Fault::SlowHeaders(d)))
                .map_err(explained);
        }
        "slow_body" => {
            return duration::parse(text)
                .map(|d| Some(Fault::SlowBody(d)))
                .map_err(explained);
        }
        _ => {}
    }
    if !dice.chance(probability(name, text)?) {
        return Ok(None);
    }
    Ok(Some(match name {
        "fail" => Fault::Fail(fail_status(request)?),
        "reset" => Fault::Reset,
        "close" => Fault::Close,
        "stall" => Fault::Stall,
        "garbage" => Fault::Garbage,
        "truncate" => Fault::Truncate,
        "reset_mid" => Fault::ResetMid,
        "wrong_length" => Fault::WrongLength,
        "bad_chunk" => Fault::BadChunk,
        "header_bomb" => Fault::HeaderBomb,
        _ => Fault::EndlessHeaders,
    }))
}

fn probability(name: &str, text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    parsed.ok_or_else(|| format!("{name}={text} is not a probability between 0 and 1"))
}

fn fail_status(request: &Request) -> Result<StatusCode, String> {
    let code = request.query_or("fail_status", 500_u16)?;
    let legal = (200..=599).contains(&code);
    let status = StatusCode::from_u16(code).ok().filter(|_| legal);
    status.ok_or_else(|| format!("fail_status={code} is not a status between 200 and 599"))
}

/// How the connection ends after a [`WireAnswer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireEnd {
    /// An orderly close.
    Close,
    /// A TCP reset.
    Reset,
    /// The connection stays open until the client sends or closes.
    Linger,
}

/// Bytes written to the bare connection in place of an HTTP answer.
pub(crate) struct WireAnswer {
    /// The bytes, with pauses.
    pub(crate) chunks: Chunks,
    /// What happens after them.
    pub(crate) end: WireEnd,
}

impl WireAnswer {
    fn of(pieces: Vec<Bytes>, end: WireEnd) -> Self {
        let pause = Duration::ZERO;
        Self {
            chunks: Box::new(
                pieces
                    .into_iter()
                    .map(move |bytes| Chunk::Data { pause, bytes }),
            ),
            end,
        }
    }
}

impl Fault {
    /// True when the endpoint need not run because its answer would not be used.
    pub(crate) fn replaces_answer(self) -> bool {
        matches!(
            self,
            Self::Fail(_) | Self::Reset | Self::Close | Self::Stall | Self::Garbage
        )
    }

    /// The bytes to write on an HTTP/1.1 connection in answer to a request of this method.
    pub(crate) fn on_wire(self, reply: Reply, method: &Method) -> WireAnswer {
        let (status, headers) = (reply.status, reply.headers.clone());
        let body = gather(reply.body);
        let head = |extra: &str| -> Bytes {
            let mut text = format!("HTTP/1.1 {status}\r\n").into_bytes();
            for (name, value) in &headers {
                text.extend_from_slice(title_case(name.as_str()).as_bytes());
                text.extend_from_slice(b": ");
                text.extend_from_slice(value.as_bytes());
                text.extend_from_slice(b"\r\n");
            }
            text.extend_from_slice(extra.as_bytes());
            text.into()
        };
        let closing = |length: usize| head(&closing_tail(status, length));
        let length = body.len();
        // A client reads no body after the head that it asked for.
        let body = match *method == Method::HEAD {
            true => Bytes::new(),
            false => body,
        };
        let half = body.slice(..body.len() / 2);
        match self {
            Self::Reset => WireAnswer::of(Vec::new(), WireEnd::Reset),
            Self::Garbage => WireAnswer::of(
                vec![Bytes::from_static(b"this is not HTTP\n\0\x01\xff")],
                WireEnd::Close,
            ),
            // At least one byte is missing, even of an empty body.
            Self::Truncate => WireAnswer::of(vec![closing(length.max(1)), half], WireEnd::Close),
            Self::ResetMid => WireAnswer::of(vec![closing(length.max(1)), half], WireEnd::Reset),
            Self::WrongLength => {
                let length = body.len().saturating_sub(SURPLUS);
                let surplus = Bytes::from_static(&[b'+'; SURPLUS]);
                let body = if body.len() < SURPLUS { surplus } else { body };
                let head = head(&format!("Content-Length: {length}\r\n\r\n"));
                WireAnswer::of(vec![head, body], WireEnd::Linger)
            }
            Self::BadChunk => {
                let first = format!("{:x}\r\n", body.len().max(1)).into();
                let body = if body.is_empty() {
                    Bytes::from_static(b"+")
                } else {
                    body
                };
                let broken = Bytes::from_static(b"\r\nzz;no chunk size\r\n");
                let head = head("Transfer-Encoding: chunked\r\n\r\n");
                WireAnswer::of(vec![head, first, body, broken], WireEnd::Close)
            }
            Self::HeaderBomb => {
                let lines = (0..BOMB_LINES).map(|i| format!("X-Bomb-{i}: {i}\r\n"));
                let lines: String = lines.chain([closing_tail(status, length)]).collect();
                WireAnswer::of(vec![head(&lines), body], WireEnd::Close)
            }
            Self::EndlessHeaders => endless(head("")),
            Self::Interim(count) => interim(count, closing(length), body),
            Self::SlowHeaders(time) => slow_headers(time, &closing(length), body),
            Self::Fail(_) | Self::Close | Self::Stall | Self::SlowBody(_) => {
                WireAnswer::of(Vec::new(), WireEnd::Close)
            }
        }
    }

    /// The nearest thing on an HTTP/2 stream; `None` is a reset of the stream.
    pub(crate) fn on_stream(self, mut reply: Reply, now_ns: u64) -> Option<Reply> {
        match self {
            Self::SlowHeaders(time) => {
                let start_ns = reply.not_before_ns.unwrap_or(now_ns).max(now_ns);
                reply.not_before_ns = Some(start_ns + duration::as_ns(time));
                Some(reply)
            }
            Self::Truncate | Self::ResetMid => {
                let body = gather(reply.body);
                let length = Some(body.len().max(1) as u64);
                let half = body.slice(..body.len() / 2);
                let half = Chunk::Data {
                    pause: Duration::ZERO,
                    bytes: half,
                };
                let chunks = Box::new([half, Chunk::Abort].into_iter());
                reply.body = ReplyBody::Chunks { chunks, length };
                Some(reply)
            }
            _ => None,
        }
    }
}

/// Sends the body in ten pieces, each after a tenth of the time.
pub(crate) fn slow_body(time: Duration, mut reply: Reply) -> Reply {
    let body = gather(reply.body);
    let length = Some(body.len() as u64);
    let pause = time / SLOW_PIECES as u32;
    let size = body.len().div_ceil(SLOW_PIECES).max(1);
    let chunks = (0..SLOW_PIECES).map(move |i| {
        let (from, to) = ((i * size).min(body.len()), ((i + 1) * size).min(body.len()));
        Chunk::Data {
            pause,
            bytes: body.slice(from..to),
        }
    });
    reply.body = ReplyBody::Chunks {
        chunks: Box::new(chunks),
        length,
    };
    reply
}

/// The end of the head of an answer whose connection ends; 204 declares no length (RFC 9110, section 8.6).
fn closing_tail(status: StatusCode, length: usize) -> String {
    match status {
        StatusCode::NO_CONTENT => "Connection: close\r\n\r\n".to_owned(),
        _ => format!("Connection: close\r\nContent-Length: {length}\r\n\r\n"),
    }
}

fn endless(head: Bytes) -> WireAnswer {
    let line = Bytes::from("X-Endless: 0123456789abcdef\r\n".repeat(512));
    let times = ENDLESS_BYTES / line.len();
    let bytes = iter::once(head).chain(iter::repeat_n(line, times));
    let chunks = bytes.map(|bytes| Chunk::Data {
        pause: Duration::ZERO,
        bytes,
    });
    WireAnswer {
        chunks: Box::new(chunks),
        end: WireEnd::Close,
    }
}

fn interim(count: u32, head: Bytes, body: Bytes) -> WireAnswer {
    let hint =
        Bytes::from_static(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
    let bytes = iter::repeat_n(hint, count as usize).chain([head, body]);
    let chunks = bytes.map(|bytes| Chunk::Data {
        pause: Duration::ZERO,
        bytes,
    });
    WireAnswer {
        chunks: Box::new(chunks),
        end: WireEnd::Close,
    }
}

fn slow_headers(time: Duration, head: &Bytes, body: Bytes) -> WireAnswer {
    let pause = time / u32::try_from(head.len()).unwrap_or(u32::MAX);
    let head = head.clone();
    let bytes = (0..head.len()).map(move |i| Chunk::Data {
        pause,
        bytes: head.slice(i..=i),
    });
    let body = iter::once(Chunk::Data {
        pause: Duration::ZERO,
        bytes: body,
    });
    WireAnswer {
        chunks: Box::new(bytes.chain(body)),
        end: WireEnd::Close,
    }
}

/// All of a body, pauses left out; of a longer streamed body the first 16 MiB.
fn gather(body: ReplyBody) -> Bytes {
    match body {
        ReplyBody::Full(bytes) => bytes,
        ReplyBody::Chunks { chunks, .. } => {
            let mut all = Vec::new();
            for chunk in chunks {
                match chunk {
                    Chunk::Data { bytes, .. } if all.len() + bytes.len() <= GATHERED_MAX => {
                        all.extend_from_slice(&bytes);
                    }
                    _ => break,
                }
            }
            all.into()
        }
    }
}

#[cfg(test)]
#[path = "faults_tests.rs"]
mod tests;
