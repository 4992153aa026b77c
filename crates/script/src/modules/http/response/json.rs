//! `Response.json(path)`: the body as JSON, whole or the part selected by a path.
//!
//! Paths are in the dialect of gjson. Must not know where the body came from. Invariant: a body that is not
//! JSON has no parts; as a whole it is an error with line and character, in the words of Go's `encoding/json`.

use std::io;

use rquickjs::function::{Opt, This};
use rquickjs::{Class, Ctx, Result, Value};
use serde::de::IgnoredAny;

use super::super::error;
use super::{Field, Response, modifiers};
use crate::json_fault;
use crate::modules::bytes::{mended, of_data};
use crate::modules::go_values::GoText;
use crate::nesting::json_levels;
use crate::room::with_room;

const NO_BODY: &str = "the body is null so we can't transform it to JSON - this likely was because of a request error getting the response";

/// Maximum parts and wildcards of a path: each is a nested call.
const PARTS_MAX: usize = 48;
/// Parts of a path that fit on a virtual user's own stack.
const PARTS_ON_OWN_STACK: usize = 8;
/// Stack bytes for all other paths: ten times the measured use of its parts and levels.
const ROOM_BYTES: usize = 4 << 20;
/// Maximum depth of a body for modifiers (`@pretty`, `@valid`): each level is also a nested call.
const LEVELS_MAX: usize = 1_000;

pub(super) fn json<'js>(
    ctx: Ctx<'js>,
    this: This<Class<'js, Response<'js>>>,
    path: Opt<GoText>,
) -> Result<Value<'js>> {
    let response = this.0.borrow();
    let Some(GoText(path)) = path.0 else {
        return whole(&ctx, &response);
    };
    let found = with_text(&response, |text| {
        if !response.is_json.get() && serde_json::from_str::<IgnoredAny>(text).is_err() {
            return Ok(None);
        }
        response.is_json.set(true);
        if let Some(why) = too_deep(&path, text).or_else(|| unsupported(&path)) {
            return Err(why);
        }
        follow(text, &path).map_err(|error| format!("no memory to follow the path: {error}"))
    })?;
    match found {
        None => Err(error::throw(&ctx, NO_BODY)),
        Some(Ok(None)) => Ok(Value::new_undefined(ctx)),
        Some(Ok(Some(json))) => ctx.json_parse(json),
        Some(Err(why)) => Err(error::throw(&ctx, &why)),
    }
}

/// The part of a text selected by a path, as JSON.
fn follow(text: &str, path: &str) -> io::Result<Option<String>> {
    let found = || found(text, path);
    if parts(path) <= PARTS_ON_OWN_STACK && !path.contains('@') {
        return Ok(found());
    }
    with_room(ROOM_BYTES, found)
}

fn found(text: &str, path: &str) -> Option<String> {
    let Some(split) = modifiers::split(path) else {
        let found = gjson::get(text, path);
        return found.exists().then(|| found.json().to_owned());
    };
    let before = match split.before {
        "" => text.to_owned(),
        before => found(text, before).unwrap_or_default(),
    };
    let modified = |json: &str| {
        let made = split.modifier.apply(json)?;
        match split.after {
            "" => Some(made),
            after => found(&made, after),
        }
    };
    if !split.to_each {
        return modified(&before);
    }
    let list = gjson::parse(&before);
    let elements = list.array();
    let each = elements.iter().filter_map(|value| modified(value.json()));
    Some(format!("[{}]", each.collect::<Vec<_>>().join(",")))
}

/// An upper bound of the nested calls for a path.
fn parts(path: &str) -> usize {
    path.bytes().filter(|b| b".|#@([{*".contains(b)).count()
}

/// A modifier of k6's paths that is not supported here.
const UNSUPPORTED: &str = "dig";

