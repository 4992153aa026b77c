//! From an origin to a stream for a script: forbidden names, addresses, connecting, tunnel, TLS.
//!
//! Must not know requests. Invariant: no connection is made to an address or name that the options
//! forbid, by whatever way it was found.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;

use loadline_model::ErrorClass;
use loadline_model::client::ProxyPlan;
use loadline_model::script_names::{AddressRange, DnsPolicy, DnsSelect, Network};
use loadline_model::url::{Origin, Scheme};
use loadline_script::hop::HopTls;
use rustls::AlertDescription;
use rustls_pki_types::ServerName;
use tokio::io::AsyncReadExt;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;

use super::settings::ScriptClientSettings;
use super::tls::agreed;
use crate::net::{
    Cause, Failure, Socket, Stage, Stream, WireBytes, handshake_failure, open_tunnel,
};
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
    pub(super) async fn open(&self, origin: &Origin) -> Result<Opened, Failure> {
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
            .map_err(|error| Failure::io(Stage::Connecting, &error).at(Some(remote)))?;
        Ok(Opened {
            socket,
            remote,
            connecting_ns: self.settings.clock.now().since(begun),
            proxy,
        })
    }

    /// Makes an open connection one that requests can be sent on.
    pub(super) async fn prepare(&self, opened: Opened, origin: &Origin) -> Result<Dialed, Failure> {
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
                .map_err(|failure| failure.at(Some(remote)))?;
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
    pub(super) async fn address(&self, host: &str, port: u16) -> Result<SocketAddr, Failure> {
        let names = &self.settings.plan.names;
        if !names.blocked_hostnames.is_empty()
            && let Some(pattern) = names.blocked_hostnames.matching(host)
        {
            let why = format!("{host} is blocked by {pattern}");
            let host = host.to_owned();
            return Err(Failure::new(ErrorClass::Request, why)
                .because(Cause::BlockedHost { host, pattern }));
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
            Some(network) => Err(blocked_address(address.ip(), *network)),
            None => Ok(address),
        }
    }

    async fn look_up(&self, host: &str) -> Result<IpAddr, Failure> {
        let found = self.settings.resolver.resolve(host).await;
        let (addresses, _) = found.map_err(|why| unresolved(host, why))?;
        let rule = self.settings.plan.names.dns;
        let usable = usable(&addresses, rule.policy);
        if usable.is_empty() {
            let why = format!("{host}: none of its addresses is of the version asked for");
            let host = host.to_owned();
            return Err(Failure::new(ErrorClass::Dns, why).because(Cause::NoUsableAddress { host }));
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
    ) -> Result<(Stream, bool, Option<HopTls>), Failure> {
        let config = self.settings.config.get(&self.settings.plan.tls);
        let unfit = |why: String| Failure::new(ErrorClass::Tls, format!("tls: {why}"));
        let config = config.map_err(|error| unfit(error.to_string()))?;
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| unfit(format!("{host:?} cannot be a server's name")))?;
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
            Err((error, mut socket)) => {
                Err(why_no_handshake(&error, &mut socket).await.at(Some(remote)))
            }
        }
    }
}

/// Why there is no handshake: also what the peer said before it closed while this end still wrote.
async fn why_no_handshake(error: &io::Error, socket: &mut Socket) -> Failure {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return match unread_alert(socket).await {
            Some(description) => {
                let alert = rustls::Error::AlertReceived(description);
                Failure::new(ErrorClass::Tls, alert.to_string()).because(Cause::Tls(alert))
            }
            None => Failure::on_connection(Stage::Sending, error, socket.local_addr()),
        };
    }
    handshake_failure(error, socket.first_bytes(), socket.local_addr())
}

fn blocked_address(ip: IpAddr, network: Network) -> Failure {
    let why = format!("{ip} is blocked by {network}");
    Failure::new(ErrorClass::Request, why).because(Cause::BlockedAddress { ip, network })
}

fn unresolved(host: &str, why: String) -> Failure {
    let detail = format!("{host}: {why}");
    let host = host.to_owned();
    Failure::new(ErrorClass::Dns, detail).because(Cause::Lookup { host, why })
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
