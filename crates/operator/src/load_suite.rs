//! Reads and checks a `LoadSuite`.
//!
//! Must not know the objects made from it, nor the API. Invariant: any object yields data or a refusal with a
//! reason; no part of it is ever interpreted by a shell.

use serde_json::{Map, Value};

use crate::fields::{self, Fields};
use crate::results::{Said, Wanted};
use crate::template;
use crate::test::{PodTemplate, Refusal, Test, Work, invalid};
use loadline_model::test_kind::TestKind;

/// Its fields.
const FIELDS: &[&str] = &[
    "cleanup",
    "env",
    "only",
    "podTemplate",
    "results",
    "suite",
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
    let kind = TestKind::LoadSuite;
    let none =
        || invalid("spec.suite: one of configMap, volumeClaim and git is required".to_owned());
    let suite = spec.within("suite")?.ok_or_else(none)?;
    suite.only(&["configMap", "git", "volumeClaim"])?;
    let name = fields::name(object)?;
    let (claim, results) = results(&spec, &name)?;
    let work = Work::Suite {
        file: suite.file_from("suite.yaml")?.ok_or_else(none)?,
        claim,
    };
    let only = spec.texts("only")?;
    let pod = template::read(&spec, "podTemplate", kind.container())?;
    Ok(Test {
        kind,
        name,
        namespace: fields::of_metadata(object, "namespace"),
        uid: fields::of_metadata(object, "uid"),
        generation: fields::generation(object),
        work,
        parallelism: 1,
        // One word, so that a row that begins with a dash is not an option.
        arguments: only.iter().map(|row| format!("--only={row}")).collect(),
        quiet: true,
        results,
        cleanup: spec.cleanup()?,
        ttl: spec.span("ttlAfterFinished")?,
        ignored: Vec::new(),
        agent: PodTemplate::default(),
        coordinator: template::with_env(pod, &spec)?,
    })
}

/// The claim that the suite works on, and the destination of its results.
fn results(spec: &Fields<'_>, name: &str) -> Result<(Option<String>, Wanted), Refusal> {
    let Some(results) = spec.within("results")? else {
        return Ok((None, Wanted::default()));
    };
    results.only(&["secret", "to", "volumeClaim"])?;
    let said = Said {
        results: results.text("to")?,
        secret: results.text("secret")?,
    };
    let Some(claim) = results.within("volumeClaim")? else {
        let places = ["spec.results.to", "spec.results.secret"];
        return Ok((None, Wanted::read(places, &said, name)?));
    };
    if said.results.is_some() || said.secret.is_some() {
        return Err(invalid(
            "spec.results: a suite that works on a volumeClaim leaves its results there: give either volumeClaim, or to and secret"
                .to_owned(),
        ));
    }
    claim.only(&["name"])?;
    let claim = claim.text("name")?.filter(|name| !name.is_empty());
    let claim =
        claim.ok_or_else(|| invalid("spec.results.volumeClaim: a claim is required".to_owned()))?;
    Ok((Some(claim.to_owned()), Wanted::Nowhere))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test::{Cleanup, Source};

    fn read(spec: &Value) -> Result<Test, Refusal> {
        super::read(&json!({"metadata": {"name": "s", "uid": "u"}, "spec": spec}))
    }

    #[test]
    fn the_least_is_a_file() {
        let suite = read(&json!({"suite": {"configMap": {"name": "c"}}})).expect("a suite");
        let path = suite.work.source().map(Source::path);
        assert_eq!(path.as_deref(), Some("/test/suite.yaml"));
        assert_eq!((suite.agents(), suite.cleanup), (0, Cleanup::Never));
        assert_eq!(suite.results, Wanted::ConfigMap);
        let on_claim = json!({"suite": {"configMap": {"name": "c"}}, "results": {"volumeClaim": {"name": "v"}}});
        let suite = read(&on_claim).expect("a suite");
        assert_eq!(suite.results, Wanted::Nowhere);
    }

    #[test]
    fn what_cannot_be_run_is_refused_with_its_field() {
        let with = |field: &str, value: Value| {
            let mut spec = json!({"suite": {"configMap": {"name": "c"}}});
            spec[field] = value;
            spec
        };
        for (spec, named) in [
            (json!({}), "spec.suite"),
            (with("suite", json!({"inline": "x"})), "spec.suite.inline"),
            (
                with("suite", json!({"configMap": {"name": "c", "file": "../x"}})),
                "leaves",
            ),
            (
                with("results", json!({"to": "secret"})),
                "spec.results.to: ",
            ),
            (
                with("results", json!({"to": "s3://bucket"})),
                "spec.results.secret: ",
            ),
            (
                with(
                    "results",
                    json!({"to": "none", "volumeClaim": {"name": "v"}}),
                ),
                "either volumeClaim",
            ),
            (
                with("results", json!({"volumeClaim": {"name": ""}})),
                "spec.results.volumeClaim",
            ),
            (with("results", json!({"s3": {}})), "spec.results.s3"),
            (with("only", json!("a")), "spec.only"),
            (with("parallelism", json!(2)), "spec.parallelism"),
            (with("cleanup", json!("post")), "spec.cleanup"),
        ] {
            let refusal = read(&spec).expect_err(named);
            assert!(refusal.message.contains(named), "{refusal}");
        }
    }
}
