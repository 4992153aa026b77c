//! The functions of expressions: those of XPath 1.0, and text functions of later versions that plans use.
//!
//! Must not know how arguments were computed. Invariant: a checked call has enough arguments.

use loadline_java::numbers::double_to_string;
use loadline_java::oro::Oro;

use super::evaluate::{At, Node, Value};

/// Functions with their minimum and maximum number of arguments.
const FUNCTIONS: [(&str, usize, usize); 35] = [
    ("last", 0, 0),
    ("position", 0, 0),
    ("count", 1, 1),
    ("local-name", 0, 1),
    ("namespace-uri", 0, 1),
    ("name", 0, 1),
    ("string", 0, 1),
    ("concat", 2, 99),
    ("starts-with", 2, 2),
    ("ends-with", 2, 2),
    ("contains", 2, 2),
    ("substring-before", 2, 2),
    ("substring-after", 2, 2),
    ("substring", 2, 3),
    ("string-length", 0, 1),
    ("normalize-space", 0, 1),
    ("translate", 3, 3),
    ("boolean", 1, 1),
    ("not", 1, 1),
    ("true", 0, 0),
    ("false", 0, 0),
    ("number", 0, 1),
    ("sum", 1, 1),
    ("floor", 1, 1),
    ("ceiling", 1, 1),
    ("round", 1, 1),
    ("abs", 1, 1),
    ("lower-case", 1, 1),
    ("upper-case", 1, 1),
    ("matches", 2, 2),
    ("exists", 1, 1),
    ("empty", 1, 1),
    ("string-join", 2, 2),
    ("data", 1, 1),
    ("id", 1, 1),
];

/// Checks that the function exists and accepts this number of arguments.
pub(super) fn check(name: &str, arguments: usize) -> Result<(), String> {
    match FUNCTIONS.iter().find(|(one, ..)| *one == name) {
        None => Err(format!("Could not find function: {name}")),
        Some((_, least, most)) if arguments < *least || arguments > *most => Err(format!(
            "FuncArgs: {name} does not take {arguments} arguments"
        )),
        Some(_) => Ok(()),
    }
}

pub(super) fn call<'a, 'i>(
    name: &str,
    arguments: &[Value<'a, 'i>],
    at: At<'_, 'a, 'i>,
) -> Result<Value<'a, 'i>, String> {
    let text = |index: usize| match arguments.get(index) {
        Some(value) => value.text(),
        None => at.node.text(),
    };
    let number = |index: usize| match arguments.get(index) {
        Some(value) => value.number(),
        None => to_number(&at.node.text()),
    };
    let nodes = || match arguments.first() {
        Some(Value::Nodes(nodes)) => Ok(nodes.clone()),
        Some(_) => Err(format!("{name}() takes a set of nodes")),
        None => Ok(vec![at.node]),
    };
    let first = || nodes().map(|nodes| nodes.first().copied());
    if let Some(made) = on_texts(name, arguments.len(), text, number) {
        return made;
    }
    Ok(match name {
        "last" => whole(at.size),
        "position" => whole(at.position),
        "count" => whole(nodes()?.len()),
        "local-name" => {
            Value::Text(first()?.map_or_else(String::new, |node| node.expanded().1.to_owned()))
        }
        "namespace-uri" => {
            let uri = first()?.and_then(|node| node.expanded().0);
            Value::Text(uri.unwrap_or_default().to_owned())
        }
        "name" => Value::Text(first()?.map_or("", Node::written_name).to_owned()),
        "string" => Value::Text(text(0)),
        "boolean" => Value::Truth(arguments[0].truth()),
        "not" => Value::Truth(!arguments[0].truth()),
        "true" => Value::Truth(true),
        "false" => Value::Truth(false),
        "number" => Value::Number(number(0)),
        "sum" => Value::Number(nodes()?.iter().map(|node| to_number(&node.text())).sum()),
        "floor" => Value::Number(number(0).floor()),
        "ceiling" => Value::Number(number(0).ceil()),
        "round" => Value::Number((number(0) + 0.5).floor()),
        "abs" => Value::Number(number(0).abs()),
        "exists" => Value::Truth(!nodes()?.is_empty()),
        "empty" => Value::Truth(nodes()?.is_empty()),
        "string-join" => {
            let texts: Vec<String> = nodes()?.iter().map(|node| node.text()).collect();
            Value::Text(texts.join(&text(1)))
        }
        "data" => Value::Nodes(nodes()?),
        // Without a document type no attribute is an identifier.
        "id" => Value::Nodes(Vec::new()),
        other => return Err(format!("Could not find function: {other}")),
    })
}

