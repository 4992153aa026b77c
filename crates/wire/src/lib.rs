//! The client side of HTTP/1.1: requests become bytes, bytes become responses.
//!
//! It must not know sockets, clocks, threads, TLS, URLs or content codings. The caller reads
//! and writes; this crate says what to write and what was read.
//!
//! Invariant: the events that a byte stream gives do not depend on how the stream was cut into
//! pieces, and nothing here grows with the length of a body or with the number of requests.
//!
//! ```
//! use loadline_wire::{Discard, Limits, RequestHead, RequestKind, RequestTarget};
//! use loadline_wire::{ResponseParser, Reuse, State};
//!
//! let request = RequestHead::new("GET", RequestTarget::Origin("/"))
//!     .host("localhost")
//!     .finish()?;
//! assert_eq!(request, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
//!
//! let mut parser = ResponseParser::new(Limits::default());
//! let mut sink = Discard::default();
//! parser.start(RequestKind::of("GET"));
//! let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
//! let progress = parser.feed(answer, &mut sink)?;
//! assert_eq!(progress.state, State::Done { reuse: Reuse::KeepAlive });
//! assert_eq!((sink.status, sink.body_bytes), (Some(200), 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chars;
mod chunk;
mod chunked;
mod error;
mod foreign;
mod framing;
mod head;
mod limits;
mod parser;
mod repeat;
mod request;
mod sample;
mod scan;
mod sink;

pub use chunk::{CHUNK_END, ChunkHeader, LAST_CHUNK, chunk_header};
pub use error::{ErrorClass, HeaderFault, WireError};
pub use framing::{Framing, RequestKind, Reuse};
pub use head::{Fields, Head};
pub use limits::{Codings, Limits, TrailerEnd, ValueBytes};
pub use parser::{Progress, ResponseParser, State};
pub use request::{RequestError, RequestHead, RequestTarget, TargetFault};
pub use sample::{Sample, TwoValues};
pub use sink::{Discard, ResponseSink};
