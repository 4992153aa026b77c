//! Queries, forms and bodies of requests, built as JMeter does from arguments and files.
//!
//! Must not know URLs and headers. Invariant: the same arguments yield the same bytes; only the boundary of a
//! multipart body is random.

use std::borrow::Cow;
use std::sync::LazyLock;

use loadline_java::charset::Charset;
use loadline_java::url_coding;

use super::rewriting::Rewrite;
use super::{HttpArgument, HttpClient, HttpFault, HttpRequestPlan, is_blank, local};
use crate::scope::Scope;

/// A body and its type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestBody {
    pub(super) bytes: Vec<u8>,
    /// The content type that is sent unless a header field sets it; `None`: none is sent.
    pub(super) content_type: Option<String>,
    /// Whether `content_type` overrides header fields.
    pub(super) is_binding: bool,
    /// Whether its content type is that of a file, which is sent before the length.
    pub(super) is_of_file: bool,
    /// The body as shown in results.
    pub(super) told: String,
    /// Why it cannot be sent completely, which only fails after its head was sent; `None`: it can.
    pub(super) fault: Option<HttpFault>,
}

/// An argument, evaluated.
struct Pair<'a> {
    plan: &'a HttpArgument,
    name: String,
    value: String,
}

impl Pair<'_> {
    /// Whether it is part of a body: not if its name is blank, or an unset variable.
    fn is_sent(&self) -> bool {
        let name = &self.name;
        let is_unset = name.trim().starts_with("${") && name.ends_with('}');
        !is_blank(name) && !is_unset
    }
}

/// An argument added by a modifier.
static ADDED: LazyLock<HttpArgument> = LazyLock::new(|| HttpArgument {
    encode: true,
    equals: "=",
    ..HttpArgument::default()
});

fn pairs<'a>(
    request: &'a HttpRequestPlan,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Vec<Pair<'a>> {
    let evaluated = request.arguments.iter().map(|plan| Pair {
        plan,
        name: plan.name.evaluate(scope).into_owned(),
        value: plan.value.evaluate(scope).into_owned(),
    });
    let mut pairs: Vec<Pair<'_>> = evaluated.collect();
    for rewrite in rewrites {
        let Rewrite::Argument { name, value } = rewrite else {
            continue;
        };
        pairs.retain(|pair| pair.name != *name);
        pairs.push(Pair {
            plan: &ADDED,
            name: name.clone(),
            value: value.clone(),
        });
    }
    pairs
}

/// The character set of a request; UTF-8 if it has none.
///
/// # Errors
/// Java does not know the character set.
pub(super) fn charset(
    request: &HttpRequestPlan,
    scope: &mut Scope<'_>,
) -> Result<Charset, HttpFault> {
    let name = request.encoding.evaluate(scope).into_owned();
    match is_blank(&name) {
        true => Ok(Charset::UTF_8),
        false => Charset::named(&name).ok_or_else(|| HttpFault {
            class: "java.nio.charset.UnsupportedCharsetException".to_owned(),
            message: name.trim().to_owned(),
        }),
    }
}

/// A form-encoded text, as in a body.
fn form_encoded(text: &str, charset: Charset) -> String {
    url_coding::encode_bytes(&charset.encode(text))
}

/// Decodes a form-encoded text.
///
/// # Errors
/// It is not validly encoded.
fn form_decoded(text: &str, charset: Charset) -> Result<String, HttpFault> {
    url_coding::decode_in(text, charset).map_err(|message| HttpFault {
        class: "java.lang.IllegalArgumentException".to_owned(),
        message,
    })
}

