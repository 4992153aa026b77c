//! From an origin to a stream for a script: forbidden names, addresses, connecting, tunnel, TLS.
//!
//! Must not know requests. Invariant: no connection is made to an address or name that the options
//! forbid, by whatever way it was found.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use loadline_model::client::ProxyPlan;
use loadline_model::script_names::{AddressRange, DnsPolicy, DnsSelect};
use loadline_model::url::{Origin, Scheme};
use loadline_script::hop::HopTls;
use rustls::AlertDescription;
use rustls_pki_types::ServerName;
use tokio::io::AsyncReadExt;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

use super::settings::ScriptClientSettings;
use super::tls::agreed;
use super::trouble::{Direction, Trouble, inner_tls};
use crate::net::{Socket, Stream, WireBytes, open_tunnel};
use crate::platform;

/// A new stream, and what making it took.
pub(super) struct Dialed {
    pub(super) stream: Stream,
    pub(super) remote: SocketAddr,
    /// Whether HTTP/2 was agreed on.
    pub(super) http2: bool,
    pub(super) tls: Option<HopTls>,
    /// What the handshake took, in nanoseconds.
    pub(super) handshaking_ns: u64,
}

/// Makes connections for one virtual user.
pub(super) struct Dialer {
    pub(super) settings: Rc<ScriptClientSettings>,
    pub(super) bytes: Rc<WireBytes>,
    /// Number of the virtual user, from zero: which local address is its own.
    pub(super) vu: u64,
}

impl Dialer {
    /// Looks up and connects; TLS and tunnels come after it.
    pub(super) async fn open(&self, origin: &Origin) -> Result<Opened, Trouble> {
        let proxy = self.settings.plan.proxy(origin).cloned();
        let (host, port) = match &proxy {
            Some(proxy) => (proxy.host.as_str(), proxy.port),
            None => (origin.host.as_str(), origin.port),
        };
        let remote = self.address(host, port).await?;
        let begun = self.settings.clock.now();
        let socket = self
            .connect(remote)
            .await
            .map_err(|error| Trouble::dial(remote, &error))?;
        Ok(Opened {
            socket,
            remote,
            connecting_ns: self.settings.clock.now().since(begun),
            proxy,
        })
    }

    /// Makes an open connection one that requests can be sent on.
    pub(super) async fn prepare(&self, opened: Opened, origin: &Origin) -> Result<Dialed, Trouble> {
        let Opened {
            mut socket,
            remote,
            proxy,
            ..
        } = opened;
        if origin.scheme == Scheme::Http {
            return Ok(Dialed {
                stream: Stream::Plain(socket),
                remote,
                http2: false,
                tls: None,
                handshaking_ns: 0,
            });
        }
        if let Some(proxy) = &proxy {
            let authorization = proxy.authorization.as_deref();
            open_tunnel(&mut socket, &origin.host_port(), authorization)
                .await
                .map_err(|failure| Trouble::generic(failure.detail))?;
        }
        let begun = self.settings.clock.now();
        let (stream, http2, tls) = self.handshake(socket, remote, &origin.host).await?;
        Ok(Dialed {
            stream,
            remote,
            http2,
            tls,
            handshaking_ns: self.settings.clock.now().since(begun),
        })
    }

    /// The address that a host stands for, if connections to it are allowed.
    pub(super) async fn address(&self, host: &str, port: u16) -> Result<SocketAddr, Trouble> {
        let names = &self.settings.plan.names;
        if !names.blocked_hostnames.is_empty()
            && let Some(pattern) = names.blocked_hostnames.matching(host)
        {
            return Err(Trouble::blocked(host, &pattern));
        }
        let given = match names.hosts.is_empty() {
            true => None,
            false => names.hosts.find(host, port),
        };
        let address = match (given, host.parse::<IpAddr>()) {
            (Some(address), _) => address,
            (None, Ok(ip)) => SocketAddr::new(ip, port),
            (None, Err(_)) => SocketAddr::new(self.look_up(host).await?, port),
        };
        let forbidden = names.blocked_networks.iter();
        match forbidden.into_iter().find(|net| net.contains(address.ip())) {
            Some(network) => Err(Trouble::blacklisted(address.ip(), network)),
            None => Ok(address),
        }
    }

    async fn look_up(&self, host: &str) -> Result<IpAddr, Trouble> {
        let found = self.settings.resolver.resolve(host).await;
        let (addresses, _) =
            found.map_err(|why| Trouble::lookup(host, name_server().as_deref(), &why))?;
        let rule = self.settings.plan.names.dns;
        let usable = usable(&addresses, rule.policy);
        if usable.is_empty() {
            return Err(Trouble::no_such_host(host, None));
        }
        Ok(match rule.select {
            DnsSelect::First => usable[0],
            DnsSelect::Random => usable[self.settings.random_below(usable.len())],
            DnsSelect::RoundRobin => usable[self.settings.next_turn(host) % usable.len()],
        })
    }

