//! Access to a running test: requests to the REST API and the live page over raw sockets.
//!
//! Must not know how they are served. Invariant: each request is written byte for byte, as a browser, a
//! stranger or k6's own client sends it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use loadline_e2e::process::Running;
use loadline_e2e::server::free_port;
use loadline_e2e::{clock, loadline};

const SCRIPT: &str = "
    import { sleep } from 'k6';
    export const options = { vus: 1, duration: '60s' };
    export function teardown() {}
    export default function () { sleep(0.05); }";

/// A test with an API and a live page.
struct Test {
    _folder: tempfile::TempDir,
    running: Running,
    api: u16,
    web: u16,
}

impl Test {
    fn start(host: &str, words: &[&str], variables: &[(&str, &str)]) -> Test {
        let folder = tempfile::tempdir().expect("there is room");
        let script = folder.path().join("script.js");
        std::fs::write(&script, SCRIPT).expect("there is room");
        let (api, web) = (free_port(), free_port());
        let mut command: Command = loadline();
        command
            .args(["run", "--quiet", "--address", &format!("{host}:{api}")])
            .arg(format!("--web={host}:{web}"))
            .args(words)
            .arg(script)
            .envs(variables.iter().copied());
        let running = Running::start(command);
        let test = Test {
            _folder: folder,
            running,
            api,
            web,
        };
        let listens = clock::wait_for(Duration::from_secs(30), || {
            TcpStream::connect(("127.0.0.1", web)).ok()
        });
        listens.expect("the live page is served");
        test
    }

