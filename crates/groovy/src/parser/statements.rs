//! Parses statements.
//!
//! Must not know what they do. Invariant: an unsupported statement is reported by name.

use std::sync::Arc;

use super::super::Dialect;
use super::super::ast::{Block, Case, Catch, Expr, Name, Statement, Type};
use super::super::lexer::Kind;
use super::definitions::of_script;
use super::{Parser, RESERVED, Read, unsupported};

pub(super) const MODIFIERS: &[&str] = &[
    "abstract",
    "final",
    "static",
    "private",
    "public",
    "protected",
    "transient",
    "volatile",
];

impl Parser<'_> {
    pub(super) fn statement(&mut self) -> Read<Statement> {
        self.deeper(Self::statement_here)
    }

    fn statement_here(&mut self) -> Read<Statement> {
        match self.kind() {
            Kind::Sign("{") => {
                return match self.dialect {
                    Dialect::Groovy if self.is_closure_ahead() => self.expression_statement(),
                    _ => Ok(Statement::Block(self.block()?)),
                };
            }
            Kind::Sign(";") => return Ok(Statement::Empty),
            Kind::Sign("@") => return self.annotated(),
            Kind::Sign("(") if self.is_assigned_together() => return self.assigned_together(),
            Kind::Word(_) => {}
            _ => return self.expression_statement(),
        }
        let Kind::Word(word) = self.kind() else {
            return self.expression_statement();
        };
        let word = word.clone();
        if self.is_sign_ahead(1, ":") && !RESERVED.contains(&&*word) {
            self.advance();
            self.advance();
            let labelled = self.statement()?;
            return Ok(Statement::Labelled(word, Box::new(labelled)));
        }
        match &*word {
            "if" => self.if_statement(),
            "while" => self.while_statement(),
            "do" => self.do_statement(),
            "for" => self.for_statement(),
            "switch" => self.switch_statement(),
            "try" => self.try_statement(),
            "throw" => {
                self.advance();
                Ok(Statement::Throw(self.expression()?))
            }
            "return" => {
                self.advance();
                Ok(Statement::Return(self.value_of_return()?))
            }
            "break" | "continue" => {
                self.advance();
                let label = match self.kind() {
                    Kind::Word(_) if !self.is_at_line_end() => Some(self.name()?),
                    _ => None,
                };
                Ok(match &*word {
                    "break" => Statement::Break(label),
                    _ => Statement::Continue(label),
                })
            }
            "assert" => self.assert_statement(),
            "import" => self.import(),
            "package" => {
                self.advance();
                self.written_type()?;
                Ok(Statement::Empty)
            }
            "class" | "interface" | "enum" | "trait" => self.definition(&[]),
            "synchronized" if self.is_sign_ahead(1, "(") => {
                self.advance();
                self.condition()?;
                Ok(Statement::Block(self.block()?))
            }
            _ => self.declaration_or_expression(),
        }
    }

    /// Whether `(a, b) =` follows.
    fn is_assigned_together(&self) -> bool {
        let mut count = 1;
        while matches!(self.ahead(count).kind, Kind::Word(_) | Kind::Sign(",")) && count < 40 {
            count += 1;
        }
        self.dialect == Dialect::Groovy
            && count > 3
            && self.is_sign_ahead(count, ")")
            && self.is_sign_ahead(count + 1, "=")
    }

    fn assigned_together(&mut self) -> Read<Statement> {
        self.advance();
        let mut targets = Vec::new();
        while !self.take_sign(")") {
            targets.push(Expr::Variable(self.name()?));
            self.take_sign(",");
        }
        self.want_sign("=")?;
        let value = Box::new(self.expression()?);
        Ok(Statement::Expression(Expr::AssignMany { targets, value }))
    }

    fn annotated(&mut self) -> Read<Statement> {
        let annotations = self.annotations()?;
        while self.is_definition_ahead() && self.is_modifier() {
            self.advance();
        }
        if self.is_definition_ahead() {
            return self.definition(&annotations);
        }
        let of_variables = |name: &str| {
            matches!(
                name,
                "Field" | "SuppressWarnings" | "CompileStatic" | "Deprecated"
            )
        };
        match annotations.iter().find(|one| !of_variables(one.short())) {
            Some(other) => Err(unsupported(format!("the annotation @{}", other.name))),
            None => {
                let statement = self.statement()?;
                let is_field = annotations.iter().any(|one| one.short() == "Field");
                Ok(if is_field {
                    of_script(statement)
                } else {
                    statement
                })
            }
        }
    }

    fn value_of_return(&mut self) -> Read<Option<Expr>> {
        let is_bare =
            self.is_sign(";") || self.is_sign("}") || self.is_end() || self.is_at_line_end();
        match is_bare {
            true => Ok(None),
            false => Ok(Some(self.expression()?)),
        }
    }

    /// A condition in parentheses.
    fn condition(&mut self) -> Read<Expr> {
        self.want_sign("(")?;
        let condition = self.within(Self::expression)?;
        self.want_sign(")")?;
        Ok(condition)
    }

    /// The body of a conditional statement or a loop.
    fn body(&mut self) -> Read<Box<Statement>> {
        let outer = std::mem::replace(&mut self.declares, false);
        let body = match self.is_sign("{") {
            true => Statement::Block(self.block()?),
            false => self.statement()?,
        };
        self.declares = outer;
        Ok(Box::new(body))
    }

    fn if_statement(&mut self) -> Read<Statement> {
        self.advance();
        let condition = self.condition()?;
        let then = self.body()?;
        let before = self.at;
        while self.take_sign(";") {}
        if self.take_word("else") {
            let other = self.body()?;
            return Ok(Statement::If(condition, then, Some(other)));
        }
        self.at = before;
        Ok(Statement::If(condition, then, None))
    }

    fn while_statement(&mut self) -> Read<Statement> {
        self.advance();
        let condition = self.condition()?;
        Ok(Statement::While {
            condition,
            body: self.body()?,
            is_do: false,
        })
    }

    fn do_statement(&mut self) -> Read<Statement> {
        self.advance();
        let body = self.body()?;
        while self.take_sign(";") {}
        if !self.take_word("while") {
            return Err(self.unexpected());
        }
        Ok(Statement::While {
            condition: self.condition()?,
            body,
            is_do: true,
        })
    }

    fn for_statement(&mut self) -> Read<Statement> {
        self.advance();
        self.want_sign("(")?;
        let outer = std::mem::replace(&mut self.declares, false);
        let statement = self.within(|this| match this.attempt(Self::for_in_head) {
            Some((name, kind)) => {
                let over = this.expression()?;
                Ok(Statement::ForIn {
                    name,
                    kind,
                    over,
                    body: Box::new(Statement::Empty),
                })
            }
            None => this.classic_head(),
        })?;
        self.want_sign(")")?;
        let inner = match self.is_sign(";") {
            true => Box::new(Statement::Empty),
            false => self.body()?,
        };
        self.declares = outer;
        Ok(match statement {
            Statement::ForIn {
                name, kind, over, ..
            } => Statement::ForIn {
                name,
                kind,
                over,
                body: inner,
            },
            Statement::For {
                start,
                condition,
                each,
                ..
            } => Statement::For {
                start,
                condition,
                each,
                body: inner,
            },
            other => other,
        })
    }

    /// `def x in` or `String x :`.
    fn for_in_head(&mut self) -> Read<(Name, Option<Type>)> {
        self.take_word("final");
        let is_var = self.is_word("var")
            && matches!(&self.ahead(1).kind, Kind::Word(next) if **next != *"in");
        let kind = match self.take_word("def") || is_var && self.take_word("var") {
            true => None,
            false => self.attempt(|this| {
                let kind = this.written_type()?;
                match this.kind() {
                    Kind::Word(word) if **word != *"in" => Ok(kind),
                    _ => Err(this.unexpected()),
                }
            }),
        };
        let name = self.name()?;
        match self.take_word("in") || self.take_sign(":") {
            true => Ok((name, kind)),
            false => Err(self.unexpected()),
        }
    }

    fn classic_head(&mut self) -> Read<Statement> {
        let mut start = Vec::new();
        while !self.is_sign(";") {
            start.push(self.declaration_or_expression()?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.want_sign(";")?;
        let condition = match self.is_sign(";") {
            true => None,
            false => Some(self.expression()?),
        };
        self.want_sign(";")?;
        let mut each = Vec::new();
        while !self.is_sign(")") {
            each.push(self.expression()?);
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(Statement::For {
            start,
            condition,
            each,
            body: Box::new(Statement::Empty),
        })
    }

    fn switch_statement(&mut self) -> Read<Statement> {
        self.advance();
        let value = self.condition()?;
        self.want_sign("{")?;
        let cases = self.in_braces(|this| {
            let mut cases = Vec::new();
            while this.take_sign(";") {}
            while !this.take_sign("}") {
                let value = match this.take_word("default") {
                    true => None,
                    false if this.take_word("case") => Some(this.expression()?),
                    false => return Err(this.unexpected()),
                };
                this.want_sign(":")?;
                cases.push(Case {
                    value,
                    body: this.statements_of_case()?,
                });
            }
            Ok(cases)
        })?;
        Ok(Statement::Switch(value, cases))
    }

    fn statements_of_case(&mut self) -> Read<Vec<Statement>> {
        let mut body = Vec::new();
        while self.take_sign(";") {}
        while !(self.is_word("case") || self.is_word("default") || self.is_sign("}")) {
            body.push(self.statement()?);
            self.end_statement()?;
        }
        Ok(body)
    }

    fn try_statement(&mut self) -> Read<Statement> {
        self.advance();
        let mut resources = Vec::new();
        if self.take_sign("(") {
            resources = self.within(|this| {
                let mut resources = Vec::new();
                while !this.is_sign(")") {
                    resources.push(this.declaration_or_expression()?);
                    while this.take_sign(";") {}
                }
                Ok(resources)
            })?;
            self.want_sign(")")?;
        }
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.take_word("catch") {
            self.want_sign("(")?;
            let (kinds, name) = self.within(Self::caught)?;
            self.want_sign(")")?;
            catches.push(Catch {
                kinds,
                name,
                body: self.block()?,
            });
        }
        let last = match self.take_word("finally") {
            true => Some(self.block()?),
            false => None,
        };
        if catches.is_empty() && last.is_none() && resources.is_empty() {
            return Err(self.unexpected());
        }
        Ok(Statement::Try {
            resources,
            body,
            catches,
            last,
        })
    }

    fn caught(&mut self) -> Read<(Vec<Type>, Name)> {
        self.take_word("final");
        self.take_word("def");
        if self.is_sign_ahead(1, ")") {
            return Ok((Vec::new(), self.name()?));
        }
        let mut kinds = vec![self.written_type()?];
        while self.take_sign("|") {
            kinds.push(self.written_type()?);
        }
        Ok((kinds, self.name()?))
    }

    fn assert_statement(&mut self) -> Read<Statement> {
        let [start, from] = [self.at, self.at + 1].map(|at| self.tokens[at].at);
        self.advance();
        let condition = self.expression()?;
        let to = self.tokens[self.at - 1].end;
        let text = self.source.get(from..to).unwrap_or_default().into();
        let written = self.source.get(start..to).unwrap_or_default().lines();
        let written: Vec<&str> = written.map(str::trim).collect();
        let message = match self.take_sign(":") || self.take_sign(",") {
            true => Some(self.expression()?),
            false => None,
        };
        Ok(Statement::Assert {
            condition,
            message,
            text,
            written: written.join(" ").into(),
        })
    }

    fn import(&mut self) -> Read<Statement> {
        self.advance();
        let is_static = self.take_word("static");
        let mut path = String::new();
        loop {
            match self.kind() {
                Kind::Word(word) => path.push_str(word),
                Kind::Sign("*") => path.push('*'),
                _ => return Err(self.unexpected()),
            }
            self.advance();
            if !self.take_sign(".") {
                break;
            }
            path.push('.');
        }
        let last: Name = path.rsplit('.').next().unwrap_or_default().into();
        let name = match self.take_word("as") {
            true => self.name()?,
            false => last,
        };
        let path = match is_static {
            true => format!("static {path}"),
            false => path,
        };
        self.imports.push((name, path.into()));
        Ok(Statement::Empty)
    }

    /// A declaration, a method definition, or an expression.
    pub(super) fn declaration_or_expression(&mut self) -> Read<Statement> {
        let mut is_declared = false;
        while let Kind::Word(word) = self.kind()
            && MODIFIERS.contains(&&**word)
        {
            is_declared = true;
            self.advance();
        }
        if is_declared && self.is_definition_ahead() {
            return self.definition(&[]);
        }
        if is_declared && self.is_sign("<") {
            self.type_parameters()?;
        }
        let is_var = self.is_word("var") && matches!(self.ahead(1).kind, Kind::Word(_));
        if self.is_word("def") || is_var {
            self.advance();
            return self.declared(None);
        }
        let kind = self.attempt(|this| {
            let kind = this.written_type()?;
            let ends = |this: &Self| {
                let next = this.ahead(1);
                let in_line = this.dialect == Dialect::BeanShell || !next.begins_line;
                match &next.kind {
                    Kind::Sign("=" | ";" | "," | ")" | "}" | "(" | ":" | "[") | Kind::End => true,
                    Kind::Word(word) => **word == *"in" || !in_line,
                    _ => !in_line,
                }
            };
            let is_there = match this.kind() {
                Kind::Word(word) if !this.is_at_line_end() => {
                    !RESERVED.contains(&&**word) && ends(this) && Self::looks_like_class(&kind.name)
                }
                _ => false,
            };
            match is_there {
                true => Ok(kind),
                false => Err(this.unexpected()),
            }
        });
        match kind {
            Some(kind) => self.declared(Some(kind)),
            None if is_declared => self.declared(None),
            None => self.method_of_bean_shell_or_expression(),
        }
    }

    /// BeanShell allows method definitions without a type: `twice(x) { … }`.
    fn method_of_bean_shell_or_expression(&mut self) -> Read<Statement> {
        if self.dialect == Dialect::BeanShell && self.is_sign_ahead(1, "(") {
            let method = self.attempt(|this| {
                let name = this.name()?;
                this.method(name, None)
            });
            if let Some(method) = method {
                return Ok(Statement::Method(Arc::new(method)));
            }
        }
        self.expression_statement()
    }

    /// The declaration after a type or `def`.
    fn declared(&mut self, kind: Option<Type>) -> Read<Statement> {
        if kind.is_none() && self.is_sign("(") {
            return self.declared_together();
        }
        // `def int x` and `static String f()` are followed by a type.
        if kind.is_none() {
            let behind = self.attempt(|this| {
                let kind = this.written_type()?;
                match this.kind() {
                    Kind::Word(word) if !RESERVED.contains(&&**word) => Ok(kind),
                    _ => Err(this.unexpected()),
                }
            });
            if behind.is_some() {
                return self.declared(behind);
            }
        }
        if let Kind::Text(name) = self.kind() {
            let name = name.clone();
            self.advance();
            return Ok(Statement::Method(Arc::new(self.method(name, kind)?)));
        }
        let name = self.name()?;
        if self.is_sign("(") {
            return Ok(Statement::Method(Arc::new(self.method(name, kind)?)));
        }
        self.declares = true;
        let mut names = Vec::new();
        let mut name = name;
        let mut kind = kind;
        loop {
            while self.is_sign("[") && self.is_sign_ahead(1, "]") {
                self.advance();
                self.advance();
                if let Some(kind) = &mut kind {
                    kind.dimensions += 1;
                }
            }
            let value = match self.take_sign("=") {
                true => Some(self.initial_value(kind.as_ref())?),
                false => None,
            };
            names.push((name, value));
            if !self.take_sign(",") {
                break;
            }
            name = self.name()?;
        }
        Ok(Statement::Declare { kind, names })
    }

    /// A value after `=`; Java's array literals may be written in braces.
    pub(super) fn initial_value(&mut self, kind: Option<&Type>) -> Read<Expr> {
        match kind {
            Some(kind) if kind.dimensions > 0 && self.is_sign("{") => {
                let values = self.values_in_braces()?;
                Ok(Expr::NewArray {
                    class: kind.clone(),
                    lengths: Vec::new(),
                    values: Some(values),
                })
            }
            _ => self.expression(),
        }
    }

    fn declared_together(&mut self) -> Read<Statement> {
        self.advance();
        let parameters = self.within(|this| this.parameters(")"))?;
        let names = parameters.into_iter().map(|one| (one.name, one.kind));
        let names = names.collect();
        self.want_sign(")")?;
        self.want_sign("=")?;
        self.declares = true;
        Ok(Statement::DeclareMany {
            names,
            value: self.expression()?,
        })
    }

    fn expression_statement(&mut self) -> Read<Statement> {
        Ok(Statement::Expression(self.command_or_expression()?))
    }

    /// Statements of a closure, after its parameters.
    pub(super) fn closure_body(&mut self) -> Read<Block> {
        self.block_behind_brace()
    }
}
