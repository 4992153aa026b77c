//! The response to a request: discovery, objects, parts of objects, metrics.
//!
//! Must not know connections. Invariant: an error is a `Status` object with the code of the response.

use serde_json::{Value, json};

use super::http::{Answer, Request};
use super::log::{Log, shown};
use super::ownership::{Manager, Owners};
use super::patch::Lists;
use super::select::{self, selected};
use super::state::{DEFINED, Key, RESOURCES, State};
use super::usage::{metrics, summary};
use super::{patch, rules};
use crate::json;
use crate::time;

/// What to do with a request.
pub(super) enum Reply {
    /// Respond with it.
    Answer(Answer),
    /// Send a log as it grows: from which line on, of which start of the container.
    Follow {
        key: [String; 3],
        has_stamp: bool,
        from: usize,
        start: u32,
    },
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

/// How messages call a resource or kind: `deployments.apps`.
pub(super) fn told(group_version: &str, resource: &str) -> String {
    match group_version.split_once('/') {
        Some((group, _)) => format!("{resource}.{group}"),
        None => resource.to_owned(),
    }
}

pub(super) fn failed(code: u16, reason: &str, message: &str) -> Answer {
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
    if !is_forbidden {
        return Ok(());
    }
    let mut what = told(&target.group_version, &target.resource);
    if !target.name.is_empty() {
        what.push_str(&format!(" {:?}", target.name));
    }
    let (group, _) = target.group_version.split_once('/').unwrap_or_default();
    let place = match target.namespace.as_str() {
        "" => "at the cluster scope".to_owned(),
        namespace => format!("in the namespace {namespace:?}"),
    };
    Err(failed(
        403,
        "Forbidden",
        &format!(
            "{what} is forbidden: User \"tester\" cannot {verb} resource {resource:?} in API group {group:?} {place}"
        ),
    ))
}

fn at_target(state: &mut State, request: &Request, target: &Target, verb: &str) -> Found<Reply> {
    if target.group_version.starts_with("metrics.k8s.io/") {
        return metrics(state, request, target).map(Reply::Answer);
    }
    let is_kept = RESOURCES
        .iter()
        .any(|row| row.0 == target.group_version && row.1 == target.resource);
    if !is_kept {
        let is_known = RESOURCES.iter().any(|row| row.0 == target.group_version);
        return Err(match is_known {
            true => failed(
                404,
                "NotFound",
                "the server could not find the requested resource",
            ),
            false => no_path(),
        });
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
            // A WebSocket begins with GET, and wants what POST wants besides.
            allowed(state, "create", target)?;
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
        let what = told(&key[0], &key[1]);
        failed(404, "NotFound", &format!("{what} {:?} not found", key[3]))
    };
    state.objects.get(key).ok_or_else(missing)
}

fn list(state: &State, request: &Request, key: &Key) -> Found<Answer> {
    if let Some(why) = select::trouble(request, &key[1]) {
        return Err(failed(400, "BadRequest", &why));
    }
    // Objects of built-in kinds do not repeat the kind of their list.
    let is_built_in = !DEFINED.contains(&key[0].as_str());
    let listed = |object: &Value| {
        let mut object = object.clone();
        if let Some(fields) = object.as_object_mut().filter(|_| is_built_in) {
            fields.retain(|name, _| !["apiVersion", "kind"].contains(&name.as_str()));
        }
        object
    };
    let matching: Vec<Value> = state
        .objects
        .iter()
        .filter(|(other, object)| {
            other[..2] == key[..2]
                && (key[2].is_empty() || other[2] == key[2])
                && selected(object, request)
        })
        .map(|(_, object)| listed(object))
        .collect();
    let from: usize = match request.parameter("continue") {
        None => 0,
        Some(token) => token
            .parse()
            .map_err(|_| failed(400, "BadRequest", "invalid continue token"))?,
    };
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
        return delete(state, key);
    }
    let sent: Value = serde_json::from_slice(&request.body)
        .map_err(|_| failed(400, "BadRequest", "the body is not JSON"))?;
    let mut key = key.clone();
    if verb == "create" {
        key[3] = json::owned(&sent, "/metadata/name");
    }
    let by = manager(request);
    let before = state.objects.get(&key).cloned();
    let mut owners = state.owners.get(&key).cloned().unwrap_or_default();
    let now = before.clone().unwrap_or_else(|| json!({}));
    let mut object = match verb {
        "create" => created(&key, before.as_ref(), sent)?,
        "update" => updated(&key, object(state, &key)?, sent)?,
        _ if by.applies => {
            rules::check_fields(&key, &sent)?;
            applied(request, &by, &now, &mut owners, &sent)?
        }
        _ => patched(object(state, &key)?, request, &sent)?,
    };
    if !key[2].is_empty() {
        object["metadata"]["namespace"] = key[2].as_str().into();
    }
    rules::check(state, &key, before.as_ref(), &object)?;
    if !by.applies {
        owners.change(&by, &now, &object);
    }
    // The status belongs to the controllers, whoever sends the rest.
    match before.as_ref().and_then(|before| before.get("status")) {
        Some(status) => object["status"] = status.clone(),
        None => drop(object.as_object_mut().map(|object| object.remove("status"))),
    }
    if before.is_none() {
        state.give_address(&key, &mut object);
    }
    let stored = state
        .put_owned(object.clone(), owners)
        .ok_or_else(|| failed(422, "Invalid", "kind or name is missing"))?;
    let code = if before.is_some() { 200 } else { 201 };
    // It is gone where it was only waiting for its last finalizer.
    let stored = state.objects.get(&stored).unwrap_or(&object);
    Ok(Answer::json(code, stored))
}

