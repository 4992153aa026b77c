//! From a request to its response: over kept or new connections, HTTP/1.1 or HTTP/2, and through redirects.
//!
//! Must not know measurements beyond a request's phases. Invariant: a connection that failed, or whose response
//! was not read completely, is never reused.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use loadline_go::redirect::is_redirect;
use loadline_model::request::{RedirectRules, RequestTemplate};
use loadline_model::{ErrorClass, Nanos, other_place};
use loadline_wire::Limits;

use super::client::{Held, Lease, Numbers, Reached, VuClient, filling};
use super::http2_pool::{Http2Pool, Leased, Opened};
use super::redirect::Redirects;
use crate::client::{Around, Broken, Http1Connection, Instants, Message, Stop, TurnedAway};
use crate::exchange::{AnswerReceiver, PreparedRequest};
use crate::net::{Connected, Failure, Reach, connect_deadline};
use crate::record::Life;

impl VuClient {
    /// Sends the request and follows redirects as configured; returns the row of the last remote address.
    #[inline]
    pub(super) async fn follow(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
        numbers: Numbers,
    ) -> Result<Option<usize>, Broken> {
        let peer = self.hop(request, life, deadline, numbers).await?;
        if self.judging.redirects_max == 0 || self.redirect_location().is_none() {
            return Ok(peer);
        }
        Box::pin(self.follow_redirects(request, life, deadline, numbers, peer)).await
    }

    fn redirect_location(&self) -> Option<&str> {
        let location = self.answer.location.as_deref();
        location.filter(|to| !to.is_empty() && is_redirect(self.answer.status))
    }

    async fn follow_redirects(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
        numbers: Numbers,
        mut peer: Option<usize>,
    ) -> Result<Option<usize>, Broken> {
        let mut redirects = Redirects::new(&request.template, self.judging.redirect_rules);
        let mut template = request.template.clone();
        for _ in 0..self.judging.redirects_max {
            let Some(location) = self.redirect_location() else {
                return Ok(peer);
            };
            let next = redirects.next(&template, self.answer.status, location);
            let next = next.map_err(|why| Failure::new(ErrorClass::Redirect, why))?;
            let Some(next) = next else { return Ok(peer) };
            template = next;
            self.shared.recorder.borrow_mut().redirected(life);
            let route = self.shared.routes.to(&template.origin, &self.shared.client);
            let hop = PreparedRequest::new(template.clone(), route, &self.shared.client)
                .map_err(|error| Failure::new(ErrorClass::Redirect, error.0))?;
            peer = self.hop(&hop, life, deadline, numbers).await?;
            self.landed = landed(&request.template, &template);
        }
        match self.redirect_location() {
            None => Ok(peer),
            Some(_) => {
                let most = match self.judging.redirect_rules {
                    RedirectRules::Browsers => self.judging.redirects_max,
                    // Go counts requests.
                    RedirectRules::Go => self.judging.redirects_max + 1,
                };
                Err(Failure::new(
                    ErrorClass::Redirect,
                    format!("stopped after {most} redirects"),
                )
                .into())
            }
        }
    }

    async fn hop(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
        numbers: Numbers,
    ) -> Result<Option<usize>, Broken> {
        self.answer.clear();
        let cookies = self.cookies.as_ref().and_then(|cookies| {
            let target = request.template.target.source();
            cookies
                .borrow()
                .for_request(&request.template.origin, target)
        });
        let cookies = cookies.as_deref();
        let peer = match self.shared.http2.clone() {
            None => {
                self.hop_http1(request, life, deadline, numbers, cookies, None)
                    .await?
            }
            Some(pool) => {
                let mut turned_away = TurnedAway::default();
                loop {
                    // Boxed, so that the ten thousand tasks that do not use HTTP/2 do not pay for its memory.
                    let hop = self.hop_http2(request, life, deadline, numbers, cookies, &pool);
                    match Box::pin(hop).await {
                        Err(Broken::Failed(failure)) if failure.is_turned_away() => {
                            match Box::pin(turned_away.wait(&*self.slot)).await {
                                Ok(true) => {}
                                // The time ran out while the peer kept refusing: the refusals are why it failed.
                                Ok(false) | Err(Stop::TimedOut) => return Err(failure.into()),
                                Err(stop) => return Err(stop.into()),
                            }
                            self.shared.recorder.borrow_mut().retried(life);
                        }
                        outcome => break outcome?,
                    }
                }
            }
        };
        if let Some(cookies) = &self.cookies {
            let target = request.template.target.source();
            let fields = &self.answer.set_cookies;
            cookies
                .borrow_mut()
                .take(&request.template.origin, target, fields);
        }
        Ok(peer)
    }

