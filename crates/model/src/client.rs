//! How connections are made: protocol, keep-alive, timeouts, TLS, names, proxies, sources.
//!
//! Certificates and keys are carried as the bytes that the front end read. Must not know sockets
//! or files. Invariant: after [`ClientPlan::validate`] no two settings contradict each other.

use core::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The protocol spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Protocol {
    /// HTTP/1.1, one request at a time on a connection.
    Http1,
    /// HTTP/2 where ALPN offers it, else HTTP/1.1.
    Negotiate {
        /// Requests at a time on one HTTP/2 connection.
        streams: u32,
    },
    /// HTTP/2 without asking (prior knowledge in clear text; ALPN `h2` alone over TLS).
    Http2 {
        /// Requests at a time on one connection.
        streams: u32,
    },
}

impl Protocol {
    /// Requests at a time on one connection; at least one.
    #[must_use]
    pub fn streams(self) -> u32 {
        match self {
            Protocol::Http1 => 1,
            Protocol::Negotiate { streams } | Protocol::Http2 { streams } => streams.max(1),
        }
    }
}

/// Which addresses of a name may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IpChoice {
    /// In the resolver's order.
    #[default]
    Any,
    /// IPv4 alone.
    V4,
    /// IPv6 alone.
    V6,
}

/// A TLS version that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    V1_2,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    V1_3,
}

/// A client certificate with its key, PEM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientIdentity {
    /// Where the certificate came from, for messages.
    pub certificate_file: PathBuf,
    /// Certificate chain, PEM; not carried into results.
    #[serde(skip)]
    pub certificate_pem: Vec<u8>,
    /// Private key, PEM; never carried into results.
    #[serde(skip)]
    pub key_pem: Vec<u8>,
}

/// How TLS is spoken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsPlan {
    /// Authorities beside the system's, PEM; `None`: the system's alone.
    pub authorities_file: Option<PathBuf>,
    /// The bytes of that file.
    #[serde(skip)]
    pub authorities_pem: Vec<u8>,
    /// What the client shows; `None`: no client certificate.
    pub identity: Option<ClientIdentity>,
    /// Name asked for and verified instead of the URL's host.
    pub server_name: Option<String>,
    /// Lowest version.
    pub min_version: TlsVersion,
    /// Highest version.
    pub max_version: TlsVersion,
    /// Whether the peer's certificate is verified.
    pub verify: bool,
    /// Whether sessions are resumed on new connections.
    pub resume: bool,
}

impl Default for TlsPlan {
    fn default() -> Self {
        TlsPlan {
            authorities_file: None,
            authorities_pem: Vec::new(),
            identity: None,
            server_name: None,
            min_version: TlsVersion::V1_2,
            max_version: TlsVersion::V1_3,
            verify: true,
            resume: false,
        }
    }
}

/// Connections meant for one host and port are made to another (`--connect-to`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectTo {
    /// Host of the URL; `None`: any.
    pub host: Option<String>,
    /// Port of the URL; `None`: any.
    pub port: Option<u16>,
    /// Host to connect to instead; `None`: the same.
    pub to_host: Option<String>,
    /// Port to connect to instead; `None`: the same.
    pub to_port: Option<u16>,
}

/// A name's addresses given by hand (`--resolve`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolve {
    /// Host name.
    pub host: String,
    /// Port it applies to; `None`: any.
    pub port: Option<u16>,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// A proxy between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyPlan {
    /// Host of the proxy.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Value of `Proxy-Authorization`; never carried into results.
    #[serde(skip)]
    pub authorization: Option<String>,
    /// What is reached without it: a host and what is below it (`example.org`), what is below it alone (`.example.org`,
    /// `*.example.org`), an address, each of one port where one follows a colon; a network (`10.0.0.0/8`); or all (`*`).
    pub except: Vec<String>,
    /// Schemes it serves: plain requests.
    pub for_http: bool,
    /// Schemes it serves: TLS, through CONNECT.
    pub for_https: bool,
}

/// How connections are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientPlan {
    /// The protocol spoken.
    pub protocol: Protocol,
    /// Connections shared by the virtual users (HTTP/2); HTTP/1.1 has one per virtual user.
    pub connections: u32,
    /// Whether a connection is used again.
    pub keep_alive: bool,
    /// Requests after which a connection is replaced; `None`: never.
    pub max_requests_per_connection: Option<u64>,
    /// Time to make a connection, TLS and proxy included; `None`: the system's.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub connect_timeout: Option<Duration>,
    /// Time from the start of a request, connecting included, to its last byte; `None`: none.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub request_timeout: Option<Duration>,
    /// TLS.
    pub tls: TlsPlan,
    /// Detours, the first that fits wins.
    pub connect_to: Vec<ConnectTo>,
    /// Addresses by hand.
    pub resolve: Vec<Resolve>,
    /// Unix-domain socket that all connections are made to.
    pub unix_socket: Option<PathBuf>,
    /// The proxy; `None`: direct.
    pub proxy: Option<ProxyPlan>,
    /// Local addresses, used in turn; empty: the system's choice.
    pub source: Vec<IpAddr>,
    /// Which addresses of a name may be used.
    pub ip: IpChoice,
    /// How long resolved names are kept; `None`: for the whole run.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub dns_ttl: Option<Duration>,
    /// Most bytes of a body that are kept for checks; what is beyond is counted, not kept.
    pub body_kept_max: u64,
    /// Most bytes of a body that are read before the connection is given up; `None`: all.
    pub body_read_max: Option<u64>,
}

impl Default for ClientPlan {
    fn default() -> Self {
        ClientPlan {
            protocol: Protocol::Http1,
            connections: 1,
            keep_alive: true,
            max_requests_per_connection: None,
            connect_timeout: Some(Duration::from_secs(10)),
            request_timeout: Some(Duration::from_secs(30)),
            tls: TlsPlan::default(),
            connect_to: Vec::new(),
            resolve: Vec::new(),
            unix_socket: None,
            proxy: None,
            source: Vec::new(),
            ip: IpChoice::Any,
            dns_ttl: Some(Duration::from_secs(300)),
            body_kept_max: 10 << 20,
            body_read_max: None,
        }
    }
}

impl ClientPlan {
    /// What the proxy is told of who asks; `None` without a proxy or credentials for it.
    #[must_use]
    pub fn proxy_authorization(&self) -> Option<&str> {
        self.proxy.as_ref()?.authorization.as_deref()
    }

    /// Says which settings contradict each other.
    ///
    /// # Errors
    /// The first contradiction found, in words for the user.
    pub fn validate(&self) -> Result<(), String> {
        if self.tls.min_version > self.tls.max_version {
            return Err("the lowest TLS version is above the highest".to_owned());
        }
        if self.unix_socket.is_some() && self.proxy.is_some() {
            return Err("a Unix-domain socket and a proxy exclude each other".to_owned());
        }
        if let Protocol::Http2 { streams: 0 } | Protocol::Negotiate { streams: 0 } = self.protocol {
            return Err("HTTP/2 needs at least one stream a connection".to_owned());
        }
        if self.max_requests_per_connection == Some(0) {
            return Err("a connection needs at least one request".to_owned());
        }
        Ok(())
    }
}
