//! Restores the original lines and columns of code that was printed without white space.
//!
//! Translated code comes with a list of [`Mapping`]s that gives the original positions of its pieces. White
//! space is inserted until they are there again, so that stack traces need no map. Must not know the language
//! of the original. Invariant: the output differs from the input only by white space between tokens, and only
//! where a line break is allowed.

/// The original position of a piece of printed code: lines and columns from zero, columns in UTF-16 units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapping {
    /// Line and column in the printed code.
    pub(super) printed: (u32, u32),
    /// Line and column in the original.
    pub(super) original: (u32, u32),
}

/// Words after which a line must not end: that would end the statement.
const OPEN_WORDS: &[&str] = &["return", "throw", "yield", "break", "continue", "async"];

/// The printed code on its original lines. Mappings come in the order of the printed code.
pub(super) fn restore(
    printed: &str,
    original: &str,
    mappings: impl Iterator<Item = Mapping>,
) -> String {
    let lines: Vec<Line<'_>> = original.split('\n').map(Line::new).collect();
    let mut layout = Layout {
        out: String::with_capacity(original.len()),
        at: (0, 0),
    };
    let mut rest = Printed {
        text: printed,
        at: (0, 0),
    };
    for mapping in mappings {
        layout.push(rest.take_until(mapping.printed));
        let follows_brace = char_before(&lines, mapping.original) == Some('}');
        layout.move_to(mapping.original, rest.text, follows_brace);
    }
    layout.push(rest.text);
    layout.out
}

/// The rest of the printed code.
struct Printed<'a> {
    text: &'a str,
    at: (u32, u32),
}

impl<'a> Printed<'a> {
    fn take_until(&mut self, end: (u32, u32)) -> &'a str {
        let mut length = 0;
        for letter in self.text.chars() {
            if self.at >= end {
                break;
            }
            self.at = after(self.at, letter);
            length += letter.len_utf8();
        }
        let (taken, rest) = self.text.split_at(length);
        self.text = rest;
        taken
    }
}

struct Layout {
    out: String,
    /// Line and column of the end of `out`.
    at: (u32, u32),
}

impl Layout {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
        self.at = text.chars().fold(self.at, after);
    }

    /// Inserts white space up to the position, if it is ahead and white space is allowed.
    fn move_to(&mut self, (line, column): (u32, u32), next: &str, follows_brace: bool) {
        // After `}` the text of a template literal may continue, which must not change.
        if follows_brace && self.out.ends_with('}') {
            return;
        }
        if line > self.at.0 && self.may_break_before(next) {
            for _ in self.at.0..line {
                self.push("\n");
            }
        }
        if line == self.at.0 {
            for _ in self.at.1..column {
                self.push(" ");
            }
        }
    }

    fn may_break_before(&self, next: &str) -> bool {
        if ["++", "--", "=>"].iter().any(|sign| next.starts_with(sign)) {
            return false;
        }
        let before = self.out.trim_end();
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '.');
        let word = before
            .rfind(|letter| !is_word(letter))
            .map_or(before, |end| {
                let letter = before[end..].chars().next().map_or(0, char::len_utf8);
                &before[end + letter..]
            });
        !OPEN_WORDS.contains(&word)
    }
}

fn after((line, column): (u32, u32), letter: char) -> (u32, u32) {
    match letter {
        '\n' | '\u{2028}' | '\u{2029}' => (line + 1, 0),
        _ => (line, column + letter.len_utf16() as u32),
    }
}

fn char_before(lines: &[Line<'_>], (line, column): (u32, u32)) -> Option<char> {
    lines.get(line as usize)?.char_before(column)
}

/// Columns between two marks in a line.
const STRIDE: u32 = 64;

/// A line with fast column lookup, which does not scan all columns before: a bundle may be a single line.
struct Line<'a> {
    text: &'a str,
    /// For each [`STRIDE`] columns the last character that starts at or before them: its column, and its byte
    /// offset.
    marks: Vec<(u32, usize)>,
}

impl<'a> Line<'a> {
    fn new(text: &'a str) -> Line<'a> {
        let mut marks = Vec::with_capacity(text.len() / STRIDE as usize + 1);
        let mut column = 0;
        for (byte, letter) in text.char_indices() {
            let end = column + letter.len_utf16() as u32;
            if end > marks.len() as u32 * STRIDE {
                marks.push((column, byte));
            }
            column = end;
        }
        Line { text, marks }
    }

    /// The character that ends at this column.
    fn char_before(&self, column: u32) -> Option<char> {
        let mark = column.checked_sub(1)? / STRIDE;
        let (mut at, byte) = *self.marks.get(mark as usize)?;
        for letter in self.text[byte..].chars() {
            at += letter.len_utf16() as u32;
            if at >= column {
                return (at == column).then_some(letter);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(printed: (u32, u32), original: (u32, u32)) -> Mapping {
        Mapping { printed, original }
    }

    #[test]
    fn pieces_stand_where_they_stood() {
        let original = "const a: number = 1;\n\n  f(a);";
        let mappings = [
            mapping((0, 0), (0, 0)),
            mapping((0, 6), (0, 6)),
            mapping((0, 8), (0, 18)),
            mapping((0, 10), (2, 2)),
        ];
        let restored = restore("const a=1;f(a);", original, mappings.into_iter());
        assert_eq!(restored, "const a=          1;\n\n  f(a);");
    }

    #[test]
    fn letters_are_found_by_their_columns() {
        let text: String = ["a", "\u{e9}", "\u{1f600}", "}"].concat().repeat(100);
        let line = Line::new(&text);
        let mut column = 0;
        assert_eq!(line.char_before(0), None);
        for letter in text.chars() {
            if letter.len_utf16() == 2 {
                assert_eq!(line.char_before(column + 1), None);
            }
            column += letter.len_utf16() as u32;
            assert_eq!(line.char_before(column), Some(letter), "{column}");
        }
        assert_eq!(line.char_before(column + 1), None);
    }

    #[test]
    fn no_line_ends_after_return() {
        let original = "return (\n  a);\nb()";
        let mappings = [mapping((0, 7), (1, 2)), mapping((0, 9), (2, 0))];
        let restored = restore("return a;b()", original, mappings.into_iter());
        assert_eq!(restored, "return a;\n\nb()");
    }

    #[test]
    fn templates_keep_their_text() {
        let original = "x = `a${ (b as any) }c`";
        let mappings = [mapping((0, 6), (0, 10)), mapping((0, 8), (0, 21))];
        let restored = restore("x=`a${b}c`", original, mappings.into_iter());
        assert_eq!(restored, "x=`a${    b}c`");
    }
}
