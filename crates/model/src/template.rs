//! Text with placeholders: `{{counter}}`, `{{random 1 100}}`, `{{uuid}}`, `{{line users.txt}}` and others.
//!
//! Parsed once; rendered per request without allocating anything but the output. Randomness and numbers are
//! arguments. Invariant: a template renders for every input; what cannot work is refused when parsing.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::uuid;

/// The lines of a file, read by the front end.
pub type Lines = Arc<Vec<String>>;

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Literal(String),
    Counter { start: u64 },
    Vu,
    Random { low: i64, high: i64 },
    RandomHex { digits: usize },
    RandomText { letters: usize },
    Uuid,
    Timestamp,
    Line { lines: Lines, at_random: bool },
}

/// Text with placeholders.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
}

/// The values for one rendering.
pub struct Filling<'a> {
    /// The iteration's number in the whole test, from zero.
    pub counter: u64,
    /// The virtual user's number in the whole test, from zero.
    pub vu: u64,
    /// Milliseconds since 1970.
    pub unix_ms: u64,
    /// The next random word.
    pub random: &'a mut dyn FnMut() -> u64,
}

/// The supported placeholders, for help and error messages.
pub const HOLES: &str = "{{counter}} {{counter START}} {{vu}} {{random LOW HIGH}} {{hex DIGITS}} \
     {{text LETTERS}} {{uuid}} {{timestamp}} {{line FILE}} {{line FILE random}}";

impl Template {
    /// Text without placeholders, whatever it contains.
    #[must_use]
    pub fn literal(text: &str) -> Template {
        let pieces = if text.is_empty() {
            Vec::new()
        } else {
            vec![Piece::Literal(text.to_owned())]
        };
        Template {
            source: text.to_owned(),
            pieces,
        }
    }

    /// Parses text with placeholders; `read_lines` returns the lines of a file that a placeholder names.
    ///
    /// # Errors
    /// Names the placeholder and what is wrong with it.
    pub fn parse(
        text: &str,
        read_lines: &mut dyn FnMut(&str) -> Result<Lines, String>,
    ) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find("{{") {
            let after = &rest[open + 2..];
            let close = after.find("}}").ok_or_else(|| {
                format!(
                    "template {text:?}: \"{{{{\" at byte {} is not closed",
                    text.len() - rest.len() + open
                )
            })?;
            push_literal(&mut pieces, &rest[..open]);
            let hole = after[..close].trim();
            pieces.push(
                parse_hole(hole, read_lines)
                    .map_err(|why| format!("template {{{{{hole}}}}}: {why}"))?,
            );
            rest = &after[close + 2..];
        }
        push_literal(&mut pieces, rest);
        Ok(Template {
            source: text.to_owned(),
            pieces,
        })
    }

    /// The text as written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Replaces the text if `redacted` hides something; otherwise it stays unchanged.
    pub(crate) fn redact(&mut self, redacted: impl FnOnce(&str) -> Cow<'_, str>) {
        let text = redacted(&self.source);
        if *text != *self.source {
            *self = Template::literal(&text);
        }
    }

    /// The whole text if it has no placeholders.
    #[must_use]
    pub fn as_literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Appends the text with its placeholders filled in.
    pub fn render(&self, filling: &mut Filling<'_>, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            render_piece(piece, filling, out);
        }
    }
}

fn push_literal(pieces: &mut Vec<Piece>, text: &str) {
    if !text.is_empty() {
        pieces.push(Piece::Literal(text.to_owned()));
    }
}

fn parse_hole(
    hole: &str,
    read_lines: &mut dyn FnMut(&str) -> Result<Lines, String>,
) -> Result<Piece, String> {
    let words: Vec<&str> = hole.split_whitespace().collect();
    match words.as_slice() {
        ["counter"] => Ok(Piece::Counter { start: 0 }),
        ["counter", start] => Ok(Piece::Counter {
            start: number(start)?,
        }),
        ["vu"] => Ok(Piece::Vu),
        ["random", low, high] => {
            let (low, high) = (number::<i64>(low)?, number::<i64>(high)?);
            if low > high {
                return Err(format!("{low} is above {high}"));
            }
            Ok(Piece::Random { low, high })
        }
        ["random"] => Ok(Piece::Random {
            low: 0,
            high: i64::MAX,
        }),
        ["hex", digits] => Ok(Piece::RandomHex {
            digits: length(digits)?,
        }),
        ["text", letters] => Ok(Piece::RandomText {
            letters: length(letters)?,
        }),
        ["uuid"] => Ok(Piece::Uuid),
        ["timestamp"] => Ok(Piece::Timestamp),
        ["line", file] => Ok(Piece::Line {
            lines: non_empty(file, read_lines)?,
            at_random: false,
        }),
        ["line", file, "random"] => Ok(Piece::Line {
            lines: non_empty(file, read_lines)?,
            at_random: true,
        }),
        _ => Err(format!("unknown; use {HOLES}")),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("{text:?} is not a whole number"))
}

