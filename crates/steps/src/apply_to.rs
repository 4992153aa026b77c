//! The part of a sample to which an extractor or an assertion applies: JMeter's "Apply to".
//!
//! Must not know what is searched. Invariant: samples come in JMeter's order, and no deeper than in JMeter.

use crate::sample::Sample;
use crate::text::Text;

/// Maximum depth of sub-samples that are visited.
const DEEPEST: u32 = 5;

/// The part of a sample to which an extractor or an assertion applies.
#[derive(Clone, Debug, Default)]
pub enum ApplyTo {
    /// Only the sample.
    #[default]
    Main,
    /// Its sub-samples.
    SubSamples,
    /// The sample, then its sub-samples.
    Both,
    /// The variable with this name instead of a sample.
    Variable(Text),
    /// Nothing: the plan has a value that JMeter does not know.
    Nothing,
}

impl ApplyTo {
    /// From its name in a plan (`Sample.scope`, `Assertion.scope`); `None`: not set.
    #[must_use]
    pub fn named(scope: Option<&str>, variable: Text) -> ApplyTo {
        match scope {
            None | Some("parent") => ApplyTo::Main,
            Some("children") => ApplyTo::SubSamples,
            Some("all") => ApplyTo::Both,
            Some("variable") => ApplyTo::Variable(variable),
            Some(_) => ApplyTo::Nothing,
        }
    }

    /// The samples to which it applies.
    pub(crate) fn samples<'s>(&self, sample: &'s Sample) -> Vec<&'s Sample> {
        let mut found = Vec::new();
        if matches!(self, ApplyTo::Main | ApplyTo::Both) {
            found.push(sample);
        }
        if matches!(self, ApplyTo::SubSamples | ApplyTo::Both) {
            push_below(&mut found, sample, DEEPEST);
        }
        found
    }
}

/// First all children, then the children of each.
fn push_below<'s>(found: &mut Vec<&'s Sample>, sample: &'s Sample, depth: u32) {
    if depth == 0 {
        return;
    }
    found.extend(&sample.children);
    for child in &sample.children {
        push_below(found, child, depth - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(label: &str, children: Vec<Sample>) -> Sample {
        Sample {
            label: label.to_owned(),
            children,
            ..Sample::default()
        }
    }

    #[test]
    fn children_come_before_grandchildren() {
        let first = tree("a", vec![tree("a0", vec![])]);
        let sample = tree("page", vec![first, tree("b", vec![])]);
        let labels = |apply_to: &ApplyTo| {
            let samples = apply_to.samples(&sample);
            samples
                .iter()
                .map(|one| one.label.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(labels(&ApplyTo::Main), ["page"]);
        assert_eq!(labels(&ApplyTo::SubSamples), ["a", "b", "a0"]);
        assert_eq!(labels(&ApplyTo::Both), ["page", "a", "b", "a0"]);
    }
}
