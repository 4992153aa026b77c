//! TLS and HTTP/2 against servers that do one thing each.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use loadline_model::ClientPlan;
use loadline_model::client::Protocol;
use loadline_model::client::{TlsPlan, TlsVersion};
use loadline_model::script_settings::ScriptSettings;
use loadline_model::url::Origin;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls_pki_types::{PrivateKeyDer, pem::PemObject};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Barrier;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::server::{Act, Seen, Server, answer_all, listen};
use super::{Bench, origin, request};

/// A certificate for `localhost` and the authority that signed it, PEM.
struct Certified {
    acceptor: TlsAcceptor,
    authority_pem: Vec<u8>,
}

fn certified(alpn: &[&[u8]]) -> Certified {
    let authority_key = rcgen::KeyPair::generate().expect("a key");
    let mut params = rcgen::CertificateParams::new(Vec::new()).expect("good parameters");
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = params.self_signed(&authority_key).expect("a certificate");
    let issuer = rcgen::Issuer::new(params, authority_key);
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
        .expect("good parameters")
        .signed_by(&key, &issuer)
        .expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).expect("just made");
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions that the provider has")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .expect("a good certificate");
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    Certified {
        acceptor: TlsAcceptor::from(Arc::new(config)),
        authority_pem: authority.pem().into_bytes(),
    }
}

/// Serves each TLS connection; returns the origin and the number of connections.
async fn serve<F: Future<Output = ()> + 'static>(
    acceptor: TlsAcceptor,
    handle: impl Fn(TlsStream<TcpStream>) -> F + 'static,
) -> (Arc<Origin>, SocketAddr, Rc<Cell<usize>>) {
    let (listener, address) = listen().await;
    let count = Rc::new(Cell::new(0));
    let counted = Rc::clone(&count);
    let handle = Rc::new(handle);
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.set(counted.get() + 1);
            let (acceptor, handle) = (acceptor.clone(), Rc::clone(&handle));
            tokio::task::spawn_local(async move {
                if let Ok(stream) = acceptor.accept(stream).await {
                    handle(stream).await;
                }
            });
        }
    });
    let url = format!("https://localhost:{}/", address.port());
    (origin(&url), address, count)
}

fn trusting(authority_pem: Vec<u8>) -> ClientPlan {
    ClientPlan {
        protocol: Protocol::Negotiate { streams: 250 },
        tls: TlsPlan {
            authorities_file: Some(PathBuf::from("the test's authority")),
            authorities_pem: authority_pem,
            ..TlsPlan::default()
        },
        ..ClientPlan::default()
    }
}

fn trusting_anybody() -> ClientPlan {
    let mut plan = trusting(Vec::new());
    plan.tls = TlsPlan {
        verify: false,
        ..TlsPlan::default()
    };
    plan
}

async fn answer_http1(mut stream: TlsStream<TcpStream>) {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    answer_all(&mut stream, text, &Seen::default()).await;
}

/// Answers streams of HTTP/2 as `answer` says.
async fn answer_http2(
    stream: TlsStream<TcpStream>,
    answer: impl Fn(http::Request<h2::RecvStream>, h2::server::SendResponse<Bytes>),
) {
    let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
    while let Some(Ok((request, respond))) = connection.accept().await {
        answer(request, respond);
    }
}

fn respond_ok(_: http::Request<h2::RecvStream>, mut respond: h2::server::SendResponse<Bytes>) {
    let head = http::Response::builder()
        .header("x-one", "1")
        .body(())
        .expect("a good head");
    let mut body = respond.send_response(head, false).expect("it is open");
    body.send_data(Bytes::from_static(b"ok"), true)
        .expect("it is open");
}

#[test]
fn tls_is_agreed_on_and_told() {
    super::in_runtime(async {
        let made = certified(&[]);
        let (at, address, count) = serve(made.acceptor, answer_http1).await;
        let bench = Bench::new(&trusting(made.authority_pem), &ScriptSettings::default());
        let answer = bench.answer(&at).await;
        let tls = answer.tls.expect("TLS was spoken");
        assert_eq!(
            (tls.version, tls.cipher_suite),
            ("tls1.3", "TLS_AES_128_GCM_SHA256")
        );
        assert_eq!(
            (answer.body.as_slice(), answer.remote),
            (&b"ok"[..], Some(address))
        );
        assert!(answer.times.tls_handshaking > 0);
        assert_eq!(bench.answer(&at).await.times.tls_handshaking, 0);
        assert_eq!(count.get(), 1);
    });
}

