//! A condition in words, as Groovy's compiler puts it: operators in parentheses, texts without quotes.
//!
//! Must not know values.

use super::super::ast::{Expr, Number};
use super::places::sign_of;

/// The words for an expression; `None`: it has a part without known words.
pub(crate) fn spelled(expression: &Expr) -> Option<String> {
    Some(match expression {
        Expr::Null => "null".to_owned(),
        Expr::Truth(truth) => truth.to_string(),
        Expr::Number(number) => digits(number)?,
        Expr::Char(one) => one.to_string(),
        Expr::Text(text) | Expr::Variable(text) => text.to_string(),
        Expr::List(values) => format!("[{}]", listed(values)?),
        Expr::Not(value) => spelled(value)?,
        Expr::Binary(operator, left, right) => between(left, sign_of(*operator), right)?,
        Expr::And(left, right) => between(left, "&&", right)?,
        Expr::Or(left, right) => between(left, "||", right)?,
        Expr::Chain(first, rest) => {
            let mut told = spelled(first)?;
            for (operator, right) in rest {
                told = format!("({told} {} {})", sign_of(*operator), spelled(right)?);
            }
            told
        }
        Expr::Property {
            of,
            name,
            is_safe: false,
            is_spread: false,
        } => format!("{}.{}", spelled(of)?, spelled(name)?),
        Expr::Index { of, at, .. } => format!("{}[{}]", spelled(of)?, listed(at)?),
        Expr::Call {
            of,
            name,
            given,
            is_safe: false,
            is_spread: false,
        } if given.named.is_empty() => {
            let of = match of {
                Some(of) => spelled(of)?,
                None => "this".to_owned(),
            };
            format!("{of}.{}({})", spelled(name)?, listed(&given.values)?)
        }
        _ => return None,
    })
}

fn between(left: &Expr, sign: &str, right: &Expr) -> Option<String> {
    Some(format!("({} {sign} {})", spelled(left)?, spelled(right)?))
}

fn listed(values: &[Expr]) -> Option<String> {
    let values: Option<Vec<String>> = values.iter().map(spelled).collect();
    Some(values?.join(", "))
}

fn digits(number: &Number) -> Option<String> {
    match number {
        Number::Int(number) => Some(number.to_string()),
        Number::Long(number) => Some(number.to_string()),
        Number::Whole(digits) | Number::Decimal(digits) => Some(digits.to_string()),
        Number::Double(_) | Number::Float(_) => None,
    }
}
