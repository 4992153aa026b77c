//! Parses tokens into statements.
//!
//! Must not know values. Invariant: nesting is limited to [`DEEPEST`]: chains of operators and of calls are
//! flat.

use super::Dialect;
use super::lexer::{Part, Token, tokens};
use super::method_names::Method;
use super::objects::Object;
use super::operators::Operator;

/// Maximum depth of nested brackets.
const DEEPEST: usize = 40;

/// Why a script cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is invalid in its language too.
    Malformed,
    /// It may be valid in its language.
    Unsupported(String),
}

/// A part of a script.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Null,
    Truth(bool),
    Number(String),
    Text(String),
    /// A text that contains scripts.
    Template(Vec<Node>),
    List(Vec<Node>),
    Name(String),
    Object(Object),
    /// `!`, `-`, `+`, `~`, `empty`, `size`.
    Prefix(Prefix, Box<Node>),
    /// The first operand, and the others, each after its operator, from left to right.
    Chain(Box<Node>, Vec<(Operator, Node)>),
    /// Whether all are true, or any.
    All(Vec<Node>),
    Any(Vec<Node>),
    /// Condition, then, else.
    Choice(Box<Node>, Box<Node>, Box<Node>),
    /// The value, or another one if it is false (`?:`) or null (`??`).
    Else(Box<Node>, Box<Node>, bool),
    /// A chain of calls, indexes and properties on a value.
    Steps(Box<Node>, Vec<Step>),
    Assign(String, Box<Node>),
    Block(Vec<Node>),
    Return(Box<Node>),
}

/// A prefix operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Prefix {
    Not,
    Minus,
    Plus,
    Complement,
    Empty,
    Size,
}

/// A postfix of a value.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A method with its arguments; `true`: null-safe.
    Call(Method, Vec<Node>, bool),
    /// A property by its name; `true`: null-safe.
    Property(String, bool),
    Index(Node),
}

