//! A chain of hops: from a request to its last response, through redirects and rounds of authentication.
//!
//! It sends nothing itself: it returns the next hop, and gets its outcome; so a script can wait for it or run
//! concurrently. Must not know the script's values. Invariant: every hop is recorded exactly once.

mod failing;

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use loadline_go::header::is_token;
use loadline_go::quoted;
use loadline_go::redirect::{Chain, Hop, is_redirect};
use loadline_go::url::escaped_bytes;
use loadline_model::{ErrorClass, Nanos, other_place};

use super::answer::Facts;
use super::auth::Rounds;
use super::call::{Call, CallCookie, ResponseType};
use super::codings::Damaged;
use super::cookies::{append_pair, set_cookies};
use super::debug;
use super::headers::is_value;
use super::sample::{self, Expectation, Outcome};
use super::url::{Address, Unreachable};
use super::vu::{ClientState, client_state};
use crate::hop::{HopAnswer, HopFailure, HopOutcome, HopRequest, HopTimes};
use crate::host::LogLevel;
use crate::trace::{HopTrace, TracedOutcome};
use crate::vu::VuState;

/// Fields written by the engine itself.
const FRAMING: [&str; 3] = ["Content-Length", "Transfer-Encoding", "Trailer"];

/// The status after which a connection speaks another protocol.
const SWITCHING: u16 = 101;

/// A chain of hops in progress.
pub(super) struct Exchange {
    call: Rc<Call>,
    client: Rc<ClientState>,
    method: Arc<str>,
    address: Rc<Address>,
    body: Option<Bytes>,
    referer: Option<String>,
    followed: i64,
    /// State carried over redirects.
    chain: Chain,
    rounds: Rounds,
    /// The id of the hop in the log; `None`: it is not logged.
    debug_id: Option<String>,
    /// The current hop, if it is traced.
    traced: Option<HopRequest>,
    started: Nanos,
    deadline: Nanos,
}

/// The next action.
pub(super) enum Next {
    /// Send this hop.
    Send(HopRequest),
    /// The chain has ended.
    Done(Facts),
}

impl Exchange {
    /// A chain that has not started.
    pub(super) fn new(state: &VuState, call: Rc<Call>) -> Exchange {
        Exchange {
            client: client_state(state),
            method: Arc::clone(&call.method),
            address: Rc::clone(&call.address),
            body: call.body.as_ref().map(|body| body.sent.clone()),
            referer: None,
            followed: 0,
            chain: Chain::default(),
            rounds: Rounds::of(call.auth),
            debug_id: None,
            traced: None,
            started: Nanos(0),
            deadline: Nanos(0),
            call,
        }
    }

    /// The first hop.
    pub(super) fn begin(&mut self, state: &VuState) -> Next {
        let now = state.host.now();
        self.deadline = Nanos(now.0.saturating_add(self.call.timeout_ns));
        self.rounds.enter(&self.address);
        self.hop(state, now)
    }

    fn hop(&mut self, state: &VuState, now: Nanos) -> Next {
        self.started = now;
        state.host.hop_begins(now);
        match self.request(state) {
            Ok(request) => {
                self.debug_id = debug::request(state, &self.call, &request);
                self.traced = state.program.settings.traces.then(|| request.clone());
                Next::Send(request)
            }
            Err(why) => {
                // If a response led the script there, the response is to blame.
                let class = match self.followed {
                    0 => ErrorClass::Request,
                    _ => ErrorClass::Redirect,
                };
                self.failed(state, &unsent(class, why, now))
            }
        }
    }

    /// Processes the outcome of the hop that was sent.
    pub(super) fn ended(&mut self, state: &VuState, outcome: HopOutcome) -> Next {
        let held = match &outcome {
            Err(failure) => failure.times.held,
            Ok(answer) => answer.times.held,
        };
        self.deadline = self.deadline + Duration::from_nanos(held);
        match outcome {
            Err(failure) => self.failed(state, &failure),
            Ok(answer) => self.answered(state, answer),
        }
    }

    fn request(&self, state: &VuState) -> Result<HopRequest, Unreachable> {
        let place = self.address.place.as_ref().map_err(Clone::clone)?;
        let headers = self.headers(state, &place.authority)?;
        Ok(HopRequest {
            method: if self.method.is_empty() {
                Arc::clone(&self.client.names.get)
            } else {
                Arc::clone(&self.method)
            },
            origin: Arc::clone(&place.origin),
            target: place.target.clone(),
            headers,
            body: self.body.clone(),
            deadline: self.deadline,
            follows: self.followed > 0,
            keep_body: self.call.response_type != ResponseType::None || debug::shows_bodies(state),
            leads_on: self.followed < self.call.redirects.most && !shows_each_body(state),
        })
    }

