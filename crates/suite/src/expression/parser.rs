//! Parses expressions by recursive descent over tokens, with the grammar in the parent module.
//!
//! Must not know values. Invariant: depth and length are bounded, so no text exhausts the stack; every error
//! has a position.

use super::function::{self, Function};
use super::lexer::{self, Placed, Word};
use super::node::{Expression, ExpressionNode, Operator};
use super::path::{Link, Path};
use super::value::ValueKind;
use super::{LENGTH_MAX, ParseError, figures};

/// Parts within parts: far beyond what anybody writes.
const DEPTH_MAX: u32 = 64;

/// In order of what they are tried in.
const COMPARISONS: [Operator; 6] = [
    Operator::AtMost,
    Operator::AtLeast,
    Operator::Less,
    Operator::More,
    Operator::Equal,
    Operator::Unequal,
];

/// A part with what is known of its value.
type TypedNode = (ExpressionNode, ValueKind);

pub(super) fn expression(source: &str) -> Result<Expression, ParseError> {
    if source.len() > LENGTH_MAX {
        let what = format!("an expression has at most {LENGTH_MAX} bytes; shorten it");
        return Err(ParseError::at(source, 0, what));
    }
    let mut parser = Parser {
        source,
        words: lexer::words(source)?,
        next: 0,
        depth: 0,
        paths: Vec::new(),
        rows: Vec::new(),
    };
    if parser.words.is_empty() {
        return Err(ParseError::at(
            source,
            0,
            "there is no expression; name a figure, such as run.rps",
        ));
    }
    let (root, kind) = parser.comparison()?;
    if parser.next < parser.words.len() {
        return Err(
            parser.error("an expression ends before this; put an operator between, or remove it")
        );
    }
    Ok(Expression {
        root,
        is_measured: parser.paths.iter().any(Path::is_measured),
        others: (0..parser.rows.len()).collect(),
        paths: parser.paths,
        rows: parser.rows,
        kind,
    })
}

struct Parser<'a> {
    source: &'a str,
    words: Vec<Placed>,
    next: usize,
    depth: u32,
    paths: Vec<Path>,
    rows: Vec<String>,
}