/// Parses a script.
pub(super) fn parse(source: &str, dialect: Dialect) -> Result<Vec<Node>, Fault> {
    let mut parser = Parser {
        tokens: tokens(source, dialect)?,
        at: 0,
        depth: 0,
        dialect,
    };
    let statements = parser.statements()?;
    match parser.peek() {
        None => Ok(statements),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    dialect: Dialect,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Some(Token::Sign(next)) if *next == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let taken = self.is_sign(sign);
        self.at += usize::from(taken);
        taken
    }

    fn wants(&mut self, sign: &str) -> Result<(), Fault> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(next)) if next == word)
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let taken = self.is_word(word);
        self.at += usize::from(taken);
        taken
    }

    /// A word that is not a keyword here.
    fn word(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// The fault of the next token: unbalanced brackets, a comma outside of them, an early end and two operands
    /// in a row are invalid in both languages, and JEXL 2 has no signs other than those parsed here.
    fn unexpected(&self) -> Fault {
        match self.peek() {
            None | Some(Token::Sign(")" | "]" | "}" | ",")) => Fault::Malformed,
            Some(Token::Number(_) | Token::Text(_)) => Fault::Malformed,
            Some(Token::Word(word)) => Fault::Unsupported(word.clone()),
            Some(Token::Sign(sign)) => match self.dialect == Dialect::Jexl2 && !"{=".contains(sign)
            {
                true => Fault::Malformed,
                false => Fault::Unsupported((*sign).to_owned()),
            },
        }
    }

    fn statements(&mut self) -> Result<Vec<Node>, Fault> {
        let mut statements = Vec::new();
        loop {
            while self.takes(";") {}
            if self.peek().is_none() || self.is_sign("}") {
                return Ok(statements);
            }
            let statement = self.statement()?;
            let block = matches!(statement, Node::Choice(..) | Node::Block(_));
            statements.push(statement);
            let ended = self.peek().is_none() || self.is_sign(";") || self.is_sign("}") || block;
            if !ended {
                return Err(self.unexpected());
            }
        }
    }

    fn statement(&mut self) -> Result<Node, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::Unsupported(format!(
                "nesting of more than {DEEPEST}"
            )));
        }
        let statement = self.statement_within();
        self.depth -= 1;
        statement
    }

    fn statement_within(&mut self) -> Result<Node, Fault> {
        if self.takes_word("return") {
            let value = match self.peek() {
                None | Some(Token::Sign(";" | "}")) => Node::Null,
                Some(_) => self.expression()?,
            };
            return Ok(Node::Return(Box::new(value)));
        }
        if self.takes_word("if") {
            self.wants("(")?;
            let condition = self.expression()?;
            self.wants(")")?;
            let then = self.block()?;
            let otherwise = match self.has_else() {
                true => self.block()?,
                false => Node::Null,
            };
            return Ok(Node::Choice(
                condition.into(),
                then.into(),
                otherwise.into(),
            ));
        }
        let declared = self.is_word("var");
        let named = matches!(self.tokens.get(self.at + 1), Some(Token::Word(_)));
        if declared && named && matches!(self.tokens.get(self.at + 2), Some(Token::Sign("="))) {
            self.at += 1;
        }
        if let Some(Token::Word(name)) = self.peek()
            && self.tokens.get(self.at + 1) == Some(&Token::Sign("="))
        {
            let name = name.clone();
            self.at += 2;
            let value = self.expression()?;
            return Ok(Node::Assign(name, value.into()));
        }
        self.expression()
    }

    /// Whether the other branch of a condition follows, with or without a separator.
    fn has_else(&mut self) -> bool {
        let before = self.at;
        while self.takes(";") {}
        let found = self.takes_word("else");
        if !found {
            self.at = before;
        }
        found
    }

    fn block(&mut self) -> Result<Node, Fault> {
        if !self.takes("{") {
            return self.statement();
        }
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::Unsupported(format!(
                "nesting of more than {DEEPEST}"
            )));
        }
        let statements = self.statements()?;
        self.depth -= 1;
        self.wants("}")?;
        Ok(Node::Block(statements))
    }

    pub(super) fn expression(&mut self) -> Result<Node, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::Unsupported(format!(
                "nesting of more than {DEEPEST}"
            )));
        }
        let condition = self.any()?;
        let node = if self.takes("?") {
            let then = self.expression()?;
            self.wants(":")?;
            let otherwise = self.expression()?;
            Node::Choice(condition.into(), then.into(), otherwise.into())
        } else if self.takes("?:") {
            Node::Else(condition.into(), self.expression()?.into(), false)
        } else if self.dialect == Dialect::Jexl3 && self.takes("??") {
            Node::Else(condition.into(), self.expression()?.into(), true)
        } else {
            condition
        };
        self.depth -= 1;
        Ok(node)
    }

    fn any(&mut self) -> Result<Node, Fault> {
        let mut terms = vec![self.all()?];
        while self.takes("||") || self.takes_word("or") {
            terms.push(self.all()?);
        }
        Ok(single(terms, Node::Any))
    }

    fn all(&mut self) -> Result<Node, Fault> {
        let mut terms = vec![self.chain(0)?];
        while self.takes("&&") || self.takes_word("and") {
            terms.push(self.chain(0)?);
        }
        Ok(single(terms, Node::All))
    }

    /// Operands separated by operators of a level, which bind less tightly than those of the next one.
    fn chain(&mut self, level: usize) -> Result<Node, Fault> {
        let first = self.operand(level)?;
        let mut others = Vec::new();
        while let Some(operator) = self.operator(level) {
            others.push((operator, self.operand(level)?));
        }
        Ok(chained(first, others))
    }

    fn operand(&mut self, level: usize) -> Result<Node, Fault> {
        if level == Operator::LEVELS {
            self.prefixed()
        } else {
            self.chain(level + 1)
        }
    }

    /// Consumes an operator of a level.
    fn operator(&mut self, level: usize) -> Option<Operator> {
        let (operator, of) = match self.peek()? {
            Token::Sign(sign) => Operator::by_sign(sign, self.dialect)?,
            Token::Word(word) => Operator::by_word(word)?,
            _ => return None,
        };
        (of == level).then(|| {
            self.at += 1;
            operator
        })
    }

    fn prefixed(&mut self) -> Result<Node, Fault> {
        let prefix = match self.peek() {
            Some(Token::Sign("!")) => Prefix::Not,
            Some(Token::Sign("-")) => Prefix::Minus,
            Some(Token::Sign("+")) => Prefix::Plus,
            Some(Token::Sign("~")) => Prefix::Complement,
            Some(Token::Word(word)) if word == "not" => Prefix::Not,
            Some(Token::Word(word)) if word == "empty" => Prefix::Empty,
            Some(Token::Word(word)) if word == "size" => Prefix::Size,
            _ => return self.stepped(),
        };
        let bracket = self.tokens.get(self.at + 1) == Some(&Token::Sign("("));
        if prefix == Prefix::Size && self.dialect == Dialect::Jexl2 && !bracket {
            return Err(Fault::Malformed);
        }
        self.at += 1;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Fault::Unsupported(format!(
                "nesting of more than {DEEPEST}"
            )));
        }
        let operand = self.prefixed()?;
        self.depth -= 1;
        Ok(Node::Prefix(prefix, operand.into()))
    }

    /// An operand with its postfixes.
    fn stepped(&mut self) -> Result<Node, Fault> {
        let base = self.primary()?;
        let mut steps = Vec::new();
        loop {
            let safe = self.is_sign("?.");
            if safe || self.is_sign(".") {
                self.at += 1;
                let name = self.word()?;
                let object = match &base {
                    Node::Object(object) if steps.is_empty() => Some(*object),
                    _ => None,
                };
                steps.push(match self.takes("(") {
                    true => self.called(&name, object, safe)?,
                    false => Step::Property(name, safe),
                });
            } else if self.takes("[") {
                steps.push(Step::Index(self.expression()?));
                self.wants("]")?;
            } else if steps.is_empty() {
                return Ok(base);
            } else {
                return Ok(Node::Steps(base.into(), steps));
            }
        }
    }

    /// The call of a method, on an object if it is known.
    fn called(&mut self, name: &str, object: Option<Object>, safe: bool) -> Result<Step, Fault> {
        let method = Method::named(name);
        let method = method.filter(|method| object.is_none_or(|object| object.has(*method)));
        let method = method.ok_or(Fault::Unsupported(format!("{name}()")))?;
        let arguments = self.listed(")")?;
        match method.takes(arguments.len()) {
            true => Ok(Step::Call(method, arguments, safe)),
            false => Err(Fault::Unsupported(format!(
                "{name}() with {} arguments",
                arguments.len()
            ))),
        }
    }

    /// Comma-separated expressions, up to a bracket.
    fn listed(&mut self, end: &str) -> Result<Vec<Node>, Fault> {
        let mut list = Vec::new();
        if self.takes(end) {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if self.takes(end) {
                return Ok(list);
            }
            self.wants(",")?;
        }
    }

    fn primary(&mut self) -> Result<Node, Fault> {
        let token = self.peek().cloned().ok_or(Fault::Malformed)?;
        self.at += 1;
        match token {
            Token::Number(text) => Ok(Node::Number(text)),
            Token::Text(parts) => self.text(parts),
            Token::Word(word) => self.named(word),
            Token::Sign("[") => Ok(Node::List(self.listed("]")?)),
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.wants(")")?;
                Ok(inner)
            }
            Token::Sign(_) => {
                self.at -= 1;
                Err(self.unexpected())
            }
        }
    }

    fn text(&mut self, parts: Vec<Part>) -> Result<Node, Fault> {
        let mut nodes = Vec::new();
        for part in parts {
            nodes.push(match part {
                Part::Literal(text) => Node::Text(text),
                Part::Script(source) => {
                    if self.depth >= DEEPEST {
                        return Err(Fault::Unsupported(format!(
                            "nesting of more than {DEEPEST}"
                        )));
                    }
                    let mut inner = Parser {
                        tokens: tokens(&source, self.dialect)?,
                        at: 0,
                        depth: self.depth + 1,
                        dialect: self.dialect,
                    };
                    let node = inner.expression()?;
                    if inner.peek().is_some() {
                        return Err(inner.unexpected());
                    }
                    node
                }
            });
        }
        match nodes.len() {
            1 => Ok(nodes.swap_remove(0)),
            _ => Ok(Node::Template(nodes)),
        }
    }

    /// The node for a word.
    fn named(&mut self, word: String) -> Result<Node, Fault> {
        match word.as_str() {
            "true" => return Ok(Node::Truth(true)),
            "false" => return Ok(Node::Truth(false)),
            "null" => return Ok(Node::Null),
            "new" => {
                let class = self.word()?;
                return Err(Fault::Unsupported(format!("new {class}")));
            }
            _ => {}
        }
        let calls = self.is_sign("(");
        if calls || is_keyword(&word) {
            return Err(Fault::Unsupported(if calls {
                format!("{word}()")
            } else {
                word
            }));
        }
        let object = Object::named(&word);
        Ok(object.map_or(Node::Name(word), Node::Object))
    }
}

/// Whether a word starts an unsupported construct.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "for" | "while" | "foreach" | "function" | "do" | "var"
    )
}

fn single(mut terms: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Node {
    match terms.len() {
        1 => terms.swap_remove(0),
        _ => join(terms),
    }
}

fn chained(first: Node, others: Vec<(Operator, Node)>) -> Node {
    match others.is_empty() {
        true => first,
        false => Node::Chain(first.into(), others),
    }
}
