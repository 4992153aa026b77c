//! Queries, forms and bodies of requests, as JMeter makes them of arguments and files.
//!
//! Must not know URLs and headers. Invariant: the same arguments give the same bytes; only the boundary of a multipart
//! body is by chance.

use std::sync::LazyLock;

use encoding_rs::Encoding;
use loadline_java::url_coding;

use super::rewriting::Rewrite;
use super::{HttpArgument, HttpClient, HttpFault, HttpRequestPlan, is_blank, local};
use crate::scope::Scope;

/// A body and what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequestBody {
    pub(super) bytes: Vec<u8>,
    /// The content type that is said unless a header field says it; `None`: nothing is said.
    pub(super) content_type: Option<String>,
    /// Whether `content_type` is said whatever header fields say.
    pub(super) is_binding: bool,
    /// Whether it is a file, whose content type is said before its length.
    pub(super) is_file: bool,
    /// The body as results tell it.
    pub(super) told: String,
    /// Why it cannot be sent whole, which shows after its head was sent; `None`: it can.
    pub(super) fault: Option<HttpFault>,
}

/// An argument, evaluated.
struct Pair<'a> {
    plan: &'a HttpArgument,
    name: String,
    value: String,
}

/// An argument that a modifier adds.
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

/// The encoding that a plan names; UTF-8 where it names none, or none that is known.
pub(super) fn encoding(name: &str) -> &'static Encoding {
    Encoding::for_label(name.trim().as_bytes()).unwrap_or(encoding_rs::UTF_8)
}

/// A text in the coding of forms.
fn form_encoded(text: &str, encoding: &'static Encoding) -> String {
    url_coding::encode_bytes(&encoding.encode(text).0)
}

/// A text of which the coding of forms is taken away; as it is where it is not in that coding.
fn form_decoded(text: &str, encoding: &'static Encoding) -> String {
    url_coding::decode_bytes(text).map_or_else(
        |_| text.to_owned(),
        |bytes| encoding.decode_without_bom_handling(&bytes).0.into_owned(),
    )
}

/// The query that arguments make, those of a path behind them.
pub(super) fn query(
    request: &HttpRequestPlan,
    rewrites: &[Rewrite],
    more: &[(String, String)],
    scope: &mut Scope<'_>,
) -> String {
    let encoding = encoding(&request.encoding.evaluate(scope));
    let mut parts = Vec::new();
    for pair in pairs(request, rewrites, scope) {
        if pair.name.is_empty() {
            continue;
        }
        parts.push(match pair.plan.encode {
            true => joined(
                &form_encoded(&pair.name, encoding),
                pair.plan.equals,
                &form_encoded(&pair.value, encoding),
            ),
            false => joined(&pair.name, pair.plan.equals, &pair.value),
        });
    }
    for (name, value) in more {
        let coded = |text: &str| form_encoded(text, encoding);
        parts.push(format!("{}={}", coded(name), coded(value)));
    }
    parts.join("&")
}

fn joined(name: &str, equals: &str, value: &str) -> String {
    match value.is_empty() && equals.is_empty() {
        true => name.to_owned(),
        false => format!("{name}{equals}{value}"),
    }
}

/// Whether a request's arguments are its body as they are; their values are not looked at.
pub(super) fn is_raw(request: &HttpRequestPlan, scope: &mut Scope<'_>) -> bool {
    let arguments = &request.arguments;
    let mut names = arguments.iter().map(|argument| &argument.name);
    request.raw_body || !arguments.is_empty() && names.all(|name| name.evaluate(scope).is_empty())
}

