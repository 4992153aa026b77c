//! What came of a sampler: the sample as JMeter's elements see and change it.
//!
//! Must not know how it was made nor where it goes. Invariant: times are whole milliseconds, as JMeter measures.

use std::borrow::Cow;

use loadline_java::charset::Charset;
use serde::{Deserialize, Serialize};

use crate::action::Action;

/// What the data of an answer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DataType {
    /// Nothing is known of it.
    #[default]
    Unset,
    /// Text.
    Text,
    /// Anything else.
    Binary,
}

/// What an assertion found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssertionOutcome {
    /// The assertion's name.
    pub name: String,
    /// It does not hold.
    pub failure: bool,
    /// It could not be evaluated.
    pub error: bool,
    /// Why; where it holds, mostly empty.
    pub message: String,
    /// It holds, and has a message that is empty, as a JSON assertion does: a row tells the message of the first
    /// assertion that has one, and so nothing of one that fails after it.
    pub has_blank_message: bool,
}

impl AssertionOutcome {
    /// Whether it has a message, be it empty.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.failure || self.error || self.has_blank_message || !self.message.is_empty()
    }
}

/// A sample: one row of the results, and those below it. As data it has no body: who is sent a sample counts it.
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
    /// The encoding of the data as the answer names it; empty: none was named.
    pub encoding: String,
    /// The content type of the answer; empty: none was named.
    pub content_type: String,
    /// When it started: milliseconds since 1970.
    pub start_ms: i64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// From its start to the first byte of the answer.
    pub latency_ms: u64,
    /// How long connecting took; zero where a connection was used again.
    pub connect_ms: u64,
    /// Time within it that does not count; below zero: time that counts more than once.
    pub idle_ms: i64,
    /// The decoded body.
    #[serde(skip)]
    pub data: Vec<u8>,
    /// Status line and header fields of the answer, one a line.
    pub response_headers: String,
    /// Header fields of the request, one a line.
    pub request_headers: String,
    /// What was sent: for HTTP the body or query, for other samplers what they say.
    pub sampler_data: String,
    /// The method of an HTTP request; empty where there is none.
    pub method: String,
    /// The query string or body of an HTTP request.
    pub query: String,
    /// The cookies that were sent.
    pub cookies: String,
    /// The URL; `None` where there is none.
    pub url: Option<String>,
    /// Bytes received: header and body, as they came over the wire.
    pub bytes: u64,
    /// Bytes of the header among them.
    pub header_bytes: u64,
    /// Bytes of the body among them.
    pub body_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// The file that an answer was saved in; empty: none was.
    pub result_file: String,
    /// What the assertions found, in their order.
    pub assertions: Vec<AssertionOutcome>,
    /// The samples below it.
    pub children: Vec<Sample>,
    /// The thread's name.
    pub thread_name: String,
    /// Threads of the group that are at work.
    pub group_threads: u32,
    /// Threads that are at work.
    pub all_threads: u32,
    /// Values of the variables that are noted with each sample; `None`: there is no such variable.
    pub variables: Vec<Option<String>>,
    /// Whether a transaction controller made it.
    pub is_transaction: bool,
    /// The names of the transactions that it is part of, the outermost first, each behind `::`; its own too where it is
    /// one. Empty outside of transactions.
    pub transactions: String,
    /// What a script wants the thread to do after it; `None`: what the plan says.
    pub ordered: Option<Action>,
    /// Whether a script wants it to be told to nobody.
    pub is_ignored: bool,
    /// Whether its request could not be made, so that nothing was sent.
    pub is_unsent: bool,
}

impl Sample {
    /// Puts a sample below this one: it is named by its place, and its size counts here, as does its end where it is later.
    pub fn add_below(&mut self, mut below: Sample) {
        below.label = format!("{}-{}", self.label, self.children.len());
        self.add_named_below(below);
    }

    /// The same for a sample that keeps its name.
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

    /// The data as text, by its encoding; UTF-8 where none is named.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        let charset = Charset::named(&self.encoding).unwrap_or(Charset::UTF_8);
        charset.decode(&self.data)
    }

    /// What was sent, as assertions see it: of a request its first line, its body and its cookies.
    #[must_use]
    pub fn request_data(&self) -> Cow<'_, str> {
        let (method, Some(url)) = (&self.method, &self.url) else {
            return Cow::Borrowed(&self.sampler_data);
        };
        if method.is_empty() {
            return Cow::Borrowed(&self.sampler_data);
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

    /// The message of the first assertion that has one; empty where none has.
    #[must_use]
    pub fn failure_message(&self) -> &str {
        let first = self.assertions.iter().find(|one| one.has_message());
        first.map_or("", |one| one.message.as_str())
    }
}
