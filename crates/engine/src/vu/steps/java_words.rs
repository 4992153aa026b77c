//! A failure in the words of Java and of JMeter's HTTP client.
//!
//! Must not decide what class a failure is of. Invariant: every failure has a class of exception and a message.

use std::net::IpAddr;

use loadline_model::ErrorClass;
use loadline_steps::http::{HttpAsk, HttpFault};
use loadline_wire::WireError;

use crate::net::{Cause, Failure, Reach, Stage};

/// What Java says of a failure.
pub(super) fn java_fault(failure: &Failure, ask: &HttpAsk) -> HttpFault {
    let (class, message) = words(failure, ask);
    HttpFault {
        class: class.to_owned(),
        message,
    }
}

fn words(failure: &Failure, ask: &HttpAsk) -> (&'static str, String) {
    let host_port = match ask.host.contains(':') {
        true => format!("[{}]:{}", ask.host, ask.port),
        false => format!("{}:{}", ask.host, ask.port),
    };
    let connect = |why: &str| {
        let given = ask.host.parse::<IpAddr>().ok();
        let ip = failure.address.map(|address| address.ip()).or(given);
        let name = match given {
            Some(_) => "",
            None => ask.host.as_str(),
        };
        let ip = ip.map_or_else(|| ask.host.clone(), told_address);
        format!("Connect to {host_port} [{name}/{ip}] failed: {why}")
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
        ErrorClass::Unreachable => (
            "java.net.NoRouteToHostException",
            "No route to host".to_owned(),
        ),
        ErrorClass::Dns => (
            "java.net.UnknownHostException",
            format!("{}: Name or service not known", ask.host),
        ),
        ErrorClass::Timeout => (
            "java.net.SocketTimeoutException",
            "Read timed out".to_owned(),
        ),
        ErrorClass::Tls => tls_words(failure),
        _ => of_the_answer(failure, &host_port),
    }
}

/// An address as Java tells it: one of IPv6 with all its groups.
fn told_address(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => {
            let groups = address.segments().map(|group| format!("{group:x}"));
            groups.join(":")
        }
    }
}

fn tls_words(failure: &Failure) -> (&'static str, String) {
    match failure.cause.as_deref() {
        Some(Cause::Handshake { first, .. }) if !first.is_empty() && first[0] != 0x15 => (
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
            (_, std::io::ErrorKind::BrokenPipe) => (
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
        _ if failure.reach == Reach::Unanswered => (
            "org.apache.http.NoHttpResponseException",
            format!("{host_port} failed to respond"),
        ),
        // What was wrong with the answer is told further down in a trace of the stack.
        _ => (
            "org.apache.http.client.ClientProtocolException",
            "null".to_owned(),
        ),
    }
}
