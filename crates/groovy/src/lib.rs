//! Scripts in Groovy and BeanShell, as in JMeter's plans: compiled once, checked, and run with the host's
//! bindings.
//!
//! Source: Groovy 3.0.20 and BeanShell 2.0b6, observed; `tests/golden` holds their output. Must not know
//! JMeter's threads, samples and plans, nor clocks and files. Invariant: for any script, parsing terminates,
//! and a run ends when the host requests it; missing classes, methods and names are reported before a run.

mod ast;
mod bean_shell;
pub mod bound;
mod check;
mod classes;
mod convert;
pub mod decimal;
mod drawn;
mod eval;
pub mod host;
mod lexer;
mod library;
pub mod map;
pub mod number;
mod operators;
pub mod order;
mod parser;
mod paths;
pub mod print;
pub mod table;
pub mod thrown;
pub mod value;
mod walk;

use std::fmt;

pub use library::{Counter, iterator_over, url};

use thrown::Thrown;
use value::{Bindings, Value};

/// The language of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Groovy 3.
    Groovy,
    /// BeanShell 2, and Java run by BeanShell.
    BeanShell,
}

/// Why a script cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is invalid in its language: it throws on every run.
    Malformed(String),
    /// It contains an unsupported construct, which is named.
    Unsupported(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Malformed(what) | Fault::Unsupported(what) => out.write_str(what),
        }
    }
}

impl std::error::Error for Fault {}

/// A compiled script.
#[derive(Debug)]
pub struct Script {
    dialect: Dialect,
    parsed: parser::Parsed,
}

/// Maximum bytes of a script.
const LONGEST: usize = 1 << 20;

impl Script {
    /// Compiles a script.
    ///
    /// # Errors
    /// It is malformed, or contains an unsupported construct.
    pub fn read(source: &str, dialect: Dialect) -> Result<Script, Fault> {
        if source.len() > LONGEST {
            return Err(Fault::Unsupported("a script this long".to_owned()));
        }
        Ok(Script {
            dialect,
            parsed: parser::parse(source, dialect)?,
        })
    }

    /// Missing classes, methods and names that it uses, each once. `of_host` tells whether the object bound to
    /// a name has a method; `None`: no known object is bound to the name.
    #[must_use]
    pub fn unsupported(&self, of_host: &dyn Fn(&str, &str) -> Option<bool>) -> Vec<String> {
        check::unsupported(&self.parsed, of_host)
    }

    /// Runs it; returns its value.
    ///
    /// # Errors
    /// Its exception.
    pub fn run(&self, bindings: &mut dyn Bindings) -> Result<Value, Thrown> {
        eval::run(&self.parsed, self.dialect, bindings)
    }
}
