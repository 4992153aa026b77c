//! Filters: `[?(@.price < 10 && @.isbn)]`.
//!
//! Must not know paths beyond parsing and evaluating them. Invariant: the depth of a filter is limited.

use std::cmp::Ordering;

use loadline_java::oro::Oro;

use super::compile::unescaped;
use super::{Found, JsonPath, PathFault};
use crate::json::Json;

/// Maximum depth of nested parentheses.
const DEEPEST: usize = 50;

/// A condition on a value.
#[derive(Clone, Debug)]
pub(super) enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    /// The path exists, or must not exist.
    Exists(JsonPath, bool),
    Compares(Operand, Operator, Operand),
}

#[derive(Clone, Debug)]
pub(super) enum Operand {
    Path(JsonPath),
    Value(Json),
    Pattern(Box<Oro>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    SameKind,
    NotSameKind,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matches,
    In,
    NotIn,
    Contains,
    All,
    Size,
    Empty,
    SubsetOf,
    AnyOf,
    NoneOf,
}

const OPERATORS: [(&str, Operator); 18] = [
    (">=", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("==", Operator::Equal),
    ("===", Operator::SameKind),
    ("!=", Operator::NotEqual),
    ("!==", Operator::NotSameKind),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("=~", Operator::Matches),
    ("NIN", Operator::NotIn),
    ("IN", Operator::In),
    ("CONTAINS", Operator::Contains),
    ("ALL", Operator::All),
    ("SIZE", Operator::Size),
    ("EMPTY", Operator::Empty),
    ("SUBSETOF", Operator::SubsetOf),
    ("ANYOF", Operator::AnyOf),
    ("NONEOF", Operator::NoneOf),
];

impl Filter {
    /// Parses a condition in a path that is nested in `depth` others.
    pub(super) fn compile(text: &[char], depth: usize) -> Result<Filter, String> {
        let mut compiler = Compiler {
            text,
            at: 0,
            paths: depth,
            depth: 0,
        };
        let filter = compiler.any()?;
        compiler.skip_blanks();
        if compiler.at < text.len() {
            return Err("Expected character: )".to_owned());
        }
        Ok(filter)
    }

    /// Whether a value meets the condition; a path in it without a result is not an error.
    pub(super) fn accepts(&self, value: &Json, root: &Json) -> Result<bool, PathFault> {
        match self.holds(value, root) {
            Err(PathFault::NotFound(_)) => Ok(false),
            outcome => outcome,
        }
    }

    fn holds(&self, value: &Json, root: &Json) -> Result<bool, PathFault> {
        match self {
            Filter::Any(filters) => {
                for filter in filters {
                    if filter.holds(value, root)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::All(filters) => {
                for filter in filters {
                    if !filter.holds(value, root)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Not(filter) => Ok(!filter.holds(value, root)?),
            Filter::Exists(path, wanted) => match path.walk(value, root, true) {
                Ok(_) => Ok(*wanted),
                Err(PathFault::NotFound(_)) => Ok(!wanted),
                Err(fault) => Err(fault),
            },
            Filter::Compares(left, operator, right) => {
                let left = left.now(value, root)?;
                let right = right.now(value, root)?;
                Ok(compare(&left, *operator, &right))
            }
        }
    }
}

/// An operand for the current value.
enum Now<'a> {
    Undefined,
    Value(Found<'a>),
    Pattern(&'a Oro),
}

impl Operand {
    fn now<'a>(&'a self, value: &'a Json, root: &'a Json) -> Result<Now<'a>, PathFault> {
        Ok(match self {
            Operand::Value(value) => Now::Value(Found::Within(value)),
            Operand::Pattern(pattern) => Now::Pattern(pattern),
            Operand::Path(path) => {
                let start = if path.from_root { root } else { value };
                match path.value(start, root, false) {
                    Ok(value) => Now::Value(value),
                    Err(PathFault::NotFound(_)) => Now::Undefined,
                    Err(fault) => return Err(fault),
                }
            }
        })
    }
}

fn compare(left: &Now<'_>, operator: Operator, right: &Now<'_>) -> bool {
    match (operator, left, right) {
        (Operator::Matches, Now::Value(value), Now::Pattern(pattern))
        | (Operator::Matches, Now::Pattern(pattern), Now::Value(value)) => match &**value {
            Json::Array(elements) => elements.iter().any(|element| matches(pattern, element)),
            value => matches(pattern, value),
        },
        (Operator::Matches, _, _) => false,
        (Operator::NotEqual, _, _) => !compare(left, Operator::Equal, right),
        (Operator::NotSameKind, _, _) => !compare(left, Operator::SameKind, right),
        (Operator::NotIn, _, _) => !compare(left, Operator::In, right),
        (_, Now::Value(left), Now::Value(right)) => compare_values(left, operator, right),
        _ => false,
    }
}

fn compare_values(left: &Json, operator: Operator, right: &Json) -> bool {
    let array = |value: &Json| match value {
        Json::Array(elements) => elements.clone(),
        _ => Vec::new(),
    };
    let has =
        |elements: &[Json], value: &Json| elements.iter().any(|element| equal(element, value));
    let both_arrays = matches!((left, right), (Json::Array(_), Json::Array(_)));
    match operator {
        Operator::Equal => equal(left, right),
        Operator::SameKind => is_number(left) == is_number(right) && equal(left, right),
        Operator::Less => order(left, right) == Some(Ordering::Less),
        Operator::LessOrEqual => order(left, right).is_some_and(Ordering::is_le),
        Operator::Greater => order(left, right) == Some(Ordering::Greater),
        Operator::GreaterOrEqual => order(left, right).is_some_and(Ordering::is_ge),
        Operator::In => has(&array(right), left),
        Operator::Contains => match (left, right) {
            (Json::Text(left), Json::Text(right)) => left.contains(right.as_str()),
            _ => has(&array(left), right),
        },
        Operator::All => both_arrays && array(right).iter().all(|one| has(&array(left), one)),
        Operator::Size => size(left).is_some_and(|size| right.number() == Some(size)),
        Operator::Empty => size(left).is_some_and(|size| *right == Json::Bool(size == 0.0)),
        Operator::SubsetOf => both_arrays && array(left).iter().all(|one| has(&array(right), one)),
        Operator::AnyOf => both_arrays && array(left).iter().any(|one| has(&array(right), one)),
        Operator::NoneOf => both_arrays && !array(left).iter().any(|one| has(&array(right), one)),
        Operator::Matches | Operator::NotEqual | Operator::NotSameKind | Operator::NotIn => false,
    }
}

fn size(value: &Json) -> Option<f64> {
    let count = match value {
        Json::Text(text) => text.encode_utf16().count(),
        Json::Array(elements) => elements.len(),
        Json::Object(members) => members.len(),
        _ => return None,
    };
    #[expect(clippy::cast_precision_loss, reason = "a size of something in memory")]
    Some(count as f64)
}

fn is_number(value: &Json) -> bool {
    value.number().is_some()
}

/// Numbers and texts are equal if their text is.
fn equal(left: &Json, right: &Json) -> bool {
    match (left, right) {
        (Json::Text(left), number) if is_number(number) => *left == number.shown(),
        (number, Json::Text(text)) if is_number(number) => text
            .parse()
            .is_ok_and(|other: f64| number.number() == Some(other)),
        _ if is_number(left) && is_number(right) => order(left, right) == Some(Ordering::Equal),
        _ => left == right,
    }
}

/// The order of two numbers or two texts; `None`: they are not comparable.
fn order(left: &Json, right: &Json) -> Option<Ordering> {
    match (left, right) {
        (Json::Whole(left), Json::Whole(right)) => Some(left.cmp(right)),
        (Json::Text(left), Json::Text(right)) => {
            Some(left.encode_utf16().cmp(right.encode_utf16()))
        }
        _ => left.number()?.partial_cmp(&right.number()?),
    }
}

fn matches(pattern: &Oro, value: &Json) -> bool {
    let text = match value {
        Json::Null | Json::Array(_) | Json::Object(_) => String::new(),
        other => other.shown(),
    };
    pattern.matches(&text).unwrap_or(false)
}

struct Compiler<'t> {
    text: &'t [char],
    at: usize,
    /// Number of paths around this filter.
    paths: usize,
    /// Number of open parentheses.
    depth: usize,
}

impl Compiler<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip_blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    fn unreadable(&self) -> String {
        let text: String = self.text.iter().collect();
        let character = self.peek().unwrap_or(')');
        // Including the filter's brackets: `[?(`.
        let position = self.at + 3;
        format!(
            "Failed to parse filter: [?({text})], error on position: {position}, char: {character}"
        )
    }

    fn takes(&mut self, word: &str) -> bool {
        self.skip_blanks();
        let length = word.chars().count();
        let rest = self.text.get(self.at..self.at + length);
        let found = rest.is_some_and(|rest| rest.iter().copied().eq(word.chars()));
        self.at += if found { length } else { 0 };
        found
    }

    fn any(&mut self) -> Result<Filter, String> {
        let mut filters = vec![self.all()?];
        while self.takes("||") {
            filters.push(self.all()?);
        }
        Ok(if filters.len() == 1 {
            filters.remove(0)
        } else {
            Filter::Any(filters)
        })
    }

    fn all(&mut self) -> Result<Filter, String> {
        let mut filters = vec![self.operand()?];
        while self.takes("&&") {
            filters.push(self.operand()?);
        }
        Ok(if filters.len() == 1 {
            filters.remove(0)
        } else {
            Filter::All(filters)
        })
    }

    fn operand(&mut self) -> Result<Filter, String> {
        self.skip_blanks();
        let start = self.at;
        if self.takes("!") {
            self.skip_blanks();
            if !matches!(self.peek(), Some('$' | '@')) {
                return self.deeper(|compiler| Ok(Filter::Not(Box::new(compiler.operand()?))));
            }
            self.at = start;
        }
        if self.takes("(") {
            let filter = self.deeper(Self::any)?;
            if !self.takes(")") {
                return Err("Expected character: )".to_owned());
            }
            return Ok(filter);
        }
        self.expression()
    }

    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Filter, String>,
    ) -> Result<Filter, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(format!(
                "Parentheses within each other, more than {DEEPEST}"
            ));
        }
        let filter = read(self);
        self.depth -= 1;
        filter
    }

