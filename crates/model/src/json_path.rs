//! Paths to a value in a JSON text: `$.queue.depth`, `$.items[0].n`, `$.items[-1]["a.b"]`, `$['a.b']`.
//!
//! Must not know where the text comes from, nor what the value is used for. Grammar: `$`, then any number of
//! `.KEY`, `[N]` (from the end if negative), `["KEY"]` as a JSON string, and `['KEY']` without escapes.
//! Invariant: a parsed path formats to text that parses to the same path.

use std::fmt;

use serde_json::Value;

/// Maximum steps of a path: nobody writes more.
const STEPS_MAX: usize = 64;
/// Characters that end a key.
const STEP_BEGINS: &[char] = &['.', '['];
/// Characters that end a key if a comparison may follow the path.
const STEP_OR_COMPARISON_BEGINS: &[char] = &['.', '[', '=', '!', '<', '>', '~'];

/// A path into a JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonPath {
    steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    /// A key of an object, or an index of an array if it is a number.
    Key(String),
    /// An index of an array; from the end if negative.
    Index(i64),
}

impl JsonPath {
    /// Parses a path; `$` and the dot after it are optional, and the empty path is the whole text.
    ///
    /// # Errors
    /// What is wrong with it, and how to write one.
    pub fn parse(text: &str) -> Result<JsonPath, String> {
        let refused =
            |why: &str| format!("{text:?} is not a path: {why}; write it as items[0].name");
        let path = text.trim();
        let rooted = match path.strip_prefix('$') {
            Some(_) => path.to_owned(),
            None if path.is_empty() || path.starts_with(STEP_BEGINS) => format!("${path}"),
            None => format!("$.{path}"),
        };
        match steps(&rooted[1..], STEP_BEGINS) {
            Ok((steps, "")) => Ok(JsonPath { steps }),
            Ok((_, rest)) => Err(refused(&format!("nothing leads to {rest:?}"))),
            Err(why) => Err(refused(&why)),
        }
    }

    /// Parses a path at the start of a text and returns the rest, which may be a comparison.
    ///
    /// # Errors
    /// What is wrong with the path.
    pub fn parse_prefix(text: &str) -> Result<(JsonPath, &str), String> {
        let rest = text.strip_prefix('$').ok_or("a JSON path starts with $")?;
        let (steps, rest) = steps(rest, STEP_OR_COMPARISON_BEGINS)?;
        Ok((JsonPath { steps }, rest))
    }

    /// The value at this path; `None`: there is none.
    #[must_use]
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.steps
            .iter()
            .try_fold(value, |value, step| match (step, value) {
                (PathStep::Key(key), Value::Object(fields)) => fields.get(key),
                (PathStep::Key(key), Value::Array(items)) => items.get(key.parse::<usize>().ok()?),
                (PathStep::Index(index), Value::Array(items)) => items.get(place(*index, items)?),
                _ => None,
            })
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for step in &self.steps {
            match step {
                PathStep::Key(key) => write!(f, "[{}]", Value::from(key.as_str()))?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Resolves an index; `None`: before the first element.
fn place(index: i64, items: &[Value]) -> Option<usize> {
    match index.is_negative() {
        true => items.len().checked_add_signed(isize::try_from(index).ok()?),
        false => usize::try_from(index).ok(),
    }
}

/// Parses as many steps as there are and returns the rest. `ends`: characters that end a key.
fn steps<'t>(text: &'t str, ends: &[char]) -> Result<(Vec<PathStep>, &'t str), String> {
    let mut rest = text;
    let mut steps = Vec::new();
    loop {
        let (step, after) = if let Some(inside) = rest.strip_prefix('[') {
            bracket(inside)?
        } else if let Some(name) = rest.strip_prefix('.') {
            key(name, ends)?
        } else {
            return Ok((steps, rest));
        };
        steps.push(step);
        rest = after;
        if steps.len() > STEPS_MAX {
            return Err(format!("has more than {STEPS_MAX} steps"));
        }
    }
}

/// Parses the key after a dot.
fn key<'t>(name: &'t str, ends: &[char]) -> Result<(PathStep, &'t str), String> {
    let (name, after) = name.split_at(name.find(ends).unwrap_or(name.len()));
    match name {
        "" => Err("has a dot without a key".to_owned()),
        _ if name.contains(['"', ']']) => Err(format!("{name:?} is not a key")),
        _ => Ok((PathStep::Key(name.to_owned()), after)),
    }
}

/// Parses what follows `[`: an index or a quoted key, then `]`.
fn bracket(inside: &str) -> Result<(PathStep, &str), String> {
    if let Some(key) = inside.strip_prefix('\'') {
        let (key, after) = key.split_once("']").ok_or("has [' without its ']")?;
        return Ok((PathStep::Key(key.to_owned()), after));
    }
    if inside.starts_with('"') {
        let unended = || "has [\" without its \"]".to_owned();
        let mut texts = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let key = texts.next().and_then(Result::ok).ok_or_else(unended)?;
        let after = inside.get(texts.byte_offset()..).unwrap_or_default();
        let after = after.strip_prefix(']').ok_or_else(unended)?;
        return Ok((PathStep::Key(key), after));
    }
    let (index, after) = inside.split_once(']').ok_or("has [ without its ]")?;
    match index.trim().parse() {
        Ok(index) => Ok((PathStep::Index(index), after)),
        Err(_) => Err(format!("[{index}] is not an index")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Option<Value> {
        let value = json!({
            "queue": { "depth": 7, "a.b": "1.5", "it's": 3 },
            "items": [{ "n": 1 }, { "n": 2 }],
        });
        let path = JsonPath::parse(path).expect("a path");
        path.find(&value).cloned()
    }

    #[test]
    fn paths_lead_to_values() {
        for (path, value) in [
            ("queue.depth", json!(7)),
            ("$.queue.depth", json!(7)),
            ("$.queue[\"a.b\"]", json!("1.5")),
            ("queue['a.b']", json!("1.5")),
            ("queue[\"it's\"]", json!(3)),
            ("['queue'].depth", json!(7)),
            ("items[0].n", json!(1)),
            ("items.1.n", json!(2)),
            ("items[-1].n", json!(2)),
        ] {
            assert_eq!(found(path), Some(value), "{path}");
        }
        for nothing in [
            "items[2].n",
            "items[-3].n",
            "queue[0]",
            "x.y",
            "items[-9223372036854775808]",
        ] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
        assert_eq!(JsonPath::parse(""), JsonPath::parse("$"));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let deep = "a.".repeat(STEPS_MAX) + "a";
        for text in [
            "a[", "a[x]", "a..b", "a.", "a]b", "[\"a]", "['a]", "[0]b", "$a", &deep,
        ] {
            assert!(JsonPath::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_comparison_may_follow_a_path() {
        for (text, path, rest) in [
            ("$.a.b>=5", "a.b", ">=5"),
            ("$['a=b']!=x.y[0]", "[\"a=b\"]", "!=x.y[0]"),
            ("$.a[-1]=~^.[0-9]$", "a[-1]", "=~^.[0-9]$"),
            ("$", "", ""),
        ] {
            let path = JsonPath::parse(path).expect("a path");
            assert_eq!(JsonPath::parse_prefix(text), Ok((path, rest)), "{text}");
        }
        assert!(JsonPath::parse_prefix("a").is_err());
    }

    proptest! {
        #[test]
        fn a_path_that_is_written_parses_to_the_same(text in "[$a.\\[\\]0-9\"'\\\\é-]{0,20}") {
            if let Ok(path) = JsonPath::parse(&text) {
                prop_assert_eq!(JsonPath::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
