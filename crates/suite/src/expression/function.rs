//! Types of functions and operators, checked before any value exists.
//!
//! Must not know values. Invariant: what is refused here could never have had a value.

use super::dimension::Dimension;
use super::node::Operator;
use super::value::ValueKind;

/// What can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Sum,
    Mean,
    Median,
    Count,
    First,
    Last,
    Coalesce,
    Round,
    If,
    Number,
    Duration,
}

const NAMES: [(Function, &str); 13] = [
    (Function::Min, "min"),
    (Function::Max, "max"),
    (Function::Sum, "sum"),
    (Function::Mean, "mean"),
    (Function::Median, "median"),
    (Function::Count, "count"),
    (Function::First, "first"),
    (Function::Last, "last"),
    (Function::Coalesce, "coalesce"),
    (Function::Round, "round"),
    (Function::If, "if"),
    (Function::Number, "number"),
    (Function::Duration, "duration"),
];

/// Maximum decimals that `round` keeps.
pub(super) const DECIMALS_MAX: f64 = 12.0;

impl Function {
    pub(super) fn named(name: &str) -> Option<Function> {
        let found = NAMES.iter().find(|(_, known)| *known == name);
        found.map(|(function, _)| *function)
    }

    pub(super) fn name(self) -> &'static str {
        let found = NAMES.iter().find(|(function, _)| *function == self);
        found.map_or("", |(_, name)| name)
    }

    /// The kind of its result for arguments of these kinds.
    ///
    /// # Errors
    /// It does not accept them; says why.
    pub(super) fn kind(self, arguments: &[ValueKind]) -> Result<ValueKind, String> {
        let name = self.name();
        match (self, arguments) {
            (_, []) => Err(format!("{name} needs a value between its brackets")),
            (Function::Coalesce, kinds) => kinds[1..].iter().try_fold(kinds[0], |one, other| {
                either(one, *other).map_err(|why| format!("{name} {why}"))
            }),
            (Function::If, [condition, yes, no]) => {
                if !matches!(condition, ValueKind::Truth | ValueKind::Any) {
                    return Err("if begins with a condition, such as run.failed > 0".to_owned());
                }
                either(*yes, *no).map_err(|why| format!("{name} {why}"))
            }
            (Function::If, _) => Err("if takes a condition and two values".to_owned()),
            (Function::Round, [value]) => round(*value),
            (Function::Round, [value, ValueKind::Number(_) | ValueKind::Any]) => round(*value),
            (Function::Round, _) => Err("round takes a number and how many decimals".to_owned()),
            (Function::Number, [ValueKind::Text | ValueKind::Any]) => {
                Ok(ValueKind::Number(Some(Dimension::NUMBER)))
            }
            (Function::Duration, [ValueKind::Text | ValueKind::Any]) => {
                Ok(ValueKind::Number(Some(Dimension::TIME)))
            }
            (Function::Number | Function::Duration, _) => {
                Err(format!("{name} reads words, such as {name}(label.size)"))
            }
            (Function::Count, kinds) => {
                numbers(name, kinds)?;
                Ok(ValueKind::Number(Some(Dimension::NUMBER)))
            }
            (_, kinds) => numbers(name, kinds).map(ValueKind::Number),
        }
    }
}

pub(super) fn unknown(name: &str) -> String {
    let known: Vec<&str> = NAMES.iter().map(|(_, known)| *known).collect();
    format!(
        "there is no function `{name}`; use {}, row or speedup",
        known.join(", ")
    )
}

fn round(value: ValueKind) -> Result<ValueKind, String> {
    match value.dimension() {
        Some(Dimension::TIME | Dimension::BYTES | Dimension::BYTE_RATE) => Err(format!(
            "round takes no {}; say the decimals in the format, where the unit is",
            value.name()
        )),
        _ => numbers("round", &[value]).map(|dimension| match value {
            ValueKind::List(_) => ValueKind::List(dimension),
            _ => ValueKind::Number(dimension),
        }),
    }
}

