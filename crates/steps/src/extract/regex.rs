//! `RegexExtractor`: groups of a Perl 5 regular expression.
//!
//! Must not know samplers. Invariant: an invalid pattern only sets the default.

use std::borrow::Cow;

use loadline_java::oro::{Oro, OroFault, OroMatch};

use super::{Wanted, put_default, take_count, variable_looked_at};
use crate::apply_to::ApplyTo;
use crate::compiled::Compiled;
use crate::field::Field;
use crate::host::LogLevel;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;
use crate::variables::Variables;

const CLASS: &str = "o.a.j.e.RegexExtractor";

/// Extracts groups of a regular expression.
#[derive(Clone, Debug, Default)]
pub struct RegexExtractor {
    /// The element's name.
    pub name: Text,
    /// The samples to which it applies.
    pub apply_to: ApplyTo,
    /// The part of the sample that it searches.
    pub field: Field,
    /// The variable that it sets, and the prefix of further ones.
    pub variable: Text,
    /// The regular expression.
    pub pattern: Compiled<Result<Oro, OroFault>>,
    /// The template of the value: `$1$` is the first group.
    pub template: Compiled<Template>,
    /// Number of the match, from 1; 0 and blank: a random one; negative: all.
    pub match_number: Text,
    /// The value if nothing matches.
    pub default: Text,
    /// Whether an empty default is also set.
    pub default_empty: bool,
}

/// A template, split into pieces.
#[derive(Clone, Debug, Default)]
pub struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Group(usize),
}

impl Template {
    pub(crate) fn read(text: &str) -> Template {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            literal.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            if digits == 0 || !rest[digits..].starts_with('$') {
                literal.push('$');
                continue;
            }
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            pieces.push(Piece::Group(rest[..digits].parse().unwrap_or(usize::MAX)));
            rest = &rest[digits + 1..];
        }
        literal.push_str(rest);
        pieces.push(Piece::Literal(literal));
        Template(pieces)
    }

    /// The value for a match; a group that did not match, or does not exist, is `null`.
    pub(crate) fn fill(&self, found: &OroMatch<'_>) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => text.clone(),
            Piece::Group(number) => {
                let group = found.groups.get(*number).copied().flatten();
                group.unwrap_or("null").to_owned()
            }
        };
        self.0.iter().map(piece).collect()
    }
}

impl RegexExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) {
        let variable = self.variable.evaluate(scope);
        let wanted = Wanted::of(&self.match_number, scope);
        put_default(&variable, &self.default, self.default_empty, scope);
        let (source, pattern) = self.pattern.get(scope, Oro::compile);
        let pattern = match &*pattern {
            Ok(pattern) => pattern,
            Err(fault) => {
                let message = format!("Error in pattern: '{source}': {fault}");
                return scope.host.world().log(LogLevel::Error, CLASS, &message);
            }
        };
        let (_, template) = self.template.get(scope, Template::read);
        let texts = self.texts(sample, scope);
        let found = find(pattern, &source, &texts, wanted, scope);
        save(&variable, &template, &found, wanted, scope);
    }

    fn texts<'s>(&self, sample: &'s Sample, scope: &mut Scope<'_>) -> Vec<Cow<'s, str>> {
        if let ApplyTo::Variable(variable) = &self.apply_to {
            let element = format!("RegexExtractor '{}'", self.name.source());
            let value = variable_looked_at(variable, CLASS, &element, scope);
            return value.map(Cow::Owned).into_iter().collect();
        }
        let samples = self.apply_to.samples(sample);
        samples.iter().map(|one| self.field.of(one)).collect()
    }
}

fn find<'t>(
    pattern: &Oro,
    source: &str,
    texts: &'t [Cow<'_, str>],
    wanted: Wanted,
    scope: &Scope<'_>,
) -> Vec<OroMatch<'t>> {
    let mut found = Vec::new();
    for text in texts {
        let left = wanted.limit() - found.len();
        if left == 0 {
            break;
        }
        match pattern.find_all(text, left) {
            Ok(matches) => found.extend(matches),
            Err(_) => {
                let message =
                    format!("Pattern '{source}' takes too many steps: it is taken not to match");
                scope.host.world().log(LogLevel::Error, CLASS, &message);
            }
        }
    }
    found
}

fn save(
    variable: &str,
    template: &Template,
    found: &[OroMatch<'_>],
    wanted: Wanted,
    scope: &mut Scope<'_>,
) {
    let before = take_count(variable, scope.variables);
    let one = wanted.index(found.len(), scope);
    let variables = &mut *scope.variables;
    let mut kept = 0;
    if wanted == Wanted::All {
        remove_groups(variable, variables);
        kept = found.len();
        variables.put(format!("{variable}_matchNr"), kept.to_string());
        for (index, found) in found.iter().enumerate() {
            let name = format!("{variable}_{}", index + 1);
            save_groups(&name, found, variables);
            variables.put(name, template.fill(found));
        }
    } else if let Some(index) = one {
        variables.put(variable, template.fill(&found[index]));
        save_groups(variable, &found[index], variables);
    } else {
        remove_groups(variable, variables);
    }
    for index in kept + 1..=before {
        let name = format!("{variable}_{index}");
        variables.remove(&name);
        remove_groups(&name, variables);
    }
}

/// Sets `<name>_g`, the number of groups, and `<name>_g0`… to their texts.
fn save_groups(name: &str, found: &OroMatch<'_>, variables: &mut Variables) {
    let count = format!("{name}_g");
    let before = group_count(&count, variables);
    for (number, group) in found.groups.iter().enumerate() {
        let name = format!("{count}{number}");
        match group {
            Some(text) => variables.put(name, *text),
            None => drop(variables.remove(&name)),
        }
    }
    let groups = found.groups.len();
    variables.put(count.as_str(), (groups - 1).to_string());
    for number in groups..=before.unwrap_or(0) {
        variables.remove(&format!("{count}{number}"));
    }
}

fn remove_groups(name: &str, variables: &mut Variables) {
    let count = format!("{name}_g");
    let groups = group_count(&count, variables).unwrap_or(0);
    variables.remove(&count);
    for number in 0..=groups {
        variables.remove(&format!("{count}{number}"));
    }
}

fn group_count(name: &str, variables: &Variables) -> Option<usize> {
    variables.get(name)?.parse().ok()
}
