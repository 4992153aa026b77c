//! A parsed script: statements and expressions.
//!
//! Must not know how scripts are parsed or run. Invariant: a tree is no deeper than the parser allows, and
//! never changes.

use std::sync::Arc;

/// A name in a script.
pub(crate) type Name = Arc<str>;

/// Statements between braces, or of a whole script.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) statements: Vec<Statement>,
    /// Whether a variable is declared directly in it, so that it needs its own frame.
    pub(crate) declares: bool,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Type {
    /// Its name, without parameters: `String`, `java.util.List`, `int`.
    pub(crate) name: Name,
    /// Number of bracket pairs after it.
    pub(crate) dimensions: usize,
}

/// A parameter of a method or closure.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: Name,
    pub(crate) kind: Option<Type>,
    pub(crate) default: Option<Expr>,
    /// Whether it takes all remaining arguments (`Object... rest`).
    pub(crate) takes_rest: bool,
}

/// The code of a closure or a method.
#[derive(Debug)]
pub(crate) struct Code {
    /// Empty for a closure.
    pub(crate) name: Name,
    /// `None`: a closure without a parameter list, which has `it`.
    pub(crate) parameters: Option<Vec<Parameter>>,
    pub(crate) body: Block,
    /// Return type of a method; `None`: any.
    pub(crate) gives: Option<Type>,
}

/// The kind of a class in a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClassKind {
    Class,
    Interface,
    Trait,
    Enum,
}

/// A field of a class.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) kind: Option<Type>,
    pub(crate) value: Option<Expr>,
    pub(crate) is_static: bool,
    pub(crate) is_final: bool,
    /// Whether it has no access modifier, so that it has a getter and a setter.
    pub(crate) is_property: bool,
}

/// A method of a class.
#[derive(Debug)]
pub(crate) struct Method {
    /// `None`: it is abstract.
    pub(crate) code: Option<Arc<Code>>,
    pub(crate) name: Name,
    pub(crate) is_static: bool,
}

/// What annotations add to a class.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// `toString` with its values.
    pub(crate) is_told: bool,
    /// `toString` with the names of its values.
    pub(crate) has_names: bool,
    /// `equals` by values.
    pub(crate) is_compared: bool,
    /// A constructor with its values in order.
    pub(crate) is_made_of_values: bool,
    /// Its values cannot change.
    pub(crate) is_constant: bool,
    /// The constructors of its superclass.
    pub(crate) has_constructors_above: bool,
}

/// A class in a script.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) name: Name,
    /// Its name, with those of the enclosing classes.
    pub(crate) full: Name,
    pub(crate) kind: ClassKind,
    /// Its superclass; `None` for an interface.
    pub(crate) parent: Option<Type>,
    /// Interfaces and traits.
    pub(crate) interfaces: Vec<Type>,
    /// The values of an enum.
    pub(crate) constants: Vec<(Name, Arguments)>,
    pub(crate) fields: Vec<Field>,
    pub(crate) methods: Vec<Method>,
    pub(crate) constructors: Vec<Arc<Code>>,
    pub(crate) given: Given,
}

/// A statement.
#[derive(Debug)]
pub(crate) enum Statement {
    Expression(Expr),
    Declare {
        kind: Option<Type>,
        names: Vec<(Name, Option<Expr>)>,
    },
    /// `def (a, b) = list`.
    DeclareMany {
        names: Vec<(Name, Option<Type>)>,
        value: Expr,
    },
    Method(Arc<Code>),
    If(Expr, Box<Statement>, Option<Box<Statement>>),
    While {
        condition: Expr,
        body: Box<Statement>,
        is_do: bool,
    },
    For {
        start: Vec<Statement>,
        condition: Option<Expr>,
        each: Vec<Expr>,
        body: Box<Statement>,
    },
    ForIn {
        name: Name,
        kind: Option<Type>,
        over: Expr,
        body: Box<Statement>,
    },
    Switch(Expr, Vec<Case>),
    Try {
        resources: Vec<Statement>,
        body: Block,
        catches: Vec<Catch>,
        last: Option<Block>,
    },
    Throw(Expr),
    Return(Option<Expr>),
    Break(Option<Name>),
    Continue(Option<Name>),
    Labelled(Name, Box<Statement>),
    Assert {
        condition: Expr,
        message: Option<Expr>,
        /// The condition as written.
        text: Name,
        /// The statement up to the end of the condition, on one line.
        written: Name,
    },
    Block(Block),
    Empty,
}

