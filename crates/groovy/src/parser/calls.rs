//! Parses what follows a value: properties, indexes and calls.
//!
//! Must not know what is called. Invariant: the arguments of a call include its closures.

use super::super::Dialect;
use super::super::ast::{Arguments, Expr, Key};
use super::super::lexer::Kind;
use super::{Parser, RESERVED, Read};

impl Parser<'_> {
    /// A value with everything accessed on it.
    pub(super) fn path(&mut self) -> Read<Expr> {
        let mut value = self.primary()?;
        let mut links = 0_usize;
        loop {
            links += 1;
            if links > 60 {
                return Err(super::unsupported("a chain of calls this long"));
            }
            value = match self.kind() {
                Kind::Sign("." | "?." | "*." | ".@" | "?.@" | "*.@") => self.member(value)?,
                Kind::Sign(".&" | "::") => {
                    self.advance();
                    let name = match self.take_word("new") {
                        true => "new".into(),
                        false => self.name()?,
                    };
                    Expr::Reference(Box::new(value), name)
                }
                Kind::Sign("[") if !self.is_at_line_end() => self.index(value, false)?,
                Kind::Sign("?[") => self.index(value, true)?,
                Kind::Sign("(") if !self.is_at_line_end() => self.call(value)?,
                Kind::Sign("{") if self.takes_closure(&value) => self.call(value)?,
                _ => return Ok(value),
            };
        }
    }

    /// Whether a brace here is a closure argument of a call.
    fn takes_closure(&self, value: &Expr) -> bool {
        let may = self.dialect == Dialect::Groovy && !self.is_at_line_end();
        may && matches!(
            value,
            Expr::Variable(_) | Expr::Property { .. } | Expr::Call { .. }
        )
    }

    fn member(&mut self, of: Expr) -> Read<Expr> {
        let Kind::Sign(sign) = self.kind() else {
            return Err(self.unexpected());
        };
        let (is_safe, is_spread) = (sign.starts_with('?'), sign.starts_with('*'));
        // Fields of `this` are properties here; elsewhere attributes of documents are meant.
        let is_attribute = sign.ends_with('@') && !matches!(of, Expr::This);
        self.advance();
        let name = match self.kind() {
            Kind::Word(word) | Kind::Text(word) if is_attribute => {
                let name = Expr::Text(format!("@{word}").into());
                self.advance();
                name
            }
            Kind::Word(word)
                if self.dialect == Dialect::Groovy
                    || !RESERVED.contains(&&**word)
                    || matches!(&**word, "class" | "length") =>
            {
                let name = Expr::Text(word.clone());
                self.advance();
                name
            }
            Kind::Text(text) => {
                let name = Expr::Text(text.clone());
                self.advance();
                name
            }
            Kind::Composed(_) => self.primary()?,
            Kind::Sign("(") if self.dialect == Dialect::Groovy => {
                self.advance();
                let name = self.within(Self::expression)?;
                self.want_sign(")")?;
                name
            }
            Kind::Sign("<") => {
                self.type_parameters()?;
                Expr::Text(self.name()?)
            }
            _ => return Err(self.unexpected()),
        };
        Ok(Expr::Property {
            of: Box::new(of),
            name: Box::new(name),
            is_safe,
            is_spread,
        })
    }

    fn index(&mut self, of: Expr, is_safe: bool) -> Read<Expr> {
        self.advance();
        let at = self.within(|this| {
            let mut at = Vec::new();
            while !this.is_sign("]") {
                at.push(this.element()?);
                if !this.take_sign(",") {
                    break;
                }
            }
            Ok(at)
        })?;
        self.want_sign("]")?;
        Ok(Expr::Index {
            of: Box::new(of),
            at,
            is_safe,
        })
    }

    /// An item of a list, which may be `*other`.
    pub(super) fn element(&mut self) -> Read<Expr> {
        match self.take_sign("*") {
            true => Ok(Expr::Spread(Box::new(self.expression()?))),
            false => self.expression(),
        }
    }

    /// A call of a value: arguments in parentheses, followed by closures.
    fn call(&mut self, of: Expr) -> Read<Expr> {
        let mut given = match self.take_sign("(") {
            true => {
                let given = self.within(|this| this.arguments(")"))?;
                self.want_sign(")")?;
                given
            }
            false => Arguments::default(),
        };
        while self.dialect == Dialect::Groovy && self.is_sign("{") && !self.is_at_line_end() {
            given.values.push(self.closure()?);
        }
        Ok(called(of, given))
    }

    /// Arguments up to a closing sign, which is not consumed.
    pub(super) fn arguments(&mut self, end: &str) -> Read<Arguments> {
        let mut given = Arguments::default();
        while !self.is_sign(end) {
            self.argument(&mut given)?;
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(given)
    }

    fn argument(&mut self, given: &mut Arguments) -> Read<()> {
        let is_name = matches!(self.kind(), Kind::Word(_) | Kind::Text(_) | Kind::Number(_));
        if is_name && self.is_sign_ahead(1, ":") && self.dialect == Dialect::Groovy {
            let key = match self.kind() {
                Kind::Word(word) | Kind::Text(word) => Key::Name(word.clone()),
                _ => Key::Value(self.primary()?),
            };
            if matches!(key, Key::Name(_)) {
                self.advance();
            }
            self.want_sign(":")?;
            let value = self.expression()?;
            given.named.push((key, value));
            return Ok(());
        }
        let value = self.element()?;
        given.values.push(value);
        Ok(())
    }

    /// An expression, or a call without parentheses such as `log.info "x"`.
    pub(super) fn command_or_expression(&mut self) -> Read<Expr> {
        match self.is_command_ahead() {
            true => self.command(),
            false => self.expression(),
        }
    }

    /// Whether a dotted name is here, followed, after white space, by the first argument of a call without
    /// parentheses.
    fn is_command_ahead(&self) -> bool {
        let is_name =
            |kind: &Kind| matches!(kind, Kind::Word(word) if !RESERVED.contains(&&**word));
        let is_this = matches!(self.kind(), Kind::Word(word) if **word == *"this");
        if self.dialect != Dialect::Groovy || !is_name(self.kind()) && !is_this {
            return false;
        }
        let mut count = 1;
        while matches!(self.ahead(count).kind, Kind::Sign("." | "?."))
            && matches!(self.ahead(count + 1).kind, Kind::Word(_))
        {
            count += 2;
        }
        let next = self.ahead(count);
        if !next.is_apart || next.begins_line && !self.ignores_lines {
            return false;
        }
        match &next.kind {
            Kind::Word(word) => {
                let may = matches!(&**word, "new" | "null" | "true" | "false" | "this");
                may || !RESERVED.contains(&&**word)
            }
            Kind::Text(_) | Kind::Composed(_) | Kind::Number(_) => true,
            _ => false,
        }
    }

    fn command(&mut self) -> Read<Expr> {
        let of = self.path()?;
        let mut given = Arguments::default();
        loop {
            self.argument(&mut given)?;
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(called(of, given))
    }
}

/// A call of a method, or of a value.
fn called(of: Expr, given: Arguments) -> Expr {
    let given = Box::new(given);
    match of {
        Expr::Variable(name) => Expr::Call {
            of: None,
            name: Box::new(Expr::Text(name)),
            given,
            is_safe: false,
            is_spread: false,
        },
        Expr::Property {
            of,
            name,
            is_safe,
            is_spread,
        } => Expr::Call {
            of: Some(of),
            name,
            given,
            is_safe,
            is_spread,
        },
        // A closure after a call that already has parentheses: `f(1) { … }`.
        of => Expr::CallValue {
            of: Box::new(of),
            given,
        },
    }
}
