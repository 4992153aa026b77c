//! `JSONPathAssertion`: a path exists, or has a certain value.
//!
//! Must not know paths. Invariant: every problem is a failure, or if inverted a success.

use loadline_java::oro::Oro;

use super::Finding;
use super::expected_value::ExpectedValue;
use crate::compiled::Compiled;
use crate::json::Json;
use crate::json_path::JsonPath;
use crate::sample::Sample;
use crate::scope::Scope;

/// Expects that a JSONPath exists, or has a certain value.
#[derive(Clone, Debug, Default)]
pub struct JsonPathAssertion {
    /// The path.
    pub path: Compiled<Result<JsonPath, String>>,
    /// The value.
    pub value: ExpectedValue,
}

impl JsonPathAssertion {
    pub(super) fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Finding {
        let text = sample.text();
        if text.is_empty() {
            return Finding::nothing();
        }
        match (self.check(&text, scope), self.value.is_inverted) {
            (Ok(()), false) | (Err(_), true) => Finding::Holds(Some(String::new())),
            (Err(message), false) => Finding::Fails(message),
            (Ok(()), true) => {
                let path = self.path.text().evaluate(scope);
                let expected = self.value.expected.text().evaluate(scope);
                Finding::Fails(match (self.value.is_checked, self.value.is_null) {
                    (false, _) => format!("Failed that JSONPath not exists: {path}"),
                    (true, true) => format!("Failed that JSONPath {path} not matches null"),
                    (true, false) => format!("Failed that JSONPath {path} not matches {expected}"),
                })
            }
        }
    }

    fn check(&self, text: &str, scope: &mut Scope<'_>) -> Result<(), String> {
        let document = Json::read(text)
            .map_err(|fault| format!("net.minidev.json.parser.ParseException: {fault}"))?;
        if matches!(document, Json::Null) {
            return Err("json can not be null".to_owned());
        }
        let (source, path) = self.path.get(scope, JsonPath::compile);
        let path = path.as_ref().as_ref().map_err(String::clone)?;
        let value = path
            .find(&document)
            .map_err(crate::json_path::PathFault::into_message)?;
        let expected = self.value.expected.text().evaluate(scope);
        if !self.value.is_checked {
            let is_empty = matches!(&*value, Json::Array(elements) if elements.is_empty());
            if is_empty && !path.is_definite() {
                return Err(format!(
                    "JSONPath '{source}' is indefinite and the extracted Value is an empty Array. Please use an \
                     assertion value, to be sure to get a correct result. Expected value was '{expected}'"
                ));
            }
            return Ok(());
        }
        if self.holds(&value, &expected, scope)? {
            return Ok(());
        }
        if self.value.is_null {
            let found = value.shown();
            return Err(format!(
                "Value in json path '{source}' expected to be null, but found '{found}'"
            ));
        }
        let found = value.asserted();
        Err(if self.value.is_pattern {
            format!(
                "Value in json path '{source}' expected to match regexp '{expected}', but it did not match: '{found}'"
            )
        } else {
            format!(
                "Value in json path '{source}' expected to be '{expected}', but found '{found}'"
            )
        })
    }

    fn holds(&self, value: &Json, expected: &str, scope: &mut Scope<'_>) -> Result<bool, String> {
        if let Json::Array(elements) = value {
            if elements.is_empty() && expected == "[]" {
                return Ok(true);
            }
            for element in elements {
                if self.holds_one(element, expected, scope)? {
                    return Ok(true);
                }
            }
            return self.equals(value, expected, scope);
        }
        self.holds_one(value, expected, scope)
    }

    fn holds_one(
        &self,
        value: &Json,
        expected: &str,
        scope: &mut Scope<'_>,
    ) -> Result<bool, String> {
        if self.value.is_null && matches!(value, Json::Null) {
            return Ok(true);
        }
        self.equals(value, expected, scope)
    }

    fn equals(&self, value: &Json, expected: &str, scope: &mut Scope<'_>) -> Result<bool, String> {
        if !self.value.is_pattern {
            // Java parses an invalid text as null.
            return Ok(*value == Json::read(expected).unwrap_or(Json::Null));
        }
        let (_, pattern) = self.value.expected.get(scope, Oro::compile);
        match pattern.as_ref() {
            Ok(pattern) => Ok(pattern.matches(&value.asserted()).unwrap_or(false)),
            Err(fault) => Err(format!("Invalid expression: {expected}\n{fault}")),
        }
    }
}
