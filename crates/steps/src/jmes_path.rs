//! JMESPath as in JMeter's elements: an expression, and its result for a text.
//!
//! Must not know elements. Invariant: a compiled expression is short enough for recursive processing.
//!
//! The members of an object are printed in the order of the first object with the same names in the expression,
//! or otherwise in the text.

use std::collections::HashMap;
use std::fmt;

use jmespath::ast::Ast;
use jmespath::{Expression, Rcvar, Variable};
use loadline_java::numbers::double_to_string;
use serde::de::IgnoredAny;

use crate::json::Json;

/// Maximum bytes of an expression: far more than any real one has.
const LONGEST: usize = 2_000;

/// Maximum number of signs that can nest a part of an expression. The library parses and evaluates recursively,
/// with 2 KB of stack per level, and more without optimisation.
const MOST_SIGNS: usize = 200;

/// Characters of invalid JSON that Jackson shows.
const SHOWN: usize = 500;

/// A compiled expression.
pub struct JmesPath {
    expression: Expression<'static>,
    /// Names of members in the order of the expression.
    hashes: Vec<Vec<String>>,
}

impl fmt::Debug for JmesPath {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expression.as_str())
    }
}

/// The result of an expression.
#[derive(Debug)]
pub(crate) struct Found {
    value: Rcvar,
    orders: Orders,
}

impl JmesPath {
    /// Compiles an expression.
    ///
    /// # Errors
    /// The expression is invalid, too long or nested too deep.
    pub fn compile(source: &str) -> Result<JmesPath, String> {
        if source.len() > LONGEST {
            return Err(format!("the expression is longer than {LONGEST} bytes"));
        }
        let nests = |sign: &u8| b"([{!&|.".contains(sign);
        if source.bytes().filter(|sign| nests(sign)).count() > MOST_SIGNS {
            return Err(format!(
                "the expression has more than {MOST_SIGNS} dots, brackets and operators"
            ));
        }
        let expression = jmespath::compile(source);
        let read = |expression: Expression<'static>| {
            let mut hashes = Vec::new();
            gather_hashes(expression.as_ast(), &mut hashes);
            JmesPath { expression, hashes }
        };
        expression.map(read).map_err(|fault| {
            let message = fault.to_string();
            let message = message.lines().next().unwrap_or_default();
            format!("Unable to compile expression \"{source}\": {message}")
        })
    }

    /// Evaluates it on a JSON text.
    ///
    /// # Errors
    /// The text is not JSON, or a function does not accept its arguments.
    pub(crate) fn find(&self, text: &str) -> Result<Found, String> {
        let document = read(text)?;
        let text = first_value(text);
        let value = self.expression.search(document);
        let value = value.map_err(|fault| fault.to_string())?;
        let mut orders = Orders::default();
        if matches!(&*value, Variable::Object(_) | Variable::Array(_)) {
            self.hashes.iter().for_each(|names| orders.note(names));
            orders.add(&Json::read(text)?);
        }
        Ok(Found { value, orders })
    }
}

/// The value at the start of a JSON text.
fn read(text: &str) -> Result<Variable, String> {
    Variable::from_json(first_value(text)).map_err(|fault| unread(text, &fault))
}

/// The first value in a JSON text: JMeter reads no further.
fn first_value(text: &str) -> &str {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => &text[..values.byte_offset()],
        // The parser will report the fault.
        _ => text,
    }
}

