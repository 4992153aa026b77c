//! Endpoints for caches and partial content.
//!
//! They must not know connections. Invariant: preconditions follow RFC 9110 §13, ranges §14; only a single
//! range is supported, a list of ranges returns the whole content.

use super::generate::{alphabet, count};
use super::{EndpointContext, inspect};
use crate::reply::{Reply, TEXT};
use crate::request::{Request, percent_decode};
use http::StatusCode;
use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, RANGE};

/// The request as JSON under an entity tag.
pub(super) fn etag(tag: &str, context: &EndpointContext<'_>, request: &Request) -> Reply {
    let tag = format!("\"{}\"", percent_decode(tag).replace(['"', '\r', '\n'], ""));
    let names = |list: &str| {
        list.split(',')
            .map(|t| t.trim().trim_start_matches("W/"))
            .any(|t| t == "*" || t == tag)
    };
    if request.header(IF_NONE_MATCH).is_some_and(names) {
        return Reply::new(StatusCode::NOT_MODIFIED).with("etag", tag);
    }
    let failed = request.header(IF_MATCH).is_some_and(|list| !names(list));
    let reply = if failed {
        Reply::text(StatusCode::PRECONDITION_FAILED, "")
    } else {
        inspect::without_body(request)
    };
    reply.with("etag", tag).with("last-modified", now(context))
}

/// 304 for any precondition, else the request as JSON with a tag and a date.
pub(super) fn cache(context: &EndpointContext<'_>, request: &Request) -> Reply {
    let conditional = [IF_MODIFIED_SINCE, IF_NONE_MATCH];
    if conditional
        .iter()
        .any(|name| request.headers.contains_key(name))
    {
        return Reply::new(StatusCode::NOT_MODIFIED);
    }
    let now = now(context);
    let tag = format!("\"{:016x}\"", crate::queueing::fnv1a(now.as_bytes()));
    inspect::without_body(request)
        .with("last-modified", now)
        .with("etag", tag)
}

/// The request as JSON, to be kept for that many seconds.
pub(super) fn cache_control(seconds: &str, request: &Request) -> Reply {
    match seconds.parse::<u64>() {
        Ok(seconds) => inspect::without_body(request)
            .with("cache-control", format!("public, max-age={seconds}")),
        Err(_) => Reply::bad_request(format!("invalid seconds: {seconds:?}")),
    }
}

/// `n` bytes of the alphabet, or the part that `Range` asks for.
pub(super) fn range(n: &str, context: &EndpointContext<'_>, request: &Request) -> Reply {
    let length = match count(n, context.shared.config.limits.generated_bytes) {
        Ok(length) => length,
        Err(reason) => return Reply::bad_request(reason),
    };
    let reply = match request.header(RANGE).map(|value| one_range(value, length)) {
        None | Some(RequestedRange::Whole) => {
            Reply::streamed(TEXT, alphabet(0, length), Some(length))
        }
        Some(RequestedRange::Part { from, to }) => {
            let mut reply = Reply::streamed(TEXT, alphabet(from, to + 1), Some(to + 1 - from));
            reply.status = StatusCode::PARTIAL_CONTENT;
            reply.with("content-range", format!("bytes {from}-{to}/{length}"))
        }
        Some(RequestedRange::Nothing) => {
            let body = "invalid range: failed to overlap\n";
            Reply::text(StatusCode::RANGE_NOT_SATISFIABLE, body)
                .with("content-range", format!("bytes */{length}"))
        }
    };
    reply
        .with("accept-ranges", "bytes")
        .with("etag", format!("\"range{length}\""))
}

/// What a `Range` header asks for; `from` and `to` are inclusive.
#[derive(Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    Part { from: u64, to: u64 },
    Nothing,
}

fn one_range(value: &str, length: u64) -> RequestedRange {
    let Some((from, to)) = value
        .strip_prefix("bytes=")
        .and_then(|set| set.split_once('-'))
    else {
        return RequestedRange::Whole;
    };
    let last = length.saturating_sub(1);
    match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(from), _) if from >= length => RequestedRange::Nothing,
        (Ok(from), Ok(to)) if to >= from => RequestedRange::Part {
            from,
            to: to.min(last),
        },
        (Ok(from), Err(_)) if to.is_empty() => RequestedRange::Part { from, to: last },
        (Err(_), Ok(0)) if from.is_empty() => RequestedRange::Nothing,
        (Err(_), Ok(_)) if from.is_empty() && length == 0 => RequestedRange::Nothing,
        (Err(_), Ok(suffix)) if from.is_empty() => RequestedRange::Part {
            from: length.saturating_sub(suffix),
            to: last,
        },
        _ => RequestedRange::Whole,
    }
}

fn now(context: &EndpointContext<'_>) -> String {
    httpdate::fmt_http_date(context.shared.clock.wall())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let part = |from, to| RequestedRange::Part { from, to };
        let cases = [
            ("bytes=0-0", part(0, 0)),
            ("bytes=2-10", part(2, 9)),
            ("bytes=3-", part(3, 9)),
            ("bytes=-3", part(7, 9)),
            ("bytes=-99", part(0, 9)),
            ("bytes=-0", RequestedRange::Nothing),
            ("bytes=10-", RequestedRange::Nothing),
            ("bytes=5-2", RequestedRange::Whole),
            ("bytes=1-2,4-5", RequestedRange::Whole),
            ("lines=1-2", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
        ];
        for (value, expected) in cases {
            assert_eq!(one_range(value, 10), expected, "{value}");
        }
        assert_eq!(one_range("bytes=-1", 0), RequestedRange::Nothing);
    }
}
