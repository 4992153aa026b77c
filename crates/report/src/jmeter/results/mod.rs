//! Reads results files, CSV or XML, in UTF-8 or UTF-16 with a byte order mark, row by row.
//!
//! Must not know files: bytes come from a reader. Invariant: memory is bounded by one row, however long the
//! file is, and everything in it is a row or an error with its line number.

mod csv;
mod instant;
mod text;
mod xml;

use std::fmt;
use std::io::{self, BufRead};

use text::Text;

use super::save_config::SaveConfig;

/// What the message of every transaction begins with.
const TRANSACTION: &str = "Number of samples in transaction";

/// A row of a results file; what the file does not contain is zero or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// When it started: milliseconds since 1970.
    pub start_ms: i64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Its label.
    pub label: String,
    /// The response code.
    pub code: String,
    /// The response message.
    pub message: String,
    /// The thread's name.
    pub thread: String,
    /// Whether it counts as a success.
    pub success: bool,
    /// The message of the assertion that failed it.
    pub failure: String,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Active threads in the group.
    pub group_threads: u32,
    /// Active threads.
    pub all_threads: u32,
    /// From its start to the first byte of the response.
    pub latency_ms: u64,
    /// Time within it that does not count.
    pub idle_ms: i64,
    /// How long connecting took.
    pub connect_ms: u64,
    /// Nesting depth of a sub-sample; unknown in CSV, so zero there.
    pub depth: u32,
}

impl Row {
    /// Whether it comes from a transaction controller.
    #[must_use]
    pub fn is_transaction(&self) -> bool {
        self.message.starts_with(TRANSACTION)
    }

    /// The same memory for the next row.
    fn clear(&mut self) {
        let Row {
            label,
            code,
            message,
            thread,
            failure,
            ..
        } = std::mem::take(self);
        for (mut text, place) in [
            (label, &mut self.label),
            (code, &mut self.code),
            (message, &mut self.message),
            (thread, &mut self.thread),
            (failure, &mut self.failure),
        ] {
            text.clear();
            *place = text;
        }
    }
}

/// Why a results file cannot be read further.
#[derive(Debug)]
pub struct Fault {
    /// The line that the row starts in, from 1.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Fault {}

impl Fault {
    fn at(line: u64, what: impl Into<String>) -> Fault {
        Fault {
            line,
            what: what.into(),
        }
    }

    fn reading(line: u64, why: &io::Error) -> Fault {
        Fault::at(line, format!("cannot be read: {why}"))
    }
}

/// Reads a timestamp: milliseconds since 1970; `None`: it is none.
pub type ReadInstant = Box<dyn Fn(&str) -> Option<i64>>;

/// How a file is written, as far as it does not say so itself.
pub struct Format {
    /// The settings by which it was written.
    pub config: SaveConfig,
    /// Reads a timestamp written by their pattern; `None`: there is no pattern.
    pub instant: Option<ReadInstant>,
}

/// Reads a results file.
pub struct Reader<R>(Form<R>);

enum Form<R> {
    Csv(Box<csv::Reader<Text<R>>>),
    Xml(Box<xml::Reader<Text<R>>>),
}

impl<R: BufRead> Reader<R> {
    /// Inspects the start of a file that is written by JMeter's defaults.
    ///
    /// # Errors
    /// Those of [`with`](Reader::with).
    pub fn new(bytes: R) -> Result<Reader<R>, Fault> {
        let config = SaveConfig::from_properties(&|_| None);
        let format = Format {
            config: config.map_err(|why| Fault::at(1, why))?,
            instant: None,
        };
        Reader::with(bytes, format)
    }

    /// Inspects the start of the file.
    ///
    /// # Errors
    /// It cannot be read, or its first line is not the header of a results file.
    pub fn with(bytes: R, format: Format) -> Result<Reader<R>, Fault> {
        let unreadable = |why: io::Error| Fault::reading(1, &why);
        let mut bytes = Text::new(bytes).map_err(unreadable)?;
        let start = bytes.fill_buf().map_err(unreadable)?;
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
        let is_xml = start.trim_ascii_start().starts_with(b"<");
        Ok(Reader(match is_xml {
            true => Form::Xml(Box::new(xml::Reader::new(bytes))),
            false => Form::Csv(Box::new(csv::Reader::new(bytes, format)?)),
        }))
    }

    /// Reads the next row into `row`; `false` at the end. In XML a sample follows its sub-samples.
    ///
    /// # Errors
    /// The next text is not a row. A file that is truncated within its last row, as after a killed run, ends
    /// before that row.
    pub fn read(&mut self, row: &mut Row) -> Result<bool, Fault> {
        match &mut self.0 {
            Form::Csv(reader) => reader.read(row),
            Form::Xml(reader) => reader.read(row),
        }
    }
}

/// A number that a column or attribute holds; empty is zero.
fn number<T: std::str::FromStr + Default>(text: &str, name: &str, line: u64) -> Result<T, Fault> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(T::default());
    }
    text.parse()
        .map_err(|_| Fault::at(line, format!("{name} is '{}', not a number", shown(text))))
}

/// The start of a text, as far as a message needs it.
fn shown(text: &str) -> &str {
    let end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn rows(bytes: &[u8]) -> Result<Vec<Row>, Fault> {
        let mut reader = Reader::new(bytes)?;
        let (mut row, mut rows) = (Row::default(), Vec::new());
        while reader.read(&mut row)? {
            rows.push(row.clone());
        }
        Ok(rows)
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_file_holds_it_is_rows_or_a_fault(
            start in "(|<\\?xml |<testResults>|timeStamp,label\n|\u{feff})",
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        ) {
            let all = [start.as_bytes(), &bytes].concat();
            // The test is that it ends.
            let _ = rows(&all);
        }
    }

    #[test]
    fn a_row_keeps_nothing_of_the_one_before() {
        let mut row = Row {
            label: "a".to_owned(),
            elapsed_ms: 3,
            success: true,
            ..Row::default()
        };
        row.clear();
        assert_eq!(row, Row::default());
    }
}
