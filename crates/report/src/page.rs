//! A page of text: sections, rows of label, value and remark, tables, wrapped paragraphs.
//!
//! Must not know results. Invariant: sections are separated by one empty line, lines have no trailing white
//! space, an empty section leaves no trace, and no control characters except the style's own colours are
//! printed: names and labels come from servers and foreign files.

use crate::style::Style;

/// Columns of the labels at the left.
const LABEL: usize = 13;
/// Columns of values beside a label.
const VALUE: usize = 12;

/// A page being written.
pub(crate) struct Page {
    pub(crate) style: Style,
    out: String,
}

impl Page {
    pub(crate) fn new(style: Style) -> Page {
        Page {
            style,
            out: String::new(),
        }
    }

    pub(crate) fn finish(self) -> String {
        self.out
    }

    /// Begins a section; the text is its first line.
    pub(crate) fn section(&mut self, title: &str, remark: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let gap = if remark.is_empty() { "" } else { "   " };
        let room = self
            .style
            .columns()
            .saturating_sub(title.chars().count() + gap.len());
        let line = format!(
            "{}{gap}{}",
            self.style.strong(title),
            self.style.faint(&cut(remark, room))
        );
        self.line(&line);
    }

    /// One line as it is.
    pub(crate) fn line(&mut self, text: &str) {
        push_printable(text.trim_end(), self.style.color, &mut self.out);
        self.out.push('\n');
    }

    /// Label, value and remark; the label may be empty.
    pub(crate) fn row(&mut self, label: &str, value: &str, remark: &str) {
        let value = pad_left(value, VALUE);
        let gap = if remark.is_empty() { "" } else { "   " };
        let line = format!(
            "  {}{value}{gap}{}",
            pad_right(label, LABEL),
            self.style.faint(remark)
        );
        self.line(&line);
    }

    /// The same with the value in bold.
    pub(crate) fn strong_row(&mut self, label: &str, value: &str, remark: &str) {
        let value = self.style.strong(&pad_left(value, VALUE));
        self.row_of(label, &value, remark);
    }

    fn row_of(&mut self, label: &str, value: &str, remark: &str) {
        let room = self.style.columns().saturating_sub(2 + LABEL + VALUE + 3);
        let remark = self.style.faint(&cut(remark, room));
        self.line(&format!("  {}{value}   {remark}", pad_right(label, LABEL)));
    }

    /// Words in lines of the page's width, all but the first indented further.
    pub(crate) fn paragraph(&mut self, first: &str, indent: usize, text: &str) {
        let room = self.style.columns().saturating_sub(indent);
        for (at, line) in wrap(text, room).iter().enumerate() {
            let lead = if at == 0 {
                first.to_owned()
            } else {
                " ".repeat(indent)
            };
            self.line(&format!("{lead}{line}"));
        }
    }

    /// Rows of cells: columns marked `<` are left-aligned, others right-aligned.
    pub(crate) fn table(&mut self, alignment: &str, head: &[&str], rows: &[Vec<String>]) {
        let columns = alignment.chars().count();
        let width_of = |column: usize| {
            let cells = rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count());
            cells
                .chain(head.get(column).map(|cell| cell.chars().count()))
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width_of).collect();
        let laid_out =
            |cells: &[String]| {
                let padded = cells.iter().zip(&widths).zip(alignment.chars()).map(
                    |((cell, width), side)| {
                        if side == '<' {
                            pad_right(cell, *width)
                        } else {
                            pad_left(cell, *width)
                        }
                    },
                );
                format!("  {}", padded.collect::<Vec<_>>().join("   "))
            };
        if !head.is_empty() {
            let cells: Vec<String> = head.iter().map(|cell| (*cell).to_owned()).collect();
            let line = self.style.faint(laid_out(&cells).trim_end());
            self.line(&line);
        }
        for row in rows {
            self.line(&laid_out(row));
        }
    }
}

/// Text truncated to `width` characters, with an ellipsis if something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(width.saturating_sub(1)).collect();
    kept.push('…');
    kept
}

