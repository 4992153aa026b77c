//! A history in bytes.
//!
//! A file is a sequence of blocks, so that a run is added by writing one more; what is torn at the end (the process
//! died while it wrote) is left out. A block is `LLH2`, the length of its header and of its body (32 and 64 bits, little
//! endian), the header as JSON (rows, names of columns, words), then each column of numbers (doubles, NaN: not measured)
//! and each column of words (32-bit numbers of words, all ones: none). `LLH1` is the same without a column of doubts. Must
//! not know documents. Invariant: no bytes make reading panic or take more memory than [`CELLS_MAX`] cells.

use std::fmt;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};

use super::{History, HistoryColumns, Key, NO_WORD};
use crate::expression::Dimension;

const MAGIC: &[u8; 4] = b"LLH2";
/// Blocks of before there were doubts in them.
const MAGIC_OF_OLD: &[u8; 4] = b"LLH1";
const HEAD: usize = 16;
/// Maximum of rows times columns: a gigabyte of numbers.
pub const CELLS_MAX: usize = 1 << 27;
/// Bytes of a column that are read at a time.
const PIECE: usize = 1 << 18;

#[derive(Serialize, Deserialize)]
struct Header {
    rows: usize,
    numbers: Vec<(Key, Dimension)>,
    texts: Vec<String>,
    words: Vec<String>,
}

/// Why data is not a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// Where, in bytes from the beginning.
    pub at: u64,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "byte {}: {}; rebuild the history from the results",
            self.at, self.what
        )
    }
}

impl std::error::Error for HistoryError {}

impl History {
    /// The whole as one block.
    ///
    /// # Panics
    /// Never: names and words are data.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let header = Header {
            rows: self.rows,
            numbers: self
                .numbers
                .iter()
                .map(|of| (of.key.clone(), of.dimension))
                .collect(),
            texts: self.texts.iter().map(|of| of.name.clone()).collect(),
            words: self.words.clone(),
        };
        let header = serde_json::to_vec(&header).expect("names and words are data");
        let body = self.rows * (8 * self.numbers.len() + 4 * self.texts.len());
        let mut out = Vec::with_capacity(HEAD + header.len() + body);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(
            &u32::try_from(header.len())
                .unwrap_or(u32::MAX)
                .to_le_bytes(),
        );
        out.extend_from_slice(&(body as u64).to_le_bytes());
        out.extend_from_slice(&header);
        for column in &self.numbers {
            out.extend(column.values.iter().flat_map(|value| value.to_le_bytes()));
        }
        for column in &self.texts {
            out.extend(column.values.iter().flat_map(|word| word.to_le_bytes()));
        }
        out
    }

    /// Reads blocks; a truncated last block is ignored.
    ///
    /// # Errors
    /// Data that is not a block, or a header that contradicts its body.
    pub fn from_bytes(bytes: &[u8]) -> Result<History, HistoryError> {
        History::read(&mut Cursor::new(bytes), &HistoryColumns::ALL)
    }

    /// Reads `columns` of the blocks in a file; a truncated last block is ignored.
    ///
    /// # Errors
    /// Those of [`History::from_bytes`], and a file that cannot be read.
    pub fn read(
        source: &mut (impl Read + Seek),
        columns: &HistoryColumns,
    ) -> Result<History, HistoryError> {
        let mut history = History::default();
        let mut at = 0;
        let length = source.seek(SeekFrom::End(0));
        let length = length.map_err(|error| Wrong::from(error).at(at))?;
        while let Some(sizes) = sizes_at(source, at, length).map_err(|why| why.at(at))? {
            let wrong = |why: Wrong| why.at(at);
            let head = header(source, sizes.header).map_err(wrong)?;
            history
                .append(head, sizes.body, source, columns)
                .map_err(wrong)?;
            at += HEAD as u64 + sizes.header + sizes.body;
        }
        Ok(history)
    }

    fn append(
        &mut self,
        mut head: Header,
        body: u64,
        source: &mut (impl Read + Seek),
        asked: &HistoryColumns,
    ) -> Result<(), Wrong> {
        let width = 8 * head.numbers.len() + 4 * head.texts.len();
        let is_whole = head.rows.checked_mul(width).map(|bytes| bytes as u64) == Some(body);
        if !is_whole || width == 0 && head.rows > 0 {
            return Err(Wrong::Said("the body is not as long as the header says"));
        }
        let columns = self.numbers.len() + self.texts.len() + head.numbers.len() + head.texts.len();
        let rows = self.rows.checked_add(head.rows);
        if rows
            .and_then(|rows| rows.checked_mul(columns))
            .is_none_or(|cells| cells > CELLS_MAX)
        {
            return Err(Wrong::Said("the history is too large"));
        }
        let words = self.numbers_of(std::mem::take(&mut head.words));
        let before = self.rows;
        for (key, dimension) in &head.numbers {
            if !asked.has_number(key) {
                pass(source, 8 * head.rows)?;
                continue;
            }
            self.number(key.clone(), *dimension);
            let place = self.places[key];
            let values = &mut self.numbers[place].values;
            values.truncate(before);
            column(source, head.rows, |bytes| {
                values.push(f64::from_le_bytes(bytes));
            })?;
        }
        for name in &head.texts {
            if !asked.has_text(name) {
                pass(source, 4 * head.rows)?;
                continue;
            }
            self.text(name);
            let texts = self.texts.iter_mut().find(|known| known.name == *name);
            let values = &mut texts.expect("it was made above").values;
            values.truncate(before);
            column(source, head.rows, |bytes| {
                let word = u32::from_le_bytes(bytes) as usize;
                values.push(words.get(word).copied().unwrap_or(NO_WORD));
            })?;
        }
        self.rows += head.rows;
        self.level();
        Ok(())
    }
}

