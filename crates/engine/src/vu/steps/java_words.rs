//! A failure in the words of Java and of JMeter's HTTP client.
//!
//! Must not decide the class of a failure. Invariant: every failure has an exception class and a message.

use std::io;
use std::net::IpAddr;

use loadline_model::ErrorClass;
use loadline_steps::http::{HttpAsk, HttpClient, HttpFault};
use loadline_wire::WireError;

use crate::exchange::{begins_as_gzip, is_gzip};
use crate::net::{Cause, Failure, Reach, Stage, is_tls_record};

/// What Java reports for a failure.
pub(super) fn java_fault(failure: &Failure, ask: &HttpAsk) -> HttpFault {
    let own = match ask.client {
        HttpClient::Java => words_of_java(failure, ask),
        HttpClient::Apache => None,
    };
    let (class, message) = own.unwrap_or_else(|| words(failure, ask));
    HttpFault {
        class: class.to_owned(),
        message,
    }
}

/// What Java reports for a socket that was closed during an exchange.
pub(super) fn closed() -> HttpFault {
    HttpFault {
        class: "java.net.SocketException".to_owned(),
        message: "Socket closed".to_owned(),
    }
}

/// What Java reports for a body that has nothing of its content coding.
pub(super) fn nothing_of_gzip() -> HttpFault {
    HttpFault {
        class: "java.io.EOFException".to_owned(),
        message: "null".to_owned(),
    }
}

/// What Java reports for a body that does not match its content coding.
pub(super) fn unfit(error: &io::Error, coding: Option<&str>, body: &[u8]) -> HttpFault {
    let (class, message) = match (error.kind(), coding) {
        (_, Some("br")) => (
            "java.io.IOException",
            "Brotli stream decoding failed".to_owned(),
        ),
        (_, Some(coding)) if is_gzip(coding) && !begins_as_gzip(body) => (
            "java.util.zip.ZipException",
            "Not in GZIP format".to_owned(),
        ),
        (io::ErrorKind::UnexpectedEof, _) => (
            "java.io.EOFException",
            "Unexpected end of ZLIB input stream".to_owned(),
        ),
        _ => ("java.util.zip.ZipException", error.to_string()),
    };
    HttpFault {
        class: class.to_owned(),
        message,
    }
}

/// What Java's own client words differently from Apache's.
fn words_of_java(failure: &Failure, ask: &HttpAsk) -> Option<(&'static str, String)> {
    let (class, message) = match failure.class {
        ErrorClass::Refused => ("java.net.ConnectException", "Connection refused"),
        ErrorClass::ConnectTimeout => ("java.net.SocketTimeoutException", "Connect timed out"),
        ErrorClass::Dns => ("java.net.UnknownHostException", ask.host.as_str()),
        _ => match failure.cause.as_deref() {
            Some(Cause::System { .. }) => return None,
            _ if failure.reach == Reach::Unanswered => (
                "java.net.SocketException",
                "Unexpected end of file from server",
            ),
            _ => return None,
        },
    };
    Some((class, message.to_owned()))
}

fn words(failure: &Failure, ask: &HttpAsk) -> (&'static str, String) {
    let host_port = told_peer(&ask.host, ask.port);
    let connect = |why: &str| {
        let (host, port) = peer_of(ask);
        let given = host.parse::<IpAddr>().ok();
        let ip = failure.address.map(|address| address.ip()).or(given);
        let name = match given {
            Some(_) => "",
            None => host,
        };
        let ip = ip.map_or_else(|| host.to_owned(), told_address);
        format!(
            "Connect to {} [{name}/{ip}] failed: {why}",
            told_peer(host, port)
        )
    };
    match failure.class {
        ErrorClass::Refused => (
            "org.apache.http.conn.HttpHostConnectException",
            connect("Connection refused"),
        ),
        ErrorClass::ConnectTimeout => (
            "org.apache.http.conn.ConnectTimeoutException",
            connect("Connect timed out"),
        ),
        ErrorClass::Unreachable if gave_up_sending(failure) => (
            "java.net.SocketException",
            "Connection timed out".to_owned(),
        ),
        ErrorClass::Unreachable => (
            "java.net.NoRouteToHostException",
            "No route to host".to_owned(),
        ),
        ErrorClass::Dns => ("java.net.UnknownHostException", unknown_host(failure, ask)),
        ErrorClass::Timeout => (
            "java.net.SocketTimeoutException",
            "Read timed out".to_owned(),
        ),
        ErrorClass::Tls => tls_words(failure),
        _ => of_the_answer(failure, &host_port),
    }
}

/// Whether the kernel gave up a connection because nothing was acknowledged.
fn gave_up_sending(failure: &Failure) -> bool {
    let cause = failure.cause.as_deref();
    matches!(cause, Some(Cause::System { error, .. }) if error.kind() == io::ErrorKind::TimedOut)
}

/// The host that a request connects to: the proxy, if there is one.
fn peer_of(ask: &HttpAsk) -> (&str, u16) {
    let proxy = ask.way.as_ref().and_then(|way| way.proxy.as_ref());
    proxy.map_or((&ask.host, ask.port), |proxy| (&proxy.host, proxy.port))
}

/// A host and port in Java's format.
fn told_peer(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// An address in Java's format: IPv6 with all its groups.
fn told_address(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let groups = address.segments().map(|group| format!("{group:x}"));
            groups.join(":")
        }
    }
}

