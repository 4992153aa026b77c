//! Visits the parts of a script.
//!
//! Must not know their meaning. Invariant: each part is visited once, and its own parts are left to the
//! visitor.

use super::ast::{Arguments, Block, Case, Catch, Code, Definition, Expr, Key, Piece, Statement};

/// A part of a statement or an expression.
pub(crate) enum Part<'p> {
    Expression(&'p Expr),
    Statement(&'p Statement),
    Code(&'p Code),
}

/// The code of a class that a script defines.
pub(crate) fn walk_class(class: &Definition, visit: &mut dyn FnMut(Part<'_>)) {
    for (_, given) in &class.constants {
        walk_arguments(given, visit);
    }
    for value in class.fields.iter().filter_map(|field| field.value.as_ref()) {
        visit(Part::Expression(value));
    }
    let methods = class
        .methods
        .iter()
        .filter_map(|method| method.code.as_ref());
    for code in methods.chain(&class.constructors) {
        visit(Part::Code(code));
    }
}

pub(crate) fn walk_block(block: &Block, visit: &mut dyn FnMut(Part<'_>)) {
    for statement in &block.statements {
        visit(Part::Statement(statement));
    }
}

pub(crate) fn walk_statement(statement: &Statement, visit: &mut dyn FnMut(Part<'_>)) {
    match statement {
        Statement::Expression(value) | Statement::Throw(value) | Statement::Return(Some(value)) => {
            visit(Part::Expression(value));
        }
        Statement::Declare { names, .. } => {
            for value in names.iter().filter_map(|(_, value)| value.as_ref()) {
                visit(Part::Expression(value));
            }
        }
        Statement::DeclareMany { value, .. } => visit(Part::Expression(value)),
        Statement::Method(code) => visit(Part::Code(code)),
        Statement::If(condition, then, other) => {
            visit(Part::Expression(condition));
            visit(Part::Statement(then));
            if let Some(other) = other {
                visit(Part::Statement(other));
            }
        }
        Statement::While {
            condition, body, ..
        } => {
            visit(Part::Expression(condition));
            visit(Part::Statement(body));
        }
        Statement::ForIn { over, body, .. } => {
            visit(Part::Expression(over));
            visit(Part::Statement(body));
        }
        Statement::Labelled(_, inner) => visit(Part::Statement(inner)),
        Statement::Assert {
            condition, message, ..
        } => {
            visit(Part::Expression(condition));
            if let Some(message) = message {
                visit(Part::Expression(message));
            }
        }
        Statement::Block(block) => walk_block(block, visit),
        Statement::For { .. } | Statement::Switch(..) | Statement::Try { .. } => {
            walk_longer(statement, visit);
        }
        Statement::Return(None)
        | Statement::Break(_)
        | Statement::Continue(_)
        | Statement::Empty => {}
    }
}

/// Statements with many parts.
fn walk_longer(statement: &Statement, visit: &mut dyn FnMut(Part<'_>)) {
    match statement {
        Statement::For {
            start,
            condition,
            each,
            body,
        } => {
            for one in start {
                visit(Part::Statement(one));
            }
            for one in condition.iter().chain(each) {
                visit(Part::Expression(one));
            }
            visit(Part::Statement(body));
        }
        Statement::Switch(value, cases) => {
            visit(Part::Expression(value));
            for Case { value, body } in cases {
                if let Some(value) = value {
                    visit(Part::Expression(value));
                }
                body.iter().for_each(|one| visit(Part::Statement(one)));
            }
        }
        Statement::Try {
            resources,
            body,
            catches,
            last,
        } => {
            resources.iter().for_each(|one| visit(Part::Statement(one)));
            walk_block(body, visit);
            for Catch { body, .. } in catches {
                walk_block(body, visit);
            }
            if let Some(last) = last {
                walk_block(last, visit);
            }
        }
        _ => {}
    }
}

fn walk_arguments(given: &Arguments, visit: &mut dyn FnMut(Part<'_>)) {
    for (key, value) in &given.named {
        if let Key::Value(key) = key {
            visit(Part::Expression(key));
        }
        visit(Part::Expression(value));
    }
    for value in &given.values {
        visit(Part::Expression(value));
    }
}

pub(crate) fn walk_expression(expression: &Expr, visit: &mut dyn FnMut(Part<'_>)) {
    let mut all = |values: &[&Expr]| values.iter().for_each(|one| visit(Part::Expression(one)));
    match expression {
        Expr::Not(one)
        | Expr::Negative(one)
        | Expr::Positive(one)
        | Expr::Complement(one)
        | Expr::Spread(one)
        | Expr::Reference(one, _) => all(&[one]),
        Expr::Step { target, .. } => all(&[target]),
        Expr::Cast { value, .. } | Expr::InstanceOf { value, .. } => all(&[value]),
        Expr::Binary(_, one, other)
        | Expr::And(one, other)
        | Expr::Or(one, other)
        | Expr::Elvis(one, other) => all(&[one, other]),
        Expr::Range { from, to, .. } => all(&[from, to]),
        Expr::Ternary(one, two, three) => all(&[one, two, three]),
        Expr::Assign { target, value, .. } | Expr::AssignIfFalse { target, value } => {
            all(&[target, value]);
        }
        Expr::Property { of, name, .. } => all(&[of, name]),
        Expr::Chain(first, rest) => {
            visit(Part::Expression(first));
            rest.iter()
                .for_each(|(_, one)| visit(Part::Expression(one)));
        }
        Expr::List(values) => values.iter().for_each(|one| visit(Part::Expression(one))),
        Expr::AssignMany { targets, value } => {
            targets.iter().for_each(|one| visit(Part::Expression(one)));
            visit(Part::Expression(value));
        }
        Expr::Index { of, at, .. } => {
            visit(Part::Expression(of));
            at.iter().for_each(|one| visit(Part::Expression(one)));
        }
        Expr::Map(entries) => {
            for (key, value) in entries {
                if let Key::Value(key) = key {
                    visit(Part::Expression(key));
                }
                visit(Part::Expression(value));
            }
        }
        Expr::Closure(code) => visit(Part::Code(code)),
        _ => walk_calls(expression, visit),
    }
}

/// Texts with embedded values, and calls.
fn walk_calls(expression: &Expr, visit: &mut dyn FnMut(Part<'_>)) {
    match expression {
        Expr::Composed(pieces) => {
            for piece in pieces {
                if let Piece::Value(value) = piece {
                    visit(Part::Expression(value));
                }
            }
        }
        Expr::Call {
            of, name, given, ..
        } => {
            if let Some(of) = of {
                visit(Part::Expression(of));
            }
            visit(Part::Expression(name));
            walk_arguments(given, visit);
        }
        Expr::CallValue { of, given } => {
            visit(Part::Expression(of));
            walk_arguments(given, visit);
        }
        Expr::New { given, .. } => walk_arguments(given, visit),
        Expr::NewArray {
            lengths, values, ..
        } => {
            lengths
                .iter()
                .chain(values.iter().flatten())
                .for_each(|one| visit(Part::Expression(one)));
        }
        _ => {}
    }
}
