//! Dotted names in a script, such as `java.util.Date` before it is known to be a class.
//!
//! Must not know classes. Invariant: a path only contains names.

use super::ast::Expr;

/// The dotted name in an expression; `None`: it contains more than names and dots.
pub(crate) fn dotted(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Variable(name) => Some(name.to_string()),
        Expr::Property {
            of,
            name,
            is_safe: false,
            is_spread: false,
        } => match &**name {
            Expr::Text(name) => Some(format!("{}.{name}", dotted(of)?)),
            _ => None,
        },
        _ => None,
    }
}
