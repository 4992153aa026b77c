//! Parses values: texts, numbers, lists, maps, closures, new objects.
//!
//! Must not know how they are used. Invariant: a closure's parameters are parsed before its body.

use std::sync::Arc;

use super::super::Dialect;
use super::super::ast::{
    Arguments, Block, Code, Expr, Key, Name, Parameter, Piece, Statement, Type,
};
use super::super::lexer::{Kind, TextPiece, Token};
use super::{PRIMITIVES, Parser, RESERVED, Read, unsupported};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Read<Expr> {
        let kind = self.kind().clone();
        match kind {
            Kind::Number(number) => {
                self.advance();
                Ok(Expr::Number(number))
            }
            Kind::Text(text) => {
                self.advance();
                Ok(Expr::Text(text))
            }
            Kind::Char(one) => {
                self.advance();
                Ok(Expr::Char(one))
            }
            Kind::Composed(pieces) => {
                self.advance();
                self.composed(pieces)
            }
            Kind::Sign("(") if self.is_lambda_ahead() => self.lambda(),
            Kind::Sign("(") => {
                self.advance();
                let value = self.within(Self::command_or_expression)?;
                self.want_sign(")")?;
                Ok(value)
            }
            Kind::Sign("[") if self.dialect == Dialect::Groovy => self.list_or_map(),
            Kind::Sign("{") if self.dialect == Dialect::Groovy => self.closure(),
            Kind::Word(word) => self.word(&word),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, word: &Name) -> Read<Expr> {
        let value = match &**word {
            "null" => Expr::Null,
            "true" => Expr::Truth(true),
            "false" => Expr::Truth(false),
            "this" => Expr::This,
            "new" => {
                self.advance();
                return self.new_object();
            }
            "super" if !self.around.is_empty() => Expr::Super,
            "super" => return Err(unsupported("super")),
            "class" | "interface" | "enum" => {
                return Err(unsupported(format!("{word} definitions")));
            }
            name if PRIMITIVES.contains(&name) => {
                let kind = self.written_type()?;
                return Ok(Expr::Path(kind.name));
            }
            "switch" => return Err(unsupported("a switch expression")),
            name if RESERVED.contains(&name) => return Err(self.unexpected()),
            _ => {
                let is_arrow = self.is_sign_ahead(1, "->") && !self.arrow_ends;
                if is_arrow && self.dialect == Dialect::Groovy {
                    return self.lambda();
                }
                Expr::Variable(word.clone())
            }
        };
        self.advance();
        Ok(value)
    }

    /// Whether `(a, b) ->` follows.
    fn is_lambda_ahead(&self) -> bool {
        let mut count = 1;
        while matches!(
            self.ahead(count).kind,
            Kind::Word(_) | Kind::Sign("," | ".")
        ) && count < 40
        {
            count += 1;
        }
        self.dialect == Dialect::Groovy
            && !self.arrow_ends
            && matches!(self.ahead(count).kind, Kind::Sign(")"))
            && matches!(self.ahead(count + 1).kind, Kind::Sign("->"))
    }

    /// `x -> …` and `(x, y) -> …`, which are closures too.
    fn lambda(&mut self) -> Read<Expr> {
        self.deeper(|this| {
            let parameters = match this.take_sign("(") {
                true => {
                    let parameters = this.within(|this| this.parameters(")"))?;
                    this.advance();
                    parameters
                }
                false => vec![Parameter {
                    name: this.name()?,
                    kind: None,
                    default: None,
                    takes_rest: false,
                }],
            };
            this.want_sign("->")?;
            let body = match this.is_sign("{") {
                true => this.block()?,
                false => Block {
                    statements: vec![Statement::Expression(this.expression()?)],
                    declares: false,
                },
            };
            Ok(Expr::Closure(Arc::new(Code {
                name: "".into(),
                parameters: Some(parameters),
                body,
                gives: None,
            })))
        })
    }

    fn composed(&mut self, pieces: Vec<TextPiece>) -> Read<Expr> {
        let mut read = Vec::with_capacity(pieces.len());
        for piece in pieces {
            read.push(match piece {
                TextPiece::Text(text) => Piece::Text(text),
                TextPiece::Path(path) => Piece::Value(value_of_path(path)),
                TextPiece::Code(tokens) => Piece::Value(self.within_text(tokens)?),
            });
        }
        Ok(Expr::Composed(read))
    }

    /// The value of code inside a text.
    fn within_text(&mut self, tokens: Vec<Token>) -> Read<Expr> {
        self.deeper(|this| {
            let before = std::mem::replace(&mut this.tokens, tokens);
            let at = std::mem::replace(&mut this.at, 0);
            let value = this.in_braces(|this| {
                let is_late = this.take_sign("->");
                if this.is_end() {
                    return Ok(Expr::Null);
                }
                let value = this.command_or_expression()?;
                while this.take_sign(";") {}
                match this.is_end() {
                    true if is_late => Ok(Expr::Closure(Arc::new(Code {
                        name: "".into(),
                        parameters: Some(Vec::new()),
                        body: Block {
                            statements: vec![Statement::Expression(value)],
                            declares: false,
                        },
                        gives: None,
                    }))),
                    true => Ok(value),
                    false => Err(unsupported("several statements in a string")),
                }
            });
            this.tokens = before;
            this.at = at;
            value
        })
    }

    fn list_or_map(&mut self) -> Read<Expr> {
        self.deeper(|this| {
            this.advance();
            let value = this.within(|this| {
                if this.is_sign(":") && this.is_sign_ahead(1, "]") {
                    this.advance();
                    return Ok(Expr::Map(Vec::new()));
                }
                let is_map = this.is_sign("*") && this.is_sign_ahead(1, ":")
                    || this.is_sign_ahead(1, ":")
                        && matches!(
                            this.kind(),
                            Kind::Word(_) | Kind::Text(_) | Kind::Number(_) | Kind::Composed(_)
                        );
                match is_map {
                    true => this.map(),
                    false => this.list(),
                }
            })?;
            this.want_sign("]")?;
            Ok(value)
        })
    }

    fn list(&mut self) -> Read<Expr> {
        let mut values = Vec::new();
        while !self.is_sign("]") {
            let value = self.element()?;
            if values.is_empty() && self.is_sign(":") {
                // A parenthesized expression as the key of a map.
                return self.map_behind_key(value);
            }
            values.push(value);
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(Expr::List(values))
    }

    fn map_behind_key(&mut self, key: Expr) -> Read<Expr> {
        self.want_sign(":")?;
        let mut entries = vec![(Key::Value(key), self.expression()?)];
        if self.take_sign(",")
            && let Expr::Map(rest) = self.map()?
        {
            entries.extend(rest);
        }
        Ok(Expr::Map(entries))
    }

    fn map(&mut self) -> Read<Expr> {
        let mut entries = Vec::new();
        while !self.is_sign("]") {
            let key = match self.kind() {
                Kind::Sign("*") => {
                    self.advance();
                    Key::Spread
                }
                Kind::Word(word) | Kind::Text(word) => {
                    let key = Key::Name(word.clone());
                    self.advance();
                    key
                }
                _ => Key::Value(self.primary()?),
            };
            self.want_sign(":")?;
            entries.push((key, self.expression()?));
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(Expr::Map(entries))
    }

    /// Whether the brace here starts a closure with parameters, which may have defaults: any expression without
    /// braces.
    pub(super) fn is_closure_ahead(&self) -> bool {
        let (mut count, mut open) = (1, 0_usize);
        let mut has_default = false;
        loop {
            match &self.ahead(count).kind {
                Kind::Sign("->") if open == 0 => return true,
                Kind::Sign("=") if open == 0 => has_default = true,
                Kind::Sign("," | "." | "[" | "]" | "<" | ">" | ">>" | "?" | "...") => {}
                Kind::Word(_) | Kind::Number(_) | Kind::Text(_) => {}
                Kind::Sign("(") if has_default => open += 1,
                Kind::Sign(")") if open > 0 => open -= 1,
                Kind::Sign(sign) if has_default && !matches!(*sign, "{" | "}" | ";" | ")") => {}
                _ => return false,
            }
            count += 1;
            if count > 60 {
                return false;
            }
        }
    }

    /// A closure.
    pub(super) fn closure(&mut self) -> Read<Expr> {
        self.deeper(|this| {
            let has_parameters = this.is_closure_ahead();
            this.want_sign("{")?;
            this.in_braces(|this| {
                let mut parameters = None;
                if has_parameters {
                    parameters = Some(this.within(|this| this.parameters("->"))?);
                    this.advance();
                }
                let body = this.closure_body()?;
                Ok(Expr::Closure(Arc::new(Code {
                    name: "".into(),
                    parameters,
                    body,
                    gives: None,
                })))
            })
        })
    }

    fn new_object(&mut self) -> Read<Expr> {
        let mut class = self.class_of_new()?;
        if self.is_sign("[") {
            let mut lengths = Vec::new();
            while self.is_sign("[") && !self.is_sign_ahead(1, "]") {
                self.advance();
                lengths.push(self.within(Self::expression)?);
                self.want_sign("]")?;
                class.dimensions += 1;
            }
            while self.is_sign("[") && self.is_sign_ahead(1, "]") {
                self.advance();
                self.advance();
                class.dimensions += 1;
            }
            return Ok(Expr::NewArray {
                class,
                lengths,
                values: None,
            });
        }
        if class.dimensions > 0 {
            let values = Some(self.values_in_braces()?);
            return Ok(Expr::NewArray {
                class,
                lengths: Vec::new(),
                values,
            });
        }
        let given = match self.take_sign("(") {
            true => {
                let given = self.within(|this| this.arguments(")"))?;
                self.want_sign(")")?;
                given
            }
            false => Arguments::default(),
        };
        if self.is_sign("{") && !self.is_at_line_end() {
            return Err(unsupported(format!(
                "an anonymous class (new {}() {{…}})",
                class.name
            )));
        }
        Ok(Expr::New {
            class,
            given: Box::new(given),
        })
    }

    /// The class after `new`; `[1]` after it is a length, not an index.
    fn class_of_new(&mut self) -> Read<Type> {
        self.written_type()
    }

    /// `{1, 2}`, Java's array literal.
    pub(super) fn values_in_braces(&mut self) -> Read<Vec<Expr>> {
        self.deeper(|this| {
            this.want_sign("{")?;
            let values = this.within(|this| {
                let mut values = Vec::new();
                while !this.is_sign("}") {
                    values.push(match this.is_sign("{") {
                        true => Expr::NewArray {
                            class: Type {
                                name: "Object".into(),
                                dimensions: 1,
                            },
                            lengths: Vec::new(),
                            values: Some(this.values_in_braces()?),
                        },
                        false => this.expression()?,
                    });
                    if !this.take_sign(",") {
                        break;
                    }
                }
                Ok(values)
            })?;
            this.want_sign("}")?;
            Ok(values)
        })
    }
}

fn value_of_path(path: Vec<Name>) -> Expr {
    let mut names = path.into_iter();
    let first = names.next().unwrap_or_else(|| "".into());
    let first = if *first == *"this" {
        Expr::This
    } else {
        Expr::Variable(first)
    };
    names.fold(first, |of, name| Expr::Property {
        of: Box::new(of),
        name: Box::new(Expr::Text(name)),
        is_safe: false,
        is_spread: false,
    })
}
