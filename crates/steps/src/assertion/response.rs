//! `ResponseAssertion`: texts or patterns in a part of the sample.
//!
//! Must not know samplers. Invariant: messages are byte for byte JMeter's.

use std::borrow::Cow;

use loadline_java::oro::{Oro, OroFault};

use super::Finding;
use crate::compiled::Compiled;
use crate::field::Field;
use crate::host::LogLevel;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

const CLASS: &str = "o.a.j.a.ResponseAssertion";

/// Characters shown in a message on each side of a difference.
const CONTEXT: usize = 100;

/// Expects texts or patterns in a part of the sample.
#[derive(Clone, Debug, Default)]
pub struct ResponseAssertion {
    /// The part.
    pub field: Field,
    /// How the part is compared with them.
    pub rule: Rule,
    /// The texts or patterns; without any, the assertion passes.
    pub expected: Vec<Compiled<Result<Oro, OroFault>>>,
    /// The message of a failure; empty: a description.
    pub custom_message: Text,
    /// Whether the sample is marked as successful before the check.
    pub assume_success: bool,
}

/// How a part is compared with the expectation: the bits of `Assertion.test_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule(pub u32);

impl Default for Rule {
    fn default() -> Rule {
        Rule(Rule::CONTAINS)
    }
}

impl Rule {
    const MATCHES: u32 = 1;
    const CONTAINS: u32 = 2;
    const NOT: u32 = 4;
    const EQUALS: u32 = 8;
    const SUBSTRING: u32 = 16;
    const OR: u32 = 32;

    fn has(self, bit: u32) -> bool {
        self.0 & bit != 0
    }

    fn words(self) -> &'static str {
        const NOT_CONTAINS: u32 = Rule::NOT | Rule::CONTAINS;
        const NOT_SUBSTRING: u32 = Rule::NOT | Rule::SUBSTRING;
        const NOT_MATCHES: u32 = Rule::NOT | Rule::MATCHES;
        const NOT_EQUALS: u32 = Rule::NOT | Rule::EQUALS;
        match self.0 {
            Rule::CONTAINS | Rule::SUBSTRING => " expected to contain ",
            NOT_CONTAINS | NOT_SUBSTRING => " expected not to contain ",
            Rule::MATCHES => " expected to match ",
            NOT_MATCHES => " expected not to match ",
            Rule::EQUALS => " expected to equal ",
            NOT_EQUALS => " expected not to equal ",
            _ => " expected something using ",
        }
    }
}

impl ResponseAssertion {
    pub(super) fn find(
        &self,
        sample: &Sample,
        variable: Option<&str>,
        scope: &mut Scope<'_>,
    ) -> Finding {
        let looked_at = match variable {
            Some(variable) => {
                Cow::Owned(scope.variables.get(variable).unwrap_or_default().to_owned())
            }
            None => self.field.of(sample),
        };
        if looked_at.is_empty() {
            return if self.rule.has(Rule::NOT) {
                Finding::Holds(None)
            } else {
                Finding::nothing()
            };
        }
        let mut failures = String::new();
        for expected in &self.expected {
            let (text, found) = match self.holds(&looked_at, expected, scope) {
                Ok(found) => found,
                Err(message) => return Finding::Error(message),
            };
            let passes = found != self.rule.has(Rule::NOT);
            match (passes, self.rule.has(Rule::OR)) {
                (true, true) => return Finding::Holds(None),
                (true, false) => {}
                (false, true) => {
                    failures.push_str(&self.failure(&text, &looked_at, variable));
                    failures.push('\t');
                }
                (false, false) => {
                    let message = self.failure(&text, &looked_at, variable);
                    return self.fails(message, scope);
                }
            }
        }
        if self.rule.has(Rule::OR) {
            // Without any text, JMeter joins the messages to a single tab.
            let failures = if failures.is_empty() {
                "\t".to_owned()
            } else {
                failures
            };
            return self.fails(failures, scope);
        }
        Finding::Holds(None)
    }

