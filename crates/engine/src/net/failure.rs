//! Why a request failed: a class, a message without anything that differs from one request to the
//! next, and the peer's address.
//!
//! The class is decided here, where the error happens; what other tools call it (their numbers, their
//! words) is derived from the [`Cause`] by the front end that speaks for them. Must not know who counts
//! it. Invariant: every error of the operating system gets a class by the stage in which it came.

use std::io;
use std::net::{IpAddr, SocketAddr};

use loadline_model::ErrorClass;
use loadline_model::script_names::Network;
use loadline_model::snapshot::ErrorKey;
use loadline_wire::WireError;

use super::alert::{alert, in_words, likely_cause};
use super::dns::LookupFault;
use super::http2_fault::Http2Fault;
use super::proxy::ProxyFault;

/// The stage of a request at which an error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Connecting,
    Sending,
    Reading,
}

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) class: ErrorClass,
    pub(crate) detail: String,
    pub(crate) address: Option<SocketAddr>,
    /// How far the request had got.
    pub(crate) reach: Reach,
    /// Further facts; `None`: the detail is complete.
    pub(crate) cause: Option<Box<Cause>>,
}

/// How far a request had got when it failed, which decides whether it may be retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The peer has not seen it, or says that it has not processed it.
    Unsent,
    /// It was sent, and the connection ended without a byte of a response.
    Unanswered,
    /// A response had begun, or nothing is known.
    Begun,
}

/// The facts behind a failure, for front ends that word them differently.
#[derive(Debug)]
pub(crate) enum Cause {
    /// The plan forbids the host.
    BlockedHost { host: String, pattern: String },
    /// The plan forbids the address.
    BlockedAddress { ip: IpAddr, network: Network },
    /// The resolver gave an error.
    Lookup { host: String, fault: LookupFault },
    /// The name has addresses, and none that may be used.
    NoUsableAddress { host: String },
    /// No connection within its time limit; the address as requested.
    ConnectTimeout { host_port: String },
    /// No complete response within the time limit.
    Timeout,
    /// An error of the operating system.
    System {
        stage: Stage,
        error: io::Error,
        /// This end of the connection, where there is one.
        local: Option<SocketAddr>,
        /// What is wrong with the part of a response's head that had come, if one had begun.
        head: Option<WireError>,
    },
    /// What TLS found wrong after the handshake, or what the peer did.
    Tls(rustls::Error),
    /// What TLS found wrong in a handshake, and up to five of the first received bytes.
    Handshake {
        error: rustls::Error,
        first: Vec<u8>,
    },
    /// The peer closed during the handshake.
    ClosedInHandshake,
    /// An HTTP/1.1 response that cannot be parsed.
    Wire(WireError),
    /// What HTTP/2 found wrong.
    Http2(Http2Fault),
    /// How a proxy responded to the request for a tunnel.
    Proxy(ProxyFault),
}

impl Failure {
    pub(crate) fn new(class: ErrorClass, detail: impl Into<String>) -> Failure {
        Failure {
            class,
            detail: detail.into(),
            address: None,
            reach: Reach::Begun,
            cause: None,
        }
    }

    /// The same with its cause.
    pub(crate) fn because(mut self, cause: Cause) -> Failure {
        self.cause = Some(Box::new(cause));
        self
    }

    /// An operating system error, classified by its number and stage.
    pub(crate) fn io(stage: Stage, error: &io::Error) -> Failure {
        Failure::on_connection(stage, error, None)
    }

    /// The same on a connection with a known local address.
    pub(crate) fn on_connection(
        stage: Stage,
        error: &io::Error,
        local: Option<SocketAddr>,
    ) -> Failure {
        if let Some(tls) = tls_error(error) {
            return Failure::tls(tls);
        }
        let class = os_class(error).unwrap_or_else(|| class_by_kind(stage, error.kind()));
        let error = copy_of(error);
        Failure::new(class, error.to_string()).because(Cause::System {
            stage,
            error,
            local,
            head: None,
        })
    }

    /// The same within the head of a response, of which a part had come.
    pub(crate) fn within_head(mut self, part: WireError) -> Failure {
        if let Some(Cause::System { head, .. }) = self.cause.as_deref_mut() {
            *head = Some(part);
        }
        self
    }

