//! Parses the text of a path.
//!
//! Must not know documents. Invariant: the depth of filters and arguments inside a path is limited.

use super::{Argument, Filter, JsonPath, Step};
use crate::json::Json;

/// Maximum depth of paths nested in filters.
const DEEPEST: usize = 20;

/// Parses a path that is nested in `depth` others.
pub(super) fn compile(text: &str, depth: usize) -> Result<JsonPath, String> {
    // A leading blank is part of the path.
    let text = text.trim_end_matches(' ');
    if text.is_empty() {
        return Err("path can not be null or empty".to_owned());
    }
    if depth > DEEPEST {
        return Err(format!(
            "Filters within each other's paths, more than {DEEPEST}"
        ));
    }
    let full = if text.starts_with(['$', '@']) {
        text.to_owned()
    } else {
        format!("$.{text}")
    };
    if full.ends_with('.') {
        return Err("Path must not end with a '.' or '..'".to_owned());
    }
    let mut compiler = Compiler {
        text: full.chars().collect(),
        at: 1,
        depth,
        steps: Vec::new(),
    };
    if let Some(first) = compiler.peek(0)
        && !matches!(first, '.' | '[')
    {
        return Err("Illegal character at position 1 expected '.' or '['".to_owned());
    }
    while compiler.at < compiler.text.len() {
        compiler.step()?;
    }
    Ok(arranged(full.starts_with('$'), compiler.steps))
}

/// A function after a path that starts with `..` applies to all its results.
fn arranged(from_root: bool, mut steps: Vec<Step>) -> JsonPath {
    let first = steps
        .iter()
        .position(|step| matches!(step, Step::Function(..)));
    let is_function = matches!(steps.last(), Some(Step::Function(..)));
    if let (true, Some(Step::Scan), Some(first)) = (is_function, steps.first(), first) {
        let mut rest = steps.split_off(first);
        let found = JsonPath {
            from_root: true,
            steps,
        };
        if let Some(Step::Function(_, arguments)) = rest.first_mut() {
            *arguments = vec![Argument::Path(found)];
        }
        steps = rest;
    }
    JsonPath { from_root, steps }
}

struct Compiler {
    text: Vec<char>,
    at: usize,
    depth: usize,
    steps: Vec<Step>,
}

impl Compiler {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    fn unreadable(&self) -> String {
        format!("Could not parse token starting at position {}", self.at)
    }

    fn slice(&self, from: usize, to: usize) -> String {
        self.text[from..to].iter().collect()
    }

    /// The next non-blank character from `at` on, with its position.
    fn significant(&self, at: usize) -> Option<(usize, char)> {
        let rest = self.text.get(at..)?;
        let skipped = rest.iter().position(|one| *one != ' ')?;
        Some((at + skipped, rest[skipped]))
    }

    fn step(&mut self) -> Result<(), String> {
        match self.peek(0) {
            Some('[') => self.bracket(),
            Some('.') => self.dot(),
            Some('*') => {
                self.at += 1;
                self.steps.push(Step::Wildcard);
                Ok(())
            }
            _ => self.name(),
        }
    }

    fn dot(&mut self) -> Result<(), String> {
        if self.peek(1) == Some('.') {
            self.steps.push(Step::Scan);
            self.at += 1;
        }
        self.at += 1;
        if self.peek(0) == Some('.') {
            return Err(format!(
                "Character '.' on position {} is not valid.",
                self.at
            ));
        }
        if self.peek(0).is_none_or(|one| one == ' ') {
            return Err(self.unreadable());
        }
        self.step()
    }

    /// A name, or a function with its arguments.
    fn name(&mut self) -> Result<(), String> {
        let start = self.at;
        while let Some(character) = self.peek(0) {
            match character {
                ' ' => {
                    return Err(format!(
                        "Use bracket notion ['my prop'] if your property contains blank characters. position: {start}"
                    ));
                }
                '.' | '[' => break,
                '(' => return self.function(start),
                _ => self.at += 1,
            }
        }
        if self.at == start {
            return Err(self.unreadable());
        }
        self.steps
            .push(Step::Names(vec![self.slice(start, self.at)], '\''));
        Ok(())
    }

