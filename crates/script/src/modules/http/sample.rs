//! The recorded data of one hop.
//!
//! Must not know what is done with it. Invariant: no text is created for a tag that is off or exists already.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use loadline_metric::TagSet;
use loadline_model::Nanos;

use super::call::Call;
use super::url::Address;
use crate::hop::{HopAnswer, HopFailure, HopProtocol, HopTimes, HopTls};
use crate::samples::{HttpFacts, HttpSample, HttpTags};
use crate::system_tags::SystemTag;
use crate::vu::VuState;

/// A hop, with the data known before its end.
pub(super) struct Sampled<'a> {
    pub(super) call: &'a Rc<Call>,
    pub(super) method: &'a Arc<str>,
    pub(super) address: &'a Address,
    pub(super) started: Nanos,
    /// The expectation of a round of authentication, which replaces the response callback.
    pub(super) expected: Expectation,
}

/// The expected responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expectation {
    /// As in the response callback.
    Callback,
    /// Only 401: the challenge before the proof.
    Unauthorized,
    /// 401, or as in the response callback.
    UnauthorizedOrCallback,
}

/// How a hop ended.
pub(super) enum Outcome<'a> {
    /// A response, with the wire size of its body, and the body's start if it is needed.
    Answer(&'a HopAnswer, u64, &'a str),
    Failure(&'a HopFailure),
}

/// What responses and failures have in common.
struct Ended<'a> {
    status: u16,
    protocol: Option<HopProtocol>,
    tls: Option<HopTls>,
    remote: Option<SocketAddr>,
    times: HopTimes,
    done_at: Nanos,
    error: &'a str,
    body_bytes: u64,
    sent_bytes: u64,
    content_type: &'a [u8],
    body: &'a str,
}

impl<'a> Ended<'a> {
    fn of(outcome: &Outcome<'a>) -> Ended<'a> {
        match outcome {
            Outcome::Answer(answer, body_bytes, body) => Ended {
                status: answer.status,
                protocol: Some(answer.protocol),
                tls: answer.tls,
                remote: answer.remote,
                times: answer.times,
                done_at: answer.done_at,
                error: "",
                body_bytes: *body_bytes,
                sent_bytes: answer.sent_bytes,
                content_type: answer.headers.get("Content-Type").unwrap_or_default(),
                body,
            },
            Outcome::Failure(failure) => Ended {
                status: 0,
                protocol: None,
                tls: failure.tls,
                remote: failure.remote,
                times: failure.times,
                done_at: failure.done_at,
                error: &failure.tag,
                body_bytes: 0,
                sent_bytes: 0,
                content_type: b"",
                body: "",
            },
        }
    }
}

/// Records a hop.
pub(super) fn record(state: &VuState, hop: &Sampled<'_>, outcome: &Outcome<'_>) {
    let call = &**hop.call;
    let enabled = state.program.settings.system_tags;
    let ended = Ended::of(outcome);
    let expected = expected(hop, ended.status);
    let (mut status_digits, mut code_digits) = ([0; 5], [0; 5]);
    let code = error_code(outcome);
    let ip = ended.remote.filter(|_| enabled.has(SystemTag::Ip));
    let ip = ip.map(|remote| remote.ip().to_string());
    let url = call.name.as_deref().unwrap_or(&hop.address.masked);
    let url = &*state.program.settings.secrets.redacted(url);
    let system = HttpTags {
        method: hop.method,
        url,
        name: url,
        status: digits(ended.status, &mut status_digits),
        proto: ended.protocol.map_or("", HopProtocol::name),
        expected_response: match expected {
            None => "",
            Some(true) => "true",
            Some(false) => "false",
        },
        error: ended.error,
        error_code: match code {
            0 => "",
            code => digits(code, &mut code_digits),
        },
        tls_version: ended.tls.map_or("", |tls| tls.version),
        ocsp_status: ended.tls.map_or("", |_| "unknown"),
        ip: ip.as_deref().unwrap_or_default(),
    };
    state.host.http(&HttpSample {
        times: ended.times,
        failed: expected.map(|expected| !expected),
        base: &call.base,
        own: (call.tags.as_ref())
            .filter(|tags| !(enabled.has(SystemTag::Name) && is_only_name(tags))),
        system,
        enabled,
        facts: HttpFacts {
            status: ended.status,
            failure: match outcome {
                Outcome::Answer(..) => None,
                Outcome::Failure(failure) => Some(failure.class),
            },
            error: ended.error,
            body_bytes: ended.body_bytes,
            sent_bytes: ended.sent_bytes,
            content_type: ended.content_type,
            body: ended.body,
            started_ns: hop.started.0,
            done_ns: ended.done_at.0,
        },
    });
}

/// Whether `name` is the only tag, which the hop itself sets.
fn is_only_name(tags: &TagSet) -> bool {
    tags.len() == 1 && tags.get("name").is_some()
}

fn expected(hop: &Sampled<'_>, status: u16) -> Option<bool> {
    let callback = hop.call.expected.as_ref()?;
    Some(match hop.expected {
        Expectation::Callback => callback.holds(status),
        Expectation::Unauthorized => status == 401,
        Expectation::UnauthorizedOrCallback => status == 401 || callback.holds(status),
    })
}

/// k6's error code: that of a failure, or 1000 plus the status from 400 on; otherwise zero.
pub(super) fn error_code(outcome: &Outcome<'_>) -> u16 {
    match outcome {
        Outcome::Answer(answer, ..) => code_of_status(answer.status),
        Outcome::Failure(failure) => failure.code,
    }
}

/// The error code of a status; zero if it is not an error.
pub(super) fn code_of_status(status: u16) -> u16 {
    match status {
        400.. => 1_000 + status,
        _ => 0,
    }
}

/// A number as text, without allocating.
fn digits(number: u16, place: &mut [u8; 5]) -> &str {
    let mut rest = number;
    let mut at = place.len();
    loop {
        at -= 1;
        place[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    std::str::from_utf8(&place[at..]).expect("digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::{code_of_status, digits};

    #[test]
    fn statuses_of_errors_have_codes_however_high_they_are() {
        let codes = [101, 399, 400, 599, 600, 999].map(code_of_status);
        assert_eq!(codes, [0, 0, 1_400, 1_599, 1_600, 1_999]);
    }

    #[test]
    fn numbers_are_written_in_place() {
        for number in [0, 7, 200, 1_404, u16::MAX] {
            assert_eq!(digits(number, &mut [0; 5]), number.to_string());
        }
    }
}
