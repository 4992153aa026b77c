//! Evaluates operators with two operands.
//!
//! Must not know numbers. Invariant: BeanShell's operators are Java's, Groovy's are methods.

use std::cmp::Ordering;
use std::rc::Rc;

use super::super::ast::{Expr, Operator};
use super::super::library;
use super::super::number;
use super::super::operators;
use super::super::order;
use super::super::print;
use super::super::thrown::Thrown;
use super::super::value::{Machine as _, Outcome, Value};
use super::Interpreter;
use super::frame::Frame;

impl Interpreter<'_> {
    pub(super) fn operate(&mut self, operator: Operator, left: &Value, right: &Value) -> Outcome {
        if !self.is_groovy() {
            return self.operate_as_java(operator, left, right);
        }
        let truth = |truth| Ok(Value::Truth(truth));
        match operator {
            Operator::Equal => truth(order::equals(left, right)),
            Operator::NotEqual => truth(!order::equals(left, right)),
            Operator::Same => truth(operators::is_same(left, right)),
            Operator::NotSame => truth(!operators::is_same(left, right)),
            Operator::Less => truth(self.compared(left, right)? == Ordering::Less),
            Operator::LessEqual => truth(self.compared(left, right)? != Ordering::Greater),
            Operator::Greater => truth(self.compared(left, right)? == Ordering::Greater),
            Operator::GreaterEqual => truth(self.compared(left, right)? != Ordering::Less),
            Operator::Compare => Ok(Value::Int(self.compared(left, right)? as i32)),
            Operator::In => truth(self.is_case(right, left)?),
            Operator::NotIn => truth(!self.is_case(right, left)?),
            Operator::Find | Operator::Match => {
                library::regex_operator(self, operator == Operator::Match, left, right)
            }
            _ => operators::arithmetic(self, operator, left, right),
        }
    }

    fn compared(&mut self, left: &Value, right: &Value) -> Outcome<Ordering> {
        // Compared with NaN as a double, everything is neither less nor greater.
        order::compare(left, right)
    }

    fn operate_as_java(&mut self, operator: Operator, left: &Value, right: &Value) -> Outcome {
        let truth = |truth| Ok(Value::Truth(truth));
        let is_void = matches!(left, Value::Void) || matches!(right, Value::Void);
        match operator {
            Operator::Equal | Operator::NotEqual => {
                let is_same = operators::is_same_in_java(left, right);
                truth(is_same == (operator == Operator::Equal))
            }
            Operator::Plus if matches!(left, Value::Text(_)) || matches!(right, Value::Text(_)) => {
                let said = |value: &Value| match value {
                    Value::Void => "void".to_owned(),
                    other => print::java_text(other),
                };
                let text = said(left) + &said(right);
                self.take(text.len())?;
                Ok(Value::text(text))
            }
            _ if is_void => Err(Thrown::of(
                "bsh.EvalError",
                "illegal use of undefined variable, class, or 'void' literal",
            )),
            Operator::Divide => {
                let found = number::divide_whole(left, right);
                let found = found.map_err(|_| Thrown::by_zero_in_operator())?;
                found.ok_or_else(|| not_for(operator, left, right))
            }
            Operator::Less | Operator::LessEqual | Operator::Greater | Operator::GreaterEqual => {
                let found = number::compare(left, right);
                let found = found.ok_or_else(|| not_for(operator, left, right))?;
                truth(match operator {
                    Operator::Less => found == Ordering::Less,
                    Operator::LessEqual => found != Ordering::Greater,
                    Operator::Greater => found == Ordering::Greater,
                    _ => found != Ordering::Less,
                })
            }
            Operator::BitAnd | Operator::BitOr | Operator::BitXor
                if matches!((left, right), (Value::Truth(_), Value::Truth(_))) =>
            {
                operators::arithmetic(self, operator, left, right)
            }
            _ if left.is_number() || matches!(left, Value::Char(_)) => {
                operators::arithmetic(self, operator, left, right)
            }
            _ => Err(not_for(operator, left, right)),
        }
    }

    /// Whether a value matches a case.
    pub(super) fn is_case(&mut self, case: &Value, value: &Value) -> Outcome<bool> {
        if !self.is_groovy() {
            return Ok(order::java_equals(case, value)
                || number::compare(case, value) == Some(Ordering::Equal));
        }
        match case {
            Value::Closure(_) => {
                let found = self.call_value(case, vec![value.clone()])?;
                Ok(order::truth(&found))
            }
            _ => library::is_case(self, case, value),
        }
    }

    /// `++` and `--`.
    pub(super) fn step(
        &mut self,
        target: &Expr,
        is_up: bool,
        is_prefix: bool,
        frame: &Rc<Frame>,
    ) -> Outcome {
        let before = self.expression(target, frame)?;
        if matches!(before, Value::Void) {
            let message = "illegal use of undefined object or 'void' literal";
            return Err(Thrown::of("bsh.EvalError", message));
        }
        let after = match number::stepped(&before, is_up) {
            Some(after) => after,
            None => {
                let name = if is_up { "next" } else { "previous" };
                self.invoke(&before, name, &[])?
            }
        };
        self.assign(target, after.clone(), frame)?;
        Ok(if is_prefix { after } else { before })
    }
}

fn not_for(operator: Operator, left: &Value, right: &Value) -> Thrown {
    Thrown::of(
        "bsh.EvalError",
        format!(
            "Operator: '\"{operator:?}\"' inappropriate for objects {} {}",
            print::class_name(left),
            print::class_name(right)
        ),
    )
}
