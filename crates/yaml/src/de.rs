//! Types from the tree.
//!
//! Must not know YAML. Invariants: a word becomes a number or a flag where the type wants one; nothing is an empty map
//! or list; a refusal has the place of the innermost node, or of the key that is unknown.

use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor,
};

use crate::error::Refusal;
use crate::{At, Entry, Node, Value, YamlError, placed};

type Result<T> = std::result::Result<T, Refusal>;

impl Node {
    /// Reads a type from the node.
    ///
    /// # Errors
    /// The node says something that the type has no room for.
    pub fn read<T: DeserializeOwned>(&self) -> std::result::Result<T, YamlError> {
        T::deserialize(Reader(self)).map_err(Refusal::into_error)
    }
}

/// A node that is being read.
#[derive(Clone, Copy)]
struct Reader<'de>(&'de Node);

impl<'de> Reader<'de> {
    /// A number, whether or not it stands in quotes.
    fn visit_number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.0.value {
            Value::Text(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
                visit_number(text, visitor)
            }
            _ => self.visit(visitor),
        }
    }

    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match &self.0.value {
            Value::Null => visitor.visit_unit(),
            Value::Flag(flag, _) => visitor.visit_bool(*flag),
            Value::Number(text) => visit_number(text, visitor),
            Value::Text(text) => visitor.visit_borrowed_str(text),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(entries) => visitor.visit_map(Entries::of(entries)),
        }
    }

    fn wanted<T>(self, what: &str) -> Result<T> {
        let got = self.0.described();
        Err(Refusal::new(format!("expected {what} here, got {got}")))
    }

    fn variant(self) -> Result<Variant<'de>> {
        match (&self.0.value, self.0.word()) {
            (_, Some(name)) => Ok(Variant { name, node: None }),
            (Value::Map(entries), _) if entries.len() == 1 => Ok(Variant {
                name: &entries[0].key,
                node: Some(&entries[0]),
            }),
            (Value::Map(entries), _) => {
                let count = entries.len();
                Err(Refusal::new(format!("expected one key here, got {count}")))
            }
            _ => self.wanted("a name, or a map of one key"),
        }
    }
}

fn visit_number<'de, V: Visitor<'de>>(text: &'de str, visitor: V) -> Result<V::Value> {
    if let Ok(number) = text.parse::<u64>() {
        return visitor.visit_u64(number);
    }
    if let Ok(number) = text.parse::<i64>() {
        return visitor.visit_i64(number);
    }
    match text.parse::<f64>() {
        Ok(number) => visitor.visit_f64(number),
        Err(_) => visitor.visit_borrowed_str(text),
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            self.visit_number(visitor).map_err(|refusal| refusal.or_at(self.0.at))
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Refusal;

    numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = self.visit(visitor);
        read.map_err(|refusal| refusal.or_at(self.0.at))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = match self.0.flag() {
            Some(flag) => visitor.visit_bool(flag),
            None => self.visit(visitor),
        };
        read.map_err(|refusal| refusal.or_at(self.0.at))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = match self.0.word() {
            Some(word) => visitor.visit_borrowed_str(word),
            None => self.wanted("a text"),
        };
        read.map_err(|refusal| refusal.or_at(self.0.at))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.0.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = match &self.0.value {
            Value::Null => visitor.visit_seq(Items([].iter())),
            Value::List(items) => visitor.visit_seq(Items(items.iter())),
            _ => self.wanted("a list"),
        };
        read.map_err(|refusal| refusal.or_at(self.0.at))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let read = match &self.0.value {
            Value::Null | Value::Map(_) => visitor.visit_map(Entries::of(self.0.entries())),
            _ => self.wanted("a map"),
        };
        read.map_err(|refusal| refusal.or_at(self.0.at))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match name {
            placed::NAME => visitor.visit_map(Place {
                node: self.0,
                field: 0,
            }),
            _ => self.deserialize_map(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let read = self
            .variant()
            .and_then(|variant| visitor.visit_enum(variant));
        read.map_err(|refusal| refusal.or_at(self.0.at))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! { char bytes byte_buf unit unit_struct tuple tuple_struct identifier }
}

/// The values of a list.
struct Items<'de>(std::slice::Iter<'de, Node>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Refusal;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        self.0
            .next()
            .map(|node| seed.deserialize(Reader(node)))
            .transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The entries of a map.
struct Entries<'de> {
    rest: std::slice::Iter<'de, Entry>,
    /// The value of the key that was read last.
    value: Option<&'de Node>,
}

impl<'de> Entries<'de> {
    fn of(entries: &'de [Entry]) -> Entries<'de> {
        Entries {
            rest: entries.iter(),
            value: None,
        }
    }
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(entry) = self.rest.next() else {
            return Ok(None);
        };
        self.value = Some(&entry.node);
        name(seed, &entry.key, entry.at).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        let node = self.value.take();
        seed.deserialize(Reader(node.expect("serde asks for a key before its value")))
    }
}

/// Reads a key, or the name of a variant.
fn name<'de, S: DeserializeSeed<'de>>(seed: S, name: &'de str, at: At) -> Result<S::Value> {
    let read = seed.deserialize(de::value::BorrowedStrDeserializer::<Refusal>::new(name));
    read.map_err(|refusal| refusal.or_at(at))
}

/// A node as the three fields of [`crate::Placed`].
struct Place<'de> {
    node: &'de Node,
    field: usize,
}

impl<'de> de::MapAccess<'de> for Place<'de> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some(field) = placed::FIELDS.get(self.field) else {
            return Ok(None);
        };
        name(seed, field, self.node.at).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.field += 1;
        match self.field {
            1 => seed.deserialize(self.node.at.line.into_deserializer()),
            2 => seed.deserialize(self.node.at.column.into_deserializer()),
            _ => seed.deserialize(Reader(self.node)),
        }
    }
}

/// A variant: a word, or the one entry of a map.
struct Variant<'de> {
    name: &'de str,
    node: Option<&'de Entry>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Refusal;
    type Variant = Variant<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Variant<'de>)> {
        let read = seed.deserialize(de::value::BorrowedStrDeserializer::<Refusal>::new(
            self.name,
        ));
        let variant = read.map_err(|refusal| match self.node {
            Some(entry) => refusal.or_at(entry.at),
            None => refusal,
        })?;
        Ok((variant, self))
    }
}

impl<'de> Variant<'de> {
    fn settings(&self) -> Result<Reader<'de>> {
        let entry = self.node.ok_or_else(|| {
            let name = self.name;
            Refusal::new(format!("{name} needs settings: write {name}: and them"))
        })?;
        Ok(Reader(&entry.node))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Refusal;

    fn unit_variant(self) -> Result<()> {
        match self.node {
            Some(entry) if entry.node.value != Value::Null => {
                let refusal = Refusal::new(format!("{} has no settings", self.name));
                Err(refusal.or_at(entry.node.at))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self.settings()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_seq(self.settings()?, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        de::Deserializer::deserialize_map(self.settings()?, visitor)
    }
}
