//! What the server refuses of an object that is sent: its name, its namespace, requests above limits, what never changes.
//!
//! Must not know how it was sent. Invariant: an object that was kept before is never refused for its name.

use serde_json::Value;

use super::routes::{Found, failed, told};
use super::state::{Key, RESOURCES, State};
use crate::json;
use crate::quantity::Quantity;

/// Bytes of a name. Source: the Kubernetes documentation, "Object Names and IDs".
const NAME_MAX: usize = 253;

/// Judges an object before it is stored; `None`: it is new.
pub(super) fn check(state: &State, key: &Key, before: Option<&Value>, object: &Value) -> Found<()> {
    if before.is_none() {
        check_namespace(state, &key[2])?;
        check_name(key)?;
    }
    check_resources(key, object)?;
    match key[1] == "jobs" {
        true => check_job(key, before, object),
        false => Ok(()),
    }
}

/// Fields of an object that is applied, of the one kind whose fields are known here.
pub(super) fn check_fields(key: &Key, sent: &Value) -> Found<()> {
    const CONFIG_MAP: [&str; 6] = [
        "apiVersion",
        "binaryData",
        "data",
        "immutable",
        "kind",
        "metadata",
    ];
    let fields = sent.as_object().filter(|_| key[1] == "configmaps");
    let mut names = fields.into_iter().flat_map(|fields| fields.keys());
    let Some(unknown) = names.find(|name| !CONFIG_MAP.contains(&name.as_str())) else {
        return Ok(());
    };
    let why = format!(
        "failed to create typed patch object ({}/{}; /v1, Kind=ConfigMap): .{unknown}: field not declared in schema",
        key[2], key[3]
    );
    Err(failed(500, "", &why))
}

fn check_namespace(state: &State, namespace: &str) -> Found<()> {
    let key = ["v1", "namespaces", "", namespace].map(str::to_owned);
    match namespace.is_empty() || state.objects.contains_key(&key) {
        true => Ok(()),
        false => Err(failed(
            404,
            "NotFound",
            &format!("namespaces {namespace:?} not found"),
        )),
    }
}

fn check_name(key: &Key) -> Found<()> {
    let name = &key[3];
    let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
    let has_ends = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    if (1..=NAME_MAX).contains(&name.len())
        && name.chars().all(is_inner)
        && name.starts_with(has_ends)
        && name.ends_with(has_ends)
    {
        return Ok(());
    }
    Err(invalid(
        key,
        &format!(
            "metadata.name: Invalid value: {name:?}: a lowercase RFC 1123 subdomain must consist of lower case \
             alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
        ),
    ))
}

fn check_resources(key: &Key, object: &Value) -> Found<()> {
    let spec = match key[1].as_str() {
        "pods" => "/spec",
        _ => "/spec/template/spec",
    };
    let containers = json::items(object, &format!("{spec}/containers"));
    for (index, container) in containers.iter().enumerate() {
        let place = spec[1..].replace('/', ".");
        let Some(why) = above_limit(&container["resources"]) else {
            continue;
        };
        return Err(invalid(
            key,
            &format!("{place}.containers[{index}].resources.requests: {why}"),
        ));
    }
    Ok(())
}

/// A request that is more than its limit.
fn above_limit(resources: &Value) -> Option<String> {
    let amount = |of: &Value| of.as_str().and_then(|text| text.parse::<Quantity>().ok());
    let requests = resources.get("requests")?.as_object()?;
    requests.iter().find_map(|(name, request)| {
        let limit = resources.get("limits")?.get(name)?;
        let is_above = amount(request)?.nano() > amount(limit)?.nano();
        let limit = limit.as_str().unwrap_or_default();
        is_above.then(|| {
            format!(
                "Invalid value: {request}: must be less than or equal to {name} limit of {limit}"
            )
        })
    })
}

/// A new job has no selector, unless it says that the selector was chosen by hand; selector and template of an
/// existing one cannot change.
fn check_job(key: &Key, before: Option<&Value>, object: &Value) -> Found<()> {
    let of = |object: &Value, field: &str| object["spec"][field].clone();
    let wrong = match before {
        None if json::is_true(object, "/spec/manualSelector") => None,
        None => (!of(object, "selector").is_null())
            .then_some("spec.selector: Invalid value: `selector` not auto-generated"),
        Some(before) => ["selector", "template"]
            .iter()
            .any(|field| of(before, field) != of(object, field))
            .then_some("field is immutable"),
    };
    wrong.map_or(Ok(()), |why| Err(invalid(key, why)))
}

fn invalid(key: &Key, why: &str) -> super::http::Answer {
    let mut rows = RESOURCES.iter();
    let kind = rows.find(|row| row.0 == key[0] && row.1 == key[1]);
    let kind = told(&key[0], kind.map_or("", |row| row.2));
    let name = &key[3];
    failed(
        422,
        "Invalid",
        &format!("{kind} {name:?} is invalid: {why}"),
    )
}
