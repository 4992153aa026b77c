//! A table of servers that each do one hostile thing with every request, and how that is to be counted.
//!
//! Must not know the client. Invariant: the behaviour does not depend on timing, and each row defines the
//! outcome of a request under `bench` and under a script.
// tidy: table

use std::io::{self, Write};
use std::net::TcpStream;

use crate::faults::{forever, linger, reset};
use crate::server::{Server, Stop};
use crate::web::read_head;

/// What a server does with a connection after a request.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// Sends this and closes, so that all of it arrives.
    Close(&'static [u8]),
    /// Sends this and resets the connection.
    Reset(&'static [u8]),
    /// Sends this and then nothing more.
    Hold(&'static [u8]),
    /// Sends the first, then the second repeatedly.
    Forever(&'static [u8], &'static [u8]),
    /// Sends the first, then the second this many times, then the third, and closes.
    Many(&'static [u8], &'static [u8], usize, &'static [u8]),
}

/// One hostile behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Hostile {
    /// Its name.
    pub name: &'static str,
    /// The server's behaviour.
    pub act: Act,
    /// The class of the failure under `bench`; `None`: it counts as a response.
    pub bench: Option<&'static str>,
    /// The same under a script.
    pub script: Option<&'static str>,
}

impl Hostile {
    /// Starts a server with this behaviour.
    #[must_use]
    pub fn serve(self) -> Server {
        Server::start(move |stream, stop| self.act.perform(stream, stop))
    }
}

impl Act {
    fn perform(self, mut stream: &TcpStream, stop: &Stop) -> io::Result<()> {
        stream.set_nodelay(true)?;
        if read_head(&mut stream)?.is_none() {
            return Ok(());
        }
        match self {
            Act::Close(bytes) => {
                stream.write_all(bytes)?;
                linger(stream)
            }
            Act::Reset(bytes) => {
                stream.write_all(bytes)?;
                reset(stream)
            }
            Act::Hold(bytes) => {
                stream.write_all(bytes)?;
                stop.wait();
                Ok(())
            }
            Act::Forever(first, piece) => {
                stream.write_all(first)?;
                let pieces = piece.repeat(1 + 16_384 / piece.len());
                forever(stream, &pieces)
            }
            Act::Many(first, piece, times, last) => {
                stream.write_all(first)?;
                stream.write_all(&piece.repeat(times))?;
                stream.write_all(last)?;
                linger(stream)
            }
        }
    }
}

const fn row(name: &'static str, act: Act, class: &'static str) -> Hostile {
    Hostile {
        name,
        act,
        bench: Some(class),
        script: Some(class),
    }
}

/// Both treat it as a response.
const fn answered(name: &'static str, act: Act) -> Hostile {
    either(name, act, None, None)
}

/// The two treat it differently, each like the tool that it imitates.
const fn either(
    name: &'static str,
    act: Act,
    bench: Option<&'static str>,
    script: Option<&'static str>,
) -> Hostile {
    Hostile {
        name,
        act,
        bench,
        script,
    }
}

const CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Connections that end too early.
pub const ENDINGS: &[Hostile] = &[
    row("nothing", Act::Close(b""), "closed"),
    either(
        "blank lines alone",
        Act::Close(b"\r\n\r\n"),
        Some("closed"),
        Some("malformed"),
    ),
    row("half a version", Act::Close(b"HTTP/1."), "truncated"),
    row(
        "half a status line",
        Act::Close(b"HTTP/1.1 20"),
        "truncated",
    ),
    row(
        "a status line alone",
        Act::Close(b"HTTP/1.1 200 OK\r\n"),
        "truncated",
    ),
    row(
        "a head without its end",
        Act::Close(b"HTTP/1.1 200 OK\r\nA: b\r\n"),
        "truncated",
    ),
    row(
        "an interim answer alone",
        Act::Close(b"HTTP/1.1 100 Continue\r\n\r\n"),
        "truncated",
    ),
    row(
        "hints and half an answer",
        Act::Close(b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200"),
        "truncated",
    ),
    row(
        "no byte of the body",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
        "truncated",
    ),
    row(
        "half a body",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
        "truncated",
    ),
    row("no chunk", Act::Close(CHUNKED), "truncated"),
    row(
        "half a chunk",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello"),
        "truncated",
    ),
    row(
        "half a chunk's size",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1"),
        "truncated",
    ),
    row(
        "no last chunk",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        "truncated",
    ),
    row(
        "no end after the last chunk",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"),
        "truncated",
    ),
    row(
        "half a trailer",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b"),
        "truncated",
    ),
    row("a reset", Act::Reset(b""), "reset-reading"),
    row(
        "a reset within the head",
        Act::Reset(b"HTTP/1.1 200 OK\r\nA"),
        "reset-reading",
    ),
    row(
        "a reset within the body",
        Act::Reset(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
        "reset-reading",
    ),
    row(
        "a reset within a chunk",
        Act::Reset(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello"),
        "reset-reading",
    ),
];

/// Responses that violate the grammar.
pub const GRAMMAR: &[Hostile] = &[
    row(
        "a page without a head",
        Act::Close(b"<html>It works!</html>\n"),
        "malformed",
    ),
    row(
        "bytes of no meaning",
        Act::Close(b"\xff\xfe\x00\x01\x02\x03\r\n\r\n"),
        "malformed",
    ),
    row(
        "a TLS alert",
        Act::Close(b"\x15\x03\x03\x00\x02\x02\x0a"),
        "malformed",
    ),
    row(
        "frames of HTTP/2",
        Act::Close(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"),
        "malformed",
    ),
    row(
        "a mail server",
        Act::Close(b"220 mail.test ESMTP\r\n"),
        "malformed",
    ),
    row(
        "a shell server",
        Act::Close(b"SSH-2.0-OpenSSH_9.9\r\n"),
        "malformed",
    ),
    row(
        "a version of letters",
        Act::Close(b"HTTP/x.y 200 OK\r\n\r\n"),
        "malformed",
    ),
    row(
        "a status of four digits",
        Act::Close(b"HTTP/1.1 2000 OK\r\n\r\n"),
        "malformed",
    ),
    row(
        "a status of letters",
        Act::Close(b"HTTP/1.1 abc OK\r\n\r\n"),
        "malformed",
    ),
    row(
        "a negative status",
        Act::Close(b"HTTP/1.1 -20 OK\r\n\r\n"),
        "malformed",
    ),
    row(
        "a header without a colon",
        Act::Close(b"HTTP/1.1 200 OK\r\nnone\r\n\r\n"),
        "malformed",
    ),
    row(
        "a header without a name",
        Act::Close(b"HTTP/1.1 200 OK\r\n: a\r\n\r\n"),
        "malformed",
    ),
    row(
        "chunks of chunks",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        "malformed",
    ),
    row(
        "an unknown transfer coding",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
        "malformed",
    ),
    row(
        "a list of lengths",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok"),
        "malformed",
    ),
    row(
        "a chunk's line that ends with LF alone",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n"),
        "malformed",
    ),
    row(
        "NUL in a value",
        Act::Close(b"HTTP/1.1 200 OK\r\nA: b\x00c\r\n\r\n"),
        "malformed",
    ),
    row(
        "a fold without a header",
        Act::Close(b"HTTP/1.1 200 OK\r\n a\r\n\r\n"),
        "malformed",
    ),
    row(
        "a length of letters",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n"),
        "malformed",
    ),
    row(
        "a negative length",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
        "malformed",
    ),
    row(
        "a length beyond all",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        "malformed",
    ),
    row(
        "two lengths",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
        "malformed",
    ),
    row(
        "a chunk's size of letters",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n"),
        "malformed",
    ),
    row(
        "a chunk's size beyond all",
        Act::Close(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nhello\r\n",
        ),
        "malformed",
    ),
    row(
        "no size of a chunk",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n"),
        "malformed",
    ),
    row(
        "a chunk longer than its size",
        Act::Close(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello, world\r\n0\r\n\r\n",
        ),
        "malformed",
    ),
    row(
        "CR alone in a value",
        Act::Close(b"HTTP/1.1 200 OK\r\nA: b\rc\r\nContent-Length: 2\r\n\r\nok"),
        "malformed",
    ),
    row(
        "a name that is no text",
        Act::Close(b"HTTP/1.1 200 OK\r\nA\xff: b\r\n\r\n"),
        "malformed",
    ),
    row(
        "a space before the answer",
        Act::Close(b" HTTP/1.1 200 OK\r\n\r\n"),
        "malformed",
    ),
    row(
        "a version in small letters",
        Act::Close(b"http/1.1 200 OK\r\n\r\n"),
        "malformed",
    ),
    row(
        "status zero",
        Act::Close(b"HTTP/1.1 000 Odd\r\n\r\n"),
        "malformed",
    ),
    row(
        "an empty length",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"),
        "malformed",
    ),
    row(
        "a length with a sign",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok"),
        "malformed",
    ),
    row(
        "a length in hexadecimal",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok"),
        "malformed",
    ),
    row(
        "a negative chunk",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n"),
        "malformed",
    ),
    row(
        "a chunk's size with a prefix",
        Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n"),
        "malformed",
    ),
    row(
        "a trailer without a colon",
        Act::Close(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nbad\r\n\r\n",
        ),
        "malformed",
    ),
];

/// Responses that stretch the grammar but are accepted, at least by bench.
pub const STRETCHED: &[Hostile] = &[
    answered("lines that end with LF alone", Act::Close(b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok")),
    answered("no reason", Act::Close(b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n")),
    answered("a status beyond all classes", Act::Close(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n")),
    either("an empty line before the answer", Act::Close(b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), None, Some("malformed")),
    answered("a folded value", Act::Close(b"HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok")),
    answered("bytes that are no text in a value", Act::Close(b"HTTP/1.1 200 OK\r\nA: \xff\xfe\r\nContent-Length: 2\r\n\r\nok")),
    answered("the same length twice", Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok")),
    answered("more than was announced", Act::Close(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world")),
    answered("chunks and a length", Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n2\r\nok\r\n0\r\n\r\n")),
    answered("another version", Act::Close(b"HTTP/3.0 200 OK\r\nContent-Length: 2\r\n\r\nok")),
    answered("spaces in a name", Act::Close(b"HTTP/1.1 200 OK\r\nA B : c\r\nContent-Length: 2\r\n\r\nok")),
    answered("trailers that name a length and a cookie", Act::Close(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 5\r\nSet-Cookie: a=b\r\n\r\n")),
    answered("an unknown interim answer", Act::Close(b"HTTP/1.1 199 Odd\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
    answered("hints before the answer", Act::Close(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")),
    answered("a length of an answer without a body", Act::Close(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n")),
    answered("an old server's body without a length", Act::Close(b"HTTP/1.0 200 OK\r\n\r\nok")),
    answered("a connection that is said to be kept", Act::Close(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")),
    answered("cookies that are none", Act::Close(b"HTTP/1.1 200 OK\r\nSet-Cookie: =;;Expires=Mon, 99 Foo 99999 99:99:99;Max-Age=-99999999999999999999;Domain=..\r\nSet-Cookie: \xff=\xfe\r\nSet-Cookie:\r\nContent-Length: 0\r\n\r\n")),
    answered("a challenge that nobody can meet", Act::Close(b"HTTP/1.1 401 No\r\nWWW-Authenticate: Digest realm=\", nonce=\"\", qop=\"auth-int,,,\", algorithm=X\r\nContent-Length: 0\r\n\r\n")),
    answered("a redirect to nothing", Act::Close(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")),
    answered("a redirect to itself", Act::Close(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n")),
    answered("a redirect to bytes that are no text", Act::Close(b"HTTP/1.1 302 Found\r\nLocation: /\xff\xfe\r\nContent-Length: 0\r\n\r\n")),
    answered("a reset behind the answer", Act::Reset(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")),
    answered("a hundred thousand chunks", Act::Many(CHUNKED, b"1\r\nx\r\n", 100_000, b"0\r\n\r\n")),
    answered("a connection that is said to be closed and is not", Act::Hold(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")),
];

/// A change to a protocol that nobody asked for: a response for `bench`, an exception in a script, as in k6.
pub const SWITCHED: Hostile = answered(
    "another protocol",
    Act::Close(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: foo\r\nConnection: Upgrade\r\n\r\n"),
);

/// Responses of excessive size.
pub const MEASURE: &[Hostile] = &[
    row(
        "a head without end",
        Act::Forever(b"HTTP/1.1 200 OK\r\n", b"X-More: more\r\n"),
        "too-large",
    ),
    row(
        "a status line without end",
        Act::Forever(b"HTTP/1.1 200 ", b"OK "),
        "too-large",
    ),
    row(
        "a name without end",
        Act::Forever(b"HTTP/1.1 200 OK\r\n", b"X"),
        "too-large",
    ),
    row(
        "a value without end",
        Act::Forever(b"HTTP/1.1 200 OK\r\nA: ", b"b"),
        "too-large",
    ),
    row(
        "hints without end",
        Act::Forever(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        "too-large",
    ),
    row(
        "a chunk's extension without end",
        Act::Forever(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;",
            b"a=b;",
        ),
        "too-large",
    ),
    row(
        "trailers without end",
        Act::Forever(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
            b"A: b\r\n",
        ),
        "too-large",
    ),
    answered(
        "ten thousand headers",
        Act::Many(b"HTTP/1.1 204 No\r\n", b"A: b\r\n", 10_000, b"\r\n"),
    ),
    answered(
        "a header of a megabyte",
        Act::Many(b"HTTP/1.1 204 No\r\nA: ", b"b", 1 << 20, b"\r\n\r\n"),
    ),
    answered(
        "a thousand hints",
        Act::Many(
            b"",
            b"HTTP/1.1 103 Early Hints\r\n\r\n",
            1_000,
            b"HTTP/1.1 204 No\r\n\r\n",
        ),
    ),
    either(
        "a body without end",
        Act::Forever(
            b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000\r\n\r\n",
            &[b'x'; 1024],
        ),
        Some("timeout"),
        Some("too-large"),
    ),
    either(
        "a body of no length without end",
        Act::Forever(b"HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 1024]),
        Some("timeout"),
        Some("too-large"),
    ),
    either(
        "chunks without end",
        Act::Forever(
            CHUNKED,
            b"40\r\n0123456789012345678901234567890123456789012345678901234567890123\r\n",
        ),
        Some("timeout"),
        Some("too-large"),
    ),
];

/// Peers that keep clients waiting.
pub const SILENCE: &[Hostile] = &[
    row("no answer", Act::Hold(b""), "timeout"),
    row("silence after a byte", Act::Hold(b"H"), "timeout"),
    row(
        "silence within the head",
        Act::Hold(b"HTTP/1.1 200 OK\r\nA: "),
        "timeout",
    ),
    row(
        "silence after hints",
        Act::Hold(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        "timeout",
    ),
    row(
        "silence within the body",
        Act::Hold(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"),
        "timeout",
    ),
    row(
        "silence within a chunk",
        Act::Hold(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nhello"),
        "timeout",
    ),
    row(
        "silence instead of the last chunk",
        Act::Hold(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        "timeout",
    ),
    row(
        "a body of no length and no end",
        Act::Hold(b"HTTP/1.1 200 OK\r\n\r\nhello"),
        "timeout",
    ),
];

/// Codings and fields that only matter to clients that evaluate them.
pub const CONTENT: &[Hostile] = &[
    either(
        "gzip that is none",
        Act::Close(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nnotgzip",
        ),
        None,
        Some("malformed"),
    ),
    either(
        "zstd that is none",
        Act::Close(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: zstd\r\nContent-Length: 7\r\n\r\nnotzstd",
        ),
        None,
        Some("malformed"),
    ),
    either(
        "deflate that is none",
        Act::Close(
            b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 4\r\n\r\nnone",
        ),
        None,
        Some("malformed"),
    ),
    either(
        "gzip of nothing",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"),
        None,
        Some("malformed"),
    ),
    either(
        "Brotli that is none",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\nnotbr"),
        None,
        Some("malformed"),
    ),
    either(
        "a redirect to a port beyond all",
        Act::Close(
            b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:99999/\r\nContent-Length: 0\r\n\r\n",
        ),
        None,
        Some("redirect"),
    ),
    either(
        "a redirect to code",
        Act::Close(
            b"HTTP/1.1 302 Found\r\nLocation: javascript:alert(1)\r\nContent-Length: 0\r\n\r\n",
        ),
        None,
        Some("redirect"),
    ),
    either(
        "a coding nobody knows",
        Act::Close(b"HTTP/1.1 200 OK\r\nContent-Encoding: foo\r\nContent-Length: 3\r\n\r\nfoo"),
        None,
        None,
    ),
    either(
        "a redirect to nowhere",
        Act::Close(b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"),
        None,
        Some("redirect"),
    ),
    either(
        "a redirect to another protocol",
        Act::Close(b"HTTP/1.1 302 Found\r\nLocation: ftp://h/\r\nContent-Length: 0\r\n\r\n"),
        None,
        Some("redirect"),
    ),
    either(
        "a cookie with a control byte",
        Act::Close(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=\x01\r\nContent-Length: 0\r\n\r\n"),
        None,
        Some("malformed"),
    ),
];
