//! How deep a text is nested.
//!
//! Readers that go down into their own stack are asked first. Must not know what a text means.
//! Invariant: time grows with the text's length, and memory with its depth at most.

/// How deep the brackets of JSON are nested, those in strings left out.
pub(crate) fn json_levels(text: &str) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for b in text.bytes() {
        match b {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The byte at which the brackets of a script are nested deeper than `most`; `None` when none are.
///
/// Whether a slash divides or begins a regular expression is guessed by what stands before it: a
/// wrong guess misreads brackets up to the end of the line.
pub(crate) fn deeper_than(script: &str, most: usize) -> Option<usize> {
    let mut scan = Scan {
        bytes: script.as_bytes(),
        at: 0,
        last: None,
        open: Vec::new(),
    };
    while scan.step() {
        if scan.open.len() > most {
            return Some(scan.at - 1);
        }
    }
    None
}

/// Something that is open at a place of a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Bracket,
    /// The text of a template.
    Template,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where the last byte that means something is; `None` at the beginning.
    last: Option<usize>,
    open: Vec<Open>,
}

impl Scan<'_> {
    /// Goes on by a byte, a comment, a string or a regular expression; whether there was one.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else {
            return false;
        };
        let start = self.at;
        self.at += 1;
        if self.open.last() == Some(&Open::Template) {
            self.step_in_template(byte);
            return true;
        }
        match (byte, self.bytes.get(self.at)) {
            (b' ' | b'\t' | b'\r' | b'\n', _) => return true,
            (b'/', Some(b'/')) => {
                self.skip_to(b"\n");
                return true;
            }
            (b'/', Some(b'*')) => {
                self.at += 1;
                self.skip_to(b"*/");
                return true;
            }
            (b'/', _) if self.is_regex_next(start) => self.skip_regex(),
            (b'"' | b'\'', _) => self.skip_string(byte),
            (b'`', _) => self.open.push(Open::Template),
            (b'(' | b'[' | b'{', _) => self.open.push(Open::Bracket),
            (b')' | b']' | b'}', _) => drop(self.open.pop()),
            _ => {}
        }
        self.last = Some(self.at - 1);
        true
    }

    fn step_in_template(&mut self, byte: u8) {
        match (byte, self.bytes.get(self.at)) {
            (b'\\', _) => self.at += 1,
            (b'$', Some(b'{')) => {
                self.at += 1;
                self.open.push(Open::Bracket);
            }
            (b'`', _) => drop(self.open.pop()),
            _ => {}
        }
        self.last = Some(self.at - 1);
    }

    /// Goes behind the next of these bytes, or to the end.
    fn skip_to(&mut self, end: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let found = rest.windows(end.len()).position(|bytes| bytes == end);
        self.at += found.map_or(rest.len(), |at| at + end.len());
    }

    fn skip_string(&mut self, quote: u8) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    fn skip_regex(&mut self) {
        let mut in_class = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'[' => in_class = true,
                b']' => in_class = false,
                b'\n' => return,
                b'/' if !in_class => return,
                _ => {}
            }
        }
    }

    /// Whether a slash here begins a regular expression: where a value is expected.
    fn is_regex_next(&self, slash: usize) -> bool {
        let Some(last) = self.last else { return true };
        match self.bytes.get(last) {
            Some(b')' | b']' | b'}' | b'"' | b'\'' | b'`') => false,
            Some(byte) if is_of_word(*byte) => {
                let before = &self.bytes[..=last.min(slash)];
                let start = before.iter().rposition(|byte| !is_of_word(*byte));
                let word = &before[start.map_or(0, |at| at + 1)..];
                WORDS_BEFORE_A_VALUE.contains(&word)
            }
            _ => true,
        }
    }
}

/// Keywords behind which a value stands.
const WORDS_BEFORE_A_VALUE: [&[u8]; 13] = [
    b"await",
    b"case",
    b"delete",
    b"do",
    b"else",
    b"in",
    b"instanceof",
    b"of",
    b"return",
    b"throw",
    b"typeof",
    b"void",
    b"yield",
];

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_those_of_brackets_outside_of_strings() {
        for (text, found) in [
            ("", 0),
            ("{\"a\": [1, [2]], \"b\": {}}", 3),
            ("[\"[[[\\\"[[\", []]", 2),
            ("]]][", 1),
        ] {
            assert_eq!(json_levels(text), found, "{text}");
        }
    }

    #[test]
    fn brackets_count_where_they_are_code() {
        let deep = "({[";
        for quiet in [
            "'({['",
            "\"({[\\\"({[\"",
            "// ({[ '",
            "/* ({[\n ({[ */",
            "/[/({[]\\({[/",
            "return /({[/",
            "`({[ \\` \\${ ({[`",
            "'({[\nx",
        ] {
            assert_eq!(deeper_than(&format!("{quiet}\n()"), 1), None, "{quiet}");
            let at = deeper_than(&format!("{quiet}\n{deep}"), 2);
            assert_eq!(at, Some(quiet.len() + 3), "{quiet}");
        }
    }

    #[test]
    fn what_is_closed_counts_no_more() {
        assert_eq!(deeper_than(&"([{}])".repeat(1_000), 3), None);
        assert_eq!(deeper_than("`${`${1}`}`", 4), None);
        assert_eq!(deeper_than("`${`${1}`}`", 3), Some(5));
        assert_eq!(deeper_than("a / b / (c) / [d] / ((", 1), Some(21));
        assert_eq!(deeper_than(")))((", 1), Some(4));
        assert_eq!(deeper_than("'\\", 0), None);
    }
}
