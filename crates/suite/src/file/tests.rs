//! Valid and invalid suite files.
//!
//! Must not know plans. Invariant: every error has a position and a fix.

use serde_json::Value as Json;

use super::fields::asked;
use super::table::KeyType;
use super::tables::OBJECTS;
use super::*;
use crate::gates::Gate;
use crate::plan::{Plan, Surroundings};

fn plan(yaml: &str) -> Result<Plan, FileError> {
    let file = SuiteFile::parse("s.yaml", yaml)?;
    let surroundings = Surroundings {
        read: &|_| Ok(Vec::new()),
        variable: &|name| (name == "HOME").then(|| "/home".to_owned()),
    };
    Plan::of(&file, &surroundings)
}

/// A suite that uses every key.
const WHOLE: &str = "
name: whole
target: {kubernetes: {context: kind, namespace: shop, service: web, port: 80, port_forward: true, scheme: https, path: /v1}}
order: shuffled
seed: 7
policy: retry 2
facts: {cluster: three nodes}
documents: []
prepare:
  - {name: up, exec: {run: [make, up], env: {A: b}, cwd: deploy}, timeout: 5m, retries: 3, wait: [{rollout: deployment/web}]}
  - {http: {method: PUT, url: 'http://h/', headers: {X: y}, body: '{}', expect: 204}}
  - {kubernetes: {context: kind, namespace: shop, restart: deployment/web}}
  - {kubernetes: {scale: deployment/web, replicas: 3}, wait: {replicas: {workload: deployment/web, count: 3}, context: kind, namespace: shop, timeout: 1m}}
  - {kubernetes: {resources: deployment/web, container: main, requests: {cpu: 1}, limits: {memory: none}}}
  - {kubernetes: {apply: web.yaml}, wait: {http: {url: 'http://h/', status: 200}}}
  - {kubernetes: {delete: pod/web}, wait: {log: {file: web.log, match: ready}}}
  - {testbed: {control: 'http://c', component: api, scale: 2}, wait: {port: 'h:80'}}
  - {testbed: {control: 'http://c', component: api, restart: true}, wait: {prometheus: {url: 'http://p', query: up, condition: '> 0'}}}
  - {testbed: {control: 'http://c', component: api, cold: true}, wait: {cpu_idle: {of: host, below: 0.5, for: 3s}}}
  - {testbed: {control: 'http://c', component: api, degrade: {factor: 3}}}
  - {sleep: 1s}
between: [{sleep: 1s}]
after: [{sleep: 1s}]
before: [{sleep: 1s}]
cleanup: [{exec: down}]
defaults:
  bench: '-n 1'
  phases: {smoke: {checks: true, time_limit: 10s}, warm_up: 10s, ramp: 5s, steady: 1m, tail: 5s}
  gates: {checks: true, thresholds: true, goodput: 99%, shapes: 1%, delivered: true, restarts: 0, generator: true, outputs: true, steady: 5%}
  env: {HOUSE: '${env.HOME}'}
  time_limit: 1h
axes: {vus: [5, {label: many, vus: 100}]}
include: [{vus: 7, labels: {extra: yes}}]
exclude: [{vus: many}]
rows:
  - {name: s, script: {file: s.js, args: --no-setup}, vus: 5, rate: 100/s, executor: {type: ramping-arrival-rate, scenario: main, maxVUs: 9}, mode: sustained, labels: {Service: web}, repeat: 2}
  - {name: b, bench: '-m POST', duration: 30s, rate: 10, thresholds: p(99)<50ms, observe: {api: {self: {}}}}
groups:
  - name: others
    defaults: {mode: endurance, phases: {ramp: 0s}}
    rows: [{name: h, hey: -n 5}, {name: m, bombardier: -n 5}]
";

