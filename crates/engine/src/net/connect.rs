//! From a route to a stream: look-up, connect, tunnel, handshake, each timed.
//!
//! One connector for all front ends; differences are parameters. Must not know requests. Invariant: the times
//! of the phases add up to no more than the total.

use std::cell::Cell;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use loadline_model::client::Protocol;
use loadline_model::url::Scheme;
use loadline_model::{ClientPlan, ErrorClass, Nanos};
use tokio::net::TcpSocket;

use super::addresses::{Addresses, Candidates};
use super::failure::{Failure, Stage};
use super::handshake::{Handshake, shake_hands};
use super::proxy::open_tunnel;
use super::route::{Route, Via};
use super::socket::{Socket, Stream, WireBytes};
use super::tls::WorkerTls;
use crate::clock::Clock;
use crate::platform;

/// How long addresses of the preferred version are tried alone; as Go's dialer has it (RFC 8305 calls it the connection attempt delay).
const FALLBACK_AFTER: Duration = Duration::from_millis(300);

/// Makes connections for one worker.
pub(crate) struct Connector {
    pub(crate) clock: Clock,
    pub(crate) plan: Arc<ClientPlan>,
    pub(crate) addresses: Addresses,
    pub(crate) tls: WorkerTls,
}

/// The owner of a connection.
pub(crate) struct Owner {
    /// Where its bytes are counted.
    pub(crate) bytes: Rc<WireBytes>,
    /// Number of the virtual user, from zero.
    pub(crate) vu: u64,
    /// Whether its connection in progress waits for the resolver.
    pub(crate) is_looking_up: Cell<bool>,
}

/// A connection on which nothing has been sent; durations in nanoseconds.
pub(crate) struct Opened {
    socket: Socket,
    /// Remote address; `None` for a Unix-domain socket.
    address: Option<SocketAddr>,
    /// `None` when nothing had to be looked up.
    dns_ns: Option<u64>,
    pub(crate) connect_ns: u64,
}

/// A new stream and the times for making it, in nanoseconds.
pub(crate) struct Connected {
    pub(crate) stream: Stream,
    /// Remote address; `None` for a Unix-domain socket.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) http2: bool,
    pub(crate) dns_ns: Option<u64>,
    pub(crate) connect_ns: u64,
    /// `None` for a plain connection.
    pub(crate) tls: Option<Handshake>,
}

impl Connector {
    /// Makes a connection for the route.
    pub(crate) async fn connect(&self, route: &Route, owner: &Owner) -> Result<Connected, Failure> {
        let opened = self.open(route, owner).await?;
        self.prepare(opened, route).await
    }

    /// Looks up and connects; tunnel and TLS follow later.
    pub(crate) async fn open(&self, route: &Route, owner: &Owner) -> Result<Opened, Failure> {
        #[cfg(unix)]
        if let Some(path) = &self.plan.unix_socket {
            let begun = self.clock.now();
            let stream = tokio::net::UnixStream::connect(path)
                .await
                .and_then(|stream| platform::leave_spare(&stream).map(|()| stream))
                .map_err(|error| Failure::io(Stage::Connecting, &error))?;
            return Ok(Opened {
                socket: Socket::unix(stream, Rc::clone(&owner.bytes)),
                address: None,
                dns_ns: None,
                connect_ns: self.clock.now().since(begun),
            });
        }
        let begun = self.clock.now();
        owner.is_looking_up.set(true);
        let candidates = self.addresses.of(route).await;
        owner.is_looking_up.set(false);
        let candidates = candidates?;
        let found = self.clock.now();
        let (socket, address) = self.open_any(&candidates, route, owner).await?;
        Ok(Opened {
            socket,
            address: Some(address),
            dns_ns: candidates.was_looked_up.then(|| found.since(begun)),
            connect_ns: self.clock.now().since(found),
        })
    }

    /// Turns an open connection into one that can carry requests.
    pub(crate) async fn prepare(
        &self,
        opened: Opened,
        route: &Route,
    ) -> Result<Connected, Failure> {
        let Opened {
            mut socket,
            address,
            dns_ns,
            connect_ns,
        } = opened;
        if route.via == Via::Tunnel {
            let authorization = route.proxy_authorization.as_deref();
            Box::pin(open_tunnel(
                &mut socket,
                &route.origin.host_port(),
                authorization,
            ))
            .await
            .map_err(|failure| failure.at(address))?;
        }
        let (stream, http2, tls) = match route.origin.scheme {
            Scheme::Http => {
                let http2 = matches!(self.plan.protocol, Protocol::Http2 { .. });
                (Stream::Plain(socket), http2, None)
            }
            Scheme::Https => {
                // Thousands of virtual users connect at once, so what only few routes need is not part of every
                // connection's future.
                let made = Box::pin(self.handshake(socket, &route.server_name)).await;
                let (stream, handshake) = made.map_err(|failure| failure.at(address))?;
                (stream, handshake.http2, Some(handshake))
            }
        };
        Ok(Connected {
            stream,
            address,
            http2,
            dns_ns,
            connect_ns,
            tls,
        })
    }

    /// Opens a connection to one of the candidates. If that takes long, those of the other IP version are tried
    /// concurrently.
    async fn open_any(
        &self,
        candidates: &Candidates,
        route: &Route,
        owner: &Owner,
    ) -> Result<(Socket, SocketAddr), Failure> {
        let remote = &candidates.remote;
        let first_is_v4 = remote.first().is_some_and(SocketAddr::is_ipv4);
        let of_version = |v4: bool| remote.iter().copied().filter(move |ip| ip.is_ipv4() == v4);
        let open = |v4| self.open_first(of_version(v4), candidates, route, owner);
        if of_version(!first_is_v4).next().is_none() {
            return open(first_is_v4).await;
        }
        // Few names have addresses of both versions.
        Box::pin(first_to_open(open(first_is_v4), open(!first_is_v4))).await
    }