/// The body of a request under a method that has one; `None`: it has none.
///
/// # Errors
/// A file that cannot be sent.
pub(super) fn body(
    request: &HttpRequestPlan,
    method: &str,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<Option<RequestBody>, HttpFault> {
    let name = request.encoding.evaluate(scope).into_owned();
    let charset = if is_blank(&name) {
        "UTF-8"
    } else {
        name.trim()
    };
    let is_known = Encoding::for_label(charset.as_bytes()).is_some();
    let encoding = encoding(charset);
    let adds = |one: &Rewrite| matches!(one, Rewrite::Argument { .. });
    let is_raw = is_raw(request, scope) && (request.raw_body || !rewrites.iter().any(adds));
    let unknown = || HttpFault {
        class: "java.nio.charset.UnsupportedCharsetException".to_owned(),
        message: charset.to_owned(),
    };
    let has_body = !matches!(method, "GET" | "HEAD" | "TRACE" | "OPTIONS");
    if is_raw && (has_body || method == "GET") {
        if !is_known {
            return Err(unknown());
        }
        let pairs = pairs(request, rewrites, scope);
        let told: String = pairs.iter().map(|pair| pair.value.as_str()).collect();
        if method == "GET" && told.is_empty() {
            return Ok(None);
        }
        let bytes = encoding.encode(&told).0.into_owned();
        return Ok(Some(RequestBody {
            bytes,
            content_type: Some(format!("text/plain; charset={charset}")),
            told,
            ..RequestBody::default()
        }));
    }
    if !has_body {
        return Ok(None);
    }
    if !is_known {
        return Err(unknown());
    }
    if let [file] = request.files.as_slice()
        && is_blank(&file.parameter.evaluate(scope))
        && !request.multipart
    {
        return Ok(Some(file_as_body(file, scope)));
    }
    let pairs = pairs(request, rewrites, scope);
    if request.multipart || !request.files.is_empty() {
        return multipart(request, &pairs, charset, encoding, scope).map(Some);
    }
    Ok(Some(form(&pairs, charset, encoding)))
}

fn form(pairs: &[Pair<'_>], charset: &str, encoding: &'static Encoding) -> RequestBody {
    let mut parts = Vec::new();
    for pair in pairs.iter().filter(|pair| !pair.name.is_empty()) {
        let (name, value) = match pair.plan.encode {
            true => (pair.name.clone(), pair.value.clone()),
            false => (
                form_decoded(&pair.name, encoding),
                form_decoded(&pair.value, encoding),
            ),
        };
        let (name, value) = (
            form_encoded(&name, encoding),
            form_encoded(&value, encoding),
        );
        parts.push(format!("{name}={value}"));
    }
    let told = parts.join("&");
    RequestBody {
        bytes: told.clone().into_bytes(),
        content_type: Some(format!(
            "application/x-www-form-urlencoded; charset={charset}"
        )),
        told,
        ..RequestBody::default()
    }
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
        is_file: true,
        told: "<actual file content, not shown here>".to_owned(),
        fault,
        ..RequestBody::default()
    }
}

/// The values of a request's arguments, one behind another.
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
/// A file that cannot be sent.
pub(super) fn multipart_of(
    request: &HttpRequestPlan,
    rewrites: &[Rewrite],
    scope: &mut Scope<'_>,
) -> Result<RequestBody, HttpFault> {
    let name = request.encoding.evaluate(scope).into_owned();
    let charset = match is_blank(&name) {
        true => "UTF-8",
        false => name.trim(),
    };
    let pairs = pairs(request, rewrites, scope);
    multipart(request, &pairs, charset, encoding(charset), scope)
}

/// The boundary that JMeter writes for Java's client.
const JAVA_BOUNDARY: &str = "---------------------------7d159c1302d0y0";

/// Letters of a boundary.
const BOUNDARY: &[u8; 64] = b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn boundary(scope: &Scope<'_>) -> String {
    let length = 30 + (scope.host.random() % 11) as usize;
    let letter = || char::from(BOUNDARY[(scope.host.random() % 64) as usize]);
    std::iter::repeat_with(letter).take(length).collect()
}

fn multipart(
    request: &HttpRequestPlan,
    pairs: &[Pair<'_>],
    charset: &str,
    encoding: &'static Encoding,
    scope: &mut Scope<'_>,
) -> Result<RequestBody, HttpFault> {
    let (boundary, of_content_type) = match request.client {
        HttpClient::Apache => (boundary(scope), format!("; charset={charset}")),
        HttpClient::Java => (JAVA_BOUNDARY.to_owned(), String::new()),
    };
    let mut bytes = Vec::new();
    let mut told = String::new();
    for pair in pairs.iter().filter(|pair| !pair.name.is_empty()) {
        let mut head = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"\r\n",
            pair.name
        );
        if !request.browser_compatible {
            let content_type = pair.plan.content_type.evaluate(scope);
            let content_type = match is_blank(&content_type) {
                true => "text/plain",
                false => content_type.trim(),
            };
            head.push_str(&format!(
                "Content-Type: {content_type}; charset={charset}\r\nContent-Transfer-Encoding: 8bit\r\n"
            ));
        }
        let value = encoding.encode(&pair.value).0;
        told.push_str(&format!("{head}\r\n{}\r\n", pair.value));
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(&value);
        bytes.extend_from_slice(b"\r\n");
    }
    for file in &request.files {
        let head = file_head(file, &boundary, request, scope)?;
        let path = file.path.evaluate(scope).into_owned();
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
    let mut head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{parameter}\"; filename=\"{name}\"\r\nContent-Type: {content_type}\r\n"
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
        assert_eq!(
            form_encoded("a b&é*~", encoding_rs::UTF_8),
            "a+b%26%C3%A9*%7E"
        );
        assert_eq!(form_encoded("é", encoding_rs::WINDOWS_1252), "%E9");
    }

    #[test]
    fn what_is_coded_already_is_decoded_first() {
        assert_eq!(form_decoded("raw%201", encoding_rs::UTF_8), "raw 1");
        assert_eq!(form_decoded("100%", encoding_rs::UTF_8), "100%");
    }
}
