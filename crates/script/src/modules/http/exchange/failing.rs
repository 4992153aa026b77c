//! How a chain of hops ends without a whole response, and what its script gets of a body.
//!
//! Must not know redirects. Invariant: a failure is recorded before the script learns of it.

use std::borrow::Cow;
use std::time::Duration;

use super::super::answer::Facts;
use super::super::call::ResponseType;
use super::super::codings::{self, Bounds, Damaged};
use super::super::sample::{self, Expectation, Outcome};
use super::{Exchange, Next, quoted, verb};
use crate::hop::{HopAnswer, HopFailure};
use crate::vu::VuState;

/// How long the received part of a body that broke off may take to decode: it may have broken off at the deadline.
const DECODING_BROKEN_MAX: Duration = Duration::from_millis(200);

impl Exchange {
    pub(super) fn decoded(
        &self,
        state: &VuState,
        body: Vec<u8>,
        encoding: &[u8],
        broken: Option<Damaged>,
    ) -> Result<Vec<u8>, Damaged> {
        let until = match broken {
            Some(_) => state.host.now() + DECODING_BROKEN_MAX,
            None => self.deadline,
        };
        let bounds = Bounds {
            bytes_max: state.program.settings.http.body_max,
            is_late: &|| state.interrupt() || state.host.now() >= until,
        };
        codings::unpack(body, encoding, broken, &bounds)
    }

    pub(super) fn damaged(
        &mut self,
        state: &VuState,
        answer: &HopAnswer,
        damaged: Damaged,
        expected: Expectation,
    ) -> Next {
        let failure = HopFailure {
            class: damaged.class,
            code: damaged.code,
            tag: damaged.tag,
            detail: damaged.detail,
            protocol: Some(answer.protocol),
            remote: answer.remote,
            tls: answer.tls,
            times: answer.times,
            done_at: answer.done_at,
            partial_body: None,
        };
        // A failure caused by the end of the iteration counts as little as an interrupted hop.
        if !state.is_cancelled() {
            sample::record(state, &self.sampled(expected), &Outcome::Failure(&failure));
        }
        self.trace_failure(state, &failure);
        let words = failure.detail.clone();
        Next::Done(Facts::failed(
            &self.call,
            &self.shown_address(),
            &failure,
            words,
            damaged.partial,
        ))
    }

    pub(super) fn failed(&mut self, state: &VuState, failure: &HopFailure) -> Next {
        let is_of_body = failure.partial_body.is_some();
        let (failure, partial) = self.with_its_part(state, failure);
        let expected = self.rounds.expectation();
        sample::record(state, &self.sampled(expected), &Outcome::Failure(&failure));
        self.trace_failure(state, &failure);
        let words = match is_of_body {
            true => failure.detail.clone(),
            false => format!(
                "{} {}: {}",
                // As in Go, the method is that of the first hop, and the URL that of the last.
                verb(&self.call.method),
                quoted(&self.shown_address().without_password()),
                failure.detail
            ),
        };
        Next::Done(Facts::failed(
            &self.call,
            &self.shown_address(),
            &failure,
            words,
            partial,
        ))
    }

    /// A failure and the decoded part of its body, if the script gets it. As in k6, which decodes while it reads,
    /// damage before the break is the failure.
    fn with_its_part<'f>(
        &self,
        state: &VuState,
        failure: &'f HopFailure,
    ) -> (Cow<'f, HopFailure>, Option<Vec<u8>>) {
        let is_wanted = self.call.response_type != ResponseType::None;
        let Some(part) = failure.partial_body.as_ref().filter(|_| is_wanted) else {
            return (Cow::Borrowed(failure), None);
        };
        let Some(encoding) = &part.encoding else {
            return (Cow::Borrowed(failure), Some(part.bytes.clone()));
        };
        let broken = Damaged {
            class: failure.class,
            code: failure.code,
            tag: failure.tag.clone(),
            detail: failure.detail.clone(),
            partial: None,
        };
        let bytes = part.bytes.clone();
        match self.decoded(state, bytes, encoding, Some(broken)) {
            Ok(decoded) => (Cow::Borrowed(failure), Some(decoded)),
            Err(damaged) => {
                let failure = HopFailure {
                    class: damaged.class,
                    code: damaged.code,
                    tag: damaged.tag,
                    detail: damaged.detail,
                    ..failure.clone()
                };
                (Cow::Owned(failure), damaged.partial)
            }
        }
    }
}
