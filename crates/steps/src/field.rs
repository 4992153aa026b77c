//! The part of a sample that a pattern is matched against.
//!
//! Must not know patterns. Invariant: a missing part is an empty text.

use std::borrow::Cow;

use loadline_java::escapes::unescape_html;

use crate::sample::Sample;

/// The part of a sample that a pattern is matched against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Field {
    /// The body as text.
    #[default]
    Body,
    /// The body with HTML's character references resolved.
    UnescapedBody,
    /// The body as a document, converted to text.
    Document,
    /// Status line and header fields of the response.
    ResponseHeaders,
    /// Header fields of the request.
    RequestHeaders,
    /// The sent data.
    RequestData,
    /// The URL.
    Url,
    /// The response code.
    Code,
    /// The response message.
    Message,
}

impl Field {
    /// From its name in an extractor of a plan (`RegexExtractor.useHeaders`, `BoundaryExtractor.useHeaders`);
    /// unknown names mean the body.
    #[must_use]
    pub fn of_extractor(name: &str) -> Field {
        let named = [
            ("true", Field::ResponseHeaders),
            ("request_headers", Field::RequestHeaders),
            ("URL", Field::Url),
            ("code", Field::Code),
            ("message", Field::Message),
            ("unescaped", Field::UnescapedBody),
            ("as_document", Field::Document),
        ];
        let found = named.iter().find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map_or(Field::Body, |(_, field)| *field)
    }

    /// From its name in a response assertion (`Assertion.test_field`); unknown names mean the URL.
    #[must_use]
    pub fn of_assertion(name: &str) -> Field {
        match name {
            "Assertion.response_data" => Field::Body,
            "Assertion.response_data_as_document" => Field::Document,
            "Assertion.response_code" => Field::Code,
            "Assertion.response_message" => Field::Message,
            "Assertion.response_headers" => Field::ResponseHeaders,
            "Assertion.request_headers" => Field::RequestHeaders,
            "Assertion.request_data" => Field::RequestData,
            _ => Field::Url,
        }
    }

    /// Its name in the message of a failed assertion.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Field::Body | Field::UnescapedBody => "text",
            Field::Document => "document",
            Field::ResponseHeaders => "headers",
            Field::RequestHeaders => "request headers",
            Field::RequestData => "request data",
            Field::Url => "URL",
            Field::Code => "code",
            Field::Message => "message",
        }
    }

    /// The part of a sample.
    pub(crate) fn of(self, sample: &Sample) -> Cow<'_, str> {
        match self {
            Field::Body | Field::Document => sample.text(),
            Field::UnescapedBody => Cow::Owned(unescape_html(&sample.text())),
            Field::ResponseHeaders => Cow::Borrowed(&sample.response_headers),
            Field::RequestHeaders => Cow::Borrowed(&sample.request_headers),
            Field::RequestData => sample.request_data(),
            Field::Url => Cow::Borrowed(sample.url.as_deref().unwrap_or_default()),
            Field::Code => Cow::Borrowed(&sample.code),
            Field::Message => Cow::Borrowed(&sample.message),
        }
    }
}
