//! Requests from templates, and what is taken from their responses.
//!
//! Must not know virtual users' schedules nor where measurements go. Invariant: an exchange ends with a
//! completely read response, or with a failure; nothing in between.

mod answer;
mod content_coding;
mod prepared;

pub(crate) use answer::{Answer, AnswerReceiver, Wants};
pub(crate) use content_coding::{begins_as_gzip, is_gzip};
pub(crate) use prepared::{PreparedRequest, RenderError, RequestRow};
