//! The routes file: TOML with one `[[route]]` table per route, described in `docs/target/README.md`.
//!
//! It must not know sockets. Invariant: every error names the file, the line and what to write instead.

use super::template::Template;
use super::{Route, RouteBody, RouteTable, Segment};
use crate::duration;
use crate::random::RandomDuration;
use crate::reply::{Coding, is_framing};
use crate::soap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use toml::Spanned;

/// The most routes of one file.
const ROUTES_MAX: usize = 10_000;
/// Bytes of a routes file: reading one takes sixty times as much.
const BYTES_MAX: usize = 4 << 20;

/// What is wrong in a routes file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteFileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; `None` when the mistake has no single place.
    pub line: Option<usize>,
    /// What is wrong and what to write instead.
    pub problem: String,
}

impl fmt::Display for RouteFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "routes file {}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for RouteFileError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    route: Vec<Spanned<RawRoute>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRoute {
    method: Option<Spanned<String>>,
    path: Spanned<String>,
    status: Option<Spanned<u16>>,
    #[serde(default)]
    headers: BTreeMap<Spanned<String>, RawValues>,
    body: Option<Spanned<String>>,
    body_file: Option<Spanned<String>>,
    soap_fault: Option<RawFault>,
    coding: Option<Spanned<String>>,
    delay: Option<Spanned<RawDelay>>,
}

