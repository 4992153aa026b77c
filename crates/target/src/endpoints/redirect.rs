//! Redirects and cookies.
//!
//! They must not know connections. Invariant: a chain of redirects is finite and ends at `/get`.

use super::generate::count;
use crate::reply::Reply;
use crate::request::{Request, percent_decode};
use http::StatusCode;
use serde_json::{Map, Value, json};

/// The longest chain.
const REDIRECTS_MAX: u64 = 100;

/// How a redirect names its goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// By its path.
    Relative,
    /// By its whole URL.
    Absolute,
}

impl Style {
    /// Absolute with `absolute=true`, else relative.
    pub(super) fn of_query(request: &Request) -> Self {
        match request.query("absolute") {
            Some("true" | "1") => Self::Absolute,
            _ => Self::Relative,
        }
    }
}

/// The next step of a chain of `n` redirects.
pub(super) fn count_down(n: &str, style: Style, request: &Request) -> Reply {
    let left = match count(n, REDIRECTS_MAX) {
        Ok(left @ 1..) => left - 1,
        _ => return Reply::bad_request(format!("invalid redirect count: {n:?}")),
    };
    let path = match (left, style) {
        (0, _) => "/get".to_owned(),
        (left, Style::Relative) => format!("/relative-redirect/{left}"),
        (left, Style::Absolute) => format!("/absolute-redirect/{left}"),
    };
    found(&match style {
        Style::Relative => path,
        Style::Absolute => request.base_url() + &path,
    })
}

/// A redirect to wherever the query says.
pub(super) fn to(request: &Request) -> Reply {
    let Some(url) = request.query("url") else {
        return Reply::bad_request("missing required query parameter: url");
    };
    let status = match request.query_or("status_code", 302_u16) {
        Ok(code @ 300..=399) => StatusCode::from_u16(code).unwrap_or(StatusCode::FOUND),
        _ => return Reply::bad_request("invalid status_code: use 300 to 399"),
    };
    let mut reply = found(url);
    reply.status = status;
    if reply.headers.is_empty() {
        return Reply::bad_request(format!("invalid url: {url:?}"));
    }
    reply
}

/// The request's cookies.
pub(super) fn cookies(request: &Request) -> Reply {
    let cookies = request
        .cookies()
        .into_iter()
        .map(|(name, value)| (name, Value::String(value)));
    let cookies: Map<String, Value> = cookies.collect();
    Reply::json(StatusCode::OK, &json!({"cookies": cookies}))
}

/// Sets the cookies of the query, or the one of the path.
pub(super) fn set_cookies(request: &Request, segments: &[&str]) -> Reply {
    let mut reply = found("/cookies");
    if let [name, value] = segments {
        let (name, value) = (percent_decode(name), percent_decode(value));
        reply = reply.with("set-cookie", format!("{name}={value}; Path=/; HttpOnly"));
    }
    for (name, value) in &request.query {
        reply = reply.with("set-cookie", format!("{name}={value}; Path=/; HttpOnly"));
    }
    reply
}

/// Deletes the cookies of the query.
pub(super) fn delete_cookies(request: &Request) -> Reply {
    request
        .query
        .iter()
        .fold(found("/cookies"), |reply, (name, _)| {
            reply.with(
                "set-cookie",
                format!(
                    "{name}=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=0; HttpOnly"
                ),
            )
        })
}

fn found(location: &str) -> Reply {
    Reply::new(StatusCode::FOUND).with("location", location)
}
