//! XPath over the XML of an answer: version 1.0 whole, and of later versions the functions that plans use.
//!
//! Source: XML Path Language (XPath) 1.0; Xalan 2.7.3 and Saxon 11.6, observed. Must not know elements of plans.
//! Invariant: an expression that was read is evaluated without a panic over any document.

mod document;
mod evaluate;
mod functions;
mod lexer;
mod parser;

pub(crate) use document::{Document, first_value, prefixes, write};
pub(crate) use evaluate::{Node, Value};

/// Which processor an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Xalan over a document that knows no namespaces: names are compared as they are written.
    Plain,
    /// Xalan: prefixes are those of the document's outermost element.
    Namespaces,
    /// Saxon: prefixes are declared with the expression.
    Later,
}

/// An expression that was read.
#[derive(Clone, Debug)]
pub struct XPath {
    expression: parser::Expression,
}

impl XPath {
    /// Reads an expression.
    ///
    /// # Errors
    /// Why it is none.
    pub fn compile(text: &str) -> Result<XPath, String> {
        parser::parse(text).map(|expression| XPath { expression })
    }
}
