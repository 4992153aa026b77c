//! One fault, two front ends: `bench` and a script count a failure in the same class, and the verdict blames
//! the same side.
//!
//! Must not know how the client distinguishes classes. Invariant: every fault here fails every request.

use std::process::Command;

use loadline_e2e::certificates::{Authority, Validity};
use loadline_e2e::faults::Fault;
use loadline_e2e::front_ends::Asked;
use loadline_e2e::http2_faults::{HTTP2_FAULTS, TurnsAway};
use loadline_e2e::server::{Server, free_port};
use loadline_e2e::{FullQueue, loadline};

const TIMEOUT: &str = "3s";

/// Compares both front ends with a class, and their verdicts with each other; returns the differences.
fn differences(asked: Asked<'_>, class: &str, command: impl Fn() -> Command) -> Vec<String> {
    let runs = [
        ("bench", asked.by_bench(command())),
        ("script", asked.by_script(command())),
    ];
    let mut differences = Vec::new();
    for (front_end, ran) in &runs {
        let failures = ran.failures();
        if failures != [(class, asked.requests)] {
            let messages = ran.messages();
            differences.push(format!("under {front_end}: {failures:?}: {messages:?}"));
        }
    }
    for pointer in ["/verdict/headline", "/verdict/limit"] {
        let [bench, script] = runs.each_ref().map(|(_, ran)| ran.at(pointer));
        if bench != script {
            differences.push(format!("bench says {bench}, the script {script}"));
        }
    }
    differences
}

fn assert_alike(faults: &[(&str, Vec<String>)]) {
    let faults = faults.iter();
    let told: Vec<String> = faults
        .flat_map(|(name, differences)| differences.iter().map(move |why| format!("{name}: {why}")))
        .collect();
    assert!(told.is_empty(), "{}", told.join("\n"));
}

fn https(server: &Server) -> String {
    format!("https://localhost:{}/", server.address().port())
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn connections_that_do_not_come_about() {
    let refused = format!("http://127.0.0.1:{}/", free_port());
    let silent = Fault::NeverAnswers.serve();
    let plain = Fault::PlainAnswer.serve();
    let no_tls = format!("https://{}/", plain.address());
    let table = [
        ("a closed port", refused.as_str(), TIMEOUT, "refused"),
        (
            "a name that does not exist",
            "http://no-such-host.invalid/",
            "30s",
            "dns",
        ),
        ("no response", &silent.url("/"), "1s", "timeout"),
        ("a plain server asked for TLS", &no_tls, TIMEOUT, "tls"),
    ];
    assert_alike(&table.map(|(name, url, timeout, class)| {
        (name, differences(Asked::few(url, timeout), class, loadline))
    }));
}

/// A script's connect timeout is k6's: half a minute.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn connections_that_take_too_long() {
    let queue = FullQueue::listen();
    let url = queue.url();
    let asked = Asked {
        vus: 3,
        bench_more: &["--connect-timeout", "1s"],
        ..Asked::few(&url, "40s")
    };
    assert_alike(&[(
        "a full accept queue",
        differences(asked, "connect-timeout", loadline),
    )]);
}

/// Authorities come from the environment, which both front ends read.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn certificates_that_are_not_trusted() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let authority = Authority::new("authority");
    let trusted = authority.save(folder.path(), "ca.pem");
    let trusting = || {
        let mut command = loadline();
        command.env("SSL_CERT_FILE", &trusted);
        command
    };
    let expired = authority.sign("localhost", Validity::Past).serve();
    let misnamed = authority.sign("elsewhere.test", Validity::Now).serve();
    let unknown = Authority::new("another")
        .sign("localhost", Validity::Now)
        .serve();
    let table = [
        ("an expired certificate", &expired),
        ("a certificate for another name", &misnamed),
        ("an authority that nobody trusts", &unknown),
    ];
    assert_alike(&table.map(|(name, server)| {
        let url = https(server);
        let asked = Asked {
            bench_more: &["-4"],
            ..Asked::few(&url, TIMEOUT)
        };
        (name, differences(asked, "certificate", trusting))
    }));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn faults_of_http2() {
    let identity = Authority::new("authority").sign("localhost", Validity::Now);
    let told: Vec<_> = HTTP2_FAULTS
        .iter()
        .map(|fault| {
            let server = fault.serve(&identity);
            let url = https(&server);
            let asked = Asked {
                bench_more: &["-4", "-k", "--http2"],
                run_more: &["--insecure-skip-tls-verify"],
                ..Asked::few(&url, TIMEOUT)
            };
            (fault.name, differences(asked, fault.class, loadline))
        })
        .collect();
    assert_alike(&told);
}

/// A request that the peer did not process is resent: on the next connection, or on the same one if only the
/// stream was refused.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn requests_that_are_turned_away() {
    let identity = Authority::new("authority").sign("localhost", Validity::Now);
    for (turns_away, connections) in [(TurnsAway::Connection, 2), (TurnsAway::Stream, 1)] {
        for front_end in ["bench", "script"] {
            let server = turns_away.serve(&identity);
            let url = https(&server);
            let asked = Asked {
                bench_more: &["-4", "-k", "--http2"],
                run_more: &["--insecure-skip-tls-verify"],
                ..Asked::few(&url, TIMEOUT)
            };
            let ran = match front_end {
                "bench" => asked.by_bench(loadline()),
                _ => asked.by_script(loadline()),
            };
            let case = format!("{turns_away:?} under {front_end}");
            assert_eq!(ran.count("good"), 3, "{case}: {:?}", ran.messages());
            assert_eq!(server.accepted(), connections, "{case}");
        }
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_secrets_of_connections_are_written_where_sslkeylogfile_says() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let authority = Authority::new("authority");
    let trusted = authority.save(folder.path(), "ca.pem");
    let server = authority.sign("localhost", Validity::Now).serve();
    let url = https(&server);
    let asked = Asked {
        bench_more: &["-4"],
        ..Asked::few(&url, TIMEOUT)
    };
    for front_end in ["bench", "script"] {
        let log = folder.path().join(front_end);
        let mut command = loadline();
        command.env("SSL_CERT_FILE", &trusted);
        command.env("SSLKEYLOGFILE", &log);
        let ran = match front_end {
            "bench" => asked.by_bench(command),
            _ => asked.by_script(command),
        };
        assert_eq!(ran.count("good"), asked.requests, "{:?}", ran.messages());
        let log = std::fs::read_to_string(&log).expect("it was written");
        assert!(
            log.contains("CLIENT_TRAFFIC_SECRET_0 "),
            "{front_end}: {log}"
        );
    }
}
