//! The grammar of expressions.
//!
//! Must not know documents. Invariant: the nesting depth of an expression is limited.

use super::functions;
use super::lexer::{Token, split};

/// Maximum depth of nested brackets and parentheses.
const DEEPEST: usize = 60;

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Binary(&'static str, Box<Expression>, Box<Expression>),
    Negative(Box<Expression>),
    Text(String),
    Number(f64),
    Call(String, Vec<Expression>),
    /// Steps from the document's root (`true`) or from the current node.
    Path(bool, Vec<Step>),
    /// Predicates and steps after another expression.
    Filter(Box<Expression>, Vec<Expression>, Vec<Step>),
}

/// A step of a path.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) axis: Axis,
    pub(super) test: Test,
    pub(super) predicates: Vec<Expression>,
    /// Whether, without namespace support, a name is compared as written, with its prefix.
    pub(super) by_written_name: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    Itself,
    Attribute,
    FollowingSibling,
    PrecedingSibling,
    Following,
    Preceding,
}

const AXES: [(&str, Axis); 12] = [
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("parent", Axis::Parent),
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("self", Axis::Itself),
    ("attribute", Axis::Attribute),
    ("following-sibling", Axis::FollowingSibling),
    ("preceding-sibling", Axis::PrecedingSibling),
    ("following", Axis::Following),
    ("preceding", Axis::Preceding),
];

/// Selects nodes of an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Name(Option<String>, String),
    AnyNode,
    Text,
    Comment,
    Instruction,
}

/// Operators by increasing precedence.
const LEVELS: [&[&str]; 7] = [
    &["or"],
    &["and"],
    &["=", "!=", "eq", "ne"],
    &["<", "<=", ">", ">=", "lt", "le", "gt", "ge"],
    &["+", "-"],
    &["*", "div", "mod", "idiv"],
    &["|"],
];

