//! The dependencies of a script: its modules, and the versions required by its `use k6` directives.
//!
//! The grammar of constraints is that of the Go package `semver`, which k6 uses. Must not know how they are
//! printed. Invariant: no script code runs, and an unknown module is not an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::archive::K6_VERSION;
use crate::modules;
use crate::program::LoadError;

/// Longest first, so that none is matched as a prefix of another.
const OPERATORS: &[&str] = &[
    ">=", "=>", "<=", "=<", "!=", "~>", ">", "<", "=", "~", "^", "",
];

/// Why dependencies could not be listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DependencyError {
    /// A module is missing, unreadable or not JavaScript.
    Load(LoadError),
    /// A directive is not a valid constraint, or one of several for the same name.
    Directive(String),
}

/// What a script depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// Addresses and names of all statically imported modules, including the script itself.
    pub imports: BTreeSet<String>,
    /// What must be built into the program, `k6` and its extensions, with the required versions.
    pub builds: BTreeMap<String, Constraint>,
}

impl Dependencies {
    /// Reads the directives of one module.
    pub(super) fn direct(&mut self, file: &str, directives: &[String]) -> Result<(), String> {
        for directive in directives {
            let Some(rest) = directive.strip_prefix("use k6") else {
                continue;
            };
            let rest = rest.trim();
            let (name, text) = match rest.strip_prefix("with ").map(str::trim_start) {
                Some(with) if with.starts_with("k6/x/") => {
                    with.split_once(' ').unwrap_or((with, ""))
                }
                _ => ("k6", rest),
            };
            let constraint = Constraint::parse(text).ok_or_else(|| {
                format!(
                    "error while parsing use directives constraint \"{text}\" for \"{name}\" in \
                     \"{file}\": improper constraint: \"{text}\""
                )
            })?;
            if self.builds.contains_key(name) {
                return Err(format!(
                    "error while parsing use directives in \"{file}\": already have constraint for \
                     \"{name}\", when parsing \"{constraint}\""
                ));
            }
            self.builds.insert(name.to_owned(), constraint);
        }
        Ok(())
    }

    /// Adds dependencies without a directive: k6 itself, and modules that k6 does not have.
    pub(super) fn complete(&mut self, builtins: BTreeSet<String>) {
        let foreign = builtins.iter().filter(|name| !modules::is_of_k6(name));
        for name in foreign.map(String::as_str).chain(["k6"]) {
            self.builds.entry(name.to_owned()).or_default();
        }
        self.imports.extend(builtins);
    }

    /// Whether k6 would have to be rebuilt for this script: it needs an extension, or another version than the
    /// one imitated here.
    #[must_use]
    pub fn want_custom_build(&self) -> bool {
        let mut builds = self.builds.iter();
        builds.any(|(name, constraint)| name != "k6" || !constraint.allows_k6())
    }
}

/// Allowed versions: at least one of the lists must match, with all its comparators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constraint(Vec<Vec<Comparator>>);

