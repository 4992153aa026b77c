//! Names of TLS alerts in Go's words, which people know from the logs of Go programs.
//!
//! Must not know who sent it. Invariant: every alert has a name.

use rustls::AlertDescription;

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

/// What may be behind an alert that names no cause; `None`: it says enough.
pub(crate) fn likely_cause(description: AlertDescription) -> Option<&'static str> {
    match description {
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => Some(
            "it may accept only ciphers that loadline does not speak (CBC, or without ECDHE), or \
             want a client certificate",
        ),
        _ => None,
    }
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
}
