//! Methods by name: the contents of the library, and what a script may call.
//!
//! Must not know what a method does. Invariant: exactly the listed methods can be called.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::value::{Machine, Outcome, Value};

/// The implementation of a method, for a receiver and arguments.
pub type Body = fn(&mut dyn Machine, &Value, &[Value]) -> Outcome;

/// A method.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Minimum number of arguments.
    pub least: usize,
    /// Maximum number of arguments.
    pub most: usize,
    /// Its implementation.
    pub body: Body,
}

/// A method with `least` to `most` arguments.
pub const fn row(name: &'static str, least: usize, most: usize, body: Body) -> Row {
    Row {
        name,
        least,
        most,
        body,
    }
}

/// The maximum number of arguments of a variadic method.
pub const MANY: usize = usize::MAX;

/// Methods by name.
pub struct Table {
    rows: &'static [Row],
    by_name: OnceLock<HashMap<&'static str, Vec<usize>>>,
}

impl Table {
    /// A table of rows; of those with the same name, the first one that accepts the number of arguments is
    /// used.
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

    /// The method with a name that accepts this number of arguments; `None`: there is none.
    #[must_use]
    pub fn find(&self, name: &str, count: usize) -> Option<&'static Row> {
        let mut rows = self.places(name).iter().map(|place| &self.rows[*place]);
        rows.find(|row| (row.least..=row.most).contains(&count))
    }

    /// Whether there is a method with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        !self.places(name).is_empty()
    }
}
