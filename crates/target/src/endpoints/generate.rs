//! Endpoints that generate bytes and delays.
//!
//! They must not know connections. Invariant: bodies are generated piece by piece while they are sent, so a
//! gigabyte costs one piece of memory.

use super::{EndpointContext, inspect};
use crate::duration;
use crate::random::Dice;
use crate::reply::{Chunk, Chunks, Reply, TEXT};
use crate::request::{Request, percent_decode};
use bytes::Bytes;
use http::StatusCode;
use serde_json::json;
use std::time::Duration;

/// Size of a piece where the request does not say.
const PIECE: u64 = 64 * 1024;
/// The smallest piece a request may ask for together with the largest number of pieces.
const PIECES_MAX: u64 = 1_000_000;
/// The most lines of `/stream`.
const LINES_MAX: u64 = 100;
/// The type of random bytes.
const OCTETS: &str = "application/octet-stream";

/// How a body's end is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// By its length.
    Length,
    /// By chunks.
    Chunked,
}

/// The request with its body as JSON, after a while.
pub(super) fn delay(time: &str, context: &EndpointContext<'_>, request: &Request) -> Reply {
    let delay = match time_within(time, context) {
        Ok(delay) => delay,
        Err(reason) => return Reply::bad_request(format!("invalid duration: {reason}")),
    };
    let mut reply = inspect::with_body(request).with(
        "server-timing",
        format!(
            "initial_delay;dur={:.2};desc=\"initial delay\"",
            millis(delay)
        ),
    );
    reply.not_before_ns = Some(context.shared.clock.now_ns() + duration::as_ns(delay));
    reply
}

/// `n` random bytes.
pub(super) fn bytes(
    n: &str,
    context: &mut EndpointContext<'_>,
    request: &Request,
    framing: Framing,
) -> Reply {
    match try_bytes(n, context, request, framing) {
        Ok(reply) => reply,
        Err(reason) => Reply::bad_request(reason),
    }
}

fn try_bytes(
    n: &str,
    context: &mut EndpointContext<'_>,
    request: &Request,
    framing: Framing,
) -> Result<Reply, String> {
    let length = count(n, context.shared.config.limits.generated_bytes)?;
    let seed = match request.query("seed") {
        Some(_) => request.query_or("seed", 0_u64)?,
        None => context.dice.bits(),
    };
    let piece = match framing {
        Framing::Length => PIECE,
        Framing::Chunked => request
            .query_or("chunk_size", 10 * 1024_u64)?
            .clamp(1, PIECE),
    };
    if length / piece > PIECES_MAX {
        return Err(format!("invalid chunk_size: more than {PIECES_MAX} pieces"));
    }
    let mut dice = Dice::seeded(seed);
    let chunks = pieces(0, length, piece, move |from, to| {
        let mut buffer = vec![0; (to - from) as usize];
        dice.fill(&mut buffer);
        buffer.into()
    });
    let told = (framing == Framing::Length).then_some(length);
    Ok(Reply::streamed(OCTETS, chunks, told))
}

/// `n` lines, each the request as JSON with its number.
pub(super) fn stream(n: &str, request: &Request) -> Reply {
    let lines = match count(n, u64::MAX) {
        Ok(lines) => lines.clamp(1, LINES_MAX),
        Err(reason) => return Reply::bad_request(reason),
    };
    let mut value = json!({
        "id": 0,
        "args": request.args_json(),
        "headers": request.headers_json(),
        "origin": request.origin(),
        "url": request.url(),
    });
    let lines = (0..lines).map(move |id| {
        value["id"] = id.into();
        Chunk::Data {
            pause: Duration::ZERO,
            bytes: format!("{value}\n").into(),
        }
    });
    Reply::streamed(TEXT, Box::new(lines), None)
}

/// Bytes that trickle.
pub(super) fn drip(context: &EndpointContext<'_>, request: &Request) -> Reply {
    match try_drip(context, request) {
        Ok(reply) => reply,
        Err(reason) => Reply::bad_request(reason),
    }
}