    fn function(&mut self, start: usize) -> Result<(), String> {
        let name = self.slice(start, self.at);
        let open = self.at;
        let mut depth = 0_usize;
        let close = self.text[open..].iter().position(|one| {
            match one {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some(length) = close else {
            return Err(format!(
                "Arguments to function: '{name}' are not closed properly."
            ));
        };
        let arguments = self.arguments(&self.slice(open + 1, open + length))?;
        self.at = open + length + 1;
        self.steps.push(Step::Function(name, arguments));
        Ok(())
    }

    fn arguments(&self, text: &str) -> Result<Vec<Argument>, String> {
        let mut arguments = Vec::new();
        for argument in split_arguments(text) {
            let argument = argument.trim();
            if argument.starts_with(['$', '@']) {
                arguments.push(Argument::Path(compile(argument, self.depth + 1)?));
            } else if argument.starts_with(['{', '"', '-'])
                || argument.starts_with(|one: char| one.is_ascii_digit())
            {
                arguments.push(Argument::Value(Json::read(argument)?));
            }
        }
        Ok(arguments)
    }

    fn bracket(&mut self) -> Result<(), String> {
        let unreadable = || format!("{}. Expected ?, ', 0-9, * ", self.unreadable());
        match self.significant(self.at + 1) {
            Some((place, quote @ ('\'' | '"'))) => self.quoted_names(place, quote),
            Some((place, '*')) => match self.significant(place + 1) {
                Some((end, ']')) => {
                    self.at = end + 1;
                    self.steps.push(Step::Wildcard);
                    Ok(())
                }
                _ => Err(format!(
                    "Expected wildcard token to end with ']' on position {}",
                    place + 1
                )),
            },
            Some((place, '?')) => self.filter(place),
            Some((_, '-' | ':' | '0'..='9')) => {
                let inside = self.text[self.at..].iter().position(|one| *one == ']');
                let end = self.at + inside.ok_or_else(unreadable)?;
                let inside = self.slice(self.at + 1, end);
                let known =
                    |one: char| one.is_ascii_digit() || matches!(one, ',' | '-' | ':' | ' ');
                if !inside.trim().chars().all(known) {
                    return Err(unreadable());
                }
                self.steps.push(numbers(inside.trim())?);
                self.at = end + 1;
                Ok(())
            }
            _ => Err(unreadable()),
        }
    }

    fn quoted_names(&mut self, mut at: usize, quote: char) -> Result<(), String> {
        let mut names = Vec::new();
        let mut after_comma = true;
        loop {
            match self.significant(at) {
                Some((place, one)) if one == quote && after_comma => {
                    let (name, end) = self.quoted_name(place + 1, quote)?;
                    names.push(name);
                    at = end;
                    after_comma = false;
                }
                Some((place, ',' | ']')) if after_comma => {
                    return Err(format!("Found empty property at index {place}"));
                }
                Some((place, ',')) => {
                    at = place + 1;
                    after_comma = true;
                }
                Some((place, ']')) => {
                    self.at = place + 1;
                    self.steps.push(Step::Names(names, quote));
                    return Ok(());
                }
                Some((place, _)) => {
                    return Err(format!(
                        "Property must be separated by comma or Property must be terminated close square bracket at index {place}"
                    ));
                }
                None => {
                    return Err(format!(
                        "Property has not been closed - missing closing {quote}"
                    ));
                }
            }
        }
    }

    fn quoted_name(&self, mut at: usize, quote: char) -> Result<(String, usize), String> {
        let mut name = String::new();
        loop {
            match self.text.get(at) {
                None => {
                    return Err(format!(
                        "Property has not been closed - missing closing {quote}"
                    ));
                }
                Some('\\') => {
                    name.extend(self.text.get(at + 1));
                    at += 2;
                }
                Some(one) if *one == quote => return Ok((name, at + 1)),
                Some(one) => {
                    name.push(*one);
                    at += 1;
                }
            }
        }
    }

    fn filter(&mut self, question: usize) -> Result<(), String> {
        let unreadable = format!("{}. Expected ?, ', 0-9, * ", self.unreadable());
        let (open, first) = self
            .significant(question + 1)
            .ok_or_else(|| unreadable.clone())?;
        if matches!(first, ']' | ',') {
            let end = self.text[question..].iter().position(|one| *one == ']');
            let inside = self.slice(self.at + 1, question + end.ok_or(unreadable)?);
            let at = self.at;
            return Err(format!(
                "Not enough predicates supplied for filter [{inside}] at position {at}"
            ));
        }
        let close = closing(&self.text, open).ok_or_else(|| unreadable.clone())?;
        let Some((end, ']')) = self.significant(close + 1) else {
            return Err(unreadable);
        };
        let filter = Filter::compile(&self.text[open + 1..close], self.depth)?;
        self.at = end + 1;
        self.steps.push(Step::Filter(Box::new(filter)));
        Ok(())
    }
}

/// Indices or a slice.
fn numbers(text: &str) -> Result<Step, String> {
    if text.contains(':') {
        let fault = || format!("Failed to parse SliceOperation: {text}");
        let mut bounds = text.split(':').map(|one| match one {
            "" => Ok(None),
            number => number.parse().map(Some).map_err(|_| fault()),
        });
        let from = bounds.next().unwrap_or(Ok(None))?;
        let to = bounds.next().unwrap_or(Ok(None))?;
        if from.is_none() && to.is_none() {
            return Err(fault());
        }
        return Ok(Step::Slice(from, to));
    }
    let index = |token: &str| {
        let token = token.trim();
        token
            .parse()
            .map_err(|_| format!("Failed to parse token in ArrayIndexOperation: {token}"))
    };
    text.split(',')
        .map(index)
        .collect::<Result<_, _>>()
        .map(Step::Indices)
}

/// The position of the parenthesis that closes the one at `open`; texts and patterns are skipped.
fn closing(text: &[char], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = open;
    while let Some(character) = text.get(at) {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at);
                }
            }
            '\'' | '"' | '/' => at = unescaped(text, at + 1, *character)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The next position of a character that is not escaped by a backslash.
pub(super) fn unescaped(text: &[char], from: usize, wanted: char) -> Option<usize> {
    let mut at = from;
    loop {
        match text.get(at)? {
            '\\' => at += 2,
            one if *one == wanted => return Some(at),
            _ => at += 1,
        }
    }
}

/// Splits at commas outside of brackets and texts.
fn split_arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth, mut in_text) = (0, 0_i32, false);
    for (at, character) in text.char_indices() {
        match character {
            '"' => in_text = !in_text,
            '(' | '[' | '{' if !in_text => depth += 1,
            ')' | ']' | '}' if !in_text => depth -= 1,
            ',' if !in_text && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}