/// The query built from arguments, with those of a path after them.
pub(super) fn query(
    request: &HttpRequestPlan,
    rewrites: &[Rewrite],
    more: &[(String, String)],
    scope: &mut Scope<'_>,
) -> String {
    let charset = Charset::named(&request.encoding.evaluate(scope)).unwrap_or(Charset::UTF_8);
    let mut parts = Vec::new();
    for pair in pairs(request, rewrites, scope) {
        if pair.name.is_empty() {
            continue;
        }
        parts.push(match pair.plan.encode {
            true => joined(
                &url_coding::encode(&pair.name),
                pair.plan.equals,
                &url_coding::encode_in(&pair.value, charset),
            ),
            false => joined(&pair.name, pair.plan.equals, &pair.value),
        });
    }
    for (name, value) in more {
        let value = url_coding::encode_in(value, charset);
        parts.push(format!("{}={value}", url_coding::encode(name)));
    }
    parts.join("&")
}

/// A quoted name in the head of a part.
fn quoted(name: &str, client: HttpClient) -> Cow<'_, str> {
    let is_special = |letter: char| matches!(letter, '"' | '\\' | '\r');
    if client == HttpClient::Java || !name.contains(is_special) {
        return Cow::Borrowed(name);
    }
    let mut quoted = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if is_special(letter) {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    Cow::Owned(quoted)
}

fn joined(name: &str, equals: &str, value: &str) -> String {
    match value.is_empty() && equals.is_empty() {
        true => name.to_owned(),
        false => format!("{name}{equals}{value}"),
    }
}

/// Whether a request's arguments are its body unchanged; their values are not checked.
pub(super) fn is_raw(request: &HttpRequestPlan, scope: &mut Scope<'_>) -> bool {
    let arguments = &request.arguments;
    let mut names = arguments.iter().map(|argument| &argument.name);
    request.raw_body || !arguments.is_empty() && names.all(|name| name.evaluate(scope).is_empty())
}

/// The only file of a request, if it has no name there.
fn nameless_file<'r>(
    request: &'r HttpRequestPlan,
    scope: &mut Scope<'_>,
) -> Option<&'r super::HttpFile> {
    let [file] = request.files.as_slice() else {
        return None;
    };
    let is_nameless =
        is_blank(&file.parameter.evaluate(scope)) && !is_blank(&file.path.evaluate(scope));
    is_nameless.then_some(file)
}

/// The file that is a request's body; `None`: there is none, or it has a name.
pub(super) fn body_file<'r>(
    request: &'r HttpRequestPlan,
    scope: &mut Scope<'_>,
) -> Option<&'r super::HttpFile> {
    nameless_file(request, scope).filter(|_| !request.multipart)
}

/// Whether a request without arguments has a file instead of them.
fn sends_file(request: &HttpRequestPlan, rewrites: &[Rewrite], scope: &mut Scope<'_>) -> bool {
    nameless_file(request, scope).is_some() && pairs(request, rewrites, scope).is_empty()
}

/// Whether files make a request multipart: each has a path, and they are not one file without a name. Otherwise none
/// of them is a part.
pub(super) fn has_parts(request: &HttpRequestPlan, scope: &mut Scope<'_>) -> bool {
    let mut files = request.files.iter();
    !request.files.is_empty()
        && files.all(|file| !is_blank(&file.path.evaluate(scope)))
        && nameless_file(request, scope).is_none()
}

