//! HTTP/2 with prior knowledge and by ALPN, and TLS with the certificate generated at startup.
//!
//! They must not use the crate's internals. Invariant checked: clients that trust the authority written by the
//! server need no exception for its certificate.

mod common;

use common::{config, start};
use h2::client;
use http::Request;
use loadline_target::{TargetConfig, TlsConfig, serve};
use rcgen::{CertificateParams, KeyPair};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(future)
}

/// Status and body of one request on an HTTP/2 connection, or how its stream ended.
async fn ask(
    send: &mut client::SendRequest<bytes::Bytes>,
    uri: &str,
) -> Result<(u16, Vec<u8>), h2::Error> {
    let request = Request::get(uri).body(()).expect("the URI is legal");
    let (response, _) = send.clone().ready().await?.send_request(request, true)?;
    let (head, mut body) = response.await?.into_parts();
    let mut all = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        all.extend_from_slice(&chunk);
    }
    Ok((head.status.as_u16(), all))
}

async fn handshake<S>(stream: S) -> client::SendRequest<bytes::Bytes>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (send, connection) = client::handshake(stream)
        .await
        .expect("the server speaks HTTP/2");
    tokio::spawn(connection);
    send
}

#[test]
fn http2_with_prior_knowledge() {
    let server = start();
    run(async {
        let stream = TcpStream::connect(server.local_addr()).await.unwrap();
        let mut send = handshake(stream).await;
        assert_eq!(
            ask(&mut send, "http://h/ok").await.unwrap(),
            (200, b"ok".to_vec())
        );
        let (status, body) = ask(&mut send, "http://h/get?a=1").await.unwrap();
        assert_eq!(status, 200);
        assert!(
            String::from_utf8(body)
                .unwrap()
                .contains("http://h/get?a=1")
        );
        let (_, body) = ask(&mut send, "http://h/bytes/3000000").await.unwrap();
        assert_eq!(body.len(), 3_000_000);
        assert!(
            ask(&mut send, "http://h/get?reset=1")
                .await
                .unwrap_err()
                .is_reset()
        );
        assert!(
            ask(&mut send, "http://h/bytes/1000?truncate=1")
                .await
                .is_err()
        );
        let (status, _) = ask(&mut send, "http://h/get?slow_headers=10ms")
            .await
            .unwrap();
        assert_eq!(
            status, 200,
            "the connection outlives the faults of its streams"
        );
    });
}

#[test]
fn http2_connections_end_after_their_share() {
    let share = NonZeroU64::new(2);
    let server = serve(TargetConfig {
        max_requests_per_connection: share,
        ..config()
    })
    .unwrap();
    run(async {
        let stream = TcpStream::connect(server.local_addr()).await.unwrap();
        let (send, connection) = client::handshake(stream).await.unwrap();
        let mut send: client::SendRequest<bytes::Bytes> = send;
        let ended = tokio::spawn(connection);
        for _ in 0..2 {
            assert_eq!(ask(&mut send, "http://h/get").await.unwrap().0, 200);
        }
        ended.await.unwrap().unwrap();
    });
}

fn tls_config(tls: TlsConfig) -> TargetConfig {
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    TargetConfig {
        tls: Some(TlsConfig { listen, ..tls }),
        ..config()
    }
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

async fn connect_tls(
    address: SocketAddr,
    ca_pem: &str,
    name: &str,
    protocols: &[&[u8]],
    identity: Option<Identity>,
) -> std::io::Result<TlsStream<TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).expect("the authority is PEM"))
        .expect("the test gives legal values");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the test gives legal values")
        .with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some((chain, key)) => builder
            .with_client_auth_cert(chain, key)
            .expect("the test gives legal values"),
    };
    config.alpn_protocols = protocols.iter().map(|p| p.to_vec()).collect();
    let tcp = TcpStream::connect(address).await?;
    let name = ServerName::try_from(name.to_owned()).expect("the test gives legal values");
    TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
}

#[test]
fn tls_is_trusted_through_the_written_authority_and_alpn_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let ca_out = folder.path().join("ca.pem");
    let tls = TlsConfig {
        names: vec!["shop.test".to_owned()],
        ca_out: Some(ca_out.clone()),
        ..TlsConfig::default()
    };
    let server = serve(tls_config(tls)).unwrap();
    let address = server.tls_addr().unwrap();
    let ca = std::fs::read_to_string(ca_out).unwrap();
    assert_eq!(Some(ca.as_str()), server.ca_pem());
    assert!(!ca.contains("PRIVATE"));
    run(async {
        for name in ["localhost", "127.0.0.1", "::1", "shop.test"] {
            let mut stream = connect_tls(address, &ca, name, &[b"http/1.1"], None)
                .await
                .unwrap();
            let get = b"GET /get HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n\r\n";
            stream.write_all(get).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert!(answer.contains("\"https://shop.test/get\""), "{answer}");
        }
        assert!(
            connect_tls(address, &ca, "other.test", &[], None)
                .await
                .is_err()
        );
        let stream = connect_tls(address, &ca, "localhost", &[b"h2", b"http/1.1"], None)
            .await
            .unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut send = handshake(stream).await;
        assert_eq!(ask(&mut send, "https://localhost/ok").await.unwrap().0, 200);
        let mut stream = connect_tls(address, &ca, "localhost", &[], None)
            .await
            .unwrap();
        stream
            .write_all(b"GET /get?reset=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            .await
            .unwrap();
        assert!(stream.read_u8().await.is_err());
    });
}

#[test]
fn client_certificates_are_required_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let client_ca = folder.path().join("clients.pem");
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["client".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    std::fs::write(&client_ca, certificate.pem()).unwrap();
    let tls = TlsConfig {
        client_ca: Some(client_ca),
        ..TlsConfig::default()
    };
    let server = serve(tls_config(tls)).unwrap();
    let address = server.tls_addr().unwrap();
    let ca = server.ca_pem().unwrap();
    run(async {
        // TLS 1.3 tells the client of its missing certificate only after the client's handshake is over.
        let refused = match connect_tls(address, ca, "localhost", &[], None).await {
            Ok(mut stream) => stream.read_u8().await.is_err(),
            Err(_) => true,
        };
        assert!(refused);
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let identity = Some((vec![certificate.der().clone()], key));
        let mut stream = connect_tls(address, ca, "localhost", &[], identity)
            .await
            .unwrap();
        let get = b"GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(get).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        assert!(answer.ends_with(b"ok"));
    });
}
