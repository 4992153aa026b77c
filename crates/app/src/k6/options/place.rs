//! The place that k6 names when an option of a script has the wrong type.
//!
//! k6 writes the options as indented JSON, and shows the line in which reading stopped, up to that place. What has a
//! reader of its own, such as a scenario, counts from its own beginning; the line is then another one. Must not
//! know which values are right. Invariant: the text is one line, without blanks around it.

use serde_json::{Map, Value};

use super::super::json::Json;
use super::value::{self, OptionError};

/// Stands for a value whose place in the text is looked for.
const MARK: &str = "\u{f8ff}place";

/// The line up to where k6 stops reading the option `key`, which is one of `rows`.
pub(super) fn place_of(rows: &Map<String, Value>, key: &str, error: &OptionError) -> String {
    let OptionError::Type {
        found,
        field,
        expected,
    } = error
    else {
        return String::new();
    };
    let steps = field.split('.').skip(2);
    let steps: Vec<&str> = steps.filter(|step| *step != "BaseConfig").collect();
    let wanted = Wanted {
        kind: found.split(' ').next().unwrap_or_default(),
        is_part: is_part(expected),
    };
    let options = Value::Object(rows.clone());
    let mut path = vec![key.to_owned()];
    if !rows
        .get(key)
        .is_some_and(|value| wanted.find(value, &steps, &mut path))
    {
        path.truncate(1);
    }
    let name = field.split('.').nth(1).unwrap_or(key);
    let begin = reader_depth(name, &path, expected);
    shown(&options, &path, begin)
}

/// Whether a type is that of a part of the option that its field names, such as a text in a list of them.
fn is_part(expected: &str) -> bool {
    let parts = [
        "string",
        "[]metrics.thresholdConfig",
        "metrics.thresholdConfig",
        "lib.StageFields",
        "executor.Stage",
        "lib.TLSAuthFields",
        "*lib.IPNet",
    ];
    parts.contains(&expected) || expected.starts_with("struct { ExecutorType")
}

/// The value that is looked for.
struct Wanted<'a> {
    kind: &'a str,
    is_part: bool,
}

impl Wanted<'_> {
    /// Adds to the path what leads to the first such value below the names of `steps`; returns whether there is one.
    fn find(&self, value: &Value, steps: &[&str], path: &mut Vec<String>) -> bool {
        let rest = match steps.split_first() {
            None => {
                let is_whole = !(self.is_part && (value.is_array() || value.is_object()));
                if is_whole && value::kind(value) == self.kind {
                    return true;
                }
                steps
            }
            Some((step, rest)) => {
                if let Some(below) = value.get(step) {
                    path.push((*step).to_owned());
                    return self.find(below, rest, path);
                }
                steps
            }
        };
        for (name, below) in parts_of(value) {
            path.push(name);
            let is_it = match rest {
                [] => value::kind(below) == self.kind,
                _ => self.find(below, rest, path),
            };
            if is_it {
                return true;
            }
            path.pop();
        }
        false
    }
}

/// The parts of an object, sorted by name as they are written, or of a list.
fn parts_of(value: &Value) -> Vec<(String, &Value)> {
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.map(|(at, item)| (at.to_string(), item)).collect()
        }
        Value::Object(rows) => {
            let mut rows: Vec<_> = rows.iter().map(|(name, row)| (name.clone(), row)).collect();
            rows.sort_by(|one, other| one.0.cmp(&other.0));
            rows
        }
        _ => Vec::new(),
    }
}

/// How much of the path leads to the value whose own reader stopped; nothing: the reader of all options.
fn reader_depth(name: &str, path: &[String], expected: &str) -> usize {
    let depth = path.len();
    match name {
        _ if expected == "int64" => depth,
        "thresholds" if depth > 1 => depth.min(3),
        "scenarios" => depth.min(2),
        "stages" | "tlsAuth" if depth > 1 => 2,
        "dns" => depth,
        "hosts" | "systemTags" | "tlsVersion" | "tlsCipherSuites" | "blockHostnames" => 1,
        _ => 0,
    }
}