#[test]
fn suites_and_versions_are_as_asked() {
    super::in_runtime(async {
        let (at, ..) = serve(certified(&[]).acceptor, answer_http1).await;
        let mut plan = trusting_anybody();
        plan.tls.max_version = TlsVersion::V1_2;
        let mut script = ScriptSettings::default();
        let suite = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384";
        script.tls.cipher_suites = vec![suite.to_owned()];
        let tls = Bench::new(&plan, &script).answer(&at).await.tls;
        let tls = tls.expect("TLS was spoken");
        assert_eq!((tls.version, tls.cipher_suite), ("tls1.2", suite));
    });
}

#[test]
fn certificates_that_do_not_fit_are_told_in_k6s_words() {
    super::in_runtime(async {
        let made = certified(&[]);
        let (at, address, _) = serve(made.acceptor, answer_http1).await;
        let other = certified(&[]).authority_pem;
        let script = ScriptSettings::default();
        let unknown = Bench::new(&trusting(other), &script).failure(&at).await;
        assert_eq!(
            (unknown.code, unknown.tag.as_str()),
            (1310, "x509: unknown authority")
        );
        assert_eq!(unknown.remote, None);
        assert!(unknown.times.connecting > 0 && unknown.times.blocked == 0);
        let by_ip = origin(&format!("https://{address}/"));
        // For a certificate that is wrong in both ways the name is reported, as in Go.
        for authority_pem in [made.authority_pem, certified(&[]).authority_pem] {
            let bench = Bench::new(&trusting(authority_pem), &script);
            let wrong = bench.failure(&by_ip).await;
            assert_eq!(
                (wrong.code, wrong.tag.as_str()),
                (1311, "x509: certificate doesn't match hostname")
            );
        }
    });
}

#[test]
fn a_plain_server_is_told_from_tls() {
    super::in_runtime(async {
        for (text, detail) in [
            (
                &b"HTTP/1.1 400 Bad Request\r\n\r\n"[..],
                "http: server gave HTTP response to HTTPS client",
            ),
            (
                b"SSH-2.0-OpenSSH\r\n",
                "tls: first record does not look like a TLS handshake",
            ),
        ] {
            let server = Server::start([vec![Act::Send(text), Act::Hold]]).await;
            let at = origin(&format!("https://{}/", server.address));
            let failure = Bench::new(&trusting_anybody(), &ScriptSettings::default())
                .failure(&at)
                .await;
            assert_eq!((failure.code, failure.detail.as_str()), (1301, detail));
        }
    });
}

#[test]
fn one_http2_connection_serves_all_requests() {
    super::in_runtime(async {
        let handle = |stream| answer_http2(stream, respond_ok);
        let (at, _, count) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        let answer = bench.answer(&at).await;
        assert_eq!((answer.status, answer.protocol.name()), (200, "HTTP/2.0"));
        assert_eq!(answer.body, b"ok");
        assert_eq!(answer.headers.get("X-One"), Some(&b"1"[..]));
        let tasks: Vec<_> = (0..5)
            .map(|_| {
                let client = Rc::clone(&bench.client);
                let post = request("POST", &at, Some("body"));
                tokio::task::spawn_local(async move { client.exchange(&post).await })
            })
            .collect();
        for task in tasks {
            let outcome = task.await.expect("no panic").expect("nothing is cut");
            assert_eq!(outcome.expect("an answer").times.connecting, 0);
        }
        assert_eq!(count.get(), 1);
    });
}

/// Go's rule, whichever request made the connection.
#[test]
fn a_request_that_asks_to_close_is_the_last_on_an_http2_connection() {
    super::in_runtime(async {
        let handle = |stream| answer_http2(stream, respond_ok);
        let (at, _, count) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        let mut closing = request("GET", &at, None);
        let field = (Arc::from("Connection"), "close".to_owned());
        closing.headers.push(field);
        let plain = request("GET", &at, None);
        for (request, made) in [
            (&plain, 1),
            (&closing, 1),
            (&closing, 2),
            (&plain, 3),
            (&plain, 3),
        ] {
            let outcome = bench.client.exchange(request).await;
            let answer = outcome.expect("nothing is cut").expect("an answer");
            assert_eq!((answer.status, count.get()), (200, made));
        }
    });
}

