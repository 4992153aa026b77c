//! The functions that texts call: their definitions, and the evaluation of calls.
//!
//! Must not know the grammar of texts. Invariant: every constructed call has a valid number of arguments.

mod coding;
mod feedback;
mod files;
mod identity;
mod nodes;
mod numbers;
mod patterns;
mod properties;
mod random;
mod scripts;
mod strings;
mod table;
mod times;
mod variables;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use scripts::Script;

use crate::host::LogLevel;
use crate::scope::Scope;
use crate::text::{Text, TextFault};
use crate::thrown::Thrown;

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    /// Its name, with the two underscores.
    pub(crate) name: &'static str,
    /// Its number of arguments.
    arity: Arity,
    /// Index of the argument that names the variable for storing the value; `None`: there is none, or the
    /// function handles it itself.
    keeps_in: Option<usize>,
    body: Body,
}

/// The number of arguments of a function.
#[derive(Clone, Copy, Debug)]
enum Arity {
    Exactly(usize),
    Between(usize, usize),
    AtLeast(usize),
}

/// How a function computes its value, which it appends.
#[derive(Debug)]
enum Body {
    /// Only from its arguments: with constant arguments the value is constant.
    Pure(fn(&[Cow<'_, str>], &mut String) -> Outcome),
    /// From any state of the thread.
    Live(fn(&Call, &mut Scope<'_>, &mut String) -> Outcome),
    /// From the script in its first argument.
    Script(fn(&Call, &mut Scope<'_>, &mut String) -> Outcome),
}

/// Whether there is a value, or the exception from JMeter's function.
type Outcome = Result<(), Thrown>;

/// A call of a function in a text.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    function: &'static Function,
    arguments: Vec<Text>,
    /// Distinguishes calls at different places: for example, each has its own counter.
    site: u64,
    /// The script in its first argument.
    script: Script,
}

impl Arity {
    fn takes(self, given: usize) -> bool {
        match self {
            Arity::Exactly(count) => given == count,
            Arity::Between(fewest, most) => (fewest..=most).contains(&given),
            Arity::AtLeast(fewest) => given >= fewest,
        }
    }
}

impl Function {
    /// The function with a name; `None`: there is none.
    pub(crate) fn named(name: &str) -> Option<&'static Function> {
        table::named(name)
    }

    /// JMeter's error for a wrong number of arguments, with the usual cause; `None`: the number is valid.
    fn complaint(&self, given: usize) -> Option<String> {
        if self.arity.takes(given) {
            return None;
        }
        let name = self.name;
        let (expected, most) = match self.arity {
            Arity::Exactly(count) => (format!(": {count}."), count),
            Arity::Between(fewest, most) => (format!(": >= {fewest} and <= {most}"), most),
            Arity::AtLeast(fewest) => (format!(" at least: {fewest}."), usize::MAX),
        };
        let cause = match given > most {
            true => "; a comma within an argument is written \\,",
            false => "",
        };
        Some(format!(
            "{name} called with wrong number of parameters. Actual: {given}. Expected{expected}{cause}"
        ))
    }
}

impl Call {
    /// A call with its arguments.
    ///
    /// # Errors
    /// Too many or too few arguments.
    pub(crate) fn new(
        function: &'static Function,
        arguments: Vec<Text>,
    ) -> Result<Call, TextFault> {
        /// The next number for a call site.
        static SITES: AtomicU64 = AtomicU64::new(0);
        if let Some(message) = function.complaint(arguments.len()) {
            return Err(TextFault {
                function: function.name.to_owned(),
                message,
            });
        }
        let script = match function.body {
            Body::Script(_) => scripts::prepare(function.name, &arguments[0]),
            Body::Pure(_) | Body::Live(_) => Script::Absent,
        };
        Ok(Call {
            function,
            arguments,
            site: SITES.fetch_add(1, Ordering::Relaxed),
            script,
        })
    }

    /// Its value if it is constant; `None` if it must be evaluated.
    pub(crate) fn fold(&self) -> Option<String> {
        let Body::Pure(body) = self.function.body else {
            return None;
        };
        if self.keeper().is_some() {
            return None;
        }
        let constants = self.arguments.iter().map(|argument| argument.constant());
        let values: Vec<_> = constants
            .map(|text| text.map(Cow::from))
            .collect::<Option<_>>()?;
        let mut value = String::new();
        body(&values, &mut value).ok()?;
        Some(value)
    }

    /// Appends its value. An exception is logged, and makes it empty.
    pub(crate) fn evaluate_into(&self, scope: &mut Scope<'_>, out: &mut String) {
        let start = out.len();
        let outcome = match self.function.body {
            Body::Pure(body) => {
                let values = self
                    .arguments
                    .iter()
                    .map(|argument| argument.evaluate(scope));
                body(&values.collect::<Vec<_>>(), out)
            }
            Body::Live(body) | Body::Script(body) => body(self, scope, out),
        };
        if let Err(exception) = outcome {
            out.truncate(start);
            let message = format!("{}: {}", self.function.name, exception.message);
            scope
                .host
                .world()
                .log(LogLevel::Error, self.function.name, &message);
            scope.memory.exception.get_or_insert(exception);
            return;
        }
        let has_no_value = std::mem::take(&mut scope.memory.has_no_value);
        if let Some(keeper) = self.keeper().filter(|_| !has_no_value) {
            keep(keeper, scope, &out[start..]);
        }
    }

    /// Adds unsupported parts of it, by name.
    pub(crate) fn unsupported(&self, found: &mut Vec<String>) {
        found.extend(self.script.unsupported(self.function.name));
        for argument in &self.arguments {
            found.extend(argument.unsupported());
        }
    }

    /// Adds the names of unknown functions in its arguments.
    pub(crate) fn unknown_functions(&self, found: &mut Vec<String>) {
        for argument in &self.arguments {
            found.extend(argument.unknown_functions());
        }
    }

    /// The current value of an argument; empty if missing.
    fn argument<'c>(&'c self, index: usize, scope: &mut Scope<'_>) -> Cow<'c, str> {
        let given = self.arguments.get(index);
        given.map_or(Cow::Borrowed(""), |argument| argument.evaluate(scope))
    }

    /// The current value of an argument; `None` if missing.
    fn optional<'c>(&'c self, index: usize, scope: &mut Scope<'_>) -> Option<Cow<'c, str>> {
        let given = self.arguments.get(index);
        given.map(|argument| argument.evaluate(scope))
    }

    /// The argument that names the variable for storing the value.
    fn keeper(&self) -> Option<&Text> {
        self.arguments.get(self.function.keeps_in?)
    }
}

/// Stores a value in the variable named by a text; a blank name stores nothing.
fn keep(name: &Text, scope: &mut Scope<'_>, value: &str) {
    let name = name.evaluate(scope);
    if !name.trim().is_empty() {
        scope.variables.put(name.trim(), value);
    }
}

#[cfg(test)]
mod tests;
