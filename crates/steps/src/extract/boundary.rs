//! `BoundaryExtractor`: the text between two texts.
//!
//! Must not know patterns. Invariant: without a variable's name JMeter drops the sample, and so does this.

use std::borrow::Cow;

use super::{SampleLost, Wanted, any_of, take_count, variable_looked_at};
use crate::apply_to::ApplyTo;
use crate::field::Field;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

const CLASS: &str = "o.a.j.e.BoundaryExtractor";

/// Extracts the text between two texts.
#[derive(Clone, Debug, Default)]
pub struct BoundaryExtractor {
    /// The element's name.
    pub name: Text,
    /// The samples to which it applies.
    pub apply_to: ApplyTo,
    /// The part of the sample that it searches.
    pub field: Field,
    /// The variable that it sets, and the prefix of further ones.
    pub variable: Text,
    /// The text before; empty: the start.
    pub left: Text,
    /// The text after; empty: the end.
    pub right: Text,
    /// Number of the match, from 1; 0 and blank: a random one; negative: all.
    pub match_number: Text,
    /// The value if nothing matches.
    pub default: Text,
    /// Whether an empty default is also set.
    pub default_empty: bool,
}

impl BoundaryExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), SampleLost> {
        let variable = self.variable.evaluate(scope);
        if variable.is_empty() {
            let name = self.name.evaluate(scope);
            return Err(SampleLost(format!(
                "One of the mandatory properties is missing in Boundary Extractor:{name}"
            )));
        }
        let default = self.default.evaluate(scope);
        if self.default_empty || !default.trim().is_empty() {
            scope.variables.put(variable.as_ref(), default);
        }
        let wanted = Wanted::of(&self.match_number, scope);
        let before = take_count(&variable, scope.variables);
        let found = self.find(sample, wanted, scope);
        let kept = save(&variable, &found, wanted, scope);
        for index in kept + 1..=before {
            scope.variables.remove(&format!("{variable}_{index}"));
        }
        Ok(())
    }

    /// The matches; if a certain number is requested, only that one.
    fn find(&self, sample: &Sample, wanted: Wanted, scope: &mut Scope<'_>) -> Vec<String> {
        let left = self.left.evaluate(scope);
        let right = self.right.evaluate(scope);
        if let ApplyTo::Variable(variable) = &self.apply_to {
            let element = format!("Boundary Extractor '{}'", self.name.source());
            let value = variable_looked_at(variable, CLASS, &element, scope).unwrap_or_default();
            // For a text without boundaries, JMeter returns the single match for any number.
            let whole = left.is_empty() || right.is_empty();
            let found = between(&value, &left, &right);
            return if whole { found } else { only(found, wanted) };
        }
        let texts: Vec<Cow<'_, str>> = {
            let samples = self.apply_to.samples(sample);
            samples.iter().map(|one| self.field.of(one)).collect()
        };
        only(
            texts
                .iter()
                .flat_map(|text| between(text, &left, &right))
                .collect(),
            wanted,
        )
    }
}

fn only(found: Vec<String>, wanted: Wanted) -> Vec<String> {
    match wanted {
        Wanted::Number(number) => found.into_iter().skip(number - 1).take(1).collect(),
        Wanted::Any | Wanted::All => found,
    }
}

/// All texts between the boundaries. A match may start inside the previous one: the search continues after its
/// left boundary.
fn between(text: &str, left: &str, right: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    if left.is_empty() || right.is_empty() {
        let start = if left.is_empty() {
            Some(0)
        } else {
            text.find(left).map(|at| at + left.len())
        };
        let end = if right.is_empty() {
            Some(text.len())
        } else {
            text.find(right)
        };
        let found = start.zip(end).and_then(|(start, end)| text.get(start..end));
        return found.map(str::to_owned).into_iter().collect();
    }
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(left) {
        rest = &rest[at + left.len()..];
        let Some(end) = rest.find(right) else {
            break;
        };
        found.push(rest[..end].to_owned());
    }
    found
}

/// Sets the variables; returns the number of variables of the form `<name>_<n>`.
fn save(variable: &str, found: &[String], wanted: Wanted, scope: &mut Scope<'_>) -> usize {
    match wanted {
        Wanted::All => {
            scope
                .variables
                .put(format!("{variable}_matchNr"), found.len().to_string());
            for (index, value) in found.iter().enumerate() {
                scope
                    .variables
                    .put(format!("{variable}_{}", index + 1), value.as_str());
            }
            found.len()
        }
        Wanted::Any if found.is_empty() => 0,
        Wanted::Any => {
            let index = any_of(found.len(), scope);
            scope.variables.put(variable, found[index].as_str());
            0
        }
        Wanted::Number(_) => {
            if let [value] = found {
                scope.variables.put(variable, value.as_str());
            }
            0
        }
    }
}
