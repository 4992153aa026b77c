//! Scripts that are only expressions: comparisons, arithmetic, logic, texts and calls on what a thread has, in
//! JEXL. Nearly all conditions of real plans are no more than that.
//!
//! Must not know who asks. Invariant: what compiles runs to an end, in time linear in its length; what is not covered
//! does not compile, and is named.
//!
//! Source: JMeter 5.6.3 with Commons JEXL 2.1 and 3.2, asked for what they say.

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
    /// Commons JEXL 2: a text that looks like a number is added as one.
    Jexl2,
    /// Commons JEXL 3.
    Jexl3,
}

/// What in a script is not supported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The construct, as the script has it.
    pub what: String,
}

/// A script that was read.
#[derive(Clone, Debug)]
pub struct Expression {
    dialect: Dialect,
    /// `None`: the script is malformed, and throws whenever it is run.
    statements: Option<Vec<Node>>,
}

/// More than a condition ever has, and little enough to read at once.
const LONGEST: usize = 64 << 10;

impl Expression {
    /// Reads a script. One that no reader of its language takes is read as one that throws.
    ///
    /// # Errors
    /// What in it is not supported.
    pub fn compile(source: &str, dialect: Dialect) -> Result<Expression, Unsupported> {
        let unsupported = |what: String| Unsupported { what };
        if source.len() > LONGEST {
            return Err(unsupported("a script of this length".to_owned()));
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

    /// What it comes to; nothing where it throws, which the log tells.
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

/// Scripts of a thread that were made up while the test runs, so that each is read once.
#[derive(Debug, Default)]
pub struct Known(std::collections::HashMap<(Dialect, String), Arc<Expression>>);

impl Known {
    /// Texts with a counter in them make ever new scripts: so many are kept.
    const MOST: usize = 256;

    /// The script of a text. What is not supported throws: it was named when the plan was read, if it could be seen then.
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
