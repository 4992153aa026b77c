//! The host of a URL, as parsed and formatted by Go's `net/url`.
//!
//! Sources: RFC 3986, section 3.2.2, RFC 6874, and observed behaviour of Go. Must not know the rest of a URL.
//! Invariant: a formatted host parses to the same host.

use core::net::Ipv6Addr;

use crate::quoted;

use super::escape::{decoded, escape_at, escaped_but};

/// The bytes of RFC 3986's `reg-name` and of literals, and others that Go accepts.
fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
}

/// Host and port of an authority without credentials, decoded.
///
/// # Errors
/// It is invalid; in Go's words.
pub(super) fn parse(scheme: &str, host: &str) -> Result<String, String> {
    match host.rfind('[') {
        Some(0) => literal(host),
        Some(_) => Err("invalid IP-literal".to_owned()),
        None => named(scheme, host),
    }
}

/// A host as written in a URL.
pub(super) fn escaped(host: &str) -> String {
    escaped_but(host, is_host_byte)
}

/// `[::1]:80`
fn literal(host: &str) -> Result<String, String> {
    let end = host.rfind(']').ok_or("missing ']' in host")?;
    let port = &host[end + 1..];
    check_port(port)?;
    let inner = &host[1..end];
    let (address, zone) = inner.split_at(inner.find("%25").unwrap_or(inner.len()));
    check_bytes(address, is_escapable)?;
    check_bytes(zone, |byte| {
        byte == b'%' || byte == b' ' || is_host_byte(byte)
    })?;
    let (address, zone) = (decoded(address), decoded(zone));
    check_address(&address, &zone)?;
    Ok(format!("[{address}{zone}]{port}"))
}

fn check_address(address: &str, zone: &str) -> Result<(), String> {
    if address.parse::<core::net::Ipv4Addr>().is_ok() {
        return Err("invalid IP-literal".to_owned());
    }
    let why = match address.parse::<Ipv6Addr>() {
        Ok(_) if zone != "%" => return Ok(()),
        Ok(_) => "zone must be a non-empty string",
        Err(_) => "unable to parse IP",
    };
    let whole = quoted(&format!("{address}{zone}"));
    Err(format!("invalid host: ParseAddr({whole}): {why}"))
}

/// Parses `example.com:80`. A name may contain colons only with schemes other than HTTP's.
fn named(scheme: &str, host: &str) -> Result<String, String> {
    let colon = match scheme {
        "http" | "https" => host.find(':'),
        _ => host.rfind(':'),
    };
    check_port(colon.map_or("", |at| &host[at..]))?;
    check_bytes(host, is_escapable)?;
    Ok(decoded(host))
}

fn check_port(port: &str) -> Result<(), String> {
    let digits = port.strip_prefix(':');
    let is_port = port.is_empty()
        || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    if is_port {
        return Ok(());
    }
    Err(format!("invalid port {} after host", quoted(port)))
}

/// Bytes of a name that may be escaped: non-ASCII ones, and the percent sign.
fn is_escapable(byte: u8) -> bool {
    byte >= 0x80 || byte == b'%'
}

fn check_bytes(text: &str, may_be_escaped: fn(u8) -> bool) -> Result<(), String> {
    let mut at = 0;
    while let Some(&byte) = text.as_bytes().get(at) {
        if byte == b'%' {
            let escape = escape_at(text, at)?;
            let value = u8::from_str_radix(&escape[1..], 16).unwrap_or_default();
            if !may_be_escaped(value) {
                return Err(format!("invalid URL escape {}", quoted(escape)));
            }
            at += 3;
        } else if byte < 0x80 && !is_host_byte(byte) {
            let wrong = quoted(&text[at..=at]);
            return Err(format!("invalid character {wrong} in host name"));
        } else {
            at += 1;
        }
    }
    Ok(())
}
