//! Options: how connections are made, and to where.
//!
//! Must not know sockets. Invariant: one declaration per option.

use std::net::IpAddr;
use std::time::Duration;

use clap::Args;
use loadline_model::client::{ConnectTo, Resolve};

use crate::cli::values;
use crate::plan::addresses;

/// How connections are made.
#[derive(Args, Debug)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionArgs {
    /// Request timeout, from start (connecting included) to last byte; 0 disables it
    #[arg(short = 't', long, value_name = "DURATION", default_value = "30s", value_parser = values::duration)]
    pub timeout: Duration,
    /// Connect timeout, TLS and proxy included; 0 uses the system's
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = values::duration)]
    pub connect_timeout: Duration,
    /// Open a new connection for each request
    #[arg(long)]
    pub no_keepalive: bool,
    /// Replace each connection after this many requests [default: never]
    #[arg(long, value_name = "COUNT", value_parser = values::positive_count)]
    pub max_requests_per_connection: Option<u64>,
    /// Use HTTP/1.1 only (the default)
    #[arg(long, group = "protocol")]
    pub http1: bool,
    /// Use HTTP/2: negotiated over TLS (else HTTP/1.1), in clear text as --h2c
    #[arg(long, group = "protocol")]
    pub http2: bool,
    /// Use HTTP/2 with prior knowledge
    #[arg(long, visible_alias = "http2-prior-knowledge", group = "protocol")]
    pub h2c: bool,
    /// HTTP/2: concurrent streams per connection; there are -c times as many VUs [default: 1]
    #[arg(long, value_name = "N", value_parser = values::few, conflicts_with = "http1")]
    pub streams: Option<u32>,
    /// Connect to another host, as in curl: HOST:PORT:TO_HOST:TO_PORT, parts may be empty (repeatable)
    #[arg(long, value_name = "DETOUR", value_parser = addresses::connect_to)]
    pub connect_to: Vec<ConnectTo>,
    /// Resolve a name to fixed addresses, as in curl: HOST:PORT:ADDRESS,…; * is any port (repeatable)
    #[arg(long, value_name = "ENTRY", value_parser = addresses::resolve)]
    pub resolve: Vec<Resolve>,
    /// Connect to this Unix-domain socket
    #[arg(long, value_name = "PATH", conflicts_with = "proxy")]
    pub unix_socket: Option<String>,
    /// HTTP proxy: HOST:PORT, or http://USER:PASSWORD@HOST:PORT [env: http_proxy, HTTPS_PROXY, ALL_PROXY]
    #[arg(short = 'x', long, value_name = "URL")]
    pub proxy: Option<String>,
    /// Hosts and domains that bypass the proxy, comma-separated; * is all [env: NO_PROXY]
    #[arg(long, value_name = "LIST")]
    pub no_proxy: Option<String>,
    /// Local IP address to connect from (repeatable: used in turn)
    #[arg(long, value_name = "ADDRESS", value_parser = values::ip)]
    pub source: Vec<IpAddr>,
    /// Use IPv4 only
    #[arg(short = '4', long, conflicts_with = "ipv6")]
    pub ipv4: bool,
    /// Use IPv6 only
    #[arg(short = '6', long)]
    pub ipv6: bool,
    /// DNS cache time; 0: resolve for each connection; run: resolve once
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = dns_ttl)]
    pub dns_ttl: DnsTtl,
}

/// How long resolved names are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsTtl {
    /// For the whole run.
    Run,
    /// For this time.
    For(Duration),
}

fn dns_ttl(text: &str) -> Result<DnsTtl, String> {
    if text == "run" {
        Ok(DnsTtl::Run)
    } else {
        values::duration(text).map(DnsTtl::For)
    }
}
