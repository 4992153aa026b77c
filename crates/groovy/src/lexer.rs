//! Splits a script into words and signs.
//!
//! Must not know their combined meaning. Invariant: time is linear in the length of the script, except for
//! nested texts, whose depth is limited.

use std::sync::Arc;

use super::ast::{Name, Number};
use super::{Dialect, Fault};

/// A word or sign.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    /// Whether a line ends before it.
    pub(crate) begins_line: bool,
    /// Whether there is white space before it.
    pub(crate) is_apart: bool,
    /// Start offset in bytes.
    pub(crate) at: usize,
    /// End offset in bytes.
    pub(crate) end: usize,
}

/// The kind of a token.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Word(Name),
    Number(Number),
    Text(Name),
    Char(char),
    Composed(Vec<TextPiece>),
    Sign(&'static str),
    End,
}

/// A piece of a text with embedded values.
#[derive(Clone, Debug)]
pub(crate) enum TextPiece {
    Text(Name),
    /// `$a.b.c`.
    Path(Vec<Name>),
    /// `${…}`.
    Code(Vec<Token>),
}

/// Signs, the longest first.
const SIGNS: &[&str] = &[
    ">>>=", "...", "..<", "<=>", "==~", "===", "!==", "**=", "<<=", ">>=", ">>>", "*.@", "?.@",
    "::", "->", "?.", "?:", "?=", "?[", "*.", ".&", ".@", "..", "==", "!=", "<=", ">=", "&&", "||",
    "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "=~", "**", "<<", ">>", "+", "-",
    "*", "/", "%", "=", "<", ">", "!", "~", "?", ":", ".", ",", ";", "(", ")", "[", "]", "{", "}",
    "&", "|", "^", "@",
];

/// Words followed by a value.
const BEFORE_VALUES: &[&str] = &[
    "return",
    "in",
    "case",
    "assert",
    "throw",
    "else",
    "do",
    "instanceof",
    "as",
    "and",
    "or",
];

/// Maximum depth of nested texts.
const DEEPEST: usize = 12;

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    dialect: Dialect,
    depth: usize,
    tokens: Vec<Token>,
    /// Texts of BeanShell: equal ones are identical objects, as in Java.
    texts: std::collections::HashMap<String, Name>,
}

/// The words and signs of a script.
///
/// # Errors
/// A text is not closed, or a character is invalid.
pub(crate) fn read(source: &str, dialect: Dialect) -> Result<Vec<Token>, Fault> {
    let mut lexer = Lexer {
        source,
        at: 0,
        dialect,
        depth: 0,
        tokens: Vec::new(),
        texts: std::collections::HashMap::new(),
    };
    if source.starts_with("#!") {
        lexer.at = source.find('\n').unwrap_or(source.len());
    }
    lexer.run(false)?;
    Ok(lexer.tokens)
}

fn malformed(what: impl Into<String>) -> Fault {
    Fault::Malformed(what.into())
}

fn is_word_start(one: char) -> bool {
    one.is_alphabetic() || one == '_' || one == '$'
}

