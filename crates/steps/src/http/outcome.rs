//! Converts the result of an exchange to a sample: a response, a failure, or several together.
//!
//! Must not know requests. Invariant: the sizes of a sample with sub-samples are the sums of theirs.

use data_encoding::HEXLOWER;
use md5::{Digest, Md5};

use super::location;
use super::url::{Url, malformed};
use super::{HttpClient, HttpFault, HttpReply};
use crate::sample::{DataType, Sample};

/// The result of a fetch.
#[derive(Clone, Debug)]
pub(super) struct Fetched {
    pub(super) sample: Sample,
    /// The `Location` of the response; `None`: missing.
    pub(super) location: Option<String>,
}

impl Fetched {
    /// Whether it is a redirect.
    pub(super) fn is_redirect(&self) -> bool {
        let status = self.sample.code.parse();
        status.is_ok_and(|status| is_redirect(status, &self.sample.method))
    }

    /// Its target, as JMeter follows it.
    ///
    /// # Errors
    /// The location is not a URL to Java.
    pub(super) fn leads_to(&self) -> Result<Url, HttpFault> {
        let from = self.sample.url.as_deref().and_then(Url::parse);
        match (from, self.location.as_deref()) {
            (Some(from), Some(location)) => location::followed(&from, location),
            (_, location) => {
                let location = location.unwrap_or_default();
                Err(malformed(format!("no protocol: {location}")))
            }
        }
    }
}

/// Whether a response with this status is a redirect that JMeter follows.
pub(super) fn is_redirect(status: u16, method: &str) -> bool {
    match status {
        301 | 302 | 303 | 308 => true,
        307 => matches!(method, "GET" | "HEAD"),
        _ => false,
    }
}

/// Bytes of the lines in a typical head.
pub(super) const LINES_BYTES: usize = 256;

/// Appends a field as shown in results.
pub(super) fn push_line(lines: &mut String, name: &str, value: &str) {
    for part in [name, ": ", value, "\n"] {
        lines.push_str(part);
    }
}

/// The fields of a response as shown by JMeter: those that a decoded body invalidates come last, except with
/// Java's own client.
fn told_fields(
    fields: &[(String, String)],
    may_be_decoded: bool,
) -> impl Iterator<Item = &(String, String)> {
    const DECODED: [&str; 4] = ["gzip", "x-gzip", "deflate", "br"];
    const LAST: [&str; 3] = ["content-length", "content-encoding", "content-md5"];
    let is_coding = |(name, value): &(String, String)| {
        let is_decoded = DECODED
            .iter()
            .any(|one| value.trim().eq_ignore_ascii_case(one));
        name.eq_ignore_ascii_case("content-encoding") && is_decoded
    };
    let is_decoded = may_be_decoded && fields.iter().any(is_coding);
    let last: &[&str] = if is_decoded { &LAST } else { &[] };
    let place = move |name: &str| last.iter().position(|one| one.eq_ignore_ascii_case(name));
    let first = fields.iter().filter(move |field| place(&field.0).is_none());
    let of = move |wanted: usize| {
        fields
            .iter()
            .filter(move |field| place(&field.0) == Some(wanted))
    };
    first.chain((0..last.len()).flat_map(of))
}

/// The sample for a response: codes, data, sizes; `as_md5`: only the MD5 of the data is kept.
pub(super) fn sample_of(reply: &HttpReply, client: HttpClient, as_md5: bool) -> Sample {
    let content_type = reply.last_header("content-type").unwrap_or_default();
    let may_be_decoded = client == HttpClient::Apache && !reply.body.is_empty();
    let minor = if reply.is_http_1_0 { 0 } else { 1 };
    let mut response_headers = format!("HTTP/1.{minor} {} {}\n", reply.status, reply.reason);
    response_headers.reserve(LINES_BYTES);
    for (name, value) in told_fields(&reply.headers, may_be_decoded) {
        push_line(&mut response_headers, name, value);
    }
    Sample {
        code: reply.status.to_string(),
        message: reply.reason.clone(),
        success: (200..400).contains(&reply.status),
        data_type: data_type(content_type),
        encoding: match charset_of(content_type) {
            named if named.is_empty() => charset_of_page(content_type, &reply.body),
            named => named,
        },
        content_type: content_type.to_owned(),
        data: match as_md5 && !reply.body.is_empty() {
            true => HEXLOWER.encode(&Md5::digest(&reply.body)).into_bytes(),
            false => reply.body.clone(),
        },
        response_headers,
        bytes: reply.header_bytes + reply.body_bytes,
        header_bytes: reply.header_bytes,
        body_bytes: reply.body_bytes,
        ..Sample::default()
    }
}

