//! The plan of a hey command line.
//!
//! Must not know argument syntax. Invariant: checks are in hey's order, so that the same message comes first.

use std::collections::BTreeMap;
use std::time::Duration;

use loadline_go::url::Url;
use loadline_model::client::{ProxyPlan, TlsPlan};
use loadline_model::duration::DURATION_MAX;
use loadline_model::request::{BodySource, HeaderTemplate, RequestTemplate};
use loadline_model::template::Template;
use loadline_model::{ArrivalRate, ClientPlan};
use loadline_report::hey::{ReportTemplate, SIZE_OF_HEAD};

use super::flags::Flags;
use super::usage::{plain_error, value_error};
use super::{Job, Output};
use crate::cli::values::{self, VUS_MAX};
use crate::dialect::{self, DialectLoad, go_text};
use crate::plan::headers::{self, Headers};
use crate::plan::parse_proxy;
use crate::{Ending, Files};

const USER_AGENT: &str = "hey/0.0.1";
/// Redirects followed by Go's client: it stops before an eleventh request.
const REDIRECTS: u32 = 9;

/// The job for the flags.
pub(super) fn job(flags: &Flags, files: &Files, seed: u64) -> Result<Job, Ending> {
    let output = match flags.text("o") {
        None => Output::Summary,
        Some("csv") => Output::Csv,
        Some(text) => {
            let template = ReportTemplate::parse(text);
            Output::Template(template.map_err(|why| value_error(&format!("-o: {why}")))?)
        }
    };
    let samples = match &output {
        Output::Summary => false,
        Output::Csv => true,
        Output::Template(template) => template.needs_samples(),
    };
    let load = load(flags, samples)?;
    let lines = header_lines(flags)?;
    let credentials = credentials(flags)?;
    let body = body(flags, files)?;
    let proxy = proxy(flags)?;
    let method = method(flags)?;
    let url = dialect::read_url(&flags.url).map_err(|why| value_error(&why))?;
    let request = RequestTemplate {
        origin: dialect::origin_of(&url).map_err(|why| value_error(&why))?,
        target: Template::literal(&url.target_without_spaces()),
        headers: headers(flags, &method, &url, lines, credentials, &body),
        method,
        body,
    };
    let is_head = request.method == "HEAD";
    let client = client(flags, &load, proxy);
    let mut plan = dialect::plan(&load, request, client, seed).map_err(|why| value_error(&why))?;
    plan.aggregation.by_header = is_head.then(|| SIZE_OF_HEAD.to_owned());
    plan.workers = u32::try_from(flags.int("cpus", 0))
        .ok()
        .filter(|cpus| *cpus > 0);
    Ok(Job {
        notes: notes(flags, &load),
        plan,
        output,
        verdict: !flags.is_set("no-verdict"),
        observe: flags.texts("observe").map(str::to_owned).collect(),
    })
}

/// Notes for the user about the plan.
fn notes(flags: &Flags, load: &DialectLoad) -> Vec<String> {
    let wanted = flags.int("n", 200);
    let sent = load
        .requests
        .filter(|sent| i64::try_from(*sent) != Ok(wanted));
    let note = |sent| {
        let workers = load.vus;
        format!(
            "-n {wanted} is not a multiple of -c {workers}: as hey does, each worker sent its whole share, {sent} requests in total"
        )
    };
    sent.map(note).into_iter().collect()
}

fn load(flags: &Flags, samples: bool) -> Result<DialectLoad, Ending> {
    let (requests, workers) = (flags.int("n", 200), flags.int("c", 50));
    let duration = u64::try_from(flags.duration("z"))
        .ok()
        .filter(|nanoseconds| *nanoseconds > 0);
    if duration.is_some() && workers <= 0 {
        return Err(value_error("-c cannot be smaller than 1."));
    }
    if duration.is_none() && (requests <= 0 || workers <= 0) {
        return Err(value_error("-n and -c cannot be smaller than 1."));
    }
    if duration.is_none() && requests < workers {
        return Err(value_error("-n cannot be less than -c."));
    }
    let vus = u32::try_from(workers)
        .ok()
        .filter(|vus| *vus <= VUS_MAX)
        .ok_or_else(|| value_error(&format!("-c cannot be more than {VUS_MAX}.")))?;
    // Each worker sends its share; the remainder of the division is not sent.
    let shares = u64::try_from(requests / workers.max(1)).ok();
    let requests = shares
        .map(|share| share * u64::from(vus))
        .filter(|_| duration.is_none());
    Ok(DialectLoad {
        name: "hey",
        vus,
        requests,
        duration: duration.map(Duration::from_nanos),
        rate: rate(flags, vus)?,
        timeout: timeout(flags)?,
        redirects_max: if flags.is_set("disable-redirects") {
            0
        } else {
            REDIRECTS
        },
        samples,
    })
}

/// -q applies to each worker: the total rate is -q times -c.
fn rate(flags: &Flags, vus: u32) -> Result<Option<ArrivalRate>, Ending> {
    let each = flags.float("q");
    if each.is_nan() || each <= 0.0 {
        return Ok(None);
    }
    match ArrivalRate::from_per_second(each * f64::from(vus)).filter(|rate| rate.starts > 0) {
        Some(rate) => Ok(Some(rate)),
        None => Err(value_error(
            "-q times -c is not from 0.000001 to 1000000000 per second.",
        )),
    }
}