    fn expression(&mut self) -> Result<Filter, String> {
        let negated = self.takes("!");
        let left = self.value()?;
        let behind = self.at;
        if let Some(operator) = self.operator() {
            let failed_at = self.at;
            match self.value() {
                Ok(right) => return Ok(Filter::Compares(left, operator, right)),
                Err(fault) if !matches!(left, Operand::Path(_)) => return Err(fault),
                Err(_) => {
                    self.skip_blanks();
                    if !matches!(self.peek(), Some('!' | '$' | '@')) {
                        self.at = failed_at;
                        self.skip_blanks();
                        return Err(self.unreadable());
                    }
                }
            }
        }
        self.at = behind;
        match left {
            Operand::Path(path) => Ok(Filter::Exists(path, !negated)),
            _ => Err("Expected path node".to_owned()),
        }
    }

    fn operator(&mut self) -> Option<Operator> {
        self.skip_blanks();
        let start = self.at;
        let symbol = |one: char| matches!(one, '<' | '>' | '=' | '~' | '!');
        let is_symbol = self.peek().is_some_and(symbol);
        while self
            .peek()
            .is_some_and(|one| if is_symbol { symbol(one) } else { one != ' ' })
        {
            self.at += 1;
        }
        let word: String = self.text[start..self.at].iter().collect();
        let word = word.to_uppercase();
        let found = OPERATORS.iter().find(|(one, _)| *one == word);
        found.map(|(_, operator)| *operator)
    }

