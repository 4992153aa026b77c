//! The client side of a WebSocket: handshake messages, and frames as bytes.
//!
//! Must not know sockets, nor the content. Invariants: every split of the same bytes yields the same frames; a frame
//! is at most [`FRAME_MAX`] long; what a client sends is masked.
//!
//! Source: RFC 6455, sections 4.1 and 5.2.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// Bytes of a frame that are taken; the kubelet sends some thousands.
const FRAME_MAX: usize = 1 << 20;
/// What the server adds to the key before it hashes it.
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// What a frame is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// More of the message before.
    Continuation,
    /// Text, which is not used here.
    Text,
    /// Bytes.
    Binary,
    /// The end.
    Close,
    /// A question whether the other side lives.
    Ping,
    /// The response to it.
    Pong,
}

impl FrameKind {
    fn of(code: u8) -> Option<FrameKind> {
        Some(match code {
            0 => FrameKind::Continuation,
            1 => FrameKind::Text,
            2 => FrameKind::Binary,
            8 => FrameKind::Close,
            9 => FrameKind::Ping,
            10 => FrameKind::Pong,
            _ => return None,
        })
    }

    fn code(self) -> u8 {
        match self {
            FrameKind::Continuation => 0,
            FrameKind::Text => 1,
            FrameKind::Binary => 2,
            FrameKind::Close => 8,
            FrameKind::Ping => 9,
            FrameKind::Pong => 10,
        }
    }
}

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: FrameKind,
    pub(crate) payload: Vec<u8>,
}

/// Turns bytes into frames.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
}

/// The bytes are no frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Decoder {
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next frame; `None`: more bytes are needed.
    ///
    /// # Errors
    /// The bytes are no frame that a server may send, or it is too long.
    pub(crate) fn next(&mut self) -> Result<Option<Frame>, Malformed> {
        let Some((first, second)) = self.bytes.first().zip(self.bytes.get(1)) else {
            return Ok(None);
        };
        let kind = FrameKind::of(first & 0x0f).ok_or(Malformed)?;
        // No extension was agreed on.
        if first & 0x70 != 0 {
            return Err(Malformed);
        }
        let is_masked = second & 0x80 != 0;
        let (length, at) = match second & 0x7f {
            126 => (self.number(2), 4),
            127 => (self.number(8), 10),
            short => (Some(u64::from(short)), 2),
        };
        let Some(length) = length else {
            return Ok(None);
        };
        let length = usize::try_from(length).map_err(|_| Malformed)?;
        if length > FRAME_MAX {
            return Err(Malformed);
        }
        let begin = at + if is_masked { 4 } else { 0 };
        if self.bytes.len() < begin + length {
            return Ok(None);
        }
        let mut payload = self.bytes[begin..begin + length].to_vec();
        if is_masked {
            let mask = [
                self.bytes[at],
                self.bytes[at + 1],
                self.bytes[at + 2],
                self.bytes[at + 3],
            ];
            apply(mask, &mut payload);
        }
        self.bytes.drain(..begin + length);
        Ok(Some(Frame { kind, payload }))
    }

    /// The length in this many bytes after the first two.
    fn number(&self, bytes: usize) -> Option<u64> {
        let bytes = self.bytes.get(2..2 + bytes)?;
        Some(
            bytes
                .iter()
                .fold(0, |number, byte| (number << 8) | u64::from(*byte)),
        )
    }
}

/// A whole frame as bytes; `None`: not masked, as servers send it.
pub(crate) fn encode(kind: FrameKind, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let mut bytes = vec![0x80 | kind.code()];
    let masked = if mask.is_some() { 0x80 } else { 0 };
    match payload.len() {
        short @ 0..126 => bytes.push(masked | short as u8),
        long @ 126..0x1_0000 => {
            bytes.push(masked | 126);
            bytes.extend_from_slice(&(long as u16).to_be_bytes());
        }
        longer => {
            bytes.push(masked | 127);
            bytes.extend_from_slice(&(longer as u64).to_be_bytes());
        }
    }
    let begin = bytes.len() + mask.map_or(0, |mask| mask.len());
    bytes.extend(mask.into_iter().flatten());
    bytes.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply(mask, &mut bytes[begin..]);
    }
    bytes
}

fn apply(mask: [u8; 4], payload: &mut [u8]) {
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

/// A server's response to a key.
pub(crate) fn accepted(key: &str) -> String {
    STANDARD.encode(Sha1::digest(format!("{key}{GUID}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_the_rfc_hold() {
        assert_eq!(
            accepted("dGhlIHNhbXBsZSBub25jZQ=="),
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
        );
        let hello = [
            0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
        ];
        assert_eq!(
            encode(FrameKind::Text, b"Hello", Some([0x37, 0xfa, 0x21, 0x3d])),
            hello
        );
        let mut decoder = Decoder::default();
        decoder.feed(&[0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
        let frame = decoder.next().expect("a frame").expect("whole");
        assert_eq!(
            (frame.kind, frame.payload.as_slice()),
            (FrameKind::Text, b"Hello".as_slice())
        );
        let long = encode(FrameKind::Binary, &[0; 256], None);
        assert_eq!(long[..4], [0x82, 0x7e, 0x01, 0x00]);
        let longer = encode(FrameKind::Binary, &vec![0; 65_536], None);
        assert_eq!(longer[..10], [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn what_no_server_may_send_is_refused() {
        for bytes in [
            [0x83, 0x00].as_slice(),
            &[0xc2, 0x00],
            &[0x82, 0x7f, 0, 0, 1, 0, 0, 0, 0, 0],
        ] {
            let mut decoder = Decoder::default();
            decoder.feed(bytes);
            assert_eq!(decoder.next(), Err(Malformed), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn every_split_gives_the_same_frames(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..5),
            mask in prop::option::of(any::<[u8; 4]>()),
            split in 1_usize..50,
        ) {
            let bytes: Vec<u8> = payloads.iter().flat_map(|one| encode(FrameKind::Binary, one, mask)).collect();
            let mut decoder = Decoder::default();
            let mut found = Vec::new();
            for part in bytes.chunks(split) {
                decoder.feed(part);
                while let Some(frame) = decoder.next().expect("well formed") {
                    found.push(frame.payload);
                }
            }
            prop_assert_eq!(found, payloads);
        }
    }
}
