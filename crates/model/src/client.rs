//! How connections are made: protocol, keep-alive, timeouts, TLS, names, proxies, source addresses.
//!
//! Certificates and keys are held as the bytes that the front end read. Must not know sockets or files.
//! Invariant: after [`ClientPlan::validate`] no two settings contradict each other.

use core::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The protocol spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Protocol {
    /// HTTP/1.1; one request at a time per connection.
    Http1,
    /// HTTP/2 if ALPN offers it, otherwise HTTP/1.1.
    Negotiate {
        /// Concurrent requests per HTTP/2 connection.
        streams: u32,
    },
    /// HTTP/2 without negotiation (prior knowledge in clear text; ALPN offers only `h2` over TLS).
    Http2 {
        /// Concurrent requests per connection.
        streams: u32,
    },
}

impl Protocol {
    /// Concurrent requests per connection; at least one.
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
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// A TLS version that can be requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[serde(rename = "1.2")]
    V1_2,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    V1_3,
}

/// A client certificate with its key, in PEM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientIdentity {
    /// File that the certificate came from, for messages.
    pub certificate_file: PathBuf,
    /// Certificate chain, PEM; not written to results.
    #[serde(skip)]
    pub certificate_pem: Vec<u8>,
    /// Private key, PEM; never written to results.
    #[serde(skip)]
    pub key_pem: Vec<u8>,
}

/// TLS settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TlsPlan {
    /// Certificate authorities in addition to the system's, PEM; `None`: only the system's.
    pub authorities_file: Option<PathBuf>,
    /// The bytes of that file.
    #[serde(skip)]
    pub authorities_pem: Vec<u8>,
    /// The client certificate; `None`: none.
    pub identity: Option<ClientIdentity>,
    /// Name to request (SNI) and verify instead of the URL's host.
    pub server_name: Option<String>,
    /// Minimum version.
    pub min_version: TlsVersion,
    /// Maximum version.
    pub max_version: TlsVersion,
    /// Whether to verify the peer's certificate.
    pub verify: bool,
    /// Whether new connections resume sessions.
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

/// Redirects connections for one host and port to another (`--connect-to`).
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

/// Fixed addresses for a name (`--resolve`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolve {
    /// Host name.
    pub host: String,
    /// Port it applies to; `None`: any.
    pub port: Option<u16>,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
}

/// A proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyPlan {
    /// Host of the proxy.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Value of `Proxy-Authorization`; never written to results.
    #[serde(skip)]
    pub authorization: Option<String>,
    /// Hosts and domains (`.example.org`) that bypass the proxy.
    pub except: Vec<String>,
    /// Whether it is used for `http` URLs.
    pub for_http: bool,
    /// Whether it is used for `https` URLs, through CONNECT.
    pub for_https: bool,
}

/// How connections are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientPlan {
    /// The protocol.
    pub protocol: Protocol,
    /// Connections shared by the virtual users (HTTP/2); with HTTP/1.1 each virtual user has its own.
    pub connections: u32,
    /// Whether connections are reused.
    pub keep_alive: bool,
    /// Requests after which a connection is replaced; `None`: never.
    pub max_requests_per_connection: Option<u64>,
    /// Time limit for making a connection, including TLS and proxy; `None`: the system's.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub connect_timeout: Option<Duration>,
    /// Time limit from the start of a request, including connecting, to its last byte; `None`: no limit.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub request_timeout: Option<Duration>,
    /// TLS.
    pub tls: TlsPlan,
    /// Connection redirections; the first match wins.
    pub connect_to: Vec<ConnectTo>,
    /// Fixed addresses for names.
    pub resolve: Vec<Resolve>,
    /// Unix-domain socket to use for all connections.
    pub unix_socket: Option<PathBuf>,
    /// The proxy; `None`: direct.
    pub proxy: Option<ProxyPlan>,
    /// Local addresses, used in turn; empty: the system's choice.
    pub source: Vec<IpAddr>,
    /// Which addresses of a name may be used.
    pub ip: IpChoice,
    /// How long resolved names are cached; `None`: for the whole run.
    #[serde(default, with = "crate::units::duration_text::option")]
    pub dns_ttl: Option<Duration>,
    /// Maximum bytes of a body kept for checks; the rest is counted but not kept.
    pub body_kept_max: u64,
    /// Maximum bytes of a body to read before closing the connection; `None`: no limit.
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
    /// The credentials for the proxy; `None` without a proxy or without credentials.
    #[must_use]
    pub fn proxy_authorization(&self) -> Option<&str> {
        self.proxy.as_ref()?.authorization.as_deref()
    }

    /// Checks that no settings contradict each other.
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