/// The member names of objects constructed by parts of an expression.
fn gather_hashes(ast: &Ast, hashes: &mut Vec<Vec<String>>) {
    match ast {
        Ast::MultiHash { elements, .. } => {
            hashes.push(elements.iter().map(|pair| pair.key.clone()).collect());
            elements
                .iter()
                .for_each(|pair| gather_hashes(&pair.value, hashes));
        }
        Ast::MultiList { elements, .. } | Ast::Function { args: elements, .. } => {
            elements.iter().for_each(|one| gather_hashes(one, hashes));
        }
        Ast::Comparison { lhs, rhs, .. }
        | Ast::Projection { lhs, rhs, .. }
        | Ast::And { lhs, rhs, .. }
        | Ast::Or { lhs, rhs, .. }
        | Ast::Subexpr { lhs, rhs, .. }
        | Ast::Condition {
            predicate: lhs,
            then: rhs,
            ..
        } => {
            gather_hashes(lhs, hashes);
            gather_hashes(rhs, hashes);
        }
        Ast::Expref { ast: node, .. }
        | Ast::Flatten { node, .. }
        | Ast::Not { node, .. }
        | Ast::ObjectValues { node, .. } => gather_hashes(node, hashes),
        Ast::Identity { .. }
        | Ast::Field { .. }
        | Ast::Index { .. }
        | Ast::Literal { .. }
        | Ast::Slice { .. } => {}
    }
}

/// The order of objects' members in a document, by their sorted names.
#[derive(Debug, Default)]
struct Orders(HashMap<Vec<String>, Vec<String>>);

impl Orders {
    /// Stores an order, unless there is already one for these names.
    fn note(&mut self, names: &[String]) {
        let mut sorted = names.to_vec();
        sorted.sort();
        self.0.entry(sorted).or_insert_with(|| names.to_vec());
    }

    fn add(&mut self, value: &Json) {
        match value {
            Json::Array(elements) => elements.iter().for_each(|one| self.add(one)),
            Json::Object(members) => {
                let names: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
                self.note(&names);
                members.iter().for_each(|(_, one)| self.add(one));
            }
            _ => {}
        }
    }
}

impl Found {
    /// Whether it is null, which is also the result if nothing was found.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&*self.value, Variable::Null)
    }

    /// The content of a string, and anything else as JSON.
    pub(crate) fn told(&self) -> String {
        self.text_of(&self.value)
    }

    /// The items of a list, each printed; anything else as a single item.
    pub(crate) fn each(&self) -> Vec<String> {
        match &*self.value {
            Variable::Array(elements) => elements.iter().map(|one| self.text_of(one)).collect(),
            _ => vec![self.told()],
        }
    }

    /// Whether it equals the expectation: as a text, or otherwise as the value at the start of a JSON text.
    ///
    /// # Errors
    /// The text is not JSON.
    pub(crate) fn is(&self, text: &str) -> Result<bool, String> {
        if self.told() == text {
            return Ok(true);
        }
        let expected = read(text)?;
        // A number with a fraction differs from one without.
        Ok(self.text_of(&expected) == self.told() && expected == *self.value)
    }

    fn text_of(&self, value: &Variable) -> String {
        if let Variable::String(text) = value {
            return text.clone();
        }
        let mut out = String::new();
        self.write(value, &mut out);
        out
    }

    fn write(&self, value: &Variable, out: &mut String) {
        match value {
            Variable::Null | Variable::Expref(_) => out.push_str("null"),
            Variable::Bool(truth) => out.push_str(&truth.to_string()),
            Variable::String(text) => out.push_str(&quoted(text)),
            Variable::Number(number) => match (number.as_i64(), number.as_u64()) {
                (None, None) => {
                    let number = number.as_f64().unwrap_or_default();
                    out.push_str(&double_to_string(number));
                }
                _ => out.push_str(&number.to_string()),
            },
            Variable::Array(elements) => {
                out.push('[');
                for (index, element) in elements.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    self.write(element, out);
                }
                out.push(']');
            }
            Variable::Object(members) => {
                let sorted: Vec<String> = members.keys().cloned().collect();
                let names = self.orders.0.get(&sorted).unwrap_or(&sorted);
                let members = names.iter().filter_map(|name| members.get_key_value(name));
                out.push('{');
                for (index, (name, member)) in members.enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    out.push_str(&quoted(name));
                    out.push(':');
                    self.write(member, out);
                }
                out.push('}');
            }
        }
    }
}

