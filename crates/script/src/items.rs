//! What lies in a list or an object, one after the other.
//!
//! Writers keep one of these for each level that they are in, and so go down into values without
//! going down into their own stack. Must not know what is written. Invariant: a list is read as the
//! writer goes on, the fields of an object at once.

use std::ops::Range;
use std::vec;

use rquickjs::{Object, Result, Value};

/// What is left of a list or an object.
pub(crate) enum Items<'js> {
    /// From the first of these indices to before the second.
    Indexed(Object<'js>, Range<u32>),
    /// Fields with their names.
    Fields(vec::IntoIter<(String, Value<'js>)>),
}

impl<'js> Items<'js> {
    /// All of a list.
    ///
    /// # Errors
    /// What a getter throws.
    pub(crate) fn of_list(list: &Object<'js>) -> Result<Items<'js>> {
        Ok(Items::Indexed(list.clone(), 0..list.get("length")?))
    }

    /// These fields.
    pub(crate) fn of_fields(fields: Vec<(String, Value<'js>)>) -> Items<'js> {
        Items::Fields(fields.into_iter())
    }

    /// The next with its name, if it has one; `None` at the end.
    ///
    /// # Errors
    /// What a getter throws.
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
