//! The plan of a bombardier command line.
//!
//! Must not know argument syntax. Invariant: checks are in the tool's order, so that the same message comes
//! first.

use std::time::Duration;

use loadline_go::url::Url;
use loadline_model::client::TlsPlan;
use loadline_model::duration::DURATION_MAX;
use loadline_model::request::{BodySource, HeaderTemplate, RequestTemplate};
use loadline_model::secret::{redacted_field, redacted_text};
use loadline_model::template::Template;
use loadline_model::{ArrivalRate, ClientPlan};
use loadline_report::bombardier::{Client, ReportTemplate, Spec, Stop};

use super::fasthttp;
use super::flags::Flags;
use super::given::GivenHeaders;
use super::usage::{check_error, parse_error};
use super::{Format, Job};
use crate::cli::values::VUS_MAX;
use crate::dialect::{self, DialectLoad, go_text};
use crate::plan::headers::Headers;
use crate::plan::{headers, identity};
use crate::{Ending, Files};

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"];
const SECOND_NS: i64 = 1_000_000_000;
/// Interval at which the tool reads its counter for `Reqs/sec`.
const RATE_WINDOW: Duration = Duration::from_millis(20);

/// The job for the flags.
pub(super) fn job(flags: &Flags, files: &Files, seed: u64) -> Result<Job, Ending> {
    let spec = flags.given("format").unwrap_or("plain-text");
    let template_file = spec.strip_prefix("path:");
    if template_file.is_none() && !matches!(spec, "plain-text" | "pt" | "json" | "j") {
        let spec = loadline_go::quoted(spec);
        return Err(parse_error(&format!(
            "unknown format or invalid format spec {spec}"
        )));
    }
    if let Some((scheme, _)) = flags.url.split_once("://")
        && !["http", "https"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known))
    {
        return Err(check_error("unsupported scheme"));
    }
    let url = dialect::read_url(&flags.url).map_err(|why| parse_error(&why))?;
    if url.host.is_empty() {
        return Err(parse_error("host \"\": empty host"));
    }
    let origin = dialect::origin_of(&url).map_err(|why| parse_error(&why))?;
    let load = load(flags).map_err(|why| check_error(&why))?;
    let method = method(flags).map_err(|why| check_error(&why))?;
    let tls = tls(flags, files).map_err(|why| check_error(&why))?;
    let body = body(flags, &method, files).map_err(|why| check_error(&why))?;
    let format = match template_file {
        Some(path) => Format::Template(read_template(path, files)?),
        None if spec.starts_with('j') => Format::Json,
        None => Format::PlainText,
    };
    let given = GivenHeaders::merge(flags).map_err(|why| check_error(&why))?;
    let client = client(flags, &load, &given, tls);
    let spec = spec_of(flags, &load, &method, &url.text());
    let (target, headers) = match flags.client {
        Client::FastHttp => (
            fasthttp::target(&url),
            fasthttp::headers(&method, &url, given, &body),
        ),
        Client::NetHttp1 | Client::NetHttp2 => (
            url.target_without_spaces(),
            net_http_headers(flags, &method, &url, given, &body),
        ),
    };
    let request = RequestTemplate {
        headers,
        method,
        origin,
        target: Template::literal(&target),
        body,
    };
    let mut plan = dialect::plan(&load, request, client, seed).map_err(|why| check_error(&why))?;
    plan.aggregation.rate_window = Some(RATE_WINDOW);
    Ok(Job {
        plan,
        spec,
        print: flags.print,
        format,
        verdict: !flags.is_set("no-verdict"),
        observe: flags.texts("observe").map(str::to_owned).collect(),
    })
}

/// The description of the test, without its secrets.
fn spec_of(flags: &Flags, load: &DialectLoad, method: &str, url: &str) -> Spec {
    let hidden =
        |(name, value): &(String, String)| (name.clone(), redacted_field(name, value).into_owned());
    let text = |name: &str| flags.text(name).map(str::to_owned);
    Spec {
        connections: flags.connections,
        stop: match (load.requests, load.duration) {
            (Some(requests), _) => Stop::Requests(requests),
            (None, duration) => Stop::Duration(duration.unwrap_or_default()),
        },
        method: method.to_owned(),
        url: redacted_text(url).into_owned(),
        headers: flags.headers.iter().map(hidden).collect(),
        body: redacted_text(flags.text("body").unwrap_or_default()).into_owned(),
        body_file: text("body-file"),
        certificate_file: text("cert"),
        key_file: text("key"),
        stream: flags.is_set("stream"),
        timeout: load.timeout.unwrap_or_default(),
        client: flags.client,
        rate: flags.rate,
        latencies: flags.is_set("latencies"),
    }
}

