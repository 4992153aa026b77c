//! `XPathExtractor` and `XPath2Extractor`: values by XPath.
//!
//! Must not know expressions. Invariant: `<name>_matchNr` is always set, to zero where something goes wrong.

use super::{ExtractionFault, Wanted, any_of, variable_looked_at};
use crate::apply_to::ApplyTo;
use crate::compiled::Compiled;
use crate::host::LogLevel;
use crate::sample::{AssertionOutcome, Sample};
use crate::scope::Scope;
use crate::text::Text;
use crate::xpath::{Dialect, Document, Node, Value, XPath, first_value, prefixes, write};

const CLASS: &str = "o.a.j.e.XPathExtractor";

/// Takes values by XPath.
#[derive(Clone, Debug, Default)]
pub struct XPathExtractor {
    /// The element's name.
    pub name: Text,
    /// What it looks at.
    pub apply_to: ApplyTo,
    /// The variable that it sets, and the start of the names of others.
    pub variable: Text,
    /// The expression.
    pub query: Compiled<Result<XPath, String>>,
    /// Number of the match, from 1; 0: any; below zero: all.
    pub match_number: Text,
    /// The value where nothing is found.
    pub default: Text,
    /// Whether elements are given as XML, not as their text.
    pub as_fragment: bool,
    /// Which of the two extractors it is.
    pub kind: XPathKind,
}

/// Which of JMeter's XPath processors is meant.
#[derive(Clone, Debug, Default)]
pub enum XPathKind {
    /// The first, over XML as it is.
    #[default]
    Plain,
    /// The first, with namespaces.
    Namespaces,
    /// The first, over HTML made into XML.
    Tidy,
    /// The second, with these lines of `prefix=namespace`.
    Later(Text),
}

impl XPathKind {
    /// As the properties of an element say.
    #[must_use]
    pub fn of_flags(tolerant: bool, namespaces: bool) -> XPathKind {
        match (tolerant, namespaces) {
            (true, _) => XPathKind::Tidy,
            (false, true) => XPathKind::Namespaces,
            (false, false) => XPathKind::Plain,
        }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        match self {
            XPathKind::Plain | XPathKind::Tidy => Dialect::Plain,
            XPathKind::Namespaces => Dialect::Namespaces,
            XPathKind::Later(_) => Dialect::Later,
        }
    }

    pub(crate) fn document(&self, text: &str) -> Document {
        match self {
            XPathKind::Tidy => Document::tidied(text),
            _ => Document::xml(text),
        }
    }

    /// A fault of an expression as the processor tells it.
    pub(crate) fn told(&self, fault: &str) -> String {
        match self {
            XPathKind::Later(_) => format!("net.sf.saxon.s9api.SaxonApiException: {fault}"),
            _ => fault.to_owned(),
        }
    }

    /// The lines of prefixes that are given.
    pub(crate) fn prefixes(&self, scope: &mut Scope<'_>) -> String {
        match self {
            XPathKind::Later(lines) => lines.evaluate(scope).into_owned(),
            _ => String::new(),
        }
    }
}

