//! The tokens of an expression.
//!
//! Must not know grammar beyond the difference between names and operators. Invariant: no token is empty.

use std::fmt;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// `and`, `or`, `div`, `mod`, and signs.
    Operator(&'static str),
    /// A name, with its prefix; `*` for all.
    Name(Option<String>, String),
    /// A name before a parenthesis.
    Function(String),
    /// A name before `::`.
    Axis(String),
    Text(String),
    Number(f64),
    Variable,
}

/// As it is written; without the spaces around it.
impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Operator(sign) => out.write_str(sign),
            Token::Name(Some(prefix), local) => write!(out, "{prefix}:{local}"),
            Token::Name(None, name) | Token::Function(name) | Token::Axis(name) => {
                out.write_str(name)
            }
            Token::Text(text) => write!(out, "'{text}'"),
            Token::Number(number) => write!(out, "{number}"),
            Token::Variable => out.write_str("$"),
        }
    }
}

const SIGNS: [&str; 19] = [
    "::", "//", "..", "!=", "<=", ">=", "(", ")", "[", "]", ".", "@", ",", "/", "|", "+", "-", "=",
    "<",
];
const WORDS: [&str; 11] = [
    "and", "or", "div", "mod", "idiv", "eq", "ne", "lt", "le", "gt", "ge",
];

/// Splits an expression.
pub(super) fn split(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, behind) = match first {
            '"' | '\'' => {
                let end = rest[1..]
                    .find(first)
                    .ok_or("misquoted literal... expected single quote!")?;
                (Token::Text(rest[1..=end].to_owned()), &rest[end + 2..])
            }
            '0'..='9' => number(rest),
            '.' if rest[1..].starts_with(|one: char| one.is_ascii_digit()) => number(rest),
            '$' => (Token::Variable, &rest[1..]),
            '*' if follows_operand(&tokens) => (Token::Operator("*"), &rest[1..]),
            '*' => star(rest),
            '>' if !rest.starts_with(">=") => (Token::Operator(">"), &rest[1..]),
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Operator(sign), &rest[sign.len()..]),
                None => name(rest, &tokens)?,
            },
        };
        tokens.push(token);
        rest = behind.trim_start();
    }
    Ok(tokens)
}

/// The prefixes of an expression's names, in order; `xml` is always declared.
pub(super) fn prefixes(text: &str) -> Vec<String> {
    let tokens = split(text).unwrap_or_default();
    let prefixes = tokens.into_iter().filter_map(|token| match token {
        Token::Name(prefix, _) => prefix.filter(|prefix| !matches!(prefix.as_str(), "*" | "xml")),
        _ => None,
    });
    prefixes.collect()
}

/// After an operand, `*` multiplies, and `and` is an operator.
fn follows_operand(tokens: &[Token]) -> bool {
    match tokens.last() {
        None => false,
        Some(Token::Operator(sign)) => matches!(*sign, ")" | "]" | "." | ".."),
        Some(Token::Axis(_) | Token::Function(_)) => false,
        Some(_) => true,
    }
}

fn number(rest: &str) -> (Token, &str) {
    let end = rest
        .find(|one: char| !one.is_ascii_digit() && one != '.')
        .unwrap_or(rest.len());
    (
        Token::Number(rest[..end].parse().unwrap_or(f64::NAN)),
        &rest[end..],
    )
}

/// `*`, or `*:name`.
fn star(rest: &str) -> (Token, &str) {
    let behind = &rest[1..];
    if let Some(local) = behind
        .strip_prefix(':')
        .filter(|local| !local.starts_with(':'))
    {
        let end = name_length(local);
        if end > 0 {
            return (
                Token::Name(Some("*".to_owned()), local[..end].to_owned()),
                &local[end..],
            );
        }
    }
    (Token::Name(None, "*".to_owned()), behind)
}

fn name_length(text: &str) -> usize {
    let part = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-' | '.' | '\u{b7}');
    let starts = text.starts_with(|one: char| one.is_alphabetic() || one == '_');
    if starts {
        text.find(|one| !part(one)).unwrap_or(text.len())
    } else {
        0
    }
}

fn name<'t>(rest: &'t str, tokens: &[Token]) -> Result<(Token, &'t str), String> {
    let end = name_length(rest);
    if end == 0 {
        return Err(format!("Unexpected character in '{rest}'"));
    }
    let (first, behind) = rest.split_at(end);
    if follows_operand(tokens)
        && let Some(word) = WORDS.iter().find(|word| **word == first)
    {
        return Ok((Token::Operator(word), behind));
    }
    let qualified = behind
        .strip_prefix(':')
        .filter(|local| !local.starts_with(':'));
    if let Some(local) = qualified {
        let length = if local.starts_with('*') {
            1
        } else {
            name_length(local)
        };
        if length == 0 {
            return Err(format!("A name is missing after '{first}:'"));
        }
        let after = &local[length..];
        if after.trim_start().starts_with('(') {
            return Ok((
                Token::Function(format!("{first}:{}", &local[..length])),
                after,
            ));
        }
        return Ok((
            Token::Name(Some(first.to_owned()), local[..length].to_owned()),
            after,
        ));
    }
    let next = behind.trim_start();
    if let Some(after) = next.strip_prefix("::") {
        return Ok((Token::Axis(first.to_owned()), after));
    }
    if next.starts_with('(') {
        return Ok((Token::Function(first.to_owned()), behind));
    }
    Ok((Token::Name(None, first.to_owned()), behind))
}
