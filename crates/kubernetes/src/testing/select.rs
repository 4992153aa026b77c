//! Label and field selectors as the server understands them.
//!
//! Must not know what is selected. Invariant: an empty selector selects everything.

use serde_json::Value;

use super::http::Request;
use crate::json;

/// Equality and set selectors of labels; equality of fields.
pub(super) fn selected(object: &Value, request: &Request) -> bool {
    let labels = request.parameter("labelSelector").unwrap_or_default();
    let fields = request.parameter("fieldSelector").unwrap_or_default();
    let label = |name: &str| {
        json::text(
            &object["metadata"]["labels"],
            &format!("/{}", name.replace('/', "~1")),
        )
    };
    let has_fields = fields
        .split(',')
        .filter(|part| !part.is_empty())
        .all(|part| {
            let (name, wanted) = part.split_once('=').unwrap_or((part, ""));
            let pointer = format!("/{}", name.replace('.', "/"));
            json::text(object, &pointer).unwrap_or_default() == wanted.trim_start_matches('=')
        });
    has_fields && requirements(labels).iter().all(|part| meets(part, label))
}

/// Splits at commas outside of parentheses.
fn requirements(selector: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut is_inside = false;
    for c in selector.chars() {
        is_inside = (is_inside || c == '(') && c != ')';
        match (c, parts.last_mut()) {
            (',', _) if !is_inside => parts.push(String::new()),
            (c, Some(last)) => last.push(c),
            (_, None) => {}
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn meets<'a>(requirement: &str, label: impl Fn(&str) -> Option<&'a str>) -> bool {
    let set = |text: &str| -> Vec<String> {
        let inside = text.trim().trim_matches(['(', ')']);
        inside
            .split(',')
            .map(|value| value.trim().to_owned())
            .collect()
    };
    let has = |name: &str, values: &[String]| {
        label(name.trim()).is_some_and(|value| values.iter().any(|one| one == value))
    };
    if let Some((name, values)) = requirement.split_once(" notin ") {
        return !has(name, &set(values));
    }
    if let Some((name, values)) = requirement.split_once(" in ") {
        return has(name, &set(values));
    }
    if let Some((name, value)) = requirement.split_once("!=") {
        return label(name.trim()) != Some(value.trim());
    }
    match (
        requirement.split_once('='),
        requirement.trim().strip_prefix('!'),
    ) {
        (Some((name, value)), _) => {
            label(name.trim()) == Some(value.trim_start_matches('=').trim())
        }
        (None, Some(name)) => label(name).is_none(),
        (None, None) => label(requirement.trim()).is_some(),
    }
}
