//! The plugins' `JSONPathExtractor`: the value at one JSONPath.
//!
//! Must not know paths. Invariant: a value that is not a list leaves the numbered variables of an earlier run
//! unchanged; a list replaces them, and a failure removes them.

use crate::compiled::Compiled;
use crate::host::LogLevel;
use crate::json::Json;
use crate::json_path::{JsonPath, PathFault};
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

use super::json::{read, remove_numbered};

const CLASS: &str = "c.a.j.p.j.j.JSONPathExtractor";

/// Extracts the value at a JSONPath; the elements of a list are also stored in numbered variables.
#[derive(Clone, Debug, Default)]
pub struct JsonPathExtractor {
    /// The variable to search; `None`: the sample.
    pub source: Option<Text>,
    /// The variable that it sets.
    pub variable: Text,
    /// The path.
    pub path: Compiled<Result<JsonPath, String>>,
    /// The value if nothing is found.
    pub default: Text,
}

impl JsonPathExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) {
        let variable = self.variable.evaluate(scope).into_owned();
        match self.found(sample, scope) {
            Ok(Json::Array(elements)) => {
                let count = elements.len();
                remove_numbered(&variable, scope);
                for (index, element) in elements.iter().enumerate() {
                    let name = format!("{variable}_{}", index + 1);
                    scope.variables.put(name, element.asserted());
                }
                scope
                    .variables
                    .put(format!("{variable}_matchNr"), count.to_string());
                let list = Json::Array(elements).asserted();
                scope.variables.put(variable, list);
            }
            Ok(value) => scope.variables.put(variable, value.asserted()),
            Err(fault) => {
                let message = format!("Extract failed: {fault}");
                scope.host.world().log(LogLevel::Warn, CLASS, &message);
                remove_numbered(&variable, scope);
                scope.variables.put(format!("{variable}_matchNr"), "0");
                let default = self.default.evaluate(scope).into_owned();
                scope.variables.put(variable, default);
            }
        }
    }

    /// The value at the path; an empty list counts as not found.
    fn found(&self, sample: &Sample, scope: &mut Scope<'_>) -> Result<Json, String> {
        let (_, path) = self.path.get(scope, JsonPath::compile);
        let path = path.as_ref().as_ref().map_err(String::clone)?;
        let document = match &self.source {
            Some(source) => {
                let source = source.evaluate(scope);
                read(scope.variables.get(&source).unwrap_or_default())
            }
            None => read(&sample.text()),
        }?;
        let found = path.find(&document).map_err(PathFault::into_message)?;
        match found.into_owned() {
            Json::Array(elements) if elements.is_empty() => {
                Err("Extracted array is empty".to_owned())
            }
            value => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::testing::Bench;

    const EARLIER: [(&str, &str); 5] = [
        ("v", "old"),
        ("v_matchNr", "2"),
        ("v_1", "a"),
        ("v_2", "b"),
        ("v_4", "d"),
    ];

    /// The resulting variables of [`EARLIER`], and the log.
    fn left_by(path: &str, body: &str, source: Option<&str>) -> (BTreeMap<String, String>, String) {
        let text = |source: &str| Text::parse(source).expect("a text");
        let extractor = JsonPathExtractor {
            source: source.map(text),
            variable: text("v"),
            path: text(path).into(),
            default: text("NF"),
        };
        let sample = Sample {
            data: body.as_bytes().to_vec(),
            ..Sample::default()
        };
        let mut bench = Bench::default();
        for (name, value) in EARLIER {
            bench.variables.put(name, value);
        }
        extractor.run(&sample, &mut bench.scope());
        let left = bench.variables.iter();
        let left = left.map(|(name, value)| (name.to_owned(), value.to_owned()));
        (left.collect(), bench.host.lines.borrow().join("\n"))
    }

    fn variables(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_list_comes_whole_and_one_by_one_in_place_of_an_earlier_one() {
        let body = r#"{"a":[{"z/":"x/y","id":7,"items":[1.0,null],"s":"é"},2.50,null,true,1e20]}"#;
        for path in ["$.a", "$.a[*]"] {
            let (left, log) = left_by(path, body, None);
            let expected = variables(&[
                (
                    "v",
                    r#"[{"z\/":"x\/y","id":7,"items":[1.0,null],"s":"é"},2.5,null,true,1.0E20]"#,
                ),
                ("v_matchNr", "5"),
                ("v_1", r#"{"id":7,"s":"é","z\/":"x\/y","items":[1.0,null]}"#),
                ("v_2", "2.5"),
                ("v_3", "null"),
                ("v_4", "true"),
                ("v_5", "100000000000000000000.0"),
            ]);
            assert_eq!((left, log.as_str()), (expected, ""), "{path}");
        }
    }

    #[test]
    fn one_value_leaves_what_an_earlier_list_set() {
        for (path, value) in [
            ("$.n", "0.0000001"),
            ("$.t", "x/y"),
            ("$.none", "null"),
            ("$.l.length()", "2"),
        ] {
            let body = r#"{"n":1e-7,"t":"x/y","none":null,"l":[1,2]}"#;
            let (left, log) = left_by(path, body, None);
            let mut expected = variables(&EARLIER);
            expected.insert("v".to_owned(), value.to_owned());
            assert_eq!((left, log.as_str()), (expected, ""), "{path}");
        }
    }

    #[test]
    fn nothing_found_sets_the_default_and_removes_an_earlier_list() {
        let expected = variables(&[("v", "NF"), ("v_matchNr", "0"), ("v_4", "d")]);
        for (path, body) in [
            ("$.b", r#"{"a":1}"#),
            ("$.a", r#"{"a":[]}"#),
            ("$..b", r#"{"a":1}"#),
            ("", r#"{"a":1}"#),
            ("$", "null"),
            ("$", ""),
            ("$.a", "<html>"),
        ] {
            let (left, log) = left_by(path, body, None);
            assert_eq!(left, expected, "{path} of {body}");
            assert!(log.contains("Extract failed: "), "{path} of {body}: {log}");
        }
    }

    #[test]
    fn a_variable_is_looked_into_in_the_place_of_the_sample() {
        let (left, _) = left_by("$[0]", "[1]", Some("v_1"));
        assert_eq!(left["v"], "NF");
        let (left, _) = left_by("$", r#"{"a":1}"#, Some("v_matchNr"));
        assert_eq!((left["v"].as_str(), left["v_matchNr"].as_str()), ("2", "2"));
        let (left, _) = left_by("$", r#"{"a":1}"#, Some("unset"));
        assert_eq!(left["v"], "NF");
    }
}
