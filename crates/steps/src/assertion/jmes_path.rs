//! `JMESPathAssertion`: an expression has a result, or a certain one.
//!
//! Must not know expressions. Invariant: every problem is an error, or with `invert` a success.

use loadline_java::oro::{Oro, OroFault};

use super::Finding;
use crate::compiled::Compiled;
use crate::jmes_path::JmesPath;
use crate::sample::Sample;
use crate::scope::Scope;

/// Expects that a JMESPath has a result, or a certain value.
#[derive(Clone, Debug, Default)]
pub struct JmesPathAssertion {
    /// The expression.
    pub path: Compiled<Result<JmesPath, String>>,
    /// Whether to check the value too.
    pub checks_value: bool,
    /// The value, or its pattern.
    pub expected: Compiled<Result<Oro, OroFault>>,
    /// Whether the value is a pattern that must match completely.
    pub is_pattern: bool,
    /// Whether null is expected.
    pub expects_null: bool,
    /// Whether the check is inverted.
    pub inverted: bool,
}

impl JmesPathAssertion {
    pub(super) fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Finding {
        let text = sample.text();
        if text.is_empty() {
            return Finding::nothing();
        }
        let not = if self.inverted { " not" } else { "" };
        match self.holds(&text, scope) {
            Ok(holds) if holds != self.inverted => Finding::Holds(Some(String::new())),
            Err(_) if self.inverted => Finding::Holds(Some(String::new())),
            Err(fault) => Finding::Error(fault),
            Ok(_) => {
                let path = self.path.text().evaluate(scope);
                let expected = self.expected.text().evaluate(scope);
                Finding::Fails(match (self.checks_value, self.expects_null) {
                    (false, _) => format!("JMESPATH {path} expected{not} to exist"),
                    (true, true) => format!("Value expected{not} to be null"),
                    (true, false) if self.is_pattern => {
                        format!("Value expected{not} to match {expected}")
                    }
                    (true, false) => format!("Value expected{not} to be equal to {expected}"),
                })
            }
        }
    }

    fn holds(&self, text: &str, scope: &mut Scope<'_>) -> Result<bool, String> {
        let (_, path) = self.path.get(scope, JmesPath::compile);
        let found = path.as_ref().as_ref().map_err(String::clone)?.find(text)?;
        if !self.checks_value {
            return Ok(!found.is_null());
        }
        if self.expects_null {
            return Ok(found.is_null());
        }
        if !self.is_pattern {
            let expected = self.expected.text().evaluate(scope);
            return found.is(&expected);
        }
        let (_, pattern) = self.expected.get(scope, Oro::compile);
        let pattern = pattern.as_ref().as_ref().map_err(ToString::to_string)?;
        Ok(pattern.matches(&found.told()).unwrap_or(false))
    }
}
