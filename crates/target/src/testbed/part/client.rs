//! HTTP/1.1 connections from a proxy to its upstreams, kept open between requests.
//!
//! It must not know why a request is forwarded. Invariant: a request is retried only if certainly none of its
//! bytes left on the first connection.

use crate::server::AnswerBody;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;

/// Idle connections kept for one address.
const IDLE_MAX: usize = 4_096;
/// The largest answer that is forwarded.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Idle connections by address; one value for each thread, as a connection lives on one.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<SocketAddr, Vec<SendRequest<AnswerBody>>>>);

/// A whole answer.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why there is none.
pub(super) enum NoAnswer {
    /// Nobody listens there; the request was not sent.
    Unreachable(Box<http::Request<AnswerBody>>),
    /// The connection broke, or the answer was no HTTP.
    Broken,
}

impl Pool {
    /// Sends a request and reads the whole response.
    ///
    /// # Errors
    /// There is no server, or no response arrives.
    pub(super) async fn send(
        &self,
        address: SocketAddr,
        mut request: http::Request<AnswerBody>,
    ) -> Result<Answered, NoAnswer> {
        loop {
            let kept = self.idle().get_mut(&address).and_then(Vec::pop);
            let fresh = kept.is_none();
            let connection = match kept {
                Some(connection) => Some(connection),
                None => connect(address).await,
            };
            let Some(mut connection) = connection else {
                return Err(NoAnswer::Unreachable(Box::new(request)));
            };
            if connection.ready().await.is_err() {
                if fresh {
                    return Err(NoAnswer::Unreachable(Box::new(request)));
                }
                continue;
            }
            match connection.try_send_request(request).await {
                Ok(response) => return self.finish(address, connection, response).await,
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !fresh => request = unsent,
                    Some(unsent) => return Err(NoAnswer::Unreachable(Box::new(unsent))),
                    None => return Err(NoAnswer::Broken),
                },
            }
        }
    }

    async fn finish(
        &self,
        address: SocketAddr,
        connection: SendRequest<AnswerBody>,
        response: http::Response<hyper::body::Incoming>,
    ) -> Result<Answered, NoAnswer> {
        let (parts, body) = response.into_parts();
        let body = crate::server::collect(body, BODY_MAX)
            .await
            .map_err(|_| NoAnswer::Broken)?;
        let mut idle = self.idle();
        let kept = idle.entry(address).or_default();
        if kept.len() < IDLE_MAX {
            kept.push(connection);
        }
        drop(idle);
        Ok(Answered {
            status: parts.status,
            headers: parts.headers,
            body,
        })
    }

    fn idle(&self) -> MutexGuard<'_, HashMap<SocketAddr, Vec<SendRequest<AnswerBody>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn connect(address: SocketAddr) -> Option<SendRequest<AnswerBody>> {
    let stream = TcpStream::connect(address).await.ok()?;
    // A request must leave at once; a socket that refuses the option still works.
    drop(stream.set_nodelay(true));
    let (sender, connection) = handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(async move {
        // How it ended is seen by whoever waits for an answer on it.
        drop(connection.await);
    });
    Some(sender)
}
