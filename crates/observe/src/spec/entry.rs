//! One observer: its kind with settings, and common settings; from words or from a mapping.
//!
//! Must not know the format of a list of observers. Invariant: common settings are read only here.

use std::fmt;
use std::time::Duration;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::kind::ObserverKind;
use super::values::{Span, span};
use super::{INTERVAL_DEFAULT, ObserverSpec, TIMEOUT_DEFAULT, grammar};

/// Settings that every kind has.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonSettings {
    pub(super) name: Option<String>,
    pub(super) interval: Option<Duration>,
    pub(super) required: Option<bool>,
    pub(super) timeout: Option<Duration>,
}

impl CommonSettings {
    /// Handles a common setting; `false`: it belongs to the kind.
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
pub(super) struct ObserverEntry {
    pub(super) common: CommonSettings,
    pub(super) kind: ObserverKind,
}

impl ObserverEntry {
    /// Reads `[NAME=]KIND[:VALUE][;KEY=VALUE]...`.
    pub(super) fn from_words(text: &str) -> Result<ObserverEntry, String> {
        let words = grammar::parse(text)?;
        let mut common = CommonSettings {
            name: words.name,
            ..CommonSettings::default()
        };
        let mut pairs = Vec::new();
        for (key, value) in words.pairs {
            if !common.take(&key, &value)? {
                pairs.push((key, value));
            }
        }
        let kind = ObserverKind::from_words(&words.kind, words.main.as_deref(), pairs)
            .ok_or_else(|| unknown_kind(&words.kind))??;
        Ok(ObserverEntry { common, kind })
    }

    /// The specification; `name` is the key under which the entry is listed.
    pub(super) fn into_spec(self, name: Option<String>) -> Result<ObserverSpec, String> {
        let ObserverEntry { common, kind } = self;
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

impl<'de> Deserialize<'de> for ObserverEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ObserverEntry, D::Error> {
        deserializer.deserialize_any(EntryReader)
    }
}

struct EntryReader;

impl<'de> Visitor<'de> for EntryReader {
    type Value = ObserverEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an observer: { KIND: { SETTING: … } }, or KIND:VALUE as on the command line")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ObserverEntry, E> {
        ObserverEntry::from_words(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ObserverEntry, A::Error> {
        let mut common = CommonSettings::default();
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
                        return Err(de::Error::custom(unknown_kind(name)));
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
        Ok(ObserverEntry { common, kind })
    }
}

/// The message for an unknown kind.
fn unknown_kind(kind: &str) -> String {
    format!(
        "unknown kind of observer {kind:?}; use {}",
        ObserverKind::NAMES.join(", ")
    )
}
