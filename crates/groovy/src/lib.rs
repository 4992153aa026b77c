//! Scripts in Groovy and BeanShell, as JMeter's plans have them: read once, checked, and run with what a host gives.
//!
//! Source: Groovy 3.0.20 and BeanShell 2.0b6, observed; `tests/golden` holds what they say. Must not know JMeter's
//! threads, samples and plans, nor clocks and files. Invariant: whatever a script is, reading it ends, and running it ends
//! when the host says so; what it asks for that is not there is named before it runs.

mod ast;
pub mod bound;
mod check;
mod classes;
mod convert;
pub mod decimal;
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
    /// BeanShell 2, and Java as BeanShell reads it.
    BeanShell,
}

/// Why a script cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is none of its language: it throws whenever it is run.
    Malformed(String),
    /// It has something that is not supported: what.
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

/// A script that was read.
#[derive(Debug)]
pub struct Script {
    dialect: Dialect,
    parsed: parser::Parsed,
}

/// Longer scripts are not read.
const LONGEST: usize = 1 << 20;

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// It is malformed, or has a construct that is not supported.
    pub fn read(source: &str, dialect: Dialect) -> Result<Script, Fault> {
        if source.len() > LONGEST {
            return Err(Fault::Unsupported("a script of this length".to_owned()));
        }
        Ok(Script {
            dialect,
            parsed: parser::parse(source, dialect)?,
        })
    }

    /// What it asks for that is not there, each once: classes, methods, names. `of_host` says whether what is bound to a
    /// name has a method: `None`: nothing is bound to it that is known.
    #[must_use]
    pub fn unsupported(&self, of_host: &dyn Fn(&str, &str) -> Option<bool>) -> Vec<String> {
        check::unsupported(&self.parsed, of_host)
    }

    /// Runs it; what it comes to.
    ///
    /// # Errors
    /// What it throws.
    pub fn run(&self, bindings: &mut dyn Bindings) -> Result<Value, Thrown> {
        eval::run(&self.parsed, self.dialect, bindings)
    }
}
