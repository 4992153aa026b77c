//! Extractors: store parts of a sample, or of a variable, in variables.
//!
//! Must not know controllers, nor how a sample was made. Invariant: an extractor leaves exactly the same
//! variables as in JMeter, including the removal of those of an earlier run.

pub mod boundary;
pub mod html;
pub mod jmes_path;
pub mod json;
pub mod json_path;
pub mod regex;
pub mod xpath;

use loadline_java::numbers::int_or_zero;

use crate::host::LogLevel;
use crate::sample::{AssertionOutcome, Sample};
use crate::scope::Scope;
use crate::text::Text;
use crate::variables::Variables;

use boundary::BoundaryExtractor;
use html::HtmlExtractor;
use jmes_path::JmesPathExtractor;
use json::JsonExtractor;
use json_path::JsonPathExtractor;
use regex::RegexExtractor;
use xpath::XPathExtractor;

/// An extractor of a plan.
#[derive(Clone, Debug)]
pub enum Extractor {
    /// With a Perl 5 regular expression.
    Regex(RegexExtractor),
    /// The text between two texts.
    Boundary(BoundaryExtractor),
    /// With JSONPath.
    Json(JsonExtractor),
    /// With one JSONPath, like the plugins.
    JsonPath(JsonPathExtractor),
    /// With JMESPath.
    JmesPath(JmesPathExtractor),
    /// With XPath.
    XPath(XPathExtractor),
    /// With CSS selectors.
    Html(HtmlExtractor),
}

/// What a failed extractor adds to the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractionFault {
    /// The entry in the list of assertion results.
    pub outcome: AssertionOutcome,
    /// Whether it makes the sample fail.
    pub fails_sample: bool,
}

impl ExtractionFault {
    /// Adds the fault to the sample.
    pub fn note(self, sample: &mut Sample) {
        sample.assertions.push(self.outcome);
        sample.success &= !self.fails_sample;
    }
}

/// An extractor could not run at all, so JMeter drops the sample: it gets no row, and is not checked by
/// assertions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleLost(pub String);

impl Extractor {
    /// Runs the extractor on a sample. `None`: it succeeded, or the defaults were set.
    ///
    /// # Errors
    /// The extractor's settings make JMeter drop the sample.
    pub fn run(
        &self,
        sample: &Sample,
        scope: &mut Scope<'_>,
    ) -> Result<Option<ExtractionFault>, SampleLost> {
        match self {
            Extractor::Regex(extractor) => {
                extractor.run(sample, scope);
                Ok(None)
            }
            Extractor::Boundary(extractor) => extractor.run(sample, scope).map(|()| None),
            Extractor::Json(extractor) => extractor.run(sample, scope).map(|()| None),
            Extractor::JsonPath(extractor) => {
                extractor.run(sample, scope);
                Ok(None)
            }
            Extractor::JmesPath(extractor) => extractor.run(sample, scope).map(|()| None),
            Extractor::Html(extractor) => {
                extractor.run(sample, scope);
                Ok(None)
            }
            Extractor::XPath(extractor) => Ok(extractor.run(sample, scope)),
        }
    }
}

/// Which match to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// A random one.
    Any,
    /// The one with this number, from 1.
    Number(usize),
    /// All.
    All,
}

impl Wanted {
    /// From the number in a plan: zero, empty and invalid numbers mean a random one, negative numbers mean all.
    fn of(number: &Text, scope: &mut Scope<'_>) -> Wanted {
        Wanted::numbered(int_or_zero(&number.evaluate(scope)))
    }

    fn numbered(number: i32) -> Wanted {
        match usize::try_from(number) {
            Ok(0) => Wanted::Any,
            Ok(number) => Wanted::Number(number),
            Err(_) => Wanted::All,
        }
    }

    /// Maximum number of matches to search for.
    fn limit(self) -> usize {
        match self {
            Wanted::Number(number) => number,
            Wanted::Any | Wanted::All => usize::MAX,
        }
    }

    /// Index of the chosen match among `count`; `None`: there is none, or all are chosen.
    fn index(self, count: usize, scope: &Scope<'_>) -> Option<usize> {
        match self {
            Wanted::Number(number) => (number <= count).then(|| number - 1),
            Wanted::Any => (count > 0).then(|| any_of(count, scope)),
            Wanted::All => None,
        }
    }
}

/// A random index below `count`, which must not be zero.
fn any_of(count: usize, scope: &Scope<'_>) -> usize {
    let index = scope.host.random_below(count as u64);
    usize::try_from(index).expect("less than the count")
}

/// Stores the default of an extractor if it is set, or empty but enabled.
fn put_default(name: &str, default: &Text, even_empty: bool, scope: &mut Scope<'_>) {
    let default = default.evaluate(scope);
    if even_empty || !default.is_empty() {
        scope.variables.put(name, default);
    }
}

/// Removes `<name>_matchNr`, and returns its number.
fn take_count(name: &str, variables: &mut Variables) -> usize {
    let count = variables.remove(&format!("{name}_matchNr"));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The value of a variable that is used instead of a sample; `None`: it is not set, which is logged.
fn variable_looked_at(
    variable: &Text,
    class: &str,
    element: &str,
    scope: &mut Scope<'_>,
) -> Option<String> {
    let variable = variable.evaluate(scope);
    let value = scope.variables.get(&variable).map(str::to_owned);
    if value.is_none() {
        let message =
            format!("No variable '{variable}' found to process by {element}, skipping processing");
        scope.host.world().log(LogLevel::Warn, class, &message);
    }
    value
}