    /// What TLS found wrong after the handshake: an alert is the target's statement about the plan, everything else
    /// is the target's own violation.
    fn tls(error: &rustls::Error) -> Failure {
        let failure = match error {
            rustls::Error::AlertReceived(_) => {
                Failure::new(ErrorClass::Tls, tls_detail(error, &[]))
            }
            _ => Failure::new(
                ErrorClass::Malformed,
                format!(
                    "the target broke the rules of TLS: {}",
                    tls_detail(error, &[])
                ),
            ),
        };
        failure.because(Cause::Tls(error.clone()))
    }

    /// An HTTP/2 error.
    pub(crate) fn http2(fault: Http2Fault) -> Failure {
        let class = match fault {
            Http2Fault::Unsent | Http2Fault::Ended => ErrorClass::Closed,
            Http2Fault::WrongLength => ErrorClass::Malformed,
            _ => ErrorClass::Http2,
        };
        Failure::new(class, fault.to_string()).because(Cause::Http2(fault))
    }

    pub(crate) fn timeout(detail: impl Into<String>) -> Failure {
        Failure::new(ErrorClass::Timeout, detail).because(Cause::Timeout)
    }

    /// A response that could not be read.
    pub(crate) fn wire(error: &WireError) -> Failure {
        use loadline_wire::ErrorClass as Wire;
        let class = match error.class() {
            Wire::ClosedBeforeResponse => ErrorClass::Closed,
            Wire::Truncated => ErrorClass::Truncated,
            Wire::TooLarge => ErrorClass::TooLarge,
            _ => ErrorClass::Malformed,
        };
        let failure = match truncation(error) {
            Some(detail) => Failure::new(class, detail),
            None => Failure::new(class, error.to_string()),
        };
        failure.because(Cause::Wire(*error))
    }

    /// Whether the peer did not process the request over HTTP/2, so that another stream or connection may take
    /// it.
    pub(crate) fn is_turned_away(&self) -> bool {
        let is_of_http2 = matches!(self.cause.as_deref(), Some(Cause::Http2(_)));
        is_of_http2 && self.reach == Reach::Unsent
    }

    pub(crate) fn at(mut self, address: Option<SocketAddr>) -> Failure {
        self.address = self.address.or(address);
        self
    }
}

/// A copy of an error, which the standard library cannot clone.
fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// The TLS error in an I/O error, also after the handshake: in TLS 1.3 a target rejects the client's
/// certificate there.
pub(super) fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

/// The message for it, with what may be behind it; a report recognises alerts by their quotes. `first` are the first
/// received bytes of a handshake.
pub(super) fn tls_detail(error: &rustls::Error, first: &[u8]) -> String {
    let cause = likely_cause(error, first);
    let said = match error {
        rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired) => {
            "the target requires a client certificate".to_owned()
        }
        rustls::Error::AlertReceived(description) => {
            format!("{} \"{}\"", ErrorKey::ALERT_SENT, alert(*description))
        }
        rustls::Error::InvalidMessage(_) | rustls::Error::PeerIncompatible(_)
            if cause.is_some() =>
        {
            "the TLS handshake with the target failed".to_owned()
        }
        other => in_words(&other.to_string()),
    };
    match cause {
        Some(cause) => format!("{said}: {cause}"),
        None => said,
    }
}

/// The message for a truncated response: without the number of bytes, which differs between responses and would
/// make each a separate kind.
fn truncation(error: &WireError) -> Option<&'static str> {
    match error {
        WireError::TruncatedHead { .. } => Some("the target closed within the response head"),
        WireError::TruncatedBody {
            expected: Some(_), ..
        } => Some("the target closed before the announced end of the body"),
        WireError::TruncatedBody { expected: None, .. } => {
            Some("the target closed before the last chunk of the body")
        }
        _ => None,
    }
}

