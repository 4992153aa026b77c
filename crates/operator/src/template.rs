//! A pod template: a PodTemplateSpec with one container of ours, and possibly others.
//!
//! Its fields are copied unchanged, for the API to validate. Must not know which kind has it. Invariant: fields
//! that the operator controls are refused, never silently overwritten.

use serde_json::{Map, Value};

use crate::fields::Fields;
use crate::test::{DECIDED, PodTemplate, Refusal, invalid};

/// Fields of our container that determine what it runs.
const PROGRAM: &[&str] = &["args", "command", "workingDir"];
/// Lists to which the operator adds.
const LISTS: &[&str] = &["initContainers", "volumes"];
const CONTAINER_LISTS: &[&str] = &["env", "ports", "volumeMounts"];
/// The variable that the cluster sets in each pod of an Indexed Job.
const INDEX: &str = "JOB_COMPLETION_INDEX";

/// Reads the template in a field; `ours`: the container in which loadline runs.
pub(crate) fn read(fields: &Fields<'_>, name: &str, ours: &str) -> Result<PodTemplate, Refusal> {
    let Some(template) = fields.within(name)? else {
        return Ok(PodTemplate::default());
    };
    template.only(&["metadata", "spec"])?;
    let mut pod = PodTemplate::default();
    if let Some(metadata) = template.within("metadata")? {
        metadata.only(&["annotations", "labels"])?;
        pod.labels = present(metadata.object("labels")?);
        pod.annotations = present(metadata.object("annotations")?);
    }
    let Some(spec) = template.within("spec")? else {
        return Ok(pod);
    };
    pod.spec = present(template.object("spec")?);
    if let Some(decided) = DECIDED.iter().find(|field| pod.spec.contains_key(**field)) {
        return Err(invalid(format!(
            "{}: the operator sets this",
            spec.path(decided)
        )));
    }
    pod.spec.remove("containers");
    let place = spec.path("containers");
    for container in spec.list("containers")? {
        match container["name"] == ours {
            false => pod.beside.push(container.clone()),
            true if pod.container.is_empty() => {
                pod.container = present(container.as_object());
            }
            true => return Err(invalid(format!("{place}: {ours} is given twice"))),
        }
    }
    if let Some(field) = PROGRAM
        .iter()
        .find(|field| pod.container.contains_key(**field))
    {
        return Err(invalid(format!(
            "{place}: {field} of {ours}: the operator sets the program; its options go into spec.arguments"
        )));
    }
    for (fields, names, place) in [
        (&pod.spec, LISTS, template.path("spec")),
        (&pod.container, CONTAINER_LISTS, place.clone()),
    ] {
        let mut odd = names.iter().filter(|name| {
            let value = fields.get(**name);
            value.is_some_and(|value| !value.is_array())
        });
        if let Some(name) = odd.next() {
            return Err(invalid(format!("{place}: {name}: a list is required")));
        }
    }
    let env = pod.container.get("env").and_then(Value::as_array);
    if env.into_iter().flatten().any(|one| one["name"] == INDEX) {
        return Err(invalid(format!("{place}: env {INDEX} is the cluster's")));
    }
    Ok(pod)
}

/// A pod with the test's variables, placed before its own.
pub(crate) fn with_env(mut pod: PodTemplate, spec: &Fields<'_>) -> Result<PodTemplate, Refusal> {
    let mut env = spec.list("env")?.to_vec();
    if let Some(Value::Array(own)) = pod.container.get("env") {
        env.extend(own.iter().cloned());
    }
    pod.container.insert("env".into(), Value::Array(env));
    Ok(pod)
}

/// Fields that have a value.
fn present(fields: Option<&Map<String, Value>>) -> Map<String, Value> {
    let fields = fields.into_iter().flatten();
    let fields = fields.filter(|(_, value)| !value.is_null());
    fields
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
