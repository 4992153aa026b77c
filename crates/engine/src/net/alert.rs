//! TLS alerts in Go's words, which people know from the logs of Go programs, and what may be behind them and behind
//! what the TLS library only names.
//!
//! Must not know who sent it. Invariant: every alert has a name.

use rustls::{AlertDescription, Error, InvalidMessage, PeerIncompatible, PeerMisbehaved};

/// The type of a TLS record that holds an alert (RFC 8446 section 5.1).
const ALERT: u8 = 0x15;

/// Whether bytes start a TLS record (RFC 8446 section 5.1).
pub(crate) fn is_tls_record(first: &[u8]) -> bool {
    matches!(first, [0x14..=0x17, 0x03, ..])
}

const NO_CIPHER: &str = "it accepts none of the offered ciphers, which are those with ECDHE and AES-GCM or \
    ChaCha20-Poly1305 (CBC and RSA key exchange are not spoken): enable one of these there, or put a TLS proxy \
    before it";
const NO_VERSION: &str = "it speaks neither of the offered versions, which are TLS 1.2 and 1.3 unless options say \
    less (TLS 1.0 and 1.1 are not spoken): enable one of these there, or put a TLS proxy before it";
const NO_CERTIFICATE: &str = "it may want a client certificate, or another one";
const TOO_LONG: &str = "it sent a handshake message of more than 64 kB, as of a chain of hundreds of certificates: \
    longer ones are not read, so let it send a shorter chain";

/// The name of an alert in `crypto/tls`.
pub(crate) fn alert(description: AlertDescription) -> String {
    use AlertDescription as Alert;
    let words = match description {
        Alert::CloseNotify => "close notify",
        Alert::UnexpectedMessage => "unexpected message",
        Alert::BadRecordMac => "bad record MAC",
        Alert::DecryptionFailed => "decryption failed",
        Alert::RecordOverflow => "record overflow",
        Alert::HandshakeFailure => "handshake failure",
        Alert::BadCertificate => "bad certificate",
        Alert::UnsupportedCertificate => "unsupported certificate",
        Alert::CertificateRevoked => "revoked certificate",
        Alert::CertificateExpired => "expired certificate",
        Alert::CertificateUnknown => "unknown certificate",
        Alert::IllegalParameter => "illegal parameter",
        Alert::UnknownCA => "unknown certificate authority",
        Alert::AccessDenied => "access denied",
        Alert::DecodeError => "error decoding message",
        Alert::DecryptError => "error decrypting message",
        Alert::ProtocolVersion => "protocol version not supported",
        Alert::InsufficientSecurity => "insufficient security level",
        Alert::InternalError => "internal error",
        Alert::InappropriateFallback => "inappropriate fallback",
        Alert::UserCanceled => "user canceled",
        Alert::NoRenegotiation => "no renegotiation",
        Alert::MissingExtension => "missing extension",
        Alert::UnsupportedExtension => "unsupported extension",
        Alert::UnrecognisedName => "unrecognized name",
        Alert::CertificateRequired => "certificate required",
        Alert::NoApplicationProtocol => "no application protocol",
        other => return format!("alert({})", u8::from(other)),
    };
    words.to_owned()
}

/// What may be behind an error of TLS that names no cause, and what to do; `None`: it says enough. `first` are the
/// first received bytes of the handshake, none after it.
pub(crate) fn likely_cause(error: &Error, first: &[u8]) -> Option<&'static str> {
    use AlertDescription as Alert;
    match error {
        Error::AlertReceived(Alert::HandshakeFailure | Alert::InsufficientSecurity) => {
            // A target that has found a cipher says so before it can miss a certificate.
            let is_refused = first.first() == Some(&ALERT);
            Some(if is_refused {
                NO_CIPHER
            } else {
                NO_CERTIFICATE
            })
        }
        Error::AlertReceived(Alert::ProtocolVersion)
        | Error::PeerIncompatible(
            PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
        ) => Some(NO_VERSION),
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedCipherSuite) => Some(NO_CIPHER),
        Error::InvalidMessage(
            InvalidMessage::HandshakePayloadTooLarge | InvalidMessage::CertificatePayloadTooLarge,
        ) => Some(TOO_LONG),
        _ => None,
    }
}

/// A name of the library in words: `MaximumPathDepthExceeded` is "maximum path depth exceeded".
pub(crate) fn in_words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase()
            && words.ends_with(|before: char| before.is_ascii_lowercase())
        {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_have_words() {
        let words = alert(AlertDescription::CertificateRequired);
        assert_eq!(words, "certificate required");
        assert_eq!(alert(AlertDescription::from(199)), "alert(199)");
    }

    #[test]
    fn what_is_not_spoken_is_told_from_a_certificate_that_is_missed() {
        let refused = Error::AlertReceived(AlertDescription::HandshakeFailure);
        assert_eq!(likely_cause(&refused, &[0x15, 3, 3]), Some(NO_CIPHER));
        assert_eq!(likely_cause(&refused, &[0x16, 3, 3]), Some(NO_CERTIFICATE));
        let version = Error::AlertReceived(AlertDescription::ProtocolVersion);
        assert_eq!(likely_cause(&version, &[0x15, 3, 1]), Some(NO_VERSION));
        let old = Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13);
        assert_eq!(likely_cause(&old, &[0x16, 3, 1]), Some(NO_VERSION));
        assert_eq!(likely_cause(&Error::DecryptError, &[]), None);
    }
}