/// The body of a request with a method that allows one; `None`: it has none.
///
/// # Errors
/// A file cannot be sent.
pub(super) fn body(
    request: &HttpRequestPlan,
    method: &str,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<Option<RequestBody>, HttpFault> {
    let charset = charset(request, scope);
    let adds = |one: &Rewrite| matches!(one, Rewrite::Argument { .. });
    let is_raw = is_raw(request, scope) && (request.raw_body || !rewrites.iter().any(adds));
    let has_body = !matches!(method, "GET" | "HEAD" | "TRACE" | "OPTIONS");
    let has_body = has_body || method == "GET" && (is_raw || sends_file(request, rewrites, scope));
    let has_parts = has_parts(request, scope);
    if is_raw && has_body && !request.multipart && !has_parts {
        let charset = charset?;
        let pairs = pairs(request, rewrites, scope);
        let parts = pairs.iter().map(|pair| match pair.plan.encode {
            true => form_encoded(&pair.value, charset),
            false => pair.value.clone(),
        });
        let told: String = parts.collect();
        let bytes = charset.encode(&told).into_owned();
        let of_file = request.files.first();
        let of_file = of_file.map(|file| file.content_type.evaluate(scope).into_owned());
        let of_file = of_file.filter(|content_type| !is_blank(content_type));
        let of_text = || format!("text/plain; charset={}", charset.name());
        return Ok(Some(RequestBody {
            bytes,
            is_of_file: of_file.is_some(),
            content_type: Some(of_file.unwrap_or_else(of_text)),
            told,
            ..RequestBody::default()
        }));
    }
    if !has_body {
        return Ok(None);
    }
    let charset = charset?;
    let pairs = pairs(request, rewrites, scope);
    // If there are arguments, a file without a parameter name is not sent.
    if let Some(file) = body_file(request, scope)
        && pairs.is_empty()
    {
        return Ok(Some(file_as_body(file, scope)));
    }
    if request.multipart || has_parts {
        return multipart(request, &pairs, charset, scope).map(Some);
    }
    form(&pairs, charset).map(Some)
}

fn form(pairs: &[Pair<'_>], charset: Charset) -> Result<RequestBody, HttpFault> {
    let mut parts = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.is_sent()) {
        let (name, value) = match pair.plan.encode {
            true => (pair.name.clone(), pair.value.clone()),
            false => (
                form_decoded(&pair.name, charset)?,
                form_decoded(&pair.value, charset)?,
            ),
        };
        let (name, value) = (form_encoded(&name, charset), form_encoded(&value, charset));
        parts.push(format!("{name}={value}"));
    }
    let told = parts.join("&");
    Ok(RequestBody {
        bytes: charset.encode(&told).into_owned(),
        content_type: Some(format!(
            "application/x-www-form-urlencoded; charset={}",
            charset.name()
        )),
        told,
        ..RequestBody::default()
    })
}

/// A file as a body.
pub(super) fn file_as_body(file: &super::HttpFile, scope: &mut Scope<'_>) -> RequestBody {
    let path = file.path.evaluate(scope).into_owned();
    let content_type = file.content_type.evaluate(scope).into_owned();
    let (bytes, fault) = match local::read(&path, scope) {
        Ok(bytes) => (bytes.to_vec(), None),
        Err(fault) => (Vec::new(), Some(fault)),
    };
    RequestBody {
        bytes,
        content_type: (!is_blank(&content_type)).then_some(content_type),
        is_of_file: true,
        told: "<actual file content, not shown here>".to_owned(),
        fault,
        ..RequestBody::default()
    }
}

/// The values of a request's arguments, concatenated.
pub(super) fn values(
    request: &HttpRequestPlan,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> String {
    let pairs = pairs(request, rewrites, scope);
    pairs.iter().map(|pair| pair.value.as_str()).collect()
}

/// A request's arguments and files as parts.
///
/// # Errors
/// A file cannot be sent.
pub(super) fn multipart_of(
    request: &HttpRequestPlan,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<RequestBody, HttpFault> {
    let charset = charset(request, scope)?;
    let pairs = pairs(request, rewrites, scope);
    multipart(request, &pairs, charset, scope)
}

/// JMeter's boundary for Java's client.
const JAVA_BOUNDARY: &str = "---------------------------7d159c1302d0y0";

/// Characters of a boundary.
const BOUNDARY: &[u8; 64] = b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn boundary(scope: &Scope<'_>) -> String {
    let length = 30 + (scope.host.random() % 11) as usize;
    let letter = || char::from(BOUNDARY[(scope.host.random() % 64) as usize]);
    std::iter::repeat_with(letter).take(length).collect()
}

fn multipart(
    request: &HttpRequestPlan,
    pairs: &[Pair<'_>],
    charset: Charset,
    scope: &mut Scope<'_>,
) -> Result<RequestBody, HttpFault> {
    let name = charset.name();
    let (boundary, of_content_type) = match request.client {
        HttpClient::Apache => (boundary(scope), format!("; charset={name}")),
        HttpClient::Java => (JAVA_BOUNDARY.to_owned(), String::new()),
    };
    let mut bytes = Vec::new();
    let mut told = String::new();
    for pair in pairs.iter().filter(|pair| pair.is_sent()) {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n",
            quoted(&pair.name, request.client)
        );
        if !request.browser_compatible {
            let content_type = pair.plan.content_type.evaluate(scope);
            let content_type = match (content_type.trim(), request.client) {
                // Java's client has the same type for all.
                ("", _) | (_, HttpClient::Java) => format!("text/plain; charset={name}"),
                // One with parameters is sent with no others.
                (whole, _) if whole.contains(';') => {
                    let parts: Vec<&str> = whole.split(';').map(str::trim).collect();
                    parts.join("; ")
                }
                (kind, _) => format!("{kind}; charset={name}"),
            };
            head.push_str(&format!(
                "Content-Type: {content_type}\r\nContent-Transfer-Encoding: 8bit\r\n"
            ));
        }
        let value = charset.encode(&pair.value);
        told.push_str(&format!("{head}\r\n{}\r\n", pair.value));
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&value);
        bytes.extend_from_slice(b"\r\n");
    }
    for file in &request.files {
        let head = file_head(file, &boundary, request, scope)?;
        let path = file.path.evaluate(scope).into_owned();
        if is_blank(&path) {
            return Err(HttpFault {
                class: "java.lang.IllegalArgumentException".to_owned(),
                message: "Filename must not be null or empty".to_owned(),
            });
        }
        told.push_str(&format!(
            "{head}\r\n<actual file content, not shown here>\r\n"
        ));
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&local::read(&path, scope)?);
        bytes.extend_from_slice(b"\r\n");
    }
    let end = format!("--{boundary}--\r\n");
    bytes.extend_from_slice(end.as_bytes());
    told.push_str(&end);
    Ok(RequestBody {
        bytes,
        content_type: Some(format!(
            "multipart/form-data; boundary={boundary}{of_content_type}"
        )),
        is_binding: true,
        told,
        ..RequestBody::default()
    })
}

fn file_head(
    file: &super::HttpFile,
    boundary: &str,
    request: &HttpRequestPlan,
    scope: &mut Scope<'_>,
) -> Result<String, HttpFault> {
    let content_type = file.content_type.evaluate(scope).into_owned();
    if is_blank(&content_type) && request.client == HttpClient::Apache {
        return Err(HttpFault {
            class: "org.apache.http.ParseException".to_owned(),
            message: format!("Invalid content type: {content_type}"),
        });
    }
    let path = file.path.evaluate(scope).into_owned();
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let parameter = file.parameter.evaluate(scope);
    if is_blank(&parameter) && request.client == HttpClient::Apache {
        return Err(HttpFault {
            class: "java.lang.IllegalStateException".to_owned(),
            message: "Name is blank".to_owned(),
        });
    }
    let mut head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {content_type}\r\n",
        quoted(&parameter, request.client),
        quoted(name, request.client)
    );
    if !request.browser_compatible {
        head.push_str("Content-Transfer-Encoding: binary\r\n");
    }
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_coded_as_by_java() {
        assert_eq!(form_encoded("a b&é*~", Charset::UTF_8), "a+b%26%C3%A9*%7E");
        assert_eq!(form_encoded("é", Charset::Latin1), "%E9");
    }

    #[test]
    fn what_is_coded_already_is_decoded_first() {
        let decoded = |text| form_decoded(text, Charset::UTF_8).map_err(|fault| fault.message);
        assert_eq!(decoded("raw%201").as_deref(), Ok("raw 1"));
        let fault = "URLDecoder: Incomplete trailing escape (%) pattern";
        assert_eq!(decoded("100%"), Err(fault.to_owned()));
        let fault = "URLDecoder: Illegal hex characters in escape (%) pattern - Error at index 1 in: \"5 \"";
        assert_eq!(decoded("100%5 x"), Err(fault.to_owned()));
    }
}
