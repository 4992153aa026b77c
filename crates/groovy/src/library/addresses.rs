//! `URL` and `URI`: addresses and their parts.
//!
//! Must not know connections. Invariant: an address keeps its original text.
// tidy: table

use loadline_java::url_coding::decode;

use super::super::table::{Table, row};
use super::super::thrown::Thrown;
use super::super::value::{Object, Outcome, Value};
use super::{Class, int_of, text_of, text_wanted};

/// A `URL` or `URI`.
struct Address {
    text: String,
    is_url: bool,
}

/// The parts of an address, as written.
struct Parts<'t> {
    scheme: Option<&'t str>,
    authority: Option<&'t str>,
    path: &'t str,
    query: Option<&'t str>,
    fragment: Option<&'t str>,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Parts<'t> {
        let (rest, fragment) = split(text, '#');
        let (rest, query) = split(rest, '?');
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, rest),
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                (Some(authority), path)
            }
            None => (None, rest),
        };
        Parts {
            scheme,
            authority,
            path,
            query,
            fragment,
        }
    }

    fn user_and_host(&self) -> (Option<&'t str>, Option<&'t str>) {
        match self.authority {
            Some(authority) => match authority.rsplit_once('@') {
                Some((user, host)) => (Some(user), Some(host)),
                None => (None, Some(authority)),
            },
            None => (None, None),
        }
    }

    fn host_and_port(&self) -> (Option<&'t str>, Option<i32>) {
        match self.user_and_host().1 {
            Some(host) => match host.rsplit_once(':') {
                Some((host, port)) if !port.contains(']') => (Some(host), port.parse().ok()),
                _ => (Some(host), None),
            },
            None => (None, None),
        }
    }

    fn written(&self) -> String {
        let mut text = String::new();
        if let Some(scheme) = self.scheme {
            text.push_str(scheme);
            text.push(':');
        }
        if let Some(authority) = self.authority {
            text.push_str("//");
            text.push_str(authority);
        }
        text.push_str(self.path);
        for (mark, part) in [('?', self.query), ('#', self.fragment)] {
            if let Some(part) = part {
                text.push(mark);
                text.push_str(part);
            }
        }
        text
    }
}

fn split(text: &str, mark: char) -> (&str, Option<&str>) {
    match text.split_once(mark) {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    }
}

fn is_scheme(text: &str) -> bool {
    let is_letter = |letter: u8| letter.is_ascii_alphanumeric() || b"+-.".contains(&letter);
    text.starts_with(|letter: char| letter.is_ascii_alphabetic()) && text.bytes().all(is_letter)
}

/// A path resolved relative to another one, without `.` and `..`.
fn joined(base: &str, path: &str) -> String {
    let folder = match path.starts_with('/') {
        true => "",
        false => base.rsplit_once('/').map_or("", |(folder, _)| folder),
    };
    let whole = match path.starts_with('/') {
        true => path.to_owned(),
        false => format!("{folder}/{path}"),
    };
    without_dots(&whole)
}

