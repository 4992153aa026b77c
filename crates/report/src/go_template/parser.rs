//! Builds the tree of a template from its tokens.
//!
//! Must not evaluate. Invariant: variables and functions of the tree exist where they are used, and
//! nesting is bounded, so that walking the tree cannot exhaust the stack.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::lexer::{Constant, Placed, Token};
use super::node::{Branch, Command, Function, Node, Operand, Pipe};
use super::value::Value;
use super::{Signature, Template, TemplateError};

/// Blocks within blocks and parentheses within parentheses; people nest fewer than ten.
const NESTING_MAX: usize = 60;

type Result<T> = std::result::Result<T, TemplateError>;

struct Parser<'a> {
    tokens: Vec<Placed>,
    at: usize,
    functions: &'a [Signature],
    variables: Vec<String>,
    defined: BTreeMap<String, Vec<Node>>,
    nesting: usize,
    loops: usize,
}

/// How a list of nodes ended.
enum Ended {
    /// The template ended.
    Unclosed,
    /// `{{end}}`.
    Closed,
    /// `{{else`; what follows is not read yet.
    Otherwise,
}

/// Parses a whole template.
pub(super) fn parse(tokens: Vec<Placed>, functions: &[Signature]) -> Result<Template> {
    let mut parser = Parser {
        tokens,
        at: 0,
        functions,
        variables: vec![String::new()],
        defined: BTreeMap::new(),
        nesting: 0,
        loops: 0,
    };
    let (main, end) = parser.nodes(true)?;
    match end {
        Ended::Unclosed => Ok(Template {
            main,
            defined: parser.defined,
        }),
        Ended::Closed => Err(parser.error("unexpected {{end}}")),
        Ended::Otherwise => Err(parser.error("unexpected {{else}}")),
    }
}

