//! Reads and checks a `LoadTest`.
//!
//! Must not know the objects made from it, nor the API. Invariant: any object yields data or a refusal with a
//! reason; no part of it is ever interpreted by a shell.

use serde_json::{Map, Value};

use crate::arguments;
use crate::fields::{self, Fields};
use crate::results::{Said, Wanted};
use crate::template;
use crate::test::{PodTemplate, Refusal, Source, Test, Work, invalid};
use loadline_model::test_kind::TestKind;

/// Maximum bytes of a script embedded in the test: a ConfigMap holds a mebibyte.
const INLINE_MAX: usize = 512 * 1_024;
/// Its fields.
const FIELDS: &[&str] = &[
    "arguments",
    "bench",
    "cleanup",
    "coordinator",
    "env",
    "jmx",
    "parallelism",
    "podTemplate",
    "results",
    "resultsSecret",
    "schedule",
    "script",
    "ttlAfterFinished",
];

/// Reads an object from the API.
///
/// # Errors
/// It cannot be run.
pub fn read(object: &Value) -> Result<Test, Refusal> {
    let empty = Map::new();
    let spec = Fields::spec(object, &empty);
    spec.only(FIELDS)?;
    let (work, arguments) = work(&spec)?;
    let parallelism = spec.parallelism()?;
    let [agent, coordinator] = pods(&spec)?;
    let name = fields::name(object)?;
    let said = Said {
        results: spec.text("results")?,
        secret: spec.text("resultsSecret")?,
    };
    Ok(Test {
        kind: TestKind::LoadTest,
        results: Wanted::read(["spec.results", "spec.resultsSecret"], &said, &name)?,
        name,
        namespace: fields::of_metadata(object, "namespace"),
        uid: fields::of_metadata(object, "uid"),
        generation: fields::generation(object),
        work,
        parallelism,
        arguments,
        quiet: true,
        cleanup: spec.cleanup()?,
        ttl: spec.span("ttlAfterFinished")?,
        ignored: Vec::new(),
        agent,
        coordinator,
    })
}

/// What is run, and with which arguments.
fn work(spec: &Fields<'_>) -> Result<(Work, Vec<String>), Refusal> {
    let script = spec.within("script")?;
    let plan = spec.within("jmx")?;
    let bench = spec.texts("bench")?;
    let arguments = spec.texts("arguments")?;
    arguments::check(&arguments)?;
    arguments::check(&bench)?;
    match (script, bench.is_empty(), plan) {
        (Some(script), true, None) => Ok((Work::Script(source(&script)?), arguments)),
        (None, true, Some(plan)) => {
            let none = || {
                invalid("spec.jmx: one of configMap, volumeClaim and git is required".to_owned())
            };
            plan.only(&["configMap", "git", "volumeClaim"])?;
            let source = plan.file_from("test.jmx")?.ok_or_else(none)?;
            Ok((Work::Plan(source), arguments))
        }
        (None, false, None) if arguments.is_empty() => Ok((Work::Bench, bench)),
        (None, false, None) => Err(invalid(
            "spec.arguments: arguments of bench belong in spec.bench".to_owned(),
        )),
        _ => Err(invalid(
            "spec: one of script, bench and jmx is required".to_owned(),
        )),
    }
}

fn source(script: &Fields<'_>) -> Result<Source, Refusal> {
    script.only(&["configMap", "git", "inline", "localFile", "volumeClaim"])?;
    let file = script.file_from("test.js")?;
    let local = script.local_file()?;
    let inline = script.text("inline")?.filter(|text| !text.is_empty());
    match (file, local, inline) {
        (Some(file), None, None) => Ok(file),
        (None, Some(path), None) => Ok(Source::Local { path, image: None }),
        (None, None, Some(text)) if text.len() > INLINE_MAX => Err(invalid(format!(
            "spec.script.inline: {} bytes, and {INLINE_MAX} are the most; put the script into a ConfigMap or on a volume",
            text.len()
        ))),
        (None, None, Some(text)) => Ok(Source::Inline {
            file: "test.js",
            text: text.to_owned(),
        }),
        _ => Err(invalid(
            "spec.script: one of configMap, volumeClaim, git, localFile and inline is required"
                .to_owned(),
        )),
    }
}

/// The pods of agents and of the coordinator.
fn pods(spec: &Fields<'_>) -> Result<[PodTemplate; 2], Refusal> {
    let ours = TestKind::LoadTest.container();
    let agent = template::with_env(template::read(spec, "podTemplate", ours)?, spec)?;
    let of_coordinator = spec.within("coordinator")?;
    if let Some(of_coordinator) = &of_coordinator {
        of_coordinator.only(&["podTemplate"])?;
    }
    let mut coordinator = match &of_coordinator {
        Some(fields) => template::read(fields, "podTemplate", ours)?,
        None => PodTemplate::default(),
    };
    // Both belong to one test, and need the same version.
    if let Some(image) = agent.container.get("image") {
        coordinator
            .container
            .entry("image")
            .or_insert_with(|| image.clone());
    }
    let coordinator = template::with_env(coordinator, spec)?;
    Ok([agent, coordinator])
}

#[cfg(test)]
mod tests;
