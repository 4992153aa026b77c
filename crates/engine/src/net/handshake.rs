//! The TLS handshake, and the meaning of its failures.
//!
//! Must not know the plan. Invariant: what the peer said before it closed is part of the failure.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use loadline_model::ErrorClass;
use loadline_model::snapshot::ErrorKey;
use rustls::{AlertDescription, CertificateError, CipherSuite, ClientConfig, ProtocolVersion};
use rustls_pki_types::ServerName;
use tokio::io::AsyncReadExt;
use tokio_rustls::TlsConnector;

use super::alert::{in_words, likely_cause};
use super::failure::{Cause, Failure, Stage, tls_detail, tls_error};
use super::socket::{Socket, Stream};
use super::verifier::is_unknown_authority;
use crate::clock::Clock;

/// The result of a handshake, and its duration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handshake {
    /// In nanoseconds.
    pub(crate) took_ns: u64,
    /// Whether HTTP/2 was negotiated.
    pub(crate) http2: bool,
    pub(crate) version: Option<ProtocolVersion>,
    pub(crate) suite: Option<CipherSuite>,
}

/// Performs the TLS handshake on a socket; `name` is requested (SNI) and verified.
pub(super) async fn shake_hands(
    config: Arc<ClientConfig>,
    socket: Socket,
    name: &str,
    clock: &Clock,
) -> Result<(Stream, Handshake), Failure> {
    let begun = clock.now();
    let server_name = ServerName::try_from(name.to_owned())
        .map_err(|_| Failure::new(ErrorClass::Tls, format!("{name:?} cannot be a TLS name")))?;
    let made = TlsConnector::from(config)
        .connect(server_name, socket)
        .into_fallible()
        .await;
    let stream = match made {
        Ok(stream) => stream,
        Err((error, mut socket)) => return Err(why_none(&error, &mut socket).await),
    };
    let session = stream.get_ref().1;
    let handshake = Handshake {
        took_ns: clock.now().since(begun),
        http2: session.alpn_protocol() == Some(b"h2"),
        version: session.protocol_version(),
        suite: session.negotiated_cipher_suite().map(|suite| suite.suite()),
    };
    Ok((Stream::Tls(Box::new(stream)), handshake))
}

/// Why the handshake failed, including what the peer sent before it closed while this end was still writing.
async fn why_none(error: &io::Error, socket: &mut Socket) -> Failure {
    if error.kind() != io::ErrorKind::BrokenPipe {
        return failure_of(error, socket.first_bytes(), socket.local_addr());
    }
    match unread_alert(socket).await {
        Some(description) => {
            let error = rustls::Error::AlertReceived(description);
            let first = socket.first_bytes().to_vec();
            let failure = Failure::new(ErrorClass::Tls, tls_detail(&error, &first));
            failure.because(Cause::Handshake { error, first })
        }
        None => Failure::on_connection(Stage::Sending, error, socket.local_addr()),
    }
}

/// The clear-text alert that waits to be read (RFC 5246 section 7.2); `None` if there is none.
async fn unread_alert(socket: &mut Socket) -> Option<AlertDescription> {
    let mut record = [0_u8; 7];
    socket.read_exact(&mut record).await.ok()?;
    match record {
        [0x15, 0x03, _, 0x00, 0x02, _level, description] => {
            Some(AlertDescription::from(description))
        }
        _ => None,
    }
}

/// What a failed handshake means; `first` are the first bytes that came, `local` is this end.
fn failure_of(error: &io::Error, first: &[u8], local: Option<SocketAddr>) -> Failure {
    if let Some(tls) = tls_error(error) {
        let failure = match tls {
            rustls::Error::InvalidCertificate(why) => {
                Failure::new(ErrorClass::Certificate, refusal(why))
            }
            rustls::Error::InvalidMessage(_) if first.starts_with(b"HTTP/") => Failure::new(
                ErrorClass::Tls,
                "the peer answered the TLS handshake with plain HTTP, which is not TLS",
            ),
            rustls::Error::InvalidMessage(_) if likely_cause(tls, first).is_none() => Failure::new(
                ErrorClass::Tls,
                "the peer answered the TLS handshake with something that is not TLS",
            ),
            other => Failure::new(ErrorClass::Tls, tls_detail(other, first)),
        };
        return failure.because(Cause::Handshake {
            error: tls.clone(),
            first: first.to_vec(),
        });
    }
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return Failure::new(ErrorClass::Tls, ErrorKey::CLOSED_IN_HANDSHAKE)
            .because(Cause::ClosedInHandshake);
    }
    let mut failure = Failure::on_connection(Stage::Reading, error, local);
    failure.detail = format!("during the TLS handshake: {}", failure.detail);
    failure
}

/// Why a certificate was refused, without the timestamps that the library includes.
fn refusal(why: &CertificateError) -> String {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate not trusted: it has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "certificate not trusted: it is not valid yet".to_owned()
        }
        why if is_unknown_authority(why) => {
            "certificate not trusted: unknown issuer (self-signed?)".to_owned()
        }
        CertificateError::Other(other) => {
            format!("certificate not trusted: {}", in_words(&other.to_string()))
        }
        other => format!("certificate not trusted: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use rustls::{InvalidMessage, OtherError};

    use super::*;

    #[test]
    fn what_only_the_library_names_is_told_in_words() {
        let why = io::Error::other("MaximumPathDepthExceeded");
        let why = CertificateError::Other(OtherError(Arc::new(why)));
        assert_eq!(
            refusal(&why),
            "certificate not trusted: maximum path depth exceeded"
        );
    }

    #[test]
    fn a_message_that_is_too_long_is_tls_all_the_same() {
        let error = rustls::Error::InvalidMessage(InvalidMessage::HandshakePayloadTooLarge);
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        let failure = failure_of(&error, b"\x16\x03\x03", None);
        assert_eq!(failure.class, ErrorClass::Tls);
        assert!(
            failure.detail.contains("more than 64 kB"),
            "{}",
            failure.detail
        );
    }
}