impl Parser<'_> {
    fn line(&self) -> usize {
        let last = self.tokens.last().map_or(1, |(_, line)| *line);
        self.tokens.get(self.at).map_or(last, |(_, line)| *line)
    }

    fn error(&self, what: impl Into<String>) -> TemplateError {
        TemplateError::new(self.line(), what)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(token, _)| token.clone());
        self.at += 1;
        token
    }

    fn skip_space(&mut self) {
        while self.peek() == Some(&Token::Space) {
            self.at += 1;
        }
    }

    fn peek_after_space(&mut self) -> Option<&Token> {
        self.skip_space();
        self.peek()
    }

    fn takes(&mut self, wanted: &Token) -> bool {
        let found = self.peek_after_space() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn close(&mut self, context: &str) -> Result<()> {
        if self.takes(&Token::Close) {
            return Ok(());
        }
        Err(self.error(format!("unexpected {} in {context}", self.name_of_next())))
    }

    fn name_of_next(&self) -> String {
        match self.peek() {
            None => "end of template".to_owned(),
            Some(Token::Close) => "\"}}\"".to_owned(),
            Some(Token::Word(word)) => format!("<{word}>"),
            Some(Token::Field(name)) => format!("<.{name}>"),
            Some(Token::Variable(name)) => format!("<${name}>"),
            Some(Token::Constant(_)) => "a constant".to_owned(),
            Some(Token::Pipe) => "\"|\"".to_owned(),
            Some(Token::Comma) => "\",\"".to_owned(),
            Some(Token::LeftParen) => "\"(\"".to_owned(),
            Some(Token::RightParen) => "\")\"".to_owned(),
            Some(Token::Declare) => "\":=\"".to_owned(),
            Some(Token::Assign) => "\"=\"".to_owned(),
            Some(Token::Dot) => "\".\"".to_owned(),
            Some(other) => format!("{other:?}"),
        }
    }

    fn deeper(&mut self) -> Result<()> {
        self.nesting += 1;
        if self.nesting > NESTING_MAX {
            return Err(self.error(format!("nested more than {NESTING_MAX} deep")));
        }
        Ok(())
    }

    fn nodes(&mut self, top: bool) -> Result<(Vec<Node>, Ended)> {
        let mut nodes = Vec::new();
        loop {
            match self.next() {
                None => return Ok((nodes, Ended::Unclosed)),
                Some(Token::Text(text)) => nodes.push(Node::Text(text)),
                Some(_) => match self.keyword() {
                    Some(word) if word == "end" => {
                        self.close("end")?;
                        return Ok((nodes, Ended::Closed));
                    }
                    Some(word) if word == "else" => return Ok((nodes, Ended::Otherwise)),
                    Some(word) if word == "define" && !top => {
                        return Err(self.error("unexpected {{define}}"));
                    }
                    word => nodes.extend(self.action(word.as_deref())?),
                },
            }
        }
    }

    /// The keyword at the start of an action, taken; `None` when it starts otherwise.
    fn keyword(&mut self) -> Option<String> {
        const KEYWORDS: &[&str] = &[
            "block", "break", "continue", "define", "else", "end", "if", "range", "template",
            "with",
        ];
        match self.peek_after_space() {
            Some(Token::Word(word)) if KEYWORDS.contains(&word.as_str()) => {
                let word = word.clone();
                self.at += 1;
                Some(word)
            }
            _ => None,
        }
    }

    fn action(&mut self, keyword: Option<&str>) -> Result<Option<Node>> {
        match keyword {
            Some("if") => self.branch("if").map(|branch| Some(Node::If(branch))),
            Some("with") => self.branch("with").map(|branch| Some(Node::With(branch))),
            Some("range") => self.branch("range").map(|branch| Some(Node::Range(branch))),
            Some("define") => self.define().map(|()| None),
            Some("block") => self.block().map(Some),
            Some("template") => self.template().map(Some),
            Some(word @ ("break" | "continue")) => {
                if self.loops == 0 {
                    return Err(self.error(format!("{{{{{word}}}}} outside {{{{range}}}}")));
                }
                self.close(word)?;
                Ok(Some(if word == "break" {
                    Node::Break
                } else {
                    Node::Continue
                }))
            }
            _ => {
                let pipe = self.pipe("command", &Token::Close, false)?;
                Ok(Some(Node::Action(pipe)))
            }
        }
    }

    fn branch(&mut self, kind: &str) -> Result<Branch> {
        self.deeper()?;
        let scope = self.variables.len();
        let is_loop = kind == "range";
        let pipe = self.pipe(kind, &Token::Close, is_loop)?;
        self.loops += usize::from(is_loop);
        let (body, end) = self.nodes(false)?;
        self.loops -= usize::from(is_loop);
        let otherwise = match end {
            Ended::Closed => Vec::new(),
            Ended::Otherwise => self.otherwise(kind)?,
            Ended::Unclosed => {
                return Err(self.error(format!(
                    "unexpected end of template: {{{{{kind}}}}} is not closed"
                )));
            }
        };
        self.variables.truncate(scope);
        self.nesting -= 1;
        Ok(Branch {
            pipe,
            body,
            otherwise,
        })
    }

    /// What follows `{{else`: nothing, or for `if` and `with` the same again, sharing the end.
    fn otherwise(&mut self, kind: &str) -> Result<Vec<Node>> {
        if kind != "range"
            && matches!(self.peek_after_space(), Some(Token::Word(word)) if word == kind)
        {
            self.at += 1;
            let branch = self.branch(kind)?;
            return Ok(vec![if kind == "if" {
                Node::If(branch)
            } else {
                Node::With(branch)
            }]);
        }
        self.close("else")?;
        match self.nodes(false)? {
            (nodes, Ended::Closed) => Ok(nodes),
            (_, Ended::Otherwise) => Err(self.error("expected end; found {{else}}")),
            (_, Ended::Unclosed) => Err(self.error(format!(
                "unexpected end of template: {{{{{kind}}}}} is not closed"
            ))),
        }
    }

    fn name(&mut self, context: &str) -> Result<String> {
        self.skip_space();
        match self.next() {
            Some(Token::Constant(Constant(Value::Text(name)))) => Ok(name.to_string()),
            _ => {
                self.at -= 1;
                Err(self.error(format!("unexpected {} in {context}", self.name_of_next())))
            }
        }
    }

    fn define(&mut self) -> Result<()> {
        let name = self.name("define clause")?;
        self.close("define clause")?;
        self.body_of(name)
    }

    /// The body of a separate template: its only variable is the dollar sign.
    fn body_of(&mut self, name: String) -> Result<()> {
        self.deeper()?;
        let outside = std::mem::replace(&mut self.variables, vec![String::new()]);
        let loops = std::mem::take(&mut self.loops);
        let (body, end) = self.nodes(false)?;
        if !matches!(end, Ended::Closed) {
            return Err(self.error(format!("unexpected end: template {name:?} is not closed")));
        }
        self.variables = outside;
        self.loops = loops;
        self.nesting -= 1;
        if self
            .defined
            .get(&name)
            .is_some_and(|known| !known.is_empty())
        {
            return Err(self.error(format!("multiple definition of template {name:?}")));
        }
        self.defined.insert(name, body);
        Ok(())
    }

    fn block(&mut self) -> Result<Node> {
        let line = self.line();
        let name = self.name("block clause")?;
        let data = self.pipe("block clause", &Token::Close, false)?;
        self.body_of(name.clone())?;
        Ok(Node::Template {
            line,
            name,
            data: Some(data),
        })
    }

    fn template(&mut self) -> Result<Node> {
        let line = self.line();
        let name = self.name("template clause")?;
        let data = if self.takes(&Token::Close) {
            None
        } else {
            Some(self.pipe("template clause", &Token::Close, false)?)
        };
        Ok(Node::Template { line, name, data })
    }

    fn pipe(&mut self, context: &str, end: &Token, is_loop: bool) -> Result<Pipe> {
        let line = self.line();
        let (variables, assigns) = self.declarations(context, is_loop)?;
        let mut commands: Vec<Command> = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some(end) {
                self.at += 1;
                break;
            }
            if !commands.is_empty() && !self.takes(&Token::Pipe) {
                return Err(self.error(format!("unexpected {} in {context}", self.name_of_next())));
            }
            let command = self.command(context)?;
            if !commands.is_empty() && is_inert(&command.head) {
                let stage = commands.len() + 1;
                return Err(self.error(format!("non executable command in pipeline stage {stage}")));
            }
            self.check_arity(&command, !commands.is_empty())?;
            commands.push(command);
        }
        if commands.is_empty() {
            return Err(self.error(format!("missing value for {context}")));
        }
        if !assigns {
            self.variables.extend(variables.iter().cloned());
        }
        Ok(Pipe {
            line,
            variables,
            assigns,
            commands,
        })
    }

    /// `$x :=`, `$x =` or, in a loop, `$i, $x :=`.
    fn declarations(&mut self, context: &str, is_loop: bool) -> Result<(Vec<String>, bool)> {
        let start = self.at;
        let mut names = Vec::new();
        loop {
            self.skip_space();
            let Some(Token::Variable(name)) = self.peek().cloned() else {
                break;
            };
            self.at += 1;
            names.push(name);
            match self.peek_after_space() {
                Some(Token::Comma) if is_loop && names.len() < 2 => self.at += 1,
                Some(Token::Comma) if is_loop => {
                    return Err(self.error("range can initialize at most 2 variables"));
                }
                Some(Token::Comma) => {
                    return Err(self.error(format!("too many declarations in {context}")));
                }
                Some(Token::Declare) => {
                    self.at += 1;
                    return Ok((names, false));
                }
                Some(Token::Assign) => {
                    self.at += 1;
                    for name in &names {
                        self.known(name)?;
                    }
                    return Ok((names, true));
                }
                _ => break,
            }
        }
        if names.len() > 1 {
            return Err(self.error("range can only initialize variables"));
        }
        self.at = start;
        Ok((Vec::new(), false))
    }

    fn known(&self, name: &str) -> Result<()> {
        if self.variables.iter().any(|known| known == name) {
            return Ok(());
        }
        Err(self.error(format!("undefined variable \"${name}\"")))
    }

    fn command(&mut self, context: &str) -> Result<Command> {
        self.skip_space();
        let line = self.line();
        let Some(head) = self.operand()? else {
            let next = self.name_of_next();
            return Err(self.error(match self.peek() {
                Some(Token::Close) => format!("missing value for {context}"),
                _ => format!("unexpected {next} in operand"),
            }));
        };
        let mut arguments = Vec::new();
        loop {
            let spaced = self.peek() == Some(&Token::Space);
            self.skip_space();
            match self.peek() {
                None | Some(Token::Close | Token::RightParen | Token::Pipe) => break,
                Some(_) if !spaced => {
                    return Err(
                        self.error(format!("unexpected {} in operand", self.name_of_next()))
                    );
                }
                Some(_) => match self.operand()? {
                    Some(operand) => arguments.push(operand),
                    None => {
                        return Err(
                            self.error(format!("unexpected {} in operand", self.name_of_next()))
                        );
                    }
                },
            }
        }
        Ok(Command {
            line,
            head,
            arguments,
        })
    }

    fn operand(&mut self) -> Result<Option<Operand>> {
        let Some(token) = self.peek().cloned() else {
            return Ok(None);
        };
        let operand = match token {
            Token::Dot => Operand::Dot,
            Token::Field(name) => Operand::Field(vec![Rc::from(name)]),
            Token::Variable(name) => {
                self.known(&name)?;
                Operand::Variable(name, Vec::new())
            }
            Token::Constant(Constant(value)) => Operand::Constant(value),
            Token::Word(word) if word == "nil" => Operand::Nil,
            Token::Word(word) => Operand::Function(self.function(&word)?),
            Token::LeftParen => {
                self.at += 1;
                self.deeper()?;
                let pipe = self.pipe("parenthesized pipeline", &Token::RightParen, false)?;
                self.nesting -= 1;
                self.at -= 1;
                Operand::Pipe(Box::new(pipe))
            }
            _ => return Ok(None),
        };
        self.at += 1;
        self.with_fields(operand).map(Some)
    }

    /// Fields that follow without a space belong to the operand.
    fn with_fields(&mut self, operand: Operand) -> Result<Operand> {
        let mut fields: Vec<Rc<str>> = Vec::new();
        while let Some(Token::Field(name)) = self.peek() {
            fields.push(Rc::from(name.as_str()));
            self.at += 1;
        }
        if fields.is_empty() {
            return Ok(operand);
        }
        match operand {
            Operand::Field(mut names) => {
                names.extend(fields);
                Ok(Operand::Field(names))
            }
            Operand::Variable(name, _) => Ok(Operand::Variable(name, fields)),
            pipe @ Operand::Pipe(_) => Ok(Operand::Chain(Box::new(pipe), fields)),
            _ => Err(self.error(format!("unexpected . after term {:?}", fields[0]))),
        }
    }

    fn function(&self, name: &str) -> Result<Function> {
        if let Some(signature) = self.functions.iter().find(|known| known.name == name) {
            return Ok(Function::Host(signature.name));
        }
        if let Some((function, _, _)) = Function::built_in(name) {
            return Ok(function);
        }
        if name == "call" {
            return Err(
                self.error("function \"call\" is not supported: the report holds no functions")
            );
        }
        Err(self.error(format!("function {name:?} not defined")))
    }

    fn check_arity(&self, command: &Command, piped: bool) -> Result<()> {
        let Operand::Function(function) = command.head else {
            return Ok(());
        };
        let given = command.arguments.len() + usize::from(piped);
        let (name, min, max) = match function {
            Function::Host(name) => {
                let signature = self.functions.iter().find(|known| known.name == name);
                signature.map_or((name, 0, None), |s| (s.name, s.min, s.max))
            }
            built_in => arity(built_in),
        };
        if given < min || max.is_some_and(|max| given > max) {
            let wanted = match max {
                Some(max) if max == min => min.to_string(),
                Some(max) => format!("{min} to {max}"),
                None => format!("at least {min}"),
            };
            return Err(TemplateError::new(
                command.line,
                format!("wrong number of args for {name}: want {wanted} got {given}"),
            ));
        }
        Ok(())
    }
}

fn arity(wanted: Function) -> (&'static str, usize, Option<usize>) {
    const NAMES: &[&str] = &[
        "and", "or", "not", "html", "js", "urlquery", "index", "slice", "len", "print", "printf",
        "println", "eq", "ne", "lt", "le", "gt", "ge",
    ];
    let found = NAMES.iter().find_map(|name| {
        let (function, min, max) = Function::built_in(name)?;
        (function == wanted).then_some((*name, min, max))
    });
    found.unwrap_or(("function", 0, None))
}

/// Stages that cannot take the result of the previous one.
fn is_inert(operand: &Operand) -> bool {
    matches!(operand, Operand::Dot | Operand::Nil | Operand::Constant(_))
}
