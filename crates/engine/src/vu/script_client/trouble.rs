//! What k6 reports for a failure: its code, the value of its tag `error`, and Go's words for the log.
//!
//! Derived from the facts of the failure, whose class was decided where it happened. Source: the reference's table of
//! error codes, and what k6 v2.2.0 reported for each fault on loopback. Must not know connections. Invariant: a tag
//! contains nothing that differs between two failures of a kind, except what k6 itself includes.

mod tls;

use std::io;
use std::net::{IpAddr, SocketAddr};

use loadline_go::errno;
use loadline_go::malformed::{chunk_size_fault, status_line_fault};
use loadline_go::quote::quoted_bytes;
use loadline_model::script_names::Network;
use loadline_wire::{HeaderFault, WireError};

use crate::net::{Cause, Failure, Http2Fault, ProxyFault, Stage, http2_code};

/// k6's error codes, as far as connections and responses cause them.
mod code {
    pub(super) const GENERIC: u16 = 1000;
    pub(super) const NOT_TCP: u16 = 1010;
    pub(super) const REQUEST_TIMEOUT: u16 = 1050;
    pub(super) const DNS: u16 = 1100;
    pub(super) const NO_SUCH_HOST: u16 = 1101;
    pub(super) const BLACKLISTED_IP: u16 = 1110;
    pub(super) const BLOCKED_HOSTNAME: u16 = 1111;
    pub(super) const TCP: u16 = 1200;
    pub(super) const BROKEN_PIPE: u16 = 1201;
    pub(super) const TCP_ERRNO: u16 = 1202;
    pub(super) const DIAL: u16 = 1210;
    pub(super) const DIAL_TIMEOUT: u16 = 1211;
    pub(super) const DIAL_REFUSED: u16 = 1212;
    pub(super) const DIAL_ERRNO: u16 = 1213;
    pub(super) const RESET_BY_PEER: u16 = 1220;
    pub(super) const NOT_TLS: u16 = 1301;
    pub(super) const UNKNOWN_AUTHORITY: u16 = 1310;
    pub(super) const WRONG_HOSTNAME: u16 = 1311;
    pub(super) const HTTP2_GO_AWAY: u16 = 1610;
    pub(super) const HTTP2_STREAM: u16 = 1630;
    pub(super) const HTTP2_CONNECTION: u16 = 1650;
    /// The last HTTP/2 code that has its own number.
    pub(super) const HTTP2_LAST: u32 = 13;
}

/// Why a hop failed, as k6 reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    /// k6's error code.
    pub(super) code: u16,
    /// Value of the tag `error`.
    pub(super) tag: String,
    /// What happened, in Go's words.
    pub(super) detail: String,
}

/// What Go's messages mention besides the failure itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Occasion<'a> {
    /// The requested host.
    pub(super) host: &'a str,
    /// Seconds since 1970.
    pub(super) unix_s: u64,
    /// Whether the connection goes to a proxy instead.
    pub(super) is_proxied: bool,
}

impl Trouble {
    /// What k6 reports for a failure.
    pub(super) fn of(failure: &Failure, occasion: Occasion<'_>) -> Trouble {
        let Some(cause) = &failure.cause else {
            return Trouble::generic(failure.detail.clone());
        };
        let trouble = Trouble::of_cause(failure, cause, occasion);
        match occasion.is_proxied && is_of_connecting(cause) {
            true => {
                let detail = format!("proxyconnect tcp: {}", trouble.detail);
                Trouble::new(code::TCP, detail.clone(), detail)
            }
            false => trouble,
        }
    }

