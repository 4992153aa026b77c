//! Requests prepared before the run: as bytes if nothing varies, otherwise with placeholders.
//!
//! Must not know connections. Invariant: what [`PreparedRequest::new`] accepts can be sent; a header into which
//! a template inserts a line end is refused when rendered, not sent.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use loadline_model::ClientPlan;
use loadline_model::request::{BodySource, HeaderTemplate, RequestTemplate};
use loadline_model::template::{Filling, Template};
use loadline_model::url::{Scheme, encode_target};
use loadline_wire::{RequestHead, RequestKind, RequestTarget};

use crate::client::{Body, Http2Body, Http2Message, http2_head};
use crate::net::{KnownRoute, Via};

/// Why a request could not be rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenderError(pub(crate) String);

/// The source of the bytes after the head.
#[derive(Clone, Debug)]
pub(crate) enum PreparedBody {
    /// Part of the message, or absent.
    Inline,
    /// Sent in chunks from memory.
    Chunks(Arc<[u8]>),
    /// Sent in chunks from a file that is read again.
    ChunkedFile(PathBuf),
}

/// A request prepared for one route.
pub(crate) struct PreparedRequest {
    pub(crate) template: RequestTemplate,
    pub(crate) route: Rc<KnownRoute>,
    pub(crate) kind: RequestKind,
    /// Tried again on a new connection when a kept one turns out to be closed (RFC 9110 section
    /// 9.2.2).
    pub(crate) idempotent: bool,
    /// Whether every connection ends after its request.
    close: bool,
    proxy_authorization: Option<String>,
    streamed: PreparedBody,
    fixed: Option<Box<[u8]>>,
    fixed_http2: OnceCell<Http2Message>,
    /// Its row among several requests; `None`: it is the only one.
    pub(crate) row: Option<RequestRow>,
}

/// The row of one of several requests in the measurements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRow(pub(crate) Option<usize>);

impl PreparedBody {
    /// What is sent after the head.
    #[inline]
    pub(crate) fn behind_head(&self) -> Body<'_> {
        match self {
            PreparedBody::Inline => Body::Bytes(&[]),
            PreparedBody::Chunks(bytes) => Body::Chunks(bytes),
            PreparedBody::ChunkedFile(path) => Body::ChunkedFile(path),
        }
    }
}

impl PreparedRequest {
    /// Prepares a request.
    ///
    /// # Errors
    /// It has no placeholders and cannot be sent as it is.
    pub(crate) fn new(
        template: RequestTemplate,
        route: Rc<KnownRoute>,
        client: &ClientPlan,
    ) -> Result<PreparedRequest, RenderError> {
        let idempotent = matches!(
            template.method.as_str(),
            "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE"
        );
        let kind = RequestKind::of(&template.method);
        let proxy_authorization = client
            .proxy_authorization()
            .filter(|_| route.route.via == Via::PlainProxy)
            .map(str::to_owned);
        let streamed = match &template.body {
            BodySource::StreamBytes { bytes, .. } => PreparedBody::Chunks(Arc::clone(bytes)),
            BodySource::StreamFile { path } => PreparedBody::ChunkedFile(path.clone()),
            _ => PreparedBody::Inline,
        };
        let mut request = PreparedRequest {
            template,
            route,
            kind,
            idempotent,
            close: !client.keep_alive,
            proxy_authorization,
            streamed,
            fixed: None,
            fixed_http2: OnceCell::new(),
            row: None,
        };
        if request.is_literal() {
            let mut never = || 0;
            let mut filling = Filling {
                counter: 0,
                vu: 0,
                unix_ms: 0,
                random: &mut never,
            };
            let mut bytes = Vec::new();
            request.render(&mut filling, None, &mut bytes)?;
            request.fixed = Some(bytes.into_boxed_slice());
        }
        Ok(request)
    }

    /// Method and URL for messages, placeholders not filled in.
    pub(crate) fn label(&self) -> String {
        format!(
            "{} {}{}",
            self.template.method,
            self.template.origin,
            self.template.target.source()
        )
    }

    /// The bytes to send if nothing in them varies.
    #[inline]
    pub(crate) fn fixed(&self) -> Option<&[u8]> {
        self.fixed.as_deref()
    }

    /// The message for HTTP/2.
    ///
    /// # Errors
    /// A placeholder was filled with something that is not allowed there.
    pub(crate) fn http2_message(
        &self,
        filling: &mut Filling<'_>,
        cookies: Option<&str>,
    ) -> Result<Http2Message, RenderError> {
        if let (Some(message), None) = (self.fixed_http2.get(), cookies) {
            return Ok(message.clone());
        }
        let message = self.render_http2(filling, cookies)?;
        if self.fixed.is_some() && cookies.is_none() {
            // Another virtual user may have been first; both made the same message.
            drop(self.fixed_http2.set(message.clone()));
        }
        Ok(message)
    }

