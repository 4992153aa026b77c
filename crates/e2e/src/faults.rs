//! Servers that each do one thing wrong, the same way every time.
//!
//! Must not know how a client counts it. Invariant: a fault does not depend on timing: a server that cuts a
//! connection has read, or left unread, exactly what its description says.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::server::{Server, Stop};
use crate::web::{self, read_head};

/// Bytes of a request that are read before the connection is reset.
const SOME_OF_A_REQUEST: usize = 16 * 1024;
/// The announced length of the endless body: 10 GB.
pub const ENDLESS_BODY_BYTES: u64 = 10_000_000_000;
/// Size of a piece of an endless stream.
const PIECE: usize = 64 * 1024;

/// A fault of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Reads the start of a request with a large body and resets the connection.
    ResetsWhileSent,
    /// Sends the start of a response and resets the connection.
    ResetsWhileRead,
    /// Reads the request and closes without a byte.
    ClosesUnanswered,
    /// Closes in the middle of the head.
    TruncatedHead,
    /// Closes in the middle of a chunked body.
    TruncatedChunks,
    /// Announces more bytes than it sends before it closes.
    ContentLengthTooLong,
    /// Sends more bytes than it announced, and keeps the connection.
    ContentLengthTooShort,
    /// Sends a chunk size that is not a number.
    BadChunkSize,
    /// Sends a chunk longer than its size.
    BadChunkEnd,
    /// Sends header lines and never stops.
    EndlessHeaders,
    /// Sends a header of ten million bytes.
    HugeHeader,
    /// Sends 1xx responses and never stops.
    InterimStorm,
    /// Sends a page without any head, as in HTTP/0.9.
    NoHead,
    /// Responds with a TLS alert, as a TLS port does to clear text.
    TlsRecord,
    /// Responds to a TLS handshake in clear text, as a plain port does.
    PlainAnswer,
    /// Reads the request and never responds.
    NeverAnswers,
    /// Sends one byte of the response per second.
    OneByteASecond,
    /// Announces ten gigabytes and sends them.
    EndlessBody,
}

impl Fault {
    /// Starts a server with this fault.
    #[must_use]
    pub fn serve(self) -> Server {
        Server::start(move |stream, stop| self.answer(stream, stop))
    }

    fn answer(self, mut stream: &TcpStream, stop: &Stop) -> io::Result<()> {
        stream.set_nodelay(true)?;
        match self {
            Fault::ResetsWhileSent => {
                stream.read_exact(&mut [0; SOME_OF_A_REQUEST])?;
                return reset(stream);
            }
            Fault::PlainAnswer => {
                // A client first sends a record header and more; the rest may stay unread.
                stream.read_exact(&mut [0; 5])?;
                stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
                return linger(stream);
            }
            _ => {}
        }
        if read_head(&mut stream)?.is_none() {
            return Ok(());
        }
        match self {
            Fault::ResetsWhileRead => {
                stream.write_all(&announcing(1000))?;
                reset(stream)
            }
            Fault::ContentLengthTooShort => loop {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world")?;
                if read_head(&mut stream)?.is_none() {
                    return Ok(());
                }
            },
            Fault::NeverAnswers => {
                stop.wait();
                Ok(())
            }
            Fault::OneByteASecond => drip(stream, stop),
            Fault::EndlessBody => {
                stream.write_all(&announcing(ENDLESS_BODY_BYTES))?;
                forever(stream, &[0; PIECE])
            }
            Fault::EndlessHeaders => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
                forever(stream, b"X-More: and more\r\n".repeat(1000).as_slice())
            }
            Fault::InterimStorm => forever(
                stream,
                b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100).as_slice(),
            ),
            closing => {
                stream.write_all(&closing.whole_answer())?;
                linger(stream)
            }
        }
    }

    /// What is sent before the connection is closed.
    fn whole_answer(self) -> Vec<u8> {
        let chunked = |body: &str| {
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").into_bytes()
        };
        let with = |headers: String| {
            format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 0\r\n\r\n").into_bytes()
        };
        match self {
            Fault::TruncatedHead => b"HTTP/1.1 200 OK\r\nContent-Le".to_vec(),
            Fault::TruncatedChunks => chunked("5\r\nhello\r\n"),
            Fault::ContentLengthTooLong => [announcing(1000).as_slice(), b"hello"].concat(),
            Fault::BadChunkSize => chunked("five\r\nhello\r\n0\r\n\r\n"),
            Fault::BadChunkEnd => chunked("5\r\nhello, world\r\n0\r\n\r\n"),
            Fault::HugeHeader => with(format!("X-Huge: {}\r\n", "x".repeat(10_000_000))),
            Fault::NoHead => b"<html>It works!</html>\n".to_vec(),
            // A fatal alert, unexpected_message: RFC 8446 section 6.
            Fault::TlsRecord => vec![0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x0a],
            _ => Vec::new(),
        }
    }
}

/// Closes a connection as a crashed server's kernel does: with RST.
pub(crate) fn reset(stream: &TcpStream) -> io::Result<()> {
    socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO))
}

/// Closes so that everything sent arrives: sends the end, and reads what still arrives. Closing a socket with
/// unread bytes would reset the connection.
pub(crate) fn linger(mut stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(std::net::Shutdown::Write)?;
    let mut rest = vec![0; PIECE];
    while stream.read(&mut rest)? > 0 {}
    Ok(())
}

fn drip(mut stream: &TcpStream, stop: &Stop) -> io::Result<()> {
    for byte in web::ok("hello") {
        stream.write_all(&[byte])?;
        if !stop.pause(Duration::from_secs(1)) {
            return Ok(());
        }
    }
    Ok(())
}

pub(crate) fn forever(mut stream: &TcpStream, piece: &[u8]) -> io::Result<()> {
    loop {
        stream.write_all(piece)?;
    }
}

fn announcing(length: u64) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").into_bytes()
}
