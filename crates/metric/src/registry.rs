//! The metrics that exist in a run: the built-in ones and those that scripts declare.
//!
//! Shared by all workers, since any virtual user may declare a metric in its init context. Must not know
//! values. Invariant: an id, once assigned, means the same metric for the rest of the run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, RwLock, RwLockReadGuard};

use crate::{BuiltIn, Contains, MetricDefinition, MetricId, MetricType};

/// Allowed length of a metric's name in bytes (exactly k6 2.2.0's limits).
const NAME_BYTES: std::ops::RangeInclusive<usize> = 2..=129;
/// Limit on the metrics of a run. Declarations are never removed, so a declaration in a loop needs a limit.
pub const METRICS_MAX: usize = 100_000;

/// Why a metric could not be declared; the texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclareError {
    /// Not a valid name of a metric.
    Name(String),
    /// A metric of that name exists with another type.
    Type {
        /// The name.
        name: String,
        /// Its type.
        has: MetricType,
        /// The requested type.
        asked: MetricType,
    },
    /// A metric of that name and type exists, but its values mean something else.
    Contains {
        /// The name.
        name: String,
        /// What its values mean.
        has: Contains,
        /// What was requested.
        asked: Contains,
    },
    /// There are already [`METRICS_MAX`] metrics.
    TooMany,
}

impl fmt::Display for DeclareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeclareError::Name(name) => write!(
                f,
                "Invalid metric name: '{name}'. Metric names must only include up to 128 ASCII letters, numbers, or \
                 underscores and start with a letter or an underscore."
            ),
            DeclareError::Type { name, has, asked } => write!(
                f,
                "metric '{name}' already exists but with type {has}, instead of {asked}"
            ),
            DeclareError::Contains { name, has, asked } => write!(
                f,
                "metric '{name}' already exists but with a value type {has}, instead of {asked}"
            ),
            DeclareError::TooMany => write!(
                f,
                "a test may have {METRICS_MAX} metrics at most; use tags to tell values of one metric apart"
            ),
        }
    }
}

impl std::error::Error for DeclareError {}

#[derive(Debug, Default)]
struct Known {
    definitions: Vec<MetricDefinition>,
    by_name: BTreeMap<Arc<str>, MetricId>,
}

impl Known {
    fn add(&mut self, definition: MetricDefinition) -> MetricId {
        let id = MetricId(self.definitions.len() as u32);
        self.by_name.insert(Arc::clone(&definition.name), id);
        self.definitions.push(definition);
        id
    }
}

/// The metrics of a run; grows only.
#[derive(Debug)]
pub struct MetricRegistry {
    known: RwLock<Known>,
}

impl Default for MetricRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl MetricRegistry {
    /// A registry with the built-in metrics.
    #[must_use]
    pub fn new() -> MetricRegistry {
        let mut known = Known::default();
        for metric in BuiltIn::ALL {
            known.add(metric.definition());
        }
        MetricRegistry {
            known: RwLock::new(known),
        }
    }

    /// The id of a script's metric; creates the metric if the name is new.
    ///
    /// # Errors
    /// An invalid name, or an existing metric of that name with another type or contents.
    pub fn declare(
        &self,
        name: &str,
        kind: MetricType,
        contains: Contains,
    ) -> Result<MetricId, DeclareError> {
        check_name(name)?;
        let mut known = self.known.write().expect("nothing panics under this lock");
        let id = known.by_name.get(name).copied();
        let Some(id) = id else {
            if known.definitions.len() >= METRICS_MAX {
                return Err(DeclareError::TooMany);
            }
            return Ok(known.add(MetricDefinition {
                name: name.into(),
                kind,
                contains,
            }));
        };
        let found = &known.definitions[id.0 as usize];
        if found.kind != kind {
            return Err(DeclareError::Type {
                name: name.to_owned(),
                has: found.kind,
                asked: kind,
            });
        }
        if found.contains != contains {
            return Err(DeclareError::Contains {
                name: name.to_owned(),
                has: found.contains,
                asked: contains,
            });
        }
        Ok(id)
    }

    /// The definition of a metric; `None` if the id is not from this registry.
    #[must_use]
    pub fn get(&self, id: MetricId) -> Option<MetricDefinition> {
        self.read().definitions.get(id.0 as usize).cloned()
    }

    /// The metric with this name; `None` if there is none yet.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<(MetricId, MetricDefinition)> {
        let known = self.read();
        let id = *known.by_name.get(name)?;
        Some((id, known.definitions[id.0 as usize].clone()))
    }

    /// All metrics that exist now, in order of their ids.
    #[must_use]
    pub fn snapshot(&self) -> Vec<MetricDefinition> {
        self.read().definitions.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().expect("nothing panics under this lock")
    }
}

fn check_name(name: &str) -> Result<(), DeclareError> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let all_well = name
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if NAME_BYTES.contains(&name.len()) && starts_well && all_well {
        Ok(())
    } else {
        Err(DeclareError::Name(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_metrics_have_their_numbers_and_a_script_may_name_them() {
        let registry = MetricRegistry::new();
        for metric in BuiltIn::ALL {
            let declared = registry.declare(metric.name(), metric.kind(), metric.contains());
            assert_eq!(declared, Ok(metric.id()));
        }
        let own = registry.declare("own", MetricType::Rate, Contains::Default);
        assert_eq!(own, Ok(MetricId(BuiltIn::ALL.len() as u32)));
        assert_eq!(registry.by_name("own").map(|(id, _)| Ok(id)), Some(own));
        assert_eq!(registry.snapshot().len(), BuiltIn::ALL.len() + 1);
        assert_eq!(registry.get(MetricId(9_999)), None);
    }

    #[test]
    fn names_are_those_that_k6_takes() {
        let declare = |name: &str| {
            MetricRegistry::new().declare(name, MetricType::Counter, Contains::Default)
        };
        for good in ["ab", "_1", &"a".repeat(129)] {
            assert!(declare(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a",
            "1ab",
            "a-b",
            "a.b",
            "\u{e9}t\u{e9}",
            &"a".repeat(130),
        ] {
            assert_eq!(declare(bad), Err(DeclareError::Name(bad.to_owned())));
        }
        assert_eq!(
            declare("a").expect_err("too short").to_string(),
            "Invalid metric name: 'a'. Metric names must only include up to 128 ASCII letters, numbers, or underscores \
             and start with a letter or an underscore."
        );
    }

    #[test]
    fn a_name_means_one_metric() {
        let registry = MetricRegistry::new();
        let told = |name: &str, kind, contains| {
            registry
                .declare(name, kind, contains)
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(told("ab", MetricType::Counter, Contains::Default), None);
        assert_eq!(
            told("ab", MetricType::Trend, Contains::Time).as_deref(),
            Some("metric 'ab' already exists but with type counter, instead of trend")
        );
        assert_eq!(
            told("ab", MetricType::Counter, Contains::Time).as_deref(),
            Some("metric 'ab' already exists but with a value type default, instead of time")
        );
    }
}
