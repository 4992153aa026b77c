//! Which certificates the client trusts over TLS, and how an untrusted certificate affects a run.
//!
//! Must not know TLS. Invariant: one authority, one name, one fault at a time.

use loadline_e2e::certificates::{Authority, Identity, Validity};
use loadline_e2e::server::Server;
use loadline_e2e::target::Target;
use loadline_e2e::{Ran, bench};

fn url(server: &Server) -> String {
    format!("https://localhost:{}/", server.address().port())
}

fn bench_some(arguments: &[&str]) -> Ran {
    bench(&[&["-c", "2", "-n", "6", "-4", "-q"], arguments].concat())
}

fn assert_refused(ran: &Ran, why: &str) {
    assert_eq!(ran.failures(), [("certificate", 6)], "{:?}", ran.messages());
    let message = &ran.messages()[0];
    assert!(
        message.to_lowercase().contains(why),
        "{why} is not said: {message}"
    );
    ran.assert_named("certificate");
    ran.assert_code(1);
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn expired_mismatched_and_unknown() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let authority = Authority::new("authority");
    let ca = authority.save(folder.path(), "ca.pem");
    let trusted = ["--cacert", &ca];

    let sound = authority.sign("localhost", Validity::Now).serve();
    let ran = bench_some(&[&trusted[..], &[&url(&sound)]].concat());
    assert_eq!(ran.count("good"), 6, "{:?}", ran.messages());

    let expired = authority.sign("localhost", Validity::Past).serve();
    let ran = bench_some(&[&trusted[..], &[&url(&expired)]].concat());
    assert_refused(&ran, "expired");

    let mismatched = authority.sign("elsewhere.test", Validity::Now).serve();
    let ran = bench_some(&[&trusted[..], &[&url(&mismatched)]].concat());
    assert_refused(&ran, "name");
    let address = url(&mismatched);
    let named = ["--cacert", &ca, "--sni", "elsewhere.test", &address];
    assert_eq!(bench_some(&named).count("good"), 6);

    let another = Authority::new("another authority").save(folder.path(), "another.pem");
    let ran = bench_some(&["--cacert", &another, &url(&sound)]);
    assert_refused(&ran, "issuer");
    assert_eq!(bench_some(&["-k", &url(&sound)]).count("good"), 6);
    assert_eq!(bench_some(&["-k", &url(&expired)]).count("good"), 6);
}

/// Most programs mark a self-signed certificate as an authority's; if it is trusted, the server may use it.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn self_signed_certificates() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let sound = Identity::self_signed("localhost", Validity::Now);
    let (file, _) = sound.save(folder.path(), "sound");
    let server = sound.serve();
    let ran = bench_some(&["--cacert", &file, &url(&server)]);
    assert_eq!(ran.count("good"), 6, "{:?}", ran.messages());
    assert_refused(&bench_some(&[&url(&server)]), "issuer");

    for (name, validity, why) in [
        ("localhost", Validity::Past, "expired"),
        ("elsewhere.test", Validity::Now, "name"),
    ] {
        let identity = Identity::self_signed(name, validity);
        let (file, _) = identity.save(folder.path(), name);
        let server = identity.serve();
        let ran = bench_some(&["--cacert", &file, &url(&server)]);
        assert_refused(&ran, why);
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_targets_own_authority_and_versions() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let ca = folder.path().join("ca.pem");
    let ca = ca.to_str().expect("a path of text");
    let target = Target::start(&[
        "--tls",
        "127.0.0.1:0",
        "--tls-name",
        "shop.test",
        "--ca-out",
        ca,
    ]);
    let port = target.tls_port();
    let url = format!("https://localhost:{port}/get");
    for more in [
        ["--tls-min", "1.3"].as_slice(),
        &["--tls-max", "1.2"],
        &["--sni", "shop.test"],
        &["--tls-resume", "--no-keepalive"],
        &["--http2", "--streams", "3"],
        &["--h2c"],
    ] {
        let ran = bench_some(&[&["--cacert", ca], more, &[&url]].concat());
        assert_eq!(ran.count("good"), 6, "{more:?}: {:?}", ran.messages());
        let is_http2 = more[0].starts_with("--h");
        let http2 = ran.number("/totals/seen/connections/http2");
        assert_eq!(
            http2 > 0,
            is_http2,
            "{more:?}: {http2} connections over HTTP/2"
        );
    }
    let ran = bench_some(&["--cacert", ca, "--sni", "bakery.test", &url]);
    assert_refused(&ran, "name");
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_client_certificate() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let ca = folder.path().join("server-ca.pem");
    let ca = ca.to_str().expect("a path of text");
    let authority = Authority::new("authority");
    let client_ca = authority.save(folder.path(), "client-ca.pem");
    let (cert, key) = authority
        .sign("client.test", Validity::Now)
        .save(folder.path(), "client");
    let target = Target::start(&[
        "--tls",
        "127.0.0.1:0",
        "--ca-out",
        ca,
        "--client-ca",
        &client_ca,
    ]);
    let url = format!("https://localhost:{}/get", target.tls_port());

    let shown = ["--cacert", ca, "--cert", &cert, "--key", &key, &url];
    assert_eq!(bench_some(&shown).count("good"), 6);

    let ran = bench_some(&["--cacert", ca, &url]);
    assert_eq!(ran.failures(), [("tls", 6)], "{:?}", ran.messages());
    ran.assert_named("tls");
    ran.assert_code(1);
}