fn length(text: &str) -> Result<usize, String> {
    const MOST: usize = 1 << 20;
    match number::<usize>(text)? {
        length @ 1..=MOST => Ok(length),
        other => Err(format!("{other} is not from 1 to {MOST}")),
    }
}

fn non_empty(
    file: &str,
    read_lines: &mut dyn FnMut(&str) -> Result<Lines, String>,
) -> Result<Lines, String> {
    let lines = read_lines(file)?;
    if lines.is_empty() {
        Err(format!("{file} has no lines"))
    } else {
        Ok(lines)
    }
}

fn render_piece(piece: &Piece, filling: &mut Filling<'_>, out: &mut Vec<u8>) {
    match piece {
        Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
        Piece::Counter { start } => push_number(out, start.wrapping_add(filling.counter)),
        Piece::Vu => push_number(out, filling.vu),
        Piece::Random { low, high } => {
            let width = high.wrapping_sub(*low) as u64;
            let offset = below((filling.random)(), width);
            let value = low.wrapping_add_unsigned(offset);
            if value < 0 {
                out.push(b'-');
            }
            push_number(out, value.unsigned_abs());
        }
        Piece::RandomHex { digits } => push_symbols(out, *digits, b"0123456789abcdef", filling),
        Piece::RandomText { letters } => {
            push_symbols(out, *letters, b"abcdefghijklmnopqrstuvwxyz", filling);
        }
        Piece::Uuid => uuid::push(out, (filling.random)(), (filling.random)()),
        Piece::Timestamp => push_number(out, filling.unix_ms),
        Piece::Line { lines, at_random } => {
            let last = lines.len() as u64 - 1;
            let index = if *at_random {
                below((filling.random)(), last)
            } else {
                filling.counter % (last + 1)
            };
            out.extend_from_slice(lines[index as usize].as_bytes());
        }
    }
}

/// A number from zero to `most`, inclusive, from one random word (Lemire's multiplication).
fn below(word: u64, most: u64) -> u64 {
    match most.checked_add(1) {
        Some(bound) => ((u128::from(word) * u128::from(bound)) >> 64) as u64,
        None => word,
    }
}

fn push_number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

fn push_symbols(out: &mut Vec<u8>, count: usize, alphabet: &[u8], filling: &mut Filling<'_>) {
    for _ in 0..count {
        let index = below((filling.random)(), alphabet.len() as u64 - 1);
        out.push(alphabet[index as usize]);
    }
}

impl Serialize for Template {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Template {
    /// A template read from a result is only its text: results are shown, not run.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Template::literal(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, counter: u64) -> String {
        let mut read = |name: &str| match name {
            "f" => Ok(Arc::new(vec!["a".to_owned(), "b".to_owned()])),
            other => Err(format!("cannot read {other}")),
        };
        let template = Template::parse(text, &mut read).expect("a good template");
        let mut seed = 7_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            seed
        };
        let mut out = Vec::new();
        let mut filling = Filling {
            counter,
            vu: 3,
            unix_ms: 1_000,
            random: &mut random,
        };
        template.render(&mut filling, &mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn holes_are_filled() {
        assert_eq!(rendered("/a?n={{counter}}&v={{ vu }}", 41), "/a?n=41&v=3");
        assert_eq!(rendered("{{counter 100}}", 1), "101");
        assert_eq!(rendered("{{line f}}{{line f}}", 3), "bb");
        assert_eq!(rendered("{{random 5 5}}", 0), "5");
        assert_eq!(rendered("{{random -3 -3}}", 0), "-3");
        assert_eq!(rendered("{{hex 12}}", 0).len(), 12);
        assert_eq!(rendered("{{timestamp}}", 0), "1000");
        let uuid = rendered("{{uuid}}", 0);
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert!(matches!(&uuid[19..20], "8" | "9" | "a" | "b"));
    }

    #[test]
    fn single_braces_are_text() {
        assert_eq!(rendered("{\"a\":{\"b\":1} }", 0), "{\"a\":{\"b\":1} }");
    }

    #[test]
    fn bad_holes_are_named() {
        let mut none = |name: &str| Err(format!("cannot read {name}"));
        for (text, part) in [
            ("{{nope}}", "{{nope}}"),
            ("{{counter", "not closed"),
            ("{{random 5 1}}", "above"),
            ("{{line x}}", "cannot read x"),
            ("{{hex 0}}", "not from 1"),
        ] {
            let message = Template::parse(text, &mut none).expect_err("a bad template");
            assert!(message.contains(part), "{message}");
        }
    }
}