/// A sample that failed for a reason other than its response.
pub(super) fn with_fault(sample: Sample, fault: &HttpFault) -> Sample {
    Sample {
        code: format!("Non HTTP response code: {}", fault.class),
        message: format!("Non HTTP response message: {}", fault.message),
        success: false,
        data_type: DataType::Text,
        data: format!("{}: {}\n", fault.class, fault.message).into_bytes(),
        ..sample
    }
}

/// Adds a sub-sample, which increases time and sizes of the sample above.
pub(super) fn add_below(above: &mut Sample, below: Sample, thread: &str, renames: bool) {
    let end = |sample: &Sample| {
        let elapsed_ms = i64::try_from(sample.elapsed_ms).unwrap_or(i64::MAX);
        sample.start_ms.saturating_add(elapsed_ms)
    };
    let end_ms = end(above).max(end(&below));
    above.elapsed_ms = end_ms.saturating_sub(above.start_ms).max(0).unsigned_abs();
    above.bytes += below.bytes;
    above.header_bytes += below.header_bytes;
    above.body_bytes += below.body_bytes;
    above.sent_bytes += below.sent_bytes;
    thread.clone_into(&mut above.thread_name);
    let below = Sample {
        thread_name: thread.to_owned(),
        ..below
    };
    put_below(above, below, renames);
}

/// Adds a sub-sample, leaving the sample above otherwise unchanged.
pub(super) fn put_below(above: &mut Sample, below: Sample, renames: bool) {
    let number = above.children.len();
    let label = match renames {
        true => format!("{}-{number}", above.label),
        false => below.label,
    };
    above.children.push(Sample { label, ..below });
}

pub(super) fn no_host(url: &str) -> HttpFault {
    HttpFault {
        class: "org.apache.http.client.ClientProtocolException".to_owned(),
        message: format!("URI does not specify a valid host name: {url}"),
    }
}

/// JMeter's error for a URL without a host when cookies are looked up.
pub(super) fn no_host_for_cookies() -> HttpFault {
    HttpFault {
        class: "java.lang.IllegalArgumentException".to_owned(),
        message: "Host may not be blank".to_owned(),
    }
}

/// The error of JMeter's client for a violation of HTTP.
pub(super) fn refused() -> HttpFault {
    HttpFault {
        class: "org.apache.http.client.ClientProtocolException".to_owned(),
        message: "null".to_owned(),
    }
}

pub(super) fn no_port(port: u32) -> HttpFault {
    HttpFault {
        class: "java.lang.IllegalArgumentException".to_owned(),
        message: format!("port out of range:{port}"),
    }
}

/// The error of JMeter's client for a scheme other than HTTP's: it has no default port for it, or no
/// connection.
pub(super) fn scheme_fault(url: &Url) -> Option<HttpFault> {
    if matches!(url.scheme.as_str(), "http" | "https") {
        return None;
    }
    if url.port.is_none() {
        return Some(refused());
    }
    Some(HttpFault {
        class: "org.apache.http.conn.UnsupportedSchemeException".to_owned(),
        message: format!("{} protocol is not supported", url.scheme),
    })
}

pub(super) fn no_location(method: &str, url: &Url) -> HttpFault {
    HttpFault {
        class: "java.lang.IllegalArgumentException".to_owned(),
        message: format!("Missing location header in redirect for {method} {url} HTTP/1.1"),
    }
}

/// Content types that are text although they start like binary ones.
const TEXTS: [&str; 4] = [
    "audio/x-mpegurl",
    "audio/mpegurl",
    "video/f4m",
    "image/svg+xml",
];

/// The data type of a response, by its content type.
pub(crate) fn data_type(content_type: &str) -> DataType {
    let begins = |kinds: &[&str]| kinds.iter().any(|kind| content_type.starts_with(kind));
    match content_type {
        "" => DataType::Unset,
        _ if begins(&TEXTS) || !begins(&["image/", "audio/", "video/"]) => DataType::Text,
        _ => DataType::Binary,
    }
}

/// The charset declared in the first bytes of a page; empty: none. JMeter only recognizes one notation.
fn charset_of_page(content_type: &str, body: &[u8]) -> String {
    const LOOKED_AT: usize = 2000;
    const TAG: &str = "<meta http-equiv=\"content-type\" content=\"";
    if !content_type.starts_with("text/html") {
        return String::new();
    }
    let start = String::from_utf8_lossy(&body[..body.len().min(LOOKED_AT)]);
    let named = start.to_ascii_lowercase().find(TAG).and_then(|at| {
        let (content, _) = start[at + TAG.len()..].split_once('"')?;
        Some(charset_of(content))
    });
    named.unwrap_or_default()
}

/// The charset of a content type; empty: it names none.
pub(crate) fn charset_of(content_type: &str) -> String {
    let lower = content_type.to_ascii_lowercase();
    let Some(at) = lower.find("charset=") else {
        return String::new();
    };
    let value = content_type[at + 8..].split(';').next().unwrap_or_default();
    value.trim().trim_matches(['"', '\'']).to_owned()
}
