//! What components are called in cells: pods have names that nobody wants to read.
//!
//! Must not know tables. Invariant: no component is lost, and no two of one list get the same name.

use std::cell::RefCell;

use super::spec::Rename;
use crate::expression::Value;

/// The rules of a document.
pub(super) struct Names<'a> {
    rules: &'a [Rename],
    /// Which of them took a component; `None`: there was no list yet.
    taken: RefCell<Option<Vec<bool>>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(rules: &'a [Rename]) -> Names<'a> {
        Names {
            rules,
            taken: RefCell::new(None),
        }
    }

    /// Rules that no component of any list fitted; none where there was no list.
    pub(super) fn idle(&self) -> Vec<&'a str> {
        let taken = self.taken.borrow();
        let rules = self.rules.iter().zip(taken.iter().flatten());
        rules
            .filter(|(_, taken)| !**taken)
            .map(|(rule, _)| rule.pattern.as_str())
            .collect()
    }

    fn took(&self, rules: impl Iterator<Item = usize>) {
        let mut taken = self.taken.borrow_mut();
        let taken = taken.get_or_insert_with(|| vec![false; self.rules.len()]);
        rules.for_each(|rule| taken[rule] = true);
    }

    /// A list by its new names: in the order of the rules, then as it was.
    pub(super) fn renamed(&self, value: Value<'static>) -> Value<'static> {
        let Value::List(items) = value else {
            return value;
        };
        if self.rules.is_empty() {
            return Value::List(items);
        }
        let mut counts = vec![0_usize; self.rules.len()];
        let mut named = Vec::with_capacity(items.len());
        for (name, quantity) in items {
            let rule = self
                .rules
                .iter()
                .position(|rule| fits(&rule.pattern, &name));
            let name = match rule {
                None => name,
                Some(rule) => {
                    counts[rule] += 1;
                    self.rules[rule]
                        .name
                        .replace("{n}", &counts[rule].to_string())
                }
            };
            named.push((rule.unwrap_or(self.rules.len()), name, quantity));
        }
        let rules = named.iter().map(|(rule, _, _)| *rule);
        self.took(rules.filter(|rule| *rule < self.rules.len()));
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

/// Whether a name fits a pattern in which `*` stands for anything.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::{Dimension, Quantity};

    #[test]
    fn patterns_take_what_they_should() {
        for (pattern, name, expected) in [
            ("httpbin-*", "httpbin-7c9", true),
            ("httpbin-*", "httpbin", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("self", "self", true),
            ("self", "selfish", false),
            ("ab*b", "ab", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn components_are_numbered_in_their_order() {
        let rule = |pattern: &str, name: &str| Rename {
            pattern: pattern.to_owned(),
            name: name.to_owned(),
        };
        let rules = [
            rule("self", "K6"),
            rule("httpbin-*", "httpbin_repl_{n}"),
            rule("db*", "db"),
            rule("cache-*", "cache"),
        ];
        let quantity = Quantity {
            amount: 1.0,
            dimension: Dimension::CORES,
        };
        let names = ["db1", "httpbin-b", "httpbin-a", "other", "self", "db2"];
        let items = names.map(|name| (name.to_owned(), quantity)).to_vec();
        let names = Names::new(&rules);
        assert_eq!(names.idle(), Vec::<&str>::new(), "there was no list yet");
        let Value::List(items) = names.renamed(Value::List(items)) else {
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
        assert_eq!(names.idle(), ["cache-*"]);
    }
}
