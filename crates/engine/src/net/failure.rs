//! Why a request failed: a class, a message without anything that differs from one request to the
//! next, and the address spoken to.
//!
//! Must not know who counts it. Invariant: every error of the operating system gets a class by the
//! stage in which it came.

use std::io;
use std::net::SocketAddr;

use loadline_model::ErrorClass;
use loadline_wire::WireError;

/// Where in a request's life an error came.
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
}

impl Failure {
    pub(crate) fn new(class: ErrorClass, detail: impl Into<String>) -> Failure {
        Failure {
            class,
            detail: detail.into(),
            address: None,
        }
    }

    /// An error of the operating system, classed by its number and stage.
    pub(crate) fn io(stage: Stage, error: &io::Error) -> Failure {
        if let Some(tls) = tls_error(error) {
            return Failure::new(ErrorClass::Tls, tls_detail(tls));
        }
        let class = os_class(error).unwrap_or_else(|| class_by_kind(stage, error.kind()));
        Failure::new(class, error.to_string())
    }

    /// An answer that could not be read.
    pub(crate) fn wire(error: &WireError) -> Failure {
        use loadline_wire::ErrorClass as Wire;
        let class = match error.class() {
            Wire::ClosedBeforeResponse => ErrorClass::Closed,
            Wire::Truncated => ErrorClass::Truncated,
            Wire::TooLarge => ErrorClass::TooLarge,
            _ => ErrorClass::Malformed,
        };
        match truncation(error) {
            Some(detail) => Failure::new(class, detail),
            None => Failure::new(class, error.to_string()),
        }
    }

    pub(crate) fn at(mut self, address: Option<SocketAddr>) -> Failure {
        self.address = self.address.or(address);
        self
    }
}

/// What TLS found wrong, after the handshake too: there a target says in TLS 1.3 what it thinks of the
/// client's certificate.
fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn tls_detail(error: &rustls::Error) -> String {
    match error {
        rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired) => {
            "the target wants a client certificate: give one with --cert".to_owned()
        }
        other => other.to_string(),
    }
}

/// What a truncated answer is called: without the number of bytes, which differs from one answer to
/// the next and would make each a kind of its own.
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

/// The classes that an error number tells whatever the stage.
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
        (_, Kind::TimedOut) => ErrorClass::Timeout,
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
    }
}
