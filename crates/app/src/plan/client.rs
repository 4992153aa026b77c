//! How connections are made, from options.
//!
//! Must not know sockets. Invariant: the plan passes `ClientPlan::validate`.

use std::time::Duration;

use loadline_model::ClientPlan;
use loadline_model::client::{IpChoice, Protocol};
use loadline_model::request::RequestTemplate;
use loadline_model::url::Scheme;

use super::{load, proxy, tls};
use crate::cli::bench::{BenchArgs, ConnectionArgs, DnsTtl};
use crate::{Env, Files};

/// The plan.
pub(super) fn client(
    args: &BenchArgs,
    requests: &[RequestTemplate],
    env: &Env,
    files: &Files,
) -> Result<ClientPlan, String> {
    let connection = &args.connection;
    check_source(connection)?;
    Ok(ClientPlan {
        protocol: protocol(connection, requests)?,
        connections: args.load.connections.unwrap_or(load::CONNECTIONS),
        keep_alive: !connection.no_keepalive,
        max_requests_per_connection: connection.max_requests_per_connection,
        connect_timeout: unless_zero(connection.connect_timeout),
        request_timeout: unless_zero(connection.timeout),
        tls: tls::tls(&args.tls, files)?,
        connect_to: connection.connect_to.clone(),
        resolve: connection.resolve.clone(),
        unix_socket: connection.unix_socket.as_ref().map(Into::into),
        proxy: proxy::proxy(connection, requests, env)?,
        source: connection.source.clone(),
        ip: match (connection.ipv4, connection.ipv6) {
            (true, _) => IpChoice::V4,
            (_, true) => IpChoice::V6,
            _ => IpChoice::Any,
        },
        dns_ttl: match connection.dns_ttl {
            DnsTtl::Run => None,
            DnsTtl::For(time) => Some(time),
        },
        body_kept_max: args.body.body_kept_max,
        body_read_max: args.body.body_read_max,
    })
}

pub(super) fn unless_zero(time: Duration) -> Option<Duration> {
    (!time.is_zero()).then_some(time)
}

fn protocol(args: &ConnectionArgs, requests: &[RequestTemplate]) -> Result<Protocol, String> {
    let streams = args.streams.unwrap_or(1);
    if args.h2c {
        return Ok(Protocol::Http2 { streams });
    }
    if args.http2 {
        // Without TLS there is nothing to negotiate with: prior knowledge is the only way.
        let all_tls = requests
            .iter()
            .all(|request| request.origin.scheme == Scheme::Https);
        let protocol = if all_tls {
            Protocol::Negotiate { streams }
        } else {
            Protocol::Http2 { streams }
        };
        return Ok(protocol);
    }
    match args.streams {
        Some(_) => Err("--streams needs HTTP/2: give --http2 or --h2c".to_owned()),
        None => Ok(Protocol::Http1),
    }
}

fn check_source(args: &ConnectionArgs) -> Result<(), String> {
    let excluded = |address: &&std::net::IpAddr| {
        (args.ipv4 && address.is_ipv6()) || (args.ipv6 && address.is_ipv4())
    };
    match args.source.iter().find(excluded) {
        Some(address) => Err(format!(
            "--source {address} is of the family that -4 or -6 excludes"
        )),
        None => Ok(()),
    }
}
