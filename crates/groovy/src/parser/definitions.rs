//! Parses the classes of a script.
//!
//! Must not know what a class does. Invariant: unsupported parts of a class are reported by name.

use std::sync::Arc;

use super::super::Dialect;
use super::super::ast::{
    Arguments, Block, ClassKind, Code, Definition, Expr, Field, Given, Method, Name, Statement,
    Type,
};
use super::super::lexer::Kind;
use super::statements::MODIFIERS;
use super::{Parser, RESERVED, Read, unsupported};

/// An annotation.
pub(super) struct Annotation {
    pub(super) name: Name,
    /// `includeNames = true`.
    options: Vec<(Name, Expr)>,
}

impl Annotation {
    /// Its name without a package.
    pub(super) fn short(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }

    fn has(&self, option: &str) -> bool {
        let is_true = |value: &Expr| matches!(value, Expr::Truth(true));
        let mut options = self.options.iter();
        options.any(|(name, value)| **name == *option && is_true(value))
    }
}

/// The modifiers of a class member.
#[derive(Default)]
struct Modifiers {
    is_static: bool,
    is_final: bool,
    is_limited: bool,
    is_any: bool,
}

impl Parser<'_> {
    pub(super) fn annotations(&mut self) -> Read<Vec<Annotation>> {
        let mut annotations = Vec::new();
        while self.take_sign("@") {
            let name = self.written_type()?.name;
            let mut options = Vec::new();
            if self.is_sign("(") {
                self.advance();
                options = self.within(Self::options)?;
                self.want_sign(")")?;
            }
            annotations.push(Annotation { name, options });
            while self.take_sign(";") {}
        }
        Ok(annotations)
    }

    fn options(&mut self) -> Read<Vec<(Name, Expr)>> {
        let mut options = Vec::new();
        while !self.is_sign(")") {
            let name = match (self.kind(), self.is_sign_ahead(1, "=")) {
                (Kind::Word(name), true) => {
                    let name = name.clone();
                    self.advance();
                    self.advance();
                    name
                }
                _ => "value".into(),
            };
            options.push((name, self.expression()?));
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(options)
    }

    pub(super) fn is_modifier(&self) -> bool {
        matches!(self.kind(), Kind::Word(word) if MODIFIERS.contains(&&**word))
    }

    /// Whether a class definition follows, after its modifiers.
    pub(super) fn is_definition_ahead(&self) -> bool {
        let word = |count: usize| match &self.ahead(count).kind {
            Kind::Word(word) => Some(word),
            _ => None,
        };
        let mut count = 0;
        while word(count).is_some_and(|word| MODIFIERS.contains(&&**word)) {
            count += 1;
        }
        let is_kind = |word: &Name| matches!(&**word, "class" | "interface" | "enum" | "trait");
        word(count).is_some_and(is_kind) && word(count + 1).is_some()
    }

    /// A class, an interface, a trait or an enum.
    pub(super) fn definition(&mut self, annotations: &[Annotation]) -> Read<Statement> {
        let Kind::Word(word) = self.kind() else {
            return Err(self.unexpected());
        };
        let word = word.clone();
        if self.dialect != Dialect::Groovy {
            return Err(unsupported(format!("{word} definitions")));
        }
        let kind = match &*word {
            "interface" => ClassKind::Interface,
            "trait" => ClassKind::Trait,
            "enum" => ClassKind::Enum,
            _ => ClassKind::Class,
        };
        self.advance();
        let definition = self.deeper(|this| this.definition_behind(kind, annotations))?;
        self.classes.push(Arc::new(definition));
        Ok(Statement::Empty)
    }

    fn definition_behind(
        &mut self,
        kind: ClassKind,
        annotations: &[Annotation],
    ) -> Read<Definition> {
        let name = self.name()?;
        let full = match self.around.last() {
            Some(around) => format!("{around}${name}").into(),
            None => name.clone(),
        };
        if self.is_sign("<") {
            self.type_parameters()?;
        }
        let mut definition = Definition {
            name,
            full,
            kind,
            parent: None,
            interfaces: Vec::new(),
            constants: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            constructors: Vec::new(),
            given: given_by(annotations)?,
        };
        loop {
            match (self.take_word("extends"), kind) {
                (true, ClassKind::Interface) => definition.interfaces.extend(self.types()?),
                (true, _) => definition.parent = Some(self.written_type()?),
                (false, _) if self.take_word("implements") => {
                    definition.interfaces.extend(self.types()?);
                }
                _ => break,
            }
        }
        self.want_sign("{")?;
        self.around.push(definition.full.clone());
        let read = self.in_braces(|this| this.members(&mut definition));
        self.around.pop();
        read?;
        Ok(definition)
    }

    fn members(&mut self, definition: &mut Definition) -> Read<()> {
        if definition.kind == ClassKind::Enum {
            self.constants(definition)?;
        }
        loop {
            while self.take_sign(";") {}
            if self.take_sign("}") {
                return Ok(());
            }
            self.member_of_class(definition)?;
            self.end_statement()?;
        }
    }

    fn constants(&mut self, definition: &mut Definition) -> Read<()> {
        while let Kind::Word(word) = self.kind()
            && !RESERVED.contains(&&**word)
        {
            let behind = self.ahead(1);
            let ends = matches!(behind.kind, Kind::Sign("," | "(" | ";" | "}" | "{"));
            if !ends && !behind.begins_line {
                break;
            }
            let name = self.name()?;
            let mut given = Arguments::default();
            if self.take_sign("(") {
                given = self.within(|this| this.arguments(")"))?;
                self.want_sign(")")?;
            }
            if self.is_sign("{") {
                return Err(unsupported("an enum constant with a body"));
            }
            definition.constants.push((name, given));
            if !self.take_sign(",") {
                break;
            }
        }
        Ok(())
    }

    fn member_of_class(&mut self, definition: &mut Definition) -> Read<()> {
        for annotation in self.annotations()? {
            let known = [
                "Override",
                "Deprecated",
                "SuppressWarnings",
                "CompileStatic",
            ];
            if !known.contains(&annotation.short()) {
                return Err(unsupported(format!("the annotation @{}", annotation.name)));
            }
        }
        if self.is_definition_ahead() {
            while self.is_modifier() {
                self.advance();
            }
            return self.definition(&[]).map(drop);
        }
        let modifiers = self.modifiers();
        if self.is_sign("{") {
            return Err(unsupported("an initializer block of a class"));
        }
        if self.is_sign("<") {
            self.type_parameters()?;
        }
        if self.is_word(&definition.name) && self.is_sign_ahead(1, "(") {
            let name = self.name()?;
            let code = self.method(name, None)?;
            definition.constructors.push(Arc::new(code));
            return Ok(());
        }
        let kind = self.type_of_member(&modifiers)?;
        let name = match self.kind() {
            Kind::Text(name) => {
                let name = name.clone();
                self.advance();
                name
            }
            _ => self.name()?,
        };
        match self.is_sign("(") {
            true => self.method_of_class(definition, name, kind, &modifiers),
            false => self.fields(definition, name, kind.as_ref(), &modifiers),
        }
    }

    fn modifiers(&mut self) -> Modifiers {
        let mut modifiers = Modifiers::default();
        while let Kind::Word(word) = self.kind() {
            match &**word {
                "static" => modifiers.is_static = true,
                "final" => modifiers.is_final = true,
                "private" | "public" | "protected" => modifiers.is_limited = true,
                "synchronized" | "default" | "native" => {}
                word if MODIFIERS.contains(&word) => {}
                _ => break,
            }
            modifiers.is_any = true;
            self.advance();
        }
        modifiers
    }

    /// The type of a member; `None`: any.
    fn type_of_member(&mut self, modifiers: &Modifiers) -> Read<Option<Type>> {
        if self.take_word("def") || self.is_word("var") && self.take_word("var") {
            return Ok(None);
        }
        let kind = self.attempt(|this| {
            let kind = this.written_type()?;
            match this.kind() {
                Kind::Word(word) if !RESERVED.contains(&&**word) => Ok(kind),
                Kind::Text(_) => Ok(kind),
                _ => Err(this.unexpected()),
            }
        });
        match kind {
            None if !modifiers.is_any => Err(self.unexpected()),
            kind => Ok(kind),
        }
    }

    fn method_of_class(
        &mut self,
        definition: &mut Definition,
        name: Name,
        gives: Option<Type>,
        modifiers: &Modifiers,
    ) -> Read<()> {
        let parameters = self.method_head()?;
        let code = match self.is_sign("{") {
            false => None,
            true => Some(Arc::new(Code {
                name: name.clone(),
                parameters: Some(parameters),
                body: self.block()?,
                gives: gives.filter(|kind| *kind.name != *"Object"),
            })),
        };
        definition.methods.push(Method {
            code,
            name,
            is_static: modifiers.is_static,
        });
        Ok(())
    }

    fn fields(
        &mut self,
        definition: &mut Definition,
        name: Name,
        kind: Option<&Type>,
        modifiers: &Modifiers,
    ) -> Read<()> {
        let mut name = name;
        let is_of_interface = definition.kind == ClassKind::Interface;
        loop {
            let value = match self.take_sign("=") {
                true => Some(self.initial_value(kind)?),
                false => None,
            };
            definition.fields.push(Field {
                name,
                kind: kind.cloned(),
                value,
                is_static: modifiers.is_static || is_of_interface,
                is_final: modifiers.is_final || is_of_interface,
                is_property: !modifiers.is_limited,
            });
            if !self.take_sign(",") {
                return Ok(());
            }
            name = self.name()?;
        }
    }
}

