//! Parses JSON, and much that is not quite JSON: unquoted names and texts, single quotes, stray commas.
//!
//! Must not know the use. Invariant: parsing terminates for any text, and its depth is limited.

use std::collections::{HashMap, HashSet};

use super::Json;

/// Maximum depth of nested arrays and objects.
const DEEPEST: usize = 400;

/// Where an unquoted text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// At the end of the document.
    End,
    /// Before `,` and `]`.
    Array,
    /// Before `,` and `}`.
    Value,
    /// Before `:`, `,` and `}`.
    Key,
}

impl Stop {
    fn at(self, character: char) -> bool {
        match self {
            Stop::End => false,
            Stop::Array => matches!(character, ',' | ']'),
            Stop::Value => matches!(character, ',' | '}'),
            Stop::Key => matches!(character, ':' | ',' | '}'),
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Json {
    /// Parses a document; text after its value is ignored.
    ///
    /// # Errors
    /// It is invalid; in json-smart's words.
    pub(crate) fn read(text: &str) -> Result<Json, String> {
        let mut reader = Reader {
            text,
            at: 0,
            depth: 0,
        };
        reader.value(Stop::End)
    }
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    fn skip_space(&mut self) {
        while self
            .peek()
            .is_some_and(|one| matches!(one, ' ' | '\t' | '\n' | '\r'))
        {
            self.at += 1;
        }
    }

    /// Position in UTF-16 units.
    fn position(&self) -> usize {
        self.text[..self.at].encode_utf16().count()
    }

    fn unexpected(&self, character: char) -> String {
        format!(
            "Unexpected character ({character}) at position {}.",
            self.position()
        )
    }

    fn unexpected_end(&self, what: &str) -> String {
        let length = self.text.encode_utf16().count();
        format!(
            "Unexpected End Of File position {}: {what}",
            length.saturating_sub(1)
        )
    }

    fn value(&mut self, stop: Stop) -> Result<Json, String> {
        self.skip_space();
        match self.peek() {
            Some('{') => self.nested(Reader::object),
            Some('[') => self.nested(Reader::array),
            Some('"' | '\'') => self.quoted().map(Json::Text),
            Some('-' | '0'..='9') => Ok(self.number(stop)),
            Some(character @ (':' | '}' | ']')) => Err(self.unexpected(character)),
            None if stop != Stop::End => Err(self.unexpected_end("EOF")),
            _ => Ok(match self.bare(stop) {
                "null" => Json::Null,
                "true" => Json::Bool(true),
                "false" => Json::Bool(false),
                "NaN" => Json::Fraction(f64::NAN),
                text => Json::Text(text.to_owned()),
            }),
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Json, String>,
    ) -> Result<Json, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!(
                "Malicious payload, having non natural depths, more than {DEEPEST}"
            ));
        }
        self.at += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn array(&mut self) -> Result<Json, String> {
        let mut elements = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(']') => {
                    self.at += 1;
                    return Ok(Json::Array(elements));
                }
                Some(',') => self.at += 1,
                None => return Err(self.unexpected_end("EOF")),
                Some(_) => {
                    elements.push(self.value(Stop::Array)?);
                    self.skip_space();
                    match self.peek() {
                        Some(',' | ']') => {}
                        None => return Err(self.unexpected_end("EOF")),
                        Some(other) => return Err(self.unexpected(other)),
                    }
                }
            }
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        let mut members = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some('}') => {
                    self.at += 1;
                    return Ok(Json::Object(without_doubles(members)));
                }
                Some(',') => self.at += 1,
                None => return Err(self.unexpected_end("null")),
                Some(character @ (':' | '{' | '[' | ']')) => return Err(self.unexpected(character)),
                Some(_) => members.push(self.member()?),
            }
        }
    }

    fn member(&mut self) -> Result<(String, Json), String> {
        let key = match self.peek() {
            Some('"' | '\'') => self.quoted()?,
            _ => self.bare(Stop::Key).to_owned(),
        };
        self.skip_space();
        match self.peek() {
            Some(':') => self.at += 1,
            None => return Err(self.unexpected_end("null")),
            Some(other) => return Err(self.unexpected(other)),
        }
        let value = self.value(Stop::Value)?;
        self.skip_space();
        match self.peek() {
            Some(',' | '}') => Ok((key, value)),
            None => Err(self.unexpected_end("null")),
            Some(_) => {
                let position = self.position();
                let token = self.bare(Stop::Value);
                Err(format!("Unexpected token {token} at position {position}."))
            }
        }
    }

    /// An unquoted text up to its end, trimmed.
    fn bare(&mut self, stop: Stop) -> &str {
        let start = self.at;
        let rest = self.rest();
        let length = rest
            .find(|character| stop.at(character))
            .unwrap_or(rest.len());
        self.at += length;
        self.text[start..self.at].trim_matches([' ', '\t', '\n', '\r'])
    }

    fn quoted(&mut self) -> Result<String, String> {
        let quote = self.next();
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest.find(|one: char| {
                one == '\\' || one < ' ' || one == '\u{7f}' || Some(one) == quote
            });
            let plain = plain.unwrap_or(rest.len());
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.next() {
                None => return Err(self.unexpected_end("null")),
                Some('\\') => self.escape(&mut text)?,
                character if character == quote => return Ok(text),
                // Control characters are dropped.
                Some(_) => {}
            }
        }
    }

    fn escape(&mut self, text: &mut String) -> Result<(), String> {
        match self.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some('r') => text.push('\r'),
            Some('f') => text.push('\u{c}'),
            Some('b') => text.push('\u{8}'),
            Some(character @ ('"' | '\'' | '\\' | '/')) => text.push(character),
            Some('x') => {
                let unit = self.hexadecimal(2)?;
                text.push(char::from_u32(unit).unwrap_or('?'));
            }
            Some('u') => {
                let unit = self.hexadecimal(4)?;
                text.push(self.code_point(unit));
            }
            // Others are dropped.
            Some(_) | None => {}
        }
        Ok(())
    }

    /// A character, possibly from two surrogates.
    fn code_point(&mut self, unit: u32) -> char {
        if (0xd800..0xdc00).contains(&unit) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            match self.hexadecimal(4) {
                Ok(low @ 0xdc00..0xe000) => {
                    let point = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    return char::from_u32(point).unwrap_or('?');
                }
                _ => self.at = before,
            }
        }
        char::from_u32(unit).unwrap_or('?')
    }

    fn hexadecimal(&mut self, digits: usize) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..digits {
            let Some(character) = self.peek() else {
                return Err(self.unexpected_end("EOF"));
            };
            let Some(digit) = character.to_digit(16) else {
                let position = self.position();
                return Err(format!(
                    "Unexpected unicode escape sequence {character} at position {position}."
                ));
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    /// A number; anything else is an unquoted text.
    fn number(&mut self, stop: Stop) -> Json {
        let text = self.bare(stop);
        let (sign, digits) = text
            .strip_prefix('-')
            .map_or(("", text), |rest| ("-", rest));
        let whole = digits.bytes().take_while(u8::is_ascii_digit).count();
        if whole == digits.len() {
            if digits.is_empty() {
                return Json::Whole(0);
            }
            return text.parse().map_or_else(
                |_| Json::Large(format!("{sign}{}", digits.trim_start_matches('0'))),
                Json::Whole,
            );
        }
        if !is_fraction(&digits[whole..]) {
            return Json::Text(text.to_owned());
        }
        let number: f64 = text.parse().unwrap_or(f64::NAN);
        let exact = text.len() > 18 && loadline_java::numbers::double_to_string(number) != text;
        if exact {
            Json::Exact(text.to_owned())
        } else {
            Json::Fraction(number)
        }
    }
}

/// A repeated key keeps its position, and has the last value.
fn without_doubles(members: Vec<(String, Json)>) -> Vec<(String, Json)> {
    let mut keys = HashSet::with_capacity(members.len());
    if members.iter().all(|(key, _)| keys.insert(key.as_str())) {
        return members;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<(String, Json)> = Vec::new();
    for (key, value) in members {
        match places.get(&key) {
            Some(place) => kept[*place].1 = value,
            None => {
                places.insert(key.clone(), kept.len());
                kept.push((key, value));
            }
        }
    }
    kept
}

/// Whether this continues a number's digits: a point with or without digits, an exponent with digits.
fn is_fraction(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = text;
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = &fraction[digits(fraction)..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}