/// One header value or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawValues {
    One(String),
    Many(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFault {
    code: Option<String>,
    message: Spanned<String>,
}

/// A constant delay or a law.
#[derive(Deserialize)]
#[serde(untagged)]
enum RawDelay {
    Constant(String),
    Law {
        law: String,
        mean: String,
        cv: Option<f64>,
    },
}

/// A problem and where it is.
type Problem = (Range<usize>, String);

/// Reads the text of a routes file; `path` is for messages and for finding body files.
///
/// # Errors
/// The first mistake.
pub(super) fn parse(path: &Path, text: &str) -> Result<RouteTable, RouteFileError> {
    let error = |span: Option<Range<usize>>, problem: String| RouteFileError {
        path: path.to_owned(),
        line: span.map(|span| line_of(text, span.start)),
        problem,
    };
    if text.len() > BYTES_MAX {
        let problem = "larger than 4 MiB: keep bodies in separate files";
        return Err(error(None, problem.to_owned()));
    }
    let raw: RawFile =
        toml::from_str(text).map_err(|e| error(e.span(), e.message().trim().to_owned()))?;
    if raw.route.len() > ROUTES_MAX {
        return Err(error(
            None,
            format!("more than {ROUTES_MAX} routes: split the file"),
        ));
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let routes = raw.route.into_iter().map(|route| {
        let span = route.span();
        convert(folder, span, route.into_inner()).map_err(|(span, text)| error(Some(span), text))
    });
    routes.collect::<Result<Vec<_>, _>>().map(RouteTable)
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()
        .iter()
        .take(offset)
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

fn convert(folder: &Path, span: Range<usize>, mut raw: RawRoute) -> Result<Route, Problem> {
    let method = raw.method.as_ref().map(convert_method).transpose()?;
    let segments = convert_path(&raw.path)?;
    let soap_status = if raw.soap_fault.is_some() { 500 } else { 200 };
    let status = match &raw.status {
        None => Ok(soap_status),
        Some(status) if (200..=599).contains(status.get_ref()) => Ok(*status.get_ref()),
        Some(status) => Err((
            status.span(),
            format!("status {} is not 200 to 599", status.get_ref()),
        )),
    }?;
    let status = StatusCode::from_u16(status).expect("200 to 599 are legal statuses");
    let coding = convert_coding(raw.coding.as_ref())?;
    let mut headers = convert_headers(std::mem::take(&mut raw.headers))?;
    if raw.soap_fault.is_some() && headers.iter().all(|(name, _)| name != CONTENT_TYPE) {
        let kind = Template::parse(soap::SOAP_XML).expect("the type holds no braces");
        headers.push((CONTENT_TYPE, kind));
    }
    let delay = raw.delay.take().map(convert_delay).transpose()?;
    let body = convert_body(folder, span, &raw)?;
    let body = match body.constant() {
        Some(text) => RouteBody::Ready(coding.encode(text.as_bytes()).into()),
        None => RouteBody::Made(body),
    };
    let pattern = raw.path.into_inner();
    let served = AtomicU64::new(0);
    Ok(Route {
        method,
        pattern,
        segments,
        status,
        headers,
        body,
        coding,
        delay,
        served,
    })
}

fn convert_method(method: &Spanned<String>) -> Result<Method, Problem> {
    let text = method.get_ref();
    let upper = text.chars().all(|c| c.is_ascii_uppercase());
    let parsed = Method::from_bytes(text.as_bytes()).ok().filter(|_| upper);
    parsed.ok_or_else(|| {
        let problem =
            format!("method {text:?} is not a method: write it in capitals, as in \"POST\"");
        (method.span(), problem)
    })
}

fn convert_path(path: &Spanned<String>) -> Result<Vec<Segment>, Problem> {
    let problem = |text: String| (path.span(), text);
    let text = path.get_ref();
    let rest = text
        .strip_prefix('/')
        .ok_or_else(|| problem(format!("path {text:?} does not begin with \"/\"")))?;
    let segments: Vec<Segment> = rest.split('/').map(segment).collect();
    let rest_at = segments
        .iter()
        .position(|segment| matches!(segment, Segment::Rest(_)));
    if rest_at.is_some_and(|position| position + 1 < segments.len()) {
        return Err(problem(format!(
            "path {text:?}: {{*…}} may only be the last segment"
        )));
    }
    Ok(segments)
}

fn segment(text: &str) -> Segment {
    match text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'))
    {
        None => Segment::Text(crate::request::percent_decode(text)),
        Some(name) => match name.strip_prefix('*') {
            Some(name) => Segment::Rest(name.to_owned()),
            None => Segment::One(name.to_owned()),
        },
    }
}

fn convert_coding(coding: Option<&Spanned<String>>) -> Result<Coding, Problem> {
    let Some(coding) = coding else {
        return Ok(Coding::Identity);
    };
    let found = Coding::NAMES
        .iter()
        .find(|(name, _)| name == coding.get_ref());
    found.map(|(_, coding)| *coding).ok_or_else(|| {
        let names = Coding::NAMES.map(|(name, _)| name).join(", ");
        (
            coding.span(),
            format!(
                "coding {:?} is unknown: use one of {names}",
                coding.get_ref()
            ),
        )
    })
}

fn convert_headers(
    raw: BTreeMap<Spanned<String>, RawValues>,
) -> Result<Vec<(HeaderName, Template)>, Problem> {
    let mut headers = Vec::new();
    for (name, values) in raw {
        let problem = |text: String| (name.span(), text);
        let header = HeaderName::from_bytes(name.get_ref().as_bytes())
            .map_err(|_| problem(format!("{:?} is not a header name", name.get_ref())))?;
        if is_framing(&header) {
            return Err(problem(format!("{header} is set by the server: remove it")));
        }
        if header == CONTENT_ENCODING {
            return Err(problem(
                "content-encoding is set by the key coding: use that".to_owned(),
            ));
        }
        let values = match values {
            RawValues::One(value) => vec![value],
            RawValues::Many(values) => values,
        };
        for value in values {
            let template =
                Template::parse(&value).map_err(|e| problem(format!("{header}: {e}")))?;
            let illegal = template
                .constant()
                .is_some_and(|v| HeaderValue::from_str(v).is_err());
            if illegal {
                return Err(problem(format!(
                    "{header}: {value:?} is not a legal header value"
                )));
            }
            headers.push((header.clone(), template));
        }
    }
    Ok(headers)
}

fn convert_delay(raw: Spanned<RawDelay>) -> Result<RandomDuration, Problem> {
    let span = raw.span();
    let (law, mean, variation) = match raw.into_inner() {
        RawDelay::Constant(mean) => ("const".to_owned(), mean, None),
        RawDelay::Law { law, mean, cv } => (law, mean, cv),
    };
    duration::parse(&mean)
        .and_then(|mean| RandomDuration::new(mean, &law, variation))
        .map_err(|reason| (span, format!("delay: {reason}")))
}

fn convert_body(folder: &Path, span: Range<usize>, raw: &RawRoute) -> Result<Template, Problem> {
    let at = |span: Range<usize>, key: &'static str| move |e: String| (span, format!("{key}: {e}"));
    match (&raw.body, &raw.body_file, &raw.soap_fault) {
        (None, None, None) => Template::parse("").map_err(at(span, "body")),
        (Some(body), None, None) => {
            Template::parse(body.get_ref()).map_err(at(body.span(), "body"))
        }
        (None, Some(file), None) => {
            let path = folder.join(file.get_ref());
            std::fs::read_to_string(&path)
                .map_err(|e| format!("{}: {e}", path.display()))
                .and_then(|text| Template::parse(&text))
                .map_err(at(file.span(), "body_file"))
        }
        (None, None, Some(fault)) => {
            let code = fault.code.as_deref().unwrap_or("soap:Server");
            let message = soap::fault(code, fault.message.get_ref());
            Template::parse(&message).map_err(at(fault.message.span(), "soap_fault"))
        }
        _ => Err((
            span,
            "give only one of body, body_file and soap_fault".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_text(text: &str) -> Result<RouteTable, RouteFileError> {
        parse(Path::new("routes.toml"), text)
    }

    #[test]
    fn routes_are_found_by_method_and_path() {
        let table = parse_text(
            "[[route]]\nmethod = 'POST'\npath = '/a/{id}'\n\
             [[route]]\npath = '/a/{*rest}'\n[[route]]\nmethod = 'GET'\npath = '/b'\n",
        )
        .unwrap();
        let found = |method: Method, path: &str| {
            table
                .find(&method, path)
                .map(|found| (found.position, found.captures))
        };
        let capture = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
        assert_eq!(
            found(Method::POST, "/a/x%20y"),
            Some((0, capture("id", "x y")))
        );
        assert_eq!(
            found(Method::GET, "/a/x/y"),
            Some((1, capture("rest", "x/y")))
        );
        assert_eq!(found(Method::HEAD, "/b"), Some((2, vec![])));
        assert_eq!(found(Method::PUT, "/b"), None);
        assert_eq!(found(Method::GET, "/a"), None);
        assert_eq!(found(Method::GET, "/b/"), None);
    }

    #[test]
    fn every_mistake_names_its_line_and_a_way_out() {
        let cases = [
            ("[[route]]\npath = 'x'", 2, "does not begin with"),
            ("[[route]]\npath = '/x'\nstatus = 99", 3, "not 200 to 599"),
            ("[[route]]\npath = '/x'\nmethod = 'post'", 3, "in capitals"),
            ("[[route]]\npath = '/{*x}/y'", 2, "last segment"),
            (
                "[[route]]\npath = '/x'\ncoding = 'zip'",
                3,
                "identity, gzip, deflate, br",
            ),
            (
                "[[route]]\npath = '/x'\nbody = '{{what}}'",
                3,
                "unknown expression",
            ),
            (
                "[[route]]\npath = '/x'\nbody = ''\nbody_file = 'y'",
                1,
                "only one of",
            ),
            (
                "[[route]]\npath = '/x'\nbody_file = 'no-such-file'",
                3,
                "no-such-file",
            ),
            (
                "[[route]]\npath = '/x'\nheaders = { 'a b' = 'c' }",
                3,
                "not a header name",
            ),
            (
                "[[route]]\npath = '/x'\nheaders = { x = \"a\\nb\" }",
                3,
                "not a legal header value",
            ),
            (
                "[[route]]\npath = '/x'\nheaders = { Content-Length = '1' }",
                3,
                "remove it",
            ),
            (
                "[[route]]\npath = '/x'\nheaders = { Content-Encoding = 'br' }",
                3,
                "key coding",
            ),
            ("[[route]]\npath = '/x'\ndelay = '1 parsec'", 3, "delay"),
            (
                "[[route]]\npath = '/x'\ndelay = { law = 'odd', mean = '1ms' }",
                3,
                "lognormal",
            ),
            ("[[route]]\npath = '/x'\nbodi = ''", 3, "bodi"),
            ("[[route]]\nstatus = 200", 1, "path"),
            ("path = /x", 1, "value"),
        ];
        for (text, line, part) in cases {
            let error = parse_text(text).unwrap_err();
            assert_eq!(error.line, Some(line), "{text}: {error}");
            assert!(error.to_string().contains(part), "{text}: {error}");
            assert!(
                error
                    .to_string()
                    .starts_with("routes file routes.toml, line "),
                "{error}"
            );
        }
    }

    #[test]
    fn constant_bodies_are_coded_once() {
        let table =
            parse_text("[[route]]\npath = '/x'\nbody = 'hello'\ncoding = 'gzip'\n").unwrap();
        let RouteBody::Ready(body) = &table.0[0].body else {
            panic!("not ready")
        };
        assert_eq!(&body[..2], b"\x1f\x8b");
    }
}
