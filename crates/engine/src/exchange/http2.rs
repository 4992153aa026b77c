//! HTTP/2 connections, shared by virtual users; the protocol itself is the `h2` crate's.
//!
//! Must not know who shares a connection. Invariant: a stream that is given up is reset, and its
//! window is given back.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::future::poll_fn;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;

use bytes::Bytes;
use h2::client::SendRequest;
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use loadline_model::{ErrorClass, Nanos};

use super::AnswerReceiver;
use super::prepared::{Http2Body, Http2Message};
use crate::client::{Around, Broken, Instants, Receiver, Stop, StopSign, Wish};
use crate::net::{Failure, Stage, Stream};

/// Bytes that a peer may send on one stream before it has to wait: no benchmark should measure
/// our window updates.
const STREAM_WINDOW: u32 = 1 << 24;
/// The same for a whole connection.
const CONNECTION_WINDOW: u32 = 1 << 30;
/// Bytes of a body that need not wait for the peer's windows but are left to the connection, which
/// then writes them together with the head: well below what any peer opens with (RFC 9113 section
/// 6.9.2), so that the time of sending stays true.
const LEFT_TO_CONNECTION_MAX: usize = 16 << 10;
/// Bytes of a streamed file that are read at a time.
const FILE_PIECE: usize = 64 * 1024;

/// One connection; clones share it.
#[derive(Clone)]
pub(crate) struct Http2Connection {
    sender: SendRequest<Bytes>,
    pub(crate) address: Option<SocketAddr>,
    /// Why the connection ended; `None` while it lives.
    ended: Rc<RefCell<Option<String>>>,
    requests: Rc<Cell<u64>>,
}

/// Speaks HTTP/2 on a stream.
pub(crate) async fn open_http2(
    stream: Stream,
    address: Option<SocketAddr>,
) -> Result<Http2Connection, Failure> {
    let (sender, connection) = h2::client::Builder::new()
        .initial_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .enable_push(false)
        .handshake::<_, Bytes>(stream)
        .await
        .map_err(|error| failure_of(&error).at(address))?;
    let ended = Rc::new(RefCell::new(None));
    let note = Rc::clone(&ended);
    tokio::task::spawn_local(async move {
        let outcome = connection.await;
        *note.borrow_mut() = Some(match outcome {
            Ok(()) => "the peer closed the connection".to_owned(),
            Err(error) => error.to_string(),
        });
    });
    Ok(Http2Connection {
        sender,
        address,
        ended,
        requests: Rc::new(Cell::new(0)),
    })
}

impl Http2Connection {
    /// Whether another request may be sent on it.
    pub(crate) fn is_usable(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// Requests sent on it so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.get()
    }

    /// Waits for a free stream; gives whether it had to.
    ///
    /// # Errors
    /// When the connection has ended, or a stop came first.
    pub(crate) async fn reserve(
        &mut self,
        around: &Around<'_, impl StopSign>,
    ) -> Result<bool, Broken> {
        let mut waited = false;
        let ready = poll_fn(|cx| {
            around.stop.check(cx)?;
            let ready = self.sender.poll_ready(cx).map(Ok::<_, Stop>);
            waited |= ready.is_pending();
            ready
        });
        ready
            .await?
            .map_err(|error| failure_of(&error).at(self.address))?;
        self.requests.set(self.requests.get() + 1);
        Ok(waited)
    }

    /// Sends a request on the stream that was reserved and reads its answer.
    pub(crate) async fn exchange(
        &mut self,
        around: &Around<'_, impl StopSign>,
        message: Http2Message,
        receiver: &mut AnswerReceiver<'_>,
    ) -> Result<Instants, Broken> {
        let address = self.address;
        let at = |error: h2::Error| failure_of(&error).at(address);
        let bodiless = matches!(message.body, Http2Body::None);
        let mut sent_bytes = head_bytes(&message.head);
        let (response, stream) = self
            .sender
            .send_request(message.head, bodiless)
            .map_err(at)?;
        match message.body {
            Http2Body::None => {}
            Http2Body::Bytes(body) => {
                sent_bytes += body.len() as u64;
                around
                    .stop
                    .guard(send_piece(stream, body, true))
                    .await?
                    .map_err(at)?;
            }
            Http2Body::File(path) => {
                sent_bytes += around
                    .stop
                    .guard(send_file(stream, &path))
                    .await?
                    .map_err(|f| f.at(address))?;
            }
        }
        let sent = around.clock.now();
        let response = around.stop.guard(response).await?.map_err(at)?;
        let first_byte = around.clock.now();
        let (head, body) = response.into_parts();
        let AnswerReceiver { answer, wants, .. } = receiver;
        answer.status = head.status.as_u16();
        if let Some(value) = head.headers.get(http::header::CONTENT_TYPE) {
            answer.set_content_type(value.as_bytes());
        }
        if wants.any_field() || answer.sampled {
            for (name, value) in &head.headers {
                answer.take_field(wants, name.as_str().as_bytes(), value.as_bytes());
            }
        }
        around
            .stop
            .guard(read_body(body, receiver))
            .await?
            .map_err(at)?;
        let done = if receiver.answer.body_bytes == 0 {
            first_byte
        } else {
            around.clock.now()
        };
        Ok(Instants {
            sent,
            first_byte,
            done: done.max(first_byte).max(Nanos(1)),
            sent_bytes,
        })
    }
}