/// The server answers two requests together, and allows one stream per connection: waiting for that stream
/// would take forever.
#[test]
fn a_request_that_finds_no_stream_free_has_a_connection_made() {
    super::in_runtime(async {
        let both = Rc::new(Barrier::new(2));
        let handle = move |stream| {
            let both = Rc::clone(&both);
            async move {
                let mut settings = h2::server::Builder::new();
                settings.max_concurrent_streams(1);
                let mut connection = settings.handshake(stream).await.expect("HTTP/2");
                while let Some(Ok((request, respond))) = connection.accept().await {
                    let both = Rc::clone(&both);
                    tokio::task::spawn_local(async move {
                        if request.method() == http::Method::POST {
                            both.wait().await;
                        }
                        respond_ok(request, respond);
                    });
                }
            }
        };
        let (at, _, count) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        // The limit is known from the first response on.
        bench.answer(&at).await;
        for _ in 0..2 {
            let tasks: Vec<_> = (0..2)
                .map(|_| {
                    let client = Rc::clone(&bench.client);
                    let post = request("POST", &at, None);
                    tokio::task::spawn_local(async move { client.exchange(&post).await })
                })
                .collect();
            for task in tasks {
                let outcome = task.await.expect("no panic").expect("nothing is cut");
                assert_eq!(outcome.expect("an answer").status, 200);
            }
        }
        assert_eq!(count.get(), 2, "the second connection is kept");
    });
}

#[test]
fn streams_that_are_reset_are_told_in_k6s_words() {
    super::in_runtime(async {
        let handle = |stream| {
            answer_http2(stream, |_, mut respond| {
                respond.send_reset(h2::Reason::INTERNAL_ERROR);
            })
        };
        let (at, ..) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        let failure = bench.failure(&at).await;
        assert_eq!(
            (failure.code, failure.tag.as_str()),
            (
                1633,
                "http2: stream error with http2 ErrCode INTERNAL_ERROR"
            )
        );
        assert_eq!(
            failure.detail,
            "stream error: stream ID 1; INTERNAL_ERROR; received from peer"
        );
    });
}

#[test]
fn a_refused_stream_is_tried_again_on_its_connection() {
    super::in_runtime(async {
        let refused = Rc::new(Cell::new(false));
        let handle = move |stream| {
            let refused = Rc::clone(&refused);
            answer_http2(stream, move |request, mut respond| {
                if refused.replace(true) {
                    respond_ok(request, respond);
                } else {
                    respond.send_reset(h2::Reason::REFUSED_STREAM);
                }
            })
        };
        let (at, _, count) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        assert_eq!(bench.answer(&at).await.status, 200);
        assert_eq!(count.get(), 1);
    });
}

/// As in Go, which reads nothing after such a head.
#[test]
fn what_follows_a_head_without_a_body_does_no_harm() {
    for status in [204_u16, 304] {
        super::in_runtime(async move {
            let handle = move |stream| {
                answer_http2(stream, move |_, mut respond| {
                    let head = http::Response::builder().status(status);
                    let head = head.header("content-length", "5").body(());
                    let head = head.expect("a good head");
                    let mut body = respond.send_response(head, false).expect("it is open");
                    body.send_data(Bytes::new(), true).expect("it is open");
                })
            };
            let (at, ..) = serve(certified(&[b"h2"]).acceptor, handle).await;
            let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
            assert_eq!(bench.answer(&at).await.status, status);
        });
    }
}

#[test]
fn a_goodbye_is_told_in_k6s_words() {
    super::in_runtime(async {
        let handle = |stream| async move {
            let mut connection = h2::server::handshake(stream).await.expect("HTTP/2");
            let asked = connection.accept().await;
            connection.abrupt_shutdown(h2::Reason::ENHANCE_YOUR_CALM);
            drop(asked);
            while connection.accept().await.is_some() {}
        };
        let (at, ..) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        let failure = bench.failure(&at).await;
        assert_eq!(
            (failure.code, failure.tag.as_str()),
            (
                1622,
                "http2: received GoAway with http2 ErrCode ENHANCE_YOUR_CALM"
            )
        );
    });
}

