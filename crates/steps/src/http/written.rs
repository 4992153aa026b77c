//! The URL that the fields of a sampler make.
//!
//! Must not know what is sent to it. Invariant: a path that is a whole URL is the URL.

use super::body;
use super::rewriting::{self, Rewrite};
use super::{HttpFault, HttpRequestPlan};
use crate::scope::Scope;

/// Protocols that Java knows.
const PROTOCOLS: [&str; 6] = ["http", "https", "ftp", "file", "jar", "mailto"];

/// The URL as the sampler's fields have it.
///
/// # Errors
/// Java makes no URL of them.
pub(super) fn written_url(
    request: &HttpRequestPlan,
    method: &str,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<String, HttpFault> {
    let path = request.path.evaluate(scope).into_owned();
    let (path, more) = rewriting::path(&path, method, rewrites);
    let path = path.replace(' ', "%20");
    if path.starts_with("http://") || path.starts_with("https://") {
        return whole(path);
    }
    let protocol = request.protocol.evaluate(scope).into_owned();
    let protocol = match protocol.as_str() {
        "" => "http",
        protocol => protocol,
    };
    if !PROTOCOLS.contains(&protocol.to_ascii_lowercase().as_str()) {
        return Err(malformed(format!("unknown protocol: {protocol}")));
    }
    let protocol = protocol.to_ascii_lowercase();
    let domain = request.domain.evaluate(scope).into_owned();
    let port = request.port.evaluate(scope);
    let port: i64 = port.trim().parse::<i32>().unwrap_or(0).into();
    if port < -1 {
        return Err(malformed(format!("Invalid port number :{port}")));
    }
    let of_protocol = if protocol == "https" { 443 } else { 80 };
    let port = match [0, -1, of_protocol].contains(&port) {
        true => String::new(),
        false => format!(":{port}"),
    };
    // Java takes a host with colons for an address of IPv6.
    let host = match domain.contains(':') && !domain.starts_with('[') {
        true => format!("[{domain}]"),
        false => domain,
    };
    let mut written = match (host.as_str(), port.as_str()) {
        ("", "") => format!("{protocol}:"),
        _ => format!("{protocol}://{host}{port}"),
    };
    if !path.starts_with('/') {
        written.push('/');
    }
    written.push_str(&path);
    if matches!(method, "GET" | "DELETE" | "OPTIONS") {
        let query = body::query(request, rewrites, &more, scope);
        if !query.is_empty() {
            written.push(if path.contains('?') { '&' } else { '?' });
            written.push_str(&query);
        }
    }
    Ok(written)
}

/// A path that is a whole URL.
fn whole(url: String) -> Result<String, HttpFault> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    match port.filter(|port| !port.is_empty() && !port.contains(']')) {
        Some(port) if port.parse::<i32>().is_err() => {
            Err(malformed(format!("For input string: \"{port}\"")))
        }
        _ => Ok(url),
    }
}

/// What Java says of fields that make no URL.
fn malformed(message: String) -> HttpFault {
    HttpFault {
        class: "java.net.MalformedURLException".to_owned(),
        message,
    }
}