    fn of_cause(failure: &Failure, cause: &Cause, occasion: Occasion<'_>) -> Trouble {
        match cause {
            Cause::BlockedHost { host, pattern } => blocked_host(host, pattern),
            Cause::BlockedAddress { ip, network } => blocked_address(*ip, network),
            Cause::Lookup { host, fault } => lookup(host, name_server().as_deref(), &fault.why),
            Cause::NoUsableAddress { host } => no_such_host(host, None),
            Cause::ConnectTimeout { host_port } => dial_timeout(host_port),
            Cause::Timeout => {
                Trouble::new(code::REQUEST_TIMEOUT, "request timeout", "request timeout")
            }
            Cause::System {
                stage,
                error,
                local,
                head,
            } => match (stage, failure.address, head) {
                (Stage::Connecting, Some(address), _) => dial(address, error),
                // Go reads the part of a line that came, and the error behind it is gone.
                (_, _, Some(part)) => wire(part),
                (_, remote, None) => stream(*stage, error, *local, remote),
            },
            Cause::Tls(error) => tls::broken(error),
            Cause::Handshake { error, first } => tls::handshake(error, first, occasion),
            Cause::ClosedInHandshake => Trouble::generic("EOF"),
            Cause::Wire(error) => wire(error),
            Cause::Http2(fault) => http2(fault),
            Cause::Proxy(fault) => proxy(fault),
        }
    }

    fn new(code: u16, tag: impl Into<String>, detail: impl Into<String>) -> Trouble {
        Trouble {
            code,
            tag: tag.into(),
            detail: detail.into(),
        }
    }

    /// Failures without a code in k6: the tag says everything.
    fn generic(what: impl Into<String>) -> Trouble {
        let what = what.into();
        Trouble::new(code::GENERIC, what.clone(), what)
    }
}

/// Whether there was no connection yet.
fn is_of_connecting(cause: &Cause) -> bool {
    matches!(
        cause,
        Cause::Lookup { .. }
            | Cause::NoUsableAddress { .. }
            | Cause::ConnectTimeout { .. }
            | Cause::System {
                stage: Stage::Connecting,
                ..
            }
    )
}

fn dial_timeout(address: &str) -> Trouble {
    let detail = format!("dial tcp {address}: i/o timeout");
    Trouble::new(code::DIAL_TIMEOUT, "dial: i/o timeout", detail)
}

fn blocked_address(ip: IpAddr, network: &Network) -> Trouble {
    let detail = format!("IP ({ip}) is in a blacklisted range ({network})");
    Trouble::new(code::BLACKLISTED_IP, "ip is blacklisted", detail)
}

fn blocked_host(host: &str, pattern: &str) -> Trouble {
    let detail = format!("hostname ({host}) is in a blocked pattern ({pattern})");
    Trouble::new(code::BLOCKED_HOSTNAME, "hostname is blocked", detail)
}

/// A name that has no usable address. `server` is the name server's address, if one is known.
fn no_such_host(host: &str, server: Option<&str>) -> Trouble {
    let detail = format!("lookup {host}{}: no such host", asked_of(server));
    Trouble::new(code::NO_SUCH_HOST, "lookup: no such host", detail)
}

/// A name that could not be looked up, in the resolver's words.
fn lookup(host: &str, server: Option<&str>, why: &str) -> Trouble {
    let unknown = ["Name or service not known", "No address associated"];
    if unknown.iter().any(|words| why.contains(words)) || why.contains("nodename nor servname") {
        return no_such_host(host, server);
    }
    let detail = format!("lookup {host}{}: {}", asked_of(server), why.to_lowercase());
    Trouble::new(code::DNS, detail.clone(), detail)
}

/// A connection that could not be made.
fn dial(address: SocketAddr, error: &io::Error) -> Trouble {
    let words = errno(&error.to_string());
    let step = match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => "socket",
        Some(libc::EADDRINUSE) => "bind",
        _ => "connect",
    };
    let detail = format!("dial tcp {address}: {step}: {words}");
    match (error.raw_os_error(), error.kind()) {
        (_, io::ErrorKind::ConnectionRefused) => {
            Trouble::new(code::DIAL_REFUSED, "dial: connection refused", detail)
        }
        (_, io::ErrorKind::TimedOut) => {
            Trouble::new(code::DIAL_TIMEOUT, "dial: i/o timeout", detail)
        }
        (Some(number), _) => Trouble::new(
            code::DIAL_ERRNO,
            format!("dial: unknown errno {number} error with msg `{words}`"),
            detail,
        ),
        (None, _) => Trouble::new(code::DIAL, detail.clone(), detail),
    }
}

