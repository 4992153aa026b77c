//! Perl 5 regular expressions as in Jakarta ORO, which JMeter uses for every pattern of a plan.
//!
//! Source: Jakarta ORO 2.0.8, observed; `tests/oro.tsv` holds its results for 200 patterns. Must not know the
//! use of a pattern. Invariant: for any pattern, the number of steps for a text is bounded.
//!
//! A pattern is translated for `fancy_regex`; syntax that ORO lacks is refused. Known differences: a repeated
//! group keeps its last text, where ORO may empty it; `\w` includes combining marks; `.` matches a whole
//! character, where Java has two surrogates.

mod class;
mod translate;

use std::fmt;
use std::sync::OnceLock;

use fancy_regex::RegexBuilder;

/// Backtracking steps after which a search is aborted.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Oro {
    regex: fancy_regex::Regex,
    translated: String,
    /// The same, for non-empty matches. Compiled on first use.
    not_empty: OnceLock<Option<fancy_regex::Regex>>,
}

/// Why a pattern is invalid, in ORO's words if it has a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OroFault(pub String);

impl fmt::Display for OroFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for OroFault {}

/// A search was aborted because it took too many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runaway;

/// A match, with the texts of its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OroMatch<'t> {
    /// Start in the text, in bytes.
    pub start: usize,
    /// End in the text, in bytes.
    pub end: usize,
    /// The whole match, then each group; `None`: the group did not match.
    pub groups: Vec<Option<&'t str>>,
}

impl Oro {
    /// Compiles a pattern, with ORO's default options: `.` excludes line feeds, `^` is the start of the text,
    /// `$` its end or the position before its last line feed.
    ///
    /// # Errors
    /// The pattern is invalid in ORO.
    pub fn compile(pattern: &str) -> Result<Oro, OroFault> {
        let translated = translate::translate(pattern).map_err(OroFault)?;
        let built = builder(&translated).build();
        let regex = built.map_err(|fault| OroFault(format!("Unsupported expression: {fault}")))?;
        Ok(Oro {
            regex,
            translated,
            not_empty: OnceLock::new(),
        })
    }

    /// Whether the pattern matches anywhere in a text.
    ///
    /// # Errors
    /// The search was aborted.
    pub fn contains(&self, text: &str) -> Result<bool, Runaway> {
        self.regex.is_match(text).map_err(|_| Runaway)
    }

    /// Whether the first match is the whole text. As in ORO, alternatives to a shorter first match are not
    /// tried: `a|ab` does not match `ab`.
    ///
    /// # Errors
    /// The search was aborted.
    pub fn matches(&self, text: &str) -> Result<bool, Runaway> {
        let found = self.regex.find(text).map_err(|_| Runaway)?;
        Ok(found.is_some_and(|found| found.range() == (0..text.len())))
    }

    /// The matches in a text, from left to right, at most `limit`.
    ///
    /// # Errors
    /// The search was aborted.
    pub fn find_all<'t>(&self, text: &'t str, limit: usize) -> Result<Vec<OroMatch<'t>>, Runaway> {
        let mut found = Vec::new();
        let mut next = self.search(text, 0)?;
        while let Some(one) = next.filter(|_| found.len() < limit) {
            next = self.search_behind(text, one.end)?;
            found.push(one);
        }
        Ok(found)
    }

    fn search<'t>(&self, text: &'t str, from: usize) -> Result<Option<OroMatch<'t>>, Runaway> {
        search(&self.regex, text, from)
    }

    /// The next match after one that ends at `end`: it may start there, but must not be empty then.
    fn search_behind<'t>(
        &self,
        text: &'t str,
        end: usize,
    ) -> Result<Option<OroMatch<'t>>, Runaway> {
        let found = self.search(text, end)?;
        if found.as_ref().is_none_or(|found| found.end > end) {
            return Ok(found);
        }
        let not_empty = self.not_empty.get_or_init(|| {
            let built = builder(&self.translated).find_not_empty(true).build();
            built.ok()
        });
        if let Some(regex) = not_empty
            && let Some(found) = search(regex, text, end)?
            && found.start == end
        {
            return Ok(Some(found));
        }
        match text[end..].chars().next() {
            Some(skipped) => self.search(text, end + skipped.len_utf8()),
            None => Ok(None),
        }
    }
}

