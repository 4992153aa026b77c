//! Splits a command line into words, and extracts options.
//!
//! Must not know which options there are. Invariant: joined words split into the same words.

/// Splits a command line like a shell: quotes, and `\` before a character.
///
/// # Errors
/// A quote is not closed; the text says which.
pub fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (Some('\''), sign) => word.get_or_insert_default().push(sign),
            (Some(_), '\\') => escaped(signs.next(), word.get_or_insert_default()),
            (Some(_), sign) => word.get_or_insert_default().push(sign),
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(signs.next()),
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (None, sign) => word.get_or_insert_default().push(sign),
        }
    }
    if let Some(open) = quote {
        return Err(format!("{open} is not closed"));
    }
    words.extend(word);
    Ok(words)
}

/// Within double quotes `\` takes the meaning of a quote, of itself and of a dollar alone.
fn escaped(sign: Option<char>, word: &mut String) {
    match sign {
        Some(sign @ ('"' | '\\' | '$' | '`')) => word.push(sign),
        Some(sign) => word.extend(['\\', sign]),
        None => word.push('\\'),
    }
}

/// Joins words into one line that a shell splits into the same words.
#[must_use]
pub fn join(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

/// A command line as someone would type it: the program without its folder, which is meaningless elsewhere.
#[must_use]
pub fn command_line(command: &[String]) -> String {
    let mut words = command.to_vec();
    if let Some(program) = words.first_mut() {
        *program = program
            .rsplit(['/', '\\'])
            .next()
            .unwrap_or_default()
            .to_owned();
    }
    join(&words)
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+{}~".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_command_line_names_the_program_alone_and_can_be_typed_again() {
        let words = ["/opt/bin/loadline", "bench", "-b", "one message"].map(str::to_owned);
        assert_eq!(command_line(&words), "loadline bench -b 'one message'");
        assert_eq!(command_line(&[]), "");
    }

    proptest! {
        #[test]
        fn joined_words_are_split_into_the_same(words in prop::collection::vec(".{0,12}", 0..6)) {
            prop_assert_eq!(split(&join(&words)), Ok(words));
        }
    }

    #[test]
    fn lines_as_people_write_them() {
        let line = r#"-m POST -H "Content-Type: application/json" -d '{"q": "cordless drill"}' http://h/ a\ b"#;
        let words = split(line).expect("the line is whole");
        assert_eq!(words[3], "Content-Type: application/json");
        assert_eq!(words[5], r#"{"q": "cordless drill"}"#);
        assert_eq!(words[7], "a b");
        assert!(
            split("'a")
                .expect_err("a quote is open")
                .contains("not closed")
        );
    }

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
