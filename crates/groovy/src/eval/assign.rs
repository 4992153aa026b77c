//! Assignments.
//!
//! Must not know what properties do. Invariant: a typed variable only accepts values of its type.

use std::rc::Rc;
use std::sync::Arc;

use super::super::ast::Expr;
use super::super::convert;
use super::super::library;
use super::super::order;
use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Outcome, Value};
use super::Interpreter;
use super::frame::{Frame, Place};

impl Interpreter<'_> {
    pub(super) fn assign_expression(&mut self, expression: &Expr, frame: &Rc<Frame>) -> Outcome {
        match expression {
            Expr::Assign {
                target,
                operator: None,
                value,
            } => {
                let kind = self.kind_of_target(target, frame);
                let value = self.given_to(kind.as_ref(), value, frame)?;
                if matches!(value, Value::Void) {
                    return Err(Thrown::of("bsh.EvalError", "Void assignment."));
                }
                self.assign(target, value, frame)
            }
            Expr::Assign {
                target,
                operator: Some(operator),
                value,
            } => {
                let before = self.expression(target, frame)?;
                if !self.is_groovy() && before.is_null() {
                    let what = match before {
                        Value::Void => "undefined object or 'void'",
                        _ => "null object or 'null'",
                    };
                    let message = format!("Illegal use of {what} literal");
                    return Err(Thrown::of("bsh.EvalError", message));
                }
                let value = self.expression(value, frame)?;
                let after = self.operate(*operator, &before, &value)?;
                self.assign(target, after, frame)
            }
            Expr::AssignIfFalse { target, value } => {
                let before = self.expression(target, frame)?;
                if order::truth(&before) {
                    return Ok(before);
                }
                let value = self.expression(value, frame)?;
                self.assign(target, value, frame)
            }
            Expr::AssignMany { targets, value } => {
                let value = self.expression(value, frame)?;
                for (place, target) in targets.iter().enumerate() {
                    let part = library::element(self, &value, place)?;
                    self.assign(target, part, frame)?;
                }
                Ok(value)
            }
            _ => Ok(Value::Null),
        }
    }

    /// Assigns to the target of an expression; returns its new value.
    pub(super) fn assign(&mut self, target: &Expr, value: Value, frame: &Rc<Frame>) -> Outcome {
        match target {
            Expr::Variable(name) => self.assign_variable(name, value, frame),
            Expr::Property {
                of, name, is_safe, ..
            } => {
                let name: Arc<str> = match &**name {
                    Expr::Text(name) => Arc::clone(name),
                    other => print::text(&self.expression(other, frame)?).into(),
                };
                if let Some(home) = frame.home().filter(|_| matches!(**of, Expr::This)) {
                    return match self.set_field(&home, &name, &value)? {
                        true => Ok(value),
                        false => self.set_property(&home.this, &name, value),
                    };
                }
                let of = self.expression(of, frame)?;
                if *is_safe && of.is_null() {
                    return Ok(Value::Null);
                }
                if of.of::<super::calls::ScriptObject>().is_some() {
                    return self.assign_variable(&name, value, &Frame::root());
                }
                if of.is_null() {
                    return Err(Thrown::of(
                        "java.lang.NullPointerException",
                        format!("Cannot set property '{name}' on null object"),
                    ));
                }
                self.set_property(&of, &name, value)
            }
            Expr::Index { of, at, .. } => {
                let of = self.expression(of, frame)?;
                let mut at = self.values_of(at, frame)?;
                let at = match at.len() {
                    1 => at.swap_remove(0),
                    _ => Value::list(at),
                };
                if of.is_null() {
                    return Err(Thrown::null_call("putAt"));
                }
                let given = [at, value];
                if self.invoke_own(&of, "putAt", &given)?.is_none() {
                    library::put_at(self, &of, &given[0], given[1].clone())?;
                }
                let [_, value] = given;
                Ok(value)
            }
            _ => Err(Thrown::argument("this cannot be assigned to")),
        }
    }

    /// Sets a property of a value.
    pub(super) fn set_property(&mut self, of: &Value, name: &Arc<str>, value: Value) -> Outcome {
        if let (Value::Closure(_), "delegate" | "resolveStrategy") = (of, &**name) {
            let setter = library::getter("set", name);
            self.closure_method(of, &setter, std::slice::from_ref(&value))?;
            return Ok(value);
        }
        if !self.set_property_of_own(of, name, &value)? {
            library::set_property(self, of, name, &value)?;
        }
        Ok(value)
    }

    fn assign_variable(&mut self, name: &Arc<str>, value: Value, frame: &Rc<Frame>) -> Outcome {
        for place in frame.places(name) {
            match place {
                Place::Variable(frame, at) => {
                    let value = match frame.kind_at(at) {
                        Some(kind) => convert::assign(self, value, &kind)?,
                        None => value,
                    };
                    frame.set_at(at, value.clone());
                    return Ok(value);
                }
                Place::Delegate(delegate) => {
                    if self.set_property(&delegate, name, value.clone()).is_ok() {
                        return Ok(value);
                    }
                }
            }
        }
        if let Some(home) = frame.home() {
            self.set_variable_of(&home, name, &value)?;
            return Ok(value);
        }
        if !self.is_groovy() && frame.is_inner() && self.bindings.bound(name).is_none() {
            frame.declare(name, None, value.clone());
            return Ok(value);
        }
        self.bindings.bind(name, value.clone());
        Ok(value)
    }
}