/// The resolver's message; only the host while Java caches the failure, and also if the resolver was not asked.
fn unknown_host(failure: &Failure, ask: &HttpAsk) -> String {
    match failure.cause.as_deref() {
        Some(Cause::Lookup { host, fault }) if !fault.is_old => format!("{host}: {}", fault.why),
        Some(Cause::Lookup { host, .. }) => host.clone(),
        _ => peer_of(ask).0.to_owned(),
    }
}

fn tls_words(failure: &Failure) -> (&'static str, String) {
    match failure.cause.as_deref() {
        Some(Cause::Handshake { first, .. }) if !first.is_empty() && !is_tls_record(first) => (
            "javax.net.ssl.SSLException",
            "Unsupported or unrecognized SSL message".to_owned(),
        ),
        Some(Cause::ClosedInHandshake) => (
            "javax.net.ssl.SSLHandshakeException",
            "Remote host terminated the handshake".to_owned(),
        ),
        _ => (
            "javax.net.ssl.SSLHandshakeException",
            failure.detail.clone(),
        ),
    }
}

fn of_the_answer(failure: &Failure, host_port: &str) -> (&'static str, String) {
    match failure.cause.as_deref() {
        Some(Cause::System { stage, error, .. }) => match (stage, error.kind()) {
            (_, io::ErrorKind::BrokenPipe) => (
                "java.net.SocketException",
                "Broken pipe (Write failed)".to_owned(),
            ),
            (Stage::Connecting, _) => ("java.net.SocketException", error.to_string()),
            _ => ("java.net.SocketException", "Connection reset".to_owned()),
        },
        Some(Cause::Wire(WireError::TruncatedBody { expected, received })) => (
            "org.apache.http.ConnectionClosedException",
            match expected {
                Some(expected) => format!(
                    "Premature end of Content-Length delimited message body (expected: {expected}; received: {received})"
                ),
                None => {
                    "Premature end of chunk coded message body: closing chunk expected".to_owned()
                }
            },
        ),
        Some(Cause::Wire(WireError::BadChunkSize { sample })) => (
            "org.apache.http.MalformedChunkCodingException",
            format!(
                "Bad chunk header: {}",
                String::from_utf8_lossy(sample.as_bytes()).trim()
            ),
        ),
        Some(Cause::Wire(WireError::BadChunkEnd { .. })) => (
            "org.apache.http.MalformedChunkCodingException",
            "Unexpected content at the end of chunk".to_owned(),
        ),
        _ if failure.reach == Reach::Unanswered => (
            "org.apache.http.NoHttpResponseException",
            format!("{host_port} failed to respond"),
        ),
        // What was wrong with the response is further down in the stack trace.
        _ => (
            "org.apache.http.client.ClientProtocolException",
            "null".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use loadline_steps::http::{HttpProxy, HttpWay};

    use super::*;
    use crate::net::LookupFault;

    #[test]
    fn a_host_stands_alone_while_its_failure_is_remembered() {
        let ask = HttpAsk {
            host: "shop.test".to_owned(),
            ..HttpAsk::default()
        };
        let told = |why: &str, is_old| {
            let fault = LookupFault {
                why: why.to_owned(),
                is_old,
            };
            let host = "shop.test".to_owned();
            let failure = Failure::new(ErrorClass::Dns, String::new());
            java_fault(&failure.because(Cause::Lookup { host, fault }), &ask).message
        };
        let again = "Temporary failure in name resolution";
        assert_eq!(told(again, false), format!("shop.test: {again}"));
        let unknown = "Name or service not known";
        assert_eq!(told(unknown, false), format!("shop.test: {unknown}"));
        assert_eq!(told(unknown, true), "shop.test");
    }

    #[test]
    fn a_proxy_that_refuses_is_named() {
        let ask = HttpAsk {
            host: "shop.test".to_owned(),
            port: 80,
            way: Some(Box::new(HttpWay {
                proxy: Some(HttpProxy {
                    host: "127.0.0.1".to_owned(),
                    port: 3128,
                    authorization: None,
                }),
                ..HttpWay::default()
            })),
            ..HttpAsk::default()
        };
        let failure = Failure::new(ErrorClass::Refused, String::new());
        assert_eq!(
            java_fault(&failure, &ask).message,
            "Connect to 127.0.0.1:3128 [/127.0.0.1] failed: Connection refused"
        );
    }

    #[test]
    fn javas_own_client_has_words_of_its_own() {
        let ask = HttpAsk {
            client: HttpClient::Java,
            host: "shop.test".to_owned(),
            ..HttpAsk::default()
        };
        let told = |class, reach| {
            let failure = Failure {
                reach,
                ..Failure::new(class, String::new())
            };
            let fault = java_fault(&failure, &ask);
            format!("{}: {}", fault.class, fault.message)
        };
        assert_eq!(
            told(ErrorClass::Refused, Reach::Unsent),
            "java.net.ConnectException: Connection refused"
        );
        assert_eq!(
            told(ErrorClass::Dns, Reach::Unsent),
            "java.net.UnknownHostException: shop.test"
        );
        assert_eq!(
            told(ErrorClass::Closed, Reach::Unanswered),
            "java.net.SocketException: Unexpected end of file from server"
        );
    }
}
