//! Failures in the words of Go programs, because people grep logs for them.
//!
//! Source of the wordings: what hey 0.1.5 and bombardier 2.0.2 printed for each fault on loopback. Must not
//! know reports. Invariant: the text contains nothing that differs between requests, so the local port of an
//! address pair is omitted, as Go omits an unknown source.

mod certificate;
mod malformed;

use loadline_go::errno;
use loadline_model::ErrorClass;
use loadline_model::snapshot::ErrorKey;

/// Go's message for a handshake response that is not TLS.
const NOT_TLS: &str = "tls: first record does not look like a TLS handshake";

/// How our messages about TLS after the handshake begin.
const TLS_BROKEN: &str = "broke the rules of TLS: ";

/// The failure in the words of Go's `net/http` client, preceded by method and URL.
#[must_use]
pub fn net_http(key: &ErrorKey) -> String {
    let what = cause(key);
    if key.class == ErrorClass::Request || reads_body(key) {
        return what;
    }
    match key.request.split_once(' ') {
        Some((method, url)) => format!("{} \"{url}\": {what}", title(method)),
        None => what,
    }
}

/// The failure in the words of bombardier's fasthttp client, without the request.
#[must_use]
pub fn fasthttp(key: &ErrorKey) -> String {
    match key.class {
        ErrorClass::Closed | ErrorClass::ResetReading | ErrorClass::ResetSending => {
            "the server closed connection before returning the first response byte. Make sure the \
             server returns 'Connection: close' response header before closing the connection"
                .to_owned()
        }
        ErrorClass::Truncated => "unexpected EOF".to_owned(),
        ErrorClass::Timeout if says(key, "body") => {
            format!("read tcp {}: i/o timeout", address(key))
        }
        ErrorClass::Timeout => "timeout".to_owned(),
        ErrorClass::Tls if is_not_tls(key) => NOT_TLS.to_owned(),
        ErrorClass::Malformed => match malformed::body(&key.detail) {
            Some(why) => why.to_owned(),
            None => {
                let why = malformed::head(&key.detail);
                format!("error when reading response headers: {why}")
            }
        },
        ErrorClass::TooLarge => {
            "error when reading response headers: small read buffer. Increase ReadBufferSize"
                .to_owned()
        }
        _ => cause(key),
    }
}

/// `GET` as Go writes it in errors: `Get`.
fn title(method: &str) -> String {
    let mut chars = method.chars();
    match chars.next() {
        Some(first) => format!("{first}{}", chars.as_str().to_lowercase()),
        None => "Get".to_owned(),
    }
}

/// Go's client returns errors of the body without the request.
fn reads_body(key: &ErrorKey) -> bool {
    match key.class {
        ErrorClass::Truncated => !says(key, "response head"),
        ErrorClass::Malformed => malformed::body(&key.detail).is_some(),
        ErrorClass::TooLarge => malformed::too_large(&key.detail).is_some(),
        ErrorClass::Timeout => says(key, "body"),
        _ => false,
    }
}