    /// The fields of the hop: `Host`, `User-Agent`, then the others by name.
    fn headers(
        &self,
        state: &VuState,
        authority: &str,
    ) -> Result<Vec<(Arc<str>, String)>, Unreachable> {
        let call = &*self.call;
        if !self.method.is_empty() && !is_token(&self.method) {
            return Err(refused(format!(
                "net/http: invalid method {}",
                quoted(&self.method)
            )));
        }
        let mut fields = Vec::with_capacity(2 + call.headers.len() + 2);
        let own_host = !call.host.is_empty() && self.chain.has_host();
        let host = if own_host { &call.host } else { authority };
        if !is_value(host) {
            return Err(bad_value("Host"));
        }
        let host = loadline_go::host::header_value(host).into_owned();
        fields.push((Arc::clone(&self.client.names.host), host));
        let mut agent = state.program.settings.http.user_agent.as_str();
        for (name, value) in &call.headers {
            if !is_token(name) {
                return Err(refused(format!(
                    "net/http: invalid header field name {}",
                    quoted(name)
                )));
            }
            if !is_value(value) {
                return Err(bad_value(name));
            }
            if &**name == "User-Agent" {
                agent = value;
            } else if self.goes_along(name) {
                fields.push((Arc::clone(name), value.clone()));
            }
        }
        if !agent.is_empty() {
            let agent = (Arc::clone(&self.client.names.user_agent), agent.to_owned());
            fields.insert(1, agent);
        }
        let first_of_others = fields
            .iter()
            .take(2)
            .filter(|(name, _)| matches!(&**name, "Host" | "User-Agent"))
            .count();
        self.add_derived(state, &mut fields);
        fields[first_of_others..].sort_by(|left, right| left.0.cmp(&right.0));
        Ok(fields)
    }

    fn goes_along(&self, name: &str) -> bool {
        !FRAMING.contains(&name) && self.chain.has_field(name)
    }

    /// Adds the fields that follow from the URL, the jar and earlier hops.
    fn add_derived(&self, state: &VuState, fields: &mut Vec<(Arc<str>, String)>) {
        let has = |fields: &[(Arc<str>, String)], name: &str| {
            fields.iter().any(|(known, _)| &**known == name)
        };
        if let Some(authorization) = self.rounds.authorization() {
            fields.retain(|(name, _)| &**name != "Authorization");
            fields.push((Arc::from("Authorization"), authorization.to_owned()));
        } else if let Some((user, password)) = &self.address.credentials
            && !self.rounds.hides_credentials()
            && !has(fields, "Authorization")
        {
            let value = super::auth::basic(user, password);
            fields.push((Arc::from("Authorization"), value));
        }
        let cookies = self.cookie_field(state);
        if !cookies.is_empty() {
            fields.push((Arc::from("Cookie"), cookies));
        }
        if let Some(referer) = &self.referer
            && !has(fields, "Referer")
        {
            fields.push((Arc::from("Referer"), referer.clone()));
        }
    }

    fn cookie_field(&self, state: &VuState) -> String {
        let call = &*self.call;
        if call.is_bare() && call.cookie_header.is_empty() {
            return String::new();
        }
        // As in k6, after a redirect the jar's cookies replace the field.
        let is_kept = self.followed == 0 || call.jar.is_none();
        let mut field = match is_kept && self.chain.has_field("Cookie") {
            true => call.cookie_header.clone(),
            false => String::new(),
        };
        let later;
        let cookies = if self.followed == 0 {
            &call.sent_cookies
        } else {
            let now_ms = (state.host.unix_ns() / 1_000_000) as i64;
            later = call.cookies_for(&self.address, now_ms);
            &later
        };
        for CallCookie { name, value, .. } in cookies {
            append_pair(&mut field, name, value);
        }
        field
    }