/// The error of Jackson, JMeter's JSON parser, for invalid text; `fault`: the message if Jackson's words are
/// unknown.
fn unread(text: &str, fault: &str) -> String {
    const VALUES: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";
    let blank = text.len() - text.trim_start().len();
    let rest = &text[blank..];
    let is_of_word = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$');
    let word: &str = &rest[..rest.find(|one| !is_of_word(one)).unwrap_or(rest.len())];
    let (what, behind) = match rest.chars().next() {
        None => ("No content to map due to end-of-input".to_owned(), 0),
        Some(first) if first.is_alphabetic() => {
            let what = format!("Unrecognized token '{word}': was expecting {VALUES}");
            (what, word.len() + 1)
        }
        Some(first) if first.is_ascii_digit() || "-\"[{".contains(first) => {
            return fault.to_owned();
        }
        Some(first) => {
            let code = u32::from(first);
            let what = format!(
                "Unexpected character ('{first}' (code {code})): expected a valid value {VALUES}"
            );
            (what, first.len_utf8() + 1)
        }
    };
    let line = 1 + text[..blank].matches('\n').count();
    let column = text[..blank]
        .rsplit('\n')
        .next()
        .unwrap_or_default()
        .chars()
        .count()
        + behind;
    let shown = text
        .char_indices()
        .nth(SHOWN)
        .map_or(text.len(), |(at, _)| at);
    let left_out = match text[shown..].chars().count() {
        0 => String::new(),
        count => format!("[truncated {count} chars]"),
    };
    format!(
        "{what}\n at [Source: (String)\"{}\"{left_out}; line: {line}, column: {column}]",
        &text[..shown]
    )
}

/// A quoted text as in JSON.
fn quoted(text: &str) -> String {
    Variable::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(expression: &str, text: &str) -> Result<Vec<String>, String> {
        Ok(JmesPath::compile(expression)?.find(text)?.each())
    }

    #[test]
    fn values_are_told_as_java_tells_them() {
        let text = r#"{"z": 1, "a": {"y": [1.50, 1e10, "q\"", null], "b": true}, "big": 12345678901234567890}"#;
        assert_eq!(
            found("@", text).expect("it is there"),
            [r#"{"z":1,"a":{"y":[1.5,1.0E10,"q\"",null],"b":true},"big":12345678901234567890}"#]
        );
        assert_eq!(
            found("a.y", text).expect("it is there"),
            ["1.5", "1.0E10", "q\"", "null"]
        );
    }

    #[test]
    fn faults_are_told() {
        let told = |text: &str| found("a", text).expect_err("no JSON");
        assert_eq!(
            told("GET /x"),
            "Unrecognized token 'GET': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')\n \
             at [Source: (String)\"GET /x\"; line: 1, column: 4]"
        );
        assert_eq!(
            told("\n <p>"),
            "Unexpected character ('<' (code 60)): expected a valid value (JSON String, Number, Array, Object or token 'null', \
             'true' or 'false')\n at [Source: (String)\"\n <p>\"; line: 2, column: 3]"
        );
        assert!(told(&format!("x{}", " ".repeat(600))).contains("[truncated 101 chars]; line: 1"));
        assert!(found("[", "{}").is_err(), "malformed");
        assert!(found("a", "nope").is_err(), "no JSON");
        assert!(found("abs(a)", "{\"a\":\"x\"}").is_err(), "no number");
        assert!(found(&"!".repeat(LONGEST + 1), "{}").is_err(), "too long");
        let nested = |levels| format!("{}@{}", "(".repeat(levels), ")".repeat(levels));
        assert!(found(&nested(MOST_SIGNS), "1").is_ok(), "deep");
        assert!(found(&nested(MOST_SIGNS + 1), "1").is_err(), "too deep");
        assert!(found(&"!".repeat(MOST_SIGNS + 1), "1").is_err(), "too deep");
    }
}