fn shown(options: &Value, path: &[String], begin: usize) -> String {
    let wrong = at(options, path);
    let length = match wrong {
        Value::Array(_) | Value::Object(_) => 1,
        scalar => Json::from_value(scalar).compact().len(),
    };
    let text = Json::from_value(options).pretty();
    let stopped = start_of(options, path) - start_of(options, &path[..begin]) + length;
    let stopped = text.floor_char_boundary(stopped);
    let (before, after) = text.split_at(stopped);
    let from = before.rfind('\n').map_or(0, |end| end + 1);
    // As in k6, which takes the line's end from the wrong origin.
    let until = after.find('\n').unwrap_or_default().max(stopped);
    text[from..text.floor_char_boundary(until)]
        .trim()
        .to_owned()
}

fn at<'a>(options: &'a Value, path: &[String]) -> &'a Value {
    let step = |value: &'a Value, name: &String| match value {
        Value::Array(items) => name.parse::<usize>().ok().and_then(|at| items.get(at)),
        other => other.get(name),
    };
    let found = path.iter().try_fold(options, step);
    found.unwrap_or(&Value::Null)
}

/// Where the value of a path begins in the text.
fn start_of(options: &Value, path: &[String]) -> usize {
    if path.is_empty() {
        return 0;
    }
    let mut marked = options.clone();
    let pointer: String = path
        .iter()
        .map(|name| format!("/{}", escaped(name)))
        .collect();
    if let Some(value) = marked.pointer_mut(&pointer) {
        *value = Value::from(MARK);
    }
    let text = Json::from_value(&marked).pretty();
    text.find(&format!("\"{MARK}\"")).unwrap_or_default()
}

/// A name as a step of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::K6Options;

    #[test]
    fn the_line_is_the_one_that_k6_shows() {
        for (options, place) in [
            (json!({"vus": 1.5}), r#""vus":"#),
            (json!({"vus": 1.5, "z": 1}), r#""vus": 1"#),
            (json!({"vus": 1234567890123.5}), r#""vus": 1234"#),
            (json!({"duration": "1s", "vus": 1.5}), r#""duration": "1"#),
            (
                json!({"a": "<<<", "vus": 1.5}),
                r#""a": "\u003c\u003c\u003"#,
            ),
            (json!({"a": [1, 2], "vus": 1.5}), r#""a""#),
            (json!({"tags": {"k": 12345, "z": "1"}}), r#""k": 12345"#),
            (json!({"tags": {"a": {}}}), r#""a": {"#),
            (json!({"tags": []}), r#""tags": ["#),
            (json!({"hosts": "x", "vus": 1}), r#""hosts": ""#),
            (json!({"hosts": {"a": 5}}), r#""hosts":"#),
            (json!({"systemTags": [5]}), r#""systemT"#),
            (json!({"systemTags": 5}), "{"),
            (json!({"summaryTrendStats": [5]}), "5"),
            (json!({"dns": {"policy": 5, "ttl": "1m"}}), "{"),
            (
                json!({"batch": 5, "dns": {"policy": true}, "vus": 1}),
                r#""batch""#,
            ),
            (json!({"stages": ["1s:5"]}), r#""stag"#),
            (json!({"stages": {"target": 1}}), r#""stages": {"#),
            (
                json!({"stages": [{"duration": "1s", "target": 1.5}]}),
                r#""stages""#,
            ),
            (json!({"thresholds": {"http": "avg<1"}}), r#""thresho"#),
            (json!({"thresholds": {"http": {"a": 1}}}), "{"),
            (
                json!({"thresholds": {"a": ["p(95)<1"], "http": "x"}}),
                r#""thresholds""#,
            ),
            (
                json!({"thresholds": {"http_req_duration": [{"threshold": "avg<1", "abortOnFail": "x"}]}}),
                r#""htt"#,
            ),
            (json!({"scenarios": 5}), "{"),
            (json!({"scenarios": {"a": {"executor": 5}}}), ""),
            (
                json!({"scenarios": {"a": {"executor": "constant-vus", "duration": "1s", "tags": ["a"]}}}),
                r#""executor": "co"#,
            ),
            (
                json!({"scenarios": {"a": {"executor": "ramping-vus", "stages": [5]}}}),
                r#""executor": "ramping-vus","#,
            ),
            (
                json!({"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 0.5}}}),
                r#""scenarios""#,
            ),
        ] {
            let error = K6Options::from_json(&options).expect_err("a wrong type");
            assert_eq!(error.place, place, "{options}");
        }
    }
}