fn builder(translated: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(translated);
    builder.backtrack_limit(BACKTRACK_LIMIT);
    builder
}

fn search<'t>(
    regex: &fancy_regex::Regex,
    text: &'t str,
    from: usize,
) -> Result<Option<OroMatch<'t>>, Runaway> {
    let captures = regex.captures_from_pos(text, from).map_err(|_| Runaway)?;
    let Some(captures) = captures else {
        return Ok(None);
    };
    let whole = captures.get(0).expect("a match has its whole text");
    let groups = (0..captures.len()).map(|group| captures.get(group));
    Ok(Some(OroMatch {
        start: whole.start(),
        end: whole.end(),
        groups: groups
            .map(|group| group.map(|group| group.as_str()))
            .collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTROLS: [(char, char); 3] = [('␤', '\n'), ('␍', '\r'), ('␉', '\t')];

    fn raw(text: &str) -> String {
        CONTROLS
            .iter()
            .fold(text.to_owned(), |text, (shown, control)| {
                text.replace(*shown, &control.to_string())
            })
    }

    fn visible(text: &str) -> String {
        CONTROLS
            .iter()
            .fold(text.to_owned(), |text, (shown, control)| {
                text.replace(*control, &shown.to_string())
            })
    }

    /// ORO's results for pattern and text: the groups of each match, and whether the first is the whole text.
    fn said(pattern: &str, text: &str) -> String {
        let Ok(oro) = Oro::compile(pattern) else {
            return "error".to_owned();
        };
        let group = |group: &Option<&str>| visible(group.unwrap_or("∅"));
        let matches = oro.find_all(text, 50).expect("few steps");
        let found: Vec<String> = matches
            .iter()
            .map(|found| found.groups.iter().map(group).collect::<Vec<_>>().join("|"))
            .collect();
        let found = if found.is_empty() {
            "no".to_owned()
        } else {
            found.join(";")
        };
        let whole = oro.matches(text).expect("few steps");
        format!("{found}\t{}", if whole { "whole" } else { "part" })
    }

    #[test]
    fn patterns_are_read_as_oro_reads_them() {
        let mut different = Vec::new();
        for line in include_str!("../tests/oro.tsv").lines() {
            let fields: Vec<&str> = line.splitn(3, '\t').collect();
            let [pattern, text, expected] = fields[..] else {
                panic!("three fields: {line}");
            };
            let said = said(&raw(pattern), &raw(text));
            if said != expected {
                different.push(format!(
                    "{pattern:?} in {text:?}: {said:?}, not {expected:?}"
                ));
            }
        }
        assert!(different.is_empty(), "{}", different.join("\n"));
    }

    #[test]
    fn a_fault_is_told_in_the_words_of_oro() {
        let fault = |pattern| Oro::compile(pattern).expect_err("a fault").0;
        assert_eq!(fault("["), "Unmatched [] in expression.");
        assert_eq!(fault("(?<n>a)"), "Sequence (?<...) not recognized");
        assert_eq!(fault("(?i:a)"), "Sequence (?:...) not recognized");
        assert_eq!(fault("a**"), "Nested repetitions *?+ in expression");
        assert_eq!(fault("a{3,2}"), "Invalid interval {3,2}");
        assert_eq!(fault("(a)\\2"), "Invalid backreference: \\2");
        assert_eq!(fault("a\\"), "Trailing \\ in expression.");
    }

    #[test]
    fn a_catastrophic_pattern_is_given_up() {
        let text = format!("y{}", "x".repeat(40));
        let oro = Oro::compile("(x+x+)+\\1y").expect("a pattern");
        assert_eq!(oro.contains(&text), Err(Runaway));
        let linear = Oro::compile("(a+)+b").expect("a pattern");
        assert_eq!(linear.contains(&text), Ok(false));
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
        assert!(Oro::compile(&deep).is_err());
    }
}
