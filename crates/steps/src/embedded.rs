//! Embedded resources of a page or a style sheet: the addresses that JMeter fetches with it.
//!
//! Source: JMeter 5.6.3 with its Lagarto and ph-css parsers, observed. Must not know requests. Invariant: an
//! address occurs once, at its first position, and is an HTTP URL.

use std::collections::HashSet;
use std::sync::OnceLock;

use loadline_java::escapes::unescape_html;
use loadline_java::oro::Oro;
use url::Url;

use crate::sample::Sample;

/// Elements with raw text content.
const RAW: [&str; 6] = ["script", "style", "textarea", "title", "noscript", "xmp"];

/// Relations of `link` whose targets are fetched.
const RELATIONS: [&str; 4] = ["stylesheet", "icon", "shortcut icon", "preload"];

/// Elements with an attribute whose target is fetched.
const SOURCES: [(&str, &str); 8] = [
    ("body", "background"),
    ("img", "src"),
    ("script", "src"),
    ("frame", "src"),
    ("iframe", "src"),
    ("embed", "src"),
    ("bgsound", "src"),
    ("applet", "code"),
];

/// The attributes that are read.
const ATTRIBUTES: [&str; 10] = [
    "archive",
    "background",
    "code",
    "codebase",
    "data",
    "href",
    "rel",
    "src",
    "style",
    "type",
];

/// The resources embedded in a sample's body, by its content type.
#[must_use]
pub fn in_sample(sample: &Sample) -> Vec<Url> {
    let Some(base) = sample.url.as_deref().and_then(|url| Url::parse(url).ok()) else {
        return Vec::new();
    };
    let kind = sample
        .content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    match kind.to_ascii_lowercase().as_str() {
        "text/html" | "application/xhtml+xml" | "application/xml" | "text/xml" => {
            in_html(&sample.text(), &base)
        }
        "text/css" => in_css(&sample.text(), &base),
        _ => Vec::new(),
    }
}

/// The addresses in a page.
#[must_use]
pub fn in_html(text: &str, base: &Url) -> Vec<Url> {
    let mut found = Found {
        base: base.clone(),
        urls: Vec::new(),
        seen: HashSet::new(),
    };
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        rest = &rest[1..];
        if !rest.starts_with(|one: char| one.is_ascii_alphabetic()) {
            continue;
        }
        let Some((tag, behind)) = Tag::read(rest) else {
            break;
        };
        rest = behind;
        found.take(&tag);
        if RAW.contains(&tag.name.as_str()) {
            rest = behind_raw(rest, &tag.name);
        }
    }
    found.urls
}

/// The imported style sheets of a style sheet; its images are not fetched.
#[must_use]
pub fn in_css(text: &str, base: &Url) -> Vec<Url> {
    let mut found = Found {
        base: base.clone(),
        urls: Vec::new(),
        seen: HashSet::new(),
    };
    let mut rest = text;
    while let Some(at) = rest.find(['@', '/']) {
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.find("*/").map_or("", |end| &comment[end + 2..]);
            continue;
        }
        let is_import = rest
            .get(..7)
            .is_some_and(|word| word.eq_ignore_ascii_case("@import"));
        rest = &rest[1..];
        let statement = rest.split(';').next().unwrap_or_default();
        if is_import && statement.len() < rest.len() && !statement.contains('@') {
            found.add(imported(statement[6..].trim()));
        }
        if is_import {
            rest = &rest[statement.len()..];
        }
    }
    found.urls
}

/// The address of an import: a quoted text, or `url(…)`.
fn imported(statement: &str) -> &str {
    let is_function = statement
        .get(..4)
        .is_some_and(|word| word.eq_ignore_ascii_case("url("));
    let inside = if is_function {
        statement[4..].split(')').next().unwrap_or_default().trim()
    } else {
        statement
    };
    match inside.chars().next() {
        Some(quote @ ('"' | '\'')) => inside[1..].split(quote).next().unwrap_or_default(),
        _ if is_function => inside,
        _ => "",
    }
}

/// The text after the end tag of an element with raw text content.
fn behind_raw<'t>(text: &'t str, name: &str) -> &'t str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest
            .get(..name.len())
            .is_some_and(|word| word.eq_ignore_ascii_case(name))
        {
            return rest;
        }
    }
    ""
}

/// The addresses found so far.
struct Found {
    base: Url,
    urls: Vec<Url>,
    seen: HashSet<Url>,
}