fn cause(key: &ErrorKey) -> String {
    let dial = |why: &str| format!("dial tcp {}: {why}", address(key));
    match key.class {
        ErrorClass::Dns => format!("dial tcp: lookup {}: no such host", unknown_name(key)),
        ErrorClass::Refused => dial("connect: connection refused"),
        ErrorClass::Unreachable if says(key, "timed out") => {
            format!("read tcp {}: read: connection timed out", address(key))
        }
        ErrorClass::Unreachable => dial(&format!("connect: {}", unreachable(key))),
        ErrorClass::ConnectTimeout => dial("i/o timeout"),
        ErrorClass::PortsExhausted => dial("connect: cannot assign requested address"),
        ErrorClass::FdLimit => dial("socket: too many open files"),
        ErrorClass::Timeout => timeout(key).to_owned(),
        ErrorClass::ResetSending => format!("write tcp {}: write: {}", address(key), broken(key)),
        ErrorClass::ResetReading => {
            format!("read tcp {}: read: connection reset by peer", address(key))
        }
        ErrorClass::Closed => "EOF".to_owned(),
        ErrorClass::Truncated if reads_body(key) => "unexpected EOF".to_owned(),
        ErrorClass::Truncated => {
            "net/http: HTTP/1.x transport connection broken: unexpected EOF".to_owned()
        }
        ErrorClass::Malformed if key.detail.contains(TLS_BROKEN) => broken_tls(key),
        ErrorClass::Malformed => match malformed::body(&key.detail) {
            Some(why) => why.to_owned(),
            None => format!(
                "net/http: HTTP/1.x transport connection broken: {}",
                malformed::head(&key.detail)
            ),
        },
        ErrorClass::TooLarge => malformed::too_large(&key.detail)
            .unwrap_or(
                "net/http: HTTP/1.x transport connection broken: net/http: server response \
                 headers exceeded 10485760 bytes; aborted",
            )
            .to_owned(),
        ErrorClass::Redirect => redirect(key),
        ErrorClass::Certificate => {
            let why = certificate::refused(&key.detail, &host(key));
            format!("tls: failed to verify certificate: x509: {why}")
        }
        ErrorClass::Tls => tls(key),
        ErrorClass::Http2 => http2(key),
        ErrorClass::Proxy => proxy(key),
        ErrorClass::Request => detail_or(key, key.class.name()),
        ErrorClass::Io => system(key),
    }
}

/// Our words for a fault of HTTP/2, and what Go has before and behind the code's name; numbers of streams are left out.
const HTTP2: &[(&str, &str, &str)] = &[
    ("reset the stream", "stream error: ", "; received from peer"),
    ("rules of a stream", "stream error: ", ""),
    ("rules of HTTP/2", "connection error: ", ""),
    (
        "refused the request",
        "http2: Transport received GOAWAY from server ErrCode:",
        "",
    ),
    (
        "connection after GOAWAY",
        "http2: server sent GOAWAY and closed the connection; ErrCode=",
        "",
    ),
];

fn http2(key: &ErrorKey) -> String {
    if key.detail.contains("frame larger than allowed") {
        return "http2: frame too large".to_owned();
    }
    let known = HTTP2
        .iter()
        .find(|(ours, ..)| key.detail.contains(ours))
        .zip(key.detail.split_once(": "));
    match known {
        Some(((_, before, behind), (_, code))) => {
            let code = code.split(" (").next().unwrap_or(code);
            format!("{before}{code}{behind}")
        }
        None => prefixed("http2: ", &detail_or(key, "client connection lost")),
    }
}

/// A proxy that opens no tunnel: Go returns the reason after the status.
fn proxy(key: &ErrorKey) -> String {
    if let Some((_, refusal)) = key.detail.split_once("answered CONNECT with status ") {
        let reason = refusal.split_once(' ').map(|(_, reason)| reason);
        return reason.unwrap_or("unknown status code").to_owned();
    }
    if says(key, "the proxy closed") {
        return "unexpected EOF".to_owned();
    }
    if let Some((_, why)) = key.detail.split_once("response to CONNECT: ") {
        return malformed::head(why);
    }
    prefixed(
        "proxyconnect tcp: ",
        &detail_or(key, "the proxy refused the connection"),
    )
}

/// What was wrong with TLS after the handshake.
fn broken_tls(key: &ErrorKey) -> String {
    let why = key.detail.split_once(TLS_BROKEN);
    match why.map_or("", |(_, why)| why) {
        "cannot decrypt peer's message" => "local error: tls: bad record MAC".to_owned(),
        why => format!("tls: {why}"),
    }
}

fn tls(key: &ErrorKey) -> String {
    if says(key, "plain http") {
        return "http: server gave HTTP response to HTTPS client".to_owned();
    }
    if is_not_tls(key) {
        return NOT_TLS.to_owned();
    }
    if says(key, "requires a client certificate") {
        return "remote error: tls: certificate required".to_owned();
    }
    let alert = key.detail.split_once("TLS alert \"");
    match alert.and_then(|(_, rest)| rest.split_once('"')) {
        Some(("close notify", _)) => "EOF".to_owned(),
        Some((alert, _)) => format!("remote error: tls: {alert}"),
        None if says(key, "closed during") => "EOF".to_owned(),
        None => prefixed("tls: ", &detail_or(key, "handshake failure")),
    }
}

