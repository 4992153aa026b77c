//! What is answered to a request: discovery, objects, parts of objects, metrics.
//!
//! Must not know connections. Invariant: an error is a `Status` object with the code of the answer.

use serde_json::{Value, json};

use super::http::{Answer, Request};
use super::log::{Log, shown};
use super::patch::{self, Lists};
use super::select::selected;
use super::state::{Key, RESOURCES, State};
use super::usage::{metrics, summary};
use crate::json;
use crate::time;

/// What to do with a request.
pub(super) enum Reply {
    /// Answer it.
    Answer(Answer),
    /// Send a log as it grows: from which line on, of which start of the container.
    Follow {
        key: [String; 3],
        has_stamp: bool,
        from: usize,
        start: u32,
    },
    /// Send changes of events after a version.
    /// Carry bytes to a port of a pod.
    Forward { pod: String, port: u16 },
}

/// A place that a path names.
pub(super) struct Target {
    pub(super) group_version: String,
    pub(super) resource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) part: String,
}

pub(super) type Found<T> = Result<T, Answer>;

pub(super) fn reply(state: &mut State, request: &Request) -> Reply {
    if let Some(failure) = state.failure.as_mut().filter(|failure| failure.times > 0) {
        failure.times -= 1;
        let mut answer = failed(
            failure.status,
            "TooManyRequests",
            "the server has too much to do",
        );
        answer.retry_after_s = failure.retry_after_s;
        return Reply::Answer(answer);
    }
    let parts: Vec<&str> = request.parts.iter().map(String::as_str).collect();
    if let Some(found) = discovery(&parts) {
        return Reply::Answer(Answer::json(200, &found));
    }
    let replied = target(&parts).ok_or_else(no_path).and_then(|target| {
        let verb = verb(request, &target);
        allowed(state, verb, &target)?;
        at_target(state, request, &target, verb)
    });
    replied.unwrap_or_else(Reply::Answer)
}

pub(super) fn unauthorized() -> Answer {
    failed(401, "Unauthorized", "Unauthorized")
}

/// A `Status` object of a failure.
pub(super) fn status(code: u16, reason: &str, message: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
        "reason": reason, "details": {}, "code": code })
}

fn failed(code: u16, reason: &str, message: &str) -> Answer {
    Answer::json(code, &status(code, reason, message))
}

pub(super) fn no_path() -> Answer {
    Answer {
        status: 404,
        ..Answer::text("404 page not found\n".to_owned())
    }
}

/// What there is: versions, groups, resources.
fn discovery(parts: &[&str]) -> Option<Value> {
    let groups = || {
        let mut found: Vec<&str> = RESOURCES
            .iter()
            .map(|row| row.0)
            .filter(|row| row.contains('/'))
            .collect();
        found.dedup();
        found
    };
    match parts {
        ["version"] => Some(
            json!({ "major": "1", "minor": "34", "gitVersion": "v1.34.0-stand-in", "platform": "linux/amd64" }),
        ),
        ["api"] => Some(json!({ "kind": "APIVersions", "versions": ["v1"] })),
        ["apis"] => {
            let groups: Vec<Value> = groups()
                .iter()
                .map(|group| {
                    let (name, version) = group.split_once('/').unwrap_or((group, ""));
                    let version = json!({ "groupVersion": group, "version": version });
                    json!({ "name": name, "versions": [version], "preferredVersion": version })
                })
                .collect();
            Some(json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups }))
        }
        ["api", version] => resources(version),
        ["apis", group, version] => resources(&format!("{group}/{version}")),
        _ => None,
    }
}

fn resources(group_version: &str) -> Option<Value> {
    let verbs = ["create", "delete", "get", "list", "patch", "update"];
    let of_group = RESOURCES.iter().filter(|row| row.0 == group_version);
    let mut found: Vec<Value> = of_group
        .clone()
        .map(|(_, resource, kind, is_namespaced)| {
            json!({ "name": resource, "singularName": kind.to_lowercase(), "namespaced": is_namespaced, "kind": kind, "verbs": verbs })
        })
        .collect();
    if found.is_empty() {
        return None;
    }
    if group_version == "apps/v1" {
        found.push(json!({ "name": "deployments/scale", "singularName": "", "namespaced": true, "group": "autoscaling",
            "version": "v1", "kind": "Scale", "verbs": ["get", "patch", "update"] }));
    }
    Some(
        json!({ "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": found }),
    )
}

fn target(parts: &[&str]) -> Option<Target> {
    let (group_version, rest) = match parts {
        ["api", version, rest @ ..] => ((*version).to_owned(), rest),
        ["apis", group, version, rest @ ..] => (format!("{group}/{version}"), rest),
        _ => return None,
    };
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        rest => ("", rest),
    };
    let (resource, rest) = rest.split_first()?;
    let (name, part) = rest.split_first().map_or(("", ""), |(name, part)| {
        (*name, part.first().copied().unwrap_or(""))
    });
    Some(Target {
        group_version,
        resource: (*resource).to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        part: part.to_owned(),
    })
}

