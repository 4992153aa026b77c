//! Assertions: check a sample against the expectations of a plan.
//!
//! Must not know controllers, nor the consequences of a failure. Invariant: each assertion adds one outcome to
//! each sample that it checks, whether it passes or not.

pub mod expected_value;
pub mod jmes_path;
pub mod json_path;
pub mod response;
pub mod simple;
pub mod xml;

use std::sync::Arc;

use crate::apply_to::ApplyTo;
use crate::http::HttpMemory;
use crate::sample::{AssertionOutcome, Sample};
use crate::scope::Scope;
use crate::script::{ScriptElement, ScriptFamily};
use crate::text::Text;

use jmes_path::JmesPathAssertion;
use json_path::JsonPathAssertion;
use response::ResponseAssertion;
use simple::{DurationAssertion, Md5HexAssertion, SizeAssertion};
use xml::XPathAssertion;

/// Maximum depth of sub-samples that are checked.
const DEEPEST: u32 = 4;

/// JMeter's message for an assertion that could not run.
const BROKEN: &str = "Assertion failed! See log file.";
/// JMeter's message for an `assert` of Java or Groovy that failed.
const THROWN: &str = "Assertion failed! See log file (debug level, only).";
/// Start of script exceptions; errors from `assert` are not wrapped in one.
const WRAPPED: &str = "javax.script.ScriptException: ";

/// An assertion of a plan.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The element's name.
    pub name: Text,
    /// The samples that it checks. Assertions of JSON, XML and MD5 sums always check the main sample, as in
    /// JMeter.
    pub apply_to: ApplyTo,
    /// The expectation.
    pub expected: Expected,
}

/// The expectation of an assertion.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Texts or patterns in a part of the sample.
    Response(ResponseAssertion),
    /// A maximum time of the sample.
    Duration(DurationAssertion),
    /// A size.
    Size(SizeAssertion),
    /// The MD5 sum of the body.
    Md5Hex(Md5HexAssertion),
    /// The value at a JSONPath.
    JsonPath(JsonPathAssertion),
    /// The value of a JMESPath.
    JmesPath(JmesPathAssertion),
    /// The result of an XPath.
    XPath(XPathAssertion),
    /// That the body is XML.
    Xml,
    /// The verdict of a script.
    Script(Arc<ScriptElement>),
}

/// The result of checking one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    /// It passes; with the message that is nevertheless recorded, which may be empty.
    Holds(Option<String>),
    /// It fails, with the reason.
    Fails(String),
    /// It fails, with the reason; JMeter counts it as an error too.
    FailsAsError(String),
    /// It cannot be checked, with the reason.
    Error(String),
    /// The assertion itself is broken, with the reason.
    Broken(String),
    /// An `assert` in its script failed.
    Thrown(String),
}

impl Finding {
    /// There is nothing to check.
    fn nothing() -> Finding {
        Finding::Fails("Response was null".to_owned())
    }

    fn outcome(self, name: String) -> AssertionOutcome {
        let mut outcome = AssertionOutcome {
            name,
            ..AssertionOutcome::default()
        };
        match self {
            Finding::Holds(message) => {
                outcome.has_blank_message = message.as_ref().is_some_and(String::is_empty);
                outcome.message = message.unwrap_or_default();
            }
            Finding::Fails(message) => {
                outcome.failure = true;
                outcome.message = message;
            }
            Finding::FailsAsError(message) => {
                outcome.failure = true;
                outcome.error = true;
                outcome.message = message;
            }
            Finding::Error(message) => {
                outcome.error = true;
                outcome.message = message;
            }
            Finding::Thrown(message) => {
                THROWN.clone_into(&mut outcome.name);
                outcome.failure = true;
                outcome.message = message;
            }
            Finding::Broken(message) => {
                BROKEN.clone_into(&mut outcome.name);
                outcome.error = true;
                outcome.message = message;
            }
        }
        outcome
    }
}