/// Why a path is refused: it contains a part that k6 knows and this dialect does not.
fn unsupported(path: &str) -> Option<String> {
    let starts_part = |at: usize| at == 0 || b".|{[,:".contains(&path.as_bytes()[at - 1]);
    for (at, _) in path.match_indices('@').filter(|(at, _)| starts_part(*at)) {
        let rest = &path[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric());
        let name = &rest[..end.unwrap_or(rest.len())];
        let is_inner = modifiers::is_known(name) && is_in_brackets(&path[..at]);
        if name == UNSUPPORTED || is_inner {
            let place = if is_inner { " in brackets" } else { "" };
            return Some(format!(
                "the modifier @{name} of paths is not supported{place}: take the value whole, and its part in the script"
            ));
        }
    }
    let mut literals = path.match_indices('!').filter(|(at, _)| starts_part(*at));
    literals
        .next()
        .map(|_| "literals (!) in paths are not supported: add the value in the script".to_owned())
}

/// Whether a bracket is open at the end of a text.
fn is_in_brackets(before: &str) -> bool {
    let count = |brackets: [char; 3]| before.matches(brackets).count();
    count(['(', '[', '{']) > count([')', ']', '}'])
}

/// Why a path is refused: it would need too much stack.
fn too_deep(path: &str, text: &str) -> Option<String> {
    if parts(path) > PARTS_MAX {
        return Some(format!(
            "the path has more than {PARTS_MAX} parts: take it in two steps"
        ));
    }
    (path.contains('@') && json_levels(text) > LEVELS_MAX).then(|| {
        format!("the body has more than {LEVELS_MAX} levels: use a path without a modifier")
    })
}

fn whole<'js>(ctx: &Ctx<'js>, response: &Response<'js>) -> Result<Value<'js>> {
    if let Some(known) = response.json.borrow().as_ref() {
        return Ok(known.clone());
    }
    let parsed = with_text(response, |text| {
        ctx.json_parse(text).map_err(|_| json_fault::describe(text))
    })?;
    match parsed {
        None => Err(error::throw(ctx, NO_BODY)),
        Some(Ok(value)) => {
            *response.json.borrow_mut() = Some(value.clone());
            Ok(value)
        }
        Some(Err(fault)) => {
            drop(ctx.catch());
            Err(error::throw(ctx, &fault))
        }
    }
}

/// Calls `with` with the body as text; `None` if there is no body.
pub(super) fn with_text<T>(
    response: &Response<'_>,
    with: impl FnOnce(&str) -> T,
) -> Result<Option<T>> {
    if response.facts.borrow().call.is_none() {
        return Ok(Some(with("")));
    }
    if let Some(bytes) = &response.facts.borrow().body {
        return Ok(Some(match std::str::from_utf8(bytes) {
            Ok(text) => with(text),
            Err(_) => with(&mended(bytes)),
        }));
    }
    let shown = response
        .values
        .borrow()
        .iter()
        .find(|(field, _)| *field == Field::Body)
        .map(|(_, value)| value.clone());
    let Some(shown) = shown else {
        return Ok(None);
    };
    Ok(of_data(&shown)?.map(|bytes| with(&mended(&bytes))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_not_followed_are_named() {
        for path in ["@dig:k", "{x:a.@dig:k}", "{x:a.@keys}", "[a,@group]"] {
            assert!(
                unsupported(path).is_some_and(|why| why.contains("modifier @")),
                "{path}"
            );
        }
        assert!(unsupported("{\"v\":!5}").is_some() && unsupported("a|!5").is_some());
        for path in [
            "a.b",
            "a@keys",
            "a.@keysx",
            "l.#(k!=1).m",
            "l.#(s!%\"x*\")#",
            "@this|@pretty",
            "a.b!",
        ] {
            assert_eq!(unsupported(path), None, "{path}");
        }
    }

    #[test]
    fn long_paths_and_deep_bodies_are_refused_and_no_others() {
        let deep = "[".repeat(LEVELS_MAX + 1);
        assert_eq!(too_deep("a.b.0|#(c>1.5)#.{d,e}", &deep), None);
        assert!(too_deep("@valid", &deep).is_some());
        assert_eq!(too_deep("@valid", &deep[1..]), None);
        assert!(too_deep(&"a|".repeat(PARTS_MAX + 1), "{}").is_some());
        assert_eq!(too_deep(&"a|".repeat(PARTS_MAX), "{}"), None);
    }
}
