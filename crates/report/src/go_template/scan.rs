//! Reads one token of an action.
//!
//! Must not know what comes before or after it. Invariant: a token consumes at least one byte, and always whole
//! characters.

use loadline_go::quote;

use super::lexer::{Constant, Token};
use super::number;
use super::value::Value;

/// A position in the text of an action.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0 }
    }

    /// Bytes taken so far.
    pub(super) fn used(&self) -> usize {
        self.at
    }

    /// The next token.
    pub(super) fn token(&mut self) -> Result<Token, String> {
        let first = self.peek().ok_or("unclosed action")?;
        match first {
            ' ' | '\t' | '\r' | '\n' => Ok(self.space()),
            ':' => self.declare(),
            '=' => Ok(self.single(Token::Assign)),
            '|' => Ok(self.single(Token::Pipe)),
            ',' => Ok(self.single(Token::Comma)),
            '(' => Ok(self.single(Token::LeftParen)),
            ')' => Ok(self.single(Token::RightParen)),
            '"' => self.quoted(),
            '`' => self.raw(),
            '\'' => self.character(),
            '.' if !self.peek_second().is_some_and(|c| c.is_ascii_digit()) => self.field(),
            '$' => self.variable(),
            '.' | '+' | '-' | '0'..='9' => self.number(),
            c if is_name(c) => Ok(self.word()),
            c => Err(format!("unrecognized character in action: {c:?}")),
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn peek_second(&self) -> Option<char> {
        self.text[self.at..].chars().nth(1)
    }

    fn single(&mut self, token: Token) -> Token {
        self.at += 1;
        token
    }

    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// White space, but not what belongs to a closing trim marker.
    fn space(&mut self) -> Token {
        let _ = self.take_while(|c| matches!(c, ' ' | '\t' | '\r' | '\n'));
        if self.text[self.at..].starts_with("-}}") {
            self.at -= 1;
        }
        Token::Space
    }

    fn declare(&mut self) -> Result<Token, String> {
        if !self.text[self.at..].starts_with(":=") {
            return Err("expected :=".to_owned());
        }
        self.at += 2;
        Ok(Token::Declare)
    }

    fn quoted(&mut self) -> Result<Token, String> {
        let end =
            quote::end_of_quoted(&self.text[self.at..], '"').ok_or("unterminated quoted string")?;
        let inner = &self.text[self.at + 1..self.at + end];
        self.at += end + 1;
        let bytes = quote::unquote(inner, '"')?;
        Ok(constant(Value::text(&String::from_utf8_lossy(&bytes))))
    }

    fn raw(&mut self) -> Result<Token, String> {
        let rest = &self.text[self.at + 1..];
        let end = rest.find('`').ok_or("unterminated raw quoted string")?;
        self.at += end + 2;
        Ok(constant(Value::text(&rest[..end].replace('\r', ""))))
    }

    fn character(&mut self) -> Result<Token, String> {
        let end = quote::end_of_quoted(&self.text[self.at..], '\'')
            .ok_or("unterminated character constant")?;
        let inner = &self.text[self.at + 1..self.at + end];
        self.at += end + 1;
        let value = quote::character(inner)?;
        Ok(constant(Value::Int(value)))
    }

    fn field(&mut self) -> Result<Token, String> {
        self.at += 1;
        let name = self.take_while(is_name);
        if name.is_empty() {
            return Ok(Token::Dot);
        }
        self.ends_well()?;
        Ok(Token::Field(name.to_owned()))
    }

    fn variable(&mut self) -> Result<Token, String> {
        self.at += 1;
        let name = self.take_while(is_name);
        self.ends_well()?;
        Ok(Token::Variable(name.to_owned()))
    }

    fn word(&mut self) -> Token {
        let name = self.take_while(is_name);
        match name {
            "true" => constant(Value::Bool(true)),
            "false" => constant(Value::Bool(false)),
            _ => Token::Word(name.to_owned()),
        }
    }

    fn number(&mut self) -> Result<Token, String> {
        let start = self.at;
        if matches!(self.peek(), Some('+' | '-')) {
            self.at += 1;
        }
        loop {
            let part = self.take_while(|c| is_name(c) || c == '.');
            let hex = part.starts_with("0x") || part.starts_with("0X");
            let goes_on = if hex {
                part.ends_with(['p', 'P'])
            } else {
                part.ends_with(['e', 'E'])
            };
            if part.is_empty() || !goes_on || !matches!(self.peek(), Some('+' | '-')) {
                break;
            }
            self.at += 1;
        }
        number::parse(&self.text[start..self.at]).map(constant)
    }

    /// Names must be followed by something that cannot belong to them.
    fn ends_well(&self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(c) if c.is_whitespace() || ".,|:()=}".contains(c) => Ok(()),
            Some(c) => Err(format!("bad character {c:?}")),
        }
    }
}

fn constant(value: Value) -> Token {
    Token::Constant(Constant(value))
}

fn is_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
