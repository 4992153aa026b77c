//! The target of a `Location`, resolved from the requested URL.
//!
//! Must not know responses. Sources: JMeter 5.6.3, which parses a location with `java.net.URL` if it follows
//! redirects itself (*Follow Redirects*), and otherwise leaves it to Apache's client (*Redirect
//! Automatically*).

use super::HttpFault;
use super::url::{PROTOCOLS, Url, fault_of, malformed, push_escaped};

/// The target if JMeter follows redirects itself.
///
/// # Errors
/// The location is not a URL to Java.
pub(super) fn followed(from: &Url, location: &str) -> Result<Url, HttpFault> {
    let location = without_pairs(location.trim()).replace(' ', "%20");
    let to = seen_from(from, &location)?;
    // A path that leaves the root is corrected by one step.
    let to = match location.strip_prefix("../") {
        Some(rest) if to.target.starts_with("/../") => seen_from(from, rest)?,
        _ => to,
    };
    // An invalid URI is assumed to be not yet encoded.
    Ok(match fault_of(&to.to_string()) {
        None => to,
        Some(_) => to.with_target(quoted(&to.target)),
    })
}

/// Path, query and fragment, quoted like the multi-argument constructor of `java.net.URI`: including each
/// percent sign.
fn quoted(target: &str) -> String {
    let mut quoted = String::with_capacity(target.len() + 8);
    let mut is_query = false;
    let mut is_fragment = false;
    for letter in target.chars() {
        let is_legal = match letter {
            '#' if !is_fragment => {
                is_fragment = true;
                true
            }
            '?' if !is_query && !is_fragment => {
                is_query = true;
                true
            }
            letter if letter.is_ascii_alphanumeric() => true,
            '_' | '-' | '!' | '.' | '~' | '\'' | '(' | ')' | '*' => true,
            ';' | '/' | ':' | '@' | '&' | '=' | '+' | '$' | ',' => true,
            '?' | '[' | ']' => is_query || is_fragment,
            letter => !letter.is_ascii() && !letter.is_control() && !letter.is_whitespace(),
        };
        match is_legal {
            true => quoted.push(letter),
            false => push_escaped(letter, &mut quoted),
        }
    }
    quoted
}

/// The target if Apache's client follows redirects; `None`: unknown.
pub(super) fn redirected(from: &Url, location: &str) -> Option<Url> {
    let location = location.trim().replace(' ', "%20");
    if let Some(scheme) = scheme_of(&location) {
        let is_http = ["http", "https"].contains(&&*scheme.to_ascii_lowercase());
        return is_http.then(|| Url::parse(&location)).flatten();
    }
    if let Some(rest) = location.strip_prefix("//") {
        return Url::parse(&format!("{}://{rest}", from.scheme));
    }
    let path = from.written_path();
    let folder = match location.starts_with('/') {
        true => "",
        false => folder_of(path),
    };
    let target = match location.starts_with('?') {
        true => format!("{path}{location}"),
        false => {
            let (path, rest) = split_path(&location, folder);
            format!("{}{rest}", without_dots(&path))
        }
    };
    Some(from.with_target(target))
}

/// The scheme at the start of a text, as written.
fn scheme_of(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once(':')?;
    let is_valid = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || matches!(one, '.' | '+' | '-'));
    is_valid.then_some(scheme)
}

/// A location as parsed by `java.net.URL` in the context of a URL.
fn seen_from(from: &Url, location: &str) -> Result<Url, HttpFault> {
    let mut rest = location;
    if let Some(scheme) = scheme_of(location) {
        let name = scheme.to_ascii_lowercase();
        // With the scheme of the context it may nevertheless be relative.
        if name != from.scheme {
            let is_known = PROTOCOLS.contains(&&*name);
            let url = is_known.then(|| Url::parse(location)).flatten();
            return url.ok_or_else(|| malformed(format!("unknown protocol: {name}")));
        }
        rest = &location[scheme.len() + 1..];
    }
    if rest.starts_with("//") {
        let absolute = format!("{}:{rest}", from.scheme);
        return Ok(Url::parse(&absolute).unwrap_or_else(|| from.clone()));
    }
    let path = from.written_path();
    let target = if rest.starts_with('/') {
        rest.to_owned()
    } else if rest.starts_with('?') {
        format!("{}{rest}", folder_of(path))
    } else if rest.is_empty() || rest.starts_with('#') {
        let target = from.target.split('#').next().unwrap_or_default();
        format!("{target}{rest}")
    } else {
        let (path, rest) = split_path(rest, folder_of(path));
        format!("{}{rest}", normal(path))
    };
    Ok(from.with_target(target))
}

