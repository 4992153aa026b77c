//! The items of a list or an object, one after the other.
//!
//! Writers keep one of these per nesting level, and so descend into values without recursion. Must not know
//! what is written. Invariant: a list is read as the writer progresses, the fields of an object at once.

use std::ops::Range;
use std::vec;

use rquickjs::{Object, Result, Value};

/// The remaining items of a list or an object.
pub(crate) enum Items<'js> {
    /// A list, from the first index (inclusive) to the second (exclusive).
    Indexed(Object<'js>, Range<u32>),
    /// Fields with their names.
    Fields(vec::IntoIter<(String, Value<'js>)>),
}

impl<'js> Items<'js> {
    /// All items of a list.
    ///
    /// # Errors
    /// An exception from a getter.
    pub(crate) fn of_list(list: &Object<'js>) -> Result<Items<'js>> {
        Ok(Items::Indexed(list.clone(), 0..list.get("length")?))
    }

    /// The given fields.
    pub(crate) fn of_fields(fields: Vec<(String, Value<'js>)>) -> Items<'js> {
        Items::Fields(fields.into_iter())
    }

    /// The next item, with its name if it has one; `None` at the end.
    ///
    /// # Errors
    /// An exception from a getter.
    pub(crate) fn next(&mut self) -> Result<Option<(Option<String>, Value<'js>)>> {
        match self {
            Items::Indexed(list, left) => {
                let next = left.next().map(|index| list.get(index)).transpose()?;
                Ok(next.map(|value| (None, value)))
            }
            Items::Fields(fields) => Ok(fields.next().map(|(name, value)| (Some(name), value))),
        }
    }
}
