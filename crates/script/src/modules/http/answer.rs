//! The result of a request: everything that a response shows, before any of it is shown.
//!
//! Must not know the script's values. Invariant: a failed request has status zero and an error, with the
//! message to log or throw in Go's words.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use super::call::{Call, ResponseType};
use super::sample::code_of_status;
use super::url::Address;
use crate::hop::{HopAnswer, HopFailure, HopHeaders, HopProtocol, HopTimes, HopTls};

/// The result of a request.
#[derive(Clone)]
pub(crate) struct Facts {
    /// `None`: it was never built.
    pub(crate) call: Option<Rc<Call>>,
    /// The last address; `None`: it was never built.
    pub(crate) address: Option<Rc<Address>>,
    pub(crate) status: u16,
    pub(crate) reason: Option<String>,
    pub(crate) protocol: Option<HopProtocol>,
    pub(crate) headers: HopHeaders,
    /// Decoded; `None` shows as `null`.
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) is_binary: bool,
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) tls: Option<HopTls>,
    pub(crate) times: HopTimes,
    pub(crate) error: String,
    pub(crate) error_code: u16,
    /// The message to log or throw; `None`: nothing failed.
    pub(crate) failure: Option<String>,
    /// Whether the failure is thrown whatever the script enabled.
    pub(crate) always_throws: bool,
}

impl Facts {
    pub(super) fn answered(
        call: &Rc<Call>,
        address: &Rc<Address>,
        answer: HopAnswer,
        body: Vec<u8>,
    ) -> Facts {
        let has_body = call.response_type != ResponseType::None
            && !matches!(answer.status, 100..=199 | 204 | 304);
        Facts {
            call: Some(Rc::clone(call)),
            address: Some(Rc::clone(address)),
            status: answer.status,
            reason: answer.reason,
            protocol: Some(answer.protocol),
            headers: answer.headers,
            body: has_body.then_some(body),
            is_binary: call.response_type == ResponseType::Binary,
            remote: answer.remote,
            tls: answer.tls,
            times: answer.times,
            error: String::new(),
            error_code: code_of_status(answer.status),
            failure: None,
            always_throws: false,
        }
    }

    /// For an answer with which the connection leaves HTTP: as in k6, no response is made of it.
    pub(super) fn switched(call: &Rc<Call>, address: &Rc<Address>, answer: HopAnswer) -> Facts {
        let answered = Facts::answered(call, address, answer, Vec::new());
        let words = format!("unsupported response status: {}", answered.status_text());
        Facts {
            failure: Some(words),
            always_throws: true,
            ..answered
        }
    }

    pub(super) fn failed(
        call: &Rc<Call>,
        address: &Rc<Address>,
        failure: &HopFailure,
        words: String,
        partial: Option<Vec<u8>>,
    ) -> Facts {
        Facts {
            call: Some(Rc::clone(call)),
            address: Some(Rc::clone(address)),
            body: partial,
            is_binary: call.response_type == ResponseType::Binary,
            remote: failure.remote,
            tls: failure.tls,
            times: failure.times,
            ..Facts::refused(failure.tag.clone(), failure.code, words)
        }
    }

    /// For a request that could not be built.
    pub(super) fn refused(error: String, error_code: u16, words: String) -> Facts {
        Facts {
            call: None,
            address: None,
            status: 0,
            reason: None,
            protocol: None,
            headers: HopHeaders::default(),
            body: None,
            is_binary: false,
            remote: None,
            tls: None,
            times: HopTimes::default(),
            error,
            error_code,
            failure: Some(words),
            always_throws: false,
        }
    }

    /// Status code and reason, as in `200 OK`; empty for a failure.
    pub(super) fn status_text(&self) -> String {
        if self.status == 0 {
            return String::new();
        }
        let reason = match self.protocol {
            Some(HopProtocol::Http2) => Some(standard_reason(self.status)),
            _ => self.reason.as_deref(),
        };
        match reason {
            Some(reason) => format!("{:03} {reason}", self.status),
            None => format!("{:03}", self.status),
        }
    }

    /// The last requested URL, as given if there was no response; empty if nothing was requested.
    pub(crate) fn url(&self) -> Arc<str> {
        match &self.address {
            Some(address) if self.status == 0 => Arc::clone(&address.given),
            Some(address) => Arc::clone(&address.text),
            None => Arc::from(""),
        }
    }
}

/// The reason phrase of a status for a protocol without one. tidy: table
fn standard_reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Request Entity Too Large",
        414 => "Request URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Requested Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Entity",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