/// Removes an object, or marks it as being deleted if it has finalizers.
fn delete(state: &mut State, key: &Key) -> Found<Answer> {
    let mut going = object(state, key)?.clone();
    if json::items(&going, "/metadata/finalizers").is_empty() {
        state.remove_key(key);
        return Ok(Answer::json(
            200,
            &json!({ "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success" }),
        ));
    }
    if going.pointer("/metadata/deletionTimestamp").is_none() {
        going["metadata"]["deletionTimestamp"] = state.now().into();
        state.store(key, going.clone());
    }
    Ok(Answer::json(200, &going))
}

/// Who sends an object.
fn manager(request: &Request) -> Manager {
    let name = request.parameter("fieldManager").unwrap_or("unknown");
    Manager {
        name: name.to_owned(),
        applies: request.header("content-type") == Some("application/apply-patch+yaml"),
    }
}

fn created(key: &Key, before: Option<&Value>, sent: Value) -> Found<Value> {
    match before {
        None => Ok(sent),
        Some(_) => Err(failed(
            409,
            "AlreadyExists",
            &format!("{} {:?} already exists", told(&key[0], &key[1]), key[3]),
        )),
    }
}

fn updated(key: &Key, now: &Value, sent: Value) -> Found<Value> {
    let version = json::text(&sent, "/metadata/resourceVersion");
    let is_old = version
        .is_some_and(|version| json::text(now, "/metadata/resourceVersion") != Some(version));
    match is_old {
        false => Ok(sent),
        true => Err(failed(
            409,
            "Conflict",
            &format!(
                "Operation cannot be fulfilled on {} {:?}: the object has been modified; please apply your changes to \
                 the latest version and try again",
                told(&key[0], &key[1]),
                key[3]
            ),
        )),
    }
}

fn applied(
    request: &Request,
    by: &Manager,
    now: &Value,
    owners: &mut Owners,
    sent: &Value,
) -> Found<Value> {
    if request.parameter("fieldManager").is_none() {
        let why = "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch";
        return Err(failed(422, "Invalid", why));
    }
    if !request.is("force")
        && let Some(why) = owners.conflict(by, now, sent)
    {
        return Err(failed(409, "Conflict", &why));
    }
    let mut object = now.clone();
    patch::apply(&mut object, sent, Lists::Merge);
    Ok(owners.apply(by, now, object, sent))
}

fn patched(now: &Value, request: &Request, sent: &Value) -> Found<Value> {
    let lists = match request.header("content-type") {
        Some("application/strategic-merge-patch+json") => Lists::Merge,
        Some("application/merge-patch+json") => Lists::Replace,
        _ => {
            return Err(failed(
                415,
                "UnsupportedMediaType",
                "415: Unsupported Media Type",
            ));
        }
    };
    let mut object = now.clone();
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
    state.put_by(&manager(request), object);
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
        (named, _) => {
            let pod = &key[3];
            let why = match named {
                Some(name) => format!("container {name} is not valid for pod {pod}"),
                None => format!(
                    "a container name must be specified for pod {pod}, choose one of: [{}]",
                    containers.join(" ")
                ),
            };
            return Err(failed(400, "BadRequest", &why));
        }
    };
    let log_key = [key[2].clone(), key[3].clone(), container];
    let log: Log = state.logs.entry(log_key.clone()).or_default().clone();
    let is_previous = request.is("previous");
    let lines = match is_previous {
        true => log.previous.ok_or_else(|| no_previous(&log_key))?,
        false => log.lines,
    };
    let newest = lines.last().map_or(0, |line| line.0);
    let seconds = request
        .parameter("sinceSeconds")
        .and_then(|seconds| seconds.parse::<u64>().ok());
    if seconds == Some(0) {
        let why = format!(
            "PodLogOptions {:?} is invalid: sinceSeconds: Invalid value: 0: must be greater than 0",
            key[3]
        );
        return Err(failed(422, "Invalid", &why));
    }
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
    let mut text: String = lines[from..]
        .iter()
        .map(|line| shown(line, has_stamp))
        .collect();
    let bytes = request.parameter("limitBytes");
    if let Some(bytes) = bytes.and_then(|bytes| bytes.parse().ok()) {
        text.truncate(text.floor_char_boundary(bytes));
    }
    Ok(Reply::Answer(Answer::text(text)))
}

fn no_previous([_, pod, container]: &[String; 3]) -> Answer {
    let why = format!("previous terminated container {container:?} in pod {pod:?} not found");
    failed(400, "BadRequest", &why)
}