    fn render_http2(
        &self,
        filling: &mut Filling<'_>,
        cookies: Option<&str>,
    ) -> Result<Http2Message, RenderError> {
        let target = self.render_target(filling)?;
        let mut authority = self.template.origin.authority();
        let mut fields = Vec::new();
        for HeaderTemplate { name, value } in &self.template.headers {
            let mut text = Vec::new();
            value.render(filling, &mut text);
            if name.eq_ignore_ascii_case("host") {
                authority = String::from_utf8_lossy(&text).into_owned();
            } else {
                fields.push((name.as_str(), text));
            }
        }
        if let Some(cookies) = cookies {
            fields.push(("cookie", cookies.as_bytes().to_vec()));
        }
        let body = match &self.template.body {
            BodySource::StreamFile { path } => Http2Body::File(path.clone()),
            BodySource::StreamBytes { bytes, .. } => {
                Http2Body::Bytes(Bytes::from_owner(Arc::clone(bytes)))
            }
            _ => self.render_body(filling).map_or(Http2Body::None, |body| {
                Http2Body::Bytes(body.into_owned().into())
            }),
        };
        let uri = format!(
            "{}://{authority}{target}",
            self.template.origin.scheme.name()
        );
        let fields = fields.iter().map(|(name, value)| (*name, value.as_slice()));
        let head = http2_head(&self.template.method, &uri, fields)
            .map_err(|why| RenderError(format!("{}: {why}", self.label())))?;
        Ok(Http2Message { head, body })
    }

    /// The source of the bytes after the message.
    #[inline]
    pub(crate) fn body(&self) -> &PreparedBody {
        &self.streamed
    }

    pub(crate) fn has_streamed_body(&self) -> bool {
        matches!(
            self.template.body,
            BodySource::StreamBytes { .. } | BodySource::StreamFile { .. }
        )
    }

    fn is_literal(&self) -> bool {
        let literal = |template: &Template| template.as_literal().is_some();
        literal(&self.template.target)
            && self
                .template
                .headers
                .iter()
                .all(|header| literal(&header.value))
            && match &self.template.body {
                BodySource::Template { template } => literal(template),
                _ => true,
            }
    }

    fn has_header(&self, name: &str) -> bool {
        self.template
            .headers
            .iter()
            .any(|header| header.name.eq_ignore_ascii_case(name))
    }

    /// Fills the placeholders into `buffer`: the head, and the body if it is in memory.
    ///
    /// # Errors
    /// A placeholder was filled with something that is not allowed there.
    pub(crate) fn render(
        &self,
        filling: &mut Filling<'_>,
        cookies: Option<&str>,
        buffer: &mut Vec<u8>,
    ) -> Result<(), RenderError> {
        let target = self.render_target(filling)?;
        let body = self.render_body(filling);
        buffer.clear();
        let form = match self.via() {
            Via::PlainProxy => RequestTarget::Absolute(&target),
            _ if target == "*" => RequestTarget::Asterisk,
            _ => RequestTarget::Origin(&target),
        };
        let mut head = RequestHead::reusing(std::mem::take(buffer), &self.template.method, form);
        if !self.has_header("host") {
            head = head.host(&self.template.origin.authority());
        }
        for HeaderTemplate { name, value } in &self.template.headers {
            let mut text = Vec::new();
            value.render(filling, &mut text);
            head = head.header(name, &text);
        }
        head = self.add_framing(head, body.as_deref(), cookies);
        *buffer = head
            .finish()
            .map_err(|error| RenderError(format!("{}: {error}", self.label())))?;
        if let Some(body) = body {
            buffer.extend_from_slice(&body);
        }
        Ok(())
    }

    fn add_framing(
        &self,
        mut head: RequestHead,
        body: Option<&[u8]>,
        cookies: Option<&str>,
    ) -> RequestHead {
        if let Some(cookies) = cookies {
            head = head.header("Cookie", cookies);
        }
        if let Some(credentials) = &self.proxy_authorization {
            head = head.header("Proxy-Authorization", credentials);
        }
        if self.close && !self.has_header("connection") {
            head = head.header("Connection", "close");
        }
        if self.has_streamed_body() {
            return match self.has_header("transfer-encoding") {
                true => head,
                false => head.chunked(),
            };
        }
        let expects_body = matches!(self.template.method.as_str(), "POST" | "PUT" | "PATCH");
        match body {
            Some(body) if !self.has_header("content-length") => {
                head.content_length(body.len() as u64)
            }
            None if expects_body && !self.has_header("content-length") => head.content_length(0),
            _ => head,
        }
    }

    fn via(&self) -> Via {
        self.route.route.via
    }

    /// The request target: path and query, or the whole URL for a proxy.
    pub(crate) fn render_target(&self, filling: &mut Filling<'_>) -> Result<String, RenderError> {
        let mut bytes = Vec::new();
        if self.via() == Via::PlainProxy && self.template.origin.scheme == Scheme::Http {
            bytes.extend_from_slice(self.template.origin.to_string().as_bytes());
        }
        // Literal text was encoded by its author, in whatever way; placeholders may insert anything.
        if let Some(text) = self.template.target.as_literal() {
            bytes.extend_from_slice(text.as_bytes());
            return String::from_utf8(bytes)
                .map_err(|_| RenderError(format!("{}: its target is not text", self.label())));
        }
        self.template.target.render(filling, &mut bytes);
        Ok(encode_target(&bytes))
    }

    /// The body in memory; `None` if there is none or it is streamed.
    pub(crate) fn render_body(&self, filling: &mut Filling<'_>) -> Option<Cow<'_, [u8]>> {
        match &self.template.body {
            BodySource::Bytes { bytes, .. } => Some(Cow::Borrowed(bytes)),
            BodySource::Template { template } => {
                let mut bytes = Vec::new();
                template.render(filling, &mut bytes);
                Some(Cow::Owned(bytes))
            }
            _ => None,
        }
    }
}
