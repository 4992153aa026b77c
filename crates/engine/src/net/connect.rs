//! From a route to a stream: look up, connect, tunnel, handshake, each timed.
//!
//! Must not know requests. Invariant: the times of the phases add up to no more than the whole.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;

use loadline_model::client::{IpChoice, Protocol};
use loadline_model::url::Scheme;
use loadline_model::{ClientPlan, ErrorClass, Nanos};
use rustls_pki_types::ServerName;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

use super::dns::Resolver;
use super::failure::{Failure, Stage};
use super::proxy::open_tunnel;
use super::route::{Route, Via};
use super::socket::{Socket, Stream, WireBytes};
use super::tls::{WorkerTls, handshake_failure};
use crate::clock::Clock;
use crate::platform;

/// A new stream and what making it took, in nanoseconds.
pub(crate) struct Connected {
    pub(crate) stream: Stream,
    /// Remote address; `None` for a Unix-domain socket.
    pub(crate) address: Option<SocketAddr>,
    pub(crate) http2: bool,
    pub(crate) dns_ns: Option<u64>,
    pub(crate) connect_ns: u64,
    pub(crate) tls_ns: Option<u64>,
}

/// Makes connections for one worker.
pub(crate) struct Connector {
    pub(crate) clock: Clock,
    pub(crate) plan: Arc<ClientPlan>,
    pub(crate) resolver: Arc<Resolver>,
    pub(crate) tls: WorkerTls,
    pub(crate) bytes: Rc<WireBytes>,
    /// Turns over the addresses of a name and over the sources.
    pub(crate) turn: Cell<usize>,
}

impl Connector {
    /// Makes a connection on the route.
    pub(crate) async fn connect(&self, route: &Route) -> Result<Connected, Failure> {
        let begun = self.clock.now();
        let (mut socket, address, dns_ns) = self.open_socket(route).await?;
        let opened = self.clock.now();
        if route.via == Via::Tunnel {
            let authorization = self.plan.proxy_authorization();
            open_tunnel(&mut socket, &route.origin.host_port(), authorization)
                .await
                .map_err(|failure| failure.at(address))?;
        }
        let connect_ns = opened.since(begun).saturating_sub(dns_ns.unwrap_or(0));
        if route.origin.scheme == Scheme::Http {
            let stream = Stream::Plain(socket);
            return Ok(Connected {
                stream,
                address,
                http2: matches!(self.plan.protocol, Protocol::Http2 { .. }),
                dns_ns,
                connect_ns,
                tls_ns: None,
            });
        }
        let tunnelled = self.clock.now();
        let (stream, http2) = self
            .handshake(socket, route)
            .await
            .map_err(|failure| failure.at(address))?;
        let tls_ns = Some(self.clock.now().since(tunnelled));
        Ok(Connected {
            stream,
            address,
            http2,
            dns_ns,
            connect_ns,
            tls_ns,
        })
    }

    async fn open_socket(
        &self,
        route: &Route,
    ) -> Result<(Socket, Option<SocketAddr>, Option<u64>), Failure> {
        #[cfg(unix)]
        if let Some(path) = &self.plan.unix_socket {
            let stream = tokio::net::UnixStream::connect(path)
                .await
                .map_err(|error| Failure::io(Stage::Connecting, &error))?;
            return Ok((Socket::unix(stream, Rc::clone(&self.bytes)), None, None));
        }
        let (addresses, dns_ns) = self.look_up(route).await?;
        let turn = self.next_turn();
        let mut last = None;
        for ip in in_turn(&addresses, turn) {
            let address = SocketAddr::new(ip, route.port);
            match self.open_tcp(address, turn).await {
                Ok(socket) => return Ok((socket, Some(address), dns_ns)),
                Err(failure) => last = Some(failure),
            }
        }
        Err(last.unwrap_or_else(|| Failure::new(ErrorClass::Dns, "the name has no address")))
    }