/// A path without `.`, and without `..` and what stands before it.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let pieces: Vec<&str> = path.split('/').collect();
    for (place, piece) in pieces.iter().enumerate() {
        let is_last = place + 1 == pieces.len();
        match *piece {
            "." => {}
            ".." if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) => {
                kept.pop();
            }
            other => {
                kept.push(other);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    kept.join("/")
}

/// A reference resolved relative to an address.
fn resolved(base: &str, reference: &str) -> String {
    let (base, reference) = (Parts::of(base), Parts::of(reference));
    if reference.scheme.is_some() {
        return reference.written();
    }
    if reference.authority.is_some() {
        return Parts {
            scheme: base.scheme,
            ..reference
        }
        .written();
    }
    let (path, query) = match (reference.path, reference.query) {
        ("", None) => (base.path.to_owned(), base.query),
        ("", query) => (base.path.to_owned(), query),
        (path, query) => (joined(base.path, path), query),
    };
    let whole = Parts {
        path: &path,
        query,
        fragment: reference.fragment,
        ..base
    };
    whole.written()
}

/// Creates a `URL` from a text.
///
/// # Errors
/// The protocol is missing or unknown.
pub fn url(text: &str) -> Outcome {
    let text = text.trim();
    let malformed =
        |why: &str| Thrown::of("java.net.MalformedURLException", format!("{why}{text}"));
    match Parts::of(text).scheme {
        None => Err(malformed("no protocol: ")),
        Some("http" | "https" | "file" | "ftp" | "jar" | "mailto") => Ok(address(text, true)),
        Some(other) => Err(Thrown::of(
            "java.net.MalformedURLException",
            format!("unknown protocol: {other}"),
        )),
    }
}

/// The `URI` of a file.
pub(super) fn of_file(path: &str, is_folder: bool) -> Outcome {
    let path = path.replace('%', "%25").replace(' ', "%20");
    uri(&format!("file:{path}{}", if is_folder { "/" } else { "" }))
}

/// Creates a `URI` from a text.
fn uri(text: &str) -> Outcome {
    let odd = text.char_indices().find(|(_, letter)| {
        letter.is_control()
            || matches!(
                letter,
                ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}'
            )
    });
    let Some((at, _)) = odd else {
        return Ok(address(text, false));
    };
    let place = match &text[..at] {
        before if before.contains('#') => "fragment",
        before if before.contains('?') => "query",
        before if Parts::of(before).authority.is_some() && Parts::of(before).path.is_empty() => {
            "authority"
        }
        _ => "path",
    };
    let units = text[..at].encode_utf16().count();
    Err(Thrown::of(
        "java.net.URISyntaxException",
        format!("Illegal character in {place} at index {units}: {text}"),
    ))
}

/// `URI.create`: errors are unchecked exceptions.
fn created(text: &str) -> Outcome {
    uri(text).map_err(|thrown| match thrown {
        Thrown::Exception(exception) => {
            Thrown::argument(exception.message.as_deref().unwrap_or_default())
        }
        other => other,
    })
}

fn address(text: &str, is_url: bool) -> Value {
    Value::object(Address {
        text: text.to_owned(),
        is_url,
    })
}

fn own(this: &Value) -> Outcome<&Address> {
    this.of::<Address>()
        .ok_or_else(|| Thrown::bare("java.lang.NullPointerException"))
}

/// A part of an address; `None` is null.
fn part(this: &Value, of: impl for<'t> FnOnce(&Parts<'t>) -> Option<&'t str>) -> Outcome {
    let own = own(this)?;
    let parts = Parts::of(&own.text);
    Ok(of(&parts).map_or(Value::Null, Value::text))
}

/// The same for a `URI`, decoded.
fn plain(this: &Value, of: impl for<'t> FnOnce(&Parts<'t>) -> Option<&'t str>) -> Outcome {
    let own = own(this)?;
    let parts = Parts::of(&own.text);
    let Some(part) = of(&parts) else {
        return Ok(Value::Null);
    };
    if own.is_url {
        return Ok(Value::text(part));
    }
    // A plus sign is literal, unlike in forms.
    let text = decode(&part.replace('+', "%2B"));
    Ok(Value::text(text.as_deref().unwrap_or(part)))
}

fn default_port(scheme: Option<&str>) -> i32 {
    match scheme {
        Some("http") => 80,
        Some("https") => 443,
        Some("ftp") => 21,
        _ => -1,
    }
}

