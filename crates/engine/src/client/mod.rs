//! The one HTTP client of all front ends.
//!
//! Requests and the use of responses belong to the front ends (templates, scripts): they pass a [`Message`] or
//! an [`Http2Message`], a [`Receiver`] and a [`StopSign`]. Must not know virtual users, schedules or the
//! vocabulary of other tools. Invariant: an exchange ends with a completely read response, or with a failure
//! that has a class; nothing in between.

mod http1;
mod http2;
mod http2_message;
mod idle;
mod pace;
mod passing;
mod turned_away;

pub(crate) use http1::{Body, Http1Connection, Message};
pub(crate) use http2::Http2Connection;
pub(crate) use http2_message::{Http2Body, Http2Message, announced, http2_head};
pub(crate) use idle::{GivenUp, IdleConnections, KeepRules, Keepable, Usage};
pub use pace::INSTANT_FAILURES_PER_SECOND;
pub(crate) use pace::{FailurePace, Pace};
pub(crate) use passing::Passing;
pub(crate) use turned_away::TurnedAway;

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::Context;

use loadline_model::Nanos;
use loadline_wire::ResponseSink;

use crate::clock::Clock;
use crate::net::Failure;

/// Why a wait was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The deadline passed.
    TimedOut,
    /// The iteration is to end now: the run is over, or the virtual user is ramped down.
    Cut,
}

/// Tells when to abort what is in progress.
pub(crate) trait StopSign {
    /// Notes whom to wake, and says whether to stop.
    ///
    /// # Errors
    /// Why to stop.
    fn check(&self, cx: &Context<'_>) -> Result<(), Stop>;

    /// Waits for `future` unless a stop comes first.
    async fn guard<F: Future>(&self, future: F) -> Result<F::Output, Stop> {
        let mut future = pin!(future);
        std::future::poll_fn(|cx| {
            self.check(cx)?;
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }
}

/// What an exchange borrows from its virtual user and worker.
pub(crate) struct Around<'a, S> {
    pub(crate) clock: &'a Clock,
    pub(crate) stop: &'a S,
    /// The buffer into which all connections of a worker read.
    pub(crate) scratch: &'a RefCell<Box<[u8]>>,
}

/// The destination of a response.
pub(crate) trait Receiver: ResponseSink {
    /// Takes the head of an HTTP/2 response; its body arrives like that of any other.
    fn http2_head(&mut self, head: &http::response::Parts);

    /// Whether to read more of the body; called after each piece.
    ///
    /// # Errors
    /// The response is longer than the receiver allows.
    fn wish(&self) -> Result<Wish, Failure>;

    /// Whether what came so far counts as the response even if the rest of its body fails.
    fn is_content(&self) -> bool {
        false
    }
}

/// Whether more of a body is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    More,
    /// What arrived so far counts as the response.
    Enough,
}

/// Why an exchange has no response.
#[derive(Debug)]
pub(crate) enum Broken {
    Failed(Failure),
    Stopped(Stop),
}

impl From<Failure> for Broken {
    fn from(failure: Failure) -> Broken {
        Broken::Failed(failure)
    }
}

impl From<Stop> for Broken {
    fn from(stop: Stop) -> Broken {
        Broken::Stopped(stop)
    }
}

/// The timestamps of an exchange; zero: not reached.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Instants {
    /// When the last piece of the request was passed to the operating system, or the last one before the
    /// response began. Taken before that system call: on the same machine the peer may respond before it
    /// returns.
    pub(crate) sent: Nanos,
    /// Whether the whole request was sent.
    pub(crate) is_sent: bool,
    /// When the first byte of the response arrived.
    pub(crate) first_byte: Nanos,
    /// When the response was read completely.
    pub(crate) done: Nanos,
    /// Bytes of the request sent, including framing; for HTTP/2 the body and the uncompressed head fields,
    /// since compression depends on the connection's state.
    pub(crate) sent_bytes: u64,
    /// Bytes read of an HTTP/1.1 response, including framing.
    pub(crate) received_bytes: u64,
}
