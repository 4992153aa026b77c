//! A command line without its secrets, for the result.
//!
//! Must not know what a command does, except which of its options hold a secret. Invariant: the number and
//! order of the words stay the same.

use std::borrow::Cow;

use super::{HIDDEN, is_secret_name, redacted_text};
use crate::FrontEnd;

/// The words without their secrets.
#[must_use]
pub fn redacted_command_line(words: &[String], front_end: FrontEnd) -> Vec<String> {
    let mut is_value = false;
    let redact = |word: &String| {
        if std::mem::take(&mut is_value) {
            return HIDDEN.to_owned();
        }
        is_value = is_secret_option(word, front_end);
        match is_value {
            true => word.clone(),
            false => redacted_word(word, front_end),
        }
    };
    words.iter().map(redact).collect()
}

/// The short option that holds user and password, and the switches that may precede it in the same word.
fn user_option(front_end: FrontEnd) -> Option<(char, &'static str)> {
    match front_end {
        FrontEnd::Bench => Some(('u', "46kq")),
        FrontEnd::Hey => Some(('a', "")),
        FrontEnd::JMeter => Some(('a', "")),
        FrontEnd::Script | FrontEnd::Bombardier => None,
    }
}

/// Whether the value of an option, which is the next word, is a secret.
fn is_secret_option(word: &str, front_end: FrontEnd) -> bool {
    let Some(name) = word.strip_prefix('-') else {
        return false;
    };
    match name.strip_prefix('-') {
        Some(long) => is_secret_long(long, front_end),
        None => user_of_cluster(name, front_end) == Some(""),
    }
}

fn is_secret_long(name: &str, front_end: FrontEnd) -> bool {
    let is_of_own = match front_end {
        FrontEnd::Bench => name == "user",
        FrontEnd::Hey => name == "a",
        FrontEnd::JMeter => name == "password",
        FrontEnd::Script | FrontEnd::Bombardier => false,
    };
    is_of_own || (!name.contains(['=', ':']) && is_secret_name(name))
}

/// What follows the short option for user and password in its word; `None` if the word does not contain it.
fn user_of_cluster(cluster: &str, front_end: FrontEnd) -> Option<&str> {
    let (option, switches) = user_option(front_end)?;
    let (before, after) = cluster.split_once(option)?;
    before
        .chars()
        .all(|c| switches.contains(c))
        .then_some(after)
}

fn redacted_word(word: &str, front_end: FrontEnd) -> String {
    let (option, value) = match word.strip_prefix("--") {
        Some(long) => match long.split_once('=') {
            Some((name, _)) if is_secret_long(name, front_end) => {
                return format!("--{name}={HIDDEN}");
            }
            Some((name, value)) => (format!("--{name}="), value),
            None => (String::new(), word),
        },
        None => short(word, front_end),
    };
    let value = match value == HIDDEN {
        true => Cow::Borrowed(value),
        false => redacted_text(value),
    };
    format!("{option}{value}")
}

/// A short option and the value attached to it.
fn short(word: &str, front_end: FrontEnd) -> (String, &str) {
    let Some(cluster) = word.strip_prefix('-') else {
        return (String::new(), word);
    };
    // hey's options have one dash, and one or more letters.
    if let (FrontEnd::Hey, Some((name, value))) = (front_end, cluster.split_once('=')) {
        let value = if name == "a" { HIDDEN } else { value };
        return (format!("-{name}="), value);
    }
    if front_end != FrontEnd::Hey
        && let Some(user) = user_of_cluster(cluster, front_end)
    {
        let options = &word[..word.len() - user.len()];
        return (options.to_owned(), HIDDEN);
    }
    let first = cluster.chars().next().map_or(0, char::len_utf8);
    (word[..=first].to_owned(), &cluster[first..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(front_end: FrontEnd, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        redacted_command_line(&words, front_end).join(" ")
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "one table")]
    fn secrets_of_each_front_end_are_hidden() {
        use FrontEnd::{Bench, Bombardier, Hey, Script};
        for (front_end, words, expected) in [
            (Bench, &["-u", "a:b", "-H", "X:1"][..], "-u *** -H X:1"),
            (
                Bench,
                &["-ua:b", "-kua:b", "-ku", "a:b"],
                "-u*** -ku*** -ku ***",
            ),
            (
                Bench,
                &["--user=a:b", "--user", "a:b"],
                "--user=*** --user ***",
            ),
            (
                Bench,
                &["--bearer", "t", "--bearer=t"],
                "--bearer *** --bearer=***",
            ),
            (Bench, &["-H", "authorization:t"], "-H authorization:***"),
            (
                Bench,
                &["-HCookie: t", "--header=X-Api-Key: k"],
                "-HCookie: *** --header=X-Api-Key: ***",
            ),
            (
                Bench,
                &["-F", "password=p", "-Fpwd=p", "--form=a=b"],
                "-F password=*** -Fpwd=*** --form=a=b",
            ),
            (
                Bench,
                &["-b", "{\"token\":\"t\"}", "-bsecret=s&a=b"],
                "-b {\"token\":\"***\"} -bsecret=***&a=b",
            ),
            (
                Bench,
                &["-x", "http://u:p@p:1", "http://a:b@h/@?sig=s"],
                "-x http://u:***@p:1 http://a:***@h/@?sig=***",
            ),
            (Bench, &["--control-token", "w"], "--control-token ***"),
            (Bench, &["--cookies", "http://h/"], "--cookies http://h/"),
            (
                Bench,
                &["-n", "10", "-c", "2", "--label", "a=b"],
                "-n 10 -c 2 --label a=b",
            ),
            (
                Bench,
                &["-o", "influxdb=http://u:p@h/db?token=t"],
                "-o influxdb=http://u:***@h/db?token=***",
            ),
            (
                Script,
                &["-u", "10", "-e", "API_TOKEN=t", "-eDB_PASSWORD=p"],
                "-u 10 -e API_TOKEN=*** -eDB_PASSWORD=***",
            ),
            (
                Script,
                &["--env=API_KEY=k", "--env", "A=b"],
                "--env=API_KEY=*** --env A=b",
            ),
            (
                Script,
                &["--secret-source", "mock=a=b", "--show-secrets", "s.js"],
                "--secret-source *** --show-secrets s.js",
            ),
            (
                Hey,
                &["-a", "u:p", "-a=u:p", "--a=u:p", "--a", "u:p"],
                "-a *** -a=*** --a=*** --a ***",
            ),
            (
                Hey,
                &["-H", "PRIVATE-TOKEN: t", "-H=apikey: k"],
                "-H PRIVATE-TOKEN: *** -H=apikey: ***",
            ),
            (
                Hey,
                &["-disable-keepalive", "-d", "password=p", "http://h"],
                "-disable-keepalive -d password=*** http://h",
            ),
            (
                Bombardier,
                &["-a", "-HX-Amz-Security-Token: t", "http://h"],
                "-a -HX-Amz-Security-Token: *** http://h",
            ),
            (
                Bombardier,
                &["--key=k.pem", "-b", "pwd=p"],
                "--key=k.pem -b pwd=***",
            ),
        ] {
            assert_eq!(redacted(front_end, words), expected, "{front_end:?}");
        }
    }
}