    fn fails(&self, message: String, scope: &mut Scope<'_>) -> Finding {
        let custom = self.custom_message.evaluate(scope);
        Finding::Fails(if custom.is_empty() {
            message
        } else {
            custom.into_owned()
        })
    }

    /// The expected text, and whether the part matches it.
    fn holds<'a>(
        &self,
        looked_at: &str,
        expected: &'a Compiled<Result<Oro, OroFault>>,
        scope: &mut Scope<'_>,
    ) -> Result<(Cow<'a, str>, bool), String> {
        let contains = self.rule.has(Rule::CONTAINS);
        if !contains && self.rule.has(Rule::EQUALS | Rule::SUBSTRING) {
            let text = expected.text().evaluate(scope);
            let found = if self.rule.has(Rule::EQUALS) {
                looked_at == text
            } else {
                looked_at.contains(text.as_ref())
            };
            return Ok((text, found));
        }
        let (text, pattern) = expected.get(scope, Oro::compile);
        let pattern = pattern.as_ref().as_ref().map_err(|fault| {
            format!(
                "Bad test configuration org.apache.oro.text.MalformedCachePatternException: \
                 Invalid expression: {text}\n{fault}"
            )
        })?;
        let found = if contains {
            pattern.contains(looked_at)
        } else {
            pattern.matches(looked_at)
        };
        let found = found.unwrap_or_else(|_| {
            let message =
                format!("Pattern '{text}' takes too many steps: it is taken not to match");
            scope.host.world().log(LogLevel::Error, CLASS, &message);
            false
        });
        Ok((text, found))
    }

    fn failure(&self, text: &str, looked_at: &str, variable: Option<&str>) -> String {
        let what = match variable {
            Some(variable) => Cow::Owned(format!("variable({variable})")),
            None => Cow::Borrowed(self.field.word()),
        };
        let text = if self.rule.has(Rule::EQUALS) {
            Cow::Owned(comparison(looked_at, text))
        } else {
            Cow::Borrowed(text)
        };
        format!("Test failed: {what}{}/{text}/", self.rule.words())
    }
}

/// The difference between two texts, with its context.
fn comparison(received: &str, expected: &str) -> String {
    let received: Vec<char> = received.chars().collect();
    let expected: Vec<char> = expected.chars().collect();
    let same = received
        .iter()
        .zip(&expected)
        .take_while(|(a, b)| a == b)
        .count();
    // As in JMeter, the first different character is never part of the common end.
    let (mut received_end, mut expected_end) = (received.len(), expected.len());
    while received_end > same + 1
        && expected_end > same + 1
        && received[received_end - 1] == expected[expected_end - 1]
    {
        received_end -= 1;
        expected_end -= 1;
    }
    let start = last_of(&received[..same]);
    let end = first_of(&received[received_end..]);
    let mut received_part = first_of(&received[same..received_end]);
    let mut expected_part = first_of(&expected[same..expected_end]);
    let width = received_part
        .chars()
        .count()
        .max(expected_part.chars().count());
    pad(&mut received_part, width);
    pad(&mut expected_part, width);
    format!(
        "\n\n****** received  : {start}[[[{received_part}]]]{end}\n\n\
         ****** comparison: {start}[[[{expected_part}]]]{end}\n\n"
    )
}

fn pad(text: &mut String, width: usize) {
    text.extend(std::iter::repeat_n(' ', width - text.chars().count()));
}

fn first_of(text: &[char]) -> String {
    match text.get(..CONTEXT) {
        Some(first) if text.len() > CONTEXT => first.iter().chain(&['.'; 3]).collect(),
        _ => text.iter().collect(),
    }
}

fn last_of(text: &[char]) -> String {
    match text.len().checked_sub(CONTEXT) {
        Some(skipped @ 1..) => ['.'; 3].iter().chain(&text[skipped..]).collect(),
        _ => text.iter().collect(),
    }
}
