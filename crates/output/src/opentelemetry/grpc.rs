//! One call of gRPC: the metrics service's `Export`, over HTTP/2.
//!
//! Source: <https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>. Must not know what is in
//! a request. Invariants: a call ends within [`TIMEOUT`]; a connection that failed is made anew for
//! the next call.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use loadline_http::Tls;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use ureq::http::{HeaderMap, Request, Uri};

use super::answer;
use super::sink::OtlpSettings;
use crate::push::Refusal;

/// How long a call may take, connecting included.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The method.
const PATH: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
/// What stands before a message: whether it is packed, and its length.
const PREFIX_BYTES: usize = 5;
/// Bytes of an answer that are kept: it is a number and a sentence.
const ANSWER_MAX: usize = 64 << 10;
/// Statuses after which the specification of OTLP wants a request to be tried again: cancelled,
/// deadline exceeded, resource exhausted, aborted, out of range, unavailable, data loss.
const TRANSIENT: [u32; 7] = [1, 4, 8, 10, 11, 14, 15];

/// A client of one collector.
pub(super) struct Grpc {
    runtime: Runtime,
    address: String,
    uri: Uri,
    headers: Vec<(String, String)>,
    /// `None`: in the clear.
    tls: Option<(TlsConnector, ServerName<'static>)>,
    open: Option<SendRequest<Bytes>>,
}

impl Grpc {
    /// A client; connects when it is first used.
    ///
    /// # Errors
    /// A certificate that cannot be used, or an address that cannot be read.
    pub(super) fn new(settings: &OtlpSettings) -> Result<Grpc, String> {
        let uri: Uri = format!("{}{PATH}", settings.url)
            .parse()
            .map_err(|_| "the address of the collector cannot be read".to_owned())?;
        let host = uri.host().unwrap_or_default().to_owned();
        let is_clear = uri.scheme_str() == Some("http");
        let tls = if is_clear {
            None
        } else {
            let mut config = Tls::new(&settings.tls)?.client_config();
            config.alpn_protocols = vec![b"h2".to_vec()];
            let bare = host.trim_matches(['[', ']']).to_owned();
            let name = ServerName::try_from(bare)
                .map_err(|_| format!("{host} cannot be the name of a server"))?;
            Some((TlsConnector::from(Arc::new(config)), name))
        };
        let port = uri.port_u16().unwrap_or(if is_clear { 80 } else { 443 });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Grpc {
            runtime,
            address: format!("{host}:{port}"),
            uri,
            headers: settings.headers.clone(),
            tls,
            open: None,
        })
    }

    /// Calls the method.
    ///
    /// # Errors
    /// The request was not taken, or not all of it.
    pub(super) fn post(&mut self, message: &[u8]) -> Result<(), Refusal> {
        let (was_open, call) = (self.open.take(), Call { message });
        let (address, tls) = (self.address.clone(), self.tls.clone());
        let request = self.request()?;
        let done = self.runtime.block_on(async {
            tokio::time::timeout(TIMEOUT, async {
                let sender = match was_open {
                    Some(sender) => match sender.ready().await {
                        Ok(sender) => sender,
                        // It was closed while nothing was to be sent.
                        Err(_) => connect(&address, tls).await?,
                    },
                    None => connect(&address, tls).await?,
                };
                call.on(sender, request).await
            })
            .await
        });
        let (sender, outcome) = match done {
            Ok(Ok(done)) => done,
            Ok(Err(error)) => return Err(later(error.to_string())),
            Err(_) => return Err(later("the collector did not answer in time".to_owned())),
        };
        self.open = Some(sender);
        outcome
    }

    fn request(&self) -> Result<Request<()>, Refusal> {
        let mut request = Request::post(self.uri.clone())
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .header(
                "user-agent",
                concat!("loadline/", env!("CARGO_PKG_VERSION")),
            );
        for (name, value) in &self.headers {
            request = request.header(name.to_ascii_lowercase(), value);
        }
        request
            .body(())
            .map_err(|_| Refusal::Never("a header of the settings cannot be sent".to_owned()))
    }
}

fn later(why: String) -> Refusal {
    Refusal::NotNow { why, wait: None }
}

async fn connect(
    address: &str,
    tls: Option<(TlsConnector, ServerName<'static>)>,
) -> io::Result<SendRequest<Bytes>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    match tls {
        None => handshake(stream).await,
        Some((connector, name)) => handshake(connector.connect(name, stream).await?).await,
    }
}

async fn handshake<S>(stream: S) -> io::Result<SendRequest<Bytes>>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = h2::client::handshake(stream)
        .await
        .map_err(io::Error::other)?;
    // It moves while a call is waited for; its error is that of the call.
    drop(tokio::spawn(connection));
    sender.ready().await.map_err(io::Error::other)
}

struct Call<'a> {
    message: &'a [u8],
}

impl Call<'_> {
    async fn on(
        &self,
        mut sender: SendRequest<Bytes>,
        request: Request<()>,
    ) -> io::Result<(SendRequest<Bytes>, Result<(), Refusal>)> {
        let (answer, mut body) = sender
            .send_request(request, false)
            .map_err(io::Error::other)?;
        let mut frame = Vec::with_capacity(PREFIX_BYTES + self.message.len());
        frame.push(0);
        frame.extend((self.message.len() as u32).to_be_bytes());
        frame.extend(self.message);
        body.send_data(frame.into(), true)
            .map_err(io::Error::other)?;
        let outcome = status(answer).await.map_err(io::Error::other)?;
        Ok((sender, outcome))
    }
}

/// What the trailers say; where there is no body they are the head.
async fn status(answer: ResponseFuture) -> Result<Result<(), Refusal>, h2::Error> {
    let (head, mut body) = answer.await?.into_parts();
    if !head.status.is_success() {
        let why = format!("the collector answered {}", head.status.as_u16());
        return Ok(Err(later(why)));
    }
    let mut kept = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk?;
        body.flow_control().release_capacity(chunk.len())?;
        let room = ANSWER_MAX - kept.len();
        kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    let trailers = body.trailers().await?;
    let verdict = verdict(trailers.as_ref().unwrap_or(&head.headers));
    Ok(verdict.and_then(|()| answer::taken(message_of(&kept))))
}

/// The message behind its prefix; nothing where it is packed, which nobody asked for.
fn message_of(frame: &[u8]) -> &[u8] {
    match frame.split_at_checked(PREFIX_BYTES) {
        Some(([0, ..], message)) => message,
        _ => &[],
    }
}

fn verdict(trailers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: &str| {
        let value = trailers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    match text("grpc-status").parse::<u32>() {
        Ok(0) => Ok(()),
        Ok(status) => {
            let why = format!(
                "the collector answered with status {status} of gRPC: {}",
                text("grpc-message")
            );
            Err(if TRANSIENT.contains(&status) {
                later(why)
            } else {
                Refusal::Never(why)
            })
        }
        Err(_) => Err(later("the collector's answer has no status".to_owned())),
    }
}
