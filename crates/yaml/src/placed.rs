//! A value that knows where it was written.
//!
//! Must not know the tree. Invariant: a value that was read from a tree has a place, unless serde kept it in between
//! (untagged and flattened types), which loses places.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use crate::At;

/// The name that a [`Placed`] asks the tree for.
pub(crate) const NAME: &str = "$loadline::Placed";
pub(crate) const FIELDS: &[&str] = &["line", "column", "value"];

/// A value and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    /// Where; `None`: it stands in no file.
    pub at: Option<At>,
    /// The value.
    pub value: T,
}

impl<T> Placed<T> {
    /// A value that stands in no file.
    pub const fn nowhere(value: T) -> Placed<T> {
        Placed { at: None, value }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Placed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Placed<T>, D::Error> {
        from.deserialize_struct(NAME, FIELDS, Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
    type Value = Placed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a YAML tree")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Placed<T>, A::Error> {
        let (mut at, mut value) = (At::default(), None);
        while let Some(field) = map.next_key::<&str>()? {
            match field {
                "line" => at.line = map.next_value()?,
                "column" => at.column = map.next_value()?,
                _ => value = Some(map.next_value()?),
            }
        }
        let value = value.ok_or_else(|| de::Error::missing_field("value"))?;
        Ok(Placed {
            at: Some(at),
            value,
        })
    }
}