/// A connection that broke in use.
fn stream(
    stage: Stage,
    error: &io::Error,
    local: Option<SocketAddr>,
    remote: Option<SocketAddr>,
) -> Trouble {
    let (name, words) = (direction(stage), errno(&error.to_string()));
    let from = local.map(|local| format!("{local}->")).unwrap_or_default();
    let to = remote.map(|remote| remote.to_string()).unwrap_or_default();
    let detail = format!("{name} tcp {from}{to}: {name}: {words}");
    match (error.raw_os_error(), error.kind()) {
        (_, io::ErrorKind::ConnectionReset) => Trouble::new(
            code::RESET_BY_PEER,
            format!("{name}: connection reset by peer"),
            detail,
        ),
        (_, io::ErrorKind::BrokenPipe) => {
            Trouble::new(code::BROKEN_PIPE, format!("{name}: broken pipe"), detail)
        }
        (Some(number), _) => {
            let os = std::env::consts::OS;
            let tag = format!("{name}: unknown errno `{number}` on {os} with message `{words}`");
            Trouble::new(code::TCP_ERRNO, tag, detail)
        }
        (None, _) => Trouble::generic(words),
    }
}

/// Whether bytes were being sent or received, in Go's word.
fn direction(stage: Stage) -> &'static str {
    match stage {
        Stage::Connecting => "dial",
        Stage::Sending => "write",
        Stage::Reading => "read",
    }
}

/// An HTTP/1.1 response that cannot be parsed.
fn wire(error: &WireError) -> Trouble {
    use WireError as Wire;
    match error {
        Wire::ClosedBeforeResponse => Trouble::generic("EOF"),
        Wire::TruncatedHead {
            has_status, line, ..
        } => {
            let fault = broken_line(*has_status, line.as_bytes());
            malformed(fault.unwrap_or_else(|| "unexpected EOF".to_owned()))
        }
        Wire::TruncatedBody { .. } => Trouble::generic("unexpected EOF"),
        Wire::BadChunkSize { sample } => Trouble::generic(chunk_size_fault(sample.as_bytes())),
        Wire::BadChunkEnd { .. } => Trouble::generic("malformed chunked encoding"),
        Wire::ChunkLineTooLong { .. } => Trouble::generic("header line too long"),
        Wire::TrailersTooLarge { .. } => {
            Trouble::generic("http: suspiciously long trailer after chunked body")
        }
        Wire::HeadTooLarge { limit } => Trouble::generic(format!(
            "net/http: server response headers exceeded {limit} bytes; aborted"
        )),
        other => malformed(head_fault(other)),
    }
}

/// A head that Go cannot parse.
fn malformed(tag: String) -> Trouble {
    let detail = format!("net/http: HTTP/1.x transport connection broken: {tag}");
    Trouble::new(code::GENERIC, tag, detail)
}

/// What Go finds wrong with the line of a head that broke off, which it takes for a whole one.
fn broken_line(has_status: bool, line: &[u8]) -> Option<String> {
    if !has_status {
        return status_line_fault(line);
    }
    match without_blanks_behind(line) {
        [] => None,
        line if !line.contains(&b':') => Some(no_colon(line)),
        line => line.ends_with(b"\r").then(|| bad_line(line)),
    }
}

/// Go cuts spaces and tabs off a line, and no CR but that of the line's end.
fn without_blanks_behind(mut line: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t'] = line {
        line = rest;
    }
    line
}

fn bad_line(line: &[u8]) -> String {
    format!("malformed MIME header line: {}", quoted_bytes(line))
}

fn no_colon(line: &[u8]) -> String {
    format!(
        "malformed MIME header: missing colon: {}",
        quoted_bytes(line)
    )
}

/// A proxy that opens no tunnel: Go returns the reason phrase after the status, and does not mention the proxy.
fn proxy(fault: &ProxyFault) -> Trouble {
    match fault {
        ProxyFault::Closed => Trouble::generic("unexpected EOF"),
        ProxyFault::Wire(error) => Trouble::generic(wire(error).tag),
        ProxyFault::Refused { reason, .. } => {
            Trouble::generic(reason.as_deref().unwrap_or("unknown status code"))
        }
        ProxyFault::Early => Trouble::generic(fault.to_string()),
    }
}