impl XPathExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) -> Option<ExtractionFault> {
        let variable = self.variable.evaluate(scope);
        let default = self.default.evaluate(scope);
        scope.variables.put(variable.as_ref(), default);
        let count = format!("{variable}_matchNr");
        let before = scope
            .variables
            .get(&count)
            .and_then(|count| count.parse().ok())
            .unwrap_or(0_usize);
        scope.variables.put(count.as_str(), "0");
        scope.variables.remove(&format!("{variable}_1"));
        let found = match self.find(sample, scope) {
            Ok(found) => found,
            Err(message) => return Some(self.fault(&message, scope)),
        };
        scope.variables.put(count, found.len().to_string());
        if let Some(Some(first)) = found.first() {
            scope.variables.put(variable.as_ref(), first.as_str());
        }
        for (index, value) in found.iter().enumerate() {
            if let Some(value) = value {
                scope
                    .variables
                    .put(format!("{variable}_{}", index + 1), value.as_str());
            }
        }
        for index in found.len() + 1..=before.max(found.len() + 1) {
            scope.variables.remove(&format!("{variable}_{index}"));
        }
        None
    }

    fn fault(&self, message: &str, scope: &mut Scope<'_>) -> ExtractionFault {
        let query = self.query.text().evaluate(scope);
        scope.host.world().log(
            LogLevel::Warn,
            CLASS,
            &format!("Exception while processing ({query}). {message}"),
        );
        ExtractionFault {
            outcome: AssertionOutcome {
                name: self.name.evaluate(scope).into_owned(),
                failure: true,
                message: format!("{message}\nSee log file for further details."),
                ..AssertionOutcome::default()
            },
            fails_sample: false,
        }
    }

    /// The values that are found; `None` for a node that has none.
    fn find(&self, sample: &Sample, scope: &mut Scope<'_>) -> Result<Vec<Option<String>>, String> {
        let mut found = Vec::new();
        let is_later = matches!(self.kind, XPathKind::Later(_));
        match &self.apply_to {
            ApplyTo::Variable(variable) => {
                let element = format!("XPathExtractor '{}'", self.name.source());
                let value =
                    variable_looked_at(variable, CLASS, &element, scope).unwrap_or_default();
                if !value.is_empty() {
                    self.find_in(&value, &mut found, scope)?;
                }
            }
            apply_to => {
                for one in apply_to.samples(sample) {
                    // The later one looks into the sample as often as there are samples.
                    let looked_at = if is_later { sample } else { one };
                    self.find_in(&looked_at.text(), &mut found, scope)?;
                }
            }
        }
        Ok(found)
    }

    fn find_in(
        &self,
        text: &str,
        found: &mut Vec<Option<String>>,
        scope: &mut Scope<'_>,
    ) -> Result<(), String> {
        let is_later = matches!(self.kind, XPathKind::Later(_));
        let (source, query) = self.query.get(scope, XPath::compile);
        if is_later && source.is_empty() {
            return Ok(());
        }
        let given = self.kind.prefixes(scope);
        let wanted = self.match_number.evaluate(scope);
        // A number that is none is zero, but one that is not there at all is "all" to the first processor.
        let wanted = if wanted.is_empty() && !is_later {
            Wanted::All
        } else {
            Wanted::of(&self.match_number, scope)
        };
        let document = self.kind.document(text);
        let tree = document.tree().map_err(|fault| {
            if is_later {
                fault.with_place()
            } else {
                fault.message
            }
        })?;
        let query = query
            .as_ref()
            .as_ref()
            .map_err(|fault| self.kind.told(fault))?;
        let prefixes = prefixes(&tree, self.kind.dialect(), &given);
        let value = query.evaluate(&tree, self.kind.dialect(), &prefixes);
        let values = match value.map_err(|fault| self.kind.told(&fault))? {
            Value::Nodes(nodes) => nodes.into_iter().map(|node| self.value_of(node)).collect(),
            other if is_later => vec![Some(other.text())],
            other => {
                found.push(Some(other.text()));
                return Ok(());
            }
        };
        match wanted {
            Wanted::All => found.extend(values),
            // The later processor looks for the node before the first.
            Wanted::Any if values.is_empty() && is_later => return Err("-1".to_owned()),
            Wanted::Any if values.is_empty() => {}
            Wanted::Any => {
                let index = any_of(values.len(), scope);
                found.extend(values.into_iter().nth(index));
            }
            Wanted::Number(number) => found.extend(values.into_iter().nth(number - 1)),
        }
        Ok(())
    }

    fn value_of(&self, node: Node<'_, '_>) -> Option<String> {
        let is_later = matches!(self.kind, XPathKind::Later(_));
        match node {
            Node::Tree(tree) if self.as_fragment && (tree.is_element() || is_later) => {
                Some(write(node))
            }
            Node::Attribute(..) if self.as_fragment && is_later => Some(write(node)),
            node if is_later => Some(node.text()),
            node => first_value(node),
        }
    }
}