/// The remote address, or the host of the URL if none was contacted.
fn address(key: &ErrorKey) -> String {
    key.address.clone().unwrap_or_else(|| host(key))
}

/// The name without an address: the one that the failure names, which after a redirect is not the request's.
fn unknown_name(key: &ErrorKey) -> String {
    match key.detail.split_once(": ") {
        Some((name, _)) => name.to_owned(),
        None => host(key),
    }
}

fn host(key: &ErrorKey) -> String {
    let url = key
        .request
        .split_once(' ')
        .map_or(key.request.as_str(), |(_, url)| url);
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    host.to_owned()
}

fn detail_or(key: &ErrorKey, otherwise: &str) -> String {
    if key.detail.is_empty() {
        otherwise.to_owned()
    } else {
        key.detail.clone()
    }
}

fn prefixed(prefix: &str, detail: &str) -> String {
    if detail.starts_with(prefix) {
        detail.to_owned()
    } else {
        format!("{prefix}{detail}")
    }
}

fn says(key: &ErrorKey, word: &str) -> bool {
    key.detail.to_ascii_lowercase().contains(word)
}

fn timeout(key: &ErrorKey) -> &'static str {
    if says(key, "body") {
        "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
    } else {
        "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    }
}

fn broken(key: &ErrorKey) -> &'static str {
    if says(key, "pipe") {
        "broken pipe"
    } else {
        "connection reset by peer"
    }
}

fn unreachable(key: &ErrorKey) -> &'static str {
    if says(key, "host") {
        "no route to host"
    } else {
        "network is unreachable"
    }
}

/// Go's words for too many, and ours for one without a usable target.
fn redirect(key: &ErrorKey) -> String {
    detail_or(key, "stopped after 10 redirects")
}

/// Whether the other side answered the TLS handshake with something else.
fn is_not_tls(key: &ErrorKey) -> bool {
    says(key, "not tls") || says(key, "corrupt")
}