/// Reads up to the head of a request, answers with these frames, and reads on.
async fn answer_frames(mut stream: TlsStream<TcpStream>, frames: &'static [u8]) {
    const HEADERS: u8 = 1;
    let (mut preface, mut frame) = ([0; 24], [0; 9]);
    stream.read_exact(&mut preface).await.expect("a preface");
    while frame[3] != HEADERS {
        stream.read_exact(&mut frame).await.expect("a frame");
        let length = u32::from_be_bytes([0, frame[0], frame[1], frame[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await.expect("its payload");
    }
    stream.write_all(frames).await.expect("it is read");
    stream.flush().await.expect("it is read");
    while stream
        .read(&mut [0; 4096])
        .await
        .is_ok_and(|length| length > 0)
    {}
}

/// The peer allows no stream from the first answer on: whoever waited for one would wait until its timeout.
#[test]
fn a_connection_on_which_no_stream_is_allowed_any_more_is_replaced() {
    const LAST_ANSWER: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\0\
        \0\0\x01\x01\x05\0\0\0\x01\x88";
    super::in_runtime(async {
        let handle = |stream| answer_frames(stream, LAST_ANSWER);
        let (at, _, count) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        for made in 1..=2 {
            assert_eq!(bench.answer(&at).await.status, 200);
            assert_eq!(count.get(), made);
        }
    });
}

/// As in Go, also where the response had begun.
#[test]
fn a_connection_with_a_stream_that_broke_the_protocol_gets_no_further_request() {
    const HALF_AN_ANSWER: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x01\x01\x04\0\0\0\x01\x88\
        \0\0\x02\0\0\0\0\0\x01he\0\0\x04\x03\0\0\0\0\x01\0\0\0\x01";
    super::in_runtime(async {
        let handle = |stream| answer_frames(stream, HALF_AN_ANSWER);
        let (at, _, count) = serve(certified(&[b"h2"]).acceptor, handle).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        for made in 1..=2 {
            assert_eq!(bench.failure(&at).await.code, 1632);
            assert_eq!(count.get(), made);
        }
    });
}

/// The window is never opened again: the server that refuses a body does not want the rest of it.
#[test]
fn an_answer_that_comes_before_the_whole_request_is_one() {
    const REFUSAL: &[u8] = b"\0\0\0\x04\0\0\0\0\0\0\0\x05\x01\x04\0\0\0\x01\x08\x03413\
        \0\0\x03\0\x01\0\0\0\x01big";
    super::in_runtime(async {
        let refusing = |stream| answer_frames(stream, REFUSAL);
        let (at, ..) = serve(certified(&[b"h2"]).acceptor, refusing).await;
        let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
        let body: &'static str = "x".repeat(1 << 20).leak();
        let asked = request("POST", &at, Some(body));
        let outcome = bench.client.exchange(&asked).await;
        let answer = outcome.expect("nothing is cut").expect("an answer");
        assert_eq!((answer.status, &answer.body[..]), (413, &b"big"[..]));
    });
}

/// The GOAWAY covers the request, and the connection is reset before the response: as in Go, the last message
/// is reported, and without a GOAWAY the reset is.
#[test]
fn a_goodbye_is_told_even_where_the_connection_is_reset_after_it() {
    const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";
    const GOODBYE: &[u8] = b"\0\0\x08\x07\0\0\0\0\0\0\0\0\x01\0\0\0\0";
    const HEADERS: u8 = 1;
    let resetting = |goodbye: &'static [u8]| {
        move |mut stream: TlsStream<TcpStream>| async move {
            let mut preface = [0; 24];
            stream.read_exact(&mut preface).await.expect("a preface");
            loop {
                let mut head = [0; 9];
                stream.read_exact(&mut head).await.expect("a frame");
                let [a, b, c, kind, ..] = head;
                let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
                stream.read_exact(&mut payload).await.expect("a payload");
                if kind == HEADERS {
                    break;
                }
            }
            stream.write_all(SETTINGS).await.expect("it is read");
            stream.write_all(goodbye).await.expect("it is read");
            stream.flush().await.expect("it is read");
            // The client has read it by then: writes to a connection that was reset fail.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let (tcp, _) = stream.into_inner();
            socket2::SockRef::from(&tcp)
                .set_linger(Some(Duration::ZERO))
                .expect("a socket");
        }
    };
    for (goodbye, code, tag) in [
        (
            GOODBYE,
            1611,
            "http2: received GoAway with http2 ErrCode NO_ERROR",
        ),
        (b"", 1220, "read: connection reset by peer"),
    ] {
        super::in_runtime(async {
            let acceptor = certified(&[b"h2"]).acceptor;
            let (at, ..) = serve(acceptor, resetting(goodbye)).await;
            let bench = Bench::new(&trusting_anybody(), &ScriptSettings::default());
            let failure = bench.failure(&at).await;
            assert_eq!((failure.code, failure.tag.as_str()), (code, tag));
        });
    }
}
