//! Many runs in little space: columns of numbers, so that a document over a million of them is made in a moment.
//!
//! A file is a sequence of blocks, so that a run is added by writing one more; what is torn at the end (the process
//! died while it wrote) is left out. A block is `LLH2`, the length of its header and of its body (32 and 64 bits, little
//! endian), the header as JSON (rows, names of columns, words), then each column of numbers (doubles, NaN: not measured)
//! and each column of words (32-bit numbers of words, all ones: none). `LLH1` is the same without a column of doubts. Must
//! not know files. Invariant: no bytes make reading panic or take more memory than [`CELLS_MAX`] cells.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::compile;
use super::doubts::footnote;
use super::names::Names;
use super::source::{DocumentRows, row_fact};
use super::spec::DocumentSpec;
use super::{Content, DocumentError, Rendered};
use crate::expression::figures::{AggregatedSeries, ObservedFigure, RunFigures, pick};
use crate::expression::{Dimension, Path, Value};
use crate::outcome::RowStatus;

const MAGIC: &[u8; 4] = b"LLH2";
/// Blocks of before there were doubts in them.
const MAGIC_OF_OLD: &[u8; 4] = b"LLH1";
const HEAD: usize = 16;
/// Rows times columns, at most: a gigabyte of numbers.
pub const CELLS_MAX: usize = 1 << 27;
const NO_WORD: u32 = u32::MAX;
const ID: &str = "row.id";
const GROUP: &str = "row.group";
/// Codes of findings with blanks between them.
const DOUBTS: &str = "row.doubts";

/// One run as a history keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryRow {
    /// Its identity, unique in the history where documents are to keep what people write.
    pub id: String,
    /// Its group.
    pub group: Option<String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Facts of its plan.
    pub plan: BTreeMap<String, String>,
    /// What it found: all of it, or what documents need ([`RunFigures::named`]).
    pub figures: RunFigures,
    /// Codes of the findings that make its figures doubtful ([`doubtful`](super::doubtful)), the gravest first.
    pub doubts: Vec<String>,
}

/// Runs by column.
#[derive(Clone, Debug, Default)]
pub struct History {
    rows: usize,
    numbers: Vec<Numbers>,
    texts: Vec<Texts>,
    words: Vec<String>,
    /// Numbers of the words; made when one is looked for.
    known: Option<HashMap<String, u32>>,
    /// Where a column of numbers stands.
    places: HashMap<Key, usize>,
}

/// What a column of numbers holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Key {
    Run(String),
    Observed(ObservedFigure),
}