fn is_word_part(one: char) -> bool {
    one.is_alphanumeric() || one == '_' || one == '$'
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Continues; inside a text up to the brace that ends its code.
    fn run(&mut self, is_inside: bool) -> Result<(), Fault> {
        let mut open_braces = 0_usize;
        loop {
            let (begins_line, is_apart) = self.skip()?;
            let at = self.at;
            let Some(first) = self.peek() else {
                if is_inside {
                    return Err(malformed("a text does not end"));
                }
                self.tokens.push(Token {
                    kind: Kind::End,
                    begins_line: true,
                    is_apart: true,
                    at,
                    end: at,
                });
                return Ok(());
            };
            if is_inside {
                match first {
                    '{' => open_braces += 1,
                    '}' if open_braces == 0 => {
                        self.tokens.push(Token {
                            kind: Kind::End,
                            begins_line: true,
                            is_apart: true,
                            at,
                            end: at,
                        });
                        self.at += 1;
                        return Ok(());
                    }
                    '}' => open_braces -= 1,
                    _ => {}
                }
            }
            let kind = self.token(first)?;
            self.tokens.push(Token {
                kind,
                begins_line,
                is_apart,
                at,
                end: self.at,
            });
        }
    }

    /// Skips white space and comments; returns whether a line ended, and whether anything was skipped.
    fn skip(&mut self) -> Result<(bool, bool), Fault> {
        let start = self.at;
        let mut has_ended = self.tokens.is_empty();
        while let Some(first) = self.peek() {
            let rest = self.rest();
            if first == '\n' {
                has_ended = true;
                self.at += 1;
            } else if first.is_whitespace() || matches!(first, '\u{feff}' | '\u{0}') {
                self.at += first.len_utf8();
            } else if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                let comment = rest.split_inclusive("*/").next().unwrap_or(rest);
                let is_short = comment == "/*/";
                let end = if is_short {
                    rest[3..].find("*/").map(|end| end + 5)
                } else {
                    Some(comment.len())
                };
                let end = end.filter(|end| rest[..*end].ends_with("*/"));
                let end = end.ok_or_else(|| malformed("a comment does not end"))?;
                has_ended |= rest[..end].contains('\n');
                self.at += end;
            } else if rest.starts_with("\\\n") || rest.starts_with("\\\r\n") {
                self.at += rest.find('\n').map_or(1, |end| end + 1);
            } else {
                break;
            }
        }
        Ok((has_ended, self.at > start))
    }

    fn token(&mut self, first: char) -> Result<Kind, Fault> {
        if first.is_ascii_digit() {
            return self.number();
        }
        let rest = self.rest();
        if self.dialect == Dialect::Groovy && rest.starts_with("$/") && !self.is_behind_value() {
            self.at += 2;
            return self.text(Quote::DollarSlashy);
        }
        if is_word_start(first) {
            let length = rest.find(|one| !is_word_part(one)).unwrap_or(rest.len());
            self.at += length;
            return Ok(Kind::Word(rest[..length].into()));
        }
        match first {
            '"' if rest.starts_with("\"\"\"") && self.dialect == Dialect::Groovy => {
                self.at += 3;
                self.text(Quote::TripleDouble)
            }
            '\'' if rest.starts_with("'''") && self.dialect == Dialect::Groovy => {
                self.at += 3;
                self.text(Quote::TripleSingle)
            }
            '"' => {
                self.at += 1;
                self.text(Quote::Double)
            }
            '\'' => {
                self.at += 1;
                self.text(Quote::Single)
            }
            '/' if self.dialect == Dialect::Groovy && !self.is_behind_value() => {
                self.at += 1;
                self.text(Quote::Slashy)
            }
            _ => {
                let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
                let sign =
                    sign.ok_or_else(|| malformed(format!("unexpected character: '{first}'")))?;
                self.at += sign.len();
                Ok(Kind::Sign(sign))
            }
        }
    }

    /// Whether the last token ends a value, so that a slash divides.
    fn is_behind_value(&self) -> bool {
        match self.tokens.last().map(|token| &token.kind) {
            None | Some(Kind::End) => false,
            Some(Kind::Word(word)) => !BEFORE_VALUES.contains(&&**word),
            Some(Kind::Sign(sign)) => matches!(*sign, ")" | "]" | "}" | "++" | "--"),
            Some(_) => true,
        }
    }

    fn number(&mut self) -> Result<Kind, Fault> {
        let rest = self.rest();
        let lower = rest.get(..2).unwrap_or_default().to_ascii_lowercase();
        let radix = match lower.as_str() {
            "0x" => 16,
            "0b" => 2,
            _ => 10,
        };
        if radix != 10 {
            return self.number_of_radix(radix);
        }
        let digits = |text: &str| {
            text.find(|one: char| !one.is_ascii_digit() && one != '_')
                .unwrap_or(text.len())
        };
        let mut length = digits(rest);
        let mut is_whole = true;
        let behind = &rest[length..];
        if behind.starts_with('.') && behind[1..].starts_with(|one: char| one.is_ascii_digit()) {
            length += 1 + digits(&behind[1..]);
            is_whole = false;
        } else if self.dialect == Dialect::BeanShell
            && behind.starts_with('.')
            && !behind[1..].starts_with(is_word_start)
        {
            length += 1;
            is_whole = false;
        }
        let behind = &rest[length..];
        if behind.starts_with(['e', 'E']) {
            let signed = behind[1..].strip_prefix(['+', '-']).unwrap_or(&behind[1..]);
            let count = digits(signed);
            if count > 0 {
                length += behind.len() - signed.len() + count;
                is_whole = false;
            }
        }
        let text = rest[..length].replace('_', "");
        let suffix = rest[length..].chars().next().unwrap_or(' ');
        self.at += length;
        if length > 1_000 {
            return Err(malformed("a number this long"));
        }
        let number = self.valued(&text, suffix, is_whole)?;
        Ok(Kind::Number(number))
    }

    fn valued(&mut self, text: &str, suffix: char, is_whole: bool) -> Result<Number, Fault> {
        let fault = || malformed(format!("Invalid number: {text}"));
        let suffix = suffix.to_ascii_lowercase();
        if matches!(suffix, 'l' | 'g' | 'i' | 'd' | 'f') {
            self.at += 1;
        }
        let double = || text.parse::<f64>().map_err(|_| fault());
        Ok(match suffix {
            'd' => Number::Double(double()?),
            'f' => Number::Float(double()? as f32),
            'g' if is_whole => Number::Whole(text.into()),
            'g' => Number::Decimal(text.into()),
            _ if !is_whole && self.dialect == Dialect::BeanShell => Number::Double(double()?),
            _ if !is_whole => Number::Decimal(text.into()),
            _ => {
                let is_octal = text.len() > 1 && text.starts_with('0');
                let radix = if is_octal { 8 } else { 10 };
                match i64::from_str_radix(text, radix) {
                    Ok(number) if suffix == 'l' => Number::Long(number),
                    Ok(number) => match i32::try_from(number) {
                        Ok(number) => Number::Int(number),
                        // `-2147483648` contains a number that is too large without its sign.
                        Err(_) if suffix == 'i' => return Err(fault()),
                        Err(_) => Number::Long(number),
                    },
                    Err(_) => Number::Whole(text.into()),
                }
            }
        })
    }

    fn number_of_radix(&mut self, radix: u32) -> Result<Kind, Fault> {
        let rest = self.rest();
        let digits = &rest[2..];
        let length = digits
            .find(|one: char| !one.is_digit(radix) && one != '_')
            .unwrap_or(digits.len());
        let text = digits[..length].replace('_', "");
        self.at += 2 + length;
        let bits = u64::from_str_radix(&text, radix);
        let bits = bits.map_err(|_| malformed(format!("Invalid number: {text}")))?;
        let is_long = self.rest().starts_with(['l', 'L']);
        self.at += usize::from(is_long);
        Ok(Kind::Number(match u32::try_from(bits) {
            Ok(bits) if !is_long => Number::Int(bits.cast_signed()),
            _ => Number::Long(bits.cast_signed()),
        }))
    }

    /// A text after its opening quote.
    fn text(&mut self, quote: Quote) -> Result<Kind, Fault> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let Some(first) = rest.chars().next() else {
                return Err(malformed("a text does not end"));
            };
            if rest.starts_with(quote.end()) {
                self.at += quote.end().len();
                break;
            }
            if first == '\n' && !quote.spans_lines() && self.dialect == Dialect::Groovy {
                return Err(malformed("a text does not end"));
            }
            if first == '\\' {
                self.escaped(quote, &mut text)?;
            } else if first == '$' && quote.is_composed() && self.dialect == Dialect::Groovy {
                self.value_within(quote, &mut text, &mut pieces)?;
            } else if first == '\r' && rest.starts_with("\r\n") {
                self.at += 1;
            } else {
                text.push(first);
                self.at += first.len_utf8();
            }
        }
        if self.dialect == Dialect::BeanShell && quote == Quote::Single {
            let mut characters = text.chars();
            return match (characters.next(), characters.next()) {
                (Some(one), None) => Ok(Kind::Char(one)),
                _ => Err(malformed("a character literal wants one character")),
            };
        }
        if pieces.is_empty() {
            return Ok(Kind::Text(match self.dialect {
                Dialect::Groovy => text.into(),
                Dialect::BeanShell => {
                    let known = self
                        .texts
                        .entry(text)
                        .or_insert_with_key(|text| text.as_str().into());
                    Arc::clone(known)
                }
            }));
        }
        if !text.is_empty() {
            pieces.push(TextPiece::Text(text.into()));
        }
        Ok(Kind::Composed(pieces))
    }

    fn escaped(&mut self, quote: Quote, text: &mut String) -> Result<(), Fault> {
        let rest = self.rest();
        let Some(second) = rest[1..].chars().next() else {
            return Err(malformed("a text does not end"));
        };
        if second == 'u' {
            return self.code_point(text);
        }
        if quote == Quote::Slashy && second != '/' {
            text.push('\\');
            self.at += 1;
            return Ok(());
        }
        self.at += 1 + second.len_utf8();
        if quote == Quote::Slashy {
            text.push('/');
            return Ok(());
        }
        if quote == Quote::DollarSlashy {
            text.push('\\');
            text.push(second);
            return Ok(());
        }
        match second {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            '\\' | '\'' | '"' | '$' => text.push(second),
            '0'..='7' => {
                let digits: String = rest[1..]
                    .chars()
                    .take(3)
                    .take_while(|one| one.is_digit(8))
                    .collect();
                let code = u32::from_str_radix(&digits, 8).unwrap_or(0) & 0xff;
                text.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                self.at += digits.len() - 1;
            }
            '\n' => {}
            '\r' if rest[2..].starts_with('\n') => self.at += 1,
            _ => return Err(malformed(format!("unexpected escape: '\\{second}'"))),
        }
        Ok(())
    }

    fn code_point(&mut self, text: &mut String) -> Result<(), Fault> {
        let unit = |text: &str| {
            let digits = text.strip_prefix("\\u")?.trim_start_matches('u').get(..4)?;
            u16::from_str_radix(digits, 16).ok()
        };
        let rest = self.rest();
        let first = unit(rest).ok_or_else(|| malformed("unexpected escape: '\\u'"))?;
        let length = 2 + rest[2..].chars().take_while(|one| *one == 'u').count() + 4;
        self.at += length;
        let second = unit(self.rest()).filter(|_| (0xd800..0xdc00).contains(&first));
        let units = match second {
            Some(second) => vec![first, second],
            None => vec![first],
        };
        if second.is_some() {
            self.at += 6;
        }
        text.push_str(&String::from_utf16_lossy(&units));
        Ok(())
    }

    fn value_within(
        &mut self,
        quote: Quote,
        text: &mut String,
        pieces: &mut Vec<TextPiece>,
    ) -> Result<(), Fault> {
        let rest = self.rest();
        let behind = &rest[1..];
        if quote == Quote::DollarSlashy && behind.starts_with(['$', '/']) {
            text.push_str(&behind[..1]);
            self.at += 2;
            return Ok(());
        }
        let starts = behind.chars().next();
        if !starts.is_some_and(|one| one == '{' || one.is_alphabetic() || one == '_') {
            text.push('$');
            self.at += 1;
            return Ok(());
        }
        if !text.is_empty() || pieces.is_empty() {
            pieces.push(TextPiece::Text(std::mem::take(text).into()));
        }
        if behind.starts_with('{') {
            if self.depth >= DEEPEST {
                return Err(malformed("texts are nested too deeply"));
            }
            let mut inner = Lexer {
                source: self.source,
                at: self.at + 2,
                dialect: self.dialect,
                depth: self.depth + 1,
                tokens: Vec::new(),
                texts: std::collections::HashMap::new(),
            };
            inner.run(true)?;
            self.at = inner.at;
            pieces.push(TextPiece::Code(inner.tokens));
            return Ok(());
        }
        let mut path = Vec::new();
        let mut length = 1;
        loop {
            let word = &rest[length..];
            let is_part = |one: char| one.is_alphanumeric() || one == '_';
            let end = word.find(|one| !is_part(one)).unwrap_or(word.len());
            path.push(Arc::from(&word[..end]));
            length += end;
            let next = &rest[length..];
            let goes_on = next.strip_prefix('.').and_then(|next| next.chars().next());
            if !goes_on.is_some_and(|one| one.is_alphabetic() || one == '_') {
                break;
            }
            length += 1;
        }
        self.at += length;
        pieces.push(TextPiece::Path(path));
        Ok(())
    }
}

/// The quotes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quote {
    Single,
    Double,
    TripleSingle,
    TripleDouble,
    Slashy,
    DollarSlashy,
}

impl Quote {
    fn end(self) -> &'static str {
        match self {
            Quote::Single => "'",
            Quote::Double => "\"",
            Quote::TripleSingle => "'''",
            Quote::TripleDouble => "\"\"\"",
            Quote::Slashy => "/",
            Quote::DollarSlashy => "/$",
        }
    }

    fn spans_lines(self) -> bool {
        !matches!(self, Quote::Single | Quote::Double)
    }

    fn is_composed(self) -> bool {
        !matches!(self, Quote::Single | Quote::TripleSingle)
    }
}
