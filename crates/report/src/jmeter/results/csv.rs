//! Results files in CSV, with any columns.
//!
//! Must not know what rows are for. Invariant: a record is not longer than [`RECORD_MAX`].

use std::io::{BufRead, Read};

use super::{Fault, Format, Row, instant, number, shown};
use crate::jmeter::csv::{names, names_of};
use crate::jmeter::save_config::Part;

/// Maximum bytes of a record: a message may be a whole response.
const RECORD_MAX: usize = 16 << 20;
/// Maximum columns of a header.
const COLUMNS_MAX: usize = 256;

/// Reads the records of a file.
pub(super) struct Reader<R> {
    bytes: R,
    /// The line that the record starts in, from 1.
    line: u64,
    /// Lines of the record.
    lines: u64,
    format: Format,
    delimiter: u8,
    columns: Vec<String>,
    record: Vec<u8>,
    /// A record that was read already.
    is_pending: bool,
    fields: Fields,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header; without one, the columns are those of the format.
    pub(super) fn new(bytes: R, format: Format) -> Result<Reader<R>, Fault> {
        let mut reader = Reader {
            bytes,
            line: 1,
            lines: 0,
            delimiter: u8::try_from(format.config.delimiter).unwrap_or(b','),
            format,
            columns: Vec::new(),
            record: Vec::new(),
            is_pending: false,
            fields: Fields::default(),
        };
        if reader.next_record()? {
            reader.read_header()?;
        }
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<(), Fault> {
        let header = String::from_utf8_lossy(&self.record).into_owned();
        let header = header.trim_start_matches('\u{feff}').trim_end();
        let is_first = header.starts_with(|c: char| c.is_ascii_digit());
        let names_nothing = || !header.split(|c: char| !c.is_alphanumeric()).any(is_column);
        let is_first = is_first || !self.format.config.has(Part::FieldNames) && names_nothing();
        if is_first {
            self.columns = names_of(&self.format.config);
            self.is_pending = true;
            return Ok(());
        }
        let delimiter = header.bytes().find(|byte| !byte.is_ascii_alphanumeric());
        self.delimiter = delimiter.filter(u8::is_ascii).unwrap_or(b',');
        let parts = header.split(char::from(self.delimiter));
        self.columns = parts
            .map(|name| name.trim_matches('"').to_owned())
            .collect();
        let is_known = self.columns.iter().any(|name| is_column(name));
        if self.columns.len() > COLUMNS_MAX || !is_known {
            let told = format!(
                "'{}' is not the header of a JMeter results file",
                shown(header)
            );
            return Err(Fault::at(1, told));
        }
        Ok(())
    }

    /// Reads the next row.
    pub(super) fn read(&mut self, row: &mut Row) -> Result<bool, Fault> {
        if !std::mem::take(&mut self.is_pending) && !self.next_record()? {
            return Ok(false);
        }
        let is_whole = self.record.ends_with(b"\n");
        self.fields.split(&self.record, self.delimiter);
        if self.fields.ends.len() < self.columns.len() {
            if !is_whole {
                return Ok(false);
            }
            let (found, wanted) = (self.fields.ends.len(), self.columns.len());
            let told = format!("there are {found} columns, not {wanted}");
            return Err(Fault::at(self.line, told));
        }
        row.clear();
        match std::str::from_utf8(&self.fields.text) {
            Ok(text) => self.fill(row, &self.fields.ends, text)?,
            Err(_) => {
                let (text, ends) = self.fields.repaired();
                self.fill(row, &ends, &text)?;
            }
        }
        Ok(true)
    }

    fn fill(&self, row: &mut Row, ends: &[usize], text: &str) -> Result<(), Fault> {
        let mut start = 0;
        for (name, end) in self.columns.iter().zip(ends) {
            let value = text.get(start..*end).unwrap_or_default();
            start = *end;
            if name == "timeStamp" {
                let told = || format!("timeStamp is '{}', not a time", shown(value));
                let at = instant::read(value, self.format.instant.as_ref());
                row.start_ms = at.ok_or_else(|| Fault::at(self.line, told()))?;
            } else {
                set(row, name, value, self.line)?;
            }
        }
        Ok(())
    }

    /// Reads a record with all lines that its quotes hold together; `false` at the end.
    fn next_record(&mut self) -> Result<bool, Fault> {
        loop {
            self.line += self.lines;
            self.lines = 0;
            self.record.clear();
            let mut is_quoted = false;
            loop {
                let start = self.record.len();
                let left = (RECORD_MAX - start) as u64;
                let mut part = self.bytes.by_ref().take(left);
                let read = part.read_until(b'\n', &mut self.record);
                let read = read.map_err(|why| Fault::reading(self.line, &why))?;
                let quotes = self.record[start..].iter().filter(|byte| **byte == b'"');
                is_quoted ^= quotes.count() % 2 == 1;
                self.lines += 1;
                if self.record.len() >= RECORD_MAX {
                    let told = format!("a row of more than {RECORD_MAX} bytes");
                    return Err(Fault::at(self.line, told));
                }
                if read == 0 || !is_quoted {
                    break;
                }
            }
            if self.record.is_empty() {
                return Ok(false);
            }
            if !self.record.trim_ascii().is_empty() {
                return Ok(true);
            }
        }
    }
}

/// The fields of a record, without their quotes.
#[derive(Default)]
struct Fields {
    text: Vec<u8>,
    /// Where each field ends.
    ends: Vec<usize>,
}

impl Fields {
    fn split(&mut self, record: &[u8], delimiter: u8) {
        self.text.clear();
        self.ends.clear();
        let record = record.strip_suffix(b"\n").unwrap_or(record);
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        let mut is_quoted = false;
        let mut at = 0;
        while let Some(&byte) = record.get(at) {
            match byte {
                b'"' if is_quoted && record.get(at + 1) == Some(&b'"') => {
                    self.text.push(b'"');
                    at += 1;
                }
                b'"' => is_quoted = !is_quoted,
                _ if byte == delimiter && !is_quoted => self.ends.push(self.text.len()),
                _ => self.text.push(byte),
            }
            at += 1;
        }
        self.ends.push(self.text.len());
    }

