//! A file that a command reads, with its type detected from its first bytes.
//!
//! Must not know layouts beyond their first bytes. Invariant: it is opened and read once, from start to end, so
//! that pipes work as well as files.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, stdin};
use std::path::Path;

use loadline_model::ExitCode;
use loadline_output::journal;

use crate::Ending;

/// Number of bytes that determine the type of a file.
const BEGINNING: u64 = 64;
/// Bytes read at a time.
const PART: usize = 256 << 10;

/// The apparent type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Journal,
    /// A JMeter results file: text that is not JSON.
    OfJmeter,
    /// A JSON result, or something unknown, which the reader will refuse.
    Json,
}

/// An open file.
pub(super) struct Stored {
    name: String,
    beginning: Vec<u8>,
    rest: Box<dyn Read>,
}

impl Stored {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// It cannot be read; the message names it.
    pub(super) fn open(path: &Path) -> Result<Stored, Ending> {
        let opened = match path == Path::new("-") {
            true => Stored::new("standard input".to_owned(), Box::new(stdin())),
            false => File::open(path)
                .and_then(|file| Stored::new(path.display().to_string(), Box::new(file))),
        };
        opened.map_err(|error| {
            let name = path.display();
            let told = format!("{name}: cannot be read: {error}; check its name and permissions");
            Ending::refusal(ExitCode::InvalidConfig, &told)
        })
    }

    fn new(name: String, mut rest: Box<dyn Read>) -> io::Result<Stored> {
        let mut beginning = Vec::new();
        rest.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
        Ok(Stored {
            name,
            beginning,
            rest,
        })
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn kind(&self) -> Kind {
        let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
        let text = marks
            .iter()
            .find_map(|mark| self.beginning.strip_prefix(*mark));
        let text = text.unwrap_or(&self.beginning);
        // In UTF-16, a Latin letter includes a zero byte.
        let mut letters = text
            .iter()
            .filter(|byte| **byte != 0 && !byte.is_ascii_whitespace());
        let is_text = |first: &u8| first.is_ascii_alphanumeric() || matches!(first, b'<' | b'"');
        match letters.next() {
            _ if journal::is_journal(&self.beginning) => Kind::Journal,
            Some(first) if is_text(first) => Kind::OfJmeter,
            _ => Kind::Json,
        }
    }

    /// The complete content.
    pub(super) fn bytes(self) -> BufReader<impl Read> {
        BufReader::with_capacity(PART, Cursor::new(self.beginning).chain(self.rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(text: &[u8]) -> Stored {
        let rest = Box::new(Cursor::new(text.to_vec()));
        Stored::new("x".to_owned(), rest).expect("memory can be read")
    }

    #[test]
    fn what_a_file_is_its_beginning_says() {
        let kind = |text: &[u8]| stored(text).kind();
        assert_eq!(kind(b"loadline/journal/v1\n"), Kind::Journal);
        assert_eq!(kind(b"timeStamp,elapsed\n"), Kind::OfJmeter);
        assert_eq!(kind(b"\xef\xbb\xbf<testResults>"), Kind::OfJmeter);
        assert_eq!(kind(b"\xff\xfet\0i\0"), Kind::OfJmeter);
        assert_eq!(kind(b"\xfe\xff\0\n\0<"), Kind::OfJmeter);
        for text in [&b""[..], b" {}", b"\xef\xbb\xbf{}", b"\xff\xfe{\0"] {
            assert_eq!(kind(text), Kind::Json);
        }
    }

    #[test]
    fn what_was_looked_at_is_read_too() {
        let text = b"0123456789".repeat(100);
        let mut read = Vec::new();
        let whole = stored(&text).bytes().read_to_end(&mut read);
        whole.expect("memory can be read");
        assert_eq!(read, text);
    }
}
