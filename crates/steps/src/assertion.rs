//! Assertions: whether a sample holds what a plan expects.
//!
//! Must not know controllers nor what a failure leads to. Invariant: each assertion leaves one outcome at each sample
//! that it looks at, whether it holds or not.

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

/// How far below a sample its sub-samples are asserted.
const DEEPEST: u32 = 4;

/// What JMeter calls an assertion that failed in itself.
const BROKEN: &str = "Assertion failed! See log file.";
/// And one that threw what Java's and Groovy's `assert` throw.
const THROWN: &str = "Assertion failed! See log file (debug level, only).";
/// How exceptions of scripts begin; what `assert` throws is in none.
const WRAPPED: &str = "javax.script.ScriptException: ";

/// An assertion of a plan.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// The element's name.
    pub name: Text,
    /// What it looks at. Assertions of JSON, XML and MD5 sums look at the sample whatever stands here, as JMeter's do.
    pub apply_to: ApplyTo,
    /// What is expected.
    pub expected: Expected,
}

/// What an assertion expects.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Texts or patterns in a part of the sample.
    Response(ResponseAssertion),
    /// A time that the sample must not exceed.
    Duration(DurationAssertion),
    /// A size.
    Size(SizeAssertion),
    /// The MD5 sum of the body.
    Md5Hex(Md5HexAssertion),
    /// What a JSONPath leads to.
    JsonPath(JsonPathAssertion),
    /// What a JMESPath finds.
    JmesPath(JmesPathAssertion),
    /// What an XPath finds.
    XPath(XPathAssertion),
    /// That the body is XML.
    Xml,
    /// What a script says.
    Script(Arc<ScriptElement>),
}

/// What was found of one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    /// It is as expected; with the message that is left nevertheless, which may be empty.
    Holds(Option<String>),
    /// It is not, and why.
    Fails(String),
    /// It is not, and why; JMeter counts it as an error too.
    FailsAsError(String),
    /// It cannot be said, and why.
    Error(String),
    /// The assertion itself is broken, and why.
    Broken(String),
    /// Its script asserted what does not hold.
    Thrown(String),
}

impl Finding {
    /// There is nothing that could be looked at.
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

/// What a script says of a sample, which it may change.
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
        // What Groovy's `assert` throws goes past whoever wraps exceptions.
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
        // That it is an error JMeter takes back.
        Ok(_) if found.failure => Finding::Fails(found.message),
        Ok(_) => {
            // BeanShell's has a message always.
            let is_told = script.family == ScriptFamily::BeanShell || !found.message.is_empty();
            Finding::Holds(is_told.then_some(found.message))
        }
    }
}

impl Assertion {
    /// Checks a sample, and those below it that the assertion looks at; a sample of which it does not hold fails.
    /// `http`: what HTTP samplers keep, which scripts see.
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

    /// A sample that succeeded fails where one below it does not.
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
