//! Values of settings: durations, lists, headers, secrets.
//!
//! Must not know which setting they belong to. Invariants: what is written reads back equal; `Debug` never
//! shows a secret.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use loadline_model::duration;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Parses a duration: `500ms`, `1.5s`, `2m`, `1h30m`, or a number of seconds.
///
/// # Errors
/// The text is not a duration.
pub(crate) fn span(text: &str) -> Result<Duration, String> {
    let refused = |why| format!("{why}; write it as 500ms, 5s or 1h30m");
    duration::parse(text.trim()).map_err(refused)
}

/// A duration in a file or on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Span, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Span;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a span of time as 500ms, 5s or 1h30m")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Span, E> {
                span(text).map(Span).map_err(E::custom)
            }

            fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<Span, E> {
                let span = duration::from_seconds(seconds).map(Span);
                span.ok_or_else(|| E::custom(format!("{seconds} is not a number of seconds")))
            }

            fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<Span, E> {
                self.visit_f64(seconds as f64)
            }

            fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<Span, E> {
                self.visit_f64(seconds as f64)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// For `#[serde(with)]`: a duration.
pub(super) mod span_setting {
    use super::{Deserialize, Deserializer, Duration, Serializer, Span, duration};

    pub(in super::super) fn serialize<S: Serializer>(
        span: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::text(*span))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        Span::deserialize(deserializer).map(|span| span.0)
    }
}

/// For `#[serde(deserialize_with)]`: one value, or a list of them.
pub(super) fn one_or_many<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Reader<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value or a list of values")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<T>, E> {
            let one = de::value::StrDeserializer::new(text);
            Ok(vec![T::deserialize(one)?])
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<T>, A::Error> {
            let one = de::value::MapAccessDeserializer::new(map);
            Ok(vec![T::deserialize(one)?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Vec<T>, A::Error> {
            let mut all = Vec::new();
            while let Some(item) = items.next_element()? {
                all.push(item);
            }
            Ok(all)
        }
    }
    deserializer.deserialize_any(Reader(PhantomData))
}

/// For `#[serde(deserialize_with)]`: a boolean, also as a word.
pub(super) fn truth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    struct Reader;
    impl Visitor<'_> for Reader {
        type Value = bool;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("true or false")
        }

        fn visit_bool<E: de::Error>(self, truth: bool) -> Result<bool, E> {
            Ok(truth)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<bool, E> {
            text.parse()
                .map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
        }
    }
    deserializer.deserialize_any(Reader)
}

/// Headers of a request: a mapping, or lines `Name: value`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(pub Vec<(String, String)>);

impl Headers {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add_line<E: de::Error>(&mut self, line: &str) -> Result<(), E> {
        let (name, value) = line.split_once([':', '=']).ok_or_else(|| {
            E::custom(format!(
                "{line:?} is not a header; write it as \"Name: value\""
            ))
        })?;
        self.0
            .push((name.trim().to_owned(), value.trim().to_owned()));
        Ok(())
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Serialize for Headers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(
            self.0
                .iter()
                .map(|(name, value)| format!("{name}: {value}")),
        )
    }
}

impl<'de> Deserialize<'de> for Headers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Headers, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Headers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("headers as a mapping or as \"Name: value\"")
            }

            fn visit_str<E: de::Error>(self, line: &str) -> Result<Headers, E> {
                let mut headers = Headers::default();
                headers.add_line(line)?;
                Ok(headers)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut lines: A) -> Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some(line) = lines.next_element::<String>()? {
                    headers.add_line(&line)?;
                }
                Ok(headers)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
                let mut headers = Headers::default();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    headers
                        .0
                        .push((name.trim().to_owned(), value.trim().to_owned()));
                }
                Ok(headers)
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

/// A text that is not shown: a password, a token. `env:NAME` refers to an environment variable.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// A secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text itself, or the value of the variable that it names.
    ///
    /// # Errors
    /// The variable is not set.
    pub(crate) fn reveal(&self) -> Result<String, String> {
        match self.0.strip_prefix("env:") {
            None => Ok(self.0.clone()),
            Some(name) => std::env::var(name)
                .map_err(|_| format!("the variable {name} of the environment is not set; set it")),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_in_the_usual_ways() {
        assert_eq!(span("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(span("1.5s"), Ok(Duration::from_millis(1_500)));
        assert_eq!(span("1h30m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(span("2"), Ok(Duration::from_secs(2)));
        assert_eq!(span("1d"), Ok(Duration::from_secs(86_400)));
        assert_eq!(span("400ns"), Ok(Duration::from_nanos(400)));
        for refused in ["", "s", "1x", "-1s", "1 s 2", "1e99", "nan", "inf"] {
            assert!(span(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("hush")), "Secret");
        assert_eq!(Secret::new("hush").reveal(), Ok("hush".to_owned()));
        let unset = Secret::new("env:LOADLINE_NO_SUCH_VARIABLE").reveal();
        assert!(unset.unwrap_err().contains("LOADLINE_NO_SUCH_VARIABLE"));
    }
}
