//! Records of comma-separated values, as Go's `encoding/csv` reads them.
//!
//! Source: RFC 4180 and the documentation of Go's package. Must not know what records are for. Invariants:
//! reading terminates for any bytes; after an error it continues with the line after the faulty one; all
//! returned records have as many fields as the first.

use std::fmt;

/// Why there is no record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CsvFault {
    /// This byte cannot separate fields.
    Delimiter,
    /// A record has a different number of fields than the first.
    FieldCount {
        /// Line of the record, from 1.
        line: usize,
    },
    /// A quote in an invalid place.
    Quote {
        /// The line where the record starts.
        start_line: usize,
        /// Line and column of the quote, from 1; the column in bytes.
        place: (usize, usize),
        /// The fault.
        why: &'static str,
    },
}

const BARE: &str = "bare \" in non-quoted-field";
const EXTRANEOUS: &str = "extraneous or missing \" in quoted-field";

/// In Go's words.
impl fmt::Display for CsvFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CsvFault::Delimiter => f.write_str("csv: invalid field or comment delimiter"),
            CsvFault::FieldCount { line } => {
                write!(f, "record on line {line}: wrong number of fields")
            }
            CsvFault::Quote {
                start_line,
                place: (line, column),
                why,
            } => {
                if start_line != line {
                    write!(f, "record on line {start_line}; ")?;
                }
                write!(f, "parse error on line {line}, column {column}: {why}")
            }
        }
    }
}

/// The fields of a record.
pub type Record = Vec<String>;

/// Reads records one by one.
#[derive(Clone, Copy, Debug)]
pub struct RecordReader {
    delimiter: u8,
    /// Current offset in the bytes.
    offset: usize,
    /// Lines read.
    line: usize,
    /// Fields of the first record; `None` before it.
    width: Option<usize>,
}

impl RecordReader {
    /// A reader that starts at an offset.
    #[must_use]
    pub fn new(delimiter: u8, offset: usize) -> RecordReader {
        RecordReader {
            delimiter,
            offset,
            line: 0,
            width: None,
        }
    }

    /// The next record; `None` at the end. Lines without a byte are no records.
    ///
    /// # Errors
    /// The text there is not a valid record.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Option<Record>, CsvFault> {
        if matches!(self.delimiter, b'"' | b'\r' | b'\n' | 0 | 0x80..) {
            return Err(CsvFault::Delimiter);
        }
        loop {
            let Some(line) = self.line(bytes) else {
                return Ok(None);
            };
            if !line.text.is_empty() {
                return self.record(bytes, line).map(Some);
            }
        }
    }

    fn record<'a>(&mut self, bytes: &'a [u8], first: Line<'a>) -> Result<Record, CsvFault> {
        let start_line = self.line;
        let mut record = Record::new();
        let mut at = Cursor {
            line: first,
            column: 0,
        };
        loop {
            let field = match at.rest().first() {
                Some(b'"') => self.quoted(bytes, &mut at, start_line)?,
                _ => self.plain(&mut at, start_line)?,
            };
            record.push(String::from_utf8_lossy(&field).into_owned());
            match at.rest().first() {
                Some(_) => at.column += 1,
                None => break,
            }
        }
        match *self.width.get_or_insert(record.len()) == record.len() {
            true => Ok(record),
            false => Err(CsvFault::FieldCount { line: start_line }),
        }
    }

    /// A field without quotes, up to its delimiter.
    fn plain(&self, at: &mut Cursor<'_>, start_line: usize) -> Result<Vec<u8>, CsvFault> {
        let rest = at.rest();
        let end = rest.iter().position(|byte| *byte == self.delimiter);
        let field = &rest[..end.unwrap_or(rest.len())];
        if let Some(quote) = field.iter().position(|byte| *byte == b'"') {
            return Err(self.fault(start_line, at.column + quote, BARE));
        }
        at.column += field.len();
        Ok(field.to_vec())
    }

    /// A quoted field, which may span several lines.
    fn quoted<'a>(
        &mut self,
        bytes: &'a [u8],
        at: &mut Cursor<'a>,
        start_line: usize,
    ) -> Result<Vec<u8>, CsvFault> {
        let mut field = Vec::new();
        at.column += 1;
        loop {
            let rest = at.rest();
            let Some(quote) = rest.iter().position(|byte| *byte == b'"') else {
                field.extend_from_slice(rest);
                let ended = at.line.has_end;
                field.extend_from_slice(if ended { b"\n" } else { b"" });
                match self.line(bytes) {
                    Some(line) => *at = Cursor { line, column: 0 },
                    None => {
                        let column = at.line.text.len() + usize::from(ended);
                        return Err(self.fault(start_line, column, EXTRANEOUS));
                    }
                }
                continue;
            };
            field.extend_from_slice(&rest[..quote]);
            match rest.get(quote + 1) {
                Some(b'"') => field.push(b'"'),
                next if next.is_none_or(|byte| *byte == self.delimiter) => {
                    at.column += quote + 1;
                    return Ok(field);
                }
                _ => return Err(self.fault(start_line, at.column + quote, EXTRANEOUS)),
            }
            at.column += quote + 2;
        }
    }

    fn fault(&self, start_line: usize, column: usize, why: &'static str) -> CsvFault {
        CsvFault::Quote {
            start_line,
            place: (self.line, column + 1),
            why,
        }
    }

    /// The next line; `None` at the end.
    fn line<'a>(&mut self, bytes: &'a [u8]) -> Option<Line<'a>> {
        let rest = bytes.get(self.offset..).filter(|rest| !rest.is_empty())?;
        let end = rest.iter().position(|byte| *byte == b'\n');
        self.offset += end.map_or(rest.len(), |end| end + 1);
        self.line += 1;
        let text = &rest[..end.unwrap_or(rest.len())];
        Some(Line {
            text: text.strip_suffix(b"\r").unwrap_or(text),
            has_end: end.is_some(),
        })
    }
}

