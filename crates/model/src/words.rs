//! Command lines as text: how they are split into words, and how words are written so that they can be typed.
//!
//! Must not know what is run; there are no variables and no patterns. Invariant: joined words split into the
//! same words, here and in a shell.

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

/// A word as a shell reads it. Braces and tildes are quoted too: shells expand them.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
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
    fn a_backslash_is_read_as_a_shell_reads_it() {
        let words = split(r#"a  'b c' "d \" e"f \'g '' "\d" \d '\d' "#).expect("the line is whole");
        assert_eq!(words, ["a", "b c", "d \" ef", "'g", "", r"\d", "d", r"\d"]);
        assert_eq!(split(" "), Ok(Vec::new()));
    }

    #[test]
    fn what_a_shell_would_change_is_quoted() {
        for (word, typed) in [
            ("http://h:1/a", "http://h:1/a"),
            ("p(99)<50ms", "'p(99)<50ms'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("~/a", "'~/a'"),
            ("{a,b}", "'{a,b}'"),
        ] {
            assert_eq!(join(&[word.to_owned()]), typed);
        }
    }
}
