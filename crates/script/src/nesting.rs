//! The nesting depth of a text.
//!
//! Checked before a recursive parser runs. Must not know the meaning of a text. Invariant: time is linear in
//! the text's length, and memory at most in its depth.

/// The depth of nested brackets in JSON, ignoring strings.
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

/// The byte at which a script is nested deeper than `most`; `None` if it is not.
///
/// A level is a bracket, or a recursion of the parser without one: a prefix (`!`, `new`), a right operand (`=`,
/// `=>`, `?:`, `**`), and a statement in a statement (`if`, `else`, a label). Such levels may be overcounted,
/// but never undercounted. Whether a slash divides or starts a regular expression is guessed from the text
/// before it: a wrong guess misreads brackets up to the end of the line.
pub(crate) fn deeper_than(script: &str, most: usize) -> Option<usize> {
    let mut scan = Scan {
        bytes: script.as_bytes(),
        at: 0,
        last: None,
        open: Vec::new(),
        chain: Chain::default(),
        levels: 0,
    };
    while scan.step() {
        if scan.levels > most {
            return Some(scan.at - 1);
        }
    }
    None
}

/// An open construct at a position in a script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Bracket,
    /// The text of a template literal.
    Template,
}

/// Levels without brackets of their own, within one bracket.
#[derive(Clone, Copy, Default)]
struct Chain {
    /// Operators whose operand may still continue.
    operators: usize,
    /// Statements whose last part may still continue.
    statements: usize,
    /// What may have ended both: the next token decides.
    end: End,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum End {
    #[default]
    None,
    Semicolon,
    Brace,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Position of the last significant byte; `None` at the start.
    last: Option<usize>,
    /// Open constructs, each with the chain around it.
    open: Vec<(Open, Chain)>,
    chain: Chain,
    /// Total levels of all open constructs and all chains.
    levels: usize,
}

impl Scan<'_> {
    /// Advances by a token, a comment or a part of a template; returns whether there was one.
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else {
            return false;
        };
        let start = self.at;
        self.at += 1;
        if self
            .open
            .last()
            .is_some_and(|(open, _)| *open == Open::Template)
        {
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
            _ => self.step_token(start, byte),
        }
        self.last = Some(self.at - 1);
        true
    }

    fn step_token(&mut self, start: usize, byte: u8) {
        if is_of_word(byte) {
            self.step_word(start);
            return;
        }
        if self.chain.end == End::Semicolon {
            self.end_statement();
        }
        self.chain.end = End::None;
        match (byte, self.bytes.get(self.at)) {
            (b'/', _) if self.is_value_next(start) => self.skip_regex(),
            (b'"' | b'\'', _) => self.skip_string(byte),
            (b'`', _) => self.enter(Open::Template),
            (b'(' | b'[' | b'{', _) => self.enter(Open::Bracket),
            (b')' | b']', _) => self.leave(End::None),
            (b'}', _) => self.leave(End::Brace),
            (b';', _) => self.chain.end = End::Semicolon,
            (b',', _) => self.end_operators(),
            (b'?', Some(b'?' | b'.')) => self.at += 1,
            (b'*', Some(b'*')) => {
                self.at += 1;
                self.go_down();
            }
            (b'=', _) => {
                while matches!(self.bytes.get(self.at), Some(b'=' | b'>')) {
                    self.at += 1;
                }
                self.go_down();
            }
            (b'!' | b'~' | b'?' | b':' | b'<', _) => self.go_down(),
            (b'+' | b'-', _) if self.is_value_next(start) => self.go_down(),
            _ => {}
        }
    }

    fn step_word(&mut self, start: usize) {
        while self
            .bytes
            .get(self.at)
            .is_some_and(|byte| is_of_word(*byte))
        {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        let is_name = self
            .last
            .is_some_and(|last| matches!(self.bytes[last], b'.' | b'#'));
        let goes_on = match self.chain.end {
            End::None => true,
            End::Semicolon => matches!(word, b"else" | b"while"),
            End::Brace => WORDS_AFTER_A_BRACE.contains(&word),
        };
        self.chain.end = End::None;
        if !goes_on {
            self.end_statement();
        }
        if is_name {
        } else if WORDS_OF_STATEMENTS.contains(&word) {
            self.chain.statements += 1;
            self.levels += 1;
        } else if WORDS_BEFORE_AN_OPERAND.contains(&word) {
            self.go_down();
        } else if WORDS_THAT_BEGIN.contains(&word) {
            self.end_operators();
        }
    }

    fn step_in_template(&mut self, byte: u8) {
        match (byte, self.bytes.get(self.at)) {
            (b'\\', _) => self.at += 1,
            (b'$', Some(b'{')) => {
                self.at += 1;
                self.enter(Open::Bracket);
            }
            (b'`', _) => self.leave(End::None),
            _ => {}
        }
        self.last = Some(self.at - 1);
    }

    fn enter(&mut self, open: Open) {
        self.open.push((open, std::mem::take(&mut self.chain)));
        self.levels += 1;
    }

    fn leave(&mut self, end: End) {
        if let Some((_, around)) = self.open.pop() {
            self.end_statement();
            self.levels -= 1;
            self.chain = Chain { end, ..around };
        }
    }

    fn go_down(&mut self) {
        self.chain.operators += 1;
        self.levels += 1;
    }

    fn end_operators(&mut self) {
        self.levels -= std::mem::take(&mut self.chain.operators);
    }

    fn end_statement(&mut self) {
        self.end_operators();
        self.levels -= std::mem::take(&mut self.chain.statements);
    }

    /// Skips past the next occurrence of these bytes, or to the end.
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

    /// Whether a value is expected here: then a slash starts a regular expression, and a sign is a prefix.
    fn is_value_next(&self, at: usize) -> bool {
        let Some(last) = self.last else { return true };
        match self.bytes.get(last) {
            Some(b')' | b']' | b'}' | b'"' | b'\'' | b'`') => false,
            Some(byte) if is_of_word(*byte) => {
                let before = &self.bytes[..=last.min(at)];
                let start = before.iter().rposition(|byte| !is_of_word(*byte));
                let word = &before[start.map_or(0, |at| at + 1)..];
                WORDS_BEFORE_A_VALUE.contains(&word)
            }
            _ => true,
        }
    }
}