fn http2(fault: &Http2Fault) -> Trouble {
    match fault {
        Http2Fault::StreamReset { stream, reason } => {
            http2_stream(*stream, *reason, "; received from peer")
        }
        Http2Fault::BrokenStream { stream, reason } => http2_stream(*stream, *reason, ""),
        Http2Fault::BrokenProtocol { reason, .. } => {
            let name = http2_code(*reason);
            Trouble::new(
                http2_number(code::HTTP2_CONNECTION, *reason),
                format!("http2: connection error with http2 ErrCode {name}"),
                format!("connection error: {name}"),
            )
        }
        Http2Fault::FrameTooLarge => Trouble::new(
            code::GENERIC,
            "http2: frame too large",
            "http2: failed reading the frame payload: http2: frame too large",
        ),
        Http2Fault::TurnedAway { reason, .. } => {
            let name = http2_code(*reason);
            Trouble::generic(format!(
                "http2: Transport received GOAWAY from server ErrCode:{name}"
            ))
        }
        Http2Fault::Gone {
            stream,
            reason,
            debug,
        } => http2_gone(*stream, *reason, debug),
        Http2Fault::Unsent => Trouble::generic("http2: client connection lost"),
        Http2Fault::Ended | Http2Fault::WrongLength => Trouble::generic("unexpected EOF"),
    }
}

fn http2_stream(stream: u32, reason: u32, by_whom: &str) -> Trouble {
    let name = http2_code(reason);
    Trouble::new(
        http2_number(code::HTTP2_STREAM, reason),
        format!("http2: stream error with http2 ErrCode {name}"),
        format!("stream error: stream ID {stream}; {name}{by_whom}"),
    )
}

fn http2_gone(stream: u32, reason: u32, debug: &str) -> Trouble {
    let name = http2_code(reason);
    Trouble::new(
        http2_number(code::HTTP2_GO_AWAY, reason),
        format!("http2: received GoAway with http2 ErrCode {name}"),
        format!(
            "http2: server sent GOAWAY and closed the connection; LastStreamID={stream}, \
             ErrCode={name}, debug={}",
            quoted_bytes(debug.as_bytes())
        ),
    )
}

/// The system's first name server, which Go names in its errors; read when a name was not found.
fn name_server() -> Option<String> {
    let text = std::fs::read_to_string("/etc/resolv.conf").ok()?;
    let server = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("nameserver"))?;
    let ip: IpAddr = server.trim().parse().ok()?;
    Some(SocketAddr::new(ip, 53).to_string())
}

fn asked_of(server: Option<&str>) -> String {
    server
        .map(|server| format!(" on {server}"))
        .unwrap_or_default()
}

fn http2_number(base: u16, reason: u32) -> u16 {
    match reason {
        0..=code::HTTP2_LAST => base + 1 + reason as u16,
        _ => base,
    }
}