/// A path up to its last slash.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("/", |end| &path[..=end])
}

/// The path of a relative location in a folder, and the rest after the path.
fn split_path<'a>(location: &'a str, folder: &str) -> (String, &'a str) {
    let end = location.find(['?', '#']).unwrap_or(location.len());
    let (path, rest) = location.split_at(end);
    (format!("{folder}{path}"), rest)
}

/// A relative path normalized as in Java: `.` and `..` are removed if there is a part before them.
fn normal(mut path: String) -> String {
    while let Some(at) = path.find("/./") {
        path.replace_range(at..at + 2, "");
    }
    let mut from = 0;
    while let Some(at) = path[from..].find("/../").map(|found| from + found) {
        let before = path[..at]
            .rfind('/')
            .filter(|before| path[*before..].find("/../") != Some(0));
        match before {
            Some(before) => {
                path.replace_range(before..at + 3, "");
                from = 0;
            }
            None => from = at + 3,
        }
    }
    while path.ends_with("/..") {
        let at = path.find("/..").unwrap_or_default();
        let Some(before) = path[..at].rfind('/') else {
            break;
        };
        path.truncate(before + 1);
    }
    if path.ends_with("/.") {
        path.pop();
    }
    path
}

/// A location whose path contains `..`, without each part followed by one; empty parts are also removed.
fn without_pairs(location: &str) -> String {
    if location.len() < 4 || !location.contains("..") {
        return location.to_owned();
    }
    let authority = location.find("://").map(|at| at + 3);
    let start = authority.map_or(0, |at| {
        location[at..]
            .find('/')
            .map_or(location.len(), |slash| at + slash)
    });
    let end = [location.find('?'), location.find('#')]
        .into_iter()
        .find_map(|at| at.filter(|at| *at > 0))
        .map_or(location.len(), |end| end.max(start));
    let path = &location[start..end];
    let mut kept: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty()) {
        match kept.last() {
            Some(before) if part == ".." && *before != ".." => drop(kept.pop()),
            _ => kept.push(part),
        }
    }
    let first = if path.starts_with('/') { "/" } else { "" };
    let last = match path.ends_with('/') && !kept.is_empty() {
        true => "/",
        false => "",
    };
    let (before, behind) = (&location[..start], &location[end..]);
    format!("{before}{first}{}{last}{behind}", kept.join("/"))
}

/// A path without `.` and `..`, according to the rules of URIs.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.len() > 1 => drop(parts.pop()),
            ".." => {}
            other => parts.push(other),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        parts.push("");
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> Url {
        Url::parse("http://h:81/a/b?x=1").expect("a URL")
    }

    #[test]
    fn jmeter_follows_as_javas_urls_lead() {
        let to = |location: &str| {
            let url = followed(&base(), location);
            url.map_or_else(|fault| fault.message, |url| url.to_string())
        };
        for (location, url) in [
            ("/c", "http://h:81/c"),
            ("c d", "http://h:81/a/c%20d"),
            ("../c", "http://h:81/c"),
            ("../../c", "http://h:81/c"),
            ("../../../c?q=../d", "http://h:81/../c?q=../d"),
            ("./../c", "http://h:81/a/c"),
            ("?q", "http://h:81/a/?q"),
            ("#f", "http://h:81/a/b?x=1#f"),
            ("http:c", "http://h:81/a/c"),
            ("HTTP://o:82/c", "http://o:82/c"),
            ("https://o/c", "https://o/c"),
            ("//o/c", "http://o/c"),
            ("/c/d/../../e", "http://h:81/e"),
            ("/./c/../d", "http://h:81/./d"),
            ("/..", "http://h:81/.."),
            (".", "http://h:81/a/"),
            ("mailto:a@b", "mailto:a@b"),
            ("com.app:/cb", "unknown protocol: com.app"),
            ("about:blank", "unknown protocol: about"),
        ] {
            assert_eq!(to(location), url, "{location}");
        }
    }

    #[test]
    fn apaches_client_follows_as_uris_lead() {
        let to = |location: &str| redirected(&base(), location).map(|url| url.to_string());
        for (location, url) in [
            ("/c", "http://h:81/c"),
            ("../c", "http://h:81/c"),
            ("../../c/.", "http://h:81/c/"),
            ("?q", "http://h:81/a/b?q"),
            ("https://o/c", "https://o/c"),
            ("/c/d/../../e", "http://h:81/e"),
        ] {
            assert_eq!(to(location).as_deref(), Some(url), "{location}");
        }
        assert_eq!(to("com.app:/cb"), None);
    }
}