/// The class of an error number that does not depend on the stage.
#[cfg(unix)]
fn os_class(error: &io::Error) -> Option<ErrorClass> {
    match error.raw_os_error()? {
        libc::EMFILE | libc::ENFILE => Some(ErrorClass::FdLimit),
        libc::EADDRNOTAVAIL | libc::EADDRINUSE => Some(ErrorClass::PortsExhausted),
        libc::EHOSTUNREACH | libc::ENETUNREACH | libc::ENETDOWN | libc::EHOSTDOWN => {
            Some(ErrorClass::Unreachable)
        }
        _ => None,
    }
}

#[cfg(not(unix))]
fn os_class(_error: &io::Error) -> Option<ErrorClass> {
    None
}

fn class_by_kind(stage: Stage, kind: io::ErrorKind) -> ErrorClass {
    use io::ErrorKind as Kind;
    match (stage, kind) {
        (_, Kind::ConnectionRefused) => ErrorClass::Refused,
        (Stage::Connecting, Kind::TimedOut) => ErrorClass::ConnectTimeout,
        (Stage::Connecting, Kind::NotFound | Kind::PermissionDenied) => ErrorClass::Refused,
        // The kernel gave up retransmitting: nothing was acknowledged.
        (_, Kind::TimedOut) => ErrorClass::Unreachable,
        (_, Kind::AddrNotAvailable | Kind::AddrInUse) => ErrorClass::PortsExhausted,
        (_, Kind::HostUnreachable | Kind::NetworkUnreachable) => ErrorClass::Unreachable,
        (Stage::Sending, Kind::ConnectionReset | Kind::BrokenPipe | Kind::ConnectionAborted) => {
            ErrorClass::ResetSending
        }
        (_, Kind::ConnectionReset | Kind::BrokenPipe | Kind::ConnectionAborted) => {
            ErrorClass::ResetReading
        }
        (_, Kind::UnexpectedEof) => ErrorClass::Closed,
        _ => ErrorClass::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_classed_by_number_and_stage() {
        let class = |stage, code| Failure::io(stage, &io::Error::from_raw_os_error(code)).class;
        assert_eq!(
            class(Stage::Connecting, libc::ECONNREFUSED),
            ErrorClass::Refused
        );
        assert_eq!(class(Stage::Connecting, libc::EMFILE), ErrorClass::FdLimit);
        assert_eq!(
            class(Stage::Connecting, libc::EADDRNOTAVAIL),
            ErrorClass::PortsExhausted
        );
        assert_eq!(class(Stage::Sending, libc::EPIPE), ErrorClass::ResetSending);
        assert_eq!(
            class(Stage::Reading, libc::ECONNRESET),
            ErrorClass::ResetReading
        );
        for (stage, expected) in [
            (Stage::Connecting, ErrorClass::ConnectTimeout),
            (Stage::Sending, ErrorClass::Unreachable),
            (Stage::Reading, ErrorClass::Unreachable),
        ] {
            assert_eq!(class(stage, libc::ETIMEDOUT), expected);
        }
    }

    /// An alert is the target's statement about what it received, such as a certificate; an invalid record is the
    /// target's own fault.
    #[test]
    fn after_the_handshake_only_alerts_are_of_tls() {
        let failure = |tls: rustls::Error| {
            let error = io::Error::new(io::ErrorKind::InvalidData, tls);
            Failure::io(Stage::Reading, &error)
        };
        let required = rustls::AlertDescription::CertificateRequired;
        let alert = failure(rustls::Error::AlertReceived(required));
        assert_eq!(alert.class, ErrorClass::Tls);
        let vague = failure(rustls::Error::AlertReceived(
            rustls::AlertDescription::HandshakeFailure,
        ));
        let words =
            "the target sent the TLS alert \"handshake failure\": it may want a client certificate";
        assert!(vague.detail.starts_with(words), "{}", vague.detail);
        let own = failure(rustls::Error::AlertReceived(
            rustls::AlertDescription::InternalError,
        ));
        assert_eq!(
            own.detail,
            "the target sent the TLS alert \"internal error\""
        );
        let corrupt = failure(rustls::Error::DecryptError);
        assert_eq!(corrupt.class, ErrorClass::Malformed);
        assert_eq!(
            corrupt.detail,
            "the target broke the rules of TLS: cannot decrypt peer's message"
        );
    }
}
