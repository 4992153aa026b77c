//! A gRPC call: the metrics service's `Export`.
//!
//! Must not know the content of a request. Invariants: a call ends within [`TIMEOUT`]; a failed connection is
//! replaced for the next call.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use hyper_util::rt::TokioIo;
use loadline_http::{Tls, shown};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::MetadataMap;
use tonic::transport::{self, Channel, Endpoint};
use tonic::{Code, Request, Status};
use tower::{BoxError, ServiceExt};
use ureq::http::uri::PathAndQuery;
use ureq::http::{self, HeaderMap, HeaderName, HeaderValue, Uri};

use super::answer;
use super::sink::OtlpSettings;
use crate::push::Refusal;

/// Time limit of a call, including connecting.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The method.
const PATH: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
/// The message if the other side does not answer with HTTP/2 frames.
const NO_GRPC: &str = "the collector does not speak gRPC on this port; OTLP over HTTP has another one, commonly 4318, \
                       and K6_OTEL_EXPORTER_PROTOCOL=http/protobuf";
/// Statuses after which the OTLP specification requires a retry.
const TRANSIENT: [Code; 7] = [
    Code::Cancelled,
    Code::DeadlineExceeded,
    Code::ResourceExhausted,
    Code::Aborted,
    Code::OutOfRange,
    Code::Unavailable,
    Code::DataLoss,
];

/// A client for one collector.
pub(super) struct Grpc {
    runtime: Runtime,
    channel: Channel,
    headers: Vec<(String, String)>,
}

impl Grpc {
    /// A client; it connects on first use.
    ///
    /// # Errors
    /// An invalid certificate, or an address that cannot be parsed.
    pub(super) fn new(settings: &OtlpSettings) -> Result<Grpc, String> {
        let unreadable = || "the address of the collector cannot be read".to_owned();
        let uri: Uri = settings.url.parse().map_err(|_| unreadable())?;
        let connector = Connector::new(&uri, settings)?;
        // The connector does TLS: an https address would be refused without tonic's own TLS.
        let endpoint = Endpoint::from_shared(format!("http://{}", connector.address))
            .map_err(|_| unreadable())?
            .origin(uri)
            .user_agent(concat!("loadline/", env!("CARGO_PKG_VERSION")))
            .map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let channel = {
            let _entered = runtime.enter();
            endpoint.connect_with_connector_lazy(tower::service_fn(move |_: Uri| {
                connector.clone().connect()
            }))
        };
        Ok(Grpc {
            runtime,
            channel,
            headers: settings.headers.clone(),
        })
    }

    /// Calls the method.
    ///
    /// # Errors
    /// The request was not accepted, or only in part.
    pub(super) fn post(&mut self, message: &[u8]) -> Result<(), Refusal> {
        let mut request = Request::new(Bytes::copy_from_slice(message));
        *request.metadata_mut() = self.metadata()?;
        let service = ServiceExt::<http::Request<Body>>::map_result(self.channel.clone(), of_grpc);
        let mut client = tonic::client::Grpc::new(service);
        let answered = self.runtime.block_on(async {
            // This lets the client notice a connection that was closed while idle.
            tokio::task::yield_now().await;
            let call = async {
                client.ready().await.map_err(Status::from_error)?;
                let path = PathAndQuery::from_static(PATH);
                client.unary(request, path, Plain).await
            };
            tokio::time::timeout(TIMEOUT, call).await
        });
        match answered {
            Ok(Ok(answer)) => answer::taken(answer.get_ref()),
            Ok(Err(status)) => Err(refusal(&status)),
            Err(_) => Err(later("the collector did not answer in time".to_owned())),
        }
    }

    fn metadata(&self) -> Result<MetadataMap, Refusal> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let read = (
                name.to_ascii_lowercase().parse::<HeaderName>(),
                HeaderValue::from_str(value),
            );
            let (Ok(name), Ok(value)) = read else {
                let why = "a header of the settings cannot be sent";
                return Err(Refusal::Never(why.to_owned()));
            };
            headers.append(name, value);
        }
        Ok(MetadataMap::from_headers(headers))
    }
}

/// A response with only an HTTP status is an error of something in between, which may be temporary.
fn of_grpc<B>(
    answered: Result<http::Response<B>, transport::Error>,
) -> Result<http::Response<B>, BoxError> {
    let answer = answered?;
    match answer.status() {
        status if status.is_success() => Ok(answer),
        status => Err(format!("the collector answered {}", status.as_u16()).into()),
    }
}

fn later(why: String) -> Refusal {
    Refusal::NotNow { why, wait: None }
}

fn refusal(status: &Status) -> Refusal {
    let mut cause = status.source();
    while let Some(deeper) = cause.and_then(Error::source) {
        cause = Some(deeper);
    }
    if let Some(cause) = cause {
        let h2 = cause.downcast_ref::<h2::Error>();
        return later(match h2.and_then(h2::Error::reason) {
            Some(h2::Reason::FRAME_SIZE_ERROR) => NO_GRPC.to_owned(),
            _ => cause.to_string(),
        });
    }
    let why = format!(
        "the collector answered with status {} of gRPC: {}",
        status.code() as i32,
        shown(status.message())
    );
    match TRANSIENT.contains(&status.code()) {
        true => later(why),
        false => Refusal::Never(why),
    }
}

/// How to connect to the collector.
#[derive(Clone)]
struct Connector {
    address: String,
    /// `None`: plain text.
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Connector {
    fn new(uri: &Uri, settings: &OtlpSettings) -> Result<Connector, String> {
        let host = uri.host().unwrap_or_default().to_owned();
        let is_clear = uri.scheme_str() == Some("http");
        let port = uri.port_u16().unwrap_or(if is_clear { 80 } else { 443 });
        let address = format!("{host}:{port}");
        if is_clear {
            return Ok(Connector { address, tls: None });
        }
        let mut config = Tls::new(&settings.tls)?.client_config();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let bare = host.trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(bare)
            .map_err(|_| format!("{host} cannot be the name of a server"))?;
        let tls = Some((TlsConnector::from(Arc::new(config)), name));
        Ok(Connector { address, tls })
    }

    async fn connect(self) -> io::Result<TokioIo<Box<dyn Stream>>> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(TokioIo::new(match self.tls {
            None => Box::new(stream),
            Some((tls, name)) => Box::new(tls.connect(name, stream).await?),
        }))
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Passes messages through unchanged: they are encoded and decoded elsewhere.
#[derive(Clone, Copy)]
struct Plain;

impl Codec for Plain {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Plain;
    type Decoder = Plain;

    fn encoder(&mut self) -> Plain {
        Plain
    }

    fn decoder(&mut self) -> Plain {
        Plain
    }
}

impl Encoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(message);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}
