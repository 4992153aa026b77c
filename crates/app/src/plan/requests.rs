//! The requests that the options describe.
//!
//! Must not know connections. Invariant: every URL and every header of every request is valid before
//! the run starts.

use loadline_model::request::{RequestMix, RequestOrder, RequestTemplate};
use loadline_model::template::Template;
use loadline_model::url::{self, ParsedUrl};

use super::body::{self, Body};
use super::headers::{self, Headers};
use super::templates::Templates;
use crate::Files;
use crate::cli::bench::{BenchArgs, RequestArgs};
use crate::cli::values;

/// Default number of redirects followed with --redirects.
const REDIRECTS: u32 = 10;

/// The requests and the handling of their responses.
pub(super) fn mix(args: &BenchArgs, files: &Files) -> Result<RequestMix, String> {
    let request = &args.request;
    let mut templates = Templates::new(files, request.no_templates);
    let body = body::body(&args.body, files, &mut templates)?;
    let mut targets: Vec<(Option<String>, String)> =
        args.url.iter().map(|text| (None, text.clone())).collect();
    if let Some(file) = &request.urls {
        targets.extend(listed_urls(file, files)?);
    }
    let requests = targets
        .iter()
        .map(|(method, text)| one(request, method.as_deref(), text, &body, &mut templates));
    Ok(RequestMix {
        requests: requests.collect::<Result<_, _>>()?,
        order: if request.random_order {
            RequestOrder::Random
        } else {
            RequestOrder::RoundRobin
        },
        redirects_max: request.max_redirects.unwrap_or(if request.redirects {
            REDIRECTS
        } else {
            0
        }),
        redirect_rules: loadline_model::request::RedirectRules::default(),
        cookies: request.cookies,
    })
}

/// The lines of a file of URLs: `URL` or `METHOD URL`.
fn listed_urls(file: &str, files: &Files) -> Result<Vec<(Option<String>, String)>, String> {
    let text = files
        .read_text(file)
        .map_err(|error| format!("--urls: {error}"))?;
    let mut listed = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let place = |why: String| format!("--urls: {file} line {}: {why}", number + 1);
        // Placeholders in a URL may contain spaces: a first word only counts as a method if it can be one.
        let (method, url) = match line.split_once(char::is_whitespace) {
            Some((word, rest)) if is_method(word) => (Some(word.to_owned()), rest.trim()),
            _ => (None, line),
        };
        parse_url(url).map_err(place)?;
        listed.push((method, url.to_owned()));
    }
    if listed.is_empty() {
        return Err(format!(
            "--urls: {file} has no URL; write one URL or METHOD URL on each line"
        ));
    }
    Ok(listed)
}

fn is_method(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase() || c == '-')
}

fn one(
    request: &RequestArgs,
    method: Option<&str>,
    text: &str,
    body: &Body,
    templates: &mut Templates<'_>,
) -> Result<RequestTemplate, String> {
    let parsed = parse_url(text)?;
    let default_method = if body.is_empty() { "GET" } else { "POST" };
    let method = method
        .or(request.method.as_deref())
        .unwrap_or(default_method);
    let target = templates.parse(&format!("URL {text:?}"), &parsed.target)?;
    let target = match target.as_literal() {
        Some(text) => Template::literal(&url::encode_target(text.as_bytes())),
        None => target,
    };
    let headers = header_lines(request, &parsed, body, templates)?;
    Ok(RequestTemplate {
        method: method.to_owned(),
        origin: parsed.origin,
        target,
        headers: headers.into_lines(),
        body: body.source.clone(),
    })
}

/// A URL whose path and query may have placeholders: these may contain spaces, the rest may not.
fn parse_url(text: &str) -> Result<ParsedUrl, String> {
    let Some(hole) = text.find("{{") else {
        return url::parse(text);
    };
    let (fixed, varying) = text.split_at(hole);
    let host_start = fixed.find("://").map_or(0, |colon| colon + 3);
    if !fixed[host_start..].contains(['/', '?']) {
        return Err(format!(
            "URL {text:?}: scheme, host and port cannot contain templates; give several URLs"
        ));
    }
    let parsed = url::parse(fixed)?;
    let outside = text_outside_holes(varying);
    if let Some(c) = outside.chars().find(|c| c.is_control() || *c == ' ') {
        return Err(format!("URL {text:?}: contains {c:?}; percent-encode it"));
    }
    let varying = match varying.rfind('#') {
        Some(hash) if !varying[hash..].contains("}}") => &varying[..hash],
        _ => varying,
    };
    Ok(ParsedUrl {
        target: format!("{}{varying}", parsed.target),
        ..parsed
    })
}

fn text_outside_holes(text: &str) -> String {
    let mut outside = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        outside.push_str(before);
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    outside + rest
}

fn header_lines(
    request: &RequestArgs,
    url: &ParsedUrl,
    body: &Body,
    templates: &mut Templates<'_>,
) -> Result<Headers, String> {
    let mut headers = Headers::default();
    if let Some(host) = &request.host {
        values::header_value(host).map_err(|why| format!("--host: {why}"))?;
        headers.push_text("Host", host);
    }
    for (name, value) in &request.header {
        let value = templates.parse(&format!("-H {name}"), value)?;
        headers.push(name, value);
    }
    if let Some(value) = authorization(request, url)? {
        headers.push_default("Authorization", &value);
    }
    headers.push_default("User-Agent", headers::USER_AGENT);
    headers.push_default("Accept", "*/*");
    if request.compressed {
        headers.push_default("Accept-Encoding", "gzip, deflate, br");
    }
    if let Some(content_type) = &body.content_type {
        headers.push_default("Content-Type", content_type);
    }
    Ok(headers)
}

fn authorization(request: &RequestArgs, url: &ParsedUrl) -> Result<Option<String>, String> {
    if let Some(token) = &request.bearer {
        values::header_value(token).map_err(|why| format!("--bearer: {why}"))?;
        return Ok(Some(format!("Bearer {token}")));
    }
    if let Some(user) = &request.user {
        let (name, password) = user.split_once(':').ok_or("-u: write USER:PASSWORD")?;
        return Ok(Some(headers::basic(name, password)));
    }
    Ok(url
        .credentials
        .as_ref()
        .map(|(name, password)| headers::basic(name, password)))
}
