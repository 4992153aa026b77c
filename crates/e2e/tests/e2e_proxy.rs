//! Through a proxy: plain requests, tunnels, the environment's variables, and a proxy that refuses.
//!
//! Must not know the protocol of proxies. Invariant: the proxy's records are the requests that passed through
//! it.

use loadline_e2e::proxy::Proxy;
use loadline_e2e::server::Server;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench, bench_by, loadline, run_to_end, web};

const LOAD: [&str; 5] = ["-q", "-c", "2", "-n", "10"];

fn through(proxy: &Proxy, arguments: &[&str]) -> Ran {
    bench(&[&LOAD[..], &["-x", &proxy.url()], arguments].concat())
}

fn server() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")))
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn plain_requests_name_the_whole_url() {
    let (proxy, server) = (Proxy::start(), server());
    let ran = through(&proxy, &[&server.url("/x")]);
    assert_eq!(ran.count("good"), 10, "{:?}", ran.messages());
    let line = format!("GET {} HTTP/1.1", server.url("/x"));
    let asked = proxy.asked();
    assert_eq!(asked.len(), 10);
    assert!(
        asked
            .iter()
            .all(|one| one.line == line && one.authorization.is_none()),
        "{asked:?}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn tls_goes_through_a_tunnel() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let ca = folder.path().join("ca.pem");
    let ca = ca.to_str().expect("a path of text");
    let target = Target::start(&["--tls", "127.0.0.1:0", "--ca-out", ca]);
    let proxy = Proxy::start();
    let host = format!("localhost:{}", target.tls_port());
    let with_password = proxy.url().replacen("http://", "http://ann:secret@", 1);
    let arguments = [
        "-x",
        &with_password,
        "--cacert",
        ca,
        &format!("https://{host}/get"),
    ];
    let ran = bench(&[&LOAD[..], &arguments].concat());
    assert_eq!(ran.count("good"), 10, "{:?}", ran.messages());
    let asked = proxy.asked();
    assert_eq!(asked.len(), 2, "one tunnel for each connection");
    for one in &asked {
        assert_eq!(one.line, format!("CONNECT {host} HTTP/1.1"));
        assert_eq!(one.authorization.as_deref(), Some("Basic YW5uOnNlY3JldA=="));
    }
    let told = format!("{}{}{}", ran.out, ran.err, ran.result());
    for secret in ["ann:secret", "YW5uOnNlY3JldA"] {
        assert!(!told.contains(secret), "the password is told: {told}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_environment_names_a_proxy() {
    let (proxy, server) = (Proxy::start(), server());
    let url = server.url("/");
    for (settings, arguments, passes) in [
        (
            [("http_proxy", proxy.url().as_str()), ("NO_PROXY", "")],
            ["--redirects", "--http1"],
            true,
        ),
        (
            [("ALL_PROXY", &proxy.url()), ("NO_PROXY", "other.test")],
            ["--redirects", "--http1"],
            true,
        ),
        // Under CGI a request's Proxy header would set this variable: curl ignores it, too.
        (
            [("HTTP_PROXY", &proxy.url()), ("NO_PROXY", "")],
            ["--redirects", "--http1"],
            false,
        ),
        (
            [("http_proxy", &proxy.url()), ("NO_PROXY", "127.0.0.1")],
            ["--redirects", "--http1"],
            false,
        ),
        (
            [("http_proxy", &proxy.url()), ("NO_PROXY", "")],
            ["--no-proxy", "*"],
            false,
        ),
    ] {
        let before = proxy.asked().len();
        let mut command = loadline();
        command.envs(settings);
        let ran = bench_by(command, &[&LOAD[..], &arguments, &[&url]].concat());
        assert_eq!(ran.count("good"), 10, "{settings:?}: {:?}", ran.messages());
        let passed = proxy.asked().len() - before;
        assert_eq!(passed, if passes { 10 } else { 0 }, "{settings:?}");
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_goes_through_the_proxy_of_the_environment() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let script = folder.path().join("script.js");
    let text =
        "import http from 'k6/http'; export default () => { http.get('http://away.test/x'); }";
    std::fs::write(&script, text).expect("there is room");
    let run = |except: &str| {
        let proxy = Proxy::start();
        let mut command = loadline();
        command
            .env("HTTP_PROXY", proxy.url())
            .env("NO_PROXY", except)
            .args(["run", "--quiet", "--iterations", "3"])
            .arg(&script);
        let output = run_to_end(command);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        proxy.asked()
    };
    let asked = run("other.test");
    assert_eq!(asked.len(), 3);
    let line = "GET http://away.test/x HTTP/1.1";
    assert!(asked.iter().all(|one| one.line == line), "{asked:?}");
    assert_eq!(run("away.test").len(), 0);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_proxy_that_refuses_or_is_not_there() {
    let proxy = Proxy::refusing();
    let ran = through(&proxy, &["https://localhost:1/"]);
    assert_eq!(ran.failures(), [("proxy", 10)], "{:?}", ran.messages());
    ran.assert_named("proxy");
    ran.assert_code(1);
    let ran = through(&proxy, &["http://localhost:1/"]);
    assert_eq!(
        (ran.status(407), ran.count("good")),
        (10, 0),
        "a response it is"
    );

    let nowhere = Proxy::start().url();
    let ran = bench(&[&LOAD[..], &["-x", &nowhere, "http://localhost:1/"]].concat());
    assert_eq!(ran.count("completed"), 0);
    assert_eq!(
        ran.failed("refused") + ran.failed("proxy"),
        10,
        "{:?}",
        ran.failures()
    );
}