fn load(flags: &Flags) -> Result<DialectLoad, String> {
    if flags.rate == Some(0) {
        return Err("rate can't be less than 1".to_owned());
    }
    let vus = u32::try_from(flags.connections)
        .ok()
        .filter(|vus| *vus <= VUS_MAX);
    let vus = match vus {
        Some(0) => return Err("invalid number of connections(must be > 0)".to_owned()),
        Some(vus) => vus,
        None => {
            return Err(format!(
                "invalid number of connections(must be <= {VUS_MAX})"
            ));
        }
    };
    if flags.requests == Some(0) {
        return Err("invalid number of requests(must be > 0)".to_owned());
    }
    // -n overrides -d.
    let duration = match (flags.requests, flags.duration.unwrap_or(10 * SECOND_NS)) {
        (Some(_), _) => None,
        (None, nanoseconds) if nanoseconds < SECOND_NS => {
            return Err("invalid test duration(must be >= 1s)".to_owned());
        }
        (None, nanoseconds) => Some(Duration::from_nanos(nanoseconds.unsigned_abs())),
    };
    let timeout = u64::try_from(flags.timeout).map_err(|_| "timeout can't be negative")?;
    let timeout = Duration::from_nanos(timeout).min(DURATION_MAX);
    let rate = flags
        .rate
        .map(|rate| rate_of(rate).ok_or("rate can't be more than 1000000000"));
    Ok(DialectLoad {
        name: "bombardier",
        vus,
        requests: flags.requests,
        duration,
        rate: rate.transpose()?,
        timeout: (!timeout.is_zero()).then_some(timeout),
        redirects_max: 0,
        samples: false,
    })
}

fn rate_of(per_second: u64) -> Option<ArrivalRate> {
    ArrivalRate::from_per_second(per_second as f64)
}

fn method(flags: &Flags) -> Result<String, String> {
    let method = flags.given("method").unwrap_or("GET");
    if !METHODS.contains(&method) {
        return Err(format!("Unknown HTTP method: {method}"));
    }
    let has_body = flags.text("body").is_some() || flags.text("body-file").is_some();
    if method == "HEAD" && has_body {
        return Err("HEAD requests cannot have body".to_owned());
    }
    if flags.text("body").is_some() && flags.text("body-file").is_some() {
        return Err("use either --body or --body-file".to_owned());
    }
    Ok(method.to_owned())
}

fn tls(flags: &Flags, files: &Files) -> Result<TlsPlan, String> {
    let identity = match (flags.text("cert"), flags.text("key")) {
        (None, None) => None,
        (Some(_), None) => return Err("no Path to TLS Client Certificate Private Key".to_owned()),
        (None, Some(_)) => return Err("no Path to TLS Client Certificate".to_owned()),
        (Some(certificate), Some(key)) => {
            let read = identity(certificate, key, files);
            Some(read.map_err(|error| go_text::file_error(&error))?)
        }
    };
    Ok(TlsPlan {
        identity,
        verify: !flags.is_set("insecure"),
        ..TlsPlan::default()
    })
}

fn body(flags: &Flags, method: &str, files: &Files) -> Result<BodySource, String> {
    let stream = flags.is_set("stream");
    let told = |error| go_text::file_error(&error);
    if let Some(path) = flags.text("body-file").filter(|_| stream) {
        files.check(path).map_err(told)?;
        return Ok(BodySource::StreamFile { path: path.into() });
    }
    let bytes = match flags.text("body-file") {
        Some(path) => files.read(path).map_err(told)?,
        None => flags.text("body").unwrap_or_default().into(),
    };
    // Go's client only notices an empty body while sending it.
    let in_chunks = match flags.client {
        Client::FastHttp => stream,
        _ if bytes.is_empty() => dialect::expects_body(method),
        _ => stream,
    };
    Ok(match in_chunks {
        true => BodySource::StreamBytes {
            length: bytes.len() as u64,
            bytes: bytes.into(),
        },
        false => BodySource::from_bytes(bytes),
    })
}

fn read_template(path: &str, files: &Files) -> Result<ReportTemplate, Ending> {
    let text = files
        .read_text(path)
        .map_err(|error| check_error(&go_text::file_error(&error)))?;
    ReportTemplate::parse(&text).map_err(|error| check_error(&error.to_string()))
}

/// The lines that Go's client sends: the known ones, then the others by name.
fn net_http_headers(
    flags: &Flags,
    method: &str,
    url: &Url,
    mut given: GivenHeaders,
    body: &BodySource,
) -> Vec<HeaderTemplate> {
    let agent = match flags.client {
        Client::NetHttp2 if url.scheme == "https" => "Go-http-client/2.0",
        _ => "Go-http-client/1.1",
    };
    let mut lines = Headers::default();
    let host = given.take("Host");
    lines.push_text("Host", &dialect::host_value(host.as_deref(), url));
    let agent = given.take("User-Agent").unwrap_or_else(|| agent.to_owned());
    if !agent.is_empty() {
        lines.push_text("User-Agent", &agent);
    }
    dialect::push_framing(&mut lines, body, false);
    if let Some((user, password)) = url.credentials() {
        given.add("Authorization", headers::basic(&user, &password));
    }
    for (name, value) in given.by_name() {
        lines.push_text(&name, &value);
    }
    if method != "HEAD" && !lines.contains("Range") {
        lines.push_default("Accept-Encoding", "gzip");
    }
    lines.into_lines()
}

fn client(flags: &Flags, load: &DialectLoad, given: &GivenHeaders, tls: TlsPlan) -> ClientPlan {
    // The default client ignores -a, as its help says, and applies the header; Go's does the reverse.
    let keep_alive = match flags.client {
        Client::FastHttp => !given.closes(),
        Client::NetHttp1 | Client::NetHttp2 => !flags.is_set("disableKeepAlives"),
    };
    ClientPlan {
        keep_alive,
        tls,
        ..load.client(flags.client == Client::NetHttp2)
    }
}