/// A message of the operating system.
fn system(key: &ErrorKey) -> String {
    errno(&detail_or(key, key.class.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(class: ErrorClass, detail: &str) -> ErrorKey {
        ErrorKey {
            class,
            request: "GET http://127.0.0.1:9101/x".to_owned(),
            address: Some("127.0.0.1:9101".to_owned()),
            detail: detail.to_owned(),
        }
    }

    #[test]
    fn tls_wordings() {
        for (detail, text) in [
            (
                "the peer answered the TLS handshake with plain HTTP, which is not TLS",
                "http: server gave HTTP response to HTTPS client",
            ),
            (
                "the peer answered the TLS handshake with something that is not TLS",
                "tls: first record does not look like a TLS handshake",
            ),
            (
                "the target sent the TLS alert \"handshake failure\": it may want something",
                "remote error: tls: handshake failure",
            ),
            ("the target sent the TLS alert \"close notify\"", "EOF"),
        ] {
            let wanted = format!("Get \"http://127.0.0.1:9101/x\": {text}");
            assert_eq!(net_http(&key(ErrorClass::Tls, detail)), wanted);
        }
    }

    #[test]
    fn http2_wordings() {
        for (detail, text) in [
            (
                "the target reset the stream: INTERNAL_ERROR",
                "stream error: INTERNAL_ERROR; received from peer",
            ),
            (
                "the target broke the rules of HTTP/2: PROTOCOL_ERROR (too_many_resets)",
                "connection error: PROTOCOL_ERROR",
            ),
            (
                "the target refused the request with GOAWAY: ENHANCE_YOUR_CALM",
                "http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM",
            ),
            (
                "the target sent a frame larger than allowed, or does not speak HTTP/2",
                "http2: frame too large",
            ),
            ("", "http2: client connection lost"),
        ] {
            let wanted = format!("Get \"http://127.0.0.1:9101/x\": {text}");
            assert_eq!(net_http(&key(ErrorClass::Http2, detail)), wanted);
        }
    }

    /// As hey 0.1.5 printed them.
    #[test]
    fn wordings_of_proxies_and_records() {
        for (class, detail, text) in [
            (
                ErrorClass::Malformed,
                "the target broke the rules of TLS: cannot decrypt peer's message",
                "local error: tls: bad record MAC",
            ),
            (
                ErrorClass::Proxy,
                "the proxy answered CONNECT with status 407 Proxy Authentication Required",
                "Proxy Authentication Required",
            ),
            (
                ErrorClass::Proxy,
                "the proxy answered CONNECT with status 502",
                "unknown status code",
            ),
            (
                ErrorClass::Proxy,
                "the proxy closed instead of answering",
                "unexpected EOF",
            ),
            (
                ErrorClass::Proxy,
                "in the response to CONNECT: the proxy's response is not HTTP/1.x: \"http/1.1 200 ok\\r\\n\"",
                "malformed HTTP version \"http/1.1\"",
            ),
        ] {
            let wanted = format!("Get \"http://127.0.0.1:9101/x\": {text}");
            assert_eq!(net_http(&key(class, detail)), wanted);
        }
        let short = key(
            ErrorClass::Malformed,
            "the body is not as long as its content-length says",
        );
        assert_eq!(net_http(&short), "unexpected EOF");
    }

    /// Each line as hey 0.1.5 printed it, the local port of an address pair left out.
    #[test]
    fn net_http_wordings() {
        for (class, detail, text) in [
            (
                ErrorClass::Refused,
                "",
                "dial tcp 127.0.0.1:9101: connect: connection refused",
            ),
            (ErrorClass::Closed, "", "EOF"),
            (
                ErrorClass::Truncated,
                "the target closed within the response head",
                "net/http: HTTP/1.x transport connection broken: unexpected EOF",
            ),
            (
                ErrorClass::ResetReading,
                "",
                "read tcp 127.0.0.1:9101: read: connection reset by peer",
            ),
            (
                ErrorClass::Timeout,
                "",
                "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
            ),
            (
                ErrorClass::Malformed,
                "malformed HTTP status code \"is\"",
                "net/http: HTTP/1.x transport connection broken: malformed HTTP status code \"is\"",
            ),
            (
                ErrorClass::Dns,
                "",
                "dial tcp: lookup 127.0.0.1: no such host",
            ),
            (
                ErrorClass::Dns,
                "other.invalid: Name or service not known",
                "dial tcp: lookup other.invalid: no such host",
            ),
            (
                ErrorClass::Redirect,
                "stopped after 10 redirects",
                "stopped after 10 redirects",
            ),
            (
                ErrorClass::Certificate,
                "UnknownIssuer",
                "tls: failed to verify certificate: x509: certificate signed by unknown authority",
            ),
        ] {
            let wanted = format!("Get \"http://127.0.0.1:9101/x\": {text}");
            assert_eq!(net_http(&key(class, detail)), wanted);
        }
    }

    /// As above.
    #[test]
    fn net_http_wordings_of_bodies() {
        let body = "timed out while reading the response body";
        for (class, detail, text) in [
            (
                ErrorClass::Truncated,
                "closed after 5 of 100 body bytes",
                "unexpected EOF",
            ),
            (
                ErrorClass::Timeout,
                body,
                "context deadline exceeded (Client.Timeout or context cancellation while reading body)",
            ),
            (ErrorClass::Io, "Protocol not available (os error 92)", ""),
        ] {
            let wanted = match text {
                "" => "Get \"http://127.0.0.1:9101/x\": protocol not available".to_owned(),
                text => text.to_owned(),
            };
            assert_eq!(net_http(&key(class, detail)), wanted);
        }
    }

    #[test]
    fn every_class_has_words_in_both_clients() {
        for class in ErrorClass::ALL {
            let key = ErrorKey {
                address: None,
                ..key(*class, "")
            };
            assert!(!net_http(&key).is_empty() && !fasthttp(&key).is_empty());
            assert!(!net_http(&key).contains("  "), "{}", net_http(&key));
        }
    }

    #[test]
    fn the_host_of_any_url_is_found() {
        for (url, wanted) in [
            ("http://u:p@h:8/x", "h"),
            ("https://[::1]:8/x", "::1"),
            ("example.org?x=1", "example.org"),
        ] {
            let key = ErrorKey {
                request: format!("POST {url}"),
                ..key(ErrorClass::Dns, "")
            };
            assert_eq!(host(&key), wanted);
        }
    }
}
