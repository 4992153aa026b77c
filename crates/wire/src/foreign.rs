//! Recognises other protocols than HTTP/1.x from the first bytes of a response.
//!
//! It must not know the request. Invariant: the result depends on the first nine bytes at most, so it does not
//! depend on how the bytes arrived.

use crate::error::WireError;
use crate::sample::Sample;

/// The start of every HTTP/1.x response.
pub(crate) const PREFIX: &[u8] = b"HTTP/";

/// How many first bytes can matter: an HTTP/2 frame header (RFC 9113 §4.1).
pub(crate) const LOOK_AHEAD: usize = 9;

/// Whether `bytes` starts an HTTP response; `false` if there are too few bytes to tell.
///
/// # Errors
/// One of the three "other protocol" errors as soon as the bytes rule out HTTP/1.x.
#[inline]
pub(crate) fn speaks_http(bytes: &[u8]) -> Result<bool, WireError> {
    if bytes.starts_with(PREFIX) {
        return Ok(true);
    }
    if PREFIX.starts_with(bytes) {
        return Ok(false);
    }
    recognise(bytes).map_or(Ok(false), Err)
}

/// The protocol of `bytes`; `None` if more bytes are needed.
#[cold]
fn recognise(bytes: &[u8]) -> Option<WireError> {
    let sample = Sample::of(bytes);
    match bytes {
        // A TLS record (RFC 8446 §5.1): alert (21) or handshake (22), version 3.x.
        [0x15 | 0x16] => None,
        [0x15 | 0x16, 0x03, ..] => Some(WireError::TlsAnswer { sample }),
        [0x00, ..] if bytes.len() < LOOK_AHEAD => None,
        _ if is_http2_frame(bytes) => Some(WireError::Http2Answer { sample }),
        _ => Some(WireError::NotHttp { sample }),
    }
}

/// A SETTINGS (4) or GOAWAY (7) frame on stream 0, with which an HTTP/2 server opens or refuses a connection.
/// The first byte is zero because neither may exceed 16,384 bytes at that point.
fn is_http2_frame(bytes: &[u8]) -> bool {
    matches!(
        bytes,
        [
            0x00,
            _,
            _,
            0x04 | 0x07,
            _,
            0x00 | 0x80,
            0x00,
            0x00,
            0x00,
            ..
        ]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTINGS: &[u8] = b"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80";
    const GOAWAY: &[u8] = b"\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01";

    #[test]
    fn names_the_protocol() {
        assert_eq!(speaks_http(b"HTTP/1.1 200 OK"), Ok(true));
        for tls in [&b"\x15\x03\x01\x00\x02\x02\x46"[..], b"\x16\x03\x03"] {
            assert!(
                matches!(speaks_http(tls), Err(WireError::TlsAnswer { .. })),
                "{tls:?}"
            );
        }
        for http2 in [SETTINGS, GOAWAY] {
            assert!(matches!(
                speaks_http(http2),
                Err(WireError::Http2Answer { .. })
            ));
        }
        for other in [
            &b"SSH-2.0-x"[..],
            b"<html>",
            b"HTTQ",
            b"\x16\x02",
            b"\0\0\0\0\0\0\0\0\0",
        ] {
            assert!(
                matches!(speaks_http(other), Err(WireError::NotHttp { .. })),
                "{other:?}"
            );
        }
    }

    #[test]
    fn waits_while_the_bytes_may_still_become_either() {
        for start in [&b""[..], b"H", b"HTTP", b"\x15", b"\x16", &SETTINGS[..8]] {
            assert_eq!(speaks_http(start), Ok(false), "{start:?}");
        }
    }
}
