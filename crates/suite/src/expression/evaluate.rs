//! Evaluates an expression, given the values of its paths.
//!
//! Must not know where they come from. Invariant: never panics; a missing value makes results that use it
//! missing, and so does anything that cannot be computed (a division by zero, units that do not fit after all).

use std::borrow::Cow;
use std::cmp::Ordering;

use loadline_model::duration::parse_with_units;

use super::dimension::Dimension;
use super::function::{DECIMALS_MAX, Function};
use super::node::{Expression, ExpressionNode, Operator};
use super::value::{Quantity, Value};
use crate::statistics::median;

/// Provides the values of paths; paths and rows are given by the numbers to which the expression was bound.
pub trait Scope {
    /// The value of a path for the row.
    fn value(&self, path: usize) -> Value<'_>;
    /// The value of a path for another row.
    fn other(&self, row: usize, path: usize) -> Value<'_>;
}

/// The value of an expression.
pub fn evaluate<'a, S: Scope>(expression: &'a Expression, scope: &'a S) -> Value<'a> {
    node(&expression.root, scope)
}

fn node<'a, S: Scope>(of: &'a ExpressionNode, scope: &'a S) -> Value<'a> {
    match of {
        ExpressionNode::Number(quantity) => Value::Number(*quantity),
        ExpressionNode::Text(text) => Value::Text(Cow::Borrowed(text)),
        ExpressionNode::Path(path) => scope.value(*path),
        ExpressionNode::Other(row, path) => scope.other(*row, *path),
        ExpressionNode::Negative(inner) => negative(node(inner, scope)),
        ExpressionNode::Pair(operator, left, right) => {
            let (left, right) = (node(left, scope), node(right, scope));
            if operator.is_comparison() {
                comparison(*operator, &left, &right)
            } else {
                arithmetic(*operator, left, right)
            }
        }
        ExpressionNode::Call(function, arguments) => call(*function, arguments, scope),
    }
}

fn negative(value: Value<'_>) -> Value<'_> {
    let turned = |quantity: Quantity| Quantity {
        amount: -quantity.amount,
        ..quantity
    };
    match value {
        Value::Number(quantity) => Value::Number(turned(quantity)),
        Value::List(items) => {
            let items = items
                .into_iter()
                .map(|(name, quantity)| (name, turned(quantity)));
            Value::List(items.collect())
        }
        _ => Value::Missing,
    }
}

fn arithmetic<'a>(operator: Operator, left: Value<'a>, right: Value<'a>) -> Value<'a> {
    match (left, right) {
        (Value::Number(one), Value::Number(other)) => {
            reckon(operator, one, other).map_or(Value::Missing, Value::Number)
        }
        (Value::Text(one), Value::Text(other)) if operator == Operator::Add => {
            Value::Text(Cow::Owned(format!("{one}{other}")))
        }
        (Value::List(items), Value::Number(other)) => {
            each(items, |_, one| reckon(operator, one, other))
        }
        (Value::Number(one), Value::List(items)) => {
            each(items, |_, other| reckon(operator, one, other))
        }
        (Value::List(items), Value::List(others)) => each(items, |name, one| {
            let other = others.iter().find(|(known, _)| known == name)?;
            reckon(operator, one, other.1)
        }),
        _ => Value::Missing,
    }
}

fn each<'a>(
    items: Vec<(String, Quantity)>,
    of: impl Fn(&str, Quantity) -> Option<Quantity>,
) -> Value<'a> {
    let items = items.into_iter();
    Value::List(
        items
            .filter_map(|(name, quantity)| of(&name, quantity).map(|quantity| (name, quantity)))
            .collect(),
    )
}

fn reckon(operator: Operator, one: Quantity, other: Quantity) -> Option<Quantity> {
    let same = (one.dimension == other.dimension).then_some(one.dimension);
    let (amount, dimension) = match operator {
        Operator::Add => (one.amount + other.amount, same?),
        Operator::Subtract => (one.amount - other.amount, same?),
        Operator::Multiply => (
            one.amount * other.amount,
            one.dimension.times(other.dimension),
        ),
        _ => (
            one.amount / other.amount,
            one.dimension.over(other.dimension),
        ),
    };
    amount.is_finite().then_some(Quantity { amount, dimension })
}