pub(crate) fn pad_left(text: &str, width: usize) -> String {
    format!(
        "{}{text}",
        " ".repeat(width.saturating_sub(text.chars().count()))
    )
}

pub(crate) fn pad_right(text: &str, width: usize) -> String {
    format!(
        "{text}{}",
        " ".repeat(width.saturating_sub(text.chars().count()))
    )
}

/// Units that stay on the line of their number.
const UNITS: &[&str] = &["ns", "µs", "ms", "s", "%", "B", "kB", "MB", "GB", "TB"];
/// A space at which a line is not broken.
const BOUND_SPACE: char = '\u{a0}';

/// Text that stays on one line.
pub(crate) fn bound(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Wraps text at spaces into lines of at most `width` characters; longer words get their own line, and units
/// stay with their numbers.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let is_unit = UNITS.contains(&word.trim_end_matches([',', '.', ';', ':', ')']));
        match words
            .last_mut()
            .filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit()))
        {
            Some(number) => number.push_str(&format!("{BOUND_SPACE}{word}")),
            None => words.push(word.to_owned()),
        }
    }
    let mut lines = vec![String::new()];
    for word in words {
        let line = lines.last_mut().expect("there is always a line");
        let used = line.chars().count();
        if used > 0 && used + 1 + word.chars().count() > width {
            lines.push(word);
        } else {
            line.push_str(if used > 0 { " " } else { "" });
            line.push_str(&word);
        }
    }
    lines
        .iter()
        .map(|line| line.replace(BOUND_SPACE, " "))
        .collect()
}

/// A line without terminal control sequences; colors may stay.
fn push_printable(text: &str, with_colors: bool, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find(char::is_control) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let color = with_colors.then(|| color_at_start(rest)).flatten();
        let taken = match color {
            Some(color) => {
                out.push_str(color);
                color.len()
            }
            None => {
                out.push('\u{fffd}');
                rest.chars().next().map_or(0, char::len_utf8)
            }
        };
        rest = &rest[taken..];
    }
    out.push_str(rest);
}

/// The color sequence at the start of a text.
fn color_at_start(text: &str) -> Option<&str> {
    let codes = text.strip_prefix("\x1b[")?;
    let is_code = |c: char| c.is_ascii_digit() || c == ';';
    let end = codes.find(|c| !is_code(c))?;
    codes[end..].starts_with('m').then(|| &text[..end + 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_and_cut_by_characters() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("µµµµµµµ b", 3), ["µµµµµµµ", "b"]);
        assert_eq!(wrap("was 48.0 ms.", 9), ["was", "48.0 ms."]);
        assert_eq!(wrap(&format!("a {}", bound("b c")), 4), ["a", "b c"]);
        assert_eq!([cut("µµµ", 3), cut("µµµµ", 3)], ["µµµ", "µµ…"]);
    }

    #[test]
    fn nothing_commands_a_terminal_but_the_colors_of_a_page() {
        let hostile = "a\x1b[31mb\x1b[2Jc\x1b]0;d\x07e\nf\u{9b}g\x1b[";
        for (color, left) in [
            (
                true,
                "a\x1b[31mb\u{fffd}[2Jc\u{fffd}]0;d\u{fffd}e\u{fffd}f\u{fffd}g\u{fffd}[\n",
            ),
            (
                false,
                "a\u{fffd}[31mb\u{fffd}[2Jc\u{fffd}]0;d\u{fffd}e\u{fffd}f\u{fffd}g\u{fffd}[\n",
            ),
        ] {
            let mut page = Page::new(Style { color, width: 80 });
            page.line(hostile);
            assert_eq!(page.finish(), left);
        }
    }

    #[test]
    fn tables_align_and_lines_end_clean() {
        let mut page = Page::new(Style {
            color: false,
            width: 80,
        });
        page.section("Title", "");
        page.table(
            "<>",
            &["name", "n"],
            &[
                vec!["a".into(), "10".into()],
                vec!["long".into(), "5".into()],
            ],
        );
        assert_eq!(
            page.finish(),
            "Title\n  name    n\n  a      10\n  long    5\n"
        );
    }
}
