//! The functions of a path.
//!
//! Must not know how the value was found. Invariant: the error for an unknown function contains its name.

use super::{Argument, JsonPath, PathFault, Step};
use crate::json::Json;

/// Calls a function on a value.
pub(super) fn call(
    name: &str,
    arguments: &[Argument],
    value: &Json,
    root: &Json,
) -> Result<Json, PathFault> {
    match name {
        "length" | "size" => length(arguments, value, root),
        "keys" => Ok(match value {
            Json::Object(members) => Json::Text(keys(members)),
            _ => Json::Null,
        }),
        "append" => Ok(value.clone()),
        "concat" => concatenated(arguments, value, root).map(Json::Text),
        "first" => at(value, 0),
        "last" => at(value, -1),
        "index" => {
            let index = numbers(arguments, &Json::Null, root)?;
            let index = index.first().copied().unwrap_or(0.0);
            #[expect(clippy::cast_possible_truncation, reason = "Java truncates too")]
            at(value, index as i64)
        }
        "min" | "max" | "avg" | "sum" | "stddev" => {
            aggregate(name, &numbers(arguments, value, root)?)
        }
        _ => Err(PathFault::Failed(format!(
            "Function with name: {name} does not exist."
        ))),
    }
}

/// Keys in Java's format of a set.
fn keys(members: &[(String, Json)]) -> String {
    let keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    format!("[{}]", keys.join(", "))
}

fn whole(count: usize) -> Json {
    Json::Whole(i64::try_from(count).unwrap_or(i64::MAX))
}

/// For a path argument, the items of its results are counted, not the results.
fn length(arguments: &[Argument], value: &Json, root: &Json) -> Result<Json, PathFault> {
    if let Some(Argument::Path(path)) = arguments.first() {
        let mut steps = path.steps.clone();
        if !path.is_function() && !steps.is_empty() {
            steps.push(Step::Wildcard);
        }
        let within = JsonPath {
            from_root: path.from_root,
            steps,
        };
        if let Json::Array(found) = &*within.value(value, root, false)? {
            return Ok(whole(found.len()));
        }
    }
    Ok(match value {
        Json::Array(elements) => whole(elements.len()),
        Json::Object(members) => whole(members.len()),
        _ => Json::Null,
    })
}

fn at(value: &Json, index: i64) -> Result<Json, PathFault> {
    let Json::Array(elements) = value else {
        return Err(PathFault::Failed(EMPTY.to_owned()));
    };
    let count = i64::try_from(elements.len()).unwrap_or(i64::MAX);
    let place = if index < 0 { index + count } else { index };
    let found = usize::try_from(place)
        .ok()
        .and_then(|place| elements.get(place));
    found.cloned().ok_or_else(|| {
        PathFault::Failed(format!(
            "Target index:{index} larger than object count:{count}"
        ))
    })
}

const EMPTY: &str = "Aggregation function attempted to calculate value using empty array";

/// The values of arguments.
fn given(arguments: &[Argument], root: &Json) -> Result<Vec<Json>, PathFault> {
    let mut values = Vec::new();
    for argument in arguments {
        let value = match argument {
            Argument::Path(path) => path.value(root, root, false)?.into_owned(),
            Argument::Value(value) => value.clone(),
        };
        match value {
            Json::Array(elements) => values.extend(elements),
            other => values.push(other),
        }
    }
    Ok(values)
}

fn numbers(arguments: &[Argument], value: &Json, root: &Json) -> Result<Vec<f64>, PathFault> {
    let mut numbers: Vec<f64> = match value {
        Json::Array(elements) => elements.iter().filter_map(Json::number).collect(),
        _ => Vec::new(),
    };
    numbers.extend(given(arguments, root)?.iter().filter_map(Json::number));
    Ok(numbers)
}

fn aggregate(name: &str, numbers: &[f64]) -> Result<Json, PathFault> {
    if numbers.is_empty() {
        return Err(PathFault::Failed(EMPTY.to_owned()));
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of numbers in a document"
    )]
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    Ok(Json::Fraction(match name {
        "min" => numbers.iter().copied().fold(f64::INFINITY, f64::min),
        "max" => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "avg" => sum / count,
        "sum" => sum,
        _ => {
            let squares: f64 = numbers.iter().map(|number| number * number).sum();
            (squares / count - sum * sum / count / count).sqrt()
        }
    }))
}

fn concatenated(arguments: &[Argument], value: &Json, root: &Json) -> Result<String, PathFault> {
    let mut text = String::new();
    if let Json::Array(elements) = value {
        let texts = elements.iter().filter_map(|element| match element {
            Json::Text(text) => Some(text.as_str()),
            _ => None,
        });
        text.extend(texts);
    }
    for value in given(arguments, root)? {
        text.push_str(&value.shown());
    }
    Ok(text)
}