    /// The same as text, with a mark in place of invalid UTF-8.
    fn repaired(&self) -> (String, Vec<usize>) {
        let (mut text, mut ends, mut start) = (String::new(), Vec::new(), 0);
        for end in &self.ends {
            text.push_str(&String::from_utf8_lossy(&self.text[start..*end]));
            ends.push(text.len());
            start = *end;
        }
        (text, ends)
    }
}

/// Whether a column of results files has this name.
fn is_column(name: &str) -> bool {
    names().any(|known| known == name)
}

/// Sets a value of a row from its column.
fn set(row: &mut Row, name: &str, value: &str, line: u64) -> Result<(), Fault> {
    match name {
        "elapsed" => row.elapsed_ms = number(value, name, line)?,
        "label" => row.label.push_str(value),
        "responseCode" => row.code.push_str(value),
        "responseMessage" => row.message.push_str(value),
        "threadName" => row.thread.push_str(value),
        "success" => row.success = value.eq_ignore_ascii_case("true"),
        "failureMessage" => row.failure.push_str(value),
        "bytes" => row.bytes = number(value, name, line)?,
        "sentBytes" => row.sent_bytes = number(value, name, line)?,
        "grpThreads" => row.group_threads = number(value, name, line)?,
        "allThreads" => row.all_threads = number(value, name, line)?,
        "Latency" => row.latency_ms = number(value, name, line)?,
        "IdleTime" => row.idle_ms = number(value, name, line)?,
        "Connect" => row.connect_ms = number(value, name, line)?,
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::rows;
    use super::*;
    use crate::jmeter::save_config::SaveConfig;

    const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
        failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";
    const ROW: &str = "1795395206839,26,\"a \"\"q\"\", b\nc\",200,OK,TG 1-1,text,false,nope,829,386,1,2,null,21,0,16\n";

    #[test]
    fn what_jmeter_writes_is_read() {
        let all = rows(format!("{HEADER}{ROW}{ROW}").as_bytes()).expect("it is sound");
        assert_eq!(all.len(), 2);
        let row = &all[1];
        assert_eq!(row.label, "a \"q\", b\nc");
        assert_eq!((row.start_ms, row.elapsed_ms), (1_795_395_206_839, 26));
        assert_eq!((row.code.as_str(), row.failure.as_str()), ("200", "nope"));
        assert_eq!((row.bytes, row.sent_bytes, row.all_threads), (829, 386, 2));
        assert_eq!(
            (row.latency_ms, row.connect_ms, row.success),
            (21, 16, false)
        );
    }

    #[test]
    fn other_columns_and_delimiters_are_read() {
        let text = "elapsed;label;success;\"a\"\r\n5;x;true;1\r\n\r\n6;y;TRUE;\r\n";
        let all = rows(text.as_bytes()).expect("it is sound");
        assert_eq!(all.len(), 2);
        assert_eq!((all[1].label.as_str(), all[1].elapsed_ms), ("y", 6));
        assert!(all[1].success);
    }

    #[test]
    fn a_file_may_have_no_header() {
        let all = rows(ROW.as_bytes()).expect("it is sound");
        assert_eq!(all[0].connect_ms, 16);
    }

    #[test]
    fn a_file_may_be_written_by_properties() {
        let config = SaveConfig::from_properties(&|name| {
            let value = match name.strip_prefix("jmeter.save.saveservice.")? {
                "default_delimiter" => ";",
                "print_field_names" => "false",
                "hostname" => "true",
                "timestamp_format" => "dd",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let text = "the 7th;26;a;200;OK;TG 1-1;text;true;;829;386;1;2;null;21;vm;3;16\n\
            1795395206839;27;b;200;OK;TG 1-1;text;true;;829;386;1;2;null;21;vm;0;16\n";
        let format = Format {
            config: config.expect("no property is wrong"),
            instant: Some(Box::new(|text| (text == "the 7th").then_some(7))),
        };
        let mut reader = super::super::Reader::with(text.as_bytes(), format).expect("it is sound");
        let mut row = Row::default();
        assert!(reader.read(&mut row).expect("it is sound"));
        assert_eq!((row.start_ms, row.idle_ms, row.connect_ms), (7, 3, 16));
        assert!(reader.read(&mut row).expect("it is sound"));
        assert_eq!((row.start_ms, row.label.as_str()), (1_795_395_206_839, "b"));
    }

    #[test]
    fn a_row_that_breaks_off_ends_the_file() {
        for end in ["1795,3,x", "1795,3,\"x", "\"", "1"] {
            let all = rows(format!("{HEADER}{ROW}{end}").as_bytes()).expect("it is sound");
            assert_eq!(all.len(), 1, "{end}");
        }
        assert_eq!(rows(b"").expect("it is sound"), []);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, told) in [
            (
                format!("{HEADER}{ROW}{ROW}1,2\n"),
                "line 6: there are 2 columns, not 17",
            ),
            (
                format!("{HEADER}{}", ROW.replace(",26,", ",2x,")),
                "line 2: elapsed is '2x', not a number",
            ),
            (
                format!("{HEADER}{}", ROW.replace("1795395206839", "today")),
                "line 2: timeStamp is 'today', not a time",
            ),
            (
                "what,is,this\n".to_owned(),
                "line 1: 'what,is,this' is not the header of a JMeter results file",
            ),
        ] {
            let fault = rows(text.as_bytes()).expect_err("it is not sound");
            assert_eq!(fault.to_string(), told);
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        let bytes = [HEADER.as_bytes(), &ROW.replace("OK", "é-x").into_bytes()].concat();
        let cut: Vec<u8> = bytes.into_iter().filter(|byte| *byte != 0xa9).collect();
        let all = rows(&cut).expect("it is sound");
        assert_eq!(all[0].message, "\u{fffd}-x");
        assert_eq!(all[0].thread, "TG 1-1");
    }
}