pub(super) static ADDRESS: Table = Table::new(&[
    row("getProtocol", 0, 0, |_, this, _| {
        part(this, |all| all.scheme)
    }),
    row("normalize", 0, 0, |_, this, _| {
        let Some(own) = this.of::<Address>() else {
            return Ok(Value::Null);
        };
        let parts = Parts::of(&own.text);
        let path = without_dots(parts.path);
        let all = Parts {
            path: &path,
            ..parts
        };
        Ok(address(&all.written(), own.is_url))
    }),
    row("getScheme", 0, 0, |_, this, _| part(this, |all| all.scheme)),
    row("getAuthority", 0, 0, |_, this, _| {
        part(this, |all| all.authority)
    }),
    row("getUserInfo", 0, 0, |_, this, _| {
        part(this, |all| all.user_and_host().0)
    }),
    row("getHost", 0, 0, |_, this, _| {
        part(this, |all| all.host_and_port().0)
    }),
    row("getPort", 0, 0, |_, this, _| {
        let port = Parts::of(&own(this)?.text).host_and_port().1;
        Ok(Value::Int(port.unwrap_or(-1)))
    }),
    row("getDefaultPort", 0, 0, |_, this, _| {
        Ok(Value::Int(default_port(Parts::of(&own(this)?.text).scheme)))
    }),
    row("getPath", 0, 0, |_, this, _| {
        plain(this, |all| Some(all.path))
    }),
    row("getRawPath", 0, 0, |_, this, _| {
        part(this, |all| Some(all.path))
    }),
    row("getQuery", 0, 0, |_, this, _| plain(this, |all| all.query)),
    row("getRawQuery", 0, 0, |_, this, _| {
        part(this, |all| all.query)
    }),
    row("getFile", 0, 0, |_, this, _| {
        let parts = Parts::of(&own(this)?.text);
        let query = parts.query.map(|query| format!("?{query}"));
        Ok(Value::text(
            parts.path.to_owned() + &query.unwrap_or_default(),
        ))
    }),
    row("getRef", 0, 0, |_, this, _| part(this, |all| all.fragment)),
    row("getFragment", 0, 0, |_, this, _| {
        plain(this, |all| all.fragment)
    }),
    row("isAbsolute", 0, 0, |_, this, _| {
        Ok(Value::Truth(Parts::of(&own(this)?.text).scheme.is_some()))
    }),
    row("toExternalForm", 0, 0, |_, this, _| {
        Ok(Value::text(own(this)?.text.as_str()))
    }),
    row("toASCIIString", 0, 0, |_, this, _| {
        Ok(Value::text(own(this)?.text.as_str()))
    }),
    row("toURI", 0, 0, |_, this, _| uri(&own(this)?.text)),
    row("toURL", 0, 0, |_, this, _| url(&own(this)?.text)),
    row("resolve", 1, 1, |_, this, given| {
        uri(&resolved(&own(this)?.text, &text_of(given, 0)))
    }),
]);

impl Object for Address {
    fn class(&self) -> &'static str {
        match self.is_url {
            true => "java.net.URL",
            false => "java.net.URI",
        }
    }

    fn methods(&self) -> &'static Table {
        &ADDRESS
    }

    fn text(&self) -> String {
        self.text.clone()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        let other = other.any().downcast_ref::<Address>();
        other.is_some_and(|other| other.text == self.text && other.is_url == self.is_url)
    }
}

/// Creates a `URL` from protocol, host, port and the rest.
fn url_of_parts(given: &[Value]) -> Outcome {
    let (protocol, host) = (text_of(given, 0), text_of(given, 1));
    let (port, file) = match given {
        [_, _, _, file] => (int_of(given, 2)?, file),
        _ => (-1, &given[2]),
    };
    let port = if port < 0 {
        String::new()
    } else {
        format!(":{port}")
    };
    let file = text_of(std::slice::from_ref(file), 0);
    url(&format!("{protocol}://{host}{port}{file}"))
}

static URLS: Table = Table::new(&[
    row("new", 1, 1, |_, _, given| url(&text_wanted(given, 0)?)),
    row("new", 2, 2, |_, _, given| {
        url(&resolved(&text_of(given, 0), &text_of(given, 1)))
    }),
    row("new", 3, 4, |_, _, given| url_of_parts(given)),
]);
static URIS: Table = Table::new(&[
    row("new", 1, 1, |_, _, given| uri(&text_wanted(given, 0)?)),
    row("create", 1, 1, |_, _, given| {
        created(&text_wanted(given, 0)?)
    }),
]);

/// Creates a `URL` or `URI` from a value's text.
pub(super) fn of_text(text: &str, is_url: bool) -> Outcome {
    match is_url {
        true => url(text),
        false => uri(text),
    }
}

pub(super) const CLASSES: &[Class] = &[
    Class {
        name: "java.net.URL",
        statics: &URLS,
    },
    Class {
        name: "java.net.URI",
        statics: &URIS,
    },
];
