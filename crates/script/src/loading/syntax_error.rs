//! Syntax errors in k6's words.
//!
//! k6 parses JavaScript with goja's parser and TypeScript with esbuild; scripts and logs contain the messages
//! of both, with columns from one and from zero respectively. Must not know who parsed. Invariant: only the
//! first error is reported, with its position.

use std::str::Utf8Error;

use oxc::diagnostics::OxcDiagnostic;

use crate::program::LoadError;

/// A reserved word, which is not an identifier although it looks like one.
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

/// Format of a JavaScript error in k6.
#[derive(Clone, Copy)]
enum Told {
    /// From its parser: `name: Line 2:11 words`.
    Parsing,
    /// From its compiler: `SyntaxError: words at name:2:11`.
    Compiling,
    /// From its compiler, without a position.
    Nowhere,
}

/// The position that k6 reports for an error with these labels.
#[derive(Clone, Copy)]
enum At {
    Label,
    /// At the second label: the repeated declaration.
    Again,
    /// After the label.
    End,
    /// At the start of the word or number that contains the label.
    Word,
    /// At the keyword before the label.
    Before(&'static str),
}

/// Start of a message, and k6's words for it, in which `{}` is the name quoted in the message.
const KNOWN: &[(&str, &str, Told, At)] = {
    use At::{Again, Before, End, Label, Word};
    use Told::{Compiling, Nowhere, Parsing};
    &[
        (
            "Identifier `",
            "Identifier '{}' has already been declared",
            Compiling,
            Again,
        ),
        (
            "Duplicated export",
            "Duplicate export name {}",
            Nowhere,
            Label,
        ),
        (
            "A module cannot have multiple default",
            "Duplicate export name default",
            Nowhere,
            Label,
        ),
        (
            "Export '",
            "exporting unknown binding: \"{}\"",
            Compiling,
            Label,
        ),
        (
            "Missing initializer in const",
            "Missing initializer in const declaration",
            Compiling,
            Label,
        ),
        (
            "Missing initializer in destr",
            "Missing initializer in destructuring declaration",
            Parsing,
            End,
        ),
        (
            "Empty parenthesized expression",
            "Unexpected token )",
            Parsing,
            End,
        ),
        (
            "A 'return' statement cannot be used",
            "Illegal return statement",
            Compiling,
            Label,
        ),
        (
            "Cannot assign to this expression",
            "Invalid left-hand side in assignment",
            Parsing,
            Label,
        ),
        (
            "Cannot assign to '",
            "Assignment to eval or arguments is not allowed in strict mode",
            Compiling,
            Label,
        ),
        (
            "Illegal break statement",
            "Illegal break statement",
            Parsing,
            Label,
        ),
        (
            "Illegal continue statement",
            "Illegal continue statement",
            Parsing,
            Label,
        ),
        ("Label `", "Label '{}' already exists", Parsing, Again),
        (
            "'import statement' declaration",
            "import only allowed in global scope",
            Parsing,
            Label,
        ),
        (
            "'export statement' declaration",
            "export only allowed in global scope",
            Parsing,
            Label,
        ),
        (
            "Missing catch or finally",
            "Missing catch or finally after try",
            Parsing,
            Before("try"),
        ),
        (
            "Unterminated regular expression",
            "Invalid regular expression: missing /",
            Parsing,
            Label,
        ),
        (
            "Invalid characters after number",
            "Unexpected token ILLEGAL",
            Parsing,
            Word,
        ),
        (
            "Invalid escape sequence",
            "Unexpected token ILLEGAL",
            Parsing,
            Label,
        ),
        (
            "Invalid Unicode escape sequence",
            "Unexpected token ILLEGAL",
            Parsing,
            Label,
        ),
        (
            "Identifier expected. 'enum'",
            "Unexpected reserved word",
            Parsing,
            Label,
        ),
        (
            "Identifier expected. '",
            "Unexpected token {}",
            Parsing,
            Label,
        ),
        (
            "A 'get' accessor must not",
            "Getter must not have any formal parameters.",
            Parsing,
            Label,
        ),
        (
            "The keyword '",
            "Unexpected strict mode reserved word",
            Compiling,
            Label,
        ),
        (
            "`let` cannot be declared",
            "let is disallowed as a lexically bound name",
            Compiling,
            Label,
        ),
        (
            "Private identifier '#",
            "Private field '{}' must be declared in an enclosing class",
            Compiling,
            Label,
        ),
        (
            "Private field '#",
            "Private field '{}' must be declared in an enclosing class",
            Compiling,
            Label,
        ),
        (
            "'with' statements are",
            "Strict mode code may not include a with statement",
            Compiling,
            Label,
        ),
        (
            "Delete of an unqualified",
            "Delete of an unqualified identifier in strict mode",
            Compiling,
            Label,
        ),
        (
            "'0'-prefixed octal",
            "Octal literals are not allowed in strict mode",
            Compiling,
            Label,
        ),
        (
            "Multiple constructor",
            "A class may only have one constructor",
            Compiling,
            Again,
        ),
        (
            "'super' can only be",
            "'super' keyword unexpected here",
            Compiling,
            Label,
        ),
        (
            "Super calls are not",
            "'super' keyword unexpected here",
            Compiling,
            Label,
        ),
    ]
};

/// An error in JavaScript: `name: Line 2:11 Unexpected token ;`.
pub(super) fn of_javascript(name: &str, text: &str, error: &OxcDiagnostic) -> LoadError {
    if let Some(known) = of_meaning(name, text, error) {
        return known;
    }
    let place = if is_wrong_keyword(error) {
        Place::behind_word(text, error)
    } else {
        Place::of(text, error)
    };
    // Only the end of the text can end a template that is left open.
    let is_open_template = is_unterminated(error) && matches!(place.token, "`" | "}");
    let place = match is_open_template {
        true => Place::at(text, text.len()),
        false => place,
    };
    let message = if is_unterminated(error) && !is_open_template {
        "Unexpected token ILLEGAL".to_owned()
    } else if is_open_template || is_unexpected(error) || is_wrong_keyword(error) {
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

/// A semantic error in JavaScript, such as a name declared twice; `None` for unknown ones, which are left to
/// the engine.
pub(super) fn of_meaning(name: &str, text: &str, error: &OxcDiagnostic) -> Option<LoadError> {
    let known = KNOWN
        .iter()
        .find(|(begins, ..)| error.message.starts_with(begins))
        // A constant lacks a value only if its declaration ends there; otherwise the token is unexpected.
        .filter(|_| !lacks_value(error) || ends_declaration(Place::of(text, error).token));
    let (_, words, told, at) = known?;
    let words = words.replace("{}", quoted_name(&error.message));
    let place = Place::at(text, offset_of(text, error, *at));
    let (line, column) = (place.line, place.column + 1);
    Some(LoadError::new(match told {
        Told::Parsing => format!("{name}: Line {line}:{column} {words}"),
        Told::Compiling => format!("SyntaxError: {words} at {name}:{line}:{column}"),
        Told::Nowhere => format!("SyntaxError: {words}"),
    }))
}

/// The first name in quotes or backticks.
fn quoted_name(message: &str) -> &str {
    let mut parts = message.split(['`', '\'']);
    parts.nth(1).unwrap_or_default()
}

fn offset_of(text: &str, error: &OxcDiagnostic, at: At) -> usize {
    let labels = error.labels.as_slice();
    let start = |number: usize| {
        let label = labels.get(number).or(labels.first());
        label.map_or(0, |label| label.offset() as usize)
    };
    let before = |offset: usize| text.get(..offset).unwrap_or_default();
    match at {
        At::Label => start(0),
        At::Again => start(1),
        At::End => start(0) + labels.first().map_or(0, |label| label.len() as usize),
        At::Word => before(start(0)).trim_end_matches(is_word).len(),
        At::Before(keyword) => before(start(0)).rfind(keyword).unwrap_or(start(0)),
    }
}

/// `await` and `yield` outside of their context: the token after the name is unexpected.
fn is_wrong_keyword(error: &OxcDiagnostic) -> bool {
    error.message.starts_with("`await` is only allowed")
        || error.message.starts_with("A 'yield' expression is only")
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

/// What the parser takes and k6's does not, at this byte.
pub(super) fn of_refused(name: &str, text: &str, offset: usize, words: &str) -> LoadError {
    let place = Place::at(text, offset);
    let (line, column) = (place.line, place.column + 1);
    LoadError::new(format!("{name}: Line {line}:{column} {words}"))
}

/// A text that is not UTF-8, whatever else is wrong behind that; columns are bytes here.
pub(super) fn of_encoding(name: &str, text: &[u8], error: Utf8Error) -> LoadError {
    let before = &text[..error.valid_up_to()];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let of_line = before.rsplit(|byte| *byte == b'\n').next();
    let column = of_line.map_or(0, <[u8]>::len) + 1;
    LoadError::new(format!(
        "{name}: Line {line}:{column} Invalid UTF-8 character"
    ))
}

/// Nesting exceeds the limit at this byte.
pub(super) fn too_deep(name: &str, text: &str, offset: usize, most: usize) -> LoadError {
    let words = format!("the code is nested more than {most} levels deep: make it flatter");
    of_refused(name, text, offset, &words)
}

/// The position of an error.
struct Place<'a> {
    /// From one.
    line: usize,
    /// From zero, in characters.
    column: usize,
    /// The token there; empty at the end of the text.
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

    /// The position after the first word of an error.
    fn behind_word(text: &'a str, error: &OxcDiagnostic) -> Place<'a> {
        let rest = text.get(offset_of(text, error, At::Label)..);
        let after = rest
            .unwrap_or_default()
            .trim_start_matches(is_word)
            .trim_start();
        Place::at(text, text.len() - after.len())
    }

    fn at(text: &'a str, offset: usize) -> Place<'a> {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Place {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count(),
            token: token_at(&text[before.len()..]),
        }
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '$')
}

/// Signs of several letters, the longer of two with the same start first.
const SIGNS: &[&str] = &[
    ">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=",
    "<=", ">=", "++", "--", "**", "<<", ">>", "&&", "||", "??", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "?.",
];

/// The first token of a text: a word, a number, a string's quote or a sign.
fn token_at(text: &str) -> &str {
    let word = text.find(|letter| !is_word(letter)).unwrap_or(text.len());
    if word > 0 {
        return &text[..word];
    }
    if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return sign;
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
        || error.message.starts_with("Expected function name")
        || error.message.starts_with("Expected switch clause")
        || error.message.starts_with("Unexpected JSX")
        || expected(error).is_some()
        || lacks_value(error)
}

/// A constant or a pattern without a value.
fn lacks_value(error: &OxcDiagnostic) -> bool {
    error.message.starts_with("Missing initializer")
}

fn ends_declaration(token: &str) -> bool {
    matches!(token, "" | ";" | "," | "}" | ")") || KEYWORDS.contains(&token)
}

/// The expected token in a message such as ``Expected `;` but found `}` ``.
fn expected(error: &OxcDiagnostic) -> Option<&str> {
    let wanted = error.message.strip_prefix("Expected `")?;
    wanted.split_once('`').map(|(wanted, _)| wanted)
}
