//! Parses the objects of a manifest: YAML with several documents, and lists of objects.
//!
//! Must not know the cluster. Invariant: every returned object has a kind and a name.

use loadline_yaml::{At, Node};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::json;

/// Parses the objects in a YAML text, in order. Empty documents are skipped, lists (`kind: List`) are expanded.
///
/// # Errors
/// Invalid YAML (with line and column), or a document that is not an object with a kind and a name.
pub fn read_manifests(text: &str) -> Result<Vec<Value>> {
    let documents = Node::parse_all(text).map_err(|error| {
        // A manifest may hold secrets, and the parser quotes the text.
        let At { line, column } = error.at;
        Error::user(format!(
            "line {line}, column {column}: the manifest is not YAML that can be read"
        ))
    })?;
    let mut objects = Vec::new();
    for (index, document) in documents.iter().map(Node::to_json).enumerate() {
        let wrong =
            |what: &str| Error::user(format!("document {} of the manifest {what}", index + 1));
        match document {
            Value::Null => {}
            Value::Object(_) => {
                let is_list = json::text(&document, "/kind")
                    .is_some_and(|kind| kind.ends_with("List"))
                    && document.get("items").is_some();
                match is_list {
                    true => objects.extend_from_slice(json::items(&document, "/items")),
                    false => objects.push(document),
                }
            }
            _ => return Err(wrong("is not an object")),
        }
        let is_whole = |one: &Value| {
            let wanted = ["/apiVersion", "/kind", "/metadata/name"];
            wanted
                .iter()
                .all(|pointer| json::filled(one, pointer).is_some())
        };
        if !objects.iter().all(is_whole) {
            return Err(wrong("lacks apiVersion, kind or metadata.name"));
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_lists_are_spread_out() {
        let objects = read_manifests(
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\ndata: { level: \"5\" }\n---\n---\n\
             apiVersion: v1\nkind: List\nitems:\n- { apiVersion: v1, kind: Secret, metadata: { name: b } }\n",
        );
        let objects = objects.expect("two objects");
        let names: Vec<_> = objects
            .iter()
            .map(|one| json::owned(one, "/metadata/name"))
            .collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(objects[0]["data"]["level"], "5");
    }

    #[test]
    fn what_is_no_object_is_told_without_its_content() {
        let error = read_manifests("a: 1\n---\n- swordfish\n")
            .expect_err("no name")
            .to_string();
        assert!(
            error.contains("document 1") && error.contains("metadata.name"),
            "{error}"
        );
        let error = read_manifests("token: \"swordfish\n")
            .expect_err("no YAML")
            .to_string();
        assert!(
            error.contains("line") && !error.contains("swordfish"),
            "{error}"
        );
    }
}
