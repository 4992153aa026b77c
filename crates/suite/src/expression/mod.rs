//! The language of a document's columns: `run.p95`, `observe.pods.*.cpu_cores.max`, `run.rps / row("a").run.rps`.
//!
//! An expression is checked as it is read: what it names can exist, and its units fit together where they are
//! known. Must not know files, formats or how a run is made. Invariant: an expression is written so that it reads
//! the same, and evaluating it never fails for what was not measured: that is missing.
//!
//! ```text
//! expression = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//! sum        = product { ("+" | "-") product }
//! product    = sign { ("*" | "/") sign }
//! sign       = "-" sign | value
//! value      = number [unit] | words | path | function "(" [ expression { "," expression } ] ")" | "(" expression ")"
//! path       = ("run" | "plan" | "env" | "label" | "observe" | "suite" | "row") { "." name | "." "*" | "[" words "]" }
//!            | "row" "(" words ")" path-without-row
//! ```

mod dimension;
mod evaluate;
pub mod figures;
mod function;
mod lexer;
mod node;
mod parser;
mod path;
pub(crate) mod unit;
mod value;

pub use dimension::Dimension;
pub use evaluate::{Scope, evaluate};
pub use node::Expression;
pub use path::{Choice, Path, RowField, Selector};
pub use value::{Quantity, Value, ValueKind};

use std::fmt;

/// Maximum characters of an expression: far more than a column needs, and quick to parse.
pub const LENGTH_MAX: usize = 4096;

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Which character of the text it is about, from one on.
    pub column: usize,
    /// What is wrong, and what to do.
    pub what: String,
}

impl ParseError {
    fn at(source: &str, byte: usize, what: impl Into<String>) -> ParseError {
        let before = source.get(..byte).unwrap_or(source);
        ParseError {
            column: before.chars().count() + 1,
            what: what.into(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "character {}: {}", self.column, self.what)
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests;
