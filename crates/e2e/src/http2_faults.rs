//! A table of servers that each do one thing wrong with every request over HTTP/2, and how that is to be
//! counted; frames are written by hand (RFC 9113 section 4.1).
//!
//! Must not know the client. Invariant: a server sends its frames after it has received the complete request.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::certificates::{Identity, TlsStream};
use crate::faults::linger;
use crate::server::Server;

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Http2Fault {
    /// Its name.
    pub name: &'static str,
    /// The frames sent after the request; then the connection is closed.
    frames: &'static [u8],
    /// Whether the frame only affects the request's stream, so that the connection continues.
    is_of_stream: bool,
    /// The class of the failure.
    pub class: &'static str,
}

/// The faults.
pub const HTTP2_FAULTS: &[Http2Fault] = &[
    Http2Fault {
        name: "GOAWAY with ENHANCE_YOUR_CALM",
        frames: b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0b",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "RST_STREAM with INTERNAL_ERROR",
        frames: b"\0\0\x04\x03\0\0\0\0\x01\0\0\0\x02",
        is_of_stream: true,
        class: "http2",
    },
    Http2Fault {
        name: "DATA on no stream",
        frames: b"\0\0\x01\0\0\0\0\0\0x",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a frame of 16 MB",
        frames: b"\xff\xff\xff\0\0\0\0\0\x01",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a head that is no HPACK",
        frames: b"\0\0\x04\x01\x05\0\0\0\x01\xff\xff\xff\xff",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "an answer without a status",
        frames: b"\0\0\x05\x01\x05\0\0\0\x01\0\x01a\x01b",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a status that is none",
        frames: b"\0\0\x0b\x01\x05\0\0\0\x01\0\x07:status\x01x",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a name in capitals",
        frames: b"\0\0\x06\x01\x05\0\0\0\x01\x88\0\x01A\x01b",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a field of a connection",
        frames: b"\0\0\x13\x01\x05\0\0\0\x01\x88\0\x0aconnection\x05close",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "DATA before the head",
        frames: b"\0\0\x02\0\x01\0\0\0\x01ok",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a promise that nobody wants",
        frames: b"\0\0\x05\x05\x04\0\0\0\x01\0\0\0\x02\x82",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a continuation of nothing",
        frames: b"\0\0\x01\x09\x04\0\0\0\x01\x88",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a window that grows by nothing",
        frames: b"\0\0\x04\x08\0\0\0\0\0\0\0\0\0",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a window beyond all",
        frames: b"\0\0\x04\x08\0\0\0\0\0\x7f\xff\xff\xff",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "settings of odd length",
        frames: b"\0\0\x05\x04\0\0\0\0\0\0\x01\0\0\0",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a frame size below the least",
        frames: b"\0\0\x06\x04\0\0\0\0\0\0\x05\0\0\0\x01",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "a ping on a stream",
        frames: b"\0\0\x08\x06\0\0\0\0\x01pingpong",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "padding beyond the frame",
        frames: b"\0\0\x02\x01\x0d\0\0\0\x01\xff\x88",
        is_of_stream: false,
        class: "http2",
    },
    Http2Fault {
        name: "no answer",
        frames: b"",
        is_of_stream: false,
        class: "closed",
    },
    Http2Fault {
        name: "half a body",
        frames: b"\0\0\x01\x01\x04\0\0\0\x01\x88\0\0\x02\0\0\0\0\0\x01ok",
        is_of_stream: false,
        class: "truncated",
    },
];

/// Length of the client's preface (RFC 9113 section 3.4).
const PREFACE_BYTES: usize = 24;
/// The server's settings, which are empty, and the acknowledgement of the client's.
const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\0\x04\x01\0\0\0\0";
/// The type of the first frame of a request.
const HEADERS: u8 = 1;
/// The position of the stream number in a frame's header.
const STREAM: Range<usize> = 5..9;

impl Http2Fault {
    /// Starts a server with this certificate and this fault.
    #[must_use]
    pub fn serve(self, identity: &Identity) -> Server {
        identity.serve_by(&["h2"], move |tls, _| self.perform(tls))
    }

    fn perform(self, tls: &mut TlsStream<'_>) -> io::Result<()> {
        tls.read_exact(&mut [0; PREFACE_BYTES])?;
        tls.write_all(SETTINGS)?;
        let mut stream = read_request(tls)?;
        if self.is_of_stream {
            let (before, behind) = (&self.frames[..STREAM.start], &self.frames[STREAM.end..]);
            loop {
                tls.write_all(&[before, &stream, behind].concat())?;
                stream = read_request(tls)?;
            }
        }
        tls.write_all(self.frames)?;
        tls.conn.send_close_notify();
        tls.flush()?;
        linger(tls.sock)
    }
}

/// How a server refuses its first request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsAway {
    /// GOAWAY without an error, as sent by servers that renew their connections.
    Connection,
    /// RST_STREAM with REFUSED_STREAM, as sent by servers with too many streams.
    Stream,
}

impl TurnsAway {
    /// Starts a server that refuses its first request, and responds to later ones with 200.
    #[must_use]
    pub fn serve(self, identity: &Identity) -> Server {
        let has_begun = AtomicBool::new(false);
        identity.serve_by(&["h2"], move |tls, _| {
            tls.read_exact(&mut [0; PREFACE_BYTES])?;
            tls.write_all(SETTINGS)?;
            loop {
                let stream = read_request(tls)?;
                let (before, behind) = match (has_begun.swap(true, Ordering::Relaxed), self) {
                    (true, _) => (&b"\0\0\x01\x01\x05"[..], &b"\x88"[..]),
                    (false, TurnsAway::Stream) => (&b"\0\0\x04\x03\0"[..], &b"\0\0\0\x07"[..]),
                    (false, TurnsAway::Connection) => {
                        tls.write_all(b"\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\0")?;
                        return linger(tls.sock);
                    }
                };
                tls.write_all(&[before, &stream, behind].concat())?;
            }
        })
    }
}

/// Reads up to the head of the next request and returns its stream.
fn read_request(tls: &mut TlsStream<'_>) -> io::Result<[u8; 4]> {
    loop {
        if let (HEADERS, stream) = read_frame(tls)? {
            return Ok(stream);
        }
    }
}

/// Reads a frame and returns its type and stream.
fn read_frame(tls: &mut TlsStream<'_>) -> io::Result<(u8, [u8; 4])> {
    let mut head = [0; 9];
    tls.read_exact(&mut head)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    tls.read_exact(&mut vec![0; length as usize])?;
    Ok((head[3], [head[5], head[6], head[7], head[8]]))
}
