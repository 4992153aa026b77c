//! What templates send and what they take of answers; and their HTTP/2.
//!
//! Must not know virtual users' schedules nor where measurements go. Invariant: an exchange ends
//! with an answer whose every byte was read, or with a failure; nothing in between.

mod answer;
mod content_coding;
mod http2;
mod prepared;

pub(crate) use answer::{Answer, AnswerReceiver, Wants};
pub(crate) use content_coding::decoded;
pub(crate) use http2::{Http2Connection, head_bytes, open_http2, send_piece};
pub(crate) use prepared::{PreparedRequest, RenderError};
