//! Extractors: what is taken out of a sample, or of a variable, into variables.
//!
//! Must not know controllers nor how a sample came about. Invariant: an extractor leaves exactly the variables that
//! JMeter leaves, those of an earlier run that it removes included.

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
    /// By a Perl 5 regular expression.
    Regex(RegexExtractor),
    /// What stands between two texts.
    Boundary(BoundaryExtractor),
    /// By JSONPath.
    Json(JsonExtractor),
    /// By one JSONPath, as the plugins do.
    JsonPath(JsonPathExtractor),
    /// By JMESPath.
    JmesPath(JmesPathExtractor),
    /// By XPath.
    XPath(XPathExtractor),
    /// By CSS selectors.
    Html(HtmlExtractor),
}

/// What an extractor that failed leaves at the sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractionFault {
    /// The line among the outcomes of assertions.
    pub outcome: AssertionOutcome,
    /// Whether the sample fails for it.
    pub fails_sample: bool,
}

impl ExtractionFault {
    /// Notes the fault at the sample.
    pub fn note(self, sample: &mut Sample) {
        sample.assertions.push(self.outcome);
        sample.success &= !self.fails_sample;
    }
}

/// An extractor could not run at all, and with it JMeter loses the sample: it gets no row, and is not asserted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SampleLost(pub String);

impl Extractor {
    /// Runs the extractor on a sample. `None`: all went well, or the defaults were set.
    ///
    /// # Errors
    /// The extractor is written so that JMeter drops the sample.
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

/// Which of the matches is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    /// Any, by chance.
    Any,
    /// The one of this number, from 1.
    Number(usize),
    /// All.
    All,
}

impl Wanted {
    /// Of the number that a plan gives: zero, nothing and whatever is no number is any, less than zero is all.
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

    /// How many matches must be looked for.
    fn limit(self) -> usize {
        match self {
            Wanted::Number(number) => number,
            Wanted::Any | Wanted::All => usize::MAX,
        }
    }

    /// Index of the match that is wanted among `count`; `None`: there is none, or all are.
    fn index(self, count: usize, scope: &Scope<'_>) -> Option<usize> {
        match self {
            Wanted::Number(number) => (number <= count).then(|| number - 1),
            Wanted::Any => (count > 0).then(|| any_of(count, scope)),
            Wanted::All => None,
        }
    }
}

/// A random index below `count`, which is not zero.
fn any_of(count: usize, scope: &Scope<'_>) -> usize {
    let index = scope.host.random_below(count as u64);
    usize::try_from(index).expect("less than the count")
}

/// The default of an extractor, where it is set or asked for though empty.
fn put_default(name: &str, default: &Text, even_empty: bool, scope: &mut Scope<'_>) {
    let default = default.evaluate(scope);
    if even_empty || !default.is_empty() {
        scope.variables.put(name, default);
    }
}

/// Removes `<name>_matchNr`, and says what number it held.
fn take_count(name: &str, variables: &mut Variables) -> usize {
    let count = variables.remove(&format!("{name}_matchNr"));
    count.and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// The value of a variable that is looked at in the place of a sample; `None`: there is none, which is logged.
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
