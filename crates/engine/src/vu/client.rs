//! The HTTP client of one virtual user: its connections, cookies and buffers.
//!
//! Sends a prepared request, follows redirects, and records the outcome. Must not know why the request is sent
//! or when the next is due. Invariant: every started call of [`VuClient::request`] records exactly one outcome,
//! even if its future is dropped.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use std::task::Context;

use loadline_model::check::{Answer as CheckedAnswer, Check};
use loadline_model::request::{BodySource, RedirectRules, RequestMix};
use loadline_model::snapshot::ErrorKey;
use loadline_model::template::Filling;
use loadline_model::{ErrorClass, Nanos, is_good_status};

use super::cookies::Cookies;
use super::http2_pool::Pooled;
use super::shared::Shared;
use crate::client::{
    Broken, Http1Connection, IdleConnections, Instants, Keepable, Passing, Stop, Usage,
};
use crate::exchange::{Answer, PreparedRequest, Wants};
use crate::net::Failure;
use crate::record::Life;
use crate::slot::VuSlot;

/// Number of first responses of a virtual user whose bodies are sampled: enough for a statement on all of them
/// even if a virtual user is active for less than a second.
const BODIES_WANTED: u32 = 3;

/// The checks for responses, and the parts of responses that they need.
pub(crate) struct Judging {
    pub(crate) checks: Vec<Check>,
    pub(crate) wants: Wants,
    pub(crate) redirects_max: u32,
    pub(crate) redirect_rules: RedirectRules,
    status_decides: bool,
}

impl Judging {
    pub(crate) fn new(
        checks: Vec<Check>,
        mix: &RequestMix,
        tag_header: Option<String>,
        body_kept_max: u64,
    ) -> Judging {
        let wants = Wants {
            headers: checks.iter().any(Check::needs_headers),
            body_max: if checks.iter().any(Check::needs_body) {
                body_kept_max
            } else {
                0
            },
            location: mix.redirects_max > 0,
            cookies: mix.cookies,
            tag_header,
        };
        let status_decides = !checks.iter().any(Check::is_about_status);
        Judging {
            checks,
            wants,
            redirects_max: mix.redirects_max,
            redirect_rules: mix.redirect_rules,
            status_decides,
        }
    }

    /// How much is read of a redirect that is followed.
    pub(crate) fn passing(&self, request: &PreparedRequest) -> Passing {
        match self.redirect_rules {
            _ if self.redirects_max == 0 => Passing::default(),
            RedirectRules::Browsers => Passing::while_cheap(),
            // Some redirects of requests with a body are not followed, and are then the final response.
            RedirectRules::Go if !matches!(request.template.body, BodySource::None) => {
                Passing::default()
            }
            RedirectRules::Go => Passing::as_go(),
        }
    }
}

/// A connection of one virtual user; the kernel's data is recorded when it closes.
pub(super) struct Held {
    pub(super) connection: Box<Http1Connection>,
    /// The row of its remote address.
    pub(super) peer: Option<usize>,
    pub(super) shared: Rc<Shared>,
}

impl Keepable for Held {
    fn usage(&self) -> Usage {
        self.connection.usage()
    }

    fn is_stale(&mut self, cx: &mut Context<'_>) -> bool {
        self.connection.is_stale(cx)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let recorder = self.shared.recorder.borrow();
        let seen = &recorder.connections;
        seen.given_up(self.connection.usage().given_up);
        seen.ended(|| self.connection.stream().facts());
    }
}

/// The shared connection that a virtual user last used.
pub(super) struct Lease {
    pub(super) route: usize,
    pub(super) pooled: Pooled,
}

/// The HTTP client of one virtual user.
pub(crate) struct VuClient {
    pub(super) shared: Rc<Shared>,
    pub(super) slot: Rc<VuSlot>,
    pub(super) judging: Rc<Judging>,
    /// By the route's index.
    pub(super) idle: IdleConnections<usize, Held>,
    pub(super) lease: Option<Lease>,
    pub(super) cookies: Option<RefCell<Cookies>>,
    pub(super) buffer: Vec<u8>,
    pub(super) answer: Answer,
    /// How far the current request got.
    pub(super) reached: Reached,
    /// The other place to which redirects of the current request led; `None`: to none.
    pub(super) landed: Option<String>,
    /// Responses whose bodies are still sampled regardless of the interval's limit.
    bodies_wanted: u32,
}

