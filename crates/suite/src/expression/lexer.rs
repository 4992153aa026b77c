//! Splits an expression into tokens with their positions.
//!
//! Must not know their meaning. Invariant: every byte of the text belongs to a token or to white space between
//! tokens, or is the position of an error.

use std::fmt;

use loadline_model::duration::unit_name;

use super::ParseError;
use super::dimension::Dimension;
use super::unit::UNITS;
use super::value::Quantity;

/// What `µs` begins with; two letters look so.
const MICRO: [char; 2] = ['\u{b5}', '\u{3bc}'];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Number(Quantity),
    Text(String),
    Name(String),
    Sign(&'static str),
}

/// A word and the place of its first character, from zero.
pub(super) type Placed = (usize, Word);

/// In the order in which they must be tried: a sign before its own beginning.
const SIGNS: [&str; 18] = [
    "<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",", ".", "?", ":",
];

/// Whether a text can be a name without quotes.
pub(super) fn is_name(text: &str) -> bool {
    let rest = text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let first = text.bytes().next();
    rest && first.is_some_and(|first| !first.is_ascii_digit())
}

/// Writes words as they are read again.
pub(super) fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Writes a quantity as it is read again.
pub(super) fn write_quantity(f: &mut fmt::Formatter<'_>, quantity: Quantity) -> fmt::Result {
    let base = UNITS
        .iter()
        .find(|(_, dimension, factor)| *factor == 1.0 && *dimension == quantity.dimension);
    write!(f, "{:?}", quantity.amount)?;
    base.map_or(Ok(()), |(name, _, _)| f.write_str(name))
}

pub(super) fn words(source: &str) -> Result<Vec<Placed>, ParseError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = source[at..].chars().next() {
        let rest = &source[at..];
        let (word, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_digit() {
            number(rest).map_err(|what| error(source, at, what))?
        } else if first == '"' || first == '\'' {
            text(rest, first).map_err(|what| error(source, at, what))?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = name_length(rest);
            (Word::Name(rest[..length].to_owned()), length)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Word::Sign(sign), sign.len())
        } else {
            let what = format!("unexpected `{first}`; put words in quotes");
            return Err(error(source, at, what));
        };
        found.push((at, word));
        at += length;
    }
    Ok(found)
}

fn error(source: &str, at: usize, what: String) -> ParseError {
    ParseError::at(source, at, what)
}

fn name_length(rest: &str) -> usize {
    let end = rest
        .bytes()
        .position(|b| !(b.is_ascii_alphanumeric() || b == b'_'));
    end.unwrap_or(rest.len())
}

/// The same of a unit, which may begin with the sign of a millionth.
fn unit_length(rest: &str) -> usize {
    match rest.strip_prefix(MICRO) {
        Some(behind) => rest.len() - behind.len() + name_length(behind),
        None => name_length(rest),
    }
}

fn number(rest: &str) -> Result<(Word, usize), String> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits((end + 1 + signed).min(bytes.len()));
        end += if exponent > 0 {
            1 + signed + exponent
        } else {
            0
        };
    }
    let amount: f64 = rest[..end]
        .parse()
        .map_err(|_| "this is not a number".to_owned())?;
    let unit_length = if bytes.get(end) == Some(&b'%') {
        1
    } else {
        unit_length(&rest[end..])
    };
    let unit = &rest[end..end + unit_length];
    let (factor, dimension) = match unit {
        "" => (1.0, Dimension::NUMBER),
        "%" => (0.01, Dimension::NUMBER),
        _ => {
            let known = UNITS.iter().find(|(name, _, _)| *name == unit_name(unit));
            let known = known.ok_or_else(|| unknown_unit(unit))?;
            (known.2, known.1)
        }
    };
    let amount = amount * factor;
    if !amount.is_finite() {
        return Err("this number is too large".to_owned());
    }
    Ok((
        Word::Number(Quantity { amount, dimension }),
        end + unit_length,
    ))
}

fn unknown_unit(unit: &str) -> String {
    let known: Vec<&str> = UNITS.iter().map(|(name, _, _)| *name).collect();
    format!(
        "`{unit}` is not a unit of a number; they are %, {}",
        known.join(", ")
    )
}

fn text(rest: &str, quote: char) -> Result<(Word, usize), String> {
    let mut out = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, c)) = characters.next() {
        match c {
            c if c == quote => return Ok((Word::Text(out), at + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, c @ ('"' | '\'' | '\\'))) => out.push(c),
                _ => return Err("after \\ write n, \\ or a quote".to_owned()),
            },
            c => out.push(c),
        }
    }
    Err(format!("this text is not closed; add {quote}"))
}
