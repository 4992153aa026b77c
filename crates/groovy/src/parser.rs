//! Parses a script into statements.
//!
//! Must not know what a script may do. Invariant: parsing terminates, and refuses too deep nesting.

mod calls;
mod definitions;
mod expressions;
mod literals;
mod statements;

use std::sync::Arc;

use super::ast::{Block, Code, Definition, Name, Parameter, Type};
use super::lexer::{self, Kind, Token};
use super::{Dialect, Fault};

/// Maximum depth of nested statements and expressions.
const DEEPEST: usize = 160;

/// Names of types that are not classes.
pub(crate) const PRIMITIVES: &[&str] = &[
    "int", "long", "double", "float", "boolean", "byte", "short", "char", "void",
];

/// Reserved words.
const RESERVED: &[&str] = &[
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "try",
    "catch",
    "finally",
    "throw",
    "return",
    "break",
    "continue",
    "new",
    "instanceof",
    "in",
    "as",
    "def",
    "null",
    "true",
    "false",
    "this",
    "super",
    "import",
    "package",
    "class",
    "interface",
    "enum",
    "trait",
    "assert",
    "static",
    "final",
    "private",
    "public",
    "protected",
    "synchronized",
    "throws",
    "void",
    "int",
    "long",
    "double",
    "float",
    "boolean",
    "byte",
    "short",
    "char",
    "abstract",
    "native",
    "transient",
    "volatile",
    "const",
    "goto",
    "extends",
    "implements",
];

/// A parsed script.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) block: Block,
    /// Imported names, with their meanings; a star for whole packages.
    pub(crate) imports: Vec<(Name, Name)>,
    /// Classes that it defines.
    pub(crate) classes: Vec<Arc<Definition>>,
}

/// Parses a script.
///
/// # Errors
/// It is malformed, or contains an unsupported construct.
pub(crate) fn parse(source: &str, dialect: Dialect) -> Result<Parsed, Fault> {
    let tokens = lexer::read(source, dialect)?;
    let mut parser = Parser {
        source,
        tokens,
        at: 0,
        dialect,
        ignores_lines: dialect == Dialect::BeanShell,
        arrow_ends: false,
        depth: 0,
        declares: false,
        imports: Vec::new(),
        classes: Vec::new(),
        around: Vec::new(),
    };
    let block = parser.script()?;
    Ok(Parsed {
        block,
        imports: parser.imports,
        classes: parser.classes,
    })
}

pub(crate) struct Parser<'s> {
    source: &'s str,
    tokens: Vec<Token>,
    at: usize,
    dialect: Dialect,
    /// Whether line ends have no meaning here.
    ignores_lines: bool,
    /// Whether an arrow ends a closure's parameters here, so that it makes no lambda.
    arrow_ends: bool,
    depth: usize,
    /// Whether the current block declares a variable.
    declares: bool,
    imports: Vec<(Name, Name)>,
    classes: Vec<Arc<Definition>>,
    /// The names of the enclosing classes.
    around: Vec<Name>,
}

pub(crate) type Read<T> = Result<T, Fault>;

fn unsupported(what: impl Into<String>) -> Fault {
    Fault::Unsupported(what.into())
}

