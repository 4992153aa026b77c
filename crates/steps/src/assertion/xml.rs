//! `XPathAssertion`, `XPath2Assertion` and `XMLAssertion`.
//!
//! Must not know expressions. Invariant: an XPath assertion records a message even if it passes, as in JMeter.

use super::Finding;
use crate::compiled::Compiled;
use crate::extract::xpath::XPathKind;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::xpath::{Document, Value, XPath, prefixes};

/// Expects that an XPath has a result, or is true.
#[derive(Clone, Debug, Default)]
pub struct XPathAssertion {
    /// The expression.
    pub query: Compiled<Result<XPath, String>>,
    /// Whether the check is inverted.
    pub negated: bool,
    /// Which of the two assertions it is.
    pub kind: XPathKind,
}

impl XPathAssertion {
    pub(super) fn find(
        &self,
        sample: &Sample,
        variable: Option<&str>,
        scope: &mut Scope<'_>,
    ) -> Finding {
        let is_later = matches!(self.kind, XPathKind::Later(_));
        let text = match variable {
            Some(variable) => scope.variables.get(variable).unwrap_or_default().to_owned(),
            None => sample.text().into_owned(),
        };
        if text.is_empty() && (!is_later || variable.is_some()) {
            return Finding::nothing();
        }
        let given = self.kind.prefixes(scope);
        let (source, query) = self.query.get(scope, XPath::compile);
        if is_later {
            if source.is_empty() {
                return Finding::Holds(Some(String::new()));
            }
            let found = self.evaluate(&text, &query, &given);
            return match found {
                Ok(found) => self.judged(found, &source),
                Err(fault) => Finding::Error(format!(
                    "Exception occurred computing assertion with XPath:{source}, error:{}",
                    fault.later
                )),
            };
        }
        match self.evaluate(&text, &query, &given) {
            Err(fault) if fault.is_xml => Finding::Error(format!("SAXException: {}", fault.plain)),
            Err(fault) => Finding::Error(format!(
                "TransformerException: {} for: {source}",
                fault.plain
            )),
            Ok(Outcome::Nodes(false)) => {
                let message = format!("No Nodes Matched {source}");
                if self.negated {
                    Finding::Holds(Some(message))
                } else {
                    Finding::Fails(message)
                }
            }
            Ok(Outcome::Nodes(true)) if self.negated => Finding::Fails(
                "Specified XPath was found... Turn off negate if this is not desired".to_owned(),
            ),
            Ok(Outcome::Nodes(true)) => Finding::Holds(Some(String::new())),
            Ok(Outcome::Other) => Finding::Fails(format!("Cannot understand: {source}")),
            Ok(found) => self.judged(found, &source),
        }
    }

    fn judged(&self, found: Outcome, source: &str) -> Finding {
        let matched = !matches!(found, Outcome::Nodes(false) | Outcome::Truth(false));
        let message = if self.negated {
            format!("Nodes Matched for {source}")
        } else {
            format!("No Nodes Matched for {source}")
        };
        if matched == self.negated {
            Finding::Fails(message)
        } else {
            Finding::Holds(Some(message))
        }
    }

    fn evaluate(
        &self,
        text: &str,
        query: &Result<XPath, String>,
        given: &str,
    ) -> Result<Outcome, QueryFault> {
        let of_query = |message: &String| QueryFault {
            is_xml: false,
            plain: message.clone(),
            later: self.kind.told(message),
        };
        if let Some(fault) = self.kind.early_fault(query, given) {
            return Err(of_query(&fault));
        }
        let document = self.kind.document(text);
        let tree = document.tree().map_err(|fault| QueryFault {
            is_xml: true,
            later: fault.with_place(),
            plain: fault.message,
        })?;
        let query = query.as_ref().map_err(of_query)?;
        let prefixes = prefixes(&tree, self.kind.dialect(), given);
        let value = query.evaluate(&tree, self.kind.dialect(), &prefixes);
        Ok(match value.map_err(|message| of_query(&message))? {
            Value::Nodes(nodes) => Outcome::Nodes(!nodes.is_empty()),
            Value::Truth(truth) => Outcome::Truth(truth),
            Value::Text(_) | Value::Number(_) => Outcome::Other,
        })
    }
}

/// The result of the expression.
#[derive(Clone, Copy)]
enum Outcome {
    /// Whether there are any nodes.
    Nodes(bool),
    Truth(bool),
    Other,
}

/// Why it has no result, in the words of each processor.
struct QueryFault {
    is_xml: bool,
    plain: String,
    later: String,
}

/// Checks that the body is XML without a document type.
pub(super) fn find_xml(sample: &Sample) -> Finding {
    let text = sample.text();
    if text.is_empty() {
        return Finding::nothing();
    }
    if text.trim_start().starts_with("<!DOCTYPE") {
        return Finding::FailsAsError(
            "DOCTYPE is disallowed when the feature \"http://apache.org/xml/features/disallow-doctype-decl\" set to true."
                .to_owned(),
        );
    }
    match Document::xml(&text).fault() {
        None => Finding::Holds(None),
        Some(fault) => Finding::FailsAsError(fault.message),
    }
}