fn verb(request: &Request, target: &Target) -> &'static str {
    match (request.method.as_str(), target.name.is_empty()) {
        ("GET", true) => "list",
        ("GET", false) => "get",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        _ => "delete",
    }
}

fn allowed(state: &State, verb: &str, target: &Target) -> Found<()> {
    let resource = match target.part.as_str() {
        "" => target.resource.clone(),
        part => format!("{}/{part}", target.resource),
    };
    let is_forbidden = state
        .forbidden
        .iter()
        .any(|rule| rule.0 == verb && rule.1 == resource);
    match is_forbidden {
        false => Ok(()),
        true => Err(failed(
            403,
            "Forbidden",
            &format!(
                "{resource} is forbidden: User \"tester\" cannot {verb} resource \"{resource}\""
            ),
        )),
    }
}

fn at_target(state: &mut State, request: &Request, target: &Target, verb: &str) -> Found<Reply> {
    if target.group_version.starts_with("metrics.k8s.io/") {
        return metrics(state, request, target).map(Reply::Answer);
    }
    let is_kept = RESOURCES
        .iter()
        .any(|row| row.0 == target.group_version && row.1 == target.resource);
    if !is_kept {
        return Err(no_path());
    }
    let key: Key = [
        target.group_version.clone(),
        target.resource.clone(),
        target.namespace.clone(),
        target.name.clone(),
    ];
    match (target.part.as_str(), verb) {
        ("log", _) => log(state, request, &key),
        ("portforward", _) => {
            object(state, &key)?;
            let port = request
                .parameter("ports")
                .and_then(|port| port.parse().ok());
            let port = port
                .ok_or_else(|| failed(400, "BadRequest", "query parameter \"port\" is required"))?;
            Ok(Reply::Forward {
                pod: key[3].clone(),
                port,
            })
        }
        ("proxy", _) => summary(state, &key).map(Reply::Answer),
        ("scale", "get") => {
            object(state, &key).map(|object| Reply::Answer(Answer::json(200, &scale(object))))
        }
        ("scale", _) => rescale(state, request, &key).map(Reply::Answer),
        ("", "list") => list(state, request, &key).map(Reply::Answer),
        ("", "get") => object(state, &key).map(|object| Reply::Answer(Answer::json(200, object))),
        ("", _) => change(state, request, &key, verb).map(Reply::Answer),
        _ => Err(no_path()),
    }
}

pub(super) fn object<'a>(state: &'a State, key: &Key) -> Found<&'a Value> {
    let missing = || {
        let [_, resource, _, name] = key;
        failed(404, "NotFound", &format!("{resource} {name:?} not found"))
    };
    state.objects.get(key).ok_or_else(missing)
}

fn list(state: &State, request: &Request, key: &Key) -> Found<Answer> {
    let matching: Vec<Value> = state
        .objects
        .iter()
        .filter(|(other, object)| {
            other[..2] == key[..2]
                && (key[2].is_empty() || other[2] == key[2])
                && selected(object, request)
        })
        .map(|(_, object)| object.clone())
        .collect();
    let from: usize = request
        .parameter("continue")
        .and_then(|next| next.parse().ok())
        .unwrap_or(0);
    let limit = request
        .parameter("limit")
        .and_then(|limit| limit.parse().ok())
        .filter(|limit| *limit > 0);
    let end = from
        .saturating_add(limit.unwrap_or(usize::MAX))
        .min(matching.len());
    let kind = RESOURCES
        .iter()
        .find(|row| row.0 == key[0] && row.1 == key[1])
        .map_or("", |row| row.2);
    let mut metadata = json!({ "resourceVersion": state.version().to_string() });
    if end < matching.len() {
        metadata["continue"] = end.to_string().into();
        metadata["remainingItemCount"] = (matching.len() - end).into();
    }
    let items = &matching[from.min(end)..end];
    Ok(Answer::json(
        200,
        &json!({ "kind": format!("{kind}List"), "apiVersion": key[0], "metadata": metadata, "items": items }),
    ))
}

fn change(state: &mut State, request: &Request, key: &Key, verb: &str) -> Found<Answer> {
    if verb == "delete" {
        object(state, key)?;
        state.remove_key(key);
        return Ok(Answer::json(
            200,
            &json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success" }),
        ));
    }
    let sent: Value = serde_json::from_slice(&request.body)
        .map_err(|_| failed(400, "BadRequest", "the body is no JSON"))?;
    let before = state.objects.get(key).cloned();
    let object = match verb {
        "create" => {
            let name = json::owned(&sent, "/metadata/name");
            let key = [key[0].clone(), key[1].clone(), key[2].clone(), name.clone()];
            if state.objects.contains_key(&key) {
                return Err(failed(
                    409,
                    "AlreadyExists",
                    &format!("{} {name:?} already exists", key[1]),
                ));
            }
            sent
        }
        "update" => {
            let now = object(state, key)?;
            let version = json::text(&sent, "/metadata/resourceVersion");
            if version.is_some_and(|version| {
                json::text(now, "/metadata/resourceVersion") != Some(version)
            }) {
                return Err(failed(
                    409,
                    "Conflict",
                    "the object has been modified; please apply your changes to the latest version",
                ));
            }
            sent
        }
        _ => patched(state, request, key, &sent)?,
    };
    if key[1] == "jobs" {
        check_job(before.as_ref(), &object)?;
    }
    // The status is the controllers', whoever sends the rest.
    let mut object = object;
    match before.as_ref().and_then(|before| before.get("status")) {
        Some(status) => object["status"] = status.clone(),
        None => drop(object.as_object_mut().map(|object| object.remove("status"))),
    }
    let stored = state
        .put(object)
        .ok_or_else(|| failed(422, "Invalid", "kind or name is missing"))?;
    let code = if before.is_some() { 200 } else { 201 };
    Ok(Answer::json(code, &state.objects[&stored]))
}

