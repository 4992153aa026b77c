//! Hosts, ports and addresses set by the user.
//!
//! Must not resolve names. Invariant: an IPv6 address is written in brackets where a port may follow.

use std::net::IpAddr;

use loadline_model::client::{ConnectTo, Resolve};

/// A redirected connection: `HOST:PORT:TO_HOST:TO_PORT`, each part may be empty.
///
/// # Errors
/// Names the invalid part.
pub fn connect_to(text: &str) -> Result<ConnectTo, String> {
    let bad =
        |why: &str| format!("{why}; write HOST:PORT:TO_HOST:TO_PORT, where parts may be empty");
    let parts = split(text);
    let [host, port, to_host, to_port] = parts.as_slice() else {
        return Err(bad(&format!("{text:?} does not have four parts")));
    };
    let port_of = |part: &str| {
        if part.is_empty() {
            Ok(None)
        } else {
            parse_port(part).map(Some)
        }
    };
    Ok(ConnectTo {
        host: named(host),
        port: port_of(port).map_err(|why| bad(&why))?,
        to_host: named(to_host),
        to_port: port_of(to_port).map_err(|why| bad(&why))?,
    })
}

/// Addresses of a name: `HOST:PORT:ADDRESS[,ADDRESS]`, `*` for any port.
///
/// # Errors
/// Names the invalid part.
pub fn resolve(text: &str) -> Result<Resolve, String> {
    let bad = |why: &str| format!("{why}; write HOST:PORT:ADDRESS[,ADDRESS]");
    let mut parts = text.splitn(3, ':');
    let (host, port, addresses) = match (parts.next(), parts.next(), parts.next()) {
        (Some(host), Some(port), Some(addresses)) if !host.is_empty() => (host, port, addresses),
        _ => return Err(bad(&format!("{text:?} does not have three parts"))),
    };
    let port = if port == "*" {
        None
    } else {
        Some(parse_port(port).map_err(|why| bad(&why))?)
    };
    let addresses = addresses.split(',').map(|address| {
        let bare = address
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        let bare = bare.unwrap_or(address);
        bare.parse::<IpAddr>()
            .map_err(|_| bad(&format!("{address:?} is not an IP address")))
    });
    Ok(Resolve {
        host: host.to_owned(),
        port,
        addresses: addresses.collect::<Result<_, _>>()?,
    })
}

fn parse_port(text: &str) -> Result<u16, String> {
    match text.parse::<u16>() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(format!("{text:?} is not a port from 1 to 65535")),
    }
}

fn named(part: &str) -> Option<String> {
    (!part.is_empty()).then(|| part.to_owned())
}

/// Splits at colons outside brackets, and removes the brackets.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut in_brackets = false;
    for c in text.chars() {
        match c {
            '[' => in_brackets = true,
            ']' => in_brackets = false,
            ':' if !in_brackets => parts.push(String::new()),
            other => {
                if let Some(part) = parts.last_mut() {
                    part.push(other);
                }
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detours() {
        let detour = connect_to("example.org:443:[::1]:8443").expect("a detour");
        assert_eq!(detour.host.as_deref(), Some("example.org"));
        assert_eq!(
            (detour.to_host.as_deref(), detour.to_port),
            (Some("::1"), Some(8443))
        );
        let any = connect_to("::10.0.0.1:").expect("a detour");
        assert_eq!((any.host, any.port, any.to_port), (None, None, None));
        for (text, part) in [
            ("a:1", "four parts"),
            ("a:x:b:1", "not a port"),
            ("a:0:b:1", "not a port"),
        ] {
            assert!(
                connect_to(text).expect_err("refused").contains(part),
                "{text}"
            );
        }
    }

    #[test]
    fn addresses_by_hand() {
        let entry = resolve("h:*:10.0.0.1,[::1]").expect("an entry");
        assert_eq!((entry.port, entry.addresses.len()), (None, 2));
        assert_eq!(resolve("h:80:::1").expect("an entry").addresses.len(), 1);
        for (text, part) in [
            ("h:80", "three parts"),
            ("h:80:name", "not an IP address"),
            ("h:x:1.1.1.1", "not a port"),
        ] {
            assert!(resolve(text).expect_err("refused").contains(part), "{text}");
        }
    }
}
