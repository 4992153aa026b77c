//! Divisions of whole numbers whose outcome a variable of a primitive type takes.
//!
//! Must not know what is done with the variable. Source: Groovy 3.0.20, observed. Invariant: only what is written as a division of
//! numbers that are whole by their types is one of whole numbers; elsewhere a division makes a decimal.

use std::rc::Rc;

use super::super::ast::{Expr, Name, Number, Operator, Type};
use super::super::number;
use super::super::value::Outcome;
use super::Interpreter;
use super::frame::{Frame, Place};

/// Types that Groovy computes with as Java does.
const PRIMITIVE: &[&str] = &["byte", "short", "int", "long", "float", "double", "char"];

/// Those of them that are whole.
const WHOLE: &[&str] = &["byte", "short", "int", "long", "char"];

fn is_one_of(kind: &Type, names: &[&str], dimensions: usize) -> bool {
    kind.dimensions == dimensions && names.contains(&&*kind.name)
}

/// The type of the variable that an expression is, as it was declared; `None`: it has none.
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

/// Whether an expression is whole by the types of what it is made of.
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
    /// What a variable is given: where its type is primitive, a division of whole numbers leaves out what is behind the point.
    pub(super) fn given_to(
        &mut self,
        kind: Option<&Type>,
        value: &Expr,
        frame: &Rc<Frame>,
    ) -> Outcome {
        let is_primitive = kind.is_some_and(|kind| is_one_of(kind, PRIMITIVE, 0));
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

    /// The type that a variable was declared with, where an assignment is to one.
    pub(super) fn kind_of_target(&self, target: &Expr, frame: &Rc<Frame>) -> Option<Type> {
        declared(target, frame)
    }
}