/// How far a request got before its response began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reached {
    Nothing,
    /// Its own connection.
    Connection,
    /// The connection took the whole request.
    Sent,
}

impl Reached {
    pub(super) fn after(instants: &Instants) -> Reached {
        match instants.is_sent {
            true => Reached::Sent,
            false => Reached::Connection,
        }
    }
}

/// The numbers for a request's placeholders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers {
    pub(crate) iteration: u64,
}

/// Records an interruption if the request's future is dropped before its outcome is known.
pub(super) struct FateGuard<'a> {
    pub(super) shared: &'a Shared,
    pub(super) life: Life,
    pub(super) known: bool,
}

impl Drop for FateGuard<'_> {
    fn drop(&mut self) {
        if !self.known {
            self.shared.recorder.borrow_mut().interrupted(&self.life);
        }
    }
}

impl VuClient {
    pub(crate) fn new(
        shared: Rc<Shared>,
        slot: Rc<VuSlot>,
        judging: Rc<Judging>,
        cookies: bool,
    ) -> VuClient {
        VuClient {
            idle: IdleConnections::new(Rc::clone(&shared.keep)),
            shared,
            slot,
            judging,
            lease: None,
            cookies: cookies.then(RefCell::default),
            buffer: Vec::new(),
            answer: Answer::default(),
            reached: Reached::Nothing,
            landed: None,
            bodies_wanted: BODIES_WANTED,
        }
    }

    /// Sends a request, reads its response and records both; returns the instant at which it ended.
    #[inline]
    pub(crate) async fn request(
        &mut self,
        request: &PreparedRequest,
        intended: Option<Nanos>,
        started: Nanos,
        numbers: Numbers,
    ) -> Nanos {
        let shared = Rc::clone(&self.shared);
        let mut fate = FateGuard {
            shared: &shared,
            life: Life::begin(intended, started),
            known: false,
        };
        shared.recorder.borrow_mut().started(&fate.life);
        let deadline = shared
            .client
            .request_timeout
            .map_or(Nanos::MAX, |limit| started + limit);
        self.slot.set_deadline(deadline);
        self.answer.sampled = self.bodies_wanted > 0 || shared.takes_body();
        self.reached = Reached::Nothing;
        self.landed = None;
        let outcome = self
            .follow(request, &mut fate.life, deadline, numbers)
            .await;
        self.slot.set_deadline(Nanos::MAX);
        fate.known = true;
        match outcome {
            Ok(peer) => self.record_answer(request, &fate.life, peer),
            Err(broken) => {
                let class = self.record_breakage(request, &mut fate.life, deadline, broken);
                if let Some(class) = class {
                    Box::pin(
                        shared
                            .failures
                            .hold_up(class, shared.clock.now(), &*self.slot),
                    )
                    .await;
                }
            }
        }
        shared.last_done.set(fate.life.done);
        fate.life.done
    }

    #[inline]
    fn record_answer(&mut self, request: &PreparedRequest, life: &Life, peer: Option<usize>) {
        let good = if self.judging.checks.is_empty() {
            is_good_status(self.answer.status)
        } else {
            self.judge(life)
        };
        if self.judging.wants.tag_header.is_some() {
            // A response without the header has a row too: that of the empty value.
            self.answer.tag.get_or_insert_default();
        }
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.answered(life, &self.answer, good, peer);
        if let Some(row) = request.row {
            recorder.one_of_several(row, life, Some(good));
        }
        if let Some(place) = self.landed.take() {
            recorder.came_from(place, life);
        }
        drop(recorder);
        if self.answer.sampled {
            self.look_at_body();
        }
    }

