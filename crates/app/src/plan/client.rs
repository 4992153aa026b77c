//! How connections are made, from options.
//!
//! Must not know sockets. Invariant: the plan passes `ClientPlan::validate`.

use std::net::IpAddr;
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
    let plan = ClientPlan {
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
    };
    check_hosts(&plan, connection, requests)?;
    Ok(plan)
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
        // Without TLS there is no negotiation: prior knowledge is the only way.
        let encrypted = |request: &RequestTemplate| request.origin.scheme == Scheme::Https;
        return match (
            requests.iter().any(encrypted),
            requests.iter().all(encrypted),
        ) {
            (_, true) => Ok(Protocol::Negotiate { streams }),
            (false, _) => Ok(Protocol::Http2 { streams }),
            (true, false) => Err(
                "--http2 cannot mix https and http URLs in one run; use --h2c for all of them, or run \
                 them separately"
                    .to_owned(),
            ),
        };
    }
    match args.streams {
        Some(_) => Err("--streams needs HTTP/2: give --http2 or --h2c".to_owned()),
        None => Ok(Protocol::Http1),
    }
}

fn excluded(args: &ConnectionArgs, address: &IpAddr) -> bool {
    (args.ipv4 && address.is_ipv6()) || (args.ipv6 && address.is_ipv4())
}

/// An address in a URL that -4 or -6 excludes can only fail, unless the connection goes elsewhere.
fn check_hosts(
    plan: &ClientPlan,
    args: &ConnectionArgs,
    requests: &[RequestTemplate],
) -> Result<(), String> {
    let detoured = !plan.connect_to.is_empty()
        || !plan.resolve.is_empty()
        || plan.unix_socket.is_some()
        || plan.proxy.is_some();
    let hosts = requests.iter().map(|request| &request.origin.host);
    let mut addresses = hosts.filter_map(|host| host.parse::<IpAddr>().ok());
    match addresses.find(|address| !detoured && excluded(args, address)) {
        Some(address) => Err(format!(
            "the URL's address {address} is of the family that -4 or -6 excludes; drop the option"
        )),
        None => Ok(()),
    }
}

fn check_source(args: &ConnectionArgs) -> Result<(), String> {
    match args.source.iter().find(|address| excluded(args, address)) {
        Some(address) => Err(format!(
            "--source {address} is of the family that -4 or -6 excludes"
        )),
        None => Ok(()),
    }
}