/// Makes a declaration with `@Field` global: its variables belong to the script, so that its methods see them.
pub(super) fn of_script(statement: Statement) -> Statement {
    let Statement::Declare { names, .. } = statement else {
        return statement;
    };
    let assigned = |(name, value): (Name, Option<Expr>)| {
        Statement::Expression(Expr::Assign {
            target: Box::new(Expr::Variable(name)),
            operator: None,
            value: Box::new(value.unwrap_or(Expr::Null)),
        })
    };
    Statement::Block(Block {
        statements: names.into_iter().map(assigned).collect(),
        declares: false,
    })
}

/// What annotations add to a class.
fn given_by(annotations: &[Annotation]) -> Read<Given> {
    let mut given = Given::default();
    for annotation in annotations {
        let known_options: &[&str] = match annotation.short() {
            "ToString" => {
                given.is_told = true;
                given.has_names |= annotation.has("includeNames");
                &["includeNames"]
            }
            "EqualsAndHashCode" => {
                given.is_compared = true;
                &[]
            }
            "TupleConstructor" => {
                given.is_made_of_values = true;
                &[]
            }
            name @ ("Canonical" | "Immutable") => {
                given.is_told = true;
                given.is_compared = true;
                given.is_made_of_values = true;
                given.is_constant |= name == "Immutable";
                &[]
            }
            "InheritConstructors" => {
                given.has_constructors_above = true;
                &[]
            }
            "CompileStatic" | "TypeChecked" | "Deprecated" | "SuppressWarnings" => &["value"],
            _ => return Err(unsupported(format!("the annotation @{}", annotation.name))),
        };
        let mut names = annotation.options.iter().map(|(name, _)| name);
        if let Some(option) = names.find(|name| !known_options.contains(&&***name)) {
            let name = &annotation.name;
            return Err(unsupported(format!("{option} of the annotation @{name}")));
        }
    }
    Ok(given)
}