fn try_drip(context: &EndpointContext<'_>, request: &Request) -> Result<Reply, String> {
    let time = |name: &str, default: Duration| match request.query(name) {
        None => Ok(default),
        Some(text) => time_within(text, context).map_err(|e| format!("invalid {name}: {e}")),
    };
    let over = time("duration", Duration::from_secs(2))?;
    let delay = time("delay", Duration::from_secs(2))?;
    let length = request.query_or("numbytes", 10_u64)?;
    let code = request.query_or("code", 200_u16)?;
    let status = StatusCode::from_u16(code)
        .ok()
        .filter(|s| (200..600).contains(&s.as_u16()));
    let status = status.ok_or_else(|| format!("invalid code: {code}"))?;
    if length == 0 || length > context.shared.config.limits.generated_bytes {
        return Err(format!("invalid numbytes: {length} not in range"));
    }
    let piece = length.div_ceil(PIECES_MAX);
    let writes = length.div_ceil(piece);
    let pause = Duration::from_nanos(duration::as_ns(over) / (writes - 1).max(1));
    let mut first = true;
    let star = Bytes::from(vec![b'*'; piece as usize]);
    let chunks = pieces(0, length, piece, move |from, to| {
        star.slice(..(to - from) as usize)
    })
    .map(move |chunk| match chunk {
        Chunk::Data { bytes, .. } if !std::mem::take(&mut first) => Chunk::Data { pause, bytes },
        other => other,
    });
    let mut reply = Reply::streamed(TEXT, Box::new(chunks), Some(length));
    reply.status = status;
    reply.not_before_ns = Some(context.shared.clock.now_ns() + duration::as_ns(delay));
    Ok(reply.with("server-timing", drip_timing(over, delay, pause)))
}

fn drip_timing(over: Duration, delay: Duration, pause: Duration) -> String {
    format!(
        "total_duration;dur={:.2};desc=\"total request duration\", \
         initial_delay;dur={:.2};desc=\"initial delay\", \
         write_duration;dur={:.2};desc=\"duration of writes after initial delay\", \
         pause_per_write;dur={:.2};desc=\"computed pause between writes\"",
        millis(over + delay),
        millis(delay),
        millis(over),
        millis(pause)
    )
}

/// Bytes `from..to` of the endlessly repeated alphabet.
pub(super) fn alphabet(from: u64, to: u64) -> Chunks {
    pieces(from, to, PIECE, |from, to| {
        (from..to).map(|i| b'a' + (i % 26) as u8).collect()
    })
}

/// A number of bytes or lines from the path.
///
/// # Errors
/// Says what it is and how large it may be.
pub(super) fn count(text: &str, max: u64) -> Result<u64, String> {
    let text = percent_decode(text);
    let number = text
        .parse::<u64>()
        .map_err(|_| format!("invalid count: {text:?} is not a number"))?;
    if number > max {
        return Err(format!(
            "invalid byte count: {number} not in range [0, {max}]"
        ));
    }
    Ok(number)
}

fn pieces(
    from: u64,
    to: u64,
    piece: u64,
    mut make: impl FnMut(u64, u64) -> Bytes + Send + 'static,
) -> Chunks {
    let mut at = from;
    Box::new(std::iter::from_fn(move || {
        if at >= to {
            return None;
        }
        let end = to.min(at + piece);
        let bytes = make(at, end);
        at = end;
        Some(Chunk::Data {
            pause: Duration::ZERO,
            bytes,
        })
    }))
}

fn time_within(text: &str, context: &EndpointContext<'_>) -> Result<Duration, String> {
    let longest = context.shared.config.limits.delay;
    let time = duration::parse(&percent_decode(text))?;
    if time > longest {
        return Err(format!("duration {time:?} longer than {longest:?}"));
    }
    Ok(time)
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
