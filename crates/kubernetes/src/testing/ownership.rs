//! Which manager owns which field of an object, as server-side apply knows it.
//!
//! Must not know HTTP. Invariant: a field that an apply no longer sends goes with it, unless another manager owns it too.
//!
//! Source: the Kubernetes documentation, "Server-Side Apply". Lists that have no key are owned whole.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::patch::key_of;

/// Who sent a field. The same name is another manager where it does not apply.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Manager {
    pub(super) name: String,
    pub(super) applies: bool,
}

impl Manager {
    fn told(&self, version: &str) -> String {
        match self.applies {
            true => format!("{:?}", self.name),
            false => format!("{:?} using {version}", self.name),
        }
    }
}

/// Names of fields from the object's root; `name=main` is the item of a list.
type Path = Vec<String>;

/// The owners of the fields of one object.
#[derive(Clone, Debug, Default)]
pub(super) struct Owners(BTreeMap<Path, BTreeSet<Manager>>);

/// Fields without an owner: they name the object, or the server writes them.
const OWNERLESS: [&str; 12] = [
    "apiVersion",
    "kind",
    "status",
    "metadata.creationTimestamp",
    "metadata.deletionTimestamp",
    "metadata.generation",
    "metadata.managedFields",
    "metadata.name",
    "metadata.namespace",
    "metadata.resourceVersion",
    "metadata.selfLink",
    "metadata.uid",
];

impl Owners {
    /// Why an apply is refused: fields of others that it would change. `None`: there are none.
    pub(super) fn conflict(&self, by: &Manager, now: &Value, sent: &Value) -> Option<String> {
        let now = leaves(now);
        let version = sent["apiVersion"].as_str().unwrap_or_default();
        let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, value) in leaves(sent) {
            if now.get(&path).is_none_or(|now| *now == value) {
                continue;
            }
            let owners = self.0.get(&path).into_iter().flatten();
            for other in owners.filter(|other| *other != by) {
                let paths = told.entry(other.told(version)).or_default();
                paths.push(shown(&path));
            }
        }
        let count: usize = told.values().map(Vec::len).sum();
        let first = told.iter().next()?;
        if count == 1 {
            let (manager, paths) = first;
            return Some(format!(
                "Apply failed with 1 conflict: conflict with {manager}: {}",
                paths[0]
            ));
        }
        let told = told
            .iter()
            .map(|(manager, paths)| format!("conflicts with {manager}:\n- {}", paths.join("\n- ")));
        let told: Vec<String> = told.collect();
        Some(format!(
            "Apply failed with {count} conflicts: {}",
            told.join("\n")
        ))
    }

    /// An object was applied over `now`. Returns the result.
    pub(super) fn apply(
        &mut self,
        by: &Manager,
        now: &Value,
        mut merged: Value,
        sent: &Value,
    ) -> Value {
        let (now, sent) = (leaves(now), leaves(sent));
        for (path, value) in &sent {
            let owners = self.0.entry(path.clone()).or_default();
            if now.get(path) != Some(value) {
                owners.clear();
            }
            owners.insert(by.clone());
        }
        self.0.retain(|path, owners| {
            let is_given_up = !sent.contains_key(path) && owners.remove(by);
            if is_given_up && owners.is_empty() {
                remove(&mut merged, path);
            }
            !owners.is_empty()
        });
        merged
    }

    /// An object was changed in another way: each changed field belongs to the one who changed it.
    pub(super) fn change(&mut self, by: &Manager, before: &Value, after: &Value) {
        let (before, after) = (leaves(before), leaves(after));
        self.0.retain(|path, _| after.contains_key(path));
        for (path, value) in after {
            if before.get(&path) != Some(&value) {
                self.0.insert(path, BTreeSet::from([by.clone()]));
            }
        }
    }
}

/// The fields that have no fields, and their values.
fn leaves(object: &Value) -> BTreeMap<Path, Value> {
    let mut found = BTreeMap::new();
    collect(object, &mut Vec::new(), &mut found);
    found
}