/// Runs the script for a sample, which it may change.
fn find_by_script(
    script: &ScriptElement,
    sample: &mut Sample,
    scope: &mut Scope<'_>,
    http: &mut HttpMemory,
) -> Finding {
    let lent = Arc::new(std::mem::take(sample));
    let ran = script.run(scope, http, Some(lent), None);
    if let Some(changed) = ran.context.previous {
        *sample = Arc::unwrap_or_clone(changed);
    }
    let found = ran.context.finding;
    match ran.outcome {
        // Errors from Groovy's `assert` bypass the wrapping of exceptions.
        Err(exception)
            if script.family == ScriptFamily::Jsr223 && !exception.starts_with(WRAPPED) =>
        {
            Finding::Thrown(exception)
        }
        Err(exception) => {
            let name = script.name.evaluate(scope).into_owned();
            script.log_problem(scope.host, &name, &exception);
            match script.family {
                ScriptFamily::Jsr223 => Finding::Error(exception),
                ScriptFamily::Bsf => Finding::FailsAsError(exception),
                ScriptFamily::BeanShell => Finding::Error(exception),
            }
        }
        // JMeter resets the error flag.
        Ok(_) if found.failure => Finding::Fails(found.message),
        Ok(_) => {
            // BeanShell always sets a message.
            let is_told = script.family == ScriptFamily::BeanShell || !found.message.is_empty();
            Finding::Holds(is_told.then_some(found.message))
        }
    }
}

impl Assertion {
    /// Checks a sample and its sub-samples, if the assertion applies to them; a sample for which it does not
    /// pass fails. `http`: the state of HTTP samplers, visible to scripts.
    pub fn check(&self, sample: &mut Sample, scope: &mut Scope<'_>, http: &mut HttpMemory) {
        let apply_to = self.apply_to();
        if !matches!(apply_to, ApplyTo::SubSamples | ApplyTo::Nothing) {
            self.check_one(sample, scope, http);
        }
        if matches!(apply_to, ApplyTo::SubSamples | ApplyTo::Both) {
            self.check_below(sample, scope, http, DEEPEST);
        }
    }

    fn apply_to(&self) -> &ApplyTo {
        match self.expected {
            Expected::Md5Hex(_)
            | Expected::JsonPath(_)
            | Expected::JmesPath(_)
            | Expected::Xml
            | Expected::Script(_) => &ApplyTo::Main,
            _ => &self.apply_to,
        }
    }

    fn check_one(&self, sample: &mut Sample, scope: &mut Scope<'_>, http: &mut HttpMemory) {
        let variable = match self.apply_to() {
            ApplyTo::Variable(variable) => Some(variable.evaluate(scope)),
            _ => None,
        };
        let variable = variable.as_deref();
        if let Expected::Response(expected) = &self.expected {
            sample.success |= expected.assume_success;
        }
        let finding = match &self.expected {
            Expected::Response(expected) => expected.find(sample, variable, scope),
            Expected::Duration(expected) => expected.find(sample, scope),
            Expected::Size(expected) => expected.find(sample, variable, scope),
            Expected::Md5Hex(expected) => expected.find(sample, scope),
            Expected::JsonPath(expected) => expected.find(sample, scope),
            Expected::JmesPath(expected) => expected.find(sample, scope),
            Expected::XPath(expected) => expected.find(sample, variable, scope),
            Expected::Xml => xml::find_xml(sample),
            Expected::Script(script) => find_by_script(script, sample, scope, http),
        };
        sample.success &= matches!(finding, Finding::Holds(_));
        let name = self.name.evaluate(scope).into_owned();
        sample.assertions.push(finding.outcome(name));
    }

    /// A successful sample fails if one of its sub-samples does.
    fn check_below(
        &self,
        sample: &mut Sample,
        scope: &mut Scope<'_>,
        http: &mut HttpMemory,
        depth: u32,
    ) {
        if depth == 0 {
            return;
        }
        let mut failed = false;
        for child in &mut sample.children {
            self.check_one(child, scope, http);
            self.check_below(child, scope, http, depth - 1);
            failed |= !child.success;
        }
        if failed && sample.success {
            sample.success = false;
            let name = self.name.evaluate(scope).into_owned();
            let finding = Finding::Fails("One or more sub-samples failed".to_owned());
            sample.assertions.push(finding.outcome(name));
        }
    }
}
