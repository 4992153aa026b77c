//! The JSON Schema of suite files, generated from the tables.
//!
//! Must not know how files are read. Invariant: it has exactly the keys of the tables.

use serde_json::{Map, Value, json};

use super::foreign;
use super::table::{KeyType, Object};
use super::tables::{OBJECTS, SUITE};

/// The schema of a suite file (JSON Schema, draft 2020-12), for editors.
#[must_use]
pub fn schema() -> Value {
    let definitions: Map<String, Value> = OBJECTS
        .iter()
        .chain(foreign::OBJECTS)
        .map(|object| (definition(object), object_schema(object)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A suite of loadline",
        "$ref": reference(&SUITE),
        "$defs": definitions,
    })
}

fn definition(object: &Object) -> String {
    object.name.replace(' ', "-")
}

fn reference(object: &Object) -> String {
    format!("#/$defs/{}", definition(object))
}

fn object_schema(object: &Object) -> Value {
    let properties: Map<String, Value> = object
        .all()
        .map(|key| {
            let mut schema = kind_schema(&key.kind);
            if let Some(schema) = schema.as_object_mut() {
                schema.insert("description".to_owned(), json!(key.about));
            }
            (key.name.to_owned(), schema)
        })
        .collect();
    let others = object.others.map_or(json!(false), kind_schema);
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": others,
    });
    if !object.required.is_empty() {
        schema["required"] = json!(object.required);
    }
    if !object.one_of.is_empty() {
        let alternatives: Vec<Value> = object
            .one_of
            .iter()
            .map(|name| json!({ "required": [name] }))
            .collect();
        schema["oneOf"] = json!(alternatives);
    }
    schema
}

fn kind_schema(kind: &KeyType) -> Value {
    let hole = || json!({ "type": "string", "pattern": r"\$\{" });
    match kind {
        KeyType::Text => json!({ "type": ["string", "number", "boolean"] }),
        KeyType::Flag => json!({ "anyOf": [{ "type": "boolean" }, hole()] }),
        KeyType::Count => json!({ "anyOf": [{ "type": "integer", "minimum": 0 }, hole()] }),
        KeyType::Number => json!({ "anyOf": [{ "type": "number" }, hole()] }),
        KeyType::Share => json!({
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^[0-9.]+ *%?$" },
                hole(),
            ],
            "examples": ["99%", 0.99],
        }),
        KeyType::Duration => json!({
            "anyOf": [
                { "type": "string", "pattern": "^([0-9.]+(ns|us|[µμ]s|ms|s|m|h|d))+$" },
                { "const": 0 },
                hole(),
            ],
            "examples": ["30s", "1m30s"],
        }),
        KeyType::Choice(words) => json!({ "anyOf": [{ "enum": words }, hole()] }),
        KeyType::Object(object) => json!({ "$ref": reference(object) }),
        KeyType::MapOf(inner) => {
            json!({ "type": "object", "additionalProperties": kind_schema(inner) })
        }
        KeyType::ListOf(inner) => json!({ "type": "array", "items": kind_schema(inner) }),
        KeyType::OneOrMore(inner) => {
            let one = kind_schema(inner);
            json!({ "anyOf": [one, { "type": "array", "items": one }] })
        }
        KeyType::Either(kinds) => {
            let kinds: Vec<Value> = kinds.iter().map(kind_schema).collect();
            json!({ "anyOf": kinds })
        }
        KeyType::Foreign(kind) => kind_schema(kind),
    }
}