/// Functions that only use their arguments as texts; `None`: another function.
fn on_texts<'a, 'i>(
    name: &str,
    count: usize,
    text: impl Fn(usize) -> String,
    number: impl Fn(usize) -> f64,
) -> Option<Result<Value<'a, 'i>, String>> {
    Some(Ok(match name {
        "concat" => Value::Text((0..count).map(text).collect()),
        "starts-with" => Value::Truth(text(0).starts_with(&text(1))),
        "ends-with" => Value::Truth(text(0).ends_with(&text(1))),
        "contains" => Value::Truth(text(0).contains(&text(1))),
        "substring-before" => Value::Text(
            text(0)
                .split_once(&text(1))
                .map_or("", |(before, _)| before)
                .to_owned(),
        ),
        "substring-after" => Value::Text(
            text(0)
                .split_once(&text(1))
                .map_or("", |(_, after)| after)
                .to_owned(),
        ),
        "substring" => Value::Text(substring(
            &text(0),
            number(1),
            (count > 2).then(|| number(2)),
        )),
        "string-length" => whole(text(0).encode_utf16().count()),
        "normalize-space" => Value::Text(
            text(0)
                .split_ascii_whitespace()
                .collect::<Vec<_>>()
                .join(" "),
        ),
        "translate" => Value::Text(translate(&text(0), &text(1), &text(2))),
        "lower-case" => Value::Text(text(0).to_lowercase()),
        "upper-case" => Value::Text(text(0).to_uppercase()),
        "matches" => {
            let pattern = match Oro::compile(&text(1)) {
                Ok(pattern) => pattern,
                Err(fault) => return Some(Err(fault.0)),
            };
            Value::Truth(pattern.contains(&text(0)).unwrap_or(false))
        }
        _ => return None,
    }))
}

fn whole<'a, 'i>(count: usize) -> Value<'a, 'i> {
    #[expect(clippy::cast_precision_loss, reason = "a count of something in memory")]
    Value::Number(count as f64)
}

/// Characters from a position on; positions count from 1, both numbers are rounded.
fn substring(text: &str, start: f64, length: Option<f64>) -> String {
    let start = (start + 0.5).floor();
    let end = length.map_or(f64::INFINITY, |length| start + (length + 0.5).floor());
    let wanted = |index: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a place in a text in memory")]
        let position = (index + 1) as f64;
        position >= start && position < end
    };
    let characters = text.chars().enumerate();
    characters
        .filter(|(index, _)| wanted(*index))
        .map(|(_, one)| one)
        .collect()
}

fn translate(text: &str, from: &str, to: &str) -> String {
    let to: Vec<char> = to.chars().collect();
    let one = |character: char| match from.chars().position(|one| one == character) {
        Some(place) => to.get(place).copied(),
        None => Some(character),
    };
    text.chars().filter_map(one).collect()
}

pub(super) fn to_number(text: &str) -> f64 {
    let text = text.trim();
    let plain = text
        .bytes()
        .all(|one| one.is_ascii_digit() || matches!(one, b'.' | b'-'));
    if plain {
        text.parse().unwrap_or(f64::NAN)
    } else {
        f64::NAN
    }
}

/// A number in XPath's format: without an exponent, and integers without a point.
pub(super) fn number_text(number: f64) -> String {
    if number.is_nan() || number.is_infinite() {
        return double_to_string(number);
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    number.to_string()
}
