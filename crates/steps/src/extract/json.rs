//! `JSONPostProcessor`: values selected by JSONPath.
//!
//! Must not know paths. Invariant: there are equally many names, paths and defaults, otherwise the sample is
//! dropped.

use std::borrow::Cow;

use loadline_java::numbers::{complaint, parse_int};

use super::{SampleLost, Wanted, any_of};
use crate::apply_to::ApplyTo;
use crate::compiled::Compiled;
use crate::host::LogLevel;
use crate::json::Json;
use crate::json_path::JsonPath;
use crate::sample::Sample;
use crate::scope::Scope;
use crate::text::Text;

const CLASS: &str = "o.a.j.e.j.j.JSONPostProcessor";

/// Extracts values with JSONPath. Lists are separated by semicolons; trailing empty entries do not count.
#[derive(Clone, Debug, Default)]
pub struct JsonExtractor {
    /// The element's name.
    pub name: Text,
    /// The samples to which it applies.
    pub apply_to: ApplyTo,
    /// The variables that it sets.
    pub variables: Text,
    /// The paths, one per variable.
    pub paths: Compiled<Vec<Result<JsonPath, String>>>,
    /// Numbers of the matches, from 1; 0 and blank: a random one; negative: all.
    pub match_numbers: Text,
    /// The values if nothing is found, one per variable.
    pub defaults: Text,
    /// Whether all values of a variable are also joined by commas in `<variable>_ALL`.
    pub joins_all: bool,
}

/// One variable of the extractor.
struct Wish<'a> {
    variable: &'a str,
    path: &'a Result<JsonPath, String>,
    default: &'a str,
    wanted: Wanted,
}

impl JsonExtractor {
    pub(super) fn run(&self, sample: &Sample, scope: &mut Scope<'_>) -> Result<(), SampleLost> {
        let texts = self.texts(sample, scope);
        let variables = self.variables.evaluate(scope);
        let variables = java_split(&variables);
        let (_, paths) = self.paths.get(scope, |paths| {
            let paths = java_split(paths);
            paths
                .iter()
                .map(|path| JsonPath::compile(path.trim()))
                .collect()
        });
        let defaults = self.defaults.evaluate(scope);
        let defaults = java_split(&defaults);
        let wanted = self.wanted(defaults.len(), scope)?;
        if variables.len() != paths.len() || variables.len() != defaults.len() {
            let what = "Mismatch between number of variables, json expressions and default values";
            return Err(SampleLost(what.to_owned()));
        }
        for (index, path) in paths.iter().enumerate() {
            let wish = Wish {
                variable: variables[index].trim(),
                path,
                default: defaults[index],
                wanted: wanted[index],
            };
            self.grant(&wish, &texts, scope);
        }
        Ok(())
    }

    /// The texts to search; `None` for a missing variable.
    fn texts<'s>(&self, sample: &'s Sample, scope: &mut Scope<'_>) -> Vec<Option<Cow<'s, str>>> {
        if let ApplyTo::Variable(variable) = &self.apply_to {
            let variable = variable.evaluate(scope);
            return vec![
                scope
                    .variables
                    .get(&variable)
                    .map(|value| Cow::Owned(value.to_owned())),
            ];
        }
        let samples = self.apply_to.samples(sample).into_iter();
        let texts = samples
            .map(Sample::text)
            .filter(|text| !text.trim().is_empty());
        texts.map(Some).collect()
    }

    fn wanted(&self, count: usize, scope: &mut Scope<'_>) -> Result<Vec<Wanted>, SampleLost> {
        let numbers = self.match_numbers.evaluate(scope);
        let mut wanted = vec![Wanted::Any; count];
        if numbers.trim().is_empty() {
            return Ok(wanted);
        }
        for (index, number) in java_split(&numbers).iter().enumerate() {
            let number = number.trim();
            let Some(parsed) = parse_int(number) else {
                return Err(SampleLost(complaint(number)));
            };
            let Some(wanted) = wanted.get_mut(index) else {
                return Err(SampleLost(format!(
                    "Index {index} out of bounds for length {count}"
                )));
            };
            *wanted = Wanted::numbered(parsed);
        }
        Ok(wanted)
    }

