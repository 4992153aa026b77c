//! The value of an expression: missing, a quantity, text, a boolean, or a quantity per component.
//!
//! Must not know where values come from. Invariant: no quantity is infinite or NaN; such a result is missing.

use std::borrow::Cow;

use super::dimension::Dimension;

/// An amount in the base units of its dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In seconds, bytes, cores, or as it is counted.
    pub amount: f64,
    /// What it measures.
    pub dimension: Dimension,
}

/// The value of an expression, or of a part of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing was measured or written.
    Missing,
    /// A quantity.
    Number(Quantity),
    /// Whether something holds.
    Truth(bool),
    /// Words.
    Text(Cow<'a, str>),
    /// A quantity for each component, by its name, in the order in which they were seen.
    List(Vec<(String, Quantity)>),
}

impl Value<'_> {
    /// A quantity; missing if the amount is not finite.
    #[must_use]
    pub fn number(amount: f64, dimension: Dimension) -> Value<'static> {
        if amount.is_finite() {
            Value::Number(Quantity { amount, dimension })
        } else {
            Value::Missing
        }
    }

    /// Whether it is missing: no value, empty text, or no component.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Value::Missing => true,
            Value::Text(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Number(_) | Value::Truth(_) => false,
        }
    }

    /// The same with owned text.
    #[must_use]
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Missing => Value::Missing,
            Value::Number(quantity) => Value::Number(quantity),
            Value::Truth(truth) => Value::Truth(truth),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Value::List(items) => Value::List(items),
        }
    }
}

/// The static kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A quantity; `None`: of what will be seen.
    Number(Option<Dimension>),
    /// A quantity for each component.
    List(Option<Dimension>),
    /// Whether something holds.
    Truth,
    /// Words.
    Text,
    /// Any of these.
    Any,
}

impl ValueKind {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            ValueKind::Number(Some(dimension)) => dimension.to_string(),
            ValueKind::Number(None) => "a number".to_owned(),
            ValueKind::List(Some(dimension)) => format!("a list of {dimension}"),
            ValueKind::List(None) => "a list".to_owned(),
            ValueKind::Truth => "a condition".to_owned(),
            ValueKind::Text => "words".to_owned(),
            ValueKind::Any => "anything".to_owned(),
        }
    }

    /// The dimension of a quantity or of the quantities in a list; `None` if unknown or none.
    #[must_use]
    pub fn dimension(self) -> Option<Dimension> {
        match self {
            ValueKind::Number(dimension) | ValueKind::List(dimension) => dimension,
            ValueKind::Truth | ValueKind::Text | ValueKind::Any => None,
        }
    }
}
