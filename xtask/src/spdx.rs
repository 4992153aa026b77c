//! Licence expressions (SPDX 2.3 annex D, and Cargo's old `MIT/Apache-2.0`): is one satisfied by a set of
//! allowed licences?
//!
//! Must not know which licences are allowed. Invariant: an invalid expression is not satisfied.

/// Whether `expression` can be satisfied with licences for which `allowed` returns true.
///
/// `AND` binds more strongly than `OR`; `X WITH Y` counts as one licence.
pub(crate) fn satisfied(expression: &str, allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut parser = Parser {
        words: &words,
        allowed,
    };
    parser.any() == Some(true) && parser.words.is_empty()
}

struct Parser<'a> {
    words: &'a [&'a str],
    allowed: &'a dyn Fn(&str) -> bool,
}

impl<'a> Parser<'a> {
    /// `all ("OR" all)*`; `None` if the text is not an expression.
    fn any(&mut self) -> Option<bool> {
        let mut result = self.all()?;
        while self.take("OR") {
            result |= self.all()?;
        }
        Some(result)
    }

    /// `one ("AND" one)*`
    fn all(&mut self) -> Option<bool> {
        let mut result = self.one()?;
        while self.take("AND") {
            result &= self.one()?;
        }
        Some(result)
    }

    /// `"(" any ")"` or a licence, with its exception.
    fn one(&mut self) -> Option<bool> {
        if self.take("(") {
            let inner = self.any()?;
            return self.take(")").then_some(inner);
        }
        let licence = self.word()?;
        if self.take("WITH") {
            let exception = self.word()?;
            return Some((self.allowed)(&format!("{licence} WITH {exception}")));
        }
        Some((self.allowed)(licence))
    }

    fn take(&mut self, word: &str) -> bool {
        let here = self.words.first() == Some(&word);
        if here {
            self.words = &self.words[1..];
        }
        here
    }

    fn word(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn met(expression: &str) -> bool {
        satisfied(expression, &|licence| {
            ["MIT", "ISC", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].contains(&licence)
        })
    }

    #[test]
    fn one_allowed_choice_is_enough() {
        for expression in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-2.0/MIT",
            "(GPL-2.0 OR ISC) AND MIT",
        ] {
            assert!(met(expression), "{expression}");
        }
    }

    #[test]
    fn every_demand_counts() {
        for expression in [
            "GPL-3.0",
            "MIT AND NCSA",
            "(MIT OR ISC) AND GPL-2.0",
            "MIT AND NCSA OR X",
        ] {
            assert!(!met(expression), "{expression}");
        }
        assert!(met("NCSA AND X OR MIT"), "AND binds more strongly than OR");
    }

    #[test]
    fn exceptions_are_part_of_the_licence() {
        assert!(met("Apache-2.0 WITH LLVM-exception"));
        assert!(!met("MIT WITH LLVM-exception"));
    }

    #[test]
    fn nonsense_is_not_satisfied() {
        for expression in ["", "MIT MIT", "(MIT", "MIT OR", "AND"] {
            assert!(!met(expression), "{expression:?}");
        }
    }
}
