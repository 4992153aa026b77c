//! One request and its answer on a connection, HTTP/1.1 or HTTP/2.
//!
//! Must not know virtual users' schedules nor where measurements go. Invariant: an exchange ends
//! with an answer whose every byte was read, or with a failure; nothing in between.

mod answer;
mod content_coding;
mod http1;
mod http2;
mod prepared;

pub(crate) use answer::{Answer, Wants};
pub(crate) use content_coding::decoded;
pub(crate) use http1::{Broken, Http1Connection, Surroundings};
pub(crate) use http2::{Http2Connection, head_bytes, open_http2, send_piece};
pub(crate) use prepared::{PreparedBody, PreparedRequest, RenderError};

use loadline_model::Nanos;

/// The instants of an exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instants {
    /// The last byte of the request was handed to the operating system.
    pub(crate) sent: Nanos,
    /// The first byte of the answer was there.
    pub(crate) first_byte: Nanos,
    /// The last byte of the answer was there.
    pub(crate) done: Nanos,
    /// Bytes of the request that were handed over, framing included; of HTTP/2 the body and the fields
    /// of the head as they are before they are packed, which the connection's state decides.
    pub(crate) sent_bytes: u64,
}
