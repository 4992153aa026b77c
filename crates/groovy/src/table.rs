//! Methods by name: what the library can do, and what a script may ask for.
//!
//! Must not know what a method does. Invariant: what is called is what is listed.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::value::{Machine, Outcome, Value};

/// What a method does to a receiver with what it is given.
pub type Body = fn(&mut dyn Machine, &Value, &[Value]) -> Outcome;

/// A method.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// How few values it takes.
    pub least: usize,
    /// How many values it takes.
    pub most: usize,
    /// What it does.
    pub body: Body,
}

/// A method that takes between `least` and `most` values.
pub const fn row(name: &'static str, least: usize, most: usize, body: Body) -> Row {
    Row {
        name,
        least,
        most,
        body,
    }
}

/// The number of values that a method takes which takes as many as it is given.
pub const MANY: usize = usize::MAX;

/// Methods by name.
pub struct Table {
    rows: &'static [Row],
    by_name: OnceLock<HashMap<&'static str, Vec<usize>>>,
}

impl Table {
    /// A table of rows; of those with one name, the first that takes so many values counts.
    #[must_use]
    pub const fn new(rows: &'static [Row]) -> Table {
        Table {
            rows,
            by_name: OnceLock::new(),
        }
    }

    fn places(&self, name: &str) -> &[usize] {
        let by_name = self.by_name.get_or_init(|| {
            let mut by_name: HashMap<&'static str, Vec<usize>> = HashMap::new();
            for (place, row) in self.rows.iter().enumerate() {
                by_name.entry(row.name).or_default().push(place);
            }
            by_name
        });
        by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// The method of a name that takes so many values; `None`: there is none.
    #[must_use]
    pub fn find(&self, name: &str, count: usize) -> Option<&'static Row> {
        let mut rows = self.places(name).iter().map(|place| &self.rows[*place]);
        rows.find(|row| (row.least..=row.most).contains(&count))
    }

    /// Whether there is a method of a name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        !self.places(name).is_empty()
    }
}
