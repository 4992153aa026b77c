//! What an expression comes to: nothing, a quantity, words, a truth, or a quantity for each of several components.
//!
//! Must not know where values come from. Invariant: no quantity is infinite or not a number; such a result is
//! missing.

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

/// What an expression, or a part of one, comes to.
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
    /// A quantity; missing where the amount is not finite.
    #[must_use]
    pub fn number(amount: f64, dimension: Dimension) -> Value<'static> {
        if amount.is_finite() {
            Value::Number(Quantity { amount, dimension })
        } else {
            Value::Missing
        }
    }

    /// Whether there is nothing: no value, no words, or no component.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        match self {
            Value::Missing => true,
            Value::Text(text) => text.is_empty(),
            Value::List(items) => items.is_empty(),
            Value::Number(_) | Value::Truth(_) => false,
        }
    }

    /// The same with its own words.
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

/// What is known of a value before it is there.
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
    /// What it is called in messages.
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

    /// The dimension of a quantity or of the quantities of a list; `None` where it is not known or has none.
    #[must_use]
    pub fn dimension(self) -> Option<Dimension> {
        match self {
            ValueKind::Number(dimension) | ValueKind::List(dimension) => dimension,
            ValueKind::Truth | ValueKind::Text | ValueKind::Any => None,
        }
    }
}
