//! Parses formats, with the grammar in the parent module.
//!
//! Must not know values. Invariant: every error has a character position.

use std::iter::Peekable;
use std::str::{CharIndices, FromStr};

use super::number::Digits;
use super::unit::Unit;
use super::{DIGITS_MAX, Format, FormatError, FormatPart, Hole};

/// Bytes that a format may have.
const LENGTH_MAX: usize = 1024;

impl FromStr for Format {
    type Err = FormatError;

    fn from_str(source: &str) -> Result<Format, FormatError> {
        if source.len() > LENGTH_MAX {
            return Err(FormatError {
                column: 1,
                what: format!("a format has at most {LENGTH_MAX} bytes; shorten it"),
            });
        }
        let mut reader = Reader {
            source,
            rest: source.char_indices().peekable(),
        };
        let parts = reader.parts(None)?;
        let format = Format { parts };
        if format.holes().is_empty() {
            return Err(reader.error(0, "a format needs a place for its value; write {}"));
        }
        Ok(format)
    }
}

struct Reader<'a> {
    source: &'a str,
    rest: Peekable<CharIndices<'a>>,
}

impl Reader<'_> {
    /// Up to the end, or within square brackets (which began at a byte) up to their end.
    fn parts(&mut self, within: Option<usize>) -> Result<Vec<FormatPart>, FormatError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            let Some((at, c)) = self.rest.next() else {
                return match within {
                    Some(begin) => Err(self.error(begin, "this bracket is not closed; add ]")),
                    None => {
                        push_text(&mut parts, text);
                        Ok(parts)
                    }
                };
            };
            let is_twice = self.rest.peek().is_some_and(|(_, next)| *next == c);
            if matches!(c, '{' | '}' | '[' | ']') && is_twice && !(c == ']' && within.is_some()) {
                self.rest.next();
                text.push(c);
                continue;
            }
            match c {
                '{' => {
                    push_text(&mut parts, std::mem::take(&mut text));
                    parts.push(FormatPart::Hole(self.hole(at)?));
                }
                '[' if within.is_none() => {
                    push_text(&mut parts, std::mem::take(&mut text));
                    let inner = self.parts(Some(at))?;
                    if !inner.iter().any(|part| matches!(part, FormatPart::Hole(_))) {
                        return Err(self.error(
                            at,
                            "these brackets contain no value; write [[ for a bracket",
                        ));
                    }
                    parts.push(FormatPart::Optional(inner));
                }
                ']' if within.is_some() => {
                    push_text(&mut parts, text);
                    return Ok(parts);
                }
                '[' => {
                    return Err(
                        self.error(at, "brackets hold no brackets; write [[ for the character")
                    );
                }
                ']' | '}' => {
                    let what = format!("this closes nothing; write {c}{c} for the character");
                    return Err(self.error(at, &what));
                }
                c => text.push(c),
            }
        }
    }

    /// Behind `{`.
    fn hole(&mut self, at: usize) -> Result<Hole, FormatError> {
        let mut inner = String::new();
        loop {
            match self.rest.next() {
                Some((_, '}')) => break,
                Some((_, c)) => inner.push(c),
                None => return Err(self.error(at, "this place is not closed; add }")),
            }
        }
        let (number, spec) = inner.split_once(':').unwrap_or((inner.as_str(), ""));
        let value = if number.is_empty() {
            Ok(0)
        } else {
            number.parse()
        };
        let value = value.map_err(|_| {
            self.error(
                at,
                "before : write the number of a value, from 0, or nothing for the first",
            )
        })?;
        let mut hole = Hole {
            value,
            plus: false,
            thousands: false,
            digits: Digits::Shortest,
            unit: None,
            column: self.column(at),
        };
        fill(&mut hole, spec).map_err(|what| self.error(at, &what))?;
        Ok(hole)
    }

    fn column(&self, at: usize) -> usize {
        self.source[..at].chars().count() + 1
    }

    fn error(&self, at: usize, what: &str) -> FormatError {
        FormatError {
            column: self.column(at),
            what: what.to_owned(),
        }
    }
}

fn push_text(parts: &mut Vec<FormatPart>, text: String) {
    if !text.is_empty() {
        parts.push(FormatPart::Text(text));
    }
}

fn fill(hole: &mut Hole, spec: &str) -> Result<(), String> {
    let mut rest = spec;
    if let Some(behind) = rest.strip_prefix('+') {
        hole.plus = true;
        rest = behind;
    }
    if let Some(behind) = rest.strip_prefix(',') {
        hole.thousands = true;
        rest = behind;
    }
    if let Some(sign @ ('.' | '~' | '=')) = rest.chars().next() {
        let length = rest[1..].bytes().take_while(u8::is_ascii_digit).count();
        let digits: Option<u8> = rest[1..=length].parse().ok();
        let digits = digits
            .filter(|digits| *digits <= DIGITS_MAX && (sign != '=' || *digits > 0))
            .ok_or_else(|| {
                format!("after {sign} write the number of digits, at most {DIGITS_MAX}")
            })?;
        hole.digits = match sign {
            '.' => Digits::Fixed(digits),
            '~' => Digits::AtMost(digits),
            _ => Digits::Significant(digits),
        };
        rest = &rest[length + 1..];
    }
    if !rest.is_empty() {
        hole.unit = Some(rest.parse::<Unit>()?);
    }
    Ok(())
}