#[test]
fn every_key_of_the_tables_is_read_and_every_key_that_is_read_stands_in_a_table() {
    let whole = plan(WHOLE).expect("the suite is good");
    assert_eq!(whole.rows.len(), 6);
    let others = "{name: o, target: {command: url}, rows: [{name: a, script: a.js, executor: constant-vus}]}";
    plan(others).expect("the suite is good");
    for row in ["hey: '-n 1'", "jmeter: plan.jmx"] {
        plan(&format!(
            "{{name: o, target: {{url: 'http://h'}}, rows: [{{name: a, {row}}}]}}"
        ))
        .expect("the suite is good");
    }
    for kind in ["ingress", "kservice"] {
        let target = format!(
            "{{name: o, target: {{kubernetes: {{context: c, {kind}: x}}}}, rows: [{{name: a, hey: '-n 1'}}]}}"
        );
        plan(&target).expect("the suite is good");
    }
    // These are read by their position or as whole trees.
    let by_hand = |object: &str, key: &str| {
        ["defaults", "axis value", "combination", "row"].contains(&object)
            || [
                "prepare", "before", "between", "after", "cleanup", "target", "include", "exclude",
            ]
            .contains(&key)
    };
    for object in OBJECTS {
        for key in object.all() {
            let read = asked::was(object.name, key.name) || by_hand(object.name, key.name);
            assert!(read, "nobody reads `{}` of a {}", key.name, object.name);
        }
    }
    for key in SETTINGS {
        assert!(
            asked::was("row", key.name),
            "nobody reads `{}` of a row",
            key.name
        );
    }
}

/// The keys of a schema's objects, by name of the object.
fn schema_keys(schema: &Json) -> Vec<(String, Vec<String>)> {
    let definitions = schema["$defs"]
        .as_object()
        .expect("the schema has definitions");
    let keys = |object: &Json| {
        let properties = object["properties"].as_object().expect("it is an object");
        properties.keys().cloned().collect()
    };
    definitions
        .iter()
        .map(|(name, object)| (name.clone(), keys(object)))
        .collect()
}

#[test]
fn the_schema_names_the_keys_of_the_tables_and_no_others() {
    let schema = schema();
    let found = schema_keys(&schema);
    let objects = OBJECTS.iter().chain(foreign::OBJECTS);
    assert_eq!(found.len(), objects.clone().count());
    for object in objects {
        let name = object.name.replace(' ', "-");
        let (_, mut keys) = found
            .iter()
            .find(|(known, _)| *known == name)
            .cloned()
            .expect("it is there");
        let mut expected: Vec<String> = object.all().map(|key| key.name.to_owned()).collect();
        keys.sort();
        expected.sort();
        assert_eq!(keys, expected, "{name}");
    }
    let text = schema.to_string();
    for reference in text
        .split("#/$defs/")
        .skip(1)
        .filter_map(|tail| tail.split('"').next())
    {
        assert!(
            found.iter().any(|(name, _)| name == reference),
            "{reference} is not defined"
        );
    }
}

