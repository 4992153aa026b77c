//! What templates send and what they take of answers.
//!
//! Must not know virtual users' schedules nor where measurements go. Invariant: an exchange ends
//! with an answer whose every byte was read, or with a failure; nothing in between.

mod answer;
mod content_coding;
mod prepared;

pub(crate) use answer::{Answer, AnswerReceiver, Wants};
pub(crate) use content_coding::is_gzip;
pub(crate) use prepared::{PreparedRequest, RenderError, RequestRow};
