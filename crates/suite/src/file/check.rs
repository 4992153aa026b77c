//! Checks a tree against the tables: unknown keys, missing keys, values of the wrong type.
//!
//! Must not know any key. Invariant: a checked tree has no key that is not in a table.

use loadline_model::duration;
use loadline_model::nearest::nearest;

use super::Problem;
use super::table::{KeyType, Object};
use super::{At, Entry, Node, Value};

/// Checks a value. Text with `${…}` is accepted for any type: it is checked again when it is filled in.
///
/// # Errors
/// The first thing that is wrong, in the order of the file.
pub(super) fn check(node: &Node, kind: &KeyType) -> Result<(), Problem> {
    if matches!(&node.value, Value::Text(text) if text.contains("${")) && is_scalar(kind) {
        return Ok(());
    }
    match kind {
        KeyType::Object(object) => check_object(node, object),
        KeyType::MapOf(inner) => entries_of(node, kind)?
            .iter()
            .try_for_each(|entry| check(&entry.node, inner)),
        KeyType::ListOf(inner) => match &node.value {
            Value::List(items) => items.iter().try_for_each(|item| check(item, inner)),
            _ => Err(other_kind(node, kind)),
        },
        KeyType::OneOrMore(inner) => node.items().iter().try_for_each(|item| check(item, inner)),
        KeyType::Either(kinds) => check_either(node, kind, kinds),
        KeyType::Foreign(_) => Ok(()),
        _ if fits(node, kind) => Ok(()),
        _ => Err(other_kind(node, kind)),
    }
}

fn is_scalar(kind: &KeyType) -> bool {
    match kind {
        KeyType::Object(_) | KeyType::MapOf(_) | KeyType::ListOf(_) => false,
        KeyType::OneOrMore(inner) => is_scalar(inner),
        KeyType::Either(kinds) => kinds.iter().any(is_scalar),
        _ => true,
    }
}

fn fits(node: &Node, kind: &KeyType) -> bool {
    let text = node.scalar();
    match (kind, &text) {
        (KeyType::Flag, _) => node.flag().is_some(),
        (KeyType::Text, Some(_)) => true,
        (KeyType::Count, Some(text)) => text.parse::<u64>().is_ok(),
        (KeyType::Number, Some(text)) => text.parse::<f64>().is_ok_and(f64::is_finite),
        (KeyType::Share, Some(text)) => parse_share(text).is_some(),
        (KeyType::Duration, Some(text)) => duration::parse_with_units(text).is_ok(),
        (KeyType::Choice(words), Some(text)) => words.contains(&text.as_str()),
        _ => false,
    }
}

/// A share as a part of one.
pub(super) fn parse_share(text: &str) -> Option<f64> {
    let share = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.trim().parse().ok()?,
    };
    (0.0..=1.0).contains(&share).then_some(share)
}

/// Takes the alternative that looks like the value, so that its message is about what was meant.
fn check_either(node: &Node, kind: &KeyType, kinds: &[KeyType]) -> Result<(), Problem> {
    let looks_alike = |kind: &&KeyType| match (&node.value, kind) {
        (Value::Map(_), KeyType::Object(_) | KeyType::MapOf(_)) => true,
        (Value::List(_), KeyType::ListOf(_) | KeyType::OneOrMore(_)) => true,
        (Value::Map(_) | Value::List(_) | Value::Null, _) => false,
        (_, kind) => fits(node, kind),
    };
    match kinds.iter().find(looks_alike) {
        Some(kind) => check(node, kind),
        None => Err(other_kind(node, kind)),
    }
}

fn entries_of<'a>(node: &'a Node, kind: &KeyType) -> Result<&'a [Entry], Problem> {
    match &node.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(other_kind(node, kind)),
    }
}

fn other_kind(node: &Node, kind: &KeyType) -> Problem {
    let (got, wanted) = (node.described(), kind.wanted());
    Problem::new(node.at, format!("got {got}"), format!("write {wanted}"))
}

fn check_object(node: &Node, object: &'static Object) -> Result<(), Problem> {
    let entries = entries_of(node, &KeyType::Object(object))?;
    for entry in entries {
        match (object.key(&entry.key), object.others) {
            (Some(key), _) => {
                check(&entry.node, &key.kind).map_err(|problem| named(problem, entry))?;
            }
            (None, Some(others)) => check(&entry.node, others)?,
            (None, None) => return Err(unknown(entry, object)),
        }
    }
    let missing = |name: &&&str| !entries.iter().any(|entry| entry.key == **name);
    if let Some(name) = object.required.iter().find(missing) {
        let what = format!("{} needs `{name}`", object.described());
        let about = object.key(name).map_or("", |key| key.about);
        return Err(Problem::new(
            node.at,
            what,
            format!("write `{name}: …` ({about})"),
        ));
    }
    check_one_of(node.at, entries, object)
}

/// Adds the key to a message about its own value; messages from further within name theirs.
fn named(mut problem: Problem, entry: &Entry) -> Problem {
    if problem.at == entry.node.at && problem.what.starts_with("got ") {
        problem.what = format!("`{}` {}", entry.key, problem.what);
    }
    problem
}

fn check_one_of(at: At, entries: &[Entry], object: &Object) -> Result<(), Problem> {
    let chosen = |entry: &&Entry| object.one_of.contains(&entry.key.as_str());
    let mut chosen = entries.iter().filter(chosen);
    let list = object.one_of.join(", ");
    match (chosen.next(), chosen.next()) {
        (None, _) if object.one_of.is_empty() => Ok(()),
        (None, _) => Err(Problem::new(
            at,
            format!("{} says nothing", object.described()),
            format!("write one of {list}"),
        )),
        (Some(first), Some(second)) => Err(Problem::new(
            second.at,
            format!("`{}` stands beside `{}`", second.key, first.key),
            format!("keep one of {list}"),
        )),
        (Some(_), None) => Ok(()),
    }
}

fn unknown(entry: &Entry, object: &Object) -> Problem {
    let what = format!("{} has no key `{}`", object.described(), entry.key);
    let fix = match nearest(&entry.key, object.all().map(|key| key.name)) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            let names: Vec<&str> = object.all().map(|key| key.name).collect();
            format!("it has {}", names.join(", "))
        }
    };
    Problem::new(entry.at, what, fix)
}
