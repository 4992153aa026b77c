//! Many runs in little space: columns of numbers, so that a document over a million runs is fast.
//!
//! Must not know files. Invariant: every column has a value for each row, or is explicitly empty there.

mod blocks;
mod rows;

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::expression::Dimension;
use crate::expression::figures::{ObservedFigure, RunFigures};

pub use blocks::{CELLS_MAX, HistoryError};
pub use rows::{HistoryColumns, render_history};

const NO_WORD: u32 = u32::MAX;
const ID: &str = "row.id";
const GROUP: &str = "row.group";
/// Codes of findings with blanks between them.
const DOUBTS: &str = "row.doubts";

/// One run in a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistoryRow {
    /// Its identity; unique in the history if documents keep hand-written text.
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
    /// The position of a column of numbers.
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

impl History {
    /// The number of runs.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The identities of the runs.
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