/// A line without its end.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a [u8],
    /// Whether the line had an end.
    has_end: bool,
}

/// A position in a line.
struct Cursor<'a> {
    line: Line<'a>,
    /// From zero.
    column: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.line.text.get(self.column..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Vec<String> {
        let mut reader = RecordReader::new(b',', 0);
        let mut seen = Vec::new();
        loop {
            match reader.next(text.as_bytes()) {
                Ok(None) => return seen,
                Ok(Some(record)) => seen.push(record.join("|")),
                Err(fault) => seen.push(fault.to_string()),
            }
        }
    }

    #[test]
    fn records_are_what_go_makes_of_them() {
        let table: [(&str, &[&str]); 12] = [
            ("a,b\n1,2\n", &["a|b", "1|2"]),
            ("a,b\r\n\r\n\n1,2", &["a|b", "1|2"]),
            ("a,\n,\n", &["a|", "|"]),
            ("\"a\"\"b\",\"c\r\nd\"\n", &["a\"b|c\nd"]),
            ("\"\",\"\"", &["|"]),
            (
                "a,b\nx\"y,2\n",
                &[
                    "a|b",
                    "parse error on line 2, column 2: bare \" in non-quoted-field",
                ],
            ),
            (
                "\"q\"z,3\n",
                &["parse error on line 1, column 3: extraneous or missing \" in quoted-field"],
            ),
            (
                "\"open\n",
                &["parse error on line 1, column 7: extraneous or missing \" in quoted-field"],
            ),
            (
                "a\n\"b\nc",
                &[
                    "a",
                    "record on line 2; parse error on line 3, column 2: extraneous or missing \" in quoted-field",
                ],
            ),
            (
                "a,b\n1\n2,3\n",
                &["a|b", "record on line 2: wrong number of fields", "2|3"],
            ),
            ("\u{feff}a", &["\u{feff}a"]),
            ("", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_was_quoted_comes_back(records in prop::collection::vec(prop::collection::vec("[a\",\n é]{0,4}", 2), 1..4)) {
            let mut text = String::new();
            for record in &records {
                let quoted = record.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\"")));
                text.push_str(&quoted.collect::<Vec<_>>().join(","));
                text.push('\n');
            }
            let expected: Vec<String> = records.iter().map(|record| record.join("|")).collect();
            prop_assert_eq!(read(&text), expected);
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(prop::sample::select(&b"a\",\r\n\xff"[..]), 0..24)) {
            let mut reader = RecordReader::new(b',', 0);
            let calls = (0..=bytes.len() + 1).take_while(|_| reader.next(&bytes) != Ok(None)).count();
            prop_assert!(calls <= bytes.len() + 1);
        }
    }
}
