//! Settings as words: reads `KEY=VALUE` pairs into the settings of any kind.
//!
//! Must not know any kind. Invariant: a word becomes a number or a boolean only if the setting has that type,
//! so a name may look like a number.

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{self, Deserialize, DeserializeOwned, IntoDeserializer, Visitor};

/// The words given for one key: one, or several if the key was repeated.
#[derive(Clone, Debug)]
struct Words(Vec<String>);

/// Parses settings from pairs; a repeated key gives a list.
///
/// # Errors
/// A key is unknown or missing, or its value has the wrong type.
pub(super) fn settings<T: DeserializeOwned>(pairs: Vec<(String, String)>) -> Result<T, String> {
    let mut grouped: Vec<(String, Words)> = Vec::new();
    for (key, value) in pairs {
        match grouped.iter_mut().find(|(known, _)| *known == key) {
            Some((_, words)) => words.0.push(value),
            None => grouped.push((key, Words(vec![value]))),
        }
    }
    let pairs = MapDeserializer::<_, Error>::new(grouped.into_iter());
    T::deserialize(pairs).map_err(|error| error.to_string())
}

impl Words {
    fn only(self) -> Result<String, Error> {
        let [word] = <[String; 1]>::try_from(self.0)
            .map_err(|words| de::Error::custom(format!("it is given {} times", words.len())))?;
        Ok(word)
    }

    fn parsed<T: std::str::FromStr>(self, what: &str) -> Result<T, Error> {
        let word = self.only()?;
        let wrong = || de::Error::custom(format!("{word:?} is no {what}"));
        word.parse().map_err(|_| wrong())
    }
}

impl IntoDeserializer<'_, Error> for Words {
    type Deserializer = Words;

    fn into_deserializer(self) -> Words {
        self
    }
}

macro_rules! numbers {
    ($($method:ident => $visit:ident, $type:ty;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.$visit(self.parsed::<$type>("number that fits here")?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Words {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.len() {
            1 => visitor.visit_string(self.only()?),
            _ => self.deserialize_seq(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(self.parsed("true or false")?)
    }

    numbers! {
        deserialize_u8 => visit_u8, u8;
        deserialize_u16 => visit_u16, u16;
        deserialize_u32 => visit_u32, u32;
        deserialize_u64 => visit_u64, u64;
        deserialize_f64 => visit_f64, f64;
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.only()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_string(self.only()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let words = self.0.into_iter().map(|word| Words(vec![word]));
        visitor.visit_seq(SeqDeserializer::new(words))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut pairs = Vec::new();
        for word in &self.0 {
            let (key, value) = word.split_once(['=', ':']).ok_or_else(|| {
                <Error as de::Error>::custom(format!("{word:?} has no name; write NAME=VALUE"))
            })?;
            pairs.push((key.trim().to_owned(), Words(vec![value.trim().to_owned()])));
        }
        visitor.visit_map(MapDeserializer::new(pairs.into_iter()))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.only()?.into_deserializer())
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 char  bytes byte_buf unit unit_struct tuple tuple_struct struct
        identifier ignored_any
    }
}

/// Settings that are all at their defaults.
///
/// # Errors
/// One of them has no default.
pub(super) fn no_settings<T: for<'de> Deserialize<'de>>() -> Result<T, String> {
    settings(Vec::new())
}
