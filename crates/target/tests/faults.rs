//! Faults and limits as a client sees them on the socket.
//!
//! They must not use the crate's internals. Invariant checked: a fault only affects the request that asked for
//! it, and the server keeps running.

mod common;

use common::{config, connect, get, read_all, request, send, split, start};
use loadline_target::{Limits, TargetConfig, TargetError, TlsConfig, serve};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr};
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

#[test]
fn each_fault_shows_on_the_wire() {
    let server = start();
    let address = server.local_addr();
    let raw = |path: &str| read_all(send(address, "GET", path, "", b""));

    assert_eq!(get(address, "/get?fail=1").status, 500);
    assert_eq!(get(address, "/get?fail=1&fail_status=503").status, 503);
    assert_eq!(get(address, "/get?fail=2").status, 400);
    let (bytes, result) = raw("/get?reset=1");
    assert!(bytes.is_empty());
    assert_eq!(result.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let (bytes, result) = raw("/get?close=1");
    assert_eq!((bytes.len(), result.is_ok()), (0, true));

    let cut = split(&raw("/bytes/1000?truncate=1").0);
    assert_eq!(
        (cut.header("content-length"), cut.body.len()),
        (Some("1000"), 500)
    );
    let long = split(&until_surplus(address));
    assert_eq!(
        (long.header("content-length"), long.body.len()),
        (Some("995"), 1_000)
    );
    assert!(!String::from_utf8_lossy(&raw("/get?garbage=1").0).contains("HTTP/1."));
    let broken = String::from_utf8_lossy(&raw("/json?bad_chunk=1").0).into_owned();
    assert!(broken.contains("\r\nzz;") && broken.contains("Transfer-Encoding: chunked"));
    assert!(
        raw("/get?header_bomb=1")
            .0
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            > 20_000
    );
    let stormy = String::from_utf8_lossy(&raw("/deny?interim=5").0).into_owned();
    assert_eq!(stormy.matches("HTTP/1.1 103").count(), 5);
    assert!(stormy.contains("HTTP/1.1 200") && stormy.ends_with("HERE"));
    assert_eq!(
        get(address, "/deny?slow_headers=50ms").text(),
        "YOU SHOULDN'T BE HERE"
    );
    assert_eq!(
        get(address, "/deny?slow_body=50ms").text(),
        "YOU SHOULDN'T BE HERE"
    );
    assert_eq!(get(address, "/get").status, 200);
}

/// An answer of which 1,000 bytes of body come, while the server keeps the connection open.
fn until_surplus(address: SocketAddr) -> Vec<u8> {
    let mut stream = send(address, "GET", "/bytes/1000?wrong_length=1", "", b"");
    let mut first = [0; 1];
    stream.read_exact(&mut first).expect("a response begins");
    stream
        .shutdown(Shutdown::Write)
        .expect("the connection is open");
    [first.to_vec(), read_all(stream).0].concat()
}

#[test]
fn endless_headers_end_when_the_client_leaves() {
    let server = start();
    let mut stream = send(
        server.local_addr(),
        "GET",
        "/get?endless_headers=1",
        "",
        b"",
    );
    let mut taken = vec![0; 1_000_000];
    stream.read_exact(&mut taken).unwrap();
    drop(stream);
    assert!(taken.windows(4).all(|w| w != b"\r\n\r\n"));
    assert_eq!(get(server.local_addr(), "/get").status, 200);
}

#[test]
fn oversized_requests_are_refused() {
    let limits = Limits {
        body_bytes: 1_000,
        head_bytes: 16_384,
        headers: 20,
        ..Limits::default()
    };
    let server = serve(TargetConfig { limits, ..config() }).unwrap();
    let address = server.local_addr();
    assert_eq!(
        request(address, "POST", "/post", "", &[b'x'; 1_000]).status,
        200
    );
    assert_eq!(
        request(address, "POST", "/post", "", &[b'x'; 1_001]).status,
        413
    );
    let many: String = (0..40).map(|i| format!("X-{i}: 1\r\n")).collect();
    assert_eq!(request(address, "GET", "/get", &many, b"").status, 431);
    let long = format!("X-Long: {}\r\n", "x".repeat(20_000));
    assert_eq!(request(address, "GET", "/get", &long, b"").status, 431);
}

#[test]
fn idle_and_half_sent_requests_are_ended() {
    let limits = Limits {
        idle: Duration::from_millis(100),
        ..Limits::default()
    };
    let server = serve(TargetConfig { limits, ..config() }).unwrap();
    let idle = connect(server.local_addr());
    let mut half = connect(server.local_addr());
    half.write_all(b"GET / HTTP/1.1\r\nHos").unwrap();
    let slow = send(server.local_addr(), "GET", "/delay/1.5", "", b"");
    for stream in [idle, half] {
        // A clean end and a reset both free the server; a time-out of the read would not.
        let (bytes, result) = read_all(stream);
        assert!(bytes.is_empty());
        assert!(result.is_ok() || result.unwrap_err().kind() == ErrorKind::ConnectionReset);
    }
    assert_eq!(
        split(&read_all(slow).0).status,
        200,
        "a request at work is not idle"
    );
}

#[test]
fn connections_are_closed_after_their_share() {
    let share = NonZeroU64::new(2);
    let server = serve(TargetConfig {
        max_requests_per_connection: share,
        ..config()
    })
    .unwrap();
    let mut stream = connect(server.local_addr());
    stream
        .write_all(b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\nGET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let (bytes, result) = read_all(stream);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    assert!(result.is_ok());
    assert_eq!(text.matches("200 OK").count(), 2);
    assert_eq!(
        text.to_ascii_lowercase()
            .matches("connection: close")
            .count(),
        1
    );
}

#[test]
fn connections_past_the_limit_are_closed_at_once() {
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let server = serve(TargetConfig { limits, ..config() }).unwrap();
    let first = send(server.local_addr(), "GET", "/delay/0.3", "", b"");
    let second = send(server.local_addr(), "GET", "/delay/0.3", "", b"");
    let third = connect(server.local_addr());
    let (bytes, _) = read_all(third);
    assert!(bytes.is_empty(), "the third connection is closed at once");
    for stream in [first, second] {
        assert_eq!(split(&read_all(stream).0).status, 200);
    }
}

#[test]
fn without_keep_alive_every_answer_closes() {
    let server = serve(TargetConfig {
        keep_alive: false,
        ..config()
    })
    .unwrap();
    let mut stream = connect(server.local_addr());
    stream
        .write_all(b"GET /ok HTTP/1.1\r\nHost: x\r\n\r\n")
        .unwrap();
    let (bytes, result) = read_all(stream);
    assert!(result.is_ok() && bytes.ends_with(b"ok"));
}

#[test]
fn stopping_lets_requests_end_and_frees_the_port() {
    let config = TargetConfig {
        graceful_stop: Duration::from_secs(5),
        threads: NonZeroUsize::new(2),
        ..config()
    };
    let server = serve(config).unwrap();
    let address = server.local_addr();
    let idle = connect(address);
    let mut slow = send(
        address,
        "GET",
        "/drip?duration=300ms&delay=0&numbytes=4",
        "",
        b"",
    );
    let mut first = [0; 1];
    slow.read_exact(&mut first).unwrap();
    server.stop();
    let (rest, result) = read_all(slow);
    assert!(
        result.is_ok() && rest.ends_with(b"****"),
        "a running request ends in full"
    );
    server.join();
    drop(idle);
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn what_keeps_it_from_starting_is_named() {
    let server = start();
    let taken = TargetConfig {
        listen: server.local_addr(),
        ..config()
    };
    let error = serve(taken).err().expect("the port is taken");
    assert!(matches!(error, TargetError::Listen { .. }) && error.to_string().contains("port 0"));
    let missing = TargetConfig {
        routes: Some("no/such.toml".into()),
        ..config()
    };
    let error = serve(missing)
        .err()
        .expect("there is no such file")
        .to_string();
    assert!(error.contains("no/such.toml"), "{error}");
    let tls = TlsConfig {
        client_ca: Some("no/such.pem".into()),
        ..TlsConfig::default()
    };
    let error = serve(TargetConfig {
        tls: Some(tls),
        ..config()
    })
    .err()
    .expect("no such file");
    assert!(
        error
            .to_string()
            .contains("client certificate authority no/such.pem"),
        "{error}"
    );
}