    /// Sends over HTTP/1.1; `made` is a connection that was just made for it.
    #[inline]
    async fn hop_http1(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
        numbers: Numbers,
        cookies: Option<&str>,
        mut made: Option<Held>,
    ) -> Result<Option<usize>, Broken> {
        let fixed = request.fixed().filter(|_| cookies.is_none());
        if fixed.is_none() {
            self.render(request, cookies, numbers)?;
        }
        loop {
            let begun = self.hop_start(life);
            let kept = match made.take() {
                Some(made) => Some(made),
                None => self.kept_connection(request.route.index, begun).await,
            };
            let mut held = match kept {
                Some(held) => held,
                None => Box::pin(self.open_connection(request, life, deadline)).await?,
            };
            let outcome = self.exchange_on(&mut held, request, fixed, life).await;
            let peer = held.peer;
            match outcome {
                Ok(()) => {
                    self.idle.put(request.route.index, held, life.done);
                    return Ok(peer);
                }
                Err(Broken::Failed(failure))
                    if held.connection.was_kept()
                        && request.idempotent
                        && failure.reach != Reach::Begun =>
                {
                    drop(held);
                    self.shared.recorder.borrow_mut().retried(life);
                }
                Err(broken) => return Err(broken),
            }
        }
    }

    /// Sends on a connection and notes the phases.
    #[inline]
    async fn exchange_on(
        &mut self,
        held: &mut Held,
        request: &PreparedRequest,
        fixed: Option<&[u8]>,
        life: &mut Life,
    ) -> Result<(), Broken> {
        let begun = self.hop_start(life);
        let around = Around {
            clock: &self.shared.clock,
            stop: &*self.slot,
            scratch: &self.shared.scratch,
        };
        let mut receiver = AnswerReceiver {
            answer: &mut self.answer,
            wants: &self.judging.wants,
            body_read_max: self.shared.client.body_read_max,
            passing: self.judging.passing(request),
        };
        let message = Message {
            kind: request.kind,
            head: fixed.unwrap_or(&self.buffer),
            body: request.body().behind_head(),
        };
        let mut instants = Instants::default();
        let outcome = held
            .connection
            .exchange(&around, message, &mut receiver, &mut instants)
            .await;
        self.reached = Reached::after(&instants);
        outcome?;
        note_phases(life, begun, &instants);
        Ok(())
    }

    /// The kept connection of a route, if it is still good.
    #[inline]
    async fn kept_connection(&mut self, route: usize, now: Nanos) -> Option<Held> {
        poll_fn(|cx| Poll::Ready(self.idle.take(&route, now, cx))).await
    }

    async fn open_connection(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
    ) -> Result<Held, Broken> {
        let begun = self.shared.clock.now();
        self.slot
            .set_deadline(connect_deadline(&self.shared.client, begun, deadline));
        let (connected, peer) = self
            .shared
            .connect(&*self.slot, self.slot.global, &request.route.route)
            .await?;
        self.slot.set_deadline(deadline);
        life.blocked_ns += self.shared.clock.now().since(begun);
        life.dns_ns += connected.dns_ns.unwrap_or(0);
        life.connect_ns += connected.total_ns();
        Ok(self.hold(connected, peer))
    }

    fn hold(&self, connected: Connected, peer: Option<usize>) -> Held {
        let Connected {
            stream, address, ..
        } = connected;
        let made_at = self.shared.clock.now();
        let connection = Http1Connection::new(stream, address, Limits::default(), made_at);
        Held {
            connection: Box::new(connection),
            peer,
            shared: Rc::clone(&self.shared),
        }
    }