impl Found {
    fn take(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "base" => {
                if let Some(base) = tag
                    .get("href")
                    .filter(|href| !href.is_empty())
                    .and_then(|href| self.joined(href))
                {
                    self.base = base;
                }
            }
            "applet"
                if tag
                    .get("codebase")
                    .is_some_and(|codebase| !codebase.trim().is_empty()) =>
            {
                let archive = tag
                    .get("archive")
                    .filter(|archive| !archive.trim().is_empty());
                let file = archive.or(tag.get("code")).unwrap_or("null");
                let codebase = tag.get("codebase").unwrap_or_default();
                self.add(&format!("{codebase}/{file}"));
            }
            "object" => {
                self.add(tag.get("codebase").unwrap_or_default());
                self.add(tag.get("data").unwrap_or_default());
            }
            "input" => {
                if tag
                    .get("type")
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("image"))
                {
                    self.add(tag.get("src").unwrap_or_default());
                }
            }
            "link" => {
                let relation = tag.get("rel").unwrap_or_default();
                if RELATIONS
                    .iter()
                    .any(|one| one.eq_ignore_ascii_case(relation))
                {
                    self.add(tag.get("href").unwrap_or_default());
                }
            }
            name => {
                let source = SOURCES.iter().find(|(one, _)| *one == name);
                let attribute = source.map_or("background", |(_, attribute)| attribute);
                self.add(tag.get(attribute).unwrap_or_default());
            }
        }
        for address in tag.get("style").map(in_style).unwrap_or_default() {
            self.add(&address);
        }
    }

    fn add(&mut self, address: &str) {
        let address = address.trim();
        if address.is_empty() || address.starts_with("data:") {
            return;
        }
        let joined = self
            .joined(address)
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        if let Some(url) = joined.filter(|url| self.seen.insert(url.clone())) {
            self.urls.push(url);
        }
    }

    /// An address resolved as in Java: a query alone replaces the last part of the path.
    fn joined(&self, address: &str) -> Option<Url> {
        if address.starts_with('?') {
            return self.base.join(&format!("./{address}")).ok();
        }
        self.base.join(address).ok()
    }
}

/// The addresses in a `style` attribute: those in quotes, up to the last quote.
fn in_style(style: &str) -> Vec<String> {
    static PATTERN: OnceLock<Oro> = OnceLock::new();
    let pattern = PATTERN.get_or_init(|| {
        Oro::compile(r#"(?is)URL\(\s*('|")(.*)('|")\s*\)"#)
            .expect("a constant pattern is one of ORO's")
    });
    let found = pattern.find_all(style, usize::MAX).unwrap_or_default();
    let addresses = found.iter().filter_map(|one| one.groups[2]);
    addresses.map(str::to_owned).collect()
}

/// A start tag.
struct Tag {
    name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// Parses a start tag, given the text from its name on; returns it with the rest; `None`: it has no end.
    fn read(inside: &str) -> Option<(Tag, &str)> {
        let length = inside.find(|one: char| one.is_whitespace() || matches!(one, '/' | '>'))?;
        let name = &inside[..length];
        let mut tag = Tag {
            name: name.to_ascii_lowercase(),
            attributes: Vec::new(),
        };
        let mut rest = &inside[length..];
        loop {
            rest = rest.trim_start_matches(|one: char| one.is_whitespace() || one == '/');
            if let Some(behind) = rest.strip_prefix('>') {
                return Some((tag, behind));
            }
            let (name, value, behind) = attribute(rest)?;
            if ATTRIBUTES.contains(&name.as_str()) && tag.get(&name).is_none() {
                tag.attributes.push((name, value));
            }
            rest = behind;
        }
    }

    /// The value of an attribute; `None`: missing.
    fn get(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// Name and value of the attribute at the start of a text, with the rest; `None`: the tag has no end.
fn attribute(text: &str) -> Option<(String, String, &str)> {
    let first = text.chars().next()?.len_utf8();
    let end =
        text[first..].find(|one: char| one.is_whitespace() || matches!(one, '=' | '>' | '/'))?;
    let (name, rest) = text.split_at(first + end);
    let name = name.to_ascii_lowercase();
    let Some(value) = rest.trim_start().strip_prefix('=') else {
        return Some((name, String::new(), rest));
    };
    let value = value.trim_start();
    let (value, rest) = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split_once(quote)?,
        _ => value.split_at(value.find(|one: char| one.is_whitespace() || one == '>')?),
    };
    Some((name, unescape_html(value), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_jmeter_fetches() {
        for line in include_str!("../tests/embedded.jsonl").lines() {
            let case: serde_json::Value = serde_json::from_str(line).expect("a case is JSON");
            let text = |name: &str| case[name].as_str().expect("a text");
            let base = Url::parse(text("base")).expect("an address");
            let found = match text("kind") {
                "css" => in_css(text("text"), &base),
                _ => in_html(text("text"), &base),
            };
            let expected = case["found"].as_array().into_iter().flatten();
            let expected = expected
                .map(|url| Url::parse(url.as_str().expect("an address")).expect("an address"));
            // JMeter also tries URLs other than HTTP, and fails.
            let expected: Vec<Url> = expected
                .filter(|url| url.scheme().starts_with("http"))
                .collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn the_content_type_decides() {
        let sample = |content_type: &str| Sample {
            url: Some("http://h/".to_owned()),
            content_type: content_type.to_owned(),
            data: b"<img src=a.png>".to_vec(),
            ..Sample::default()
        };
        assert_eq!(in_sample(&sample("text/html; charset=utf-8")).len(), 1);
        assert!(in_sample(&sample("application/json")).is_empty());
    }
}