pub(super) fn parse(text: &str) -> Result<Expression, String> {
    if text.trim().is_empty() {
        return Err("Empty expression!".to_owned());
    }
    let mut parser = Parser {
        tokens: split(text)?,
        at: 0,
        depth: 0,
    };
    let expression = parser.level(0)?;
    match parser.tokens.get(parser.at) {
        None => Ok(expression),
        Some(_) => {
            let rest = parser.tokens[parser.at..].iter();
            let rest: Vec<String> = rest.map(|token| format!("'{token}'")).collect();
            Err(format!("Extra illegal tokens: {}", rest.join(", ")))
        }
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Operator(one)) if *one == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.is(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), String> {
        if self.takes(sign) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(token) => format!("Expected {sign}, but found: {token}"),
            None => format!("Expected {sign}, but reached the end"),
        })
    }

    fn level(&mut self, level: usize) -> Result<Expression, String> {
        let Some(operators) = LEVELS.get(level) else {
            return self.path();
        };
        if level == LEVELS.len() - 1 {
            return self.unary(operators);
        }
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.level(level + 1)?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let Some(Token::Operator(sign)) = self.peek() else {
            return None;
        };
        let found = operators.iter().find(|one| *one == sign).copied();
        self.at += usize::from(found.is_some());
        found
    }

    fn unary(&mut self, union: &[&'static str]) -> Result<Expression, String> {
        let mut negative = false;
        while self.takes("-") {
            negative = !negative;
        }
        let mut left = self.path()?;
        while let Some(operator) = self.operator(union) {
            let right = self.path()?;
            left = Expression::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(if negative {
            Expression::Negative(Box::new(left))
        } else {
            left
        })
    }

    fn path(&mut self) -> Result<Expression, String> {
        let primary = match self.peek() {
            Some(Token::Text(text)) => Expression::Text(text.clone()),
            Some(Token::Number(number)) => Expression::Number(*number),
            Some(Token::Variable) => return Err("Variables are not resolvable".to_owned()),
            Some(Token::Function(name)) if kind_of(name).is_none() => {
                let name = name.clone();
                return self.call(name).and_then(|call| self.filtered(call));
            }
            Some(Token::Operator("(")) => {
                self.at += 1;
                let inner = self.deeper(|parser| parser.level(0))?;
                self.expect(")")?;
                return self.filtered(inner);
            }
            _ => return self.location(),
        };
        self.at += 1;
        self.filtered(primary)
    }

    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!("Brackets within each other, more than {DEEPEST}"));
        }
        let made = read(self);
        self.depth -= 1;
        made
    }

    fn call(&mut self, name: String) -> Result<Expression, String> {
        self.at += 1;
        self.expect("(")?;
        let mut arguments = Vec::new();
        if !self.takes(")") {
            loop {
                arguments.push(self.deeper(|parser| parser.level(0))?);
                if self.takes(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        let name = name.strip_prefix("fn:").map(str::to_owned).unwrap_or(name);
        functions::check(&name, arguments.len())?;
        Ok(Expression::Call(name, arguments))
    }

    fn filtered(&mut self, primary: Expression) -> Result<Expression, String> {
        let predicates = self.predicates()?;
        let mut steps = Vec::new();
        if self.takes("//") {
            steps.push(anywhere());
            self.relative(&mut steps)?;
        } else if self.takes("/") {
            self.relative(&mut steps)?;
        }
        if predicates.is_empty() && steps.is_empty() {
            return Ok(primary);
        }
        Ok(Expression::Filter(Box::new(primary), predicates, steps))
    }

    fn location(&mut self) -> Result<Expression, String> {
        let mut steps = Vec::new();
        if self.takes("//") {
            steps.push(anywhere());
            self.relative(&mut steps)?;
            note_written_name(true, &mut steps);
            return Ok(Expression::Path(true, steps));
        }
        let from_root = self.takes("/");
        if !from_root || self.starts_step() {
            self.relative(&mut steps)?;
        }
        note_written_name(from_root, &mut steps);
        Ok(Expression::Path(from_root, steps))
    }

    fn starts_step(&self) -> bool {
        match self.peek() {
            Some(Token::Name(..) | Token::Axis(_)) => true,
            Some(Token::Function(name)) => kind_of(name).is_some(),
            Some(Token::Operator(sign)) => matches!(*sign, "." | ".." | "@"),
            _ => false,
        }
    }

    fn relative(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        loop {
            steps.push(self.step()?);
            if self.takes("//") {
                steps.push(anywhere());
            } else if !self.takes("/") {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<Step, String> {
        for (sign, axis) in [("..", Axis::Parent), (".", Axis::Itself)] {
            if self.takes(sign) {
                let predicates = self.predicates()?;
                return Ok(Step {
                    axis,
                    test: Test::AnyNode,
                    predicates,
                    by_written_name: false,
                });
            }
        }
        let axis = match self.peek() {
            Some(Token::Operator("@")) => Some(Axis::Attribute),
            Some(Token::Axis(name)) => {
                let found = AXES.iter().find(|(one, _)| one == name);
                Some(found.ok_or_else(|| format!("Unknown axis: {name}"))?.1)
            }
            _ => None,
        };
        self.at += usize::from(axis.is_some());
        let test = self.test()?;
        let predicates = self.predicates()?;
        Ok(Step {
            axis: axis.unwrap_or(Axis::Child),
            test,
            predicates,
            by_written_name: false,
        })
    }

    fn test(&mut self) -> Result<Test, String> {
        match self.peek() {
            Some(Token::Name(prefix, local)) => {
                let test = Test::Name(prefix.clone(), local.clone());
                self.at += 1;
                Ok(test)
            }
            Some(Token::Function(name)) => {
                let kind = kind_of(name).ok_or("A location path was expected, but a function was found")?;
                self.at += 1;
                self.expect("(")?;
                if matches!(self.peek(), Some(Token::Text(_) | Token::Name(..))) {
                    self.at += 1;
                }
                self.expect(")")?;
                Ok(kind)
            }
            Some(token) => Err(format!(
                "A location path was expected, but the following token was encountered:  {token}"
            )),
            None => Err(
                "A location path was expected, but the end of the XPath expression was found instead.".to_owned(),
            ),
        }
    }

    fn predicates(&mut self) -> Result<Vec<Expression>, String> {
        let mut predicates = Vec::new();
        while self.takes("[") {
            predicates.push(self.deeper(|parser| parser.level(0))?);
            self.expect("]")?;
        }
        Ok(predicates)
    }
}

/// The meaning of `//`.
fn anywhere() -> Step {
    Step {
        axis: Axis::DescendantOrSelf,
        test: Test::AnyNode,
        predicates: Vec::new(),
        by_written_name: false,
    }
}

/// Marks the name that Xalan compares as written: that of a path for which it scans all descendants at once.
/// All others are evaluated step by step, and compare local names.
fn note_written_name(from_root: bool, steps: &mut [Step]) {
    let count = steps.len() + usize::from(from_root);
    if !(2..=3).contains(&count) || !leads_to_descendants(from_root, steps) {
        return;
    }
    if let Some(last) = steps.last_mut() {
        last.by_written_name = true;
    }
}

fn leads_to_descendants(from_root: bool, steps: &[Step]) -> bool {
    let (mut is_below, mut is_from_self, mut has_either) = (false, false, false);
    let first = usize::from(from_root);
    for (index, step) in steps.iter().enumerate() {
        let number = first + index + 1;
        let is_last = index + 1 == steps.len();
        let is_in_the_way = !is_last && (step.test != Test::AnyNode || !step.predicates.is_empty());
        if is_in_the_way || step.predicates.iter().any(is_positional) {
            return false;
        }
        match step.axis {
            Axis::Child if is_below || has_either && is_from_self => {}
            Axis::DescendantOrSelf | Axis::Descendant if number < 3 => {
                is_below |= step.axis == Axis::DescendantOrSelf;
                has_either = true;
            }
            Axis::Itself if number == 1 => is_from_self = true,
            _ => return false,
        }
    }
    true
}

/// Whether a predicate may ask for a position.
fn is_positional(predicate: &Expression) -> bool {
    match predicate {
        Expression::Number(_) | Expression::Negative(_) => true,
        Expression::Binary("+" | "-" | "*" | "div" | "mod", ..) => true,
        Expression::Binary(_, left, right) => asks_position(left) || asks_position(right),
        other => asks_position(other),
    }
}

fn asks_position(expression: &Expression) -> bool {
    match expression {
        Expression::Call(name, arguments) => {
            matches!(name.as_str(), "position" | "last") || arguments.iter().any(asks_position)
        }
        Expression::Binary(_, left, right) => asks_position(left) || asks_position(right),
        Expression::Negative(inner) => asks_position(inner),
        _ => false,
    }
}

fn kind_of(name: &str) -> Option<Test> {
    match name {
        "node" => Some(Test::AnyNode),
        "text" => Some(Test::Text),
        "comment" => Some(Test::Comment),
        "processing-instruction" => Some(Test::Instruction),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_show_tokens_as_they_are_written() {
        let fault = |text: &str| parse(text).expect_err("it is no expression");
        assert_eq!(
            fault("bad[["),
            "A location path was expected, but the following token was encountered:  ["
        );
        assert_eq!(fault("a) b"), "Extra illegal tokens: ')', 'b'");
    }
}