    fn value(&mut self) -> Result<Operand, String> {
        self.skip_blanks();
        match self.peek() {
            Some('$' | '@') => self.path(),
            Some(quote @ ('\'' | '"')) => {
                let end =
                    unescaped(self.text, self.at + 1, quote).ok_or_else(|| self.unreadable())?;
                let text = unquoted(&self.text[self.at + 1..end]);
                self.at = end + 1;
                Ok(Operand::Value(Json::Text(text)))
            }
            Some('/') => self.pattern(),
            Some('{') => self.json('{', '}'),
            Some('[') => self.json('[', ']'),
            _ => self.word(),
        }
    }

    /// `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<Operand, String> {
        for (word, value) in [
            ("true", Json::Bool(true)),
            ("false", Json::Bool(false)),
            ("null", Json::Null),
        ] {
            if self.takes(word) {
                return Ok(Operand::Value(value));
            }
        }
        let start = self.at;
        let part = |one: char| one.is_ascii_digit() || matches!(one, '-' | '.' | 'E' | 'e');
        while self.peek().is_some_and(part) {
            self.at += 1;
        }
        let text: String = self.text[start..self.at].iter().collect();
        match Json::read(&text) {
            Ok(number) if is_number(&number) => Ok(Operand::Value(number)),
            _ => Err(self.unreadable()),
        }
    }

    /// A pattern between slashes, followed by its flags.
    fn pattern(&mut self) -> Result<Operand, String> {
        let end = unescaped(self.text, self.at + 1, '/').ok_or_else(|| self.unreadable())?;
        let pattern: String = self.text[self.at + 1..end].iter().collect();
        self.at = end + 1;
        let mut flags = String::new();
        while let Some(flag @ ('i' | 'm' | 's' | 'x' | 'd' | 'u' | 'U')) = self.peek() {
            if matches!(flag, 'i' | 'm' | 's' | 'x') {
                flags.push(flag);
            }
            self.at += 1;
        }
        let flags = if flags.is_empty() {
            flags
        } else {
            format!("(?{flags})")
        };
        // The whole text must match, if necessary with other branches.
        let pattern = Oro::compile(&format!("{flags}\\A(?:{pattern})\\z"));
        pattern
            .map(|pattern| Operand::Pattern(Box::new(pattern)))
            .map_err(|fault| fault.0)
    }

    fn json(&mut self, open: char, close: char) -> Result<Operand, String> {
        let start = self.at;
        let end = matching(self.text, start, open, close).ok_or_else(|| self.unreadable())?;
        self.at = end + 1;
        let text: String = self.text[start..=end].iter().collect();
        Json::read(&text).map(Operand::Value)
    }

    /// A path ends at a blank, at a comparison, or at a parenthesis that does not close a function.
    fn path(&mut self) -> Result<Operand, String> {
        let start = self.at;
        self.at += 1;
        while let Some(character) = self.peek() {
            match character {
                '[' => {
                    let end = matching(self.text, self.at, '[', ']');
                    self.at = end.ok_or_else(|| self.unreadable())? + 1;
                    continue;
                }
                ')' if self.text[self.at - 1] == '(' => {}
                ' ' | '<' | '>' | '=' | '~' | '!' | ')' => break,
                _ => {}
            }
            self.at += 1;
        }
        let text: String = self.text[start..self.at].iter().collect();
        super::compile::compile(&text, self.paths + 1).map(Operand::Path)
    }
}

/// The position of the bracket that closes the one at `open_at`; texts are skipped.
fn matching(text: &[char], open_at: usize, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = open_at;
    loop {
        match text.get(at)? {
            one if *one == open => depth += 1,
            one if *one == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            quote @ ('\'' | '"') => at = unescaped(text, at + 1, *quote)?,
            _ => {}
        }
        at += 1;
    }
}

/// A text without escaping backslashes.
fn unquoted(text: &[char]) -> String {
    let mut out = String::new();
    let mut rest = text.iter();
    while let Some(character) = rest.next() {
        match character {
            '\\' => out.extend(rest.next()),
            plain => out.push(*plain),
        }
    }
    out
}
