//! Scripts that are only expressions, in JEXL: comparisons, arithmetic, logic, texts and calls on a thread's
//! objects. Nearly all conditions of real plans are no more than that.
//!
//! Must not know who evaluates them. Invariant: evaluation terminates, in time linear in the script's length;
//! unsupported constructs are compile errors that name the construct.
//!
//! Source: the observed results of JMeter 5.6.3 with Commons JEXL 2.1 and 3.2.

mod decimal;
mod lexer;
mod method_names;
mod methods;
mod objects;
mod operators;
mod parser;
mod run;
mod value;

use std::sync::Arc;

use crate::host::LogLevel;
use crate::scope::Scope;
use parser::{Fault, Node};

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Commons JEXL 2: in additions, a text that looks like a number is a number.
    Jexl2,
    /// Commons JEXL 3.
    Jexl3,
}

/// An unsupported construct of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The construct, as written in the script.
    pub what: String,
}

/// A compiled script.
#[derive(Clone, Debug)]
pub struct Expression {
    dialect: Dialect,
    /// `None`: the script is malformed, and throws on every run.
    statements: Option<Vec<Node>>,
}

/// Maximum length of a script in bytes: more than any condition needs, and fast to parse.
const LONGEST: usize = 64 << 10;

impl Expression {
    /// Compiles a script. One that is invalid in its language compiles to one that throws.
    ///
    /// # Errors
    /// The unsupported construct.
    pub fn compile(source: &str, dialect: Dialect) -> Result<Expression, Unsupported> {
        let unsupported = |what: String| Unsupported { what };
        if source.len() > LONGEST {
            return Err(unsupported("a script this long".to_owned()));
        }
        let statements = match parser::parse(source, dialect) {
            Ok(statements) => Some(statements),
            Err(Fault::Malformed) => None,
            Err(Fault::Unsupported(what)) => return Err(unsupported(what)),
        };
        Ok(Expression {
            dialect,
            statements,
        })
    }

    /// The value; empty if it throws, which is logged.
    #[must_use]
    pub fn run(&self, scope: &mut Scope<'_>) -> String {
        let outcome = match &self.statements {
            None => Err("the script is malformed".to_owned()),
            Some(statements) => {
                let value = run::run(statements, self.dialect, scope);
                value.and_then(|value| value.printed())
            }
        };
        outcome.unwrap_or_else(|exception| {
            let class = match self.dialect {
                Dialect::Jexl2 => "o.a.j.f.Jexl2Function",
                Dialect::Jexl3 => "o.a.j.f.Jexl3Function",
            };
            let message = format!("Error running script: {exception}");
            scope.host.world().log(LogLevel::Warn, class, &message);
            String::new()
        })
    }
}

/// Scripts created at run time by a thread, so that each is compiled once.
#[derive(Debug, Default)]
pub struct Known(std::collections::HashMap<(Dialect, String), Arc<Expression>>);

impl Known {
    /// Maximum number of cached scripts: texts with a counter in them create ever new ones.
    const MOST: usize = 256;

    /// The script for a text. An unsupported script throws: it was already reported when the plan was read, if
    /// it was known then.
    pub(crate) fn get(&mut self, source: String, dialect: Dialect) -> Arc<Expression> {
        if self.0.len() >= Known::MOST {
            self.0.clear();
        }
        let known = self
            .0
            .entry((dialect, source))
            .or_insert_with_key(|(dialect, source)| {
                Arc::new(Expression::compile(source, *dialect).unwrap_or(Expression {
                    dialect: *dialect,
                    statements: None,
                }))
            });
        Arc::clone(known)
    }
}

#[cfg(test)]
mod tests;
