//! Secrets taken out of a command line before it goes into a result.
//!
//! Results are shared; passwords and tokens are not. Must not know what a command does. Invariant: the
//! number and order of the words stay.

use loadline_model::request::is_secret_header;

/// What stands in place of a secret.
const HIDDEN: &str = "***";

/// Options whose value is a secret in whole: basic authentication, bearer tokens, and secrets of a
/// script.
const SECRET_OPTIONS: [&str; 4] = ["-u", "--user", "--bearer", "--secret-source"];

/// The command line without its secrets; `also` names a further option with one (hey's `-a`).
pub(crate) fn command_line(words: &[String], also: Option<&str>) -> Vec<String> {
    let is_secret = |option: &str| SECRET_OPTIONS.contains(&option) || also == Some(option);
    let mut redacted = Vec::with_capacity(words.len());
    let mut after_secret_option = false;
    for word in words {
        let text = match word.split_once('=') {
            _ if after_secret_option => HIDDEN.to_owned(),
            Some((option, _)) if is_secret(option) => format!("{option}={HIDDEN}"),
            _ => without_credentials(&without_header_value(word)),
        };
        after_secret_option = !after_secret_option && is_secret(word);
        redacted.push(text);
    }
    redacted
}

/// `Authorization: …`, alone or behind `-H` or `--header=`.
fn without_header_value(word: &str) -> String {
    let Some((before, _)) = word.split_once(':') else {
        return word.to_owned();
    };
    let name = before
        .trim_start_matches("--header=")
        .trim_start_matches("-H");
    if is_secret_header(name) {
        return format!("{before}: {HIDDEN}");
    }
    word.to_owned()
}

/// `scheme://user:password@host` without user and password.
fn without_credentials(word: &str) -> String {
    let Some((scheme, rest)) = word.split_once("://") else {
        return word.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{HIDDEN}{}", &rest[at..]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_reach_results() {
        for (line, also, expected) in [
            (
                "loadline bench -u a:b -H X:1 h",
                None,
                "loadline bench -u *** -H X:1 h",
            ),
            (
                "loadline bench --user=a:b --bearer t h",
                None,
                "loadline bench --user=*** --bearer *** h",
            ),
            (
                "loadline bench -H authorization:t h",
                None,
                "loadline bench -H authorization:_*** h",
            ),
            (
                "loadline bench -HCookie:t h",
                None,
                "loadline bench -HCookie:_*** h",
            ),
            (
                "loadline bench -x http://u:p@p:1 http://a:b@h/@",
                None,
                "loadline bench -x http://***@p:1 http://***@h/@",
            ),
            ("hey -a u:p http://h", Some("-a"), "hey -a *** http://h"),
            ("bombardier -a http://h", None, "bombardier -a http://h"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let redacted = command_line(&words, also).join(" ");
            assert_eq!(redacted.replace(": ***", ":_***"), expected);
        }
    }
}