fn comparison<'a>(operator: Operator, left: &Value<'_>, right: &Value<'_>) -> Value<'a> {
    let order = match (left, right) {
        (Value::Number(one), Value::Number(other)) if one.dimension == other.dimension => {
            one.amount.partial_cmp(&other.amount)
        }
        (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
        (Value::Truth(one), Value::Truth(other)) => Some(one.cmp(other)),
        _ => None,
    };
    order.map_or(Value::Missing, |order| {
        Value::Truth(match operator {
            Operator::Less => order == Ordering::Less,
            Operator::AtMost => order != Ordering::Greater,
            Operator::More => order == Ordering::Greater,
            Operator::AtLeast => order != Ordering::Less,
            Operator::Unequal => order != Ordering::Equal,
            _ => order == Ordering::Equal,
        })
    })
}

fn call<'a, S: Scope>(
    function: Function,
    arguments: &'a [ExpressionNode],
    scope: &'a S,
) -> Value<'a> {
    let argument = |n: usize| {
        arguments
            .get(n)
            .map_or(Value::Missing, |of| node(of, scope))
    };
    match function {
        Function::Coalesce => {
            let mut values = arguments.iter().map(|of| node(of, scope));
            values
                .find(|value| !value.is_missing())
                .unwrap_or(Value::Missing)
        }
        Function::If => match argument(0) {
            Value::Truth(true) => argument(1),
            Value::Truth(false) => argument(2),
            _ => Value::Missing,
        },
        Function::Round => round(argument(0), &argument(1)),
        Function::Number => read_number(&argument(0)),
        Function::Duration => read_duration(&argument(0)),
        _ => {
            let mut all = Vec::new();
            for of in arguments {
                match node(of, scope) {
                    Value::Number(quantity) => all.push(quantity),
                    Value::List(items) => {
                        all.extend(items.into_iter().map(|(_, quantity)| quantity));
                    }
                    _ => {}
                }
            }
            gather(function, &all)
        }
    }
}

/// One value of several, those that are missing left out.
fn gather<'a>(function: Function, all: &[Quantity]) -> Value<'a> {
    if function == Function::Count {
        return Value::number(all.len() as f64, Dimension::NUMBER);
    }
    let Some(first) = all.first() else {
        return Value::Missing;
    };
    if all.iter().any(|one| one.dimension != first.dimension) {
        return Value::Missing;
    }
    let amounts = || all.iter().map(|one| one.amount);
    let sum: f64 = amounts().sum();
    let amount = match function {
        Function::Min => amounts().reduce(f64::min),
        Function::Max => amounts().reduce(f64::max),
        Function::Sum => Some(sum),
        Function::Mean => Some(sum / all.len() as f64),
        Function::Median => median(&amounts().collect::<Vec<f64>>()),
        Function::Last => amounts().next_back(),
        _ => Some(first.amount),
    };
    amount.map_or(Value::Missing, |amount| {
        Value::number(amount, first.dimension)
    })
}

fn round<'a>(value: Value<'a>, decimals: &Value<'_>) -> Value<'a> {
    let decimals = match decimals {
        Value::Number(quantity) => quantity.amount.round().clamp(-DECIMALS_MAX, DECIMALS_MAX),
        _ => 0.0,
    };
    let scale = 10_f64.powf(decimals);
    let rounded = |quantity: Quantity| Quantity {
        amount: (quantity.amount * scale).round() / scale,
        ..quantity
    };
    match value {
        Value::Number(quantity) => {
            let rounded = rounded(quantity);
            Value::number(rounded.amount, rounded.dimension)
        }
        Value::List(items) => each(items, |_, quantity| {
            let rounded = rounded(quantity);
            rounded.amount.is_finite().then_some(rounded)
        }),
        _ => Value::Missing,
    }
}

fn read_number<'a>(value: &Value<'_>) -> Value<'a> {
    let Value::Text(text) = value else {
        return Value::Missing;
    };
    let amount: Option<f64> = text.trim().parse().ok();
    amount.map_or(Value::Missing, |amount| {
        Value::number(amount, Dimension::NUMBER)
    })
}

/// `1h30m`, `90s`, `250ms`.
fn read_duration<'a>(value: &Value<'_>) -> Value<'a> {
    let Value::Text(text) = value else {
        return Value::Missing;
    };
    parse_with_units(text.trim()).map_or(Value::Missing, |span| {
        Value::number(span.as_secs_f64(), Dimension::TIME)
    })
}
