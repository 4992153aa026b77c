//! Endpoints that show the request.
//!
//! They must not know connections. Invariant: fields and their order are go-httpbin's; header and query
//! values are always lists.

use crate::reply::{Coding, Reply, ReplyBody, is_framing, pretty};
use crate::request::{Request, multimap, parse_query, title_case};
use base64::Engine as _;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::{Map, Value, json};

/// Maximum parts of a multipart body that are shown separately.
const PARTS_MAX: usize = 1_000;

/// The request without its body.
pub(super) fn without_body(request: &Request) -> Reply {
    Reply::json(StatusCode::OK, &Value::Object(shown(request)))
}

/// The request with its body, also as form and JSON where it is that.
pub(super) fn with_body(request: &Request) -> Reply {
    let kind = request.header(CONTENT_TYPE).unwrap_or_default();
    let essence = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let mut value = shown(request);
    let mut files = json!({});
    let mut form = json!({});
    let mut parsed = Value::Null;
    match essence.as_str() {
        "application/x-www-form-urlencoded" => {
            let text = String::from_utf8_lossy(&request.body);
            form = multimap(parse_query(&text).into_iter());
        }
        "multipart/form-data" => {
            let parts = parts(&request.body, kind);
            let (filed, plain): (Vec<MultipartPart>, Vec<MultipartPart>) =
                parts.into_iter().partition(|p| p.is_file);
            files = multimap(filed.into_iter().map(|part| (part.name, part.content)));
            form = multimap(plain.into_iter().map(|part| (part.name, part.content)));
        }
        "application/json" => {
            parsed = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
        }
        _ => {}
    }
    value.insert(
        "data".to_owned(),
        Value::String(data(&request.body, &essence)),
    );
    value.insert("files".to_owned(), files);
    value.insert("form".to_owned(), form);
    value.insert("json".to_owned(), parsed);
    Reply::json(StatusCode::OK, &Value::Object(value))
}

/// The request with a mark that names the coding, coded.
pub(super) fn coded(request: &Request, mark: &str, coding: Coding) -> Reply {
    let mut value = shown(request);
    value.insert(mark.to_owned(), Value::Bool(true));
    Reply::json(StatusCode::OK, &Value::Object(value)).coded(coding)
}

/// The request's headers.
pub(super) fn headers(request: &Request) -> Reply {
    Reply::json(StatusCode::OK, &json!({"headers": request.headers_json()}))
}

/// One field.
pub(super) fn field(name: &str, value: &str) -> Reply {
    Reply::json(StatusCode::OK, &json!({name: value}))
}

/// The client's name.
pub(super) fn user_agent(request: &Request) -> Reply {
    field("user-agent", request.header(USER_AGENT).unwrap_or_default())
}

/// An answer that carries the query as headers.
pub(super) fn response_headers(request: &Request) -> Reply {
    let mut reply = Reply::json(StatusCode::OK, &Value::Null);
    let overrides_type = request
        .query
        .iter()
        .any(|(k, _)| k.eq_ignore_ascii_case("content-type"));
    if overrides_type {
        reply.headers.remove(CONTENT_TYPE);
    }
    for (name, value) in &request.query {
        let (Ok(header), Ok(content)) = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(value),
        ) else {
            return Reply::bad_request(format!("{name:?} cannot be a header"));
        };
        if is_framing(&header) {
            return Reply::bad_request(format!("{name:?} belongs to the connection"));
        }
        reply.headers.append(header, content);
    }
    let shown = reply.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (title_case(name.as_str()), value)
    });
    let body = pretty(&multimap(shown));
    reply.body = ReplyBody::Full(body.into());
    reply
}

fn shown(request: &Request) -> Map<String, Value> {
    let fields = [
        ("args", request.args_json()),
        ("headers", request.headers_json()),
        ("method", Value::String(request.method.to_string())),
        ("origin", Value::String(request.origin())),
        ("url", Value::String(request.url())),
    ];
    fields
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// The body as text, or as a data URL where it is not text.
fn data(body: &Bytes, essence: &str) -> String {
    match std::str::from_utf8(body) {
        Ok(text) if essence != "application/octet-stream" || text.is_empty() => text.to_owned(),
        _ => {
            let kind = if essence.is_empty() {
                "application/octet-stream"
            } else {
                essence
            };
            let coded = base64::engine::general_purpose::STANDARD.encode(body);
            format!("data:{kind};base64,{coded}")
        }
    }
}

/// One part of a multipart body.
#[derive(Debug, PartialEq, Eq)]
struct MultipartPart {
    name: String,
    content: String,
    is_file: bool,
}

/// The parts of a multipart body (RFC 7578); what is malformed is left out.
fn parts(body: &[u8], kind: &str) -> Vec<MultipartPart> {
    let Some(boundary) = parameter(kind, "boundary") else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(body);
    let delimiter = format!("--{boundary}");
    text.split(delimiter.as_str())
        .skip(1)
        .take(PARTS_MAX)
        .filter_map(|part| part.strip_prefix("\r\n"))
        .filter_map(|part| part.split_once("\r\n\r\n"))
        .filter_map(|(head, content)| {
            let disposition = head.lines().find(|line| {
                line.to_ascii_lowercase()
                    .starts_with("content-disposition:")
            })?;
            Some(MultipartPart {
                name: parameter(disposition, "name")?,
                content: content.strip_suffix("\r\n").unwrap_or(content).to_owned(),
                is_file: parameter(disposition, "filename").is_some(),
            })
        })
        .collect()
}

/// The value of `name=value` or `name="value"` in a header.
fn parameter(header: &str, name: &str) -> Option<String> {
    header.split(';').skip(1).find_map(|field| {
        let (key, value) = field.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().trim_matches('"').to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipart_bodies_are_taken_apart() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\
                    Content-Type: text/plain\r\n\r\nline\r\n\r\n--b\r\n\
                    content-disposition: form-data; name=k\r\n\r\nv\r\n--b--\r\n";
        let parts = parts(body.as_bytes(), "multipart/form-data; boundary=b");
        let part = |name: &str, content: &str, is_file| MultipartPart {
            name: name.to_owned(),
            content: content.to_owned(),
            is_file,
        };
        assert_eq!(parts, [part("f", "line\r\n", true), part("k", "v", false)]);
    }

    #[test]
    fn binary_bodies_become_data_urls() {
        assert_eq!(data(&Bytes::from_static(b"hello"), "text/plain"), "hello");
        let url = "data:application/octet-stream;base64,/w==";
        assert_eq!(data(&Bytes::from_static(b"\xff"), ""), url);
    }
}