    /// Tries one address after the other.
    async fn open_first(
        &self,
        remote: impl Iterator<Item = SocketAddr>,
        candidates: &Candidates,
        route: &Route,
        owner: &Owner,
    ) -> Result<(Socket, SocketAddr), Failure> {
        let mut last = None;
        for address in remote {
            let by_rule = || self.addresses.source(address, candidates, owner.vu);
            let source = route.source.or_else(by_rule);
            match open_tcp(address, source, &owner.bytes).await {
                Ok(socket) => return Ok((socket, address)),
                Err(failure) => last = Some(failure),
            }
        }
        Err(last.unwrap_or_else(|| Failure::new(ErrorClass::Dns, "the name has no address")))
    }

    async fn handshake(&self, socket: Socket, name: &str) -> Result<(Stream, Handshake), Failure> {
        let config = self
            .tls
            .config()
            .map_err(|error| Failure::new(ErrorClass::Tls, error.to_string()))?;
        shake_hands(config, socket, name, &self.clock).await
    }
}

/// Opens `preferred`, and also `other` when `preferred` fails or takes long: returns the first that succeeds,
/// otherwise the last failure.
async fn first_to_open<T, E>(
    preferred: impl Future<Output = Result<T, E>>,
    other: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let (mut preferred, mut other) = (pin!(preferred), pin!(other));
    let mut wait = pin!(tokio::time::sleep(FALLBACK_AFTER));
    let (mut preferred_failed, mut other_begun, mut other_failed) = (false, false, false);
    poll_fn(|context| {
        if !preferred_failed && let Poll::Ready(opened) = preferred.as_mut().poll(context) {
            if opened.is_ok() || other_failed {
                return Poll::Ready(opened);
            }
            preferred_failed = true;
        }
        other_begun |= preferred_failed || wait.as_mut().poll(context).is_ready();
        if other_begun
            && !other_failed
            && let Poll::Ready(opened) = other.as_mut().poll(context)
        {
            if opened.is_ok() || preferred_failed {
                return Poll::Ready(opened);
            }
            other_failed = true;
        }
        Poll::Pending
    })
    .await
}

async fn open_tcp(
    address: SocketAddr,
    source: Option<IpAddr>,
    bytes: &Rc<WireBytes>,
) -> Result<Socket, Failure> {
    let fail = |error| Failure::io(Stage::Connecting, &error).at(Some(address));
    let socket = match address.is_ipv4() {
        true => TcpSocket::new_v4(),
        false => TcpSocket::new_v6(),
    }
    .map_err(fail)?;
    platform::leave_spare(&socket).map_err(fail)?;
    if let Some(source) = source {
        platform::bind_address_without_port(&socket);
        socket.bind(SocketAddr::new(source, 0)).map_err(fail)?;
    }
    let stream = socket.connect(address).await.map_err(fail)?;
    stream.set_nodelay(true).map_err(fail)?;
    Ok(Socket::tcp(stream, Rc::clone(bytes)))
}

impl Connected {
    /// Duration of the handshake in nanoseconds; `None` for a plain connection.
    pub(crate) fn tls_ns(&self) -> Option<u64> {
        self.tls.as_ref().map(|handshake| handshake.took_ns)
    }

    /// Time from the start to the usable stream, in nanoseconds.
    pub(crate) fn total_ns(&self) -> u64 {
        self.dns_ns.unwrap_or(0) + self.connect_ns + self.tls_ns().unwrap_or(0)
    }
}

/// When a connection attempt started at `now` must be given up: the connect timeout or the request's own
/// deadline, whichever is earlier.
pub(crate) fn connect_deadline(plan: &ClientPlan, now: Nanos, request_deadline: Nanos) -> Nanos {
    plan.connect_timeout.map_or(request_deadline, |limit| {
        (now + limit).min(request_deadline)
    })
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    /// The outcome of two attempts on a fast-forwarded clock, and after how many milliseconds.
    #[expect(clippy::disallowed_methods, reason = "the paused clock of the runtime")]
    fn opened(
        preferred: impl Future<Output = Result<u8, u8>>,
        other: impl Future<Output = Result<u8, u8>>,
    ) -> Option<(Result<u8, u8>, u128)> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let begun = tokio::time::Instant::now();
            let opened = first_to_open(preferred, other);
            let opened = tokio::time::timeout(Duration::from_secs(60), opened).await;
            Some((opened.ok()?, begun.elapsed().as_millis()))
        })
    }

    async fn after(ms: u64, what: Result<u8, u8>) -> Result<u8, u8> {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        what
    }

    #[test]
    fn the_other_version_is_tried_where_the_preferred_one_is_dead_or_slow() {
        assert_eq!(opened(after(250, Ok(1)), ready(Ok(2))), Some((Ok(1), 250)));
        assert_eq!(opened(pending(), after(20, Ok(2))), Some((Ok(2), 320)));
        assert_eq!(opened(ready(Err(1)), after(20, Ok(2))), Some((Ok(2), 20)));
        assert_eq!(opened(after(400, Ok(1)), ready(Err(2))), Some((Ok(1), 400)));
        assert_eq!(
            opened(after(310, Err(1)), after(100, Ok(2))),
            Some((Ok(2), 400))
        );
        assert_eq!(opened(ready(Err(1)), ready(Err(2))), Some((Err(2), 0)));
        assert_eq!(
            opened(after(400, Err(1)), ready(Err(2))),
            Some((Err(1), 400))
        );
        assert_eq!(opened(pending(), pending()), None);
    }
}
