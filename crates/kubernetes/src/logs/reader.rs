//! A log, line by line as it arrives.
//!
//! Must not know which log. Invariant: a line is complete or truncated at the limit, never split.

use std::io::{self, BufRead, BufReader, Read};

use super::LINE_MAX;
use crate::access::Stream;

/// A log that is followed. Dropping it ends the connection.
pub struct LogReader {
    reader: BufReader<Stream>,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LogReader")
    }
}

impl LogReader {
    pub(super) fn new(stream: Stream) -> LogReader {
        LogReader {
            reader: BufReader::new(stream),
        }
    }

    /// The next line without its line end; waits for it without a limit. `None`: the container ended. Invalid
    /// UTF-8 is replaced.
    ///
    /// # Errors
    /// The connection broke.
    pub fn next_line(&mut self) -> io::Result<Option<String>> {
        let line = read_line(&mut self.reader)?;
        Ok(line.map(|line| String::from_utf8_lossy(&line).into_owned()))
    }
}

/// The bytes of a line without its end, at most [`LINE_MAX`]; the rest of a longer one is skipped.
fn read_line(reader: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = LINE_MAX as u64 + 1;
    if reader.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > LINE_MAX {
        line.truncate(LINE_MAX);
        reader.skip_until(b'\n')?;
    }
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r'));
    line.truncate(end.map_or(0, |last| last + 1));
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_limit_and_go_on_with_the_next() {
        let text = format!("one\r\n{}\ntwo\n\nlast", "x".repeat(3 * LINE_MAX));
        let mut reader = BufReader::new(text.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = read_line(&mut reader).expect("readable") {
            lines.push(String::from_utf8(line).expect("text"));
        }
        let lengths: Vec<usize> = lines.iter().map(String::len).collect();
        assert_eq!(lengths, [3, LINE_MAX, 3, 0, 4]);
        assert_eq!((lines[2].as_str(), lines[4].as_str()), ("two", "last"));
    }
}
