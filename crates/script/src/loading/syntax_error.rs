//! Syntax errors in k6's words.
//!
//! k6 reads JavaScript with goja's parser and TypeScript with esbuild; scripts and logs know the
//! messages of both, columns from one and from zero respectively. Must not know who parsed.
//! Invariant: the first error alone is told, with its place.

use oxc::diagnostics::OxcDiagnostic;

use crate::program::LoadError;

/// A word that is an identifier by its letters and none by the language.
const KEYWORDS: &[&str] = &[
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "new",
    "null",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// An error in JavaScript: `name: Line 2:11 Unexpected token ;`.
pub(super) fn of_javascript(name: &str, text: &str, error: &OxcDiagnostic) -> LoadError {
    let place = Place::of(text, error);
    let message = if is_unterminated(error) {
        "Unexpected token ILLEGAL".to_owned()
    } else if is_unexpected(error) {
        unexpected(place.token)
    } else {
        error.message.to_string()
    };
    LoadError::new(format!(
        "{name}: Line {}:{} {message}",
        place.line,
        place.column + 1
    ))
}

/// An error in TypeScript: `name: Line 2:18 Unexpected ";"`.
pub(super) fn of_typescript(name: &str, text: &str, error: &OxcDiagnostic) -> LoadError {
    let place = Place::of(text, error);
    let found = if place.token.is_empty() {
        "end of file".to_owned()
    } else {
        format!("\"{}\"", place.token)
    };
    let message = if is_unterminated(error) {
        "Unterminated string literal".to_owned()
    } else if let Some(wanted) = expected(error) {
        format!("Expected \"{wanted}\" but found {found}")
    } else if is_unexpected(error) {
        format!("Unexpected {found}")
    } else {
        error.message.to_string()
    };
    LoadError::new(format!(
        "{name}: Line {}:{} {message}",
        place.line, place.column
    ))
}

/// Brackets within more brackets than there may be, at this byte.
pub(super) fn too_deep(name: &str, text: &str, offset: usize, most: usize) -> LoadError {
    let place = Place::at(text, offset);
    LoadError::new(format!(
        "{name}: Line {}:{} brackets are nested more than {most} levels deep: make the text flatter",
        place.line,
        place.column + 1
    ))
}

/// Where an error is.
struct Place<'a> {
    /// From one.
    line: usize,
    /// From zero, in characters.
    column: usize,
    /// What stands there; empty at the end of the text.
    token: &'a str,
}

impl<'a> Place<'a> {
    fn of(text: &'a str, error: &OxcDiagnostic) -> Place<'a> {
        let label = error.labels.as_slice().first();
        let mut offset = label.map_or(0, |label| label.offset() as usize);
        if lacks_value(error) {
            offset += label.map_or(0, |label| label.len() as usize);
        }
        let after = text.get(offset..).unwrap_or_default().trim_start();
        Place::at(text, text.len() - after.len())
    }

    fn at(text: &'a str, offset: usize) -> Place<'a> {
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count(),
            token: token_at(&text[before.len()..]),
        }
    }
}

/// The first token of a text: a word, a number, a string's quote or one sign.
fn token_at(text: &str) -> &str {
    let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let word = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    if word > 0 {
        return &text[..word];
    }
    match text.chars().next() {
        Some(sign) if !sign.is_whitespace() => &text[..sign.len_utf8()],
        _ => "",
    }
}

fn unexpected(token: &str) -> String {
    match token.chars().next() {
        None => "Unexpected end of input".to_owned(),
        Some('0'..='9') => "Unexpected number".to_owned(),
        Some('"' | '\'') => "Unexpected string".to_owned(),
        Some('@' | '#' | '\\') => "Unexpected token ILLEGAL".to_owned(),
        Some(letter) if letter.is_alphabetic() || matches!(letter, '_' | '$') => {
            if KEYWORDS.contains(&token) {
                format!("Unexpected token {token}")
            } else {
                "Unexpected identifier".to_owned()
            }
        }
        Some(_) => format!("Unexpected token {token}"),
    }
}

fn is_unterminated(error: &OxcDiagnostic) -> bool {
    error.message.starts_with("Unterminated") || error.message.starts_with("Invalid Character")
}

fn is_unexpected(error: &OxcDiagnostic) -> bool {
    error.message.starts_with("Unexpected token")
        || error.message.starts_with("Expected a semicolon")
        || expected(error).is_some()
        || lacks_value(error)
}

/// A constant without a value: the token after its name is in the wrong place.
fn lacks_value(error: &OxcDiagnostic) -> bool {
    error.message.starts_with("Missing initializer")
}

/// What was wanted, of a message such as ``Expected `;` but found `}` ``.
fn expected(error: &OxcDiagnostic) -> Option<&str> {
    let wanted = error.message.strip_prefix("Expected `")?;
    wanted.split_once('`').map(|(wanted, _)| wanted)
}
