//! The result of a sampler: the sample as JMeter's elements see and change it.
//!
//! Must not know how it was made, nor where it goes. Invariant: times are whole milliseconds, as measured by
//! JMeter.

use std::borrow::Cow;

use loadline_java::charset::Charset;
use serde::{Deserialize, Serialize};

use crate::action::Action;

/// The data type of a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataType {
    /// Unknown.
    #[default]
    Unset,
    /// Text.
    Text,
    /// Anything else.
    Binary,
}

/// The result of an assertion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertionOutcome {
    /// The assertion's name.
    pub name: String,
    /// The check failed.
    pub failure: bool,
    /// It could not be evaluated.
    pub error: bool,
    /// The reason; mostly empty if it passed.
    pub message: String,
    /// Whether it passed with an empty message, as a JSON assertion does: a row contains the message of the
    /// first assertion with one, and so nothing of one that fails after it.
    pub has_blank_message: bool,
}

impl AssertionOutcome {
    /// Whether it has a message, even an empty one.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.failure || self.error || self.has_blank_message || !self.message.is_empty()
    }
}

/// A sample: one row of the results, and its sub-samples. It is serialized without the body, whose size the
/// sender counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Its label.
    pub label: String,
    /// The response code, which need not be a number.
    pub code: String,
    /// The response message.
    pub message: String,
    /// Whether it counts as a success.
    pub success: bool,
    /// What the data is.
    pub data_type: DataType,
    /// The encoding of the data according to the response; empty: not specified.
    pub encoding: String,
    /// The content type of the response; empty: not specified.
    pub content_type: String,
    /// When it started: milliseconds since 1970.
    pub start_ms: i64,
    /// Elapsed time in milliseconds.
    pub elapsed_ms: u64,
    /// Milliseconds from its start to the first byte of the response.
    pub latency_ms: u64,
    /// Connect time in milliseconds; zero if a connection was reused.
    pub connect_ms: u64,
    /// Milliseconds within it that do not count; negative: time that counts more than once.
    pub idle_ms: i64,
    /// The decoded body.
    #[serde(skip)]
    pub data: Vec<u8>,
    /// Status line and header fields of the response, one per line.
    pub response_headers: String,
    /// Header fields of the request, one per line.
    pub request_headers: String,
    /// The sent data: for HTTP the body or query, for other samplers their own text; `None`: never given.
    pub sampler_data: Option<String>,
    /// The method of an HTTP request; empty if there is none.
    pub method: String,
    /// The query string or body of an HTTP request.
    pub query: String,
    /// The sent cookies.
    pub cookies: String,
    /// The URL; `None` if there is none.
    pub url: Option<String>,
    /// Received bytes: header and body, as on the wire.
    pub bytes: u64,
    /// Bytes of the header among them.
    pub header_bytes: u64,
    /// Bytes of the body among them.
    pub body_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// The file in which the response was saved; empty: none.
    pub result_file: String,
    /// The results of assertions, in order.
    pub assertions: Vec<AssertionOutcome>,
    /// The sub-samples.
    pub children: Vec<Sample>,
    /// The thread's name.
    pub thread_name: String,
    /// Active threads of the group.
    pub group_threads: u32,
    /// Active threads.
    pub all_threads: u32,
    /// Values of the variables stored with each sample; `None`: not set.
    pub variables: Vec<Option<String>>,
    /// Whether a transaction controller made it.
    pub is_transaction: bool,
    /// The names of the enclosing transactions, the outermost first, each after `::`; for a transaction
    /// including its own. Empty outside of transactions.
    pub transactions: String,
    /// The action requested by a script after it; `None`: as in the plan.
    pub ordered: Option<Action>,
    /// Whether a script requested not to report it.
    pub is_ignored: bool,
    /// Whether its request could not be made, so nothing was sent.
    pub is_unsent: bool,
}

impl Sample {
    /// Adds a sub-sample: it is named by its index, its size is added here, and a later end extends this one.
    pub fn add_below(&mut self, mut below: Sample) {
        below.label = format!("{}-{}", self.label, self.children.len());
        self.add_named_below(below);
    }

    /// The same for a sub-sample that keeps its name.
    pub fn add_named_below(&mut self, below: Sample) {
        self.bytes += below.bytes;
        self.sent_bytes += below.sent_bytes;
        self.header_bytes += below.header_bytes;
        self.body_bytes += below.body_bytes;
        let behind_ms = below.start_ms.saturating_sub(self.start_ms).max(0);
        let elapsed_ms = i64::try_from(below.elapsed_ms).unwrap_or(i64::MAX);
        let span_ms = elapsed_ms.saturating_add(behind_ms + below.idle_ms - self.idle_ms);
        self.elapsed_ms = self.elapsed_ms.max(span_ms.max(0).unsigned_abs());
        self.children.push(below);
    }

    /// Counts the received bytes as those of header and body, if there are any. A body without a size has that of
    /// the data.
    pub(crate) fn count_parts(&mut self) {
        if self.body_bytes == 0 {
            self.body_bytes = self.data.len() as u64;
        }
        let parts = self.header_bytes.saturating_add(self.body_bytes);
        if parts > 0 {
            self.bytes = parts;
        }
    }

    /// The data as text, by its encoding; UTF-8 if none is specified.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let charset = Charset::named(&self.encoding).unwrap_or(Charset::UTF_8);
        charset.decode(&self.data)
    }

    /// The sent data as seen by assertions: for a request its first line, its body and its cookies.
    #[must_use]
    pub fn request_data(&self) -> Cow<'_, str> {
        let own = || Cow::Borrowed(self.sampler_data.as_deref().unwrap_or_default());
        let (method, Some(url)) = (&self.method, &self.url) else {
            return own();
        };
        if method.is_empty() {
            return own();
        }
        let data = match method.as_str() {
            "HEAD" | "OPTIONS" | "TRACE" => String::new(),
            _ => format!("\n{method} data:\n{}\n", self.query),
        };
        let cookies = match self.cookies.as_str() {
            "" => "[no cookies]",
            cookies => &format!("Cookie Data:\n{cookies}"),
        };
        Cow::Owned(format!("{method} {url}\n{data}\n{cookies}\n"))
    }

    /// The message of the first assertion that has one; empty if none has.
    #[must_use]
    pub fn failure_message(&self) -> &str {
        let first = self.assertions.iter().find(|one| one.has_message());
        first.map_or("", |one| one.message.as_str())
    }
}
