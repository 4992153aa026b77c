//! An expression as it was understood: a tree over numbered paths.
//!
//! Must not know values. Invariant: every number of a path in the tree is one of the list that the expression was
//! bound to, its own at first.

use std::fmt;
use std::str::FromStr;

use super::function::Function;
use super::lexer::{write_quantity, write_text};
use super::path::{Path, RowField};
use super::value::{Quantity, ValueKind};
use super::{ParseError, parser};

/// The separator between two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
}

impl Operator {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::Less => "<",
            Operator::AtMost => "<=",
            Operator::More => ">",
            Operator::AtLeast => ">=",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
        }
    }

    pub(super) fn is_comparison(self) -> bool {
        !matches!(
            self,
            Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Divide
        )
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ExpressionNode {
    Number(Quantity),
    Text(String),
    /// A path of the row itself, by its number.
    Path(usize),
    /// A path of another row: the number of its name, and that of the path.
    Other(usize, usize),
    Negative(Box<ExpressionNode>),
    Pair(Operator, Box<ExpressionNode>, Box<ExpressionNode>),
    Call(Function, Vec<ExpressionNode>),
}

/// A parsed column expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    pub(super) root: ExpressionNode,
    pub(super) paths: Vec<Path>,
    pub(super) rows: Vec<String>,
    /// Numbers of the rows that it names itself.
    pub(super) others: Vec<usize>,
    pub(super) is_measured: bool,
    pub(super) kind: ValueKind,
}

impl Expression {
    /// The static kind of its value.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        self.kind
    }

    /// The paths that it uses, in the order of their numbers.
    #[must_use]
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// The other rows that it uses (`row("…")`): an identity, or `label=value`.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        &self.rows
    }

    /// Whether any part of it differs between runs.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.is_measured
    }

    /// Whether it is a figure of the run, or the first available of several: such a number is never negative.
    #[must_use]
    pub fn is_figure(&self) -> bool {
        self.root.is_figure(&self.paths)
    }

    /// Whether it uses the first available of several alternatives.
    #[must_use]
    pub fn has_alternatives(&self) -> bool {
        self.root.has_alternatives()
    }

    /// Whether it has a value for every row: one of its alternatives is a constant or the row's own name.
    #[must_use]
    pub fn always_says(&self) -> bool {
        let ExpressionNode::Call(Function::Coalesce, arguments) = &self.root else {
            return false;
        };
        arguments.iter().any(|argument| match argument {
            ExpressionNode::Number(_) | ExpressionNode::Text(_) => true,
            ExpressionNode::Path(path) => self.paths[*path] == Path::Row(RowField::Id),
            _ => false,
        })
    }

    /// The numbers of the other rows that it uses, among those to which it was bound.
    #[must_use]
    pub fn others(&self) -> &[usize] {
        &self.others
    }

    /// Renumbers its paths and rows by common lists, adding those that are missing.
    pub fn bind(&mut self, paths: &mut Vec<Path>, rows: &mut Vec<String>) {
        let path_numbers: Vec<usize> = self.paths.iter().map(|path| number(paths, path)).collect();
        let row_numbers: Vec<usize> = self.rows.iter().map(|row| number(rows, row)).collect();
        renumber(&mut self.root, &path_numbers, &row_numbers);
        for other in &mut self.others {
            *other = row_numbers[*other];
        }
        self.paths.clone_from(paths);
        self.rows.clone_from(rows);
    }
}

impl ExpressionNode {
    fn is_figure(&self, paths: &[Path]) -> bool {
        match self {
            ExpressionNode::Path(path) => matches!(paths[*path], Path::Run(_)),
            ExpressionNode::Call(Function::Coalesce, arguments) => {
                arguments.iter().all(|argument| argument.is_figure(paths))
            }
            _ => false,
        }
    }

    fn has_alternatives(&self) -> bool {
        match self {
            ExpressionNode::Call(function, arguments) => {
                *function == Function::Coalesce
                    || arguments.iter().any(ExpressionNode::has_alternatives)
            }
            ExpressionNode::Negative(of) => of.has_alternatives(),
            ExpressionNode::Pair(_, one, other) => {
                one.has_alternatives() || other.has_alternatives()
            }
            ExpressionNode::Number(_)
            | ExpressionNode::Text(_)
            | ExpressionNode::Path(_)
            | ExpressionNode::Other(..) => false,
        }
    }
}

fn number<T: Clone + PartialEq>(all: &mut Vec<T>, wanted: &T) -> usize {
    let known = all.iter().position(|known| known == wanted);
    known.unwrap_or_else(|| {
        all.push(wanted.clone());
        all.len() - 1
    })
}

fn renumber(node: &mut ExpressionNode, paths: &[usize], rows: &[usize]) {
    match node {
        ExpressionNode::Number(_) | ExpressionNode::Text(_) => {}
        ExpressionNode::Path(path) => *path = paths[*path],
        ExpressionNode::Other(row, path) => {
            *row = rows[*row];
            *path = paths[*path];
        }
        ExpressionNode::Negative(inner) => renumber(inner, paths, rows),
        ExpressionNode::Pair(_, left, right) => {
            renumber(left, paths, rows);
            renumber(right, paths, rows);
        }
        ExpressionNode::Call(_, arguments) => {
            for argument in arguments {
                renumber(argument, paths, rows);
            }
        }
    }
}

impl FromStr for Expression {
    type Err = ParseError;

    fn from_str(source: &str) -> Result<Expression, ParseError> {
        parser::expression(source)
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &self.root)
    }
}

impl Expression {
    fn write(&self, f: &mut fmt::Formatter<'_>, node: &ExpressionNode) -> fmt::Result {
        match node {
            ExpressionNode::Number(quantity) => write_quantity(f, *quantity),
            ExpressionNode::Text(text) => write_text(f, text),
            ExpressionNode::Path(path) => write!(f, "{}", self.paths[*path]),
            ExpressionNode::Other(row, path) => {
                f.write_str("row(")?;
                write_text(f, &self.rows[*row])?;
                write!(f, ").{}", self.paths[*path])
            }
            ExpressionNode::Negative(inner) => {
                f.write_str("-")?;
                self.write(f, inner)
            }
            ExpressionNode::Pair(operator, left, right) => {
                f.write_str("(")?;
                self.write(f, left)?;
                write!(f, " {} ", operator.sign())?;
                self.write(f, right)?;
                f.write_str(")")
            }
            ExpressionNode::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (n, argument) in arguments.iter().enumerate() {
                    f.write_str(if n > 0 { ", " } else { "" })?;
                    self.write(f, argument)?;
                }
                f.write_str(")")
            }
        }
    }
}