/// What is wrong with a block.
enum Wrong {
    Said(&'static str),
    Unreadable(io::Error),
}

impl Wrong {
    fn at(self, at: u64) -> HistoryError {
        let what = match self {
            Wrong::Said(what) => what.to_owned(),
            Wrong::Unreadable(error) => error.to_string(),
        };
        HistoryError { at, what }
    }
}

impl From<io::Error> for Wrong {
    fn from(error: io::Error) -> Wrong {
        Wrong::Unreadable(error)
    }
}

/// Lengths of the parts of a block.
struct Sizes {
    header: u64,
    body: u64,
}

/// The block that begins at `at`; `None`: none does, or not all of it is there.
fn sizes_at(source: &mut (impl Read + Seek), at: u64, length: u64) -> Result<Option<Sizes>, Wrong> {
    let Some(rest) = length.checked_sub(at + HEAD as u64) else {
        return Ok(None);
    };
    let mut head = [0; HEAD];
    source.seek(SeekFrom::Start(at))?;
    source.read_exact(&mut head)?;
    if !head.starts_with(MAGIC) && !head.starts_with(MAGIC_OF_OLD) {
        return Err(Wrong::Said("no block begins here"));
    }
    let number = |from: usize, to: usize| {
        let bytes = head[from..to].iter().rev();
        bytes.fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let (header, body) = (number(4, 8), number(8, 16));
    let is_whole = header.checked_add(body).is_some_and(|end| end <= rest);
    Ok(is_whole.then_some(Sizes { header, body }))
}

fn header(source: &mut impl Read, length: u64) -> Result<Header, Wrong> {
    let mut text = Vec::new();
    source.take(length).read_to_end(&mut text)?;
    serde_json::from_slice(&text).map_err(|_| Wrong::Said("the header cannot be read"))
}

/// Goes behind a column.
fn pass(source: &mut impl Seek, bytes: usize) -> io::Result<()> {
    let bytes = i64::try_from(bytes).map_err(io::Error::other)?;
    source.seek_relative(bytes)
}

/// Reads a column, and returns the bytes of each of its cells.
fn column<const WIDTH: usize>(
    source: &mut impl Read,
    rows: usize,
    mut put: impl FnMut([u8; WIDTH]),
) -> io::Result<()> {
    let mut left = rows * WIDTH;
    let mut piece = vec![0; left.min(PIECE)];
    while left > 0 {
        let piece = &mut piece[..left.min(PIECE)];
        source.read_exact(piece)?;
        left -= piece.len();
        piece.as_chunks().0.iter().copied().for_each(&mut put);
    }
    Ok(())
}
