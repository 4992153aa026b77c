//! Observers in a file: a mapping `{ NAME: { KIND: { SETTING: … }, interval: … } }`, or a list.
//!
//! Must not know where the text comes from; a suite's file contains the same mapping. Invariant: what is
//! written here reads back equal, in the same order.

use std::fmt;

use loadline_model::duration;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::ObserverEntry;
use super::{INTERVAL_DEFAULT, ObserverSpec, ObserverSpecs, SpecError, TIMEOUT_DEFAULT};

/// Reads the value of a mapping from names to observers.
struct Named(String);

impl<'de> DeserializeSeed<'de> for Named {
    type Value = ObserverSpec;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ObserverSpec, D::Error> {
        let entry = ObserverEntry::deserialize(deserializer)?;
        let name = self.0;
        let told = |error| de::Error::custom(format!("observer {name}: {error}"));
        entry.into_spec(Some(name.clone())).map_err(told)
    }
}

impl<'de> Deserialize<'de> for ObserverSpecs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ObserverSpecs, D::Error> {
        struct SpecsVisitor;
        impl<'de> Visitor<'de> for SpecsVisitor {
            type Value = ObserverSpecs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("observers: { NAME: { KIND: { SETTING: … } } }, or a list of observers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObserverSpecs, A::Error> {
                let mut specs = ObserverSpecs::default();
                while let Some(name) = map.next_key::<String>()? {
                    let spec = map.next_value_seed(Named(name))?;
                    specs.push(spec).map_err(de::Error::custom)?;
                }
                Ok(specs)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ObserverSpecs, A::Error> {
                let mut specs = ObserverSpecs::default();
                while let Some(entry) = list.next_element::<ObserverEntry>()? {
                    let spec = entry.into_spec(None).map_err(de::Error::custom)?;
                    specs.push(spec).map_err(de::Error::custom)?;
                }
                Ok(specs)
            }
        }
        deserializer.deserialize_any(SpecsVisitor)
    }
}

impl Serialize for ObserverSpecs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.as_slice()
                .iter()
                .map(|spec| (spec.name.as_str(), Body(spec))),
        )
    }
}

/// An observer as the value of a mapping: without its name, and without default settings.
struct Body<'a>(&'a ObserverSpec);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.0;
        let mut map = serializer.serialize_map(None)?;
        spec.kind.serialize_entry(&mut map)?;
        if spec.interval != INTERVAL_DEFAULT {
            map.serialize_entry("interval", &duration::text(spec.interval))?;
        }
        if spec.required {
            map.serialize_entry("required", &true)?;
        }
        if spec.timeout != TIMEOUT_DEFAULT {
            map.serialize_entry("timeout", &duration::text(spec.timeout))?;
        }
        map.end()
    }
}

/// Parses the text of a file of observers (YAML, and so JSON).
///
/// # Errors
/// What is wrong, as `FILE:LINE:COLUMN: what; what to do`.
pub fn parse_file_text(text: &str, file_name: &str) -> Result<ObserverSpecs, SpecError> {
    loadline_yaml::from_str(text).map_err(|error| SpecError::new(format!("{file_name}:{error}")))
}