    async fn look_up(&self, route: &Route) -> Result<(Vec<IpAddr>, Option<u64>), Failure> {
        let begun = self.clock.now();
        let (found, dns_ns) = if route.addresses.is_empty() {
            let (found, cached) =
                self.resolver.resolve(&route.host).await.map_err(|why| {
                    Failure::new(ErrorClass::Dns, format!("{}: {why}", route.host))
                })?;
            (found, (!cached).then(|| self.clock.now().since(begun)))
        } else {
            (Arc::from(route.addresses.as_slice()), None)
        };
        let usable: Vec<IpAddr> = found
            .iter()
            .copied()
            .filter(|ip| match self.plan.ip {
                IpChoice::Any => true,
                IpChoice::V4 => ip.is_ipv4(),
                IpChoice::V6 => ip.is_ipv6(),
            })
            .collect();
        if usable.is_empty() {
            let why = format!(
                "{}: none of its addresses is of the version asked for",
                route.host
            );
            return Err(Failure::new(ErrorClass::Dns, why));
        }
        Ok((usable, dns_ns))
    }

    async fn open_tcp(&self, address: SocketAddr, turn: usize) -> Result<Socket, Failure> {
        let fail = |error| Failure::io(Stage::Connecting, &error).at(Some(address));
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()
        } else {
            TcpSocket::new_v6()
        }
        .map_err(fail)?;
        let sources: Vec<IpAddr> = self
            .plan
            .source
            .iter()
            .copied()
            .filter(|source| source.is_ipv4() == address.is_ipv4())
            .collect();
        if !sources.is_empty() {
            platform::bind_address_without_port(&socket);
            let source = sources[turn % sources.len()];
            socket.bind(SocketAddr::new(source, 0)).map_err(fail)?;
        }
        let stream = socket.connect(address).await.map_err(fail)?;
        stream.set_nodelay(true).map_err(fail)?;
        Ok(Socket::tcp(stream, Rc::clone(&self.bytes)))
    }

    async fn handshake(&self, socket: Socket, route: &Route) -> Result<(Stream, bool), Failure> {
        let config = self
            .tls
            .config()
            .map_err(|error| Failure::new(ErrorClass::Tls, error.to_string()))?;
        let name = ServerName::try_from(route.server_name.clone()).map_err(|_| {
            Failure::new(
                ErrorClass::Tls,
                format!("{:?} cannot be a TLS name", route.server_name),
            )
        })?;
        let stream = TlsConnector::from(config)
            .connect(name, socket)
            .into_fallible()
            .await
            .map_err(|(error, socket)| {
                handshake_failure(&error, socket.first_bytes(), socket.local_addr())
            })?;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((Stream::Tls(Box::new(stream)), http2))
    }

    fn next_turn(&self) -> usize {
        let turn = self.turn.get();
        self.turn.set(turn.wrapping_add(1));
        turn
    }
}

impl Connected {
    /// Time from the beginning to the usable stream, in nanoseconds.
    pub(crate) fn total_ns(&self) -> u64 {
        self.dns_ns.unwrap_or(0) + self.connect_ns + self.tls_ns.unwrap_or(0)
    }
}

/// The addresses in the order in which one connection tries them: those of the first one's version
/// in turn, so that connections spread over them, then the others.
fn in_turn(addresses: &[IpAddr], turn: usize) -> Vec<IpAddr> {
    let first_is_v4 = addresses.first().is_some_and(IpAddr::is_ipv4);
    let (mut preferred, others): (Vec<_>, Vec<_>) =
        addresses.iter().partition(|ip| ip.is_ipv4() == first_is_v4);
    if !preferred.is_empty() {
        let shift = turn % preferred.len();
        preferred.rotate_left(shift);
    }
    preferred.extend(others);
    preferred
}

/// When a connection attempt begun at `now` must be given up: the earlier of the connect timeout
/// and the request's own deadline.
pub(crate) fn connect_deadline(plan: &ClientPlan, now: Nanos, request_deadline: Nanos) -> Nanos {
    plan.connect_timeout.map_or(request_deadline, |limit| {
        (now + limit).min(request_deadline)
    })
}
