//! The fault in invalid JSON text, in the words of Go's `encoding/json`.
//!
//! Only used for texts that were already refused. Must not build values. Invariant: nesting is bounded by
//! `DEPTH_MAX`.

/// Maximum depth of Go's decoder.
const DEPTH_MAX: usize = 10_000;

/// The fault.
#[must_use]
pub fn fault(text: &str) -> String {
    scanned(text).0
}

/// The fault, and the scanner at its position.
fn scanned(text: &str) -> (String, Scanner<'_>) {
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
    };
    let why = match scanner.document() {
        Ok(()) => "invalid JSON".to_owned(),
        Err(why) => why,
    };
    (why, scanner)
}

/// The whole message, with line and character.
pub(crate) fn describe(text: &str) -> String {
    let (why, scanner) = scanned(text);
    let read = &text.as_bytes()[..(scanner.at + 1).min(text.len())];
    let line = read.iter().filter(|byte| **byte == b'\n').count() + 1;
    let line_start = read
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let character = match text.is_empty() {
        true => 0,
        false => (read.len() - line_start).max(1),
    };
    format!(
        "cannot parse json due to an error at line {line}, character {character} , error: {why}"
    )
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What is expected next inside an open bracket.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Object,
}

impl Scanner<'_> {
    fn document(&mut self) -> Result<(), String> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            self.skip_space();
            // A value starts here.
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek()? == b'}' {
                        self.at += 1;
                    } else {
                        self.key()?;
                        open.push(Open::Object);
                        self.check_depth(&open)?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek()? == b']' {
                        self.at += 1;
                    } else {
                        open.push(Open::Array);
                        self.check_depth(&open)?;
                        continue;
                    }
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b't' => self.literal("true")?,
                b'f' => self.literal("false")?,
                b'n' => self.literal("null")?,
                _ => return Err(self.wrong("looking for beginning of value")),
            }
            if self.close(&mut open)? {
                return Ok(());
            }
        }
    }

    fn check_depth(&self, open: &[Open]) -> Result<(), String> {
        if open.len() > DEPTH_MAX {
            return Err("exceeded max depth".to_owned());
        }
        Ok(())
    }

    /// After a value: closes what ends here; returns whether the document ends.
    fn close(&mut self, open: &mut Vec<Open>) -> Result<bool, String> {
        loop {
            self.skip_space();
            let Some(last) = open.last() else {
                return match self.bytes.get(self.at) {
                    None => Ok(true),
                    Some(_) => Err(self.wrong("after top-level value")),
                };
            };
            match (last, self.peek()?) {
                (Open::Array, b',') => {
                    self.at += 1;
                    return Ok(false);
                }
                (Open::Object, b',') => {
                    self.at += 1;
                    self.skip_space();
                    self.key()?;
                    return Ok(false);
                }
                (Open::Array, b']') | (Open::Object, b'}') => {
                    self.at += 1;
                    open.pop();
                }
                (Open::Array, _) => return Err(self.wrong("after array element")),
                (Open::Object, _) => return Err(self.wrong("after object key:value pair")),
            }
        }
    }

    fn key(&mut self) -> Result<(), String> {
        if self.peek()? != b'"' {
            return Err(self.wrong("looking for beginning of object key string"));
        }
        self.string()?;
        self.skip_space();
        if self.peek()? != b':' {
            return Err(self.wrong("after object key"));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(), String> {
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek_or_space() {
                        b'u' => {
                            for _ in 0..4 {
                                self.at += 1;
                                if !self.peek_or_space().is_ascii_hexdigit() {
                                    return Err(self.wrong("in \\u hexadecimal character escape"));
                                }
                            }
                        }
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {}
                        _ => return Err(self.wrong("in string escape code")),
                    }
                }
                byte if byte < 0x20 => return Err(self.wrong("in string literal")),
                _ => {}
            }
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<(), String> {
        if self.peek_or_space() == b'-' {
            self.at += 1;
        }
        match self.peek_or_space() {
            b'0' => self.at += 1,
            b'1'..=b'9' => self.digits(),
            _ => return Err(self.wrong("in numeric literal")),
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !self.peek_or_space().is_ascii_digit() {
                return Err(self.wrong("after decimal point in numeric literal"));
            }
            self.digits();
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek_or_space(), b'+' | b'-') {
                self.at += 1;
            }
            if !self.peek_or_space().is_ascii_digit() {
                return Err(self.wrong("in exponent of numeric literal"));
            }
            self.digits();
        }
        Ok(())
    }

    fn digits(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
    }

    fn literal(&mut self, literal: &str) -> Result<(), String> {
        for expected in literal.bytes() {
            if self.peek_or_space() != expected {
                let expected = char::from(expected);
                return Err(self.wrong(&format!("in literal {literal} (expecting '{expected}')")));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn skip_space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, String> {
        let byte = self.bytes.get(self.at).copied();
        byte.ok_or_else(|| "unexpected end of JSON input".to_owned())
    }

    /// Within a token Go's decoder treats the end of the text as a space.
    fn peek_or_space(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(b' ')
    }

    fn wrong(&self, place: &str) -> String {
        let shown = match self.bytes.get(self.at) {
            Some(b'\'') => "'\\''".to_owned(),
            Some(b'"') => "'\"'".to_owned(),
            Some(b'\\') => "'\\\\'".to_owned(),
            Some(b'\n') => "'\\n'".to_owned(),
            Some(b'\r') => "'\\r'".to_owned(),
            Some(b'\t') => "'\\t'".to_owned(),
            Some(byte @ (0..0x20 | 0x7f)) => format!("'\\x{byte:02x}'"),
            Some(byte) => format!("'{}'", char::from(*byte)),
            None => "' '".to_owned(),
        };
        format!("invalid character {shown} {place}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn faults_are_told_as_go_tells_them() {
        let table = [
            (
                "<a>",
                1,
                1,
                "invalid character '<' looking for beginning of value",
            ),
            (
                "{\"a\":1,}",
                1,
                8,
                "invalid character '}' looking for beginning of object key string",
            ),
            ("[1 2]", 1, 4, "invalid character '2' after array element"),
            (
                "{\n \"a\" 1}",
                2,
                6,
                "invalid character '1' after object key",
            ),
            (
                "{\"a\":tru}",
                1,
                9,
                "invalid character '}' in literal true (expecting 'e')",
            ),
            (
                "[1.]",
                1,
                4,
                "invalid character ']' after decimal point in numeric literal",
            ),
            ("{} x", 1, 4, "invalid character 'x' after top-level value"),
            ("{\"a\":", 1, 5, "unexpected end of JSON input"),
            ("", 1, 0, "unexpected end of JSON input"),
            (
                "\"abc\nd\"",
                2,
                1,
                "invalid character '\\n' in string literal",
            ),
            (
                "nul",
                1,
                3,
                "invalid character ' ' in literal null (expecting 'l')",
            ),
            (
                "[1,\u{e9}]",
                1,
                4,
                "invalid character '\u{c3}' looking for beginning of value",
            ),
            (
                "{\"a\":1,\n\n \"b\" x}",
                3,
                6,
                "invalid character 'x' after object key",
            ),
        ];
        for (text, line, character, why) in table {
            let expected = format!(
                "cannot parse json due to an error at line {line}, character {character} , error: {why}"
            );
            assert_eq!(describe(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_json_has_no_fault_and_what_is_not_has(text in "[\\[\\]{}:,\"a0-9.etrufalsn \\\\-]{0,20}") {
            let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
            let is_json = serde_json::from_str::<serde_json::Value>(&text).is_ok();
            let overflows = text.contains('e');
            prop_assert!(scanner.document().is_ok() == is_json || overflows);
        }
    }
}