    /// Applies every check to the response; the first that fails is counted.
    fn judge(&self, life: &Life) -> bool {
        if self.judging.status_decides && !is_good_status(self.answer.status) {
            return false;
        }
        // A body that was kept only for the census is not checked.
        let plain = match self.judging.wants.body_max {
            0 => Ok(Cow::default()),
            _ => self.answer.plain_body(self.shared.client.body_kept_max),
        };
        if let Err(why) = &plain {
            // No check can pass on a body that cannot be decoded.
            let coding = self.answer.content_coding.as_deref();
            let why = format!("content coding {}: {why}", coding.unwrap_or_default());
            self.shared.recorder.borrow_mut().check_failed(life, why);
            return false;
        }
        let headers: Vec<(&[u8], &[u8])> = self
            .answer
            .headers
            .iter()
            .map(|(name, value)| (name.as_slice(), value.as_slice()))
            .collect();
        let view = CheckedAnswer {
            status: self.answer.status,
            headers: &headers,
            body: plain.as_deref().unwrap_or_default(),
            body_size: self.answer.body_bytes,
            service_time_ns: life.done.since(life.started),
        };
        match self
            .judging
            .checks
            .iter()
            .find(|check| !check.passes(&view))
        {
            None => true,
            Some(failed) => {
                self.shared
                    .recorder
                    .borrow_mut()
                    .check_failed(life, failed.to_string());
                false
            }
        }
    }

    #[cold]
    fn look_at_body(&mut self) {
        self.bodies_wanted = self.bodies_wanted.saturating_sub(1);
        let most = loadline_model::snapshot::BODY_SAMPLE_MAX as u64;
        let plain = self.answer.plain_body(most);
        let body = plain
            .as_deref()
            .unwrap_or(b"(a body that its content coding does not fit)");
        self.shared
            .recorder
            .borrow_mut()
            .sample_body(&self.answer, body);
        if self.judging.wants.body_max == 0 {
            self.answer.body = Vec::new();
        }
    }

    /// Returns the class of a failure; `None`: the request was interrupted.
    #[cold]
    fn record_breakage(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
        broken: Broken,
    ) -> Option<ErrorClass> {
        life.done = self.shared.clock.now();
        let failure = match broken {
            Broken::Failed(failure) => failure,
            Broken::Stopped(Stop::Cut) => {
                let mut recorder = self.shared.recorder.borrow_mut();
                recorder.interrupted(life);
                if let Some(row) = request.row {
                    recorder.one_cut_short(row, life);
                }
                return None;
            }
            Broken::Stopped(Stop::TimedOut) => self.timeout(life, deadline),
        };
        let class = failure.class;
        let mut recorder = self.shared.recorder.borrow_mut();
        recorder.failed(life, &request.label(), &failure);
        if let Some(row) = request.row {
            recorder.one_of_several(row, life, None);
        }
        Some(class)
    }

    /// The meaning of an expired deadline: which limit it was, and how far the request had got.
    fn timeout(&self, life: &Life, deadline: Nanos) -> Failure {
        if life.done < deadline {
            return Failure::new(
                ErrorClass::ConnectTimeout,
                "no connection within the connect timeout",
            );
        }
        let stage = match self.reached {
            _ if self.answer.status != 0 => "while reading the response body",
            Reached::Nothing => "before a connection was made",
            Reached::Connection => "while sending the request",
            Reached::Sent => ErrorKey::HEADERS_AWAITED,
        };
        Failure::timeout(format!("timed out {stage}"))
    }

    /// Renders a request into the buffer.
    pub(super) fn render(
        &mut self,
        request: &PreparedRequest,
        cookies: Option<&str>,
        numbers: Numbers,
    ) -> Result<(), Failure> {
        let shared = &self.shared;
        let mut random = || shared.next_random();
        let mut filling = filling(shared, self.slot.global, numbers, &mut random);
        request
            .render(&mut filling, cookies, &mut self.buffer)
            .map_err(|error| Failure::new(ErrorClass::Request, error.0))
    }
}

/// The values for a request's placeholders.
pub(super) fn filling<'a>(
    shared: &Shared,
    vu: u64,
    numbers: Numbers,
    random: &'a mut dyn FnMut() -> u64,
) -> Filling<'a> {
    Filling {
        counter: numbers.iteration,
        vu,
        unix_ms: shared.unix_ms(),
        random,
    }
}
