//! XPath on the XML of a response: version 1.0 completely, and of later versions the functions that plans use.
//!
//! Source: XML Path Language (XPath) 1.0; Xalan 2.7.3 and Saxon 11.6, observed. Must not know elements of
//! plans. Invariant: evaluating a compiled expression on any document does not panic.

mod document;
mod evaluate;
mod fault;
mod functions;
mod lexer;
mod lines;
mod parser;

pub(crate) use document::{Document, first_value, prefixes, write, write_indented};
pub(crate) use evaluate::{Node, Value};

/// The processor for an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Xalan on a document without namespace support: names are compared as written.
    Plain,
    /// Xalan: prefixes are those of the document's root element.
    Namespaces,
    /// Saxon: prefixes are declared with the expression.
    Later,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct XPath {
    expression: parser::Expression,
    /// The prefixes of its names, in order.
    prefixes: Vec<String>,
}

impl XPath {
    /// Compiles an expression.
    ///
    /// # Errors
    /// It is invalid.
    pub fn compile(text: &str) -> Result<XPath, String> {
        Ok(XPath {
            expression: parser::parse(text)?,
            prefixes: lexer::prefixes(text),
        })
    }

    /// What Saxon finds wrong before it reads a document: the first prefix that lines of `prefix=namespace` do not
    /// declare.
    pub(crate) fn undeclared(&self, lines: &str) -> Option<String> {
        let declared = document::declared(lines);
        let is_declared = |prefix: &&String| declared.iter().any(|(one, _)| one == *prefix);
        let missing = self.prefixes.iter().find(|prefix| !is_declared(prefix));
        missing.map(|prefix| evaluate::undeclared(prefix))
    }
}
