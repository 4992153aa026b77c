//! `assert`: the failed condition with the values of its parts, as Groovy draws them.
//!
//! Must not know other statements. Invariant: values are noted only while a condition is evaluated, the last one
//! of each part.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::ast::{Expr, Statement};
use super::super::drawn::{self, Part};
use super::super::print;
use super::super::thrown::{POWER_ASSERTION, Thrown};
use super::super::value::Value;
use super::frame::Frame;
use super::{Flow, Interpreter, Outcome};

/// The values of the parts of a condition.
pub(super) type Noted = HashMap<Part, Value>;

impl Interpreter<'_> {
    pub(super) fn run_assert(&mut self, statement: &Statement, frame: &Rc<Frame>) -> Outcome<Flow> {
        let Statement::Assert {
            condition,
            message,
            text,
            written,
        } = statement
        else {
            return Ok(Flow::On(Value::Null));
        };
        let wants_values = message.is_none() && self.is_groovy();
        let around = std::mem::replace(&mut self.noted, wants_values.then(Noted::new));
        let outcome = self.holds(condition, frame);
        let noted = std::mem::replace(&mut self.noted, around);
        if outcome? {
            return Ok(Flow::On(Value::Null));
        }
        let Some(message) = message else {
            let noted = noted.unwrap_or_default();
            let drawn = drawn::condition(written, condition, &noted);
            return Err(Thrown::of(POWER_ASSERTION, drawn));
        };
        let message = self.expression(message, frame)?;
        let text = drawn::spelled(condition).unwrap_or_else(|| match condition {
            Expr::Binary(..) | Expr::Chain(..) | Expr::And(..) | Expr::Or(..) => {
                format!("({})", without_quotes(text))
            }
            _ => without_quotes(text),
        });
        let message = print::text(&message);
        let values = self.values_of_variables(condition, frame)?;
        Err(Thrown::of(
            "java.lang.AssertionError",
            format!("{message}. Expression: {text}{values}"),
        ))
    }

    /// Notes the value of a part of a condition; `is_link`: that of the operator before it in a chain.
    pub(super) fn note(&mut self, part: &Expr, is_link: bool, value: &Value) {
        if let Some(noted) = &mut self.noted {
            noted.insert(Part::of(part, is_link), value.clone());
        }
    }

    /// The variables on both sides of a condition's operators, with their values now.
    fn values_of_variables(&mut self, condition: &Expr, frame: &Rc<Frame>) -> Outcome<String> {
        let mut names = Vec::new();
        variables(condition, &mut names);
        let mut told = String::new();
        for name in names {
            let value = self.expression(name, frame)?;
            let Expr::Variable(name) = name else {
                continue;
            };
            told.push_str(if told.is_empty() { ". Values: " } else { ", " });
            told.push_str(&format!("{name} = {}", print::text(&value)));
        }
        Ok(told)
    }
}

fn variables<'e>(condition: &'e Expr, found: &mut Vec<&'e Expr>) {
    match condition {
        Expr::Variable(_) => found.push(condition),
        Expr::Binary(_, left, right) | Expr::And(left, right) | Expr::Or(left, right) => {
            variables(left, found);
            variables(right, found);
        }
        Expr::Chain(first, rest) => {
            variables(first, found);
            for (_, right) in rest {
                variables(right, found);
            }
        }
        Expr::Not(value) | Expr::InstanceOf { value, .. } => variables(value, found),
        Expr::Index { of, at, .. } => {
            variables(of, found);
            for at in at {
                variables(at, found);
            }
        }
        _ => {}
    }
}

/// The source of an expression whose texts have no quotes.
fn without_quotes(source: &str) -> String {
    let mut told = String::with_capacity(source.len());
    let mut rest = source.chars();
    let mut open = None;
    while let Some(one) = rest.next() {
        match one {
            '\\' if open.is_some() => told.extend(rest.next()),
            '"' | '\'' if open.is_none() => open = Some(one),
            _ if open == Some(one) => open = None,
            _ => told.push(one),
        }
    }
    told
}