/// Sends a piece of a body as the windows allow, and gives the stream back; `last`: the body ends with it.
pub(crate) async fn send_piece(
    mut stream: SendStream<Bytes>,
    mut body: Bytes,
    last: bool,
) -> Result<SendStream<Bytes>, h2::Error> {
    if body.len() <= LEFT_TO_CONNECTION_MAX {
        if last || !body.is_empty() {
            stream.send_data(body, last)?;
        }
        return Ok(stream);
    }
    while !body.is_empty() {
        stream.reserve_capacity(body.len());
        let room = match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(room) => room?,
            None => return Err(Reason::STREAM_CLOSED.into()),
        };
        let piece = body.split_to(room.min(body.len()));
        let end = last && body.is_empty();
        stream.send_data(piece, end)?;
    }
    Ok(stream)
}

/// Bytes of the fields of a head before they are packed, the pseudo-header fields among them.
pub(crate) fn head_bytes(head: &Request<()>) -> u64 {
    const PSEUDO_NAMES: usize = ":method:scheme:authority:path".len();
    let uri = head.uri();
    let pseudo = PSEUDO_NAMES
        + head.method().as_str().len()
        + uri.scheme_str().map_or(0, str::len)
        + uri
            .authority()
            .map_or(0, |authority| authority.as_str().len())
        + uri.path_and_query().map_or(1, |path| path.as_str().len());
    let fields = head.headers().iter();
    let fields = fields.map(|(name, value)| name.as_str().len() + value.len());
    (pseudo + fields.sum::<usize>()) as u64
}

/// Gives how many bytes were sent.
async fn send_file(mut stream: SendStream<Bytes>, path: &Path) -> Result<u64, Failure> {
    let unreadable = |error: io::Error| {
        Failure::new(
            ErrorClass::Request,
            format!("body file {}: {error}", path.display()),
        )
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut sent = 0;
    loop {
        let mut piece = vec![0_u8; FILE_PIECE];
        let length = file.read(&mut piece).map_err(unreadable)?;
        if length == 0 {
            break;
        }
        piece.truncate(length);
        sent += length as u64;
        stream = send_piece(stream, piece.into(), false)
            .await
            .map_err(|error| failure_of(&error))?;
    }
    stream
        .send_data(Bytes::new(), true)
        .map_err(|error| failure_of(&error))?;
    Ok(sent)
}

async fn read_body(
    mut body: RecvStream,
    receiver: &mut AnswerReceiver<'_>,
) -> Result<(), h2::Error> {
    while let Some(piece) = body.data().await {
        let piece = piece?;
        receiver.answer.take_body(receiver.wants, &piece);
        body.flow_control().release_capacity(piece.len())?;
        if receiver.wish().is_ok_and(|wish| wish == Wish::Enough) {
            break;
        }
    }
    Ok(())
}

/// A request head for HTTP/2: the fields that belong to HTTP/1.1's framing are left out (RFC 9113
/// section 8.2.2).
pub(crate) fn http2_head(
    method: &str,
    uri: &str,
    fields: impl Iterator<Item = (String, Vec<u8>)>,
) -> Result<Request<()>, String> {
    let mut request = Request::new(());
    *request.version_mut() = http::Version::HTTP_2;
    *request.method_mut() =
        Method::from_bytes(method.as_bytes()).map_err(|_| format!("method {method:?}"))?;
    *request.uri_mut() = uri
        .parse::<Uri>()
        .map_err(|error| format!("{uri:?}: {error}"))?;
    for (name, value) in fields {
        let name = name.to_ascii_lowercase();
        if matches!(
            name.as_str(),
            "connection" | "keep-alive" | "transfer-encoding" | "upgrade" | "proxy-connection"
        ) {
            continue;
        }
        let field =
            HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("header name {name:?}"))?;
        let value = HeaderValue::from_bytes(&value).map_err(|_| format!("value of {name}"))?;
        request.headers_mut().append(field, value);
    }
    Ok(request)
}

fn failure_of(error: &h2::Error) -> Failure {
    if let Some(io) = error.get_io() {
        let mut failure = Failure::io(Stage::Reading, io);
        if failure.class == ErrorClass::Io {
            failure.class = ErrorClass::Http2;
        }
        return failure;
    }
    Failure::new(ErrorClass::Http2, error.to_string())
}
