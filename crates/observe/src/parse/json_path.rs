//! Where a number stands in a JSON text: `queue.depth`, `items[0].n`, `items.0["a.b"]`.
//!
//! Must not know where the text comes from. Invariant: what parses is written so that it parses to the same.

use std::fmt;

use serde_json::Value;

use super::finite;

/// Steps of a path: nobody writes more.
const STEPS_MAX: usize = 64;

/// A path into a JSON text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonPath {
    steps: Vec<PathStep>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    /// A key of an object, or an index of an array where it is a number.
    Key(String),
    /// An index of an array; from the end where it is negative.
    Index(i64),
}

impl JsonPath {
    /// Reads a path; the empty one, or `$`, is the whole text.
    ///
    /// # Errors
    /// It is not of this form.
    pub fn parse(text: &str) -> Result<JsonPath, String> {
        let refused = || format!("{text:?} is not a path; write it as items[0].name");
        let mut rest = text.trim();
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside).ok_or_else(refused)?,
                None => key(rest, steps.is_empty()).ok_or_else(refused)?,
            };
            steps.push(step);
            rest = after;
            if steps.len() > STEPS_MAX {
                return Err(refused());
            }
        }
        Ok(JsonPath { steps })
    }

    /// The value there; `None`: there is none.
    #[must_use]
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        self.steps
            .iter()
            .try_fold(value, |value, step| match (step, value) {
                (PathStep::Key(key), Value::Object(fields)) => fields.get(key),
                (PathStep::Key(key), Value::Array(items)) => items.get(key.parse::<usize>().ok()?),
                (PathStep::Index(index), Value::Array(items)) => {
                    let place = match index.is_negative() {
                        true => items
                            .len()
                            .checked_add_signed(isize::try_from(*index).ok()?)?,
                        false => usize::try_from(*index).ok()?,
                    };
                    items.get(place)
                }
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

/// The number that a value is: a number, a text that is one, or true and false as one and zero.
#[must_use]
pub fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64().filter(|number| number.is_finite()),
        Value::String(text) => finite(text),
        Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
        _ => None,
    }
}

/// `NAME` or `.NAME`, up to the next dot or bracket.
fn key(rest: &str, is_first: bool) -> Option<(PathStep, &str)> {
    let name = match rest.strip_prefix('.') {
        Some(name) => name,
        None if is_first => rest,
        None => return None,
    };
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (name, after) = name.split_at(end);
    let is_name = !name.is_empty() && !name.contains(['"', ']']);
    is_name.then(|| (PathStep::Key(name.to_owned()), after))
}

/// What stands behind `[`: an index or a key in double quotes, then `]`.
fn bracket(inside: &str) -> Option<(PathStep, &str)> {
    if inside.starts_with('"') {
        let mut texts = serde_json::Deserializer::from_str(inside).into_iter::<String>();
        let key = texts.next()?.ok()?;
        let after = inside.get(texts.byte_offset()..)?;
        return Some((PathStep::Key(key), after.strip_prefix(']')?));
    }
    let (index, after) = inside.split_once(']')?;
    Some((PathStep::Index(index.trim().parse().ok()?), after))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str) -> Option<f64> {
        let value = json!({
            "queue": { "depth": 7, "a.b": "1.5" },
            "items": [{ "n": 1 }, { "n": 2 }],
            "up": true,
            "none": null,
        });
        JsonPath::parse(path).unwrap().find(&value).and_then(number)
    }

    #[test]
    fn paths_lead_to_numbers() {
        assert_eq!(found("queue.depth"), Some(7.0));
        assert_eq!(found("$.queue[\"a.b\"]"), Some(1.5));
        assert_eq!(found("items[0].n"), Some(1.0));
        assert_eq!(found("items.1.n"), Some(2.0));
        assert_eq!(found("items[-1].n"), Some(2.0));
        assert_eq!(found("up"), Some(1.0));
        for nothing in ["none", "items[2].n", "items[-3].n", "queue", "", "x.y"] {
            assert_eq!(found(nothing), None, "{nothing}");
        }
        assert_eq!(number(&json!(3.5)), Some(3.5));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for text in ["a[", "a[x]", "a..b", "a.", "a]b", "[\"a]", "[0]b"] {
            assert!(JsonPath::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_that_is_written_parses_to_the_same() {
        for text in ["", "a.b[0]", "[\"x\\\"y\"].c[-1]"] {
            let path = JsonPath::parse(text).unwrap();
            assert_eq!(JsonPath::parse(&path.to_string()), Ok(path));
        }
    }
}