/// The one dimension of all arguments; `None` where that of one is not known, which may be the only one that has a value.
fn numbers(name: &str, kinds: &[ValueKind]) -> Result<Option<Dimension>, String> {
    let mut known: Option<Dimension> = None;
    for kind in kinds {
        match kind {
            ValueKind::Truth | ValueKind::Text => {
                return Err(format!(
                    "{name} takes numbers and lists, not {}; number(…) reads words",
                    kind.name()
                ));
            }
            ValueKind::Number(_) | ValueKind::List(_) | ValueKind::Any => {}
        }
        known = match (known, kind.dimension()) {
            (Some(one), Some(other)) if one != other => {
                return Err(format!(
                    "{name} takes values of one unit, not {one} and {other}"
                ));
            }
            (one, other) => one.or(other),
        };
    }
    let are_known = kinds.iter().all(|kind| kind.dimension().is_some());
    Ok(known.filter(|_| are_known))
}

/// What one of two values is.
fn either(one: ValueKind, other: ValueKind) -> Result<ValueKind, String> {
    let dimension = |one: Option<Dimension>, other: Option<Dimension>| match (one, other) {
        (Some(one), Some(other)) if one != other => {
            Err(format!("takes values of one unit, not {one} and {other}"))
        }
        (Some(one), Some(_)) => Ok(Some(one)),
        _ => Ok(None),
    };
    match (one, other) {
        (ValueKind::Number(one), ValueKind::Number(other)) => {
            dimension(one, other).map(ValueKind::Number)
        }
        (ValueKind::List(one), ValueKind::List(other)) => {
            dimension(one, other).map(ValueKind::List)
        }
        (one, other) if one == other => Ok(one),
        _ => Ok(ValueKind::Any),
    }
}

/// The result of an operator.
///
/// # Errors
/// It does not accept such values; says why.
pub(super) fn pair_kind(
    operator: Operator,
    left: ValueKind,
    right: ValueKind,
) -> Result<ValueKind, String> {
    if operator.is_comparison() {
        return comparison_kind(operator, left, right);
    }
    let (one, other) = (left.dimension(), right.dimension());
    let dimension = match operator {
        Operator::Add | Operator::Subtract => match (one, other) {
            (Some(one), Some(other)) if one != other => {
                return Err(format!(
                    "{one} and {other} have no {}; give both one unit",
                    if operator == Operator::Add {
                        "sum"
                    } else {
                        "difference"
                    }
                ));
            }
            (one, other) => one.or(other),
        },
        Operator::Multiply => one.zip(other).map(|(one, other)| one.times(other)),
        _ => one.zip(other).map(|(one, other)| one.over(other)),
    };
    match (left, right) {
        (ValueKind::Text, ValueKind::Text) if operator == Operator::Add => Ok(ValueKind::Text),
        (ValueKind::Any, _) | (_, ValueKind::Any) => Ok(ValueKind::Any),
        (ValueKind::Text | ValueKind::Truth, other)
        | (other, ValueKind::Text | ValueKind::Truth) => Err(format!(
            "`{}` takes numbers; number(…) reads words, and {} cannot be used in arithmetic",
            operator.sign(),
            if matches!(left, ValueKind::Text | ValueKind::Truth) {
                left.name()
            } else {
                other.name()
            }
        )),
        (ValueKind::Number(_), ValueKind::Number(_)) => Ok(ValueKind::Number(dimension)),
        _ => Ok(ValueKind::List(dimension)),
    }
}

fn comparison_kind(
    operator: Operator,
    left: ValueKind,
    right: ValueKind,
) -> Result<ValueKind, String> {
    let is_equality = matches!(operator, Operator::Equal | Operator::Unequal);
    match (left, right) {
        (ValueKind::Number(Some(one)), ValueKind::Number(Some(other))) if one != other => {
            Err(format!(
                "{one} is not comparable with {other}; give the number a unit, such as 200ms, 1GiB or 100rps"
            ))
        }
        (ValueKind::List(_), _) | (_, ValueKind::List(_)) => {
            Err("a list is not comparable; take its max, min or sum".to_owned())
        }
        (ValueKind::Text, ValueKind::Text) | (ValueKind::Truth, ValueKind::Truth)
            if is_equality =>
        {
            Ok(ValueKind::Truth)
        }
        (ValueKind::Number(_) | ValueKind::Any, ValueKind::Number(_) | ValueKind::Any) => {
            Ok(ValueKind::Truth)
        }
        (ValueKind::Any, _) | (_, ValueKind::Any) if is_equality => Ok(ValueKind::Truth),
        _ => Err(format!(
            "{} is not comparable with {}",
            left.name(),
            right.name()
        )),
    }
}
