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
            let (name, is_other) = match name.strip_suffix('!') {
                Some(name) => (name, true),
                None => (name, false),
            };
            let pointer = format!("/{}", name.replace('.', "/"));
            let is_same =
                json::text(object, &pointer).unwrap_or_default() == wanted.trim_start_matches('=');
            is_same != is_other
        });
    has_fields && requirements(labels).iter().all(|part| meets(part, label))
}

/// Why selectors of a resource cannot be followed; `None`: they can.
pub(super) fn trouble(request: &Request, resource: &str) -> Option<String> {
    let labels = request.parameter("labelSelector").unwrap_or_default();
    let fields = request.parameter("fieldSelector").unwrap_or_default();
    let is_name = |name: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        !name.is_empty() && name.chars().all(is_part)
    };
    for part in requirements(labels) {
        let (name, set) = split(&part);
        let set = set.map(str::trim);
        let why = match (name.trim(), set) {
            (name, _) if !is_name(name) => {
                let more = name.split_whitespace().nth(1).unwrap_or(name);
                format!("found '{more}', expected: in, notin, =, ==, !=, gt, lt")
            }
            (_, Some(set)) if !set.starts_with('(') => format!("found '{set}' expected: '('"),
            _ => continue,
        };
        return Some(format!("unable to parse requirement: {why}"));
    }
    let names = fields.split(',').filter(|part| !part.is_empty());
    let mut names = names.map(|part| part.split(['=', '!']).next().unwrap_or_default());
    let can_be_asked = |name: &str| {
        let of_resource = FIELDS.iter().filter(|(of, _)| *of == resource);
        let mut known = of_resource.flat_map(|(_, names)| *names);
        NAMED.contains(&name) || known.any(|known| *known == name)
    };
    let unknown = names.find(|name| !can_be_asked(name))?;
    Some(format!("field label not supported: {unknown}"))
}

/// The name of a requirement, and the set that follows where it wants one.
fn split(requirement: &str) -> (&str, Option<&str>) {
    for word in [" notin ", " in "] {
        if let Some((name, set)) = requirement.split_once(word) {
            return (name, Some(set));
        }
    }
    let name = requirement.trim().trim_start_matches('!');
    (name.split(['=', '!']).next().unwrap_or_default(), None)
}

/// Fields by which everything can be selected.
const NAMED: [&str; 2] = ["metadata.name", "metadata.namespace"];
/// Fields by which objects of a resource can be selected besides. Source: the API server's conversions of field labels.
const FIELDS: [(&str, &[&str]); 5] = [
    ("jobs", &["status.successful"]),
    ("namespaces", &["status.phase"]),
    ("nodes", &["spec.unschedulable"]),
    (
        "pods",
        &[
            "spec.hostNetwork",
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
            "status.podIP",
            "status.podIPs",
        ],
    ),
    ("secrets", &["type"]),
];

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
