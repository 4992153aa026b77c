//! `XPathExtractor` and `XPath2Extractor`: values selected by XPath.
//!
//! Must not know expressions. Invariant: `<name>_matchNr` is always set, to zero after an error.

use super::{ExtractionFault, Wanted, any_of, variable_looked_at};
use crate::apply_to::ApplyTo;
use crate::compiled::Compiled;
use crate::host::LogLevel;
use crate::sample::{AssertionOutcome, Sample};
use crate::scope::Scope;
use crate::text::Text;
use crate::xpath::{
    Dialect, Document, Node, Value, XPath, first_value, prefixes, write, write_indented,
};

/// Why nothing could be looked for.
enum XPathFault {
    /// The document cannot be read.
    Document(String),
    /// The expression cannot be read, or applied.
    Expression(String),
}

/// Extracts values with XPath.
#[derive(Clone, Debug, Default)]
pub struct XPathExtractor {
    /// The element's name.
    pub name: Text,
    /// The samples to which it applies.
    pub apply_to: ApplyTo,
    /// The variable that it sets, and the prefix of further ones.
    pub variable: Text,
    /// The expression.
    pub query: Compiled<Result<XPath, String>>,
    /// Number of the match, from 1; 0: a random one; negative: all.
    pub match_number: Text,
    /// The value if nothing is found.
    pub default: Text,
    /// Whether elements are returned as XML instead of their text.
    pub as_fragment: bool,
    /// Which of the two extractors it is.
    pub kind: XPathKind,
}

/// JMeter's XPath processor, with its settings.
#[derive(Clone, Debug, Default)]
pub enum XPathKind {
    /// The first, on XML as received.
    #[default]
    Plain,
    /// The first, with namespaces.
    Namespaces,
    /// The first, on HTML converted to XML.
    Tidy,
    /// The second, with these lines of `prefix=namespace`.
    Later(Text),
}

impl XPathKind {
    /// From the properties of an element.
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

    /// The class of the extractor that uses it.
    fn extractor(&self) -> &'static str {
        match self {
            XPathKind::Later(_) => "o.a.j.e.XPath2Extractor",
            _ => "o.a.j.e.XPathExtractor",
        }
    }

    pub(crate) fn document(&self, text: &str) -> Document {
        match self {
            XPathKind::Tidy => Document::tidied(text),
            _ => Document::xml(text),
        }
    }

    /// A fault of an expression in the words of the processor.
    pub(crate) fn told(&self, fault: &str) -> String {
        match self {
            XPathKind::Later(_) => format!("net.sf.saxon.s9api.SaxonApiException: {fault}"),
            _ => fault.to_owned(),
        }
    }

    /// What the second processor finds wrong with an expression before it reads a document.
    pub(crate) fn early_fault(&self, query: &Result<XPath, String>, lines: &str) -> Option<String> {
        match (self, query) {
            (XPathKind::Later(_), Ok(query)) => query.undeclared(lines),
            (XPathKind::Later(_), Err(fault)) => Some(fault.clone()),
            _ => None,
        }
    }

    /// The lines of namespace prefixes.
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
            Err(fault) => return Some(self.fault(fault, scope)),
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

    fn fault(&self, fault: XPathFault, scope: &mut Scope<'_>) -> ExtractionFault {
        let query = self.query.text().evaluate(scope);
        let is_of_document = matches!(fault, XPathFault::Document(_));
        let (XPathFault::Document(message) | XPathFault::Expression(message)) = fault;
        let told = match (&self.kind, is_of_document) {
            (XPathKind::Later(_), _) => {
                format!("Exception while processing '{query}', message:{message}")
            }
            (_, true) => format!("SAXException while processing ({query}). {message}"),
            (_, false) => format!("TransformerException while processing ({query}). {message}"),
        };
        let world = scope.host.world();
        world.log(LogLevel::Warn, self.kind.extractor(), &told);
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

    /// The matches; `None` for a node without a value.
    fn find(
        &self,
        sample: &Sample,
        scope: &mut Scope<'_>,
    ) -> Result<Vec<Option<String>>, XPathFault> {
        let mut found = Vec::new();
        let is_later = matches!(self.kind, XPathKind::Later(_));
        match &self.apply_to {
            ApplyTo::Variable(variable) => {
                let element = format!("XPathExtractor '{}'", self.name.source());
                let class = self.kind.extractor();
                let value =
                    variable_looked_at(variable, class, &element, scope).unwrap_or_default();
                if !value.is_empty() {
                    self.find_in(&value, &mut found, scope)?;
                }
            }
            apply_to => {
                for one in apply_to.samples(sample) {
                    // The XPath 2 extractor searches the main sample once for each sample.
                    let looked_at = if is_later { sample } else { one };
                    self.find_in(&looked_at.text(), &mut found, scope)?;
                }
            }
        }
        Ok(found)
    }

    fn unusable(&self, fault: &str) -> XPathFault {
        XPathFault::Expression(self.kind.told(fault))
    }

    fn find_in(
        &self,
        text: &str,
        found: &mut Vec<Option<String>>,
        scope: &mut Scope<'_>,
    ) -> Result<(), XPathFault> {
        let is_later = matches!(self.kind, XPathKind::Later(_));
        let (source, query) = self.query.get(scope, XPath::compile);
        if is_later && source.is_empty() {
            return Ok(());
        }
        let given = self.kind.prefixes(scope);
        let wanted = self.match_number.evaluate(scope);
        // An invalid number is zero, but an empty one means "all" to the first processor.
        let wanted = if wanted.is_empty() && !is_later {
            Wanted::All
        } else {
            Wanted::of(&self.match_number, scope)
        };
        if let Some(fault) = self.kind.early_fault(&query, &given) {
            return Err(self.unusable(&fault));
        }
        let document = self.kind.document(text);
        let tree = document.tree().map_err(|fault| {
            XPathFault::Document(match is_later {
                true => fault.with_place(),
                false => fault.message,
            })
        })?;
        let query = query
            .as_ref()
            .as_ref()
            .map_err(|fault| self.unusable(fault))?;
        let prefixes = prefixes(&tree, self.kind.dialect(), &given);
        let value = query.evaluate(&tree, self.kind.dialect(), &prefixes);
        let values = match value.map_err(|fault| self.unusable(&fault))? {
            Value::Nodes(nodes) => nodes.into_iter().map(|node| self.value_of(node)).collect(),
            other if is_later => vec![Some(other.text())],
            other => {
                found.push(Some(other.text()));
                return Ok(());
            }
        };
        match wanted {
            Wanted::All => found.extend(values),
            // The second processor picks an index before it checks that there are nodes.
            Wanted::Any if values.is_empty() && is_later => {
                return Err(XPathFault::Expression("-1".to_owned()));
            }
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
            node if self.as_fragment && is_later => Some(write_indented(node)),
            Node::Tree(tree) if self.as_fragment && tree.is_element() => Some(write(node)),
            node if is_later => Some(node.text()),
            node => first_value(node),
        }
    }
}
