//! JSON text as a deeply frozen value.
//!
//! Objects are created frozen: freezing them later would give each its own shape. Must not know where the text
//! comes from. Invariant: the value is the same as from `JSON.parse` and a deep `Object.freeze`.

use std::fmt;

use rquickjs::object::Property;
use rquickjs::{Array, Ctx, Error, IntoJs, Object, Result, Value, qjs};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Maximum depth read here; deeper values take the slow path, which the engine guards.
const LEVELS_MAX: u8 = 16;

/// Parses a text.
///
/// # Errors
/// Throws if it is not JSON, or memory is exhausted.
pub(super) fn parse<'js>(ctx: &Ctx<'js>, json: &str) -> Result<Value<'js>> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let seed = Seed {
        ctx,
        levels: LEVELS_MAX,
    };
    match seed.deserialize(&mut reader) {
        Ok(value) => Ok(value),
        Err(_) => {
            drop(ctx.catch());
            let value = ctx.json_parse(json)?;
            freeze(&value)?;
            Ok(value)
        }
    }
}

/// Freezes a JSON value and everything in it.
fn freeze(value: &Value<'_>) -> Result<()> {
    let mut left: Vec<Object<'_>> = value.as_object().cloned().into_iter().collect();
    while let Some(object) = left.pop() {
        for entry in object.props::<Value<'_>, Value<'_>>() {
            left.extend(entry?.1.into_object());
        }
        freeze_one(&object)?;
    }
    Ok(())
}

/// Freezes an object, but not its contents.
pub(crate) fn freeze_one(object: &Object<'_>) -> Result<()> {
    let ctx = object.ctx();
    // SAFETY: context and object are alive; the object is a plain one, so no script code runs.
    let frozen = unsafe { qjs::JS_FreezeObject(ctx.as_raw().as_ptr(), object.as_raw()) };
    if frozen < 0 {
        Err(Error::Exception)
    } else {
        Ok(())
    }
}

/// Makes an object non-extensible; its properties are already read-only.
fn close(object: &Object<'_>) -> Result<()> {
    let ctx = object.ctx();
    // SAFETY: as above.
    let closed = unsafe { qjs::JS_PreventExtensions(ctx.as_raw().as_ptr(), object.as_raw()) };
    if closed < 0 {
        Err(Error::Exception)
    } else {
        Ok(())
    }
}

struct Seed<'a, 'js> {
    ctx: &'a Ctx<'js>,
    /// Remaining levels.
    levels: u8,
}

impl<'js> Seed<'_, 'js> {
    fn inner<E: serde::de::Error>(&self) -> std::result::Result<Self, E> {
        match self.levels.checked_sub(1) {
            Some(levels) => Ok(Seed {
                ctx: self.ctx,
                levels,
            }),
            None => Err(E::custom("too deep")),
        }
    }

    fn value<E: serde::de::Error>(
        &self,
        value: impl IntoJs<'js>,
    ) -> std::result::Result<Value<'js>, E> {
        value.into_js(self.ctx).map_err(E::custom)
    }
}

impl<'de, 'js> DeserializeSeed<'de> for Seed<'_, 'js> {
    type Value = Value<'js>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        reader: D,
    ) -> std::result::Result<Value<'js>, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de, 'js> Visitor<'de> for Seed<'_, 'js> {
    type Value = Value<'js>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<Value<'js>, E> {
        Ok(Value::new_null(self.ctx.clone()))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<Value<'js>, E> {
        self.value(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> std::result::Result<Value<'js>, E> {
        match i32::try_from(value) {
            Ok(small) => self.value(small),
            Err(_) => self.value(value as f64),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<Value<'js>, E> {
        match i32::try_from(value) {
            Ok(small) => self.value(small),
            Err(_) => self.value(value as f64),
        }
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<Value<'js>, E> {
        self.value(value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> std::result::Result<Value<'js>, E> {
        self.value(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut items: A,
    ) -> std::result::Result<Value<'js>, A::Error> {
        let array = Array::new(self.ctx.clone()).map_err(A::Error::custom)?;
        let mut index = 0;
        while let Some(item) = items.next_element_seed(self.inner()?)? {
            array.set(index, item).map_err(A::Error::custom)?;
            index += 1;
        }
        freeze_one(array.as_object()).map_err(A::Error::custom)?;
        Ok(array.into_value())
    }

    fn visit_map<A: MapAccess<'de>>(
        self,
        mut fields: A,
    ) -> std::result::Result<Value<'js>, A::Error> {
        let object = Object::new(self.ctx.clone()).map_err(A::Error::custom)?;
        while let Some(name) = fields.next_key_seed(Key { ctx: self.ctx })? {
            let value = fields.next_value_seed(self.inner()?)?;
            let property = Property::from(value).enumerable();
            object.prop(name, property).map_err(A::Error::custom)?;
        }
        close(&object).map_err(A::Error::custom)?;
        Ok(object.into_value())
    }
}

/// A property's name, passed from the text to the engine without a copy.
struct Key<'a, 'js> {
    ctx: &'a Ctx<'js>,
}

impl<'de, 'js> DeserializeSeed<'de> for Key<'_, 'js> {
    type Value = rquickjs::Atom<'js>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        reader: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl<'js> Visitor<'_> for Key<'_, 'js> {
    type Value = rquickjs::Atom<'js>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Self::Value, E> {
        rquickjs::Atom::from_str(self.ctx.clone(), name).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rquickjs::{Context, Runtime};
    use serde_json::{Value as Json, json};

    use super::*;

    fn round_trip(json: &str) -> (String, bool) {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| {
            let value = parse(&ctx, json).unwrap();
            let text = ctx.json_stringify(value.clone()).unwrap().unwrap();
            let is_frozen: rquickjs::Function<'_> = ctx
                .eval("(function frozen(v) { return typeof v !== 'object' || v === null || (Object.isFrozen(v) && Object.values(v).every(frozen)); })")
                .unwrap();
            (text.to_string().unwrap(), is_frozen.call((value,)).unwrap())
        })
    }

    #[test]
    fn what_is_too_deep_or_no_unicode_goes_the_long_way() {
        for deep in ["[".repeat(40) + &"]".repeat(40), r#"["\ud800"]"#.to_owned()] {
            assert_eq!(round_trip(&deep), (deep, true));
        }
    }

    #[test]
    fn names_that_mean_something_to_objects_are_plain_here() {
        let text = r#"{"1":0,"__proto__":{"a":1},"constructor":null}"#;
        assert_eq!(round_trip(text), (text.to_owned(), true));
    }

    fn json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i32>().prop_map(Json::from),
            (-1e9..1e9).prop_map(|number: f64| json!(number)),
            ".{0,8}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::btree_map("[a-z]{1,4}", inner, 0..4).prop_map(Json::from_iter),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_value_comes_back_frozen(value in json()) {
            let (text, is_frozen) = round_trip(&value.to_string());
            let back: Json = serde_json::from_str(&text).unwrap();
            prop_assert!(is_frozen);
            prop_assert!(same(&back, &value), "{back} {value}");
        }
    }

    /// Compares numbers as doubles: JavaScript has no others.
    fn same(a: &Json, b: &Json) -> bool {
        match (a, b) {
            (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
            (Json::Array(a), Json::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
            }
            (Json::Object(a), Json::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
            }
            _ => a == b,
        }
    }
}
