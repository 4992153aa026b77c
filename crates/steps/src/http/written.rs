//! The URL from the fields of a sampler.
//!
//! Must not know requests. Invariant: a path that is an absolute URL is used as the URL.

use super::body;
use super::rewriting::{self, Rewrite};
use super::url::{PROTOCOLS, malformed};
use super::{HttpFault, HttpRequestPlan};
use crate::scope::Scope;

/// Fields that cannot be requested.
#[derive(Debug)]
pub(super) struct Unwritten {
    /// The reason.
    pub(super) fault: HttpFault,
    /// Their URL in Java nevertheless; `None`: there is none.
    pub(super) url: Option<String>,
}

impl From<HttpFault> for Unwritten {
    fn from(fault: HttpFault) -> Unwritten {
        Unwritten { fault, url: None }
    }
}

/// The URL of the sampler's fields.
///
/// # Errors
/// They are not a URL to Java, or not one with a valid host.
pub(super) fn written_url(
    request: &HttpRequestPlan,
    method: &str,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<String, Unwritten> {
    let path = request.path.evaluate(scope).into_owned();
    let (path, more) = rewriting::path(&path, method, rewrites);
    let path = path.replace(' ', "%20");
    if path.starts_with("http://") || path.starts_with("https://") {
        return Ok(whole(path)?);
    }
    let protocol = request.protocol.evaluate(scope).into_owned();
    let protocol = match protocol.as_str() {
        "" => "http",
        protocol => protocol,
    };
    let protocol = protocol.to_ascii_lowercase();
    if !PROTOCOLS.contains(&protocol.as_str()) {
        return Err(malformed(format!("unknown protocol: {protocol}")).into());
    }
    let domain = match protocol.as_str() {
        "file" => String::new(),
        _ => request.domain.evaluate(scope).into_owned(),
    };
    let port = request.port.evaluate(scope);
    let port: i64 = port.trim().parse::<i32>().unwrap_or(0).into();
    if port < -1 {
        return Err(malformed(format!("Invalid port number :{port}")).into());
    }
    let of_protocol = if protocol == "https" { 443 } else { 80 };
    let port = match [0, -1, of_protocol].contains(&port) {
        true => String::new(),
        false => format!(":{port}"),
    };
    if domain.contains('/') {
        return Err(malformed("Illegal character found in host: '/'".to_owned()).into());
    }
    // Java treats a host with colons as an IPv6 address.
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
    match host.chars().find(|one| matches!(one, '?' | '#' | '@')) {
        None => Ok(written),
        Some(wrong) => Err(Unwritten {
            fault: HttpFault {
                class: "java.net.URISyntaxException".to_owned(),
                message: format!("Illegal character found in host: '{wrong}': {host}{port}"),
            },
            url: Some(written),
        }),
    }
}

/// A path that is an absolute URL.
fn whole(url: String) -> Result<String, HttpFault> {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let authority = rest[..end].rsplit('@').next().unwrap_or_default();
    if authority.starts_with('[') && !authority.contains(']') {
        return Err(malformed(format!("Invalid authority field: {authority}")));
    }
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    let Some(port) = port.filter(|port| !port.is_empty() && !port.contains(']')) else {
        return Ok(url);
    };
    match port.parse::<i32>() {
        Ok(number) if number < -1 => Err(malformed(format!("Invalid port number :{number}"))),
        Ok(_) => Ok(url),
        Err(_) => {
            let index = first_wrong(port);
            Err(malformed(format!("Error at index {index} in: \"{port}\"")))
        }
    }
}

/// The index at which Java stops parsing a text as an `int`: the first character that is not a digit, or that
/// causes an overflow.
fn first_wrong(number: &str) -> usize {
    let signs = usize::from(number.starts_with(['-', '+']));
    let lengths = signs + 1..=number.chars().count();
    let mut read = lengths.map(|length| number.chars().take(length).collect::<String>());
    let wrong = read.position(|part| part.parse::<i32>().is_err());
    signs + wrong.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_url_is_told_in_javas_words() {
        let told = |url: &str| whole(url.to_owned()).map_err(|fault| fault.message);
        assert!(told("http://h:81/a").is_ok());
        assert!(told("http://[::1]/a").is_ok());
        let wrong = |url: &str, words: &str| assert_eq!(told(url), Err(words.to_owned()));
        wrong("http://h:abc/x", "Error at index 0 in: \"abc\"");
        wrong("http://h:8x/x", "Error at index 1 in: \"8x\"");
        wrong(
            "http://h:99999999999/",
            "Error at index 9 in: \"99999999999\"",
        );
        wrong("http://h:-5/x", "Invalid port number :-5");
        wrong("http://[::1/x", "Invalid authority field: [::1");
    }
}