fn timeout(flags: &Flags) -> Result<Option<Duration>, Ending> {
    let seconds = u64::try_from(flags.int("t", 20))
        .map_err(|_| value_error("-t cannot be negative; 0 is no limit."))?;
    let limit = Duration::from_secs(seconds).min(DURATION_MAX);
    Ok((!limit.is_zero()).then_some(limit))
}

/// The lines of -H, `^([\w-]+):\s*(.+)`.
fn header_lines(flags: &Flags) -> Result<Vec<(String, String)>, Ending> {
    if flags.text("h").is_some() {
        return Err(value_error(
            "Flag '-h' is deprecated, please use '-H' instead.",
        ));
    }
    flags
        .texts("H")
        .map(|line| header_line(line).ok_or_else(|| unparsed(line)))
        .collect()
}

fn header_line(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(is_word) {
        return None;
    }
    let value = header_text(value);
    values::header_value(value).ok()?;
    // White space alone also matches the pattern, and is an empty value.
    let is_there = !value.is_empty() || line.ends_with([' ', '\t']);
    is_there.then(|| (name.to_owned(), value.to_owned()))
}

/// The pattern's dot does not match a line end, so the value stops there.
fn header_text(value: &str) -> &str {
    let value = value.trim_start_matches(['\n', '\r', '\t', ' ', '\u{c}']);
    value.split('\n').next().unwrap_or_default()
}

fn unparsed(input: &str) -> Ending {
    value_error(&format!(
        "could not parse the provided input; input = {input}"
    ))
}

fn body(flags: &Flags, files: &Files) -> Result<BodySource, Ending> {
    if let Some(path) = flags.text("D") {
        let bytes = files
            .read(path)
            .map_err(|error| plain_error(&go_text::file_error(&error)))?;
        return Ok(BodySource::from_bytes(bytes));
    }
    Ok(BodySource::from_bytes(
        flags.text("d").unwrap_or_default().as_bytes().to_vec(),
    ))
}

/// The default port of a proxy URL, as in Go.
const PROXY_PORT: u16 = 80;

fn proxy(flags: &Flags) -> Result<Option<ProxyPlan>, Ending> {
    let Some(text) = flags.text("x") else {
        return Ok(None);
    };
    if let (Err(why), Err(_)) = (Url::parse(text), dialect::read_url(text)) {
        return Err(value_error(&why.to_string()));
    }
    let plan = parse_proxy(text, PROXY_PORT).map_err(|why| value_error(&why))?;
    Ok(Some(plan))
}

fn method(flags: &Flags) -> Result<String, Ending> {
    let method = flags.text("m").unwrap_or("GET").to_uppercase();
    if method == "CONNECT" {
        return Err(value_error(
            "-m CONNECT asks for a tunnel, not for a response; name a proxy with -x.",
        ));
    }
    values::method(&method).map_err(|_| {
        value_error(&format!(
            "net/http: invalid method {}",
            loadline_go::quoted(&method)
        ))
    })
}

/// The lines that Go sends, in its order: the known ones, then the others by name.
fn headers(
    flags: &Flags,
    method: &str,
    url: &Url,
    lines: Vec<(String, String)>,
    credentials: Option<(String, String)>,
    body: &BodySource,
) -> Vec<HeaderTemplate> {
    let mut map = BTreeMap::new();
    dialect::set_header(
        &mut map,
        "Content-Type",
        flags.given("T").unwrap_or("text/html"),
    );
    for (name, value) in lines {
        dialect::set_header(&mut map, &name, &value);
    }
    if let Some(accept) = flags.text("A") {
        dialect::set_header(&mut map, "Accept", accept);
    }
    if let Some((user, password)) = url.credentials().or(credentials) {
        let value = headers::basic(&user, &password);
        map.entry("Authorization".to_owned()).or_insert(value);
    }
    let agent = match (flags.text("U"), map.remove("User-Agent")) {
        (Some(agent), _) => format!("{agent} {USER_AGENT}"),
        (None, Some(agent)) => format!("{agent} {USER_AGENT}"),
        (None, None) => USER_AGENT.to_owned(),
    };
    let mut headers = Headers::default();
    headers.push_text("Host", &dialect::host_value(flags.text("host"), url));
    headers.push_text("User-Agent", &agent);
    dialect::push_framing(&mut headers, body, dialect::expects_body(method));
    let asks_for_part = map.contains_key("Range") || method == "HEAD";
    let compresses = !flags.is_set("disable-compression") && !asks_for_part;
    for (name, value) in map
        .iter()
        .filter(|(name, _)| !dialect::is_written_by_go(name))
    {
        headers.push_text(name, value);
    }
    if compresses {
        headers.push_default("Accept-Encoding", "gzip");
    }
    headers.into_lines()
}

/// User and password of -a; hey refuses passwords of one character, which is not copied.
fn credentials(flags: &Flags) -> Result<Option<(String, String)>, Ending> {
    let Some(text) = flags.text("a") else {
        return Ok(None);
    };
    match text.split_once(':') {
        Some((user, password)) if !user.is_empty() => {
            Ok(Some((user.to_owned(), password.to_owned())))
        }
        _ => Err(unparsed(text)),
    }
}

fn client(flags: &Flags, load: &DialectLoad, proxy: Option<ProxyPlan>) -> ClientPlan {
    ClientPlan {
        keep_alive: !flags.is_set("disable-keepalive"),
        tls: TlsPlan {
            verify: false,
            server_name: flags.text("host").map(str::to_owned),
            ..TlsPlan::default()
        },
        proxy,
        ..load.client(flags.is_set("h2"))
    }
}
