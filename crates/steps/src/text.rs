//! A text of a plan with its variables and function calls, parsed once and evaluated often.
//!
//! Must not know the use of a text. Invariant: evaluating a constant text costs nothing.
//!
//! The grammar is JMeter's, including its oddities: text that is neither a call nor a variable stays as
//! written, and in a text without either even backslashes are kept.

mod grammar;

use std::borrow::Cow;
use std::fmt;

use crate::functions::Call;
use crate::scope::Scope;

/// A text of a plan.
#[derive(Clone, Debug, Default)]
pub struct Text {
    source: String,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Literal(String),
    Variable(String),
    Call(Box<Call>),
}

/// Why a text cannot be parsed: JMeter would stop the test before its first sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFault {
    /// The function with the wrong call.
    pub function: String,
    /// The fault, and its usual cause.
    pub message: String,
}

impl fmt::Display for TextFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for TextFault {}

impl Text {
    /// Parses a text.
    ///
    /// # Errors
    /// A function call has a wrong number of arguments, or is not closed.
    pub fn parse(source: &str) -> Result<Text, TextFault> {
        let pieces = match grammar::compile(source, 0)? {
            // JMeter does not process a property without variables or calls: its backslashes are kept, too.
            plain if matches!(plain.as_slice(), [] | [Piece::Literal(_)]) => {
                vec![Piece::Literal(source.to_owned())]
            }
            pieces => fold(pieces),
        };
        Ok(Text {
            source: source.to_owned(),
            pieces,
        })
    }

    /// A literal text, without evaluation.
    pub(crate) fn literal(text: &str) -> Text {
        Text {
            source: text.to_owned(),
            pieces: vec![Piece::Literal(text.to_owned())],
        }
    }

    /// Parses an argument of a function, or a text created at run time: backslashes are always processed.
    /// `depth`: number of enclosing calls.
    pub(crate) fn argument(source: &str, depth: usize) -> Result<Text, TextFault> {
        Ok(Text {
            source: source.to_owned(),
            pieces: fold(grammar::compile(source, depth)?),
        })
    }

    /// The text as in the plan.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it calls functions, whose values may vary.
    #[must_use]
    pub fn calls_functions(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Call(_)))
    }

    /// Its value if it is constant; `None` if it must be evaluated.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Its unsupported parts (scripts, functions of plugins), by name.
    #[must_use]
    pub fn unsupported(&self) -> Vec<String> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(_) => {}
                Piece::Variable(name) => {
                    found.extend(called(name).filter(|name| is_of_queues(name)));
                }
                Piece::Call(call) => call.unsupported(&mut found),
            }
        }
        found
    }

    /// The names of unknown functions in it: such a call stays as written.
    #[must_use]
    pub fn unknown_functions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal(_) => {}
                Piece::Variable(name) => {
                    found.extend(called(name).filter(|name| !is_of_queues(name)));
                }
                Piece::Call(call) => call.unknown_functions(&mut found),
            }
        }
        found
    }

    /// Its current value.
    pub fn evaluate<'a>(&'a self, scope: &mut Scope<'_>) -> Cow<'a, str> {
        if let Some(text) = self.constant() {
            return Cow::Borrowed(text);
        }
        let mut value = String::new();
        self.evaluate_into(scope, &mut value);
        Cow::Owned(value)
    }

    /// Appends its current value.
    pub fn evaluate_into(&self, scope: &mut Scope<'_>, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.push_str(text),
                Piece::Variable(name) => match scope.variable(name) {
                    Some(text) => out.push_str(text),
                    None => {
                        out.push_str("${");
                        out.push_str(name);
                        out.push('}');
                    }
                },
                Piece::Call(call) => call.evaluate_into(scope, out),
            }
        }
    }

    /// The text with `stand_in` for everything that is only known at run time: this is what a script in it will
    /// look like.
    #[must_use]
    pub fn sketch(&self, stand_in: &str) -> String {
        let known = self.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => text.as_str(),
            Piece::Variable(_) | Piece::Call(_) => stand_in,
        });
        known.collect()
    }
}

/// Evaluates constant pieces, and joins adjacent ones.
fn fold(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut folded: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let text = match piece {
            Piece::Literal(text) => text,
            Piece::Call(call) => match call.fold() {
                Some(text) => text,
                None => {
                    folded.push(Piece::Call(call));
                    continue;
                }
            },
            variable @ Piece::Variable(_) => {
                folded.push(variable);
                continue;
            }
        };
        match folded.last_mut() {
            Some(Piece::Literal(before)) => before.push_str(&text),
            _ => folded.push(Piece::Literal(text)),
        }
    }
    folded
}

/// The name of an unknown function, if what JMeter treats as a variable's name was meant as a call.
fn called(name: &str) -> Option<String> {
    let written = name.trim_start();
    let called = written.split(['(', ' ']).next()?;
    let meant = called.starts_with("__") && !called.starts_with("__jm__");
    meant.then(|| called.to_owned())
}

/// Whether it is a function of the plugins' queues between threads (Inter-Thread Communication), which block.
fn is_of_queues(name: &str) -> bool {
    matches!(name, "__fifoGet" | "__fifoPop" | "__fifoPut" | "__fifoSize")
}

#[cfg(test)]
mod tests;