impl Default for Constraint {
    /// Any version.
    fn default() -> Constraint {
        Constraint(vec![vec![Comparator {
            operator: "",
            text: "*".to_owned(),
            parts: Vec::new(),
            is_release: true,
        }]])
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Comparator {
    operator: &'static str,
    text: String,
    /// The numbers before a wildcard, at most three.
    parts: Vec<u64>,
    is_release: bool,
}

impl Constraint {
    fn parse(text: &str) -> Option<Constraint> {
        if text.is_empty() {
            return Some(Constraint::default());
        }
        let lists = text.split("||").map(Constraint::list);
        lists.collect::<Option<_>>().map(Constraint)
    }

    fn list(text: &str) -> Option<Vec<Comparator>> {
        let mut rest = text.trim_start();
        let mut list = Vec::new();
        while !rest.is_empty() {
            let operator = OPERATORS.iter().find(|sign| rest.starts_with(**sign))?;
            rest = rest[operator.len()..].trim_start();
            let end = rest.find([' ', ',']).unwrap_or(rest.len());
            list.push(Comparator::parse(operator, &rest[..end])?);
            rest = rest[end..].trim_start_matches([' ', ',']);
        }
        (!list.is_empty()).then_some(list)
    }

    /// Whether the k6 version imitated here is allowed.
    fn allows_k6(&self) -> bool {
        let mut version = [0; 3];
        for (number, text) in version.iter_mut().zip(K6_VERSION.split('.')) {
            *number = text.parse().expect("a version is made of numbers");
        }
        let mut lists = self.0.iter();
        lists.any(|list| list.iter().all(|wanted| wanted.allows(version)))
    }
}

impl Comparator {
    fn parse(operator: &'static str, text: &str) -> Option<Comparator> {
        let version = text.strip_prefix('v').unwrap_or(text);
        let version = version
            .split_once('+')
            .map_or(version, |(version, _)| version);
        let (numbers, before) = match version.split_once('-') {
            Some((numbers, before)) => (numbers, Some(before)),
            None => (version, None),
        };
        let named: Vec<&str> = numbers.split('.').collect();
        let is_any = |part: &&&str| matches!(**part, "x" | "X" | "*");
        let fixed = named
            .iter()
            .position(|part| is_any(&part))
            .unwrap_or(named.len());
        if named.len() > 3 || before == Some("") || !named[fixed..].iter().all(|part| is_any(&part))
        {
            return None;
        }
        let parts = named[..fixed].iter().map(|part| part.parse().ok());
        Some(Comparator {
            operator,
            text: text.to_owned(),
            parts: parts.collect::<Option<_>>()?,
            is_release: before.is_none(),
        })
    }

    /// Whether a release is allowed.
    fn allows(&self, version: [u64; 3]) -> bool {
        let given = self.parts.len();
        let mut least = [0, 0, 0];
        least[..given].copy_from_slice(&self.parts);
        let begins = self.is_release && version[..given] == self.parts[..];
        let is_beyond = version[..given] > self.parts[..] || (version == least && !self.is_release);
        match self.operator {
            "!=" => !begins,
            ">" => is_beyond,
            "<" => version < least,
            ">=" | "=>" => version >= least,
            "<=" | "=<" => !is_beyond,
            "^" => version >= least && self.parts.first().is_none_or(|major| *major == version[0]),
            "~" | "~>" => version >= least && version[..given.min(2)] == self.parts[..given.min(2)],
            _ => begins,
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |list: &Vec<Comparator>| {
            let written = list
                .iter()
                .map(|one| format!("{}{}", one.operator, one.text));
            written.collect::<Vec<_>>().join(" ")
        };
        let lists: Vec<String> = self.0.iter().map(list).collect();
        f.write_str(&lists.join(" || "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As written and evaluated by `k6 deps` of version 2.2.0.
    #[test]
    fn constraints_are_k6s() {
        for (text, written, is_met) in [
            (">= 1.0, < 3", ">=1.0 <3", true),
            (">=1.0 <3", ">=1.0 <3", true),
            ("^1.2", "^1.2", false),
            ("~2.2", "~2.2", true),
            ("v1.0", "v1.0", false),
            ("= 2.2.0", "=2.2.0", true),
            ("2.2", "2.2", true),
            ("1.x", "1.x", false),
            ("*", "*", true),
            ("", "*", true),
            ("1.0 || >2.0", "1.0 || >2.0", true),
            ("!=2.2.0", "!=2.2.0", false),
            ("> 2.2.0-rc1", ">2.2.0-rc1", true),
            ("=> 1", "=>1", true),
            (">=v2", ">=v2", true),
            ("~>2.2", "~>2.2", true),
            (">2", ">2", false),
            ("<=2", "<=2", true),
            ("^2.1", "^2.1", true),
        ] {
            let read = Constraint::parse(text).expect(text);
            assert_eq!(
                (read.to_string().as_str(), read.allows_k6()),
                (written, is_met),
                "{text}"
            );
        }
        for text in [
            "foo",
            "with",
            ">= 1 with k6/x/a",
            ">=",
            "1..2",
            "1.2.3.4",
            "x.1",
            "1-",
            "||",
        ] {
            assert_eq!(Constraint::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_name_has_one_constraint() {
        let mut found = Dependencies::default();
        let directives = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        let both = directives(&[
            "use strict",
            "use k6 >= 1.0",
            "use k6 with k6/x/faker > 0.4",
        ]);
        assert_eq!(found.direct("file:///a.js", &both), Ok(()));
        assert_eq!(found.builds["k6/x/faker"].to_string(), ">0.4");
        assert_eq!(
            found.direct("file:///b.js", &directives(&["use k6 < 5"])),
            Err("error while parsing use directives in \"file:///b.js\": already have constraint for \"k6\", \
                 when parsing \"<5\"".to_owned())
        );
        assert!(found.want_custom_build(), "an extension is wanted");
    }
}
