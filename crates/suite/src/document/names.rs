//! What components are called in cells: pods have names that nobody wants to read.
//!
//! Must not know tables. Invariant: no component is lost, and no two of one list get the same name.

use super::spec::Rename;
use crate::expression::Value;

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
            let rule = self.0.iter().position(|rule| fits(&rule.pattern, &name));
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

/// Whether a name fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
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
