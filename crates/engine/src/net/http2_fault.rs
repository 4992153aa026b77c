//! Errors of HTTP/2 above the connection.
//!
//! Must not know requests. Invariant: the text contains nothing that differs between streams, so that equal
//! failures are counted together.

use std::fmt;

/// A fault of HTTP/2; reasons are the codes of RFC 9113 section 7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Http2Fault {
    /// The peer reset the stream.
    StreamReset { stream: u32, reason: u32 },
    /// The peer violated the rules of a stream; the connection stays usable.
    BrokenStream { stream: u32, reason: u32 },
    /// The peer broke the protocol; the text says how, where that is known.
    BrokenProtocol { reason: u32, debug: String },
    /// The peer sent a frame longer than allowed.
    FrameTooLarge,
    /// The peer will not process the request: it sent GOAWAY before.
    TurnedAway { reason: u32, debug: String },
    /// The peer closed the connection after it had given a reason.
    Gone {
        stream: u32,
        reason: u32,
        debug: String,
    },
    /// A body is not as long as its head says.
    WrongLength,
    /// The connection was lost before the request got onto it.
    Unsent,
    /// The connection ended without a reason.
    Ended,
}

impl fmt::Display for Http2Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, reason, debug) = match self {
            Self::StreamReset { reason, .. } => ("the target reset the stream", reason, ""),
            Self::BrokenStream { reason, .. } => {
                ("the target broke the rules of a stream", reason, "")
            }
            Self::BrokenProtocol { reason, debug } => {
                let what = "the target broke the rules of HTTP/2";
                (what, reason, debug.as_str())
            }
            Self::TurnedAway { reason, debug } => {
                let what = "the target refused the request with GOAWAY";
                (what, reason, debug.as_str())
            }
            Self::Gone { reason, debug, .. } => {
                let what = "the target closed the connection after GOAWAY";
                (what, reason, debug.as_str())
            }
            Self::FrameTooLarge => {
                return out.write_str(
                    "the target sent a frame larger than allowed, or does not speak HTTP/2",
                );
            }
            Self::WrongLength => {
                return out.write_str("the body is not as long as its content-length says");
            }
            Self::Unsent => {
                return out.write_str("the connection was lost before the request");
            }
            Self::Ended => {
                return out.write_str("the target closed the connection before the response ended");
            }
        };
        write!(out, "{what}: {}", http2_code(*reason))?;
        match debug {
            "" => Ok(()),
            debug => write!(out, " ({debug})"),
        }
    }
}

/// The name of an error code.
pub(crate) fn http2_code(code: u32) -> String {
    const NAMES: [&str; 14] = [
        "NO_ERROR",
        "PROTOCOL_ERROR",
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "SETTINGS_TIMEOUT",
        "STREAM_CLOSED",
        "FRAME_SIZE_ERROR",
        "REFUSED_STREAM",
        "CANCEL",
        "COMPRESSION_ERROR",
        "CONNECT_ERROR",
        "ENHANCE_YOUR_CALM",
        "INADEQUATE_SECURITY",
        "HTTP_1_1_REQUIRED",
    ];
    match NAMES.get(code as usize) {
        Some(name) => (*name).to_owned(),
        None => format!("unknown error code 0x{code:x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_names() {
        assert_eq!(http2_code(2), "INTERNAL_ERROR");
        assert_eq!(http2_code(99), "unknown error code 0x63");
    }

    #[test]
    fn faults_are_told_without_the_stream() {
        let reset = |stream| Http2Fault::StreamReset { stream, reason: 8 }.to_string();
        assert_eq!(reset(1), "the target reset the stream: CANCEL");
        assert_eq!(reset(1), reset(3));
        let debug = "calm down".to_owned();
        assert_eq!(
            Http2Fault::TurnedAway { reason: 11, debug }.to_string(),
            "the target refused the request with GOAWAY: ENHANCE_YOUR_CALM (calm down)"
        );
    }
}