    fn answered(&mut self, state: &VuState, mut answer: HopAnswer) -> Next {
        if let Some(id) = self.debug_id.take() {
            debug::answer(state, &self.call, &self.method, &answer, &id);
            if self.call.response_type == ResponseType::None {
                answer.body.clear();
            }
        }
        if answer.status == SWITCHING {
            return Next::Done(Facts::switched(&self.call, &self.shown_address(), answer));
        }
        self.keep_cookies(state, &answer);
        let body = std::mem::take(&mut answer.body);
        let body_bytes = body.len() as u64;
        let expected = self.rounds.expectation();
        let is_asked_again = self
            .rounds
            .go_on(&answer, &self.method, &self.address, state);
        let next = match is_asked_again {
            true => Ok(None),
            false => self.redirect(state, &answer),
        };
        let next = match next {
            Ok(next) => next,
            // As in k6, the request that got the redirect fails.
            Err(why) => {
                let failure = HopFailure {
                    remote: answer.remote,
                    times: answer.times,
                    ..unsent(ErrorClass::Redirect, refused(why), answer.done_at)
                };
                return self.failed(state, &failure);
            }
        };
        let is_last = !is_asked_again && next.is_none();
        let body = match self.unpacked(state, &answer, body, is_last) {
            Ok(body) => body,
            Err(damaged) => return self.damaged(state, &answer, damaged, expected),
        };
        let shown = beginning(state, if is_last { &body } else { &[] });
        sample::record(
            state,
            &self.sampled(expected),
            &Outcome::Answer(&answer, body_bytes, &shown),
        );
        self.trace(state, answer.times, || TracedOutcome::Answer {
            status: answer.status,
            reason: answer.reason.as_deref().unwrap_or_default(),
            protocol: answer.protocol,
            headers: &answer.headers,
            body: &body,
        });
        if is_asked_again {
            return self.hop(state, state.host.now());
        }
        match next {
            Some(hop) => {
                self.follow(hop);
                self.hop(state, state.host.now())
            }
            None => {
                self.tell_place(state);
                Next::Done(Facts::answered(
                    &self.call,
                    &self.shown_address(),
                    answer,
                    body,
                ))
            }
        }
    }

    /// Tells if redirects brought what a page was asked for from another place: whoever sends a form expects that.
    fn tell_place(&self, state: &VuState) {
        let asks = matches!(&*self.call.method, "" | "GET" | "HEAD");
        if self.followed == 0 || !asks {
            return;
        }
        if let Some(place) = other_place(&self.call.address.text, &self.address.text) {
            state.host.came_from(place, self.started);
        }
    }

    /// The body for the script. As in k6, a body that the script does not get is not decoded, and so cannot be
    /// damaged; if every hop is traced, intermediate ones are decoded for that purpose.
    fn unpacked(
        &self,
        state: &VuState,
        answer: &HopAnswer,
        body: Vec<u8>,
        is_last: bool,
    ) -> Result<Vec<u8>, Damaged> {
        let Some(encoding) = answer.headers.get("Content-Encoding") else {
            return Ok(body);
        };
        let is_wanted = is_last && self.call.response_type != ResponseType::None;
        let is_shown = state.program.settings.traces;
        // k6 too expects a body that HEAD leaves out, and misses it.
        let may_be_there = !body.is_empty() || may_have_body(answer.status);
        if !may_be_there || !(is_wanted || is_shown) {
            return Ok(body);
        }
        let unpacked = self.decoded(state, body, encoding, None);
        match unpacked {
            Err(damaged) if !is_wanted => Ok(damaged.partial.unwrap_or_default()),
            unpacked => unpacked,
        }
    }