fn head_fault(error: &WireError) -> String {
    use WireError as Wire;
    match error {
        Wire::NotHttp { sample }
        | Wire::TlsAnswer { sample }
        | Wire::Http2Answer { sample }
        | Wire::UnsupportedVersion { sample }
        | Wire::BadStatusLine { sample } => {
            // A line that ends immediately is empty.
            let line = match sample.as_bytes() {
                [b'\r' | b'\n', ..] => b"",
                line => line,
            };
            status_line_fault(line)
                .unwrap_or_else(|| format!("malformed HTTP response {}", quoted_bytes(line)))
        }
        Wire::BadHeader { fault, sample } => {
            let bytes = sample.as_bytes();
            let line = without_blanks_behind(bytes.strip_suffix(b"\r").unwrap_or(bytes));
            match fault {
                HeaderFault::NoColon => no_colon(line),
                HeaderFault::FoldWithoutHeader => {
                    let line = quoted_bytes(line);
                    format!("malformed MIME header initial line: {line}")
                }
                _ => bad_line(line),
            }
        }
        Wire::BadContentLength { sample } => {
            let value = quoted_bytes(sample.as_bytes());
            let empty = if sample.as_bytes().is_empty() {
                "invalid empty"
            } else {
                "bad"
            };
            format!("{empty} Content-Length {value}")
        }
        Wire::BadTransferEncoding { sample } => format!(
            "unsupported transfer encoding: {}",
            quoted_bytes(sample.as_bytes())
        ),
        Wire::ConflictingContentLength { values } => {
            let [first, second] = values.as_bytes().map(quoted_bytes);
            format!(
                "http: message cannot contain multiple Content-Length headers; got [{first} {second}]"
            )
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("the test's address")
    }

    #[test]
    fn dials_fail_in_k6s_words() {
        let at = address("127.0.0.1:1");
        let of = |number| dial(at, &io::Error::from_raw_os_error(number));
        let refused = of(libc::ECONNREFUSED);
        assert_eq!(
            (refused.code, refused.tag.as_str()),
            (1212, "dial: connection refused")
        );
        assert_eq!(
            refused.detail,
            "dial tcp 127.0.0.1:1: connect: connection refused"
        );
        let lost = of(libc::ENETUNREACH);
        assert_eq!(lost.code, 1213);
        assert_eq!(
            lost.tag,
            "dial: unknown errno 101 error with msg `network is unreachable`"
        );
        assert_eq!(of(libc::ETIMEDOUT).code, 1211);
        assert_eq!(
            lookup("h", Some("10.0.0.1:53"), "Name or service not known").detail,
            "lookup h on 10.0.0.1:53: no such host"
        );
        assert_eq!(lookup("h", None, "Temporary failure").code, 1100);
    }

    #[test]
    fn streams_fail_in_k6s_words() {
        let (local, remote) = (Some(address("127.0.0.1:2")), address("127.0.0.1:1"));
        let reset = io::Error::from_raw_os_error(libc::ECONNRESET);
        let read = stream(Stage::Reading, &reset, local, Some(remote));
        assert_eq!(
            (read.code, read.tag.as_str(), read.detail.as_str()),
            (
                1220,
                "read: connection reset by peer",
                "read tcp 127.0.0.1:2->127.0.0.1:1: read: connection reset by peer"
            )
        );
        let pipe = io::Error::from_raw_os_error(libc::EPIPE);
        let write = stream(Stage::Sending, &pipe, None, Some(remote));
        assert_eq!(
            (write.code, write.tag.as_str()),
            (1201, "write: broken pipe")
        );
        let other = io::Error::from_raw_os_error(libc::EHOSTUNREACH);
        assert_eq!(
            stream(Stage::Reading, &other, local, Some(remote)).code,
            1202
        );
    }

    #[test]
    fn proxies_fail_in_k6s_words() {
        let refused = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            proxy(&ProxyFault::Refused {
                status: 407,
                reason,
            })
        };
        assert_eq!(refused(Some("Proxy Auth")).tag, "Proxy Auth");
        assert_eq!(refused(None).tag, "unknown status code");
        assert_eq!(proxy(&ProxyFault::Closed).tag, "unexpected EOF");
    }

    #[test]
    fn http2_codes_are_counted_from_their_base() {
        let reset = |reason| http2(&Http2Fault::StreamReset { stream: 1, reason }).code;
        assert_eq!((reset(0), reset(99)), (1631, 1630));
        assert_eq!(http2_gone(1, 2, "").code, 1613);
        let (stream, reason) = (1, 1);
        let breach = http2(&Http2Fault::BrokenStream { stream, reason });
        assert_eq!(
            (breach.code, breach.detail.as_str()),
            (1632, "stream error: stream ID 1; PROTOCOL_ERROR")
        );
        let (reason, debug) = (1, String::new());
        let broken = http2(&Http2Fault::BrokenProtocol { reason, debug });
        assert_eq!(broken.code, 1652);
        let (reason, debug) = (11, String::new());
        let away = "http2: Transport received GOAWAY from server ErrCode:ENHANCE_YOUR_CALM";
        assert_eq!(http2(&Http2Fault::TurnedAway { reason, debug }).tag, away);
    }
}
