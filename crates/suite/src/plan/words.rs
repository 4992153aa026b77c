//! Extracts options from the words of a command line.
//!
//! Must not know which options there are. Invariant: other words stay as they are, in their order.

/// How a command line's options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// `-c 5`, `-c5`, `-c=5`, `--connections 5`, `--connections=5`.
    Gnu,
    /// `-c 5`, `-c=5`, `--c 5`: names of any length behind one or two dashes.
    Go,
}

/// The names of an option with a value (without dashes).
pub(super) type Names = &'static [&'static str];

/// Takes an option out of words; the last value wins.
pub(super) fn take(words: &mut Vec<String>, style: Style, names: Names) -> Option<String> {
    let mut value = None;
    let mut at = 0;
    while at < words.len() {
        match matched(&words[at], style, names) {
            Some(Match::Whole(found)) => {
                value = Some(found);
                words.remove(at);
            }
            Some(Match::NextWord) => {
                words.remove(at);
                if at < words.len() {
                    value = Some(words.remove(at));
                }
            }
            None => at += 1,
        }
    }
    value
}

/// The value of an option, which stays where it is.
#[must_use]
pub(super) fn peek(words: &[String], style: Style, names: Names) -> Option<String> {
    take(&mut words.to_vec(), style, names)
}

/// All values of an option that may be given several times.
#[must_use]
pub(super) fn values(words: &[String], style: Style, names: Names) -> Vec<String> {
    let mut values = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match matched(word, style, names) {
            Some(Match::Whole(found)) => values.push(found),
            Some(Match::NextWord) => values.extend(words.next().cloned()),
            None => {}
        }
    }
    values
}

enum Match {
    /// The word contains the value.
    Whole(String),
    /// The next word is the value.
    NextWord,
}

fn matched(word: &str, style: Style, names: Names) -> Option<Match> {
    let bare = word.strip_prefix('-')?;
    let (bare, long) = match bare.strip_prefix('-') {
        Some(bare) => (bare, true),
        None => (bare, false),
    };
    for name in names {
        let is_long = name.len() > 1;
        if style == Style::Gnu && is_long != long {
            continue;
        }
        let Some(rest) = bare.strip_prefix(name) else {
            continue;
        };
        if rest.is_empty() {
            return Some(Match::NextWord);
        }
        if let Some(value) = rest.strip_prefix('=') {
            return Some(Match::Whole(value.to_owned()));
        }
        if style == Style::Gnu && !is_long {
            return Some(Match::Whole(rest.to_owned()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use loadline_model::words::split;

    use super::*;

    #[test]
    fn options_in_every_spelling() {
        for (line, style, value, rest) in [
            ("-c 5 u", Style::Gnu, Some("5"), "u"),
            ("-c5 u -c 6", Style::Gnu, Some("6"), "u"),
            ("--connections=5 u", Style::Gnu, Some("5"), "u"),
            ("--c 5 u", Style::Gnu, None, "--c 5 u"),
            ("--c 5 -cpus 2 u", Style::Go, Some("5"), "-cpus 2 u"),
            ("-c=5 u", Style::Go, Some("5"), "u"),
        ] {
            let mut words = split(line).expect("the line is whole");
            let found = take(&mut words, style, &["c", "connections"]);
            assert_eq!(found.as_deref(), value, "{line}");
            assert_eq!(words.join(" "), rest, "{line}");
        }
    }
}