impl Parser<'_> {
    fn kind(&self) -> &Kind {
        &self.tokens[self.at].kind
    }

    fn ahead(&self, count: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + count).min(last)]
    }

    fn advance(&mut self) {
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
    }

    fn is_end(&self) -> bool {
        matches!(self.kind(), Kind::End)
    }

    /// Whether a significant line end is here.
    fn is_at_line_end(&self) -> bool {
        !self.ignores_lines && self.tokens[self.at].begins_line
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.kind(), Kind::Sign(found) if *found == sign)
    }

    fn is_sign_ahead(&self, count: usize, sign: &str) -> bool {
        matches!(&self.ahead(count).kind, Kind::Sign(found) if *found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(), Kind::Word(found) if **found == *word)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_there = self.is_word(word);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn want_sign(&mut self, sign: &str) -> Read<()> {
        match self.take_sign(sign) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    /// A name that is not a reserved word.
    fn name(&mut self) -> Read<Name> {
        match self.kind() {
            Kind::Word(word) if !RESERVED.contains(&&**word) => {
                let word = word.clone();
                self.advance();
                Ok(word)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// The fault at the current position.
    fn unexpected(&self) -> Fault {
        let token = &self.tokens[self.at];
        let text = self.source.get(token.at..token.end).unwrap_or_default();
        let line = self.source[..token.at.min(self.source.len())]
            .matches('\n')
            .count()
            + 1;
        let text: String = text.chars().take(40).collect();
        Fault::Malformed(match self.is_end() {
            true => "Unexpected end of the script".to_owned(),
            false => format!("Unexpected input: '{text}' @ line {line}"),
        })
    }

    /// Parses something one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEEPEST {
            return Err(unsupported("a script nested this deeply"));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// Parses something inside brackets, where line ends have no meaning.
    fn within<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let before = std::mem::replace(&mut self.ignores_lines, true);
        let ended = std::mem::take(&mut self.arrow_ends);
        let value = read(self);
        self.ignores_lines = before;
        self.arrow_ends = ended;
        value
    }

    /// Parses something inside braces, where line ends have a meaning in Groovy.
    fn in_braces<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        let is_groovy = self.dialect == Dialect::Groovy;
        let before = std::mem::replace(&mut self.ignores_lines, !is_groovy);
        let ended = std::mem::take(&mut self.arrow_ends);
        let value = read(self);
        self.ignores_lines = before;
        self.arrow_ends = ended;
        value
    }

    /// Tries to parse something; on failure nothing is consumed.
    fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Option<T> {
        let (at, depth, lines) = (self.at, self.depth, self.ignores_lines);
        match read(self) {
            Ok(value) => Some(value),
            Err(_) => {
                (self.at, self.depth, self.ignores_lines) = (at, depth, lines);
                None
            }
        }
    }

    fn script(&mut self) -> Read<Block> {
        let mut statements = Vec::new();
        while self.take_sign(";") {}
        while !self.is_end() {
            statements.push(self.statement()?);
            self.end_statement()?;
        }
        Ok(Block {
            statements,
            declares: false,
        })
    }

    /// The end of a statement: a semicolon, a line end, or the end of the enclosing construct.
    fn end_statement(&mut self) -> Read<()> {
        if self.is_sign(";") {
            while self.take_sign(";") {}
            return Ok(());
        }
        let is_behind_brace = matches!(
            self.at
                .checked_sub(1)
                .map(|before| &self.tokens[before].kind),
            Some(Kind::Sign("}" | ";"))
        );
        let may_end = self.is_end()
            || self.is_sign("}")
            || self.is_at_line_end()
            || is_behind_brace && self.dialect == Dialect::BeanShell
            || self.is_word("case")
            || self.is_word("default");
        match may_end {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    /// Statements between braces.
    fn block(&mut self) -> Read<Block> {
        self.deeper(|this| {
            this.want_sign("{")?;
            this.in_braces(Self::block_behind_brace)
        })
    }

    fn block_behind_brace(&mut self) -> Read<Block> {
        let outer = std::mem::replace(&mut self.declares, false);
        let mut statements = Vec::new();
        while self.take_sign(";") {}
        while !self.is_sign("}") {
            if self.is_end() {
                return Err(self.unexpected());
            }
            statements.push(self.statement()?);
            self.end_statement()?;
        }
        self.advance();
        let declares = std::mem::replace(&mut self.declares, outer);
        Ok(Block {
            statements,
            declares,
        })
    }

    /// A type: `java.util.Map<String, List<Integer>>[]`.
    fn written_type(&mut self) -> Read<Type> {
        let Kind::Word(first) = self.kind() else {
            return Err(self.unexpected());
        };
        if RESERVED.contains(&&**first) && !PRIMITIVES.contains(&&**first) {
            return Err(self.unexpected());
        }
        let mut name = first.to_string();
        self.advance();
        while self.is_sign(".")
            && let Kind::Word(next) = &self.ahead(1).kind
        {
            name.push('.');
            name.push_str(next);
            self.advance();
            self.advance();
        }
        if self.is_sign("<") {
            self.type_parameters()?;
        }
        let mut dimensions = 0;
        while self.is_sign("[") && self.is_sign_ahead(1, "]") {
            self.advance();
            self.advance();
            dimensions += 1;
        }
        Ok(Type {
            name: name.into(),
            dimensions,
        })
    }

    /// Skips `<…>`.
    fn type_parameters(&mut self) -> Read<()> {
        let mut open = 0_i32;
        loop {
            match self.kind() {
                Kind::Sign("<") => open += 1,
                Kind::Sign(">") => open -= 1,
                Kind::Sign(">>") => open -= 2,
                Kind::Sign(">>>") => open -= 3,
                Kind::Sign("," | "." | "?" | "[" | "]" | "&") => {}
                Kind::Word(word)
                    if !RESERVED.contains(&&**word)
                        || **word == *"extends"
                        || PRIMITIVES.contains(&&**word) => {}
                Kind::Word(word) if **word == *"super" => {}
                _ => return Err(self.unexpected()),
            }
            self.advance();
            match open {
                0 => return Ok(()),
                below if below < 0 => return Err(self.unexpected()),
                _ => {}
            }
        }
    }

    /// Whether a type's name looks like a class or is a primitive one.
    fn looks_like_class(name: &str) -> bool {
        let last = name.rsplit('.').next().unwrap_or(name);
        PRIMITIVES.contains(&name) || last.starts_with(char::is_uppercase)
    }

    /// Parameters up to a closing sign, which is not consumed.
    fn parameters(&mut self, end: &str) -> Read<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.is_sign(end) {
            self.take_word("final");
            let kind = match self.take_word("def") {
                true => None,
                false => self.attempt(|this| {
                    let kind = this.written_type()?;
                    match this.kind() {
                        Kind::Word(_) | Kind::Sign("...") => Ok(kind),
                        _ => Err(this.unexpected()),
                    }
                }),
            };
            let takes_rest = self.take_sign("...");
            let name = self.name()?;
            let mut kind = kind;
            while self.is_sign("[") && self.is_sign_ahead(1, "]") {
                self.advance();
                self.advance();
                if let Some(kind) = &mut kind {
                    kind.dimensions += 1;
                }
            }
            let default = match self.take_sign("=") {
                true => {
                    let before = std::mem::replace(&mut self.arrow_ends, end == "->");
                    let value = self.expression();
                    self.arrow_ends = before;
                    Some(value?)
                }
                false => None,
            };
            parameters.push(Parameter {
                name,
                kind,
                default,
                takes_rest,
            });
            if !self.take_sign(",") {
                break;
            }
        }
        match self.is_sign(end) {
            true => Ok(parameters),
            false => Err(self.unexpected()),
        }
    }

    /// The parameters of a method, after its name, and its `throws` clause.
    fn method_head(&mut self) -> Read<Vec<Parameter>> {
        self.want_sign("(")?;
        let parameters = self.within(|this| this.parameters(")"))?;
        self.advance();
        if self.take_word("throws") {
            self.types()?;
        }
        Ok(parameters)
    }

    /// Comma-separated types.
    fn types(&mut self) -> Read<Vec<Type>> {
        let mut types = vec![self.written_type()?];
        while self.take_sign(",") {
            types.push(self.written_type()?);
        }
        Ok(types)
    }

    /// A method after its name.
    fn method(&mut self, name: Name, gives: Option<Type>) -> Read<Code> {
        let parameters = self.method_head()?;
        let body = self.block()?;
        Ok(Code {
            name,
            parameters: Some(parameters),
            body,
            gives: gives.filter(|kind| *kind.name != *"void" && *kind.name != *"Object"),
        })
    }
}
