//! An interpreter of Go's `text/template` language, as far as report templates need it.
//!
//! Source of the language: the documentation of Go's packages `text/template` and `fmt`. What is not
//! supported is refused by name when the template is parsed, before a run starts. Must not know
//! which report it renders: data and functions come through [`Value`] and [`Host`]. Invariant: no
//! input makes it panic, and time, depth and output are bounded by [`Limits`].

mod calls;
mod check;
mod compare;
mod escape;
mod eval;
mod functions;
mod lexer;
mod node;
mod number;
mod parser;
pub(crate) mod printf;
mod scan;
pub(crate) mod show;
mod value;

use std::collections::BTreeMap;
use std::fmt;

pub use value::{List, Member, Method, Object, Value};

/// An error in a template, when parsing or executing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// The line of the template, from one.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

impl TemplateError {
    pub(crate) fn new(line: usize, what: impl Into<String>) -> TemplateError {
        TemplateError {
            line,
            what: what.into(),
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "template, line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for TemplateError {}

/// A function in addition to the built-in ones.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Its name in templates.
    pub name: &'static str,
    /// Arguments at least.
    pub min: usize,
    /// Arguments at most; `None`: any number.
    pub max: Option<usize>,
}

/// Executes the additional functions.
pub trait Host {
    /// The functions, the same at every call.
    fn functions() -> &'static [Signature]
    where
        Self: Sized;

    /// Calls a function of that list with as many arguments as its signature allows.
    ///
    /// # Errors
    /// Says which argument does not fit.
    fn call(&mut self, name: &str, arguments: &[Value]) -> Result<Value, String>;
}

/// Limits for one rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes and operands evaluated at most.
    pub steps: u64,
    /// Templates within templates at most.
    pub depth: usize,
    /// Bytes of output at most.
    pub output: usize,
}

impl Default for Limits {
    /// Room for a line of each of a few million samples; recursion stays far from the stack's end.
    fn default() -> Self {
        Limits {
            steps: 200_000_000,
            depth: 64,
            output: 1 << 30,
        }
    }
}

/// A parsed template with the templates that it defines.
#[derive(Debug)]
pub struct Template {
    main: Vec<node::Node>,
    defined: BTreeMap<String, Vec<node::Node>>,
}

impl Template {
    /// Parses a template that may use the built-in functions and those of `H`.
    ///
    /// # Errors
    /// The first invalid or unsupported construct, with its line.
    pub fn parse<H: Host>(text: &str) -> Result<Template, TemplateError> {
        let tokens = lexer::lex(text)?;
        let template = parser::parse(tokens, H::functions())?;
        check::check(&template)?;
        Ok(template)
    }

    /// Executes the template with `data` as its dot.
    ///
    /// # Errors
    /// What could not be evaluated, with its line, or which limit was reached.
    pub fn render(
        &self,
        data: &Value,
        host: &mut dyn Host,
        limits: Limits,
    ) -> Result<String, TemplateError> {
        eval::render(self, data, host, limits)
    }

    /// Whether a field, method or function of this name is mentioned anywhere.
    #[must_use]
    pub fn mentions(&self, name: &str) -> bool {
        std::iter::once(&self.main)
            .chain(self.defined.values())
            .any(|nodes| check::mentions(nodes, name))
    }

    /// Whether the data is used as a whole (`{{jsonify .}}`), so that every field may be.
    #[must_use]
    pub fn uses_whole_data(&self) -> bool {
        std::iter::once(&self.main)
            .chain(self.defined.values())
            .any(|nodes| check::uses_dot(nodes))
    }
}
