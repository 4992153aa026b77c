//! The tree of a parsed template.
//!
//! Must not know text or values beyond constants. Invariant: every node has its line number, and every name in
//! it is defined at that point.

use std::rc::Rc;

use super::value::Value;

/// A piece of a template.
#[derive(Debug)]
pub(super) enum Node {
    Text(String),
    Action(Pipe),
    If(Branch),
    With(Branch),
    Range(Branch),
    Template {
        line: usize,
        name: String,
        data: Option<Pipe>,
    },
    Break,
    Continue,
}

/// A pipeline that decides, what it guards, and what stands in its place.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) pipe: Pipe,
    pub(super) body: Vec<Node>,
    pub(super) otherwise: Vec<Node>,
}

/// Commands, each given the result of the one before it.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) line: usize,
    pub(super) variables: Vec<String>,
    /// Whether the variables exist already (`=`), or are made here (`:=`).
    pub(super) assigns: bool,
    pub(super) commands: Vec<Command>,
}

/// An operand and its arguments.
#[derive(Debug)]
pub(super) struct Command {
    pub(super) line: usize,
    pub(super) head: Operand,
    pub(super) arguments: Vec<Operand>,
}

/// What stands for one value.
#[derive(Debug)]
pub(super) enum Operand {
    Dot,
    Nil,
    Constant(Value),
    Field(Vec<Rc<str>>),
    Variable(String, Vec<Rc<str>>),
    Function(Function),
    Pipe(Box<Pipe>),
    /// Fields of a parenthesised pipeline.
    Chain(Box<Operand>, Vec<Rc<str>>),
}

/// A function by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Or,
    Not,
    Html,
    Js,
    UrlQuery,
    Index,
    Slice,
    Len,
    Print,
    Printf,
    Println,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// One of the host's.
    Host(&'static str),
}

impl Function {
    /// The built-in function of that name, with the fewest and most arguments it takes.
    pub(super) fn built_in(name: &str) -> Option<(Function, usize, Option<usize>)> {
        Some(match name {
            "and" => (Function::And, 1, None),
            "or" => (Function::Or, 1, None),
            "not" => (Function::Not, 1, Some(1)),
            "html" => (Function::Html, 0, None),
            "js" => (Function::Js, 0, None),
            "urlquery" => (Function::UrlQuery, 0, None),
            "index" => (Function::Index, 1, None),
            "slice" => (Function::Slice, 1, Some(4)),
            "len" => (Function::Len, 1, Some(1)),
            "print" => (Function::Print, 0, None),
            "printf" => (Function::Printf, 1, None),
            "println" => (Function::Println, 0, None),
            "eq" => (Function::Eq, 2, None),
            "ne" => (Function::Ne, 2, Some(2)),
            "lt" => (Function::Lt, 2, Some(2)),
            "le" => (Function::Le, 2, Some(2)),
            "gt" => (Function::Gt, 2, Some(2)),
            "ge" => (Function::Ge, 2, Some(2)),
            _ => return None,
        })
    }
}
