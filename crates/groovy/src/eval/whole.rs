//! Integer divisions whose result is assigned to a variable of a primitive type.
//!
//! Must not know what happens to the variable. Source: Groovy 3.0.20, observed. Invariant: only an expression
//! written as a division of numbers with integer types is an integer division; all other divisions yield a
//! decimal.

use std::rc::Rc;

use super::super::ast::{Expr, Name, Number, Operator, Type};
use super::super::number;
use super::super::value::Outcome;
use super::Interpreter;
use super::frame::{Frame, Place};

/// Types with Java's arithmetic in Groovy.
const PRIMITIVE: &[&str] = &["byte", "short", "int", "long", "float", "double", "char"];

/// The integer ones among them.
const WHOLE: &[&str] = &["byte", "short", "int", "long", "char"];

fn is_one_of(kind: &Type, names: &[&str], dimensions: usize) -> bool {
    kind.dimensions == dimensions && names.contains(&&*kind.name)
}

/// The declared type of the variable in an expression; `None`: it has none.
fn declared(expression: &Expr, frame: &Rc<Frame>) -> Option<Type> {
    let Expr::Variable(name) = expression else {
        return None;
    };
    kind_of(name, frame)
}

fn kind_of(name: &Name, frame: &Rc<Frame>) -> Option<Type> {
    match frame.places(name).first()? {
        Place::Variable(frame, at) => frame.kind_at(*at),
        Place::Delegate(_) => None,
    }
}

fn keeps_whole(operator: Operator) -> bool {
    matches!(
        operator,
        Operator::Plus | Operator::Minus | Operator::Times | Operator::Remainder
    )
}

/// Whether an expression has an integer type according to its parts.
fn is_whole(expression: &Expr, frame: &Rc<Frame>) -> bool {
    let is_variable = |of: &Expr, dimensions| {
        declared(of, frame).is_some_and(|kind| is_one_of(&kind, WHOLE, dimensions))
    };
    match expression {
        Expr::Number(Number::Int(_) | Number::Long(_)) => true,
        Expr::Variable(_) => is_variable(expression, 0),
        Expr::Step { target, .. } => is_variable(target, 0),
        Expr::Index { of, .. } => is_variable(of, 1),
        Expr::Cast {
            to, is_as: false, ..
        } => is_one_of(to, WHOLE, 0),
        Expr::Binary(operator, left, right) => {
            keeps_whole(*operator) && is_whole(left, frame) && is_whole(right, frame)
        }
        Expr::Chain(first, rest) => {
            let is_kept = |(operator, right): &(Operator, Expr)| {
                keeps_whole(*operator) && is_whole(right, frame)
            };
            is_whole(first, frame) && rest.iter().all(is_kept)
        }
        _ => false,
    }
}

impl Interpreter<'_> {
    /// The value assigned to a variable: if its type is primitive, an integer division is truncated.
    pub(super) fn given_to(
        &mut self,
        kind: Option<&Type>,
        value: &Expr,
        frame: &Rc<Frame>,
    ) -> Outcome {
        let is_primitive = kind.is_some_and(|kind| is_one_of(kind, PRIMITIVE, 0));
        if kind.is_none_or(|kind| is_one_of(kind, &["def", "var", "Object", "GString"], 0)) {
            return self.value_to_keep(value, frame);
        }
        if !is_primitive || !self.is_groovy() {
            return self.expression(value, frame);
        }
        let (dividend, divisor) = match value {
            Expr::Binary(Operator::Divide, left, right)
                if is_whole(left, frame) && is_whole(right, frame) =>
            {
                (self.expression(left, frame)?, right.as_ref())
            }
            Expr::Chain(first, rest) => match rest.split_last() {
                Some(((Operator::Divide, right), before))
                    if is_whole(first, frame)
                        && is_whole(right, frame)
                        && before.iter().all(|(operator, one)| {
                            keeps_whole(*operator) && is_whole(one, frame)
                        }) =>
                {
                    (self.chain(first, before, frame)?, right)
                }
                _ => return self.expression(value, frame),
            },
            _ => return self.expression(value, frame),
        };
        let divisor = self.expression(divisor, frame)?;
        match number::divide_whole(&dividend, &divisor)? {
            Some(quotient) => Ok(quotient),
            None => self.operate(Operator::Divide, &dividend, &divisor),
        }
    }

    /// The declared type of a variable that is the target of an assignment.
    pub(super) fn kind_of_target(&self, target: &Expr, frame: &Rc<Frame>) -> Option<Type> {
        declared(target, frame)
    }
}
