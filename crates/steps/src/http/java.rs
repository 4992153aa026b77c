//! Differences of Java's own client from Apache's: bodies, header fields, and refused requests.
//!
//! Must not know sockets. Invariant: refusals are reported in its own words, before anything is sent.

use loadline_java::hash_order;

use super::body::{self, RequestBody};
use super::fields::Fields;
use super::outcome::push_line;
use super::rewriting::Rewrite;
use super::url::Url;
use super::{HttpAnswer, HttpFault, HttpReply, HttpRequestPlan};
use crate::scope::Scope;

/// The `User-Agent` of Java's client.
const USER_AGENT: &str = "Java/17.0.15";

/// Its default `Accept`.
const ACCEPT: &str = "text/html, image/gif, image/jpeg, */*; q=0.2";

/// The supported methods.
const METHODS: [&str; 7] = ["GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"];

/// Bytes of a body as counted by Java's client: without chunked framing. For a body that is also compressed,
/// the size without framing is unknown.
pub(super) fn body_bytes(reply: &HttpReply) -> u64 {
    let is_plain = reply.first_header("content-encoding").is_none();
    match reply.first_header("transfer-encoding") {
        Some(_) if is_plain => reply.body.len() as u64,
        _ => reply.body_bytes,
    }
}

/// Why it cannot send a request.
pub(super) fn fault_of(method: &str, url: &Url) -> Option<HttpFault> {
    if !METHODS.contains(&method) {
        let message = format!("Invalid HTTP method: {method}");
        return Some(fault("java.net.ProtocolException", &message));
    }
    let has_host = !url.host.is_empty();
    (!has_host).then(|| fault("java.io.IOException", "Failed to select a proxy"))
}

/// The body of a request; `None`: it has none. Only POST has forms, and only POST and PUT have bodies.
///
/// # Errors
/// A file cannot be read, or a form is sent with PUT.
pub(super) fn body(
    request: &HttpRequestPlan,
    method: &str,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<Option<RequestBody>, HttpFault> {
    if !matches!(method, "POST" | "PUT") {
        return Ok(None);
    }
    let is_post = method == "POST";
    if let Some(file) = body::body_file(request, scope) {
        let mut body = body::file_as_body(file, scope);
        return match body.fault.take() {
            Some(_) => Err(unreadable(&file.path.evaluate(scope), scope)),
            None => Ok(Some(body)),
        };
    }
    let has_parts = body::has_parts(request, scope);
    let is_of_parts = request.multipart && !body::is_raw(request, scope);
    if (has_parts || is_of_parts) && !is_post {
        let what = "cannot write to a URLConnection if doOutput=false - call setDoOutput(true)";
        return Err(fault("java.net.ProtocolException", what));
    }
    if is_post && (request.multipart || has_parts) {
        for file in &request.files {
            let path = file.path.evaluate(scope).into_owned();
            if scope.host.world().read_file(&path).is_err() {
                return Err(unreadable(&path, scope));
            }
        }
        return body::multipart_of(request, rewrites, scope).map(Some);
    }
    let told = match body::is_raw(request, scope) {
        true => body::values(request, rewrites, scope),
        false if is_post => body::query(request, rewrites, &[], scope),
        false => return Ok(None),
    };
    let charset = body::charset(request, scope)?;
    let bytes = charset.encode(&told).into_owned();
    Ok(Some(RequestBody {
        bytes,
        told,
        ..RequestBody::default()
    }))
}

/// Java's error for a file that cannot be read.
fn unreadable(path: &str, scope: &Scope<'_>) -> HttpFault {
    let why = scope.host.world().read_file(path).err();
    let why = why.map(|fault| fault.why).unwrap_or_default();
    match why.as_str() {
        "No such file or directory" => fault("java.nio.file.NoSuchFileException", path),
        _ => fault("java.io.IOException", &why),
    }
}

fn add_missing(fields: &mut Fields, name: &str, value: &str) {
    if fields.get(name).is_none() {
        fields.add(name, value.to_owned());
    }
}

/// The header fields that JMeter gives the client: the plan's, credentials, and those of a body.
pub(super) fn given(
    own: &Fields,
    credentials: Option<String>,
    body: Option<&RequestBody>,
) -> Fields {
    let mut fields = own.clone();
    if let Some(said) = credentials {
        fields.add("Authorization", said);
    }
    if let Some(body) = body {
        if let Some(content_type) = &body.content_type {
            add_missing(&mut fields, "Content-Type", content_type);
        }
        fields.add("Content-Length", body.bytes.len().to_string());
    }
    fields
}

/// What results tell of the header fields that the client was given, in the order of its map: without a field of the plan's that
/// holds credentials, and with those of an authorization manager behind all.
pub(super) fn told(own: &Fields, given: &Fields) -> String {
    let is_secret = |name: &str| name.eq_ignore_ascii_case("authorization");
    let (mut secret, mut fields): (Vec<_>, Vec<_>) = given
        .without_cookies()
        .into_iter()
        .partition(|(name, _)| is_secret(name));
    if own.get("authorization").is_some() {
        secret.clear();
    }
    fields.reverse();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in &fields {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut lines = String::new();
    for index in hash_order::of_grown(&names) {
        let of_name = fields.iter().filter(|(name, _)| name == names[index]);
        for (name, value) in of_name {
            push_line(&mut lines, name, value);
        }
    }
    for (name, value) in &secret {
        push_line(&mut lines, name, value);
    }
    lines
}

/// The header fields that the client was given, and those that it adds.
pub(super) fn completed(
    given: &Fields,
    has_body: bool,
    method: &str,
    url: &Url,
    is_proxied: bool,
) -> Fields {
    let mut fields = given.clone();
    add_missing(&mut fields, "User-Agent", USER_AGENT);
    add_missing(&mut fields, "Host", &url.authority());
    add_missing(&mut fields, "Accept", ACCEPT);
    if is_proxied {
        add_missing(&mut fields, "Proxy-Connection", "keep-alive");
    }
    if has_body && method == "POST" {
        add_missing(
            &mut fields,
            "Content-type",
            "application/x-www-form-urlencoded",
        );
    }
    fields
}

/// The target in the request line: the URL as written, without a fragment.
pub(super) fn target(url: &Url) -> String {
    let target = url.target.split('#').next().unwrap_or_default();
    match target.starts_with('/') {
        true => target.to_owned(),
        false => format!("/{target}"),
    }
}

/// A response as seen by JMeter with this client, which reports neither the connect time nor the sent bytes.
pub(super) fn seen(answer: &HttpAnswer) -> HttpAnswer {
    HttpAnswer {
        connect_ms: 0,
        sent_bytes: 0,
        ..answer.clone()
    }
}

/// Whether the connection ended before a response: then the client sends the request once more.
pub(super) fn is_lost(answer: &HttpAnswer) -> bool {
    let fault = answer.reply.as_ref().err();
    fault.is_some_and(|fault| fault.class == "java.net.SocketException")
}

fn fault(class: &str, message: &str) -> HttpFault {
    HttpFault {
        class: class.to_owned(),
        message: message.to_owned(),
    }
}
