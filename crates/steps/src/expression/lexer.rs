//! Splits scripts into words, numbers, texts and signs.
//!
//! Must not know their meaning. Invariant: there are at most as many tokens as characters.

use super::Dialect;
use super::parser::Fault;

/// A token of a script.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name or keyword.
    Word(String),
    /// A number as written.
    Number(String),
    /// A text, which may contain scripts.
    Text(Vec<Part>),
    /// An operator, a bracket or a separator.
    Sign(&'static str),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    /// Literal text.
    Literal(String),
    /// The value of a script.
    Script(String),
}

/// All signs, longer ones first.
const SIGNS: &[&str] = &[
    "===", "!==", "?.", "?:", "??", "==", "!=", "<=", ">=", "&&", "||", "=~", "!~", "=^", "=$",
    "!^", "!$", "..", "++", "--", "+=", "-=", "->", "<<", ">>", "+", "-", "*", "/", "%", "<", ">",
    "=", "!", "~", "&", "|", "^", "?", ":", ".", ",", ";", "(", ")", "[", "]", "{", "}", "@",
];

/// Splits a script.
pub(super) fn tokens(source: &str, dialect: Dialect) -> Result<Vec<Token>, Fault> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        if first.is_whitespace() {
            rest = rest.trim_start();
        } else if let Some(after) = comment(rest)? {
            rest = after;
        } else if first.is_ascii_digit() {
            let length = number_length(rest);
            tokens.push(Token::Number(rest[..length].to_owned()));
            rest = &rest[length..];
        } else if first.is_alphabetic() || matches!(first, '_' | '$') {
            let end = rest.find(|next: char| !next.is_alphanumeric() && !matches!(next, '_' | '$'));
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            tokens.push(Token::Word(word.to_owned()));
            rest = after;
        } else if is_quote(first, dialect) {
            let (text, after) = text(rest, dialect)?;
            tokens.push(Token::Text(text));
            rest = after;
        } else {
            let sign = SIGNS
                .iter()
                .find(|sign| rest.starts_with(**sign))
                .ok_or(Fault::Malformed)?;
            tokens.push(Token::Sign(sign));
            rest = &rest[sign.len()..];
        }
    }
    Ok(tokens)
}

fn is_quote(character: char, dialect: Dialect) -> bool {
    matches!(character, '\'' | '"') || character == '`' && dialect == Dialect::Jexl3
}

/// The text after a comment; `None`: there is no comment.
fn comment(rest: &str) -> Result<Option<&str>, Fault> {
    if let Some(inner) = rest.strip_prefix("/*") {
        return match inner.split_once("*/") {
            Some((_, after)) => Ok(Some(after)),
            None => Err(Fault::Malformed),
        };
    }
    let line = rest.starts_with("//") || rest.starts_with("##");
    Ok(line.then(|| &rest[rest.find('\n').unwrap_or(rest.len())..]))
}

/// Length in bytes of the number at the start of a text, with exponent and suffix.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        from + bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count()
    };
    if text.starts_with("0x") || text.starts_with("0X") {
        return 2 + bytes[2..]
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
    }
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + signed).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + signed);
        }
    }
    let suffix = bytes
        .get(end)
        .is_some_and(|byte| b"lLfFdDgGiIbBhH".contains(byte));
    end + usize::from(suffix)
}

/// A quoted text, and the rest.
fn text(source: &str, dialect: Dialect) -> Result<(Vec<Part>, &str), Fault> {
    let quote = &source[..1];
    let with_scripts = quote == "`";
    let mut rest = &source[quote.len()..];
    let mut parts = Vec::new();
    let mut literal = String::new();
    loop {
        if let Some(after) = rest.strip_prefix(quote) {
            parts.push(Part::Literal(literal));
            return Ok((parts, after));
        }
        let character = rest.chars().next().ok_or(Fault::Malformed)?;
        let after = &rest[character.len_utf8()..];
        if character == '$'
            && with_scripts
            && let Some((script, after)) = script(after)
        {
            parts.push(Part::Literal(std::mem::take(&mut literal)));
            parts.push(Part::Script(script.to_owned()));
            rest = after;
        } else if character == '\\' {
            rest = escape(after, dialect, &mut literal)?;
        } else if character == '\n' {
            return Err(Fault::Malformed);
        } else {
            literal.push(character);
            rest = after;
        }
    }
}

/// The script after a dollar sign: `{…}` or a name with its properties.
fn script(rest: &str) -> Option<(&str, &str)> {
    if let Some(inner) = rest.strip_prefix('{') {
        return inner.split_once('}');
    }
    let begins = rest.starts_with(|next: char| next.is_alphabetic() || next == '_');
    let end = rest
        .find(|next: char| !next.is_alphanumeric() && next != '_')
        .unwrap_or(rest.len());
    begins.then(|| rest.split_at(end))
}

/// Appends the value of an escape, and returns the rest.
fn escape<'s>(rest: &'s str, dialect: Dialect, out: &mut String) -> Result<&'s str, Fault> {
    let escaped = rest.chars().next().ok_or(Fault::Malformed)?;
    let after = &rest[escaped.len_utf8()..];
    match escaped {
        '\\' | '\'' | '"' | '`' | '$' | '/' => out.push(escaped),
        _ if dialect == Dialect::Jexl2 => {
            out.push('\\');
            out.push(escaped);
        }
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'u' => {
            let digits = after.get(..4).ok_or(Fault::Malformed)?;
            let code = u32::from_str_radix(digits, 16).map_err(|_| Fault::Malformed)?;
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return Ok(&after[4..]);
        }
        // Other escapes are kept.
        _ => {
            out.push('\\');
            out.push(escaped);
        }
    }
    Ok(after)
}