impl Parser<'_> {
    fn comparison(&mut self) -> Result<TypedNode, ParseError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("this is nested too deep; split it into several columns"));
        }
        let left = self.sum()?;
        let found = COMPARISONS
            .iter()
            .find(|operator| self.takes(operator.sign()));
        let part = match found {
            None => left,
            Some(operator) => {
                let at = self.next - 1;
                let right = self.sum()?;
                self.pair(at, *operator, left, right)?
            }
        };
        self.depth -= 1;
        Ok(part)
    }

    fn sum(&mut self) -> Result<TypedNode, ParseError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.takes("+") {
                Operator::Add
            } else if self.takes("-") {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            let at = self.next - 1;
            let right = self.product()?;
            left = self.pair(at, operator, left, right)?;
        }
    }

    fn product(&mut self) -> Result<TypedNode, ParseError> {
        let mut left = self.sign()?;
        loop {
            let operator = if self.takes("*") {
                Operator::Multiply
            } else if self.takes("/") {
                Operator::Divide
            } else {
                return Ok(left);
            };
            let at = self.next - 1;
            let right = self.sign()?;
            left = self.pair(at, operator, left, right)?;
        }
    }

    fn sign(&mut self) -> Result<TypedNode, ParseError> {
        let at = self.next;
        if !self.takes("-") {
            return self.value();
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("this is nested too deep; remove signs"));
        }
        let (inner, kind) = self.sign()?;
        self.depth -= 1;
        match kind {
            ValueKind::Number(_) | ValueKind::List(_) | ValueKind::Any => {
                Ok((ExpressionNode::Negative(Box::new(inner)), kind))
            }
            ValueKind::Truth | ValueKind::Text => {
                Err(self.error_at(at, &format!("{} has no negative", kind.name())))
            }
        }
    }

    fn value(&mut self) -> Result<TypedNode, ParseError> {
        let at = self.next;
        let Some((_, word)) = self.words.get(at).cloned() else {
            return Err(self.error("something is missing here; name a figure or a number"));
        };
        self.next += 1;
        match word {
            Word::Number(quantity) => Ok((
                ExpressionNode::Number(quantity),
                ValueKind::Number(Some(quantity.dimension)),
            )),
            Word::Text(text) => Ok((ExpressionNode::Text(text), ValueKind::Text)),
            Word::Sign("(") => {
                let inner = self.comparison()?;
                self.expect(")")?;
                Ok(inner)
            }
            Word::Sign(sign) => {
                let what = format!("`{sign}` cannot stand here; name a figure or a number");
                Err(self.error_at(at, &what))
            }
            Word::Name(name) if self.takes("(") => match name.as_str() {
                "row" => self.other_row(at),
                "speedup" => self.speed_up(at),
                _ => self.call(at, &name),
            },
            Word::Name(name) => {
                let path = self.path(at, &name)?;
                let kind = path.kind();
                Ok((ExpressionNode::Path(self.numbered(path)), kind))
            }
        }
    }

    fn call(&mut self, at: usize, name: &str) -> Result<TypedNode, ParseError> {
        let function =
            Function::named(name).ok_or_else(|| self.error_at(at, &function::unknown(name)))?;
        let mut arguments = Vec::new();
        let mut kinds = Vec::new();
        while !self.takes(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            let (node, kind) = self.comparison()?;
            arguments.push(node);
            kinds.push(kind);
        }
        let kind = function
            .kind(&kinds)
            .map_err(|what| self.error_at(at, &what))?;
        Ok((ExpressionNode::Call(function, arguments), kind))
    }

    /// Behind `row(`: the name of a row, and the path that is meant of it.
    fn other_row(&mut self, at: usize) -> Result<TypedNode, ParseError> {
        let row = self.row_name()?;
        self.expect(".")?;
        let Some((_, Word::Name(root))) = self.words.get(self.next).cloned() else {
            return Err(self.error("say which value of the row, such as row(\"a\").run.rps"));
        };
        self.next += 1;
        let path = self.path(at, &root)?;
        let kind = path.kind();
        let path = self.numbered(path);
        Ok((ExpressionNode::Other(row, path), kind))
    }

    /// Behind `speedup(`: the row that this one is held against.
    fn speed_up(&mut self, at: usize) -> Result<TypedNode, ParseError> {
        let Some((_, Word::Name(name))) = self.words.get(self.next).cloned() else {
            return Err(self.error("speedup takes a row, as in speedup(row(\"replicas=1\"))"));
        };
        self.next += 1;
        if name != "row" {
            return Err(self.error_at(
                at,
                "speedup takes a row, as in speedup(row(\"replicas=1\"))",
            ));
        }
        self.expect("(")?;
        let row = self.row_name()?;
        self.expect(")")?;
        let rate = Path::Run(figures::RPS.to_owned());
        let kind = rate.kind();
        let path = self.numbered(rate);
        let here = (ExpressionNode::Path(path), kind);
        self.pair(
            at,
            Operator::Divide,
            here,
            (ExpressionNode::Other(row, path), kind),
        )
    }

    /// Parses the name of a row and the bracket after it; returns the row's number.
    fn row_name(&mut self) -> Result<usize, ParseError> {
        let Some((_, Word::Text(name))) = self.words.get(self.next).cloned() else {
            return Err(self.error("name the row in quotes: its id, or \"label=value\""));
        };
        self.next += 1;
        self.expect(")")?;
        let known = self.rows.iter().position(|row| *row == name);
        Ok(known.unwrap_or_else(|| {
            self.rows.push(name);
            self.rows.len() - 1
        }))
    }

    fn path(&mut self, at: usize, root: &str) -> Result<Path, ParseError> {
        let mut links = Vec::new();
        loop {
            if self.takes(".") {
                let link = match self.words.get(self.next) {
                    Some((_, Word::Name(name))) => Link::Name(name.clone()),
                    Some((_, Word::Sign("*"))) => Link::All,
                    _ => {
                        return Err(
                            self.error("write a name after the dot; put other words in [\"…\"]")
                        );
                    }
                };
                self.next += 1;
                links.push(link);
            } else if self.takes("[") {
                let Some((_, Word::Text(key))) = self.words.get(self.next).cloned() else {
                    return Err(self.error("words in quotes stand in brackets, as in [\"a b\"]"));
                };
                self.next += 1;
                self.expect("]")?;
                links.push(Link::Key(key));
            } else {
                break;
            }
        }
        Path::of(root, &links).map_err(|what| self.error_at(at, &what))
    }

    fn numbered(&mut self, path: Path) -> usize {
        let known = self.paths.iter().position(|known| *known == path);
        known.unwrap_or_else(|| {
            self.paths.push(path);
            self.paths.len() - 1
        })
    }

    fn pair(
        &self,
        at: usize,
        operator: Operator,
        left: TypedNode,
        right: TypedNode,
    ) -> Result<TypedNode, ParseError> {
        let kind = function::pair_kind(operator, left.1, right.1)
            .map_err(|what| self.error_at(at, &what))?;
        Ok((
            ExpressionNode::Pair(operator, Box::new(left.0), Box::new(right.0)),
            kind,
        ))
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found =
            matches!(self.words.get(self.next), Some((_, Word::Sign(next))) if *next == sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.takes(sign) {
            Ok(())
        } else {
            Err(self.error(&format!("`{sign}` is missing here")))
        }
    }

    fn error(&self, what: &str) -> ParseError {
        self.error_at(self.next, what)
    }

    fn error_at(&self, word: usize, what: &str) -> ParseError {
        let place = self.words.get(word).map(|(place, _)| *place);
        ParseError::at(self.source, place.unwrap_or(self.source.len()), what)
    }
}
