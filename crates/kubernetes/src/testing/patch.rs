//! Patches as the server applies them: merge (RFC 7386), and strategic merge, in which lists of things with a name are
//! merged by the name.
//!
//! Must not know what is patched beyond the keys of its lists. Invariant: `null` removes.

use serde_json::{Map, Value};

/// How lists are patched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lists {
    /// Replaced whole.
    Replace,
    /// Merged by their key, where they have one.
    Merge,
}

/// Lists of things that have a key: the field of the list, and the key. Source: the API reference's patch merge keys.
const KEYS: &[(&str, &str)] = &[
    ("containers", "name"),
    ("initContainers", "name"),
    ("env", "name"),
    ("volumes", "name"),
    ("volumeMounts", "mountPath"),
    ("ports", "containerPort"),
];

/// The key of a list of things; `None`: it has none.
pub(super) fn key_of(list: &str) -> Option<&'static str> {
    let mut found = KEYS.iter().filter(|(name, _)| *name == list);
    found.next().map(|(_, key)| *key)
}

/// Applies a patch.
pub(super) fn apply(object: &mut Value, patch: &Value, lists: Lists) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(fields) = object else {
        return;
    };
    for (name, value) in patch {
        // Directives of kubectl about the order of lists.
        if name.starts_with("$setElementOrder/") {
            continue;
        }
        if value.is_null() {
            fields.remove(name);
            continue;
        }
        let field = fields.entry(name.clone()).or_insert(Value::Null);
        match (value, key_of(name)) {
            (Value::Array(items), Some(key)) if lists == Lists::Merge => {
                merge_list(field, items, key);
            }
            _ => apply(field, value, lists),
        }
    }
}

fn merge_list(field: &mut Value, items: &[Value], key: &str) {
    if !field.is_array() {
        *field = Value::Array(Vec::new());
    }
    let Value::Array(list) = field else {
        return;
    };
    for item in items {
        let same = list
            .iter_mut()
            .find(|one| one.get(key).is_some() && one.get(key) == item.get(key));
        match same {
            Some(one) => apply(one, item, Lists::Merge),
            None => list.push(item.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn named_things_are_merged_and_null_removes() {
        let mut object = json!({ "containers": [{ "name": "a", "image": "1", "limits": { "cpu": "1", "memory": "2" } },
            { "name": "b" }] });
        let patch = json!({ "containers": [{ "name": "a", "limits": { "cpu": null } }] });
        apply(&mut object, &patch, Lists::Merge);
        let wanted = json!({ "containers": [{ "name": "a", "image": "1", "limits": { "memory": "2" } }, { "name": "b" }] });
        assert_eq!(object, wanted);
        apply(&mut object, &json!({ "containers": [] }), Lists::Replace);
        assert_eq!(object, json!({ "containers": [] }));
    }
}
