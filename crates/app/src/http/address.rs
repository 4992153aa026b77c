//! Where a server listens, and why it cannot.
//!
//! Must not know what is served. Invariant: errors have the text of Go's `net.Listen`, for which users search
//! logs.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

/// Listens at `host:port`; without a host, on all addresses of the machine.
///
/// # Errors
/// The message for the log.
pub(super) fn listen(address: &str) -> Result<TcpListener, String> {
    let (host, port) = split(address)?;
    if host.is_empty() {
        return TcpListener::bind(("::", port))
            .or_else(|_| TcpListener::bind(("0.0.0.0", port)))
            .map_err(|error| refused(&format!(":{port}"), &error));
    }
    let found = (host, port).to_socket_addrs();
    let mut found: Vec<SocketAddr> = found
        .map_err(|_| format!("listen tcp: lookup {host}: no such host"))?
        .collect();
    // As in Go if a name has several addresses.
    found.sort_by_key(SocketAddr::is_ipv6);
    let Some(first) = found.first() else {
        return Err(format!("listen tcp: lookup {host}: no such host"));
    };
    TcpListener::bind(first).map_err(|error| refused(&first.to_string(), &error))
}

fn split(address: &str) -> Result<(&str, u16), String> {
    let missing = || format!("listen tcp: address {address}: missing port in address");
    let (host, port) = address.rsplit_once(':').ok_or_else(missing)?;
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']').ok_or_else(missing)?,
        None if host.contains(':') => {
            return Err(format!(
                "listen tcp: address {address}: too many colons in address"
            ));
        }
        None => host,
    };
    let number = port.parse();
    let number = number.map_err(|_| format!("listen tcp: address {port}: invalid port"))?;
    Ok((host, number))
}

fn refused(address: &str, error: &io::Error) -> String {
    let why = match error.kind() {
        ErrorKind::AddrInUse => "address already in use".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::AddrNotAvailable => "cannot assign requested address".to_owned(),
        _ => error.to_string(),
    };
    format!("listen tcp {address}: bind: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        assert_eq!(split("localhost:6565"), Ok(("localhost", 6565)));
        assert_eq!(split(":6565"), Ok(("", 6565)));
        assert_eq!(split("[::1]:80"), Ok(("::1", 80)));
        for (address, why) in [
            (
                "nonsense",
                "listen tcp: address nonsense: missing port in address",
            ),
            (":99999", "listen tcp: address 99999: invalid port"),
            (
                "::1:80",
                "listen tcp: address ::1:80: too many colons in address",
            ),
        ] {
            assert_eq!(split(address), Err(why.to_owned()));
        }
    }

    #[test]
    fn a_port_that_is_taken_is_named() {
        let taken = listen("127.0.0.1:0").expect("a free port");
        let address = taken.local_addr().expect("bound").to_string();
        let why = listen(&address).expect_err("it is taken");
        let expected = format!("listen tcp {address}: bind: address already in use");
        assert_eq!(why, expected);
    }
}
