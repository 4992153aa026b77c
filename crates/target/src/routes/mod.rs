//! Routes from a file: matching a request, and its response.
//!
//! It must not know the built-in endpoints beyond what it shares with them. Invariant: a parsed route cannot
//! fail; a part that a request lacks is empty text.

mod file;
mod template;

use crate::error::TargetError;
use crate::random::{Dice, RandomDuration};
use crate::reply::{Coding, Reply, ReplyBody};
use crate::request::{Request, percent_decode};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use template::{Parts, Template};

pub use file::RouteFileError;

/// All routes, in the order of the file; the first that matches answers.
#[derive(Debug, Default)]
pub(crate) struct RouteTable(Vec<Route>);

/// One route.
#[derive(Debug)]
pub(crate) struct Route {
    /// `None` takes every method.
    method: Option<Method>,
    pattern: String,
    segments: Vec<Segment>,
    status: StatusCode,
    headers: Vec<(HeaderName, Template)>,
    body: RouteBody,
    coding: Coding,
    delay: Option<RandomDuration>,
    served: AtomicU64,
}

/// A segment of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    /// Exactly this text, percent-decoded.
    Text(String),
    /// Any one segment, under a name.
    One(String),
    /// All further segments, at least one, under a name; always the last.
    Rest(String),
}

/// A body, coded ahead where it is always the same.
#[derive(Debug)]
enum RouteBody {
    Ready(Bytes),
    Made(Template),
}

/// A route and what the path gave it.
pub(crate) struct RouteMatch {
    /// Position in the file.
    pub(crate) position: usize,
    captures: Vec<(String, String)>,
}

impl RouteTable {
    /// Reads a routes file.
    ///
    /// # Errors
    /// When the file cannot be read or says something wrong.
    pub(crate) fn read(path: &Path) -> Result<Self, TargetError> {
        let text = std::fs::read_to_string(path).map_err(|e| TargetError::File {
            purpose: "routes file",
            path: path.to_owned(),
            reason: e.to_string(),
        })?;
        Ok(file::parse(path, &text)?)
    }

    /// True when no file was given or it has no routes.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The pattern of the route at that position.
    pub(crate) fn pattern(&self, position: usize) -> Option<&str> {
        self.0.get(position).map(|route| route.pattern.as_str())
    }

    /// The first route that takes the request.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Option<RouteMatch> {
        if self.0.is_empty() {
            return None;
        }
        let path = path.strip_prefix('/')?;
        let segments: Vec<String> = path.split('/').map(percent_decode).collect();
        self.0.iter().enumerate().find_map(|(position, route)| {
            let captures = route.captures(method, &segments)?;
            Some(RouteMatch { position, captures })
        })
    }

    /// The answer of a route that was found, and for how many nanoseconds it is held back; `None`: not at all.
    pub(crate) fn answer(
        &self,
        found: &RouteMatch,
        request: &Request,
        dice: &mut Dice,
    ) -> (Reply, Option<u64>) {
        self.0[found.position].answer(&found.captures, request, dice)
    }
}

impl Route {
    fn captures(&self, method: &Method, segments: &[String]) -> Option<Vec<(String, String)>> {
        let takes = self
            .method
            .as_ref()
            .is_none_or(|own| own == method || (own == Method::GET && method == Method::HEAD));
        if !takes {
            return None;
        }
        let mut captures = Vec::new();
        for (position, pattern) in self.segments.iter().enumerate() {
            let segment = segments.get(position)?;
            match pattern {
                Segment::Text(text) if text == segment => {}
                Segment::Text(_) => return None,
                Segment::One(name) => captures.push((name.clone(), segment.clone())),
                Segment::Rest(name) => {
                    captures.push((name.clone(), segments[position..].join("/")));
                    return Some(captures);
                }
            }
        }
        (segments.len() == self.segments.len()).then_some(captures)
    }

    fn answer(
        &self,
        captures: &[(String, String)],
        request: &Request,
        dice: &mut Dice,
    ) -> (Reply, Option<u64>) {
        let count = self.served.fetch_add(1, Relaxed) + 1;
        let mut parts = Parts::new(request, captures, count, dice);
        let mut reply = Reply::new(self.status);
        for (name, template) in &self.headers {
            // A part of the request may hold what no header can; such a header is left out.
            if let Ok(value) = HeaderValue::from_bytes(template.render(&mut parts).as_bytes()) {
                reply.headers.append(name, value);
            }
        }
        match &self.body {
            RouteBody::Ready(body) => {
                reply.body = ReplyBody::Full(body.clone());
                if let Some(coding) = self.coding.name() {
                    let coding = HeaderValue::from_static(coding);
                    reply.headers.insert(http::header::CONTENT_ENCODING, coding);
                }
            }
            RouteBody::Made(template) => {
                reply.body = ReplyBody::Full(template.render(&mut parts).into());
                reply = reply.coded(self.coding);
            }
        }
        let delay_ns = self.delay.map(|delay| delay.draw_ns(parts.dice));
        (reply, delay_ns)
    }
}
