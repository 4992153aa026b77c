//! The style of a report: colour and width.
//!
//! Must not know terminals or environment variables; the caller decides. Invariant: without colour the output
//! contains no escape sequences.

/// Colour and width of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether escape sequences for colours are written.
    pub color: bool,
    /// Columns that lines should keep to; lines of data may be longer.
    pub width: usize,
}

impl Default for Style {
    /// Plain text of 100 columns.
    fn default() -> Self {
        Style {
            color: false,
            width: 100,
        }
    }
}

/// The narrowest page that is laid out; below it lines run over.
const WIDTH_MIN: usize = 60;

impl Style {
    pub(crate) fn columns(self) -> usize {
        self.width.max(WIDTH_MIN)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn caution(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn alarm(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn accent(self, text: &str) -> String {
        self.paint("36", text)
    }
}
