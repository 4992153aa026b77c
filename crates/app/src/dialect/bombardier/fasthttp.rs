//! Requests in the format of the tool's default client, fasthttp, as observed.
//!
//! Must not know flags. Invariant: a path is only shortened, and leads to the same place.

use loadline_go::url::{Url, decoded_bytes, path_of};
use loadline_model::request::{BodySource, HeaderTemplate};

use super::given::GivenHeaders;
use crate::dialect;
use crate::plan::headers::{self, Headers};

/// The header lines: those known to the client, the user's in the given order, cookies, and the connection
/// header.
pub(super) fn headers(
    method: &str,
    url: &Url,
    mut given: GivenHeaders,
    body: &BodySource,
) -> Vec<HeaderTemplate> {
    let mut lines = Headers::default();
    let agent = given.take("User-Agent").filter(|agent| !agent.is_empty());
    lines.push_text("User-Agent", agent.as_deref().unwrap_or("fasthttp"));
    let host = given.take("Host");
    lines.push_text("Host", &dialect::host_value(host.as_deref(), url));
    let may_have_body = !matches!(method, "GET" | "HEAD");
    let content_type = given.take("Content-Type");
    let default = may_have_body.then(|| "application/octet-stream".to_owned());
    if let Some(content_type) = content_type.or(default) {
        lines.push_text("Content-Type", &content_type);
    }
    dialect::push_framing(&mut lines, body, may_have_body);
    let (cookies, connection) = (given.take("Cookie"), given.take("Connection"));
    if let Some((user, password)) = url.credentials() {
        given.add("Authorization", headers::basic(&user, &password));
    }
    for (name, value) in given.in_order() {
        lines.push_text(&name, &value);
    }
    for (name, value) in [("Cookie", cookies), ("Connection", connection)] {
        if let Some(value) = value {
            lines.push_text(name, &value);
        }
    }
    lines.into_lines()
}

/// Path and query: the path is decoded, stripped of empty segments and dots, and encoded again.
pub(super) fn target(url: &Url) -> String {
    let path = path_of(&shortened(&decoded_bytes(&url.path)));
    match url.query.as_deref() {
        None | Some("") => path,
        Some(query) => format!("{path}?{}", query.replace(' ', "%20")),
    }
}

/// A path without empty segments, `.` and `..`; a dot at its end stays.
fn shortened(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path.split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            b"" if !is_last => {}
            b"." if !is_last => {}
            b".." => {
                kept.pop();
                if is_last {
                    kept.push(b"");
                }
            }
            segment => kept.push(segment),
        }
    }
    let mut out = Vec::with_capacity(path.len() + 1);
    for segment in kept {
        out.push(b'/');
        out.extend_from_slice(segment);
    }
    match out.is_empty() {
        true => b"/".to_vec(),
        false => out,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shortened_and_spelled_anew() {
        for (path, sent) in [
            ("", "/"),
            ("/%7Ea/%2F/%c3%bc", "/~a/%C3%BC"),
            ("/a//b/../c/./d", "/a/c/d"),
            ("/a/../../b/", "/b/"),
            ("/a/..", "/"),
            ("/a/b/../", "/a/"),
            ("/a%00%20%FFb/.", "/a%00%20%FFb/."),
            ("/.../..a/a../b/./", "/.../..a/a../b/"),
            ("/a?", "/a"),
            ("/a?%7E=%2f&b=c d", "/a?%7E=%2f&b=c%20d"),
        ] {
            let url = Url::parse(&format!("http://h{path}")).expect("a URL");
            assert_eq!(target(&url), sent, "{path}");
        }
    }
}
