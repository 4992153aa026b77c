//! Observers in a file: a mapping `{ NAME: { KIND: { SETTING: … }, interval: … } }`, or a list.
//!
//! Must not know where the text comes from; a suite's file holds the same mapping. Invariant: what is written here
//! reads back to the same, in the same order.

use std::fmt;
use std::time::Duration;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::kind::ObserverKind;
use super::values::{Span, span, span_text};
use super::{INTERVAL_DEFAULT, ObserverSpec, ObserverSpecs, SpecError, TIMEOUT_DEFAULT, grammar};

/// What every kind has.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    pub(super) name: Option<String>,
    pub(super) interval: Option<Duration>,
    pub(super) required: Option<bool>,
    pub(super) timeout: Option<Duration>,
}

impl Common {
    /// Takes a setting that every kind has; `false`: it is the kind's own.
    pub(super) fn take(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "interval" => self.interval = Some(span(value)?),
            "timeout" => self.timeout = Some(span(value)?),
            "required" => {
                let truth = value.trim().parse();
                self.required =
                    Some(truth.map_err(|_| format!("required={value:?} is not true or false"))?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// One observer of a file, or one stage of a pipeline.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) common: Common,
    pub(super) kind: ObserverKind,
}

impl Entry {
    /// The specification; `name` is the key of the mapping that the entry is a value of.
    pub(super) fn into_spec(self, name: Option<String>) -> Result<ObserverSpec, String> {
        let Entry { common, kind } = self;
        let name = name.or(common.name);
        let spec = ObserverSpec {
            name: name.unwrap_or_else(|| kind.name().to_owned()),
            kind,
            interval: common.interval.unwrap_or(INTERVAL_DEFAULT),
            required: common.required.unwrap_or(false),
            timeout: common.timeout.unwrap_or(TIMEOUT_DEFAULT),
        };
        spec.check()?;
        Ok(spec)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entry, D::Error> {
        deserializer.deserialize_any(EntryReader)
    }
}

struct EntryReader;

impl<'de> Visitor<'de> for EntryReader {
    type Value = Entry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an observer: { KIND: { SETTING: … } }, or KIND:VALUE as on the command line")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Entry, E> {
        grammar::entry(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry, A::Error> {
        let mut common = Common::default();
        let mut kind: Option<ObserverKind> = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => common.name = Some(map.next_value()?),
                "interval" => common.interval = Some(map.next_value::<Span>()?.0),
                "timeout" => common.timeout = Some(map.next_value::<Span>()?.0),
                "required" => common.required = Some(map.next_value()?),
                name => {
                    if let Some(other) = &kind {
                        let other = other.name();
                        let text = format!("an observer has one kind; here are {other} and {name}");
                        return Err(de::Error::custom(text));
                    }
                    kind = ObserverKind::from_map(name, &mut map)?;
                    if kind.is_none() {
                        return Err(de::Error::custom(grammar::unknown_kind(name)));
                    }
                }
            }
        }
        let kind = kind.ok_or_else(|| {
            let kinds = ObserverKind::NAMES.join(", ");
            de::Error::custom(format!(
                "the kind of the observer is missing; it is one of {kinds}"
            ))
        })?;
        Ok(Entry { common, kind })
    }
}

/// Reads the value of a mapping from names to observers.
struct Named(String);

impl<'de> DeserializeSeed<'de> for Named {
    type Value = ObserverSpec;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ObserverSpec, D::Error> {
        let entry = Entry::deserialize(deserializer)?;
        let name = self.0;
        let told = |error| de::Error::custom(format!("observer {name}: {error}"));
        entry.into_spec(Some(name.clone())).map_err(told)
    }
}

impl<'de> Deserialize<'de> for ObserverSpecs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ObserverSpecs, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
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
                while let Some(entry) = list.next_element::<Entry>()? {
                    let spec = entry.into_spec(None).map_err(de::Error::custom)?;
                    specs.push(spec).map_err(de::Error::custom)?;
                }
                Ok(specs)
            }
        }
        deserializer.deserialize_any(Reader)
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

/// An observer as the value of a mapping: without its name, and without what is at its default.
struct Body<'a>(&'a ObserverSpec);

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let spec = self.0;
        let mut map = serializer.serialize_map(None)?;
        spec.kind.serialize_entry(&mut map)?;
        if spec.interval != INTERVAL_DEFAULT {
            map.serialize_entry("interval", &span_text(spec.interval))?;
        }
        if spec.required {
            map.serialize_entry("required", &true)?;
        }
        if spec.timeout != TIMEOUT_DEFAULT {
            map.serialize_entry("timeout", &span_text(spec.timeout))?;
        }
        map.end()
    }
}

/// Reads the text of a file of observers (YAML, so JSON too).
///
/// # Errors
/// What is wrong, as `FILE:LINE:COLUMN: what; what to do`.
pub fn parse_file_text(text: &str, file_name: &str) -> Result<ObserverSpecs, SpecError> {
    loadline_yaml::from_str(text).map_err(|error| SpecError::new(format!("{file_name}:{error}")))
}