#[derive(Clone, Debug, PartialEq)]
struct Numbers {
    key: Key,
    dimension: Dimension,
    values: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Texts {
    name: String,
    values: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    rows: usize,
    numbers: Vec<(Key, Dimension)>,
    texts: Vec<String>,
    words: Vec<String>,
}

/// Why bytes are no history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryError {
    /// Where, in bytes from the beginning.
    pub at: usize,
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
    /// How many runs it holds.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The identities of its runs.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let column = self.texts.iter().find(|known| known.name == ID);
        let words = column.into_iter().flat_map(|column| &column.values);
        words.filter_map(|word| self.words.get(*word as usize).map(String::as_str))
    }

    /// Adds a run.
    pub fn push(&mut self, row: &HistoryRow) {
        self.rows += 1;
        let group = row.group.iter().map(|group| (GROUP.to_owned(), group));
        let labels = row
            .labels
            .iter()
            .map(|(name, value)| (format!("label.{name}"), value));
        let plan = row
            .plan
            .iter()
            .map(|(name, value)| (format!("plan.{name}"), value));
        let found = row
            .figures
            .texts
            .iter()
            .map(|(name, value)| (format!("run.{name}"), value));
        let id = std::iter::once((ID.to_owned(), &row.id));
        let doubts = row.doubts.join(" ");
        let doubts = Some((DOUBTS.to_owned(), &doubts)).filter(|_| !doubts.is_empty());
        let texts = id.chain(group).chain(labels).chain(plan).chain(found);
        for (name, value) in texts.chain(doubts) {
            let word = self.word(value);
            *self.text(&name) = word;
        }
        for (name, (amount, dimension)) in &row.figures.numbers {
            *self.number(Key::Run(name.clone()), *dimension) = *amount;
        }
        for (figure, amount) in &row.figures.observed {
            let dimension = Dimension::of_metric(&figure.metric).unwrap_or_default();
            *self.number(Key::Observed(figure.clone()), dimension) = *amount;
        }
        self.level();
    }

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

    /// Reads blocks; a block that the bytes end within is left out.
    ///
    /// # Errors
    /// Bytes that are no block, or a header that contradicts its body.
    pub fn from_bytes(bytes: &[u8]) -> Result<History, HistoryError> {
        let mut history = History::default();
        let mut at = 0;
        while let Some(head) = bytes.get(at..at + HEAD) {
            let error = |what: &str| HistoryError {
                at,
                what: what.to_owned(),
            };
            if !head.starts_with(MAGIC) && !head.starts_with(MAGIC_OF_OLD) {
                return Err(error("no block begins here"));
            }
            let number = |from: usize, to: usize| {
                head[from..to]
                    .iter()
                    .rev()
                    .fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte))
            };
            let (header, body) = (number(4, 8), number(8, 16));
            let rest = &bytes[at + HEAD..];
            let Some(end) = header
                .checked_add(body)
                .filter(|end| *end <= rest.len() as u64)
            else {
                return Ok(history);
            };
            let (head, body) = rest[..end as usize].split_at(header as usize);
            let head: Header =
                serde_json::from_slice(head).map_err(|_| error("the header cannot be read"))?;
            history.append(head, body).map_err(error)?;
            at += HEAD + end as usize;
        }
        Ok(history)
    }

    fn append(&mut self, mut head: Header, body: &[u8]) -> Result<(), &'static str> {
        let width = 8 * head.numbers.len() + 4 * head.texts.len();
        if head.rows.checked_mul(width) != Some(body.len()) || width == 0 && head.rows > 0 {
            return Err("the body is not as long as the header says");
        }
        let columns = self.numbers.len() + self.texts.len() + head.numbers.len() + head.texts.len();
        let rows = self.rows.checked_add(head.rows);
        if rows
            .and_then(|rows| rows.checked_mul(columns))
            .is_none_or(|cells| cells > CELLS_MAX)
        {
            return Err("the history is too large");
        }
        let words = self.numbers_of(std::mem::take(&mut head.words));
        let before = self.rows;
        let mut rest = body;
        for (key, dimension) in &head.numbers {
            let (column, behind) = rest.split_at(8 * head.rows);
            rest = behind;
            self.number(key.clone(), *dimension);
            let place = self.places[key];
            let values = &mut self.numbers[place].values;
            values.truncate(before);
            values.extend(column.chunks_exact(8).map(|chunk| {
                f64::from_le_bytes(chunk.try_into().expect("chunks have eight bytes"))
            }));
        }
        for name in &head.texts {
            let (column, behind) = rest.split_at(4 * head.rows);
            rest = behind;
            self.text(name);
            let column = column.chunks_exact(4).map(|chunk| {
                let word = u32::from_le_bytes(chunk.try_into().expect("chunks have four bytes"));
                words.get(word as usize).copied().unwrap_or(NO_WORD)
            });
            let texts = self.texts.iter_mut().find(|known| known.name == *name);
            if let Some(texts) = texts {
                texts.values.truncate(before);
                texts.values.extend(column);
            }
        }
        self.rows += head.rows;
        self.level();
        Ok(())
    }

    /// The numbers of a block's words; those of the first block are what they were.
    fn numbers_of(&mut self, words: Vec<String>) -> Vec<u32> {
        if !self.words.is_empty() {
            return words.iter().map(|word| self.word(word)).collect();
        }
        self.words = words;
        (0..NO_WORD).take(self.words.len()).collect()
    }

    fn word(&mut self, word: &str) -> u32 {
        let words = &self.words;
        let known = self.known.get_or_insert_with(|| {
            let words = words.iter().cloned();
            words.zip(0..NO_WORD).collect()
        });
        if let Some(known) = known.get(word) {
            return *known;
        }
        let number = u32::try_from(self.words.len()).unwrap_or(NO_WORD);
        self.words.push(word.to_owned());
        known.insert(word.to_owned(), number);
        number
    }

    /// The last row's place in a column, which is made where it is not there.
    fn number(&mut self, key: Key, dimension: Dimension) -> &mut f64 {
        let place = *self.places.entry(key.clone()).or_insert_with(|| {
            self.numbers.push(Numbers {
                key,
                dimension,
                values: Vec::new(),
            });
            self.numbers.len() - 1
        });
        let values = &mut self.numbers[place].values;
        values.resize(self.rows.max(1), f64::NAN);
        values.last_mut().expect("it has a row at least")
    }

    fn text(&mut self, name: &str) -> &mut u32 {
        let place = self
            .texts
            .iter()
            .position(|known| known.name == name)
            .unwrap_or_else(|| {
                self.texts.push(Texts {
                    name: name.to_owned(),
                    values: Vec::new(),
                });
                self.texts.len() - 1
            });
        let values = &mut self.texts[place].values;
        values.resize(self.rows.max(1), NO_WORD);
        values.last_mut().expect("it has a row at least")
    }

    /// Makes all columns as long as there are rows.
    fn level(&mut self) {
        for column in &mut self.numbers {
            column.values.resize(self.rows, f64::NAN);
        }
        for column in &mut self.texts {
            column.values.resize(self.rows, NO_WORD);
        }
    }

    fn said(&self, column: usize, row: usize) -> Option<&str> {
        let word = self.texts[column].values[row];
        self.words.get(word as usize).map(String::as_str)
    }
}

