//! The parts taken from a response while it is read, and no more than requested.
//!
//! One per virtual user, reused for each request. Must not know who requested them. Invariant: nothing is
//! copied that no check, redirect, cookie or census needs, and bodies are kept up to a limit.

use std::borrow::Cow;
use std::io;

use loadline_wire::{Head, ResponseSink};

use super::content_coding::decoded;
use crate::client::{Passing, Receiver, Wish, announced};
use crate::net::Failure;

/// Maximum bytes kept of a content type.
pub(crate) const CONTENT_TYPE_MAX: usize = 64;

/// What to take from a response beyond its status and size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wants {
    /// All header fields.
    pub(crate) headers: bool,
    /// The body, up to this many bytes.
    pub(crate) body_max: u64,
    /// The target of a redirect.
    pub(crate) location: bool,
    /// Cookies.
    pub(crate) cookies: bool,
    /// The value of this header field.
    pub(crate) tag_header: Option<String>,
}

/// A response so far.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body_bytes: u64,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(Vec<u8>, Vec<u8>)>,
    pub(crate) location: Option<String>,
    pub(crate) set_cookies: Vec<String>,
    pub(crate) tag: Option<String>,
    pub(crate) content_coding: Option<String>,
    content_type: Vec<u8>,
    /// Whether to keep the start of this body for the census.
    pub(crate) sampled: bool,
}

impl Answer {
    /// Clears the last response, keeping its memory.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.status = 0;
        self.body_bytes = 0;
        self.body.clear();
        self.headers.clear();
        self.location = None;
        self.set_cookies.clear();
        self.tag = None;
        self.content_coding = None;
        self.content_type.clear();
    }

    /// The body, as far as it was kept, with its content coding decoded, up to `most` bytes.
    ///
    /// # Errors
    /// The body is complete but does not match its coding.
    pub(crate) fn plain_body(&self, most: u64) -> io::Result<Cow<'_, [u8]>> {
        let is_cut = (self.body.len() as u64) < self.body_bytes;
        decoded(&self.body, self.content_coding.as_deref(), most, is_cut)
    }

    /// The content type, truncated to [`CONTENT_TYPE_MAX`].
    #[inline]
    pub(crate) fn content_type(&self) -> &[u8] {
        &self.content_type
    }

    #[inline]
    pub(crate) fn set_content_type(&mut self, value: &[u8]) {
        self.content_type.clear();
        self.content_type
            .extend_from_slice(&value[..value.len().min(CONTENT_TYPE_MAX)]);
    }

    /// Takes a header field, as far as it is wanted.
    pub(crate) fn take_field(&mut self, wants: &Wants, name: &[u8], value: &[u8]) {
        let text = || String::from_utf8_lossy(value).into_owned();
        if wants.location && name.eq_ignore_ascii_case(b"location") {
            self.location = Some(text());
        }
        if wants.cookies && name.eq_ignore_ascii_case(b"set-cookie") {
            self.set_cookies.push(text());
        }
        if (wants.body_max > 0 || self.sampled) && name.eq_ignore_ascii_case(b"content-encoding") {
            self.content_coding = Some(text());
        }
        if let Some(wanted) = &wants.tag_header
            && name.eq_ignore_ascii_case(wanted.as_bytes())
        {
            self.tag = Some(text());
        }
        if wants.headers {
            self.headers.push((name.to_vec(), value.to_vec()));
        }
    }

    /// Takes a piece of the body.
    #[inline]
    pub(crate) fn take_body(&mut self, wants: &Wants, piece: &[u8]) {
        self.body_bytes += piece.len() as u64;
        if wants.body_max > 0 || self.sampled {
            self.keep_body(wants, piece);
        }
    }

    #[cold]
    fn keep_body(&mut self, wants: &Wants, piece: &[u8]) {
        let sample = if self.sampled {
            loadline_model::snapshot::BODY_SAMPLE_MAX
        } else {
            0
        };
        let most = usize::try_from(wants.body_max)
            .unwrap_or(usize::MAX)
            .max(sample);
        let room = most.saturating_sub(self.body.len());
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

impl Wants {
    /// Whether any header field is needed.
    #[inline]
    pub(crate) fn any_field(&self) -> bool {
        self.headers
            || self.location
            || self.cookies
            || self.body_max > 0
            || self.tag_header.is_some()
    }
}

/// A response that is being read.
pub(crate) struct AnswerReceiver<'a> {
    pub(crate) answer: &'a mut Answer,
    pub(crate) wants: &'a Wants,
    /// Bytes of a body after which reading stops; `None`: no limit.
    pub(crate) body_read_max: Option<u64>,
    pub(crate) passing: Passing,
}

impl AnswerReceiver<'_> {
    #[inline]
    fn pass(&mut self, length: impl FnOnce() -> Option<u64>) {
        if let Some(location) = &self.answer.location {
            let location = Some(location.as_bytes());
            self.passing.head(self.answer.status, location, length());
        }
    }

    #[inline]
    fn wants_fields(&self) -> bool {
        self.wants.any_field() || self.answer.sampled
    }
}

impl Receiver for AnswerReceiver<'_> {
    fn http2_head(&mut self, head: &http::response::Parts) {
        self.answer.status = head.status.as_u16();
        if let Some(value) = head.headers.get(http::header::CONTENT_TYPE) {
            self.answer.set_content_type(value.as_bytes());
        }
        if self.wants_fields() {
            for (name, value) in &head.headers {
                let name = name.as_str().as_bytes();
                self.answer.take_field(self.wants, name, value.as_bytes());
            }
        }
        self.pass(|| announced(&head.headers));
    }

    #[inline]
    fn wish(&self) -> Result<Wish, Failure> {
        let most = self.body_read_max;
        Ok(
            match most.is_some_and(|most| self.answer.body_bytes >= most) {
                true => Wish::Enough,
                false => self.passing.wish(),
            },
        )
    }

    fn is_content(&self) -> bool {
        self.passing.is_passed()
    }
}

impl ResponseSink for AnswerReceiver<'_> {
    #[inline]
    fn head(&mut self, head: &Head<'_>) {
        self.answer.status = head.status();
        if let Some(value) = head.content_type() {
            self.answer.set_content_type(value);
        }
        if self.wants_fields() {
            for (name, value) in head.headers() {
                self.answer.take_field(self.wants, name, value);
            }
        }
        self.pass(|| head.content_length());
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.answer.take_body(self.wants, piece);
        self.passing.body(piece);
    }
}
