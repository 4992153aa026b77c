//! `JMESPathAssertion`: an expression has a result, or a certain one.
//!
//! Must not know expressions. Invariant: every problem is an error, or if inverted a success.

use loadline_java::oro::Oro;

use super::Finding;
use super::expected_value::ExpectedValue;
use crate::compiled::Compiled;
use crate::jmes_path::JmesPath;
use crate::sample::Sample;
use crate::scope::Scope;

/// Expects that a JMESPath has a result, or a certain value.
#[derive(Clone, Debug, Default)]
pub struct JmesPathAssertion {
    /// The expression.
    pub path: Compiled<Result<JmesPath, String>>,
    /// The value.
    pub value: ExpectedValue,
}

impl JmesPathAssertion {
    pub(super) fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Finding {
        let text = sample.text();
        if text.is_empty() {
            return Finding::nothing();
        }
        let not = if self.value.is_inverted { " not" } else { "" };
        match self.holds(&text, scope) {
            Ok(holds) if holds != self.value.is_inverted => Finding::Holds(Some(String::new())),
            Err(_) if self.value.is_inverted => Finding::Holds(Some(String::new())),
            Err(fault) => Finding::Error(fault),
            Ok(_) => {
                let path = self.path.text().evaluate(scope);
                let expected = self.value.expected.text().evaluate(scope);
                Finding::Fails(match (self.value.is_checked, self.value.is_null) {
                    (false, _) => format!("JMESPATH {path} expected{not} to exist"),
                    (true, true) => format!("Value expected{not} to be null"),
                    (true, false) if self.value.is_pattern => {
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
        if !self.value.is_checked {
            return Ok(!found.is_null());
        }
        if self.value.is_null {
            return Ok(found.is_null());
        }
        if !self.value.is_pattern {
            let expected = self.value.expected.text().evaluate(scope);
            return found.is(&expected);
        }
        let (_, pattern) = self.value.expected.get(scope, Oro::compile);
        let pattern = pattern.as_ref().as_ref().map_err(ToString::to_string)?;
        Ok(pattern.matches(&found.told()).unwrap_or(false))
    }
}