    async fn hop_http2(
        &mut self,
        request: &PreparedRequest,
        life: &mut Life,
        deadline: Nanos,
        numbers: Numbers,
        cookies: Option<&str>,
        pool: &Http2Pool,
    ) -> Result<Option<usize>, Broken> {
        if self.idle.has(&request.route.index) {
            return Box::pin(self.hop_http1(request, life, deadline, numbers, cookies, None)).await;
        }
        let begun = self.hop_start(life);
        if let Some(lease) = self.kept_lease(request.route.index, pool) {
            return self
                .exchange_http2(lease, request, life, begun, numbers, cookies)
                .await;
        }
        let shared = Rc::clone(&self.shared);
        self.slot
            .set_deadline(connect_deadline(&shared.client, begun, deadline));
        let slot = &*self.slot;
        let route = &request.route;
        let connect = async || shared.connect(slot, slot.global, &route.route).await;
        let leased = pool.lease(slot, route.index, connect).await?;
        self.slot.set_deadline(deadline);
        match leased {
            Leased::Http2(pooled) => {
                note_opened(life, pooled.opened);
                life.blocked_ns += shared.clock.now().since(begun);
                let lease = Lease {
                    route: request.route.index,
                    pooled,
                };
                let ready = self.shared.clock.now();
                self.exchange_http2(lease, request, life, ready, numbers, cookies)
                    .await
            }
            Leased::Http1(connected, peer, opened) => {
                note_opened(life, Some(opened));
                life.blocked_ns += shared.clock.now().since(begun);
                let made = Some(self.hold(connected, peer));
                Box::pin(self.hop_http1(request, life, deadline, numbers, cookies, made)).await
            }
            Leased::Http1Peer => {
                Box::pin(self.hop_http1(request, life, deadline, numbers, cookies, None)).await
            }
        }
    }

    /// The shared connection that this virtual user used last, if it still works and has a free stream.
    fn kept_lease(&mut self, route: usize, pool: &Http2Pool) -> Option<Lease> {
        self.lease
            .take()
            .filter(|lease| lease.route == route && pool.may_use(&lease.pooled.connection))
            .filter(|lease| !lease.pooled.connection.is_full())
    }

    /// When the current hop started; for the first hop, when the request did.
    #[inline]
    fn hop_start(&self, life: &Life) -> Nanos {
        if life.done == life.started && life.blocked_ns == 0 {
            life.started
        } else {
            self.shared.clock.now()
        }
    }

    async fn exchange_http2(
        &mut self,
        mut lease: Lease,
        request: &PreparedRequest,
        life: &mut Life,
        begun: Nanos,
        numbers: Numbers,
        cookies: Option<&str>,
    ) -> Result<Option<usize>, Broken> {
        let message = {
            let shared = &self.shared;
            let mut random = || shared.next_random();
            let mut filling = filling(shared, self.slot.global, numbers, &mut random);
            request
                .http2_message(&mut filling, cookies)
                .map_err(|error| Failure::new(ErrorClass::Request, error.0))?
        };
        let around = Around {
            clock: &self.shared.clock,
            stop: &*self.slot,
            scratch: &self.shared.scratch,
        };
        let mut receiver = AnswerReceiver {
            answer: &mut self.answer,
            wants: &self.judging.wants,
            body_read_max: self.shared.client.body_read_max,
            passing: self.judging.passing(request),
        };
        self.reached = Reached::Connection;
        let connection = &mut lease.pooled.connection;
        let mut ready = begun;
        let place = connection.reserve(&around).await?;
        if place.was_waited_for {
            ready = self.shared.clock.now();
            life.blocked_ns += ready.since(begun);
        }
        let mut instants = Instants::default();
        let outcome = connection
            .exchange(place, &around, message, &mut receiver, &mut instants)
            .await;
        self.reached = Reached::after(&instants);
        outcome?;
        note_phases(life, ready, &instants);
        let peer = lease.pooled.peer;
        self.lease = Some(lease);
        Ok(peer)
    }
}

/// The other place from which a response came, if a page was asked for: whoever sends a form expects that.
fn landed(asked: &RequestTemplate, got: &RequestTemplate) -> Option<String> {
    let url = |it: &RequestTemplate| format!("{}{}", it.origin, it.target.source());
    match &*asked.method {
        "GET" | "HEAD" => other_place(&url(asked), &url(got)),
        _ => None,
    }
}

#[inline]
pub(super) fn note_phases(life: &mut Life, begun: Nanos, instants: &Instants) {
    life.sending_ns += instants.sent.since(begun);
    life.waiting_ns += instants.first_byte.since(instants.sent);
    life.receiving_ns += instants.done.since(instants.first_byte);
    life.done = instants.done;
    life.sent_bytes += instants.sent_bytes;
}

fn note_opened(life: &mut Life, opened: Option<Opened>) {
    if let Some(opened) = opened {
        life.dns_ns += opened.dns_ns;
        life.connect_ns += opened.connect_ns;
    }
}
