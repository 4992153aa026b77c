//! Text with parts of the request in it: `Hello {{query.name}}`.
//!
//! It must not know routes. Invariant: rendering never fails and never expands inserted text.

use crate::random::Dice;
use crate::request::Request;
use crate::xml;
use serde_json::Value;

/// Parsed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template(Vec<TemplatePiece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Insert { source: Source, escape: Escape },
}

/// Where inserted text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Method,
    Path,
    Url,
    Body,
    Capture(String),
    Query(String),
    Header(String),
    /// Keys and positions inside of a JSON body.
    Json(Vec<String>),
    /// The first element of that local name inside of an XML body.
    Xml(String),
    Counter,
    Uuid,
    Random(i64, i64),
}

/// How inserted text is made fit for its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Xml,
    Json,
}

/// What a template can say of one request.
pub(super) struct Parts<'a> {
    request: &'a Request,
    captures: &'a [(String, String)],
    count: u64,
    pub(super) dice: &'a mut Dice,
    json: Option<Value>,
}

impl<'a> Parts<'a> {
    /// The parts of `request`, which is the `count`-th of its route.
    pub(super) fn new(
        request: &'a Request,
        captures: &'a [(String, String)],
        count: u64,
        dice: &'a mut Dice,
    ) -> Self {
        Self {
            request,
            captures,
            count,
            dice,
            json: None,
        }
    }

    fn text(&mut self, source: &Source) -> String {
        let request = self.request;
        match source {
            Source::Method => request.method.to_string(),
            Source::Path => request.path.clone(),
            Source::Url => request.url(),
            Source::Body => String::from_utf8_lossy(&request.body).into_owned(),
            Source::Capture(name) => {
                let found = self.captures.iter().find(|(key, _)| key == name);
                found.map(|(_, value)| value.clone()).unwrap_or_default()
            }
            Source::Query(name) => request.query(name).unwrap_or_default().to_owned(),
            Source::Header(name) => request.header(name.as_str()).unwrap_or_default().to_owned(),
            Source::Json(path) => self.json_field(path),
            Source::Xml(name) => {
                let text = String::from_utf8_lossy(&request.body);
                let document = xml::parse(&text).ok();
                document
                    .and_then(|document| xml::first_text(&document, name))
                    .unwrap_or_default()
            }
            Source::Counter => self.count.to_string(),
            Source::Uuid => self.dice.uuid(),
            Source::Random(low, high) => self.dice.between(*low, *high).to_string(),
        }
    }