    async fn connect(&self, remote: SocketAddr) -> io::Result<Socket> {
        let socket = match remote.is_ipv4() {
            true => TcpSocket::new_v4(),
            false => TcpSocket::new_v6(),
        }?;
        let ranges = &self.settings.plan.names.local_addresses;
        let local = AddressRange::nth_of(ranges, self.vu);
        if let Some(local) = local.filter(|local| local.is_ipv4() == remote.is_ipv4()) {
            platform::bind_address_without_port(&socket);
            socket.bind(SocketAddr::new(local, 0))?;
        }
        let stream = socket.connect(remote).await?;
        stream.set_nodelay(true)?;
        Ok(Socket::tcp(stream, Rc::clone(&self.bytes)))
    }

    async fn handshake(
        &self,
        socket: Socket,
        remote: SocketAddr,
        host: &str,
    ) -> Result<(Stream, bool, Option<HopTls>), Trouble> {
        let config = self.settings.config.get(&self.settings.plan.tls);
        let config = config.map_err(|error| Trouble::generic(format!("tls: {error}")))?;
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| Trouble::generic(format!("tls: {host:?} cannot be a server's name")))?;
        let made = TlsConnector::from(config)
            .connect(name, socket)
            .into_fallible()
            .await;
        match made {
            Ok(stream) => {
                let session = stream.get_ref().1;
                let http2 = session.alpn_protocol() == Some(b"h2");
                let suite = session.negotiated_cipher_suite();
                let tls = suite.and_then(|suite| agreed(session.protocol_version(), suite.suite()));
                Ok((Stream::Tls(Box::new(stream)), http2, tls))
            }
            Err((error, mut socket)) => Err(self
                .handshake_trouble(&error, &mut socket, remote, host)
                .await),
        }
    }

    async fn handshake_trouble(
        &self,
        error: &io::Error,
        socket: &mut Socket,
        remote: SocketAddr,
        host: &str,
    ) -> Trouble {
        if let Some(tls) = inner_tls(error) {
            let unix_s = self.settings.unix_s();
            return Trouble::handshake(tls, host, socket.first_bytes(), unix_s);
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Trouble::generic("EOF");
        }
        if error.kind() != io::ErrorKind::BrokenPipe {
            return Trouble::stream(Direction::Read, error, socket.local_addr(), remote);
        }
        // The peer closed while this end was still writing: it may have said why.
        match unread_alert(socket).await {
            Some(description) => Trouble::tls(&rustls::Error::AlertReceived(description)),
            None => Trouble::stream(Direction::Write, error, socket.local_addr(), remote),
        }
    }
}

/// The alert in clear text that waits to be read (RFC 5246 section 7.2); `None` when there is none.
async fn unread_alert(socket: &mut Socket) -> Option<AlertDescription> {
    let mut record = [0_u8; 7];
    socket.read_exact(&mut record).await.ok()?;
    match record {
        [0x15, 0x03, _, 0x00, 0x02, _level, description] => {
            Some(AlertDescription::from(description))
        }
        _ => None,
    }
}

/// A connection on which nothing has been sent.
pub(super) struct Opened {
    socket: Socket,
    remote: SocketAddr,
    /// What connecting took, in nanoseconds.
    pub(super) connecting_ns: u64,
    proxy: Option<ProxyPlan>,
}

/// The addresses that a policy allows, in the resolver's order.
fn usable(addresses: &[IpAddr], policy: DnsPolicy) -> Vec<IpAddr> {
    let of_family = |v4: bool| -> Vec<IpAddr> {
        let fitting = addresses.iter().filter(|ip| ip.is_ipv4() == v4);
        fitting.copied().collect()
    };
    let first_or = |v4: bool| {
        let preferred = of_family(v4);
        match preferred.is_empty() {
            true => of_family(!v4),
            false => preferred,
        }
    };
    match policy {
        DnsPolicy::PreferIpv4 => first_or(true),
        DnsPolicy::PreferIpv6 => first_or(false),
        DnsPolicy::OnlyIpv4 => of_family(true),
        DnsPolicy::OnlyIpv6 => of_family(false),
        DnsPolicy::Any => addresses.to_vec(),
    }
}

/// The system's first name server, which Go names in its errors; read when a name was not found.
fn name_server() -> Option<String> {
    let text = std::fs::read_to_string("/etc/resolv.conf").ok()?;
    let server = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("nameserver"))?;
    let ip: IpAddr = server.trim().parse().ok()?;
    Some(SocketAddr::new(ip, 53).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_choose_among_families() {
        let v4 = IpAddr::from([10, 0, 0, 1]);
        let v6 = IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]);
        for (policy, of_both, of_v6_alone) in [
            (DnsPolicy::PreferIpv4, vec![v4], vec![v6]),
            (DnsPolicy::PreferIpv6, vec![v6], vec![v6]),
            (DnsPolicy::OnlyIpv4, vec![v4], vec![]),
            (DnsPolicy::OnlyIpv6, vec![v6], vec![v6]),
            (DnsPolicy::Any, vec![v6, v4], vec![v6]),
        ] {
            assert_eq!(usable(&[v6, v4], policy), of_both, "{policy:?}");
            assert_eq!(usable(&[v6], policy), of_v6_alone, "{policy:?}");
        }
    }
}
