//! Splits a template into text and the tokens of its actions.
//!
//! Must not know the grammar. Invariant: every token has its line number, and trim markers have already eaten
//! the white space beside them.

use super::TemplateError;
use super::scan::Scanner;
use super::value::Value;

/// What a template is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Text outside actions.
    Text(String),
    /// `{{`.
    Open,
    /// `}}`.
    Close,
    /// White space inside an action, which separates arguments.
    Space,
    Pipe,
    Declare,
    Assign,
    Comma,
    LeftParen,
    RightParen,
    Dot,
    /// `.name`.
    Field(String),
    /// `$` or `$name`, without the dollar sign.
    Variable(String),
    /// A keyword or the name of a function.
    Word(String),
    /// A number, a character or a string.
    Constant(Constant),
}

/// A literal that compares by its spelling.
#[derive(Clone, Debug)]
pub(super) struct Constant(pub(super) Value);

impl PartialEq for Constant {
    fn eq(&self, _: &Self) -> bool {
        false
    }
}

/// A token and its line.
pub(super) type Placed = (Token, usize);

const SPACES: &[char] = &[' ', '\t', '\r', '\n'];

/// Splits a whole template.
pub(super) fn lex(text: &str) -> Result<Vec<Placed>, TemplateError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while let Some(open) = rest.find("{{") {
        let (before, after) = (&rest[..open], &rest[open + 2..]);
        let trims = after.starts_with('-') && after[1..].starts_with(SPACES);
        push_text(
            &mut tokens,
            if trims {
                before.trim_end_matches(SPACES)
            } else {
                before
            },
            line,
        );
        line += newlines(before);
        let inside = if trims { &after[1..] } else { after };
        let (used, trims_after) = if inside.trim_start_matches(SPACES).starts_with("/*") {
            comment(inside, line)?
        } else {
            action(inside, line, &mut tokens)?
        };
        line += newlines(&inside[..used]);
        rest = &inside[used..];
        if trims_after {
            let trimmed = rest.trim_start_matches(SPACES);
            line += newlines(&rest[..rest.len() - trimmed.len()]);
            rest = trimmed;
        }
    }
    push_text(&mut tokens, rest, line);
    Ok(tokens)
}

fn push_text(tokens: &mut Vec<Placed>, text: &str, line: usize) {
    if !text.is_empty() {
        tokens.push((Token::Text(text.to_owned()), line));
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// The length of a comment with its closing braces, and whether it trims what follows.
fn comment(inside: &str, line: usize) -> Result<(usize, bool), TemplateError> {
    let end = inside
        .find("*/")
        .ok_or_else(|| TemplateError::new(line, "unclosed comment"))?
        + 2;
    let after = &inside[end..];
    if after.starts_with("}}") {
        return Ok((end + 2, false));
    }
    let trimmed = after.trim_start_matches(SPACES);
    if trimmed.len() < after.len() && trimmed.starts_with("-}}") {
        return Ok((end + after.len() - trimmed.len() + 3, true));
    }
    Err(TemplateError::new(
        line,
        "comment ends before closing delimiter",
    ))
}

/// The length of an action with its closing braces, and whether it trims what follows.
fn action(
    inside: &str,
    first_line: usize,
    tokens: &mut Vec<Placed>,
) -> Result<(usize, bool), TemplateError> {
    tokens.push((Token::Open, first_line));
    let mut at = 0;
    loop {
        let rest = &inside[at..];
        let line = first_line + newlines(&inside[..at]);
        if let Some((length, trims)) = closing(rest) {
            tokens.push((Token::Close, line));
            return Ok((at + length, trims));
        }
        if rest.is_empty() {
            return Err(TemplateError::new(first_line, "unclosed action"));
        }
        let mut scanner = Scanner::new(rest);
        let token = scanner
            .token()
            .map_err(|what| TemplateError::new(line, what))?;
        tokens.push((token, line));
        at += scanner.used();
    }
}

/// The closing braces at the start of the text, with the marker that trims.
fn closing(rest: &str) -> Option<(usize, bool)> {
    if rest.starts_with("}}") {
        return Some((2, false));
    }
    let trimmed = rest.trim_start_matches(SPACES);
    let skipped = rest.len() - trimmed.len();
    if skipped > 0 && trimmed.starts_with("-}}") {
        return Some((skipped + 3, true));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(template: &str) -> Vec<String> {
        let tokens = lex(template).expect("lexes");
        tokens
            .into_iter()
            .filter_map(|(token, _)| match token {
                Token::Text(text) => Some(text),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn trim_markers_eat_white_space_and_comments_vanish() {
        assert_eq!(texts("a {{- .x -}} \n b"), ["a", "b"]);
        assert_eq!(texts("a {{/* c */}} b"), ["a ", " b"]);
        assert_eq!(texts("a {{- /* c */ -}} b"), ["a", "b"]);
        assert_eq!(texts("a {{-3}} b"), ["a ", " b"]);
    }

    #[test]
    fn lines_are_counted_through_actions_and_trims() {
        let tokens = lex("a\n{{- if\n.x -}}\n\n{{.y}}").expect("lexes");
        let line_of = |name: &str| {
            tokens
                .iter()
                .find(|(t, _)| *t == Token::Field(name.to_owned()))
                .map(|(_, line)| *line)
        };
        assert_eq!((line_of("x"), line_of("y")), (Some(3), Some(5)));
        assert_eq!(lex("x\n{{.a").expect_err("open").line, 2);
    }
}