    fn grant(&self, wish: &Wish<'_>, texts: &[Option<Cow<'_, str>>], scope: &mut Scope<'_>) {
        let Wish {
            variable, default, ..
        } = *wish;
        scope.variables.remove(&format!("{variable}_matchNr"));
        remove_numbered(variable, scope);
        if texts.is_empty() {
            scope.variables.put(variable, default);
            return;
        }
        match find(wish.path, texts) {
            Ok(found) if found.is_empty() => {
                scope.variables.put(variable, default);
                scope.variables.put(format!("{variable}_matchNr"), "0");
                if wish.wanted == Wanted::All && self.joins_all {
                    scope.variables.put(format!("{variable}_ALL"), "");
                }
            }
            Ok(found) => self.save(wish, &found, scope),
            Err(fault) => {
                let name = self.name.evaluate(scope);
                let message = format!("Error processing JSON content in {name}, message: {fault}");
                scope.host.world().log(LogLevel::Error, CLASS, &message);
                scope.variables.put(variable, default);
            }
        }
    }

    fn save(&self, wish: &Wish<'_>, found: &[Option<String>], scope: &mut Scope<'_>) {
        let Wish {
            variable,
            default,
            wanted,
            ..
        } = *wish;
        let text = |index: usize| found[index].as_deref().unwrap_or(default);
        match wanted {
            Wanted::All => {
                for index in 0..found.len() {
                    scope
                        .variables
                        .put(format!("{variable}_{}", index + 1), text(index));
                }
                if self.joins_all {
                    let all: Vec<&str> = (0..found.len()).map(text).collect();
                    scope
                        .variables
                        .put(format!("{variable}_ALL"), all.join(","));
                }
            }
            // A single value is used for any number.
            _ if found.len() == 1 => scope.variables.put(variable, text(0)),
            Wanted::Any => {
                let index = any_of(found.len(), scope);
                scope.variables.put(variable, text(index));
            }
            Wanted::Number(number) if number > found.len() => {
                scope.variables.put(variable, default);
            }

            Wanted::Number(number) => scope.variables.put(variable, text(number - 1)),
        }
        if wanted != Wanted::Any {
            scope
                .variables
                .put(format!("{variable}_matchNr"), found.len().to_string());
        }
    }
}

/// All values of a path in all texts; `None` for null.
fn find(
    path: &Result<JsonPath, String>,
    texts: &[Option<Cow<'_, str>>],
) -> Result<Vec<Option<String>>, String> {
    let path = path.as_ref().map_err(String::clone)?;
    let mut found = Vec::new();
    for text in texts {
        let document = read(text.as_deref().unwrap_or_default())?;
        found.extend(
            path.find_all(&document)?
                .iter()
                .map(|value| value.extracted()),
        );
    }
    Ok(found)
}

/// Parses the document for a path.
pub(super) fn read(text: &str) -> Result<Json, String> {
    if text.is_empty() {
        return Err("json string can not be null or empty".to_owned());
    }
    let read = Json::read(text);
    match read.map_err(|fault| format!("net.minidev.json.parser.ParseException: {fault}"))? {
        Json::Null => Err("json can not be null".to_owned()),
        document => Ok(document),
    }
}

/// Removes `<name>_1` and so on, up to the first missing one.
pub(super) fn remove_numbered(name: &str, scope: &mut Scope<'_>) {
    let mut index = 1;
    while scope.variables.remove(&format!("{name}_{index}")).is_some() {
        index += 1;
    }
}

/// Splits a list as Java does: trailing empty parts do not count, except for an empty text.
fn java_split(text: &str) -> Vec<&str> {
    if text.is_empty() {
        return vec![""];
    }
    let mut parts: Vec<&str> = text.split(';').collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts
}
