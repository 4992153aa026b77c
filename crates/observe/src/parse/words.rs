//! Splits a command line into words.
//!
//! Must not know what is run; there are no variables and no patterns. Invariant: quotes group text and are
//! removed; nothing else changes.

/// Splits at spaces; single and double quotes group text, and outside of single quotes a backslash escapes the
/// next character.
///
/// # Errors
/// A quote is not closed.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    if let Some(quote) = quote {
        return Err(format!(
            "a quote {quote} is not closed in {text:?}; close it"
        ));
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would() {
        let words = split_words(r#"a  'b c' "d \" e"f \'g '' "#).unwrap();
        assert_eq!(words, ["a", "b c", "d \" ef", "'g", ""]);
        assert_eq!(split_words(" ").unwrap(), Vec::<String>::new());
        assert!(split_words("a 'b").unwrap_err().contains("quote"));
    }
}
