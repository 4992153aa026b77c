//! A script's information about its run, in virtual time, and the means to end it.
//!
//! Must not need a socket. Invariant under test: the texts and names are k6's.

use std::collections::BTreeMap;

use crate::testing::{Rehearsal, Rehearsed};
use crate::vu::Ending;

fn run(body: &str) -> Rehearsed {
    let script = format!(
        r#"import exec, {{ scenario }} from "k6/execution";
        import {{ Counter }} from "k6/metrics";
        import {{ group, sleep }} from "k6";
        const c = new Counter("my_c");
        const tried = (f) => {{ try {{ return f(); }} catch (e) {{ return String(e); }} }};
        const seen = [tried(() => exec.instance), tried(() => exec.scenario), tried(() => exec.vu), tried(() => exec.test.options), tried(() => scenario.name), tried(() => exec.test.fail())];
        export default function () {{ {body} }}"#
    );
    Rehearsal::new(&script)
        .settings(|settings| {
            settings.options = serde_json::json!({ "tags": { "a": "b" }, "vus": 2 });
        })
        .iterations(2)
        .run()
}

#[test]
fn module_code_is_told_nothing() {
    let rehearsed = run("if (__ITER === 0) seen.forEach((text) => console.log(text));");
    let told: Vec<String> = [
        "getting instance information in the init context is not supported",
        "getting scenario information outside of the VU context is not supported",
        "getting VU information in the init context is not supported",
        "getting test options in the init context is not supported",
        "getting scenario information outside of the VU context is not supported",
        "execution.test.fail() called outside of VU context",
    ]
    .iter()
    .map(|text| format!("info GoError: {text} source=console"))
    .collect();
    assert_eq!(rehearsed.log(), told);
}

#[test]
fn an_iteration_knows_where_it_is() {
    let rehearsed = run(
        "sleep(1); console.log(JSON.stringify(exec.instance)); console.log(JSON.stringify(exec.scenario)); console.log(JSON.stringify(exec.vu)); console.log(scenario.name, Object.keys(exec).join());",
    );
    assert_eq!(
        rehearsed.log()[4..],
        [
            r#"info {"currentTestRunDuration":2000,"iterationsCompleted":0,"iterationsInterrupted":0,"vusActive":1,"vusInitialized":1} source=console"#,
            r#"info {"name":"default","executor":"per-vu-iterations","startTime":1700000000000,"progress":0,"iterationInInstance":1,"iterationInTest":1} source=console"#,
            r#"info {"idInInstance":1,"idInTest":1,"iterationInInstance":1,"iterationInScenario":1,"tags":{"group":"","scenario":"default"},"metrics":{"tags":{"group":"","scenario":"default"},"metadata":{}}} source=console"#,
            "info default instance,scenario,test,vu source=console",
        ]
    );
}

#[test]
fn metrics_are_assigned_in_vain_and_the_rest_is_read_only() {
    let rehearsed = run(
        "if (__ITER) return; const put = (name) => tried(() => { 'use strict'; exec.vu[name] = {}; return name; }); console.log(put('tags'), put('metrics'), put('idInTest').split(':')[0]); console.log(typeof exec.vu.metrics.tags);",
    );
    assert_eq!(
        rehearsed.log(),
        [
            "info tags metrics TypeError source=console",
            "info object source=console"
        ]
    );
}

#[test]
fn options_are_read_only() {
    let rehearsed = run(
        "if (__ITER) return; const o = exec.test.options; console.log(JSON.stringify(o), Object.isFrozen(o.tags)); console.log(tried(() => { 'use strict'; exec.vu = 1; }).split(':')[0]);",
    );
    assert_eq!(
        rehearsed.log(),
        [
            r#"info {"tags":{"a":"b"},"vus":2} true source=console"#,
            "info TypeError source=console"
        ]
    );
}

#[test]
fn tags_of_the_virtual_user_are_on_its_samples_until_removed() {
    let rehearsed = run(
        "const tags = exec.vu.metrics.tags; console.log(JSON.stringify(tags), 'a' in tags, tags.a);
         tags.a = 1; tags.b = true; c.add(__ITER); group('g', () => c.add(7)); delete tags.b; exec.vu.tags = 5;
         for (const bad of [{}, null, undefined, [1]]) console.log(tried(() => { tags.bad = bad; }));",
    );
    let refused = "info TypeError: invalid value for metric tag 'bad': only String, Boolean and Number types are accepted as a metric tag values source=console";
    let log = rehearsed.log();
    assert_eq!(
        log[0],
        r#"info {"group":"","scenario":"default"} false undefined source=console"#
    );
    assert_eq!(log[1..5], [refused; 4]);
    assert_eq!(
        log[5],
        r#"info {"a":"1","group":"","scenario":"default"} true 1 source=console"#
    );
    let values = rehearsed.world.values.borrow();
    let of = |wanted: f64| -> &BTreeMap<String, String> {
        let found = values
            .iter()
            .find(|(name, value, _)| name == "my_c" && *value == wanted);
        &found.expect("it was recorded").2
    };
    assert_eq!(of(0.0)["b"], "true");
    assert_eq!(of(7.0)["group"], "::g");
    assert_eq!(of(7.0)["a"], "1");
}

#[test]
fn metadata_is_told_to_the_host() {
    let rehearsed = run(
        "const m = exec.vu.metrics.metadata; m.a = 1; m.b = 'x'; delete m.a; console.log(JSON.stringify(m), tried(() => { m.bad = {}; }));",
    );
    assert_eq!(
        rehearsed.log()[0],
        r#"info {"b":"x"} TypeError: invalid value for metric metadata 'bad': only String, Boolean and Number types are accepted as a metric metadata value source=console"#
    );
    assert_eq!(
        rehearsed
            .world
            .metadata
            .borrow()
            .as_deref()
            .and_then(|all| all.get("b")),
        Some("x")
    );
}

#[test]
fn abort_ends_everything_unseen_by_the_script() {
    let rehearsed = run(
        "try { exec.test.abort('stop'); } catch (e) { console.log('caught'); } finally { console.log('finally'); }",
    );
    assert!(rehearsed.log().is_empty());
    let place = "test aborted: stop at default (file:///script.js:7:";
    let failure = rehearsed.failure().expect("it was aborted");
    assert!(failure.starts_with(place), "{failure}");
    let told = rehearsed.world.aborted.borrow().clone();
    assert!(told.is_some_and(|told| told.starts_with(place)));
}

#[test]
fn abort_in_a_promise_ends_everything_too() {
    let rehearsed =
        run("return new Promise((r) => setTimeout(r, 5)).then(() => exec.test.abort());");
    let failure = rehearsed.failure().expect("it was aborted");
    assert!(failure.starts_with("test aborted at "), "{failure}");
}

#[test]
fn fail_marks_the_test_and_goes_on() {
    let rehearsed = run("exec.test.fail('why'); console.log('on');");
    assert_eq!(
        rehearsed.log()[..2],
        ["error test marked as failed: why", "info on source=console"]
    );
    assert_eq!(rehearsed.world.failed.borrow().as_deref(), Some("why"));
    assert!(
        rehearsed
            .endings
            .iter()
            .all(|ending| matches!(ending, Ending::Done(_)))
    );
}