    /// Reports the ended hop, if tracing is on.
    fn trace<'a>(
        &'a self,
        state: &VuState,
        times: HopTimes,
        outcome: impl FnOnce() -> TracedOutcome<'a>,
    ) {
        if !state.program.settings.traces {
            return;
        }
        state.host.traced(&HopTrace {
            group: &state.group.borrow(),
            method: if self.method.is_empty() {
                "GET"
            } else {
                &self.method
            },
            url: &self.address.without_password(),
            request: self.traced.as_ref(),
            outcome: outcome(),
            times,
        });
    }

    fn trace_failure(&self, state: &VuState, failure: &HopFailure) {
        self.trace(state, failure.times, || TracedOutcome::Failed {
            code: failure.code,
            detail: &failure.detail,
        });
    }

    fn sampled(&self, expected: Expectation) -> sample::Sampled<'_> {
        sample::Sampled {
            call: &self.call,
            method: &self.method,
            address: self.rounds.bare_address().unwrap_or(&self.address),
            started: self.started,
            expected,
        }
    }

    fn shown_address(&self) -> Rc<Address> {
        match self.rounds.bare_address() {
            Some(bare) => Rc::clone(bare),
            None => Rc::clone(&self.address),
        }
    }

    fn keep_cookies(&self, state: &VuState, answer: &HopAnswer) {
        let Some(jar) = &self.call.jar else { return };
        for cookie in set_cookies(&answer.headers) {
            let now_ms = (state.host.unix_ns() / 1_000_000) as i64;
            jar.set(&self.address, cookie, now_ms);
        }
    }

    /// The target of a redirect; `None`: no redirect.
    ///
    /// # Errors
    /// The location is not a URL.
    fn redirect(&mut self, state: &VuState, answer: &HopAnswer) -> Result<Option<Hop>, String> {
        if !is_redirect(answer.status) {
            return Ok(None);
        }
        let Some(location) = answer
            .headers
            .get("Location")
            .filter(|value| !value.is_empty())
        else {
            return Ok(None);
        };
        let most = self.call.redirects.most;
        if self.followed >= most {
            let options = &state.program.settings.options;
            let is_chosen = options
                .get("maxRedirects")
                .is_some_and(|most| !most.is_null());
            if !self.call.redirects.chosen && !is_chosen {
                let message = format!(
                    "Stopped after {} redirects and returned the redirection; pass {{ redirects: n }} in request params or set global maxRedirects to silence this",
                    self.followed + 1
                );
                let url = &*self.call.address.text;
                state.log(LogLevel::Warning, &message, &[("url", url)]);
            }
            return Ok(None);
        }
        let location = in_utf8(location);
        let first = self.call.address.parts();
        // As in k6, digest authentication removes the credentials from the URL, so that no reference to another
        // page of the host inherits them.
        let here = self.rounds.bare_address().unwrap_or(&self.address);
        let last = (here.parts(), &*self.method);
        let hop = self.chain.follow(first, last, answer.status, &location);
        hop.map(Some)
    }

    fn follow(&mut self, hop: Hop) {
        self.referer = hop.referer;
        if hop.method.is_some() && !self.method.is_empty() {
            self.method = Arc::clone(&self.client.names.get);
        }
        if !self.chain.has_body() {
            self.body = None;
        }
        self.address = Rc::new(Address::of(hop.to));
        self.rounds.enter(&self.address);
        self.followed += 1;
    }
}

/// The text of a field; invalid bytes are percent-encoded, as Go does in a URL.
fn in_utf8(field: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(field) {
        Ok(text) => text.into(),
        Err(_) => escaped_bytes(field, |byte| byte.is_ascii()).into(),
    }
}

/// Whether what is logged or traced has the body of every hop.
fn shows_each_body(state: &VuState) -> bool {
    state.program.settings.traces || debug::shows_bodies(state)
}

fn may_have_body(status: u16) -> bool {
    !matches!(status, 100..=199 | 204 | 304)
}

fn refused(text: String) -> Unreachable {
    Unreachable::new(1000, text)
}

fn bad_value(field: &str) -> Unreachable {
    let field = quoted(field);
    refused(format!("net/http: invalid header field value for {field}"))
}

/// A hop that could not be sent.
fn unsent(class: ErrorClass, why: Unreachable, now: Nanos) -> HopFailure {
    HopFailure {
        class,
        code: why.code,
        tag: why.tag,
        detail: why.text,
        protocol: None,
        remote: None,
        tls: None,
        times: HopTimes::default(),
        done_at: now,
        partial_body: None,
    }
}

/// The method as at the start of Go's errors: `Get`.
fn verb(method: &str) -> String {
    let mut letters = method.chars();
    match letters.next() {
        None => "Get".to_owned(),
        Some(first) => first.to_string() + &letters.as_str().to_ascii_lowercase(),
    }
}

/// The start of a body, if it is needed.
fn beginning(state: &VuState, body: &[u8]) -> String {
    const BYTES: usize = 1_024;
    if body.is_empty() || !state.host.wants_body() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&body[..body.len().min(BYTES)]);
    state.program.settings.secrets.redacted(&text).into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn errors_begin_with_the_method_as_go_writes_it() {
        assert_eq!(super::verb("GET"), "Get");
        assert_eq!(super::verb(""), "Get");
        assert_eq!(super::verb("A B"), "A b");
    }

    #[test]
    fn locations_keep_their_bytes() {
        assert_eq!(super::in_utf8("/ü%".as_bytes()), "/ü%");
        assert_eq!(super::in_utf8(b"/a\xff\xfe?%"), "/a%FF%FE?%");
    }
}