#[test]
fn every_object_that_a_table_names_is_in_the_schema() {
    fn objects(kind: &'static KeyType, found: &mut Vec<&'static str>) {
        match kind {
            KeyType::Object(object) => found.push(object.name),
            KeyType::MapOf(inner) | KeyType::ListOf(inner) | KeyType::OneOrMore(inner) => {
                objects(inner, found);
            }
            KeyType::Foreign(kind) => objects(kind, found),
            KeyType::Either(kinds) => kinds.iter().for_each(|kind| objects(kind, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let all = || OBJECTS.iter().chain(foreign::OBJECTS);
    for key in all().flat_map(|object| object.all()) {
        objects(&key.kind, &mut found);
    }
    for name in found {
        assert!(all().any(|object| object.name == name), "{name}");
    }
}

/// Bad suites, and how their refusals begin.
const BAD: &[(&str, &str)] = &[
    ("", "s.yaml:1:1: the file is empty; write"),
    (
        "name: a\nrows: []",
        "s.yaml:1:1: the suite has no rows; write",
    ),
    (
        "rows: [{bench: u}]",
        "s.yaml:1:1: a suite needs `name`; write `name: …`",
    ),
    (
        "name: a\nroes: []",
        "s.yaml:2:1: a suite has no key `roes`; did you mean `rows`?",
    ),
    ("name: a\nname: b", "s.yaml:2:1: "),
    ("name: a\nrows: [", "s.yaml:"),
    (
        "name: a\nrows:\n  - bench: u\n    durtion: 30s",
        "s.yaml:4:5: a row has no key `durtion`; did you mean `duration`?",
    ),
    (
        "name: a\nrows:\n  - bench: u\n    duration: 30",
        "s.yaml:4:15: `duration` got 30; write a length of time such as 30s",
    ),
    // The run would refuse it.
    (
        "name: a\nrows:\n  - bench: u\n    duration: 400d",
        "s.yaml:4:15: `duration` got \"400d\"; write a length of time such as 30s",
    ),
    (
        "name: a\nrows:\n  - bench: u\n    vus: -5",
        "s.yaml:4:10: `vus` got -5; write a whole number from 0 on",
    ),
    (
        "name: a\nrows:\n  - bench: u\n    vus: 0",
        "s.yaml:4:10: `vus` is 0; write 1 or more",
    ),
    (
        "name: a\nrows: [{bench: u, repeat: 20000}]",
        "s.yaml:2:27: `repeat` is 20000; write 10000 or fewer",
    ),
    (
        "name: a\naxes: {size: [{labe: s}]}",
        "s.yaml:2:16: an axis value has no key `labe`; did you mean `label`?",
    ),
    (
        "name: a\nrows: [{bench: u, phases: {smoke: '${secret.S}'}}]",
        "s.yaml:2:35: `smoke` got \"${secret.S}\"; write true or false",
    ),
    (
        "name: a\nrows:\n  - name: x",
        "s.yaml:3:5: the row does not say how to generate load; write script",
    ),
    (
        "name: a\nrows:\n  - {bench: u, hey: u}",
        "s.yaml:3:21: the row has both bench: and hey:; keep one of them",
    ),
    (
        "name: a\nrows:\n  - bench: 'a \"b'",
        "s.yaml:3:12: \" is not closed; close the quote",
    ),
    (
        "name: a\nrows: [{bench: u, rate: fast}]",
        "s.yaml:2:25: `rate` got \"fast\"; write a number",
    ),
    (
        "name: a\nrows: [{bench: u, gates: {goodput: 110%}}]",
        "s.yaml:2:36: `goodput` got \"110%\"; write true or false, or a share",
    ),
    (
        "name: a\npolicy: twice\nrows: [{bench: u}]",
        "s.yaml:2:9: `policy` got \"twice\"; write stop, continue or retry 2",
    ),
    (
        "name: a\naxes: {vus: []}",
        "s.yaml:2:8: the axis `vus` has no values; give",
    ),
    (
        "name: a\naxes: {vus: [5, 5]}",
        "s.yaml:2:17: the axis `vus` has \"5\" twice; give",
    ),
    (
        "name: a\naxes: {vus: [five]}",
        "s.yaml:2:14: got \"five\"; write a whole number",
    ),
    (
        "name: a\ndefaults: {bench: u}\naxes: {vus: [5]}\nexclude: [{vs: 5}]",
        "s.yaml:4:12: there is no axis `vs`; the axes are vus",
    ),
    (
        "name: a\ndefaults: {bench: u}\naxes: {vus: [5]}\nexclude: [{vus: 6}]",
        "s.yaml:4:17: the axis `vus` has no value \"6\"; it has 5",
    ),
    (
        "name: a\nrows: [{bench: '${axis.x} u'}]",
        "s.yaml:2:16: ${axis.x} means nothing here; there are no axes here",
    ),
    (
        "name: a\nrows: [{bench: '${env.NOWHERE}'}]",
        "s.yaml:2:16: ${env.NOWHERE} means nothing here; set the variable NOWHERE",
    ),
    (
        "name: a\nrows: [{bench: '${target.url}'}]",
        "s.yaml:2:16: ${target.url} means nothing here; write `target: URL`",
    ),
    (
        "name: a\nrows: [{bench: '${axis'}]",
        "s.yaml:2:16: \"${axis\" has ${ without }; close",
    ),
    (
        "name: a\nrows: [{name: x, bench: u}, {name: x, bench: v}]",
        "s.yaml:2:46: there are two rows \"x\"; give",
    ),
    (
        "name: a\ntarget: {url: u, command: v}\nrows: [{bench: u}]",
        "s.yaml:2:18: `command` stands beside `url`; keep one",
    ),
    (
        "name: a\ntarget: {kubernetes: {service: s}}\nrows: [{bench: u}]",
        "s.yaml:2:22: a Kubernetes target needs `context`; write",
    ),
    (
        "name: a\nprepare: [{exce: make}]\nrows: [{bench: u}]",
        "s.yaml:2:12: a hook has no key `exce`; did you mean `exec`?",
    ),
    (
        "name: a\ngroups: [{name: g, rows: [{bench: u}]}, {name: g, rows: [{bench: u}]}]",
        "s.yaml:2:41: there are two groups \"g\"; give",
    ),
    (
        "name: a\nrows: [{hey: u, phases: {ramp: 5s}, duration: 9s, vus: 3}]",
        "s.yaml:2:25: hey cannot ramp; remove `ramp`",
    ),
    (
        "name: a\nrows: [{bench: u, mode: cold, phases: {warm_up: 5s}}]",
        "s.yaml:2:39: a cold row has no warm-up; remove",
    ),
    (
        "name: a\nrows: [{script: s.js, rate: 5}]",
        "s.yaml:2:29: an arrival rate of a script needs preallocated virtual users",
    ),
    (
        "name: a\nrows: [{script: s.js, vus: 5, rate: 5, executor: constant-vus}]",
        "s.yaml:2:50: constant-vus has no arrival rate; write",
    ),
];

#[test]
fn bad_suites_are_refused_with_line_column_and_the_fix() {
    for (yaml, told) in BAD {
        let error = plan(yaml).map(|_| ()).expect_err(yaml).to_string();
        assert!(error.starts_with(told), "{yaml}\n  {error}\n  {told}");
        assert!(error.contains("; "), "{error}");
    }
}

#[test]
fn flags_may_be_filled_in() {
    let plan = plan(
        "{name: a, axes: {on: [true, 'false']}, defaults: {bench: u, phases: {smoke: '${axis.on}'}, gates: {delivered: '${axis.on}'}}}",
    )
    .expect("it is good");
    let has_gate = |row: usize| {
        let gates = &plan.rows[row].settings.gates;
        gates
            .0
            .iter()
            .any(|setting| setting.gate == Gate::Delivered)
    };
    assert!(plan.rows[0].settings.phases.smoke.is_some() && has_gate(0));
    assert!(plan.rows[1].settings.phases.smoke.is_none() && !has_gate(1));
}

#[test]
fn numbers_keep_their_digits() {
    let plan = plan("{name: a, defaults: {bench: u}, axes: {version: [1.10, 2.0, 007]}}")
        .expect("it is good");
    let labels: Vec<&str> = plan
        .rows
        .iter()
        .map(|row| row.labels["version"].as_str())
        .collect();
    assert_eq!(labels, ["1.10", "2.0", "007"]);
}

#[test]
fn two_dollars_stand_for_one() {
    let at = At::default();
    let meaning = |name: &str| Meaning::Text(name.to_uppercase());
    assert_eq!(
        substitute_text("a ${x} $${x} $ {", at, &meaning),
        Ok("a X $${x} $ {".to_owned())
    );
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(yaml in "[a-z:{}\\[\\]\\-\\n \"'$&*!|>#0-9,.%]{0,80}") {
        if let Err(error) = plan(&yaml) {
            proptest::prop_assert!(error.problem.at.line > 0 && !error.problem.fix.is_empty());
        }
    }
}