/// Keywords that contain a statement.
const WORDS_OF_STATEMENTS: [&[u8]; 6] = [b"do", b"else", b"for", b"if", b"while", b"with"];

/// Words with an operand on their right, including those of types.
const WORDS_BEFORE_AN_OPERAND: [&[u8]; 11] = [
    b"await",
    b"delete",
    b"extends",
    b"infer",
    b"keyof",
    b"new",
    b"readonly",
    b"typeof",
    b"unique",
    b"void",
    b"yield",
];

/// Keywords that only start a statement.
const WORDS_THAT_BEGIN: [&[u8]; 10] = [
    b"break",
    b"case",
    b"const",
    b"continue",
    b"debugger",
    b"default",
    b"export",
    b"return",
    b"throw",
    b"var",
];

/// Words after a brace that continue the construct around the brace.
const WORDS_AFTER_A_BRACE: [&[u8]; 11] = [
    b"as",
    b"catch",
    b"else",
    b"extends",
    b"finally",
    b"implements",
    b"in",
    b"instanceof",
    b"of",
    b"satisfies",
    b"while",
];

/// Keywords followed by a value.
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

    #[test]
    fn levels_need_no_brackets() {
        for part in [
            "a => ",
            "async (a) => ",
            "!",
            "- ",
            "~",
            "typeof ",
            "new ",
            "await ",
            "yield ",
            "a = ",
            "a >>= ",
            "a ? b : ",
            "a ? ",
            "1 ** ",
            "a.return = ",
            "if (0) ",
            "if (0) {} else ",
            "if (0) a; else ",
            "if (0) a, b; else ",
            "if (0) return; else ",
            "if (0) do a; while (0); else ",
            "if (0) try {} catch {} else ",
            "for (;;) ",
            "while (0) ",
            "do ",
            "a: ",
            "class extends ",
            "class extends class {} implements ",
            "A<",
            "keyof ",
        ] {
            let text = part.repeat(1_000);
            assert!(deeper_than(&text, 900).is_some(), "{part}");
            assert_eq!(deeper_than(&text, 4_100), None, "{part}");
        }
    }

    #[test]
    fn what_stands_side_by_side_is_not_nested() {
        for part in [
            "a = b;",
            "a = b, ",
            "const a = b\n",
            "if (a) { b; } else { c; } ",
            "if (a) b; ",
            "if (a) b; else c; ",
            "function f() { return !a ? b : c }\n",
            "class A extends B { c = d; }\n",
            "case 1: ",
            "'a': {b: [1], c: !0}, ",
            "a + ",
            "a?.b ?? ",
            "export const a = b => c\n",
            "for (const a of b) { c } ",
        ] {
            assert_eq!(deeper_than(&part.repeat(1_000), 8), None, "{part}");
        }
    }
}
