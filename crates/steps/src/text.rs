//! A text of a plan with its variables and function calls, read once and evaluated often.
//!
//! Must not know what a text is for. Invariant: a text in which nothing can change costs nothing to evaluate.
//!
//! The grammar is JMeter's, its oddities included: what is no call and no variable stays as it is written, and a text
//! without either keeps even its backslashes.

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

/// Why a text cannot be read: JMeter would stop the test before its first sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextFault {
    /// The function that is called wrongly.
    pub function: String,
    /// What is wrong, and the usual cause.
    pub message: String,
}

impl fmt::Display for TextFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for TextFault {}

impl Text {
    /// Reads a text.
    ///
    /// # Errors
    /// A call of a function with a wrong number of arguments, or one that is not closed.
    pub fn parse(source: &str) -> Result<Text, TextFault> {
        let pieces = match grammar::compile(source, 0)? {
            // JMeter leaves a property alone that has neither variable nor call: its backslashes stay, too.
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

    /// A text that is what it is, whatever it looks like.
    pub(crate) fn literal(text: &str) -> Text {
        Text {
            source: text.to_owned(),
            pieces: vec![Piece::Literal(text.to_owned())],
        }
    }

    /// Reads an argument of a function, or what came up while the test ran: backslashes count even where nothing else
    /// is. `depth`: of how many calls it is an argument.
    pub(crate) fn argument(source: &str, depth: usize) -> Result<Text, TextFault> {
        Ok(Text {
            source: source.to_owned(),
            pieces: fold(grammar::compile(source, depth)?),
        })
    }

    /// The text as the plan has it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it calls functions, which may give something else each time.
    #[must_use]
    pub fn calls_functions(&self) -> bool {
        let mut pieces = self.pieces.iter();
        pieces.any(|piece| matches!(piece, Piece::Call(_)))
    }

    /// Its value where nothing in it can change; `None` where it must be evaluated.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// What is in it that is not supported (scripts, functions of plugins), by name.
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

    /// The names of functions in it that nobody knows: such a call stays as it is written.
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

    /// Its value now.
    pub fn evaluate<'a>(&'a self, scope: &mut Scope<'_>) -> Cow<'a, str> {
        if let Some(text) = self.constant() {
            return Cow::Borrowed(text);
        }
        let mut value = String::new();
        self.evaluate_into(scope, &mut value);
        Cow::Owned(value)
    }

    /// Appends its value now.
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

    /// The text with `stand_in` in the place of whatever is only known when the test runs: what a script in it will
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

/// Evaluates what cannot change, and joins what is next to each other.
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

/// The name of a function that is not known, where what JMeter takes for a variable's name was meant as a call.
fn called(name: &str) -> Option<String> {
    let written = name.trim_start();
    let called = written.split(['(', ' ']).next()?;
    let meant = called.starts_with("__") && !called.starts_with("__jm__");
    meant.then(|| called.to_owned())
}

/// Whether a function is of the plugins' queues between threads (Inter-Thread Communication), with which a plan waits.
fn is_of_queues(name: &str) -> bool {
    matches!(name, "__fifoGet" | "__fifoPop" | "__fifoPut" | "__fifoSize")
}

#[cfg(test)]
mod tests;
