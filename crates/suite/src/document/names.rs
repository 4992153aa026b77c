//! Names of components in cells: nobody wants to read full pod names.
//!
//! Must not know tables. Invariant: no component is lost, and no two in a list get the same name.

use std::collections::BTreeSet;

use loadline_model::RunResult;
use loadline_model::wildcard::fits;

use super::spec::{DocumentSpec, Rename};
use crate::expression::Value;
use crate::outcome::SuiteOutcome;

/// Names of components that a remark shows.
const SHOWN_MAX: usize = 10;

/// The rules of a document.
pub(super) struct Names<'a>(pub(super) &'a [Rename]);

impl Names<'_> {
    /// A list by its new names: in the order of the rules, then as it was.
    pub(super) fn renamed(&self, value: Value<'static>) -> Value<'static> {
        let Value::List(items) = value else {
            return value;
        };
        if self.0.is_empty() {
            return Value::List(items);
        }
        let mut counts = vec![0_usize; self.0.len()];
        let mut named = Vec::with_capacity(items.len());
        for (name, quantity) in items {
            let rule = self
                .0
                .iter()
                .position(|rule| fits(&rule.pattern.value, &name));
            let name = match rule {
                None => name,
                Some(rule) => {
                    counts[rule] += 1;
                    self.0[rule].name.replace("{n}", &counts[rule].to_string())
                }
            };
            named.push((rule.unwrap_or(self.0.len()), name, quantity));
        }
        named.sort_by_key(|(rule, _, _)| *rule);
        let mut out: Vec<(String, _)> = Vec::with_capacity(named.len());
        for (_, name, quantity) in named {
            let mut free = name.clone();
            let mut n = 1;
            while out.iter().any(|(known, _)| *known == free) {
                n += 1;
                free = format!("{name}_{n}");
            }
            out.push((free, quantity));
        }
        Value::List(out)
    }
}

/// The rules of `components:` that match nothing that was observed, in words; none if nothing was observed.
#[must_use]
pub fn rules_without_match(spec: &DocumentSpec, outcome: &SuiteOutcome) -> Vec<String> {
    let runs = outcome.rows.iter().flat_map(|row| &row.runs);
    let seen: BTreeSet<&str> = runs.flat_map(|run| components(&run.result)).collect();
    let patterns = spec
        .components
        .iter()
        .map(|rule| rule.pattern.value.as_str());
    without_match(patterns, &seen)
        .map(|pattern| no_match(pattern, &seen))
        .collect()
}

/// The components that were observed in a run.
pub(crate) fn components(result: &RunResult) -> BTreeSet<&str> {
    let series = result.observations.series.iter();
    series.map(|series| series.component.as_str()).collect()
}

/// Patterns that match no name; none if there is no name.
pub(crate) fn without_match<'p>(
    patterns: impl Iterator<Item = &'p str>,
    names: &BTreeSet<&str>,
) -> impl Iterator<Item = &'p str> {
    patterns.filter(|pattern| !names.is_empty() && !names.iter().any(|name| fits(pattern, name)))
}

/// The message about a rule without a match.
pub(crate) fn no_match(pattern: &str, names: &BTreeSet<&str>) -> String {
    let shown: Vec<&str> = names.iter().copied().take(SHOWN_MAX).collect();
    let more = match names.len().saturating_sub(SHOWN_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "components: no observed component fits `match: {pattern}`; the components are {}{more}: correct the rule, or the names of the observers",
        shown.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use loadline_yaml::Placed;

    use super::*;
    use crate::expression::{Dimension, Quantity};

    #[test]
    fn a_rule_that_nothing_fits_is_named_with_what_there_is() {
        let names = BTreeSet::from(["api", "api[1]", "self"]);
        let rules = ["api*", "httpbin-*", "self"];
        let left: Vec<&str> = without_match(rules.into_iter(), &names).collect();
        assert_eq!(left, ["httpbin-*"]);
        let text = no_match("httpbin-*", &names);
        assert!(
            text.contains("`match: httpbin-*`; the components are api, api[1], self:"),
            "{text}"
        );
        // Where nothing was observed nothing can fit.
        assert_eq!(
            without_match(rules.into_iter(), &BTreeSet::new()).count(),
            0
        );
    }

    #[test]
    fn components_are_numbered_in_their_order() {
        let rule = |pattern: &str, name: &str| Rename {
            pattern: Placed::nowhere(pattern.to_owned()),
            name: name.to_owned(),
        };
        let rules = [
            rule("self", "K6"),
            rule("httpbin-*", "httpbin_repl_{n}"),
            rule("db*", "db"),
        ];
        let quantity = Quantity {
            amount: 1.0,
            dimension: Dimension::CORES,
        };
        let names = ["db1", "httpbin-b", "httpbin-a", "other", "self", "db2"];
        let items = names.map(|name| (name.to_owned(), quantity)).to_vec();
        let Value::List(items) = Names(&rules).renamed(Value::List(items)) else {
            panic!("a list stays one");
        };
        let named: Vec<String> = items.into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            named,
            [
                "K6",
                "httpbin_repl_1",
                "httpbin_repl_2",
                "db",
                "db_2",
                "other"
            ]
        );
    }
}