/// A new job has no selector, unless it says that it was chosen by hand; that of another one stays, and its template.
fn check_job(before: Option<&Value>, object: &Value) -> Found<()> {
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
    wrong.map_or(Ok(()), |why| Err(failed(422, "Invalid", why)))
}

fn patched(state: &State, request: &Request, key: &Key, sent: &Value) -> Found<Value> {
    let lists = match request.header("content-type") {
        Some("application/apply-patch+yaml") => {
            if request.parameter("fieldManager").is_none() {
                return Err(failed(
                    400,
                    "BadRequest",
                    "fieldManager is required for apply patch",
                ));
            }
            let mut object = state.objects.get(key).cloned().unwrap_or_else(|| json!({}));
            patch::apply(&mut object, sent, Lists::Merge);
            return Ok(object);
        }
        Some("application/strategic-merge-patch+json") => Lists::Merge,
        Some("application/merge-patch+json") => Lists::Replace,
        _ => {
            return Err(failed(
                415,
                "UnsupportedMediaType",
                "the body of the request was in an unknown format",
            ));
        }
    };
    let mut object = object(state, key)?.clone();
    patch::apply(&mut object, sent, lists);
    Ok(object)
}

fn scale(object: &Value) -> Value {
    let metadata = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ];
    let metadata: serde_json::Map<String, Value> = metadata
        .iter()
        .map(|name| ((*name).to_owned(), object["metadata"][*name].clone()))
        .collect();
    json!({ "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": { "replicas": json::count(object, "/spec/replicas", 1) },
        "status": { "replicas": json::count(object, "/status/replicas", 0), "selector": "" } })
}

fn rescale(state: &mut State, request: &Request, key: &Key) -> Found<Answer> {
    let sent: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let mut object = object(state, key)?.clone();
    let replicas = json::number(&sent, "/spec/replicas");
    let replicas =
        replicas.ok_or_else(|| failed(422, "Invalid", "spec.replicas: Required value"))?;
    object["spec"]["replicas"] = replicas.into();
    state.put(object);
    Ok(Answer::json(200, &scale(&state.objects[key])))
}

fn log(state: &mut State, request: &Request, key: &Key) -> Found<Reply> {
    let pod = object(state, key)?;
    let containers: Vec<String> = json::items(pod, "/spec/containers")
        .iter()
        .map(|one| json::owned(one, "/name"))
        .collect();
    let container = match (request.parameter("container"), containers.as_slice()) {
        (Some(name), all) if all.iter().any(|one| one == name) => name.to_owned(),
        (None, [only]) => only.clone(),
        _ => {
            return Err(failed(
                400,
                "BadRequest",
                &format!(
                    "a container name must be specified for pod {}, choose one of: {containers:?}",
                    key[3]
                ),
            ));
        }
    };
    let log_key = [key[2].clone(), key[3].clone(), container];
    let log: Log = state.logs.entry(log_key.clone()).or_default().clone();
    let is_previous = request.is("previous");
    let lines = match is_previous {
        true => log
            .previous
            .ok_or_else(|| failed(400, "BadRequest", "previous terminated container not found"))?,
        false => log.lines,
    };
    let newest = lines.last().map_or(0, |line| line.0);
    let seconds = request
        .parameter("sinceSeconds")
        .and_then(|seconds| seconds.parse::<u64>().ok());
    let since = match seconds {
        Some(seconds) => newest.saturating_sub(seconds * 1_000_000_000),
        None => request
            .parameter("sinceTime")
            .and_then(time::parse)
            .unwrap_or(0),
    };
    let tail = request
        .parameter("tailLines")
        .and_then(|lines| lines.parse::<usize>().ok());
    let from = lines.iter().take_while(|line| line.0 < since).count();
    let from = from.max(tail.map_or(0, |tail| lines.len().saturating_sub(tail)));
    let has_stamp = request.is("timestamps");
    if request.is("follow") && !is_previous {
        return Ok(Reply::Follow {
            key: log_key,
            has_stamp,
            from,
            start: log.start,
        });
    }
    let text: String = lines[from..]
        .iter()
        .map(|line| shown(line, has_stamp))
        .collect();
    Ok(Reply::Answer(Answer::text(text)))
}
