//! The differences between two observations, one line per place.
//!
//! Must not know the content of an observation. Invariant: there are no lines exactly if the two are equal.

use serde_json::Value;

/// Maximum number of lines: one cause often shows in many places.
const LINES_MAX: usize = 12;

/// The places where `seen` differs from `golden`.
pub(crate) fn between(golden: &Value, seen: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk("", golden, seen, &mut found);
    if found.len() > LINES_MAX {
        let more = found.len() - LINES_MAX;
        found.truncate(LINES_MAX);
        found.push(format!("and {more} more"));
    }
    found
}

/// The problem of a case; `None`: there is none. `lines` are its differences, and `is_known` whether it is a
/// known difference.
pub(crate) fn judged(title: &str, lines: &[String], is_known: bool) -> Option<String> {
    match (lines.is_empty(), is_known) {
        (true, false) | (false, true) => None,
        (true, true) => Some(format!(
            "{title}: is listed as a known difference and does not differ: take it off the list"
        )),
        (false, false) => Some(format!("{title}:\n    {}", lines.join("\n    "))),
    }
}

fn walk(place: &str, golden: &Value, seen: &Value, found: &mut Vec<String>) {
    match (golden, seen) {
        (Value::Object(left), Value::Object(right)) => {
            let mut keys: Vec<&String> = left.keys().chain(right.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let of = |map: &serde_json::Map<String, Value>| map.get(key).cloned();
                let place = format!("{place} › {key}");
                match (of(left), of(right)) {
                    (Some(left), Some(right)) => walk(&place, &left, &right, found),
                    (Some(left), None) => found.push(format!("{place}: missing: {left}")),
                    (None, right) => found.push(format!("{place}: surplus: {}", shown(right))),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let place = format!("{place}[{index}]");
                match (left.get(index), right.get(index)) {
                    (Some(left), Some(right)) => walk(&place, left, right, found),
                    (Some(left), None) => found.push(format!("{place}: missing: {left}")),
                    (None, right) => {
                        found.push(format!("{place}: surplus: {}", shown(right.cloned())));
                    }
                }
            }
        }
        (left, right) if left != right => {
            found.push(format!(
                "{place}:\n      golden {left}\n      seen   {right}"
            ));
        }
        _ => {}
    }
}

fn shown(value: Option<Value>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_observations_have_no_differences() {
        let seen = json!({"exit_code": 0, "log": ["a", "b"], "metrics": {"x": {"n": 1}}});
        assert_eq!(between(&seen, &seen), Vec::<String>::new());
    }

    #[test]
    fn every_kind_of_difference_has_its_line() {
        let golden = json!({"code": 0, "log": ["a", "b"], "only": 1});
        let seen = json!({"code": 1, "log": ["a"], "more": 2});
        let lines = between(&golden, &seen).join("\n");
        for wanted in [
            "› code:",
            "› log[1]: missing",
            "› only: missing",
            "› more: surplus",
        ] {
            assert!(lines.contains(wanted), "{wanted} is not in {lines}");
        }
    }

    #[test]
    fn many_differences_are_cut_short() {
        let (golden, seen) = (json!(vec![0; 40]), json!(vec![1; 40]));
        let lines = between(&golden, &seen);
        assert_eq!(lines.len(), LINES_MAX + 1);
        assert_eq!(lines[LINES_MAX], "and 28 more");
    }
}