/// A case of a switch; without a value: the default.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) value: Option<Expr>,
    pub(crate) body: Vec<Statement>,
}

/// A catch clause of a `try`.
#[derive(Debug)]
pub(crate) struct Catch {
    /// Empty: all exceptions.
    pub(crate) kinds: Vec<Type>,
    pub(crate) name: Name,
    pub(crate) body: Block,
}

/// A number as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Int(i32),
    Long(i64),
    /// Digits of an integer that is too long for the other types.
    Whole(Name),
    /// Digits with a point or an exponent.
    Decimal(Name),
    Double(f64),
    Float(f32),
}

/// An operator between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Power,
    LeftShift,
    RightShift,
    UnsignedShift,
    BitAnd,
    BitOr,
    BitXor,
    Equal,
    NotEqual,
    Same,
    NotSame,
    Compare,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Find,
    Match,
    In,
    NotIn,
}

/// A piece of a text with embedded values.
#[derive(Debug)]
pub(crate) enum Piece {
    Text(Name),
    Value(Expr),
}

/// A key in a map literal.
#[derive(Debug)]
pub(crate) enum Key {
    Name(Name),
    Value(Expr),
    /// `*: map`.
    Spread,
}

/// The arguments of a call.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) values: Vec<Expr>,
    /// `name: value`, passed as a map before the other arguments.
    pub(crate) named: Vec<(Key, Expr)>,
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expr {
    Null,
    Truth(bool),
    Number(Number),
    Char(char),
    Text(Name),
    Composed(Vec<Piece>),
    Variable(Name),
    /// A class by its full name, if the path is written out.
    Path(Name),
    This,
    /// The superclass.
    Super,
    List(Vec<Expr>),
    Map(Vec<(Key, Expr)>),
    Range {
        from: Box<Expr>,
        to: Box<Expr>,
        is_open: bool,
    },
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Positive(Box<Expr>),
    /// `~x`.
    Complement(Box<Expr>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// Operators of equal precedence, one after another: the tree does not get deeper with their number.
    Chain(Box<Expr>, Vec<(Operator, Expr)>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Ternary(Box<Expr>, Box<Expr>, Box<Expr>),
    Elvis(Box<Expr>, Box<Expr>),
    Assign {
        target: Box<Expr>,
        operator: Option<Operator>,
        value: Box<Expr>,
    },
    /// `?=`.
    AssignIfFalse {
        target: Box<Expr>,
        value: Box<Expr>,
    },
    AssignMany {
        targets: Vec<Expr>,
        value: Box<Expr>,
    },
    Step {
        target: Box<Expr>,
        is_up: bool,
        is_prefix: bool,
    },
    Property {
        of: Box<Expr>,
        name: Box<Expr>,
        is_safe: bool,
        is_spread: bool,
    },
    Index {
        of: Box<Expr>,
        at: Vec<Expr>,
        is_safe: bool,
    },
    Call {
        of: Option<Box<Expr>>,
        name: Box<Expr>,
        given: Box<Arguments>,
        is_safe: bool,
        is_spread: bool,
    },
    /// A call of an expression's value.
    CallValue {
        of: Box<Expr>,
        given: Box<Arguments>,
    },
    New {
        class: Type,
        given: Box<Arguments>,
    },
    NewArray {
        class: Type,
        lengths: Vec<Expr>,
        values: Option<Vec<Expr>>,
    },
    Cast {
        to: Type,
        value: Box<Expr>,
        is_as: bool,
    },
    InstanceOf {
        value: Box<Expr>,
        class: Type,
        is_not: bool,
    },
    Closure(Arc<Code>),
    /// `x.&name` and `X::name`.
    Reference(Box<Expr>, Name),
    Spread(Box<Expr>),
}