    /// Ends the test by an allowed order.
    fn stop(self, head: &str) -> String {
        let body = r#"{"data":{"attributes":{"stopped":true}}}"#;
        let length = body.len();
        let request =
            format!("PATCH /v1/status HTTP/1.1\r\n{head}Content-Length: {length}\r\n\r\n{body}");
        assert_eq!(ask(self.api, &request), 200, "{request}");
        let output = self.running.finish();
        assert_eq!(output.status.code(), Some(103));
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// The status of the response to raw bytes; 0: the connection ends without a response.
fn ask(port: u16, request: &str) -> u16 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    let patience = Some(Duration::from_secs(30));
    stream.set_read_timeout(patience).expect("a time");
    // A request that is refused early may not be read to its end.
    let _ = stream.write_all(request.as_bytes());
    let mut head = [0; 12];
    match stream.read_exact(&mut head) {
        Ok(()) => String::from_utf8_lossy(&head[9..]).parse().unwrap_or(0),
        Err(_) => 0,
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn pages_of_other_sites_neither_read_nor_order() {
    let test = Test::start("127.0.0.1", &[], &[]);
    let (api, web) = (test.api, test.web);
    for (port, line, head, status) in [
        // DNS rebinding: the page's own name points here.
        (api, "GET /v1/status", "Host: evil.example:6565\r\n", 403),
        (web, "GET /events", "Host: evil.example\r\n", 403),
        (web, "GET /", "Host: 127.0.0.1.evil.example\r\n", 403),
        (api, "GET /v1/status", "", 403),
        // A form of another site.
        (
            api,
            "POST /v1/teardown",
            "Host: localhost\r\nOrigin: http://evil.example\r\nContent-Type: text/plain\r\n",
            403,
        ),
        (
            web,
            "POST /command/stop",
            "Host: localhost\r\nOrigin: null\r\n",
            403,
        ),
        (
            web,
            "POST /command/stop",
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
            403,
        ),
        (
            api,
            "PUT /v1/setup",
            "Host: localhost\r\nSec-Fetch-Site: same-site\r\n",
            403,
        ),
        // A preflight gets no permissions.
        (
            api,
            "OPTIONS /v1/status",
            "Host: localhost\r\nOrigin: http://evil.example\r\n",
            403,
        ),
        // The machine's own user.
        (api, "GET /v1/status", "Host: localhost:6565\r\n", 200),
        (api, "GET /v1/status", "Host: [::1]:6565\r\n", 200),
        (
            web,
            "GET /",
            "Host: 127.0.0.1\r\nSec-Fetch-Site: none\r\n",
            200,
        ),
        (
            web,
            "GET /",
            "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n",
            200,
        ),
    ] {
        let request = format!("{line} HTTP/1.1\r\n{head}Content-Length: 0\r\n\r\n");
        assert_eq!(ask(port, &request), status, "{request}");
    }
    // As sent by curl and k6's own client.
    test.stop("Host: localhost:6565\r\nUser-Agent: curl/8\r\nAccept: */*\r\n");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn beyond_loopback_a_token_is_wanted() {
    let test = Test::start("0.0.0.0", &["--control-token", "w0rd"], &[]);
    let (api, web) = (test.api, test.web);
    for (port, line, head, status) in [
        (api, "GET /v1/status", "", 403),
        (api, "GET /v1/status", "Authorization: Bearer w0re\r\n", 403),
        (api, "GET /v1/status", "Authorization: Bearer w0rd\r\n", 200),
        (api, "GET /v1/status?token=w0rd", "", 200),
        (web, "GET /", "", 403),
        (web, "GET /?token=w0rd", "", 200),
        (
            api,
            "POST /v1/teardown",
            "Authorization: Bearer w0rd\r\nOrigin: http://evil.example\r\n",
            403,
        ),
    ] {
        let request = format!("{line} HTTP/1.1\r\nHost: box\r\n{head}Content-Length: 0\r\n\r\n");
        assert_eq!(ask(port, &request), status, "{request}");
    }
    let told = |variable: &[(&str, &str)]| {
        let mut command = loadline();
        command.args(["status", "--address", &format!("127.0.0.1:{api}")]);
        command.envs(variable.iter().copied());
        loadline_e2e::run_to_end(command).status.code()
    };
    assert_ne!(told(&[]), Some(0));
    assert_eq!(told(&[("LOADLINE_CONTROL_TOKEN", "w0rd")]), Some(0));
    let log = test.stop("Host: box\r\nAuthorization: Bearer w0rd\r\n");
    assert!(!log.contains("REST API at"), "who names it knows it: {log}");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_token_is_made_and_told_or_switched_off() {
    let test = Test::start("0.0.0.0", &[], &[]);
    let request = "GET /v1/status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    assert_eq!(ask(test.api, request), 403);
    test.running.signal(libc::SIGINT);
    let log = test.running.finish().stderr;
    let log = String::from_utf8_lossy(&log).into_owned();
    assert!(log.contains("send Authorization: Bearer "), "{log}");

    let off = [("LOADLINE_CONTROL_TOKEN", "off")];
    let test = Test::start("0.0.0.0", &["--control-host", "Box.example"], &off);
    for (host, status) in [
        ("10.1.2.3:1", 200),
        ("box.example", 200),
        ("evil.example", 403),
    ] {
        let request = format!("GET /v1/status HTTP/1.1\r\nHost: {host}\r\n\r\n");
        assert_eq!(ask(test.api, &request), status, "{host}");
    }
    test.stop("Host: 10.1.2.3\r\n");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn requests_that_are_huge_or_never_end_take_nothing_from_others() {
    let test = Test::start("127.0.0.1", &[], &[]);
    let (api, web) = (test.api, test.web);
    for port in [api, web] {
        // More than the connections that are served at a time, and none sends a request.
        let slow: Vec<TcpStream> = (0..80)
            .filter_map(|_| {
                let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
                stream.write_all(b"GET / HTTP/1.1\r\nHost: loc").ok()?;
                Some(stream)
            })
            .collect();
        assert_eq!(ask(port, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 200);
        drop(slow);
        let long = "x".repeat(1 << 20);
        let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\nA: {long}\r\n\r\n");
        assert!(matches!(ask(port, &head), 0 | 431), "a head of a megabyte");
        let many = "A: b\r\n".repeat(2000);
        let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
        assert!(matches!(ask(port, &head), 0 | 431), "2,000 fields");
        // A refused client gets its response before sending any of its body.
        let head =
            "PUT /v1/setup HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 99999999999\r\n\r\n";
        assert_eq!(ask(port, head), 403);
    }
    test.stop("Host: localhost\r\n");
}
