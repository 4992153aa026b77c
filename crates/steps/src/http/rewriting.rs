//! The HTTP URL Re-writing Modifier: the session id of the previous response is added to the request.
//!
//! Must not know requests. Invariant: a sampler is only changed for the following sample.

use loadline_java::oro::Oro;
use loadline_java::url_coding;

use crate::sample::Sample;

/// A modifier.
#[derive(Debug, Default)]
pub struct UrlRewriting {
    /// Its number within the program.
    pub id: usize,
    /// The argument with the session id.
    pub argument: crate::text::Text,
    /// Whether it is in the path, after a semicolon.
    pub in_path: bool,
    /// Whether there is nothing between name and value there.
    pub without_equals: bool,
    /// Whether its value there ends at a question mark.
    pub ends_at_question_mark: bool,
    /// Whether the previous value is used if a response has none.
    pub remembers: bool,
    /// Whether the value is used unchanged; otherwise it is decoded first.
    pub encodes: bool,
}

/// A change of a request by a modifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rewrite {
    /// This suffix is appended to the path, replacing everything from `;` and the argument on.
    Path { argument: String, suffix: String },
    /// The argument has this value.
    Argument { name: String, value: String },
}

impl UrlRewriting {
    /// The change of the request after a sample; `found_before`: the value last used.
    pub(super) fn rewrite(
        &self,
        argument: &str,
        sample: &Sample,
        found_before: &mut String,
    ) -> Rewrite {
        let mut value = self.find(argument, &sample.text());
        if self.remembers {
            match value.is_empty() {
                true => value.clone_from(found_before),
                false => found_before.clone_from(&value),
            }
        }
        let argument = argument.to_owned();
        if self.in_path {
            let equals = if self.without_equals { "" } else { "=" };
            let suffix = format!(";{argument}{equals}{value}");
            return Rewrite::Path { argument, suffix };
        }
        let decoded = |text: String| url_coding::decode(&text).unwrap_or(text);
        match self.encodes {
            true => Rewrite::Argument {
                name: argument,
                value,
            },
            false => Rewrite::Argument {
                name: decoded(argument),
                value: decoded(value),
            },
        }
    }

    /// The value in a text; empty: not found.
    fn find(&self, argument: &str, text: &str) -> String {
        let name = quoted(argument);
        let pattern = match self.in_path {
            true => {
                let equals = if self.without_equals { "" } else { "=" };
                let end = if self.ends_at_question_mark { "?" } else { "" };
                format!("(?m);{name}{equals}([^\"'<>&\\s;{end}]*)")
            }
            false => format!(
                "(?m)[;\\?&]{name}=([^\"'<>&\\s;\\\\]*)\
                 |\\s[Nn][Aa][Mm][Ee]\\s*=\\s*[\"']{name}[\"'][^>]*\
                 \\s[vV][Aa][Ll][Uu][Ee]\\s*=\\s*[\"']([^\"']*)[\"']\
                 |\\s[vV][Aa][Ll][Uu][Ee]\\s*=\\s*[\"']([^\"']*)[\"'][^>]*\
                 \\s[Nn][Aa][Mm][Ee]\\s*=\\s*[\"']{name}[\"']"
            ),
        };
        let found = Oro::compile(&pattern).map(|pattern| {
            let found = pattern.find_all(text, 1).unwrap_or_default();
            let groups = found.first().map(|found| found.groups.clone());
            let value = groups
                .unwrap_or_default()
                .into_iter()
                .skip(1)
                .flatten()
                .next();
            value.unwrap_or_default().to_owned()
        });
        found.unwrap_or_default()
    }
}

/// A pattern that matches a text literally.
fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    for letter in text.chars() {
        if letter.is_ascii() && !letter.is_ascii_alphanumeric() && letter != '_' {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted
}

/// A path after the modifiers, and the arguments from its query if they changed the query and the method sends
/// its arguments there.
pub(super) fn path(
    path: &str,
    method: &str,
    rewrites: &[Rewrite],
) -> (String, Vec<(String, String)>) {
    let changed = changed(path, rewrites);
    let is_changed = rewrites
        .iter()
        .any(|one| matches!(one, Rewrite::Path { .. }));
    match changed.split_once('?') {
        Some((path, query)) if is_changed && matches!(method, "GET" | "DELETE") => {
            let decoded = |text: &str| url_coding::decode(text).unwrap_or_else(|_| text.to_owned());
            let arguments = query
                .split('&')
                .filter(|one| !one.is_empty())
                .map(|argument| {
                    let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
                    (decoded(name), decoded(value))
                });
            (path.to_owned(), arguments.collect())
        }
        _ => (changed, Vec::new()),
    }
}

fn changed(path: &str, rewrites: &[Rewrite]) -> String {
    let mut path = path.to_owned();
    for rewrite in rewrites {
        let Rewrite::Path { argument, suffix } = rewrite else {
            continue;
        };
        if let Some(at) = path.find(&format!(";{argument}")) {
            let query = path.find('?').map(|at| path[at..].to_owned());
            path.truncate(at);
            path.push_str(&query.unwrap_or_default());
        }
        path.push_str(suffix);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(text: &str) -> Sample {
        Sample {
            data: text.as_bytes().to_vec(),
            ..Sample::default()
        }
    }

    #[test]
    fn a_value_is_found_in_links_and_forms() {
        let modifier = UrlRewriting::default();
        let find = |text: &str| modifier.find("s-id", text);
        assert_eq!(find("<a href=\"/x?s-id=1a&y=2\">"), "1a");
        assert_eq!(find("<input type=hidden name=\"s-id\" value=\"2b\">"), "2b");
        assert_eq!(find("<input value='3c' name='s-id'>"), "3c");
        assert_eq!(find("nothing"), "");
    }

    #[test]
    fn a_path_has_one_session() {
        let modifier = UrlRewriting {
            in_path: true,
            remembers: true,
            ..UrlRewriting::default()
        };
        let mut before = String::new();
        let mut rewritten = |page: &str, of: &str| {
            let rewrite = modifier.rewrite("sid", &sample(page), &mut before);
            path(of, "POST", &[rewrite]).0
        };
        assert_eq!(rewritten("<a href='/x;sid=7'>", "/a"), "/a;sid=7");
        assert_eq!(rewritten("nothing", "/a;sid=1"), "/a;sid=7");
    }
}