fn collect(value: &Value, path: &mut Path, found: &mut BTreeMap<Path, Value>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                path.push(name.clone());
                if !OWNERLESS.contains(&path.join(".").as_str()) {
                    collect(value, path, found);
                }
                path.pop();
            }
        }
        Value::Array(items) => match keyed(path, items) {
            Some(names) => {
                for (name, item) in names.into_iter().zip(items) {
                    path.push(name);
                    collect(item, path, found);
                    path.pop();
                }
            }
            None => drop(found.insert(path.clone(), value.clone())),
        },
        _ if path.is_empty() => {}
        leaf => drop(found.insert(path.clone(), leaf.clone())),
    }
}

/// What the items of a list are called; `None`: it is owned whole.
fn keyed(path: &[String], items: &[Value]) -> Option<Vec<String>> {
    let key = key_of(path.last()?)?;
    items.iter().map(|item| item_name(item, key)).collect()
}

fn item_name(item: &Value, key: &str) -> Option<String> {
    match item.get(key)? {
        Value::String(name) => Some(format!("{key}={name}")),
        other => Some(format!("{key}={other}")),
    }
}

fn remove(value: &mut Value, path: &[String]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    match value {
        Value::Object(fields) if rest.is_empty() => drop(fields.remove(first)),
        Value::Object(fields) => {
            if let Some(field) = fields.get_mut(first) {
                remove(field, rest);
                if field.as_array().is_some_and(Vec::is_empty) {
                    fields.remove(first);
                }
            }
        }
        Value::Array(items) => {
            let key = first.split('=').next().unwrap_or_default();
            let named = |item: &Value| item_name(item, key).as_ref() == Some(first);
            if let Some(at) = items.iter().position(named) {
                remove(&mut items[at], rest);
                // An item without fields is removed.
                if items[at].as_object().is_some_and(serde_json::Map::is_empty) {
                    items.remove(at);
                }
            }
        }
        _ => {}
    }
}

fn shown(path: &[String]) -> String {
    let parts = path.iter().map(|part| match part.split_once('=') {
        Some((key, name)) => format!("[{key}={name:?}]"),
        None => format!(".{part}"),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn manager(name: &str) -> Manager {
        Manager {
            name: name.to_owned(),
            applies: true,
        }
    }

    #[test]
    fn a_field_of_another_is_a_conflict_and_can_be_taken_over() {
        let (one, other) = (manager("one"), manager("other"));
        let sent = json!({ "data": { "a": "1", "b": "1" } });
        let mut owners = Owners::default();
        let now = owners.apply(&one, &json!({}), sent.clone(), &sent);
        let same = json!({ "data": { "a": "1" } });
        assert_eq!(owners.conflict(&other, &now, &same), None, "they agree");
        let another = json!({ "data": { "a": "2" } });
        assert_eq!(
            owners.conflict(&other, &now, &another).as_deref(),
            Some("Apply failed with 1 conflict: conflict with \"one\": .data.a")
        );
        assert_eq!(owners.conflict(&one, &now, &another), None, "it is its own");
        let both = json!({ "data": { "a": "2", "b": "2" } });
        assert_eq!(
            owners.conflict(&other, &now, &both).as_deref(),
            Some("Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b")
        );
        let merged = json!({ "data": { "a": "2", "b": "1" } });
        let now = owners.apply(&other, &now, merged, &another);
        assert!(owners.conflict(&one, &now, &sent).is_some());
    }

    #[test]
    fn what_is_no_longer_sent_goes_unless_another_owns_it() {
        let (one, other) = (manager("one"), manager("other"));
        let item = |name: &str| json!({ "name": name, "image": "i" });
        let sent = json!({ "spec": { "containers": [item("a"), item("b")], "x": 1, "y": 1 } });
        let mut owners = Owners::default();
        let now = owners.apply(&one, &json!({}), sent.clone(), &sent);
        let shared = json!({ "spec": { "x": 1 } });
        let now = owners.apply(&other, &now, now.clone(), &shared);
        let less = json!({ "spec": { "containers": [item("a")] } });
        let now = owners.apply(&one, &now, now.clone(), &less);
        assert_eq!(
            now,
            json!({ "spec": { "containers": [item("a")], "x": 1 } })
        );
        let mut changed = now.clone();
        changed["spec"]["x"] = json!(2);
        let by_hand = Manager {
            applies: false,
            ..one.clone()
        };
        owners.change(&by_hand, &now, &changed);
        assert!(
            owners.conflict(&one, &changed, &shared).is_some(),
            "who changes is another manager than who applies"
        );
    }
}