    fn json_field(&mut self, path: &[String]) -> String {
        let body = &self.request.body;
        let root = self
            .json
            .get_or_insert_with(|| serde_json::from_slice(body).unwrap_or(Value::Null));
        let found = path.iter().try_fold(&*root, |value, key| match value {
            Value::Array(items) => key.parse::<usize>().ok().and_then(|i| items.get(i)),
            _ => value.get(key),
        });
        match found {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

impl Template {
    /// Parses text with `{{…}}` in it.
    ///
    /// # Errors
    /// Names the expression and what may stand there.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (expression, after) = after
                .split_once("}}")
                .ok_or("\"{{\" is not closed by \"}}\"")?;
            if !before.is_empty() {
                pieces.push(TemplatePiece::Text(before.to_owned()));
            }
            pieces.push(parse_insert(expression)?);
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(TemplatePiece::Text(rest.to_owned()));
        }
        Ok(Self(pieces))
    }

    /// The text when nothing is inserted.
    pub(super) fn constant(&self) -> Option<&str> {
        match &self.0[..] {
            [] => Some(""),
            [TemplatePiece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text for one request.
    pub(super) fn render(&self, parts: &mut Parts<'_>) -> String {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePiece::Text(text) => out.push_str(text),
                TemplatePiece::Insert { source, escape } => {
                    let text = parts.text(source);
                    match escape {
                        Escape::None => out.push_str(&text),
                        Escape::Xml => out.push_str(&xml::escape(&text)),
                        Escape::Json => {
                            let quoted = Value::String(text).to_string();
                            out.push_str(&quoted[1..quoted.len() - 1]);
                        }
                    }
                }
            }
        }
        out
    }
}

fn parse_insert(expression: &str) -> Result<TemplatePiece, String> {
    let (source, escape) = expression.split_once('|').unwrap_or((expression, ""));
    let escape = match escape.trim() {
        "" => Escape::None,
        "xml" => Escape::Xml,
        "json" => Escape::Json,
        other => return Err(format!("unknown escape {other:?}: use xml or json")),
    };
    Ok(TemplatePiece::Insert {
        source: parse_source(source.trim())?,
        escape,
    })
}

fn parse_source(text: &str) -> Result<Source, String> {
    if let Some(range) = text.strip_prefix("random ") {
        return parse_random(range);
    }
    let (kind, name) = text.split_once('.').unwrap_or((text, ""));
    let source = match (kind, name) {
        ("method", "") => Source::Method,
        ("path", "") => Source::Path,
        ("url", "") => Source::Url,
        ("body", "") => Source::Body,
        ("counter", "") => Source::Counter,
        ("uuid", "") => Source::Uuid,
        ("path", name) => Source::Capture(name.to_owned()),
        ("query", name) if !name.is_empty() => Source::Query(name.to_owned()),
        ("header", name) if !name.is_empty() => Source::Header(name.to_ascii_lowercase()),
        ("json", path) if !path.is_empty() => {
            Source::Json(path.split('.').map(str::to_owned).collect())
        }
        ("xml", name) if !name.is_empty() => Source::Xml(name.to_owned()),
        _ => {
            return Err(format!(
                "unknown expression {text:?}: use method, path, path.NAME, url, query.NAME, \
                 header.NAME, body, json.FIELD, xml.ELEMENT, counter, uuid or random LOW HIGH"
            ));
        }
    };
    Ok(source)
}

fn parse_random(range: &str) -> Result<Source, String> {
    let numbers: Vec<i64> = range
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    match numbers[..] {
        [low, high] if low <= high => Ok(Source::Random(low, high)),
        _ => Err(format!(
            "\"random {range}\" needs two whole numbers, the lower first"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::parse_query;
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue, Method};
    use std::net::{IpAddr, Ipv4Addr};

    fn render(template: &str, body: &'static str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert("x-id", HeaderValue::from_static("h1"));
        let request = Request {
            method: Method::POST,
            path: "/a/b".to_owned(),
            query_text: Some("q=%3C1%3E".to_owned()),
            query: parse_query("q=%3C1%3E"),
            headers,
            body: Bytes::from_static(body.as_bytes()),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            secure: false,
        };
        let captures = [("id".to_owned(), "b".to_owned())];
        let mut dice = Dice::seeded(1);
        let mut parts = Parts::new(&request, &captures, 7, &mut dice);
        Template::parse(template).unwrap().render(&mut parts)
    }

    #[test]
    fn parts_of_the_request_are_inserted() {
        let text = render(
            "{{method}} {{ path }} {{path.id}} {{query.q}} {{header.X-Id}} {{counter}}",
            "",
        );
        assert_eq!(text, "POST /a/b b <1> h1 7");
        let json = r#"{"a": {"b": [1, "x{{method}}"]}, "n": null}"#;
        assert_eq!(
            render("{{json.a.b.0}}-{{json.a.b.1}}-{{json.n}}-{{json.z}}", json),
            "1-x{{method}}--"
        );
        assert_eq!(
            render("{{xml.intA}}", "<s:E xmlns:s='u'><intA>5</intA></s:E>"),
            "5"
        );
        assert_eq!(render("{{xml.intA}}|{{body}}", "no xml"), "|no xml");
        assert_eq!(render("{{random 3 3}}", ""), "3");
        assert_eq!(render("{{uuid}}", "").len(), 36);
        assert_eq!(render("{{url}}", ""), "http://localhost/a/b?q=%3C1%3E");
    }

    #[test]
    fn insertions_are_escaped_on_request() {
        assert_eq!(render("{{query.q | xml}}", ""), "&lt;1&gt;");
        assert_eq!(render("{{body|json}}", "a\"b\n"), "a\\\"b\\n");
    }

    #[test]
    fn constants_are_recognised_and_mistakes_named() {
        assert_eq!(Template::parse("a } b").unwrap().constant(), Some("a } b"));
        assert_eq!(Template::parse("").unwrap().constant(), Some(""));
        assert_eq!(Template::parse("{{uuid}}").unwrap().constant(), None);
        for (text, part) in [
            ("{{uuid", "not closed"),
            ("{{nothing}}", "nothing"),
            ("{{query.}}", "query."),
            ("{{random 5 1}}", "lower first"),
            ("{{body | html}}", "html"),
        ] {
            let error = Template::parse(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
