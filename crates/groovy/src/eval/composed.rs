//! Texts with embedded values. A closure in one is called each time that the text is wanted.
//!
//! Must not know how texts are printed. Invariant: only a variable holds a text whose closures wait; reading it calls
//! them.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::{Expr, Piece};
use super::super::value::{Composed, Machine as _, Outcome, Value};
use super::Interpreter;
use super::frame::Frame;

impl Interpreter<'_> {
    /// A text that is wanted now.
    pub(super) fn composed(&mut self, pieces: &[Piece], frame: &Rc<Frame>) -> Outcome {
        let waiting = self.waiting(pieces, frame)?;
        self.told_now(waiting)
    }

    /// The value that a variable gets: in a text closures wait.
    pub(super) fn value_to_keep(&mut self, value: &Expr, frame: &Rc<Frame>) -> Outcome {
        match value {
            Expr::Composed(pieces) => self.waiting(pieces, frame),
            value => self.expression(value, frame),
        }
    }

    fn waiting(&mut self, pieces: &[Piece], frame: &Rc<Frame>) -> Outcome {
        let mut texts: Vec<Arc<str>> = Vec::new();
        let mut values = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => texts.push(Arc::clone(text)),
                Piece::Value(value) => {
                    if texts.len() == values.len() {
                        texts.push("".into());
                    }
                    values.push(self.expression(value, frame)?);
                }
            }
        }
        self.take(64)?;
        Ok(Value::Composed(Rc::new(Composed { texts, values })))
    }

    /// A value as it is now: closures in a text are called.
    pub(super) fn told_now(&mut self, value: Value) -> Outcome {
        let Value::Composed(composed) = &value else {
            return Ok(value);
        };
        let waits = |value: &Value| matches!(value, Value::Closure(_));
        if !composed.values.iter().any(waits) {
            return Ok(value);
        }
        let values = composed.values.iter().map(|value| match waits(value) {
            true => self.call_value(value, Vec::new()),
            false => Ok(value.clone()),
        });
        let values = values.collect::<Outcome<Vec<Value>>>()?;
        let texts = composed.texts.clone();
        Ok(Value::Composed(Rc::new(Composed { texts, values })))
    }
}