/// Makes a document of a history: each run is a row, and stands for itself.
///
/// # Errors
/// Those of [`super::render`].
pub fn render_history(
    spec: &DocumentSpec,
    title: &str,
    history: &History,
    existing: Option<&str>,
) -> Result<Rendered, DocumentError> {
    let document = compile::document(spec)?;
    let names = Names(&document.components);
    let sources: Vec<HistoryRows<'_>> = document
        .tables
        .iter()
        .map(|table| HistoryRows::new(history, &table.paths))
        .collect();
    let tables = super::filled(&document, &sources, &names)?;
    let title = document.title.as_deref().unwrap_or(title);
    let content = Content::of(&document, title, &tables, None);
    super::write(&document, &content, existing)
}

/// Where a path's values stand.
enum PathPlace {
    Nowhere,
    Number(usize),
    Text(usize),
    Observed(Vec<usize>),
}

struct HistoryRows<'a> {
    history: &'a History,
    paths: &'a [Path],
    places: Vec<PathPlace>,
    id: Option<usize>,
    group: Option<usize>,
    doubts: Option<usize>,
}

impl<'a> HistoryRows<'a> {
    fn new(history: &'a History, paths: &'a [Path]) -> HistoryRows<'a> {
        let text = |name: &str| history.texts.iter().position(|known| known.name == name);
        let place = |path: &Path| {
            match path {
            Path::Run(name) => match history.places.get(&Key::Run(name.clone())) {
                Some(place) => PathPlace::Number(*place),
                None => text(&format!("run.{name}")).map_or(PathPlace::Nowhere, PathPlace::Text),
            },
            Path::Observe(_) => PathPlace::Observed(
                history
                    .numbers
                    .iter()
                    .enumerate()
                    .filter(|(_, column)| matches!(&column.key, Key::Observed(figure) if figure.suits(path)))
                    .map(|(place, _)| place)
                    .collect(),
            ),
            Path::Label(name) => text(&format!("label.{name}")).map_or(PathPlace::Nowhere, PathPlace::Text),
            Path::Plan(name) => text(&format!("plan.{name}")).map_or(PathPlace::Nowhere, PathPlace::Text),
            Path::Env(_) | Path::Suite(_) | Path::Row(_) => PathPlace::Nowhere,
        }
        };
        HistoryRows {
            history,
            paths,
            places: paths.iter().map(place).collect(),
            id: text(ID),
            group: text(GROUP),
            doubts: text(DOUBTS),
        }
    }
}

impl DocumentRows for HistoryRows<'_> {
    fn count(&self) -> usize {
        self.history.rows
    }

    fn id(&self, row: usize) -> &str {
        self.id
            .and_then(|column| self.history.said(column, row))
            .unwrap_or("")
    }

    fn group(&self, row: usize) -> Option<&str> {
        self.group.and_then(|column| self.history.said(column, row))
    }

    fn label(&self, row: usize, name: &str) -> Option<&str> {
        let mut texts = self.history.texts.iter();
        let column = texts.position(|known| known.name.strip_prefix("label.") == Some(name))?;
        self.history.said(column, row)
    }

    fn likeness(&self, row: usize, other: usize) -> usize {
        let labels = self
            .history
            .texts
            .iter()
            .filter(|known| known.name.starts_with("label."));
        labels
            .filter(|of| of.values[row] == of.values[other])
            .count()
    }

    fn status(&self, _row: usize) -> RowStatus {
        RowStatus::Passed
    }

    fn reasons(&self, _row: usize) -> &[String] {
        &[]
    }

    fn runs(&self, _row: usize) -> usize {
        1
    }

    fn doubts(&self, row: usize) -> Vec<&str> {
        let codes = self
            .doubts
            .and_then(|column| self.history.said(column, row));
        let codes = codes.into_iter().flat_map(str::split_whitespace);
        codes.map(|code| footnote(code).unwrap_or(code)).collect()
    }

    fn fact(&self, row: usize, path: usize) -> Value<'_> {
        if let Path::Row(field) = &self.paths[path] {
            return row_fact(self, row, *field);
        }
        self.measured(row, 0, path)
    }

    fn measured(&self, row: usize, _run: usize, path: usize) -> Value<'_> {
        match &self.places[path] {
            PathPlace::Nowhere => Value::Missing,
            PathPlace::Number(column) => {
                let column = &self.history.numbers[*column];
                Value::number(column.values[row], column.dimension)
            }
            PathPlace::Text(column) => {
                let said = self.history.said(*column, row);
                said.map_or(Value::Missing, |text| Value::Text(Cow::Borrowed(text)))
            }
            PathPlace::Observed(columns) => {
                let Path::Observe(selector) = &self.paths[path] else {
                    return Value::Missing;
                };
                let seen = columns.iter().filter_map(|column| {
                    let column = &self.history.numbers[*column];
                    match &column.key {
                        Key::Observed(figure) => Some(figure.seen(column.values[row])),
                        Key::Run(_) => None,
                    }
                });
                let seen: Vec<AggregatedSeries<'_>> = seen
                    .filter(|seen| seen.amount.is_some_and(f64::is_finite))
                    .collect();
                pick(&seen, selector)
            }
        }
    }
}
