//! Compares the schema of suite files with what is accepted: examples are valid, mistakes are not, and it has
//! the keys of the types.
//!
//! Must not know plans. Invariant: the tests walk over the schema itself, keyword by keyword of the draft that
//! it uses.

use std::collections::BTreeSet;
use std::path::Path;

use loadline_observe::ObserverSpecs;
use loadline_observe::spec::{
    Access, Headers, HttpSettings, PrometheusSettings, QueryMode, ScrapeSettings, ScrapeType,
    Secret, TimeUnit,
};
use serde_json::{Value as Json, json};

use super::table::{KeyType, Object};
use super::{foreign, schema};
use crate::document::DocumentSpec;

/// Why a value is not valid; `None`: it is.
fn refused(value: &Json, schema: &Json, root: &Json) -> Option<String> {
    let of = |schema: &Json| refused(value, schema, root);
    if let Some(reference) = schema["$ref"].as_str() {
        let definition = root.pointer(reference.trim_start_matches('#'));
        return of(definition.expect("it is defined"));
    }
    let list = |key: &str| schema[key].as_array().cloned();
    if let Some(any) = list("anyOf")
        && any.iter().all(|one| of(one).is_some())
    {
        // The message is about the alternative that was probably meant.
        return any.iter().filter_map(of).max_by_key(String::len);
    }
    if let Some(one_of) = list("oneOf")
        && one_of.iter().filter(|one| of(one).is_none()).count() != 1
    {
        return Some(format!("{value} has not exactly one of {one_of:?}"));
    }
    let wrong = |why: &str| Some(format!("{value} {why} {schema}"));
    let types = match &schema["type"] {
        Json::String(one) => vec![one.as_str()],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    if !types.is_empty() && !types.iter().any(is) {
        return wrong("is none of the types of");
    }
    if list("enum").is_some_and(|words| !words.contains(value))
        || schema.get("const").is_some_and(|one| one != value)
    {
        return wrong("is none of the words of");
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str())
        && !regex::Regex::new(pattern)
            .expect("a pattern")
            .is_match(text)
    {
        return wrong("does not match");
    }
    let items = value.as_array().into_iter().flatten();
    let of_item = |item| {
        schema
            .get("items")
            .and_then(|items| refused(item, items, root))
    };
    if let Some(why) = items.filter_map(of_item).next() {
        return Some(why);
    }
    refused_entry(value, schema, root)
}

fn refused_entry(value: &Json, schema: &Json, root: &Json) -> Option<String> {
    let entries = value.as_object()?;
    let required = schema["required"].as_array().into_iter().flatten();
    for key in required.filter_map(Json::as_str) {
        if !entries.contains_key(key) {
            return Some(format!("{value} lacks {key}"));
        }
    }
    entries.iter().find_map(|(key, value)| {
        let of = schema["properties"]
            .get(key)
            .or(schema.get("additionalProperties"))?;
        match of {
            Json::Bool(false) => Some(format!("there is no key {key}")),
            of => refused(value, of, root),
        }
    })
}

fn judged(yaml: &str) -> Option<String> {
    let value: Json =
        loadline_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"));
    let root = schema();
    refused(&value, &root, &root)
}

#[test]
fn examples_are_valid() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut judged_files = 0;
    for entry in std::fs::read_dir(examples).expect("there are examples") {
        let file = entry.expect("it can be listed").path().join("suite.yaml");
        if let Ok(text) = std::fs::read_to_string(&file) {
            assert_eq!(judged(&text), None, "{}", file.display());
            judged_files += 1;
        }
    }
    assert!(judged_files >= 5, "{judged_files}");
}

#[test]
fn mistakes_in_documents_and_observers_are_refused() {
    let suite = |document: &str, observers: &str| {
        judged(&format!(
            "name: s\ndefaults: {{bench: '-n 1', observe: {observers}}}\ndocuments: [{document}]\n"
        ))
    };
    let (document, observers) = (
        "{file: a.md, tables: [{name: t, preset: gateway, with: {latency: 5}, columns: [{title: a, value: run.rps, align: right}]}]}",
        "{api: {process: {port: 80}, interval: 2s}, p: 'process:port:80', n: {process: {port: '${axis.port}'}}}",
    );
    assert_eq!(suite(document, observers), None);
    for (wrong, told) in [
        (
            "{file: a.md, columns: [{title: a, valeu: run.rps}]}",
            "valeu",
        ),
        (
            "{file: a.md, tables: [{name: t, presets: gateway}]}",
            "presets",
        ),
        ("{file: a.md, preset: gatway}", "gatway"),
        (
            "{file: a.md, columns: [{title: a, align: middle}]}",
            "middle",
        ),
        ("{preset: gateway}", "lacks file"),
    ] {
        let why = suite(wrong, observers).expect(wrong);
        assert!(why.contains(told), "{wrong}: {why}");
    }
    for (wrong, told) in [
        ("{api: {process: {prot: 80}}}", "prot"),
        ("{api: {proces: {port: 80}}}", "proces"),
        ("{api: {process: {port: 80}, intervall: 2s}}", "intervall"),
        ("{api: {process: {port: 80, name: x}}}", "exactly one"),
        (
            "{api: {scrape: {url: 'http://h/', metric: a, type: count}}}",
            "count",
        ),
        (
            "{api: {pipeline: {ingest: {scrape: {url: 'http://h/', metrik: a}}, sink: 'log:a'}}}",
            "metrik",
        ),
    ] {
        let why = suite(document, wrong).expect(wrong);
        assert!(why.contains(told), "{wrong}: {why}");
    }
}

/// The keys that a refusal of an unknown one names.
fn named(refusal: &str) -> BTreeSet<String> {
    let (_, expected) = refusal.split_once("expected").unwrap_or_default();
    let words = expected.split('`').skip(1).step_by(2);
    words.map(str::to_owned).collect()
}

fn keys(object: &str) -> BTreeSet<String> {
    let object = foreign::OBJECTS.iter().find(|of| of.name == object);
    let object: &Object = object.expect("it is there");
    object.all().map(|key| key.name.to_owned()).collect()
}

#[test]
fn documents_have_the_keys_of_their_types() {
    for (object, yaml) in [
        ("document", "{file: a.md, x: 1}"),
        ("component", "{file: a.md, components: [{x: 1}]}"),
        ("table", "{file: a.md, tables: [{x: 1}]}"),
        (
            "charts",
            "{file: a.md, tables: [{name: t, charts: {x: 1}}]}",
        ),
        (
            "chart",
            "{file: a.md, tables: [{name: t, charts: {list: [{x: 1}]}}]}",
        ),
        ("rows of a table", "{file: a.md, rows: {x: 1}}"),
        ("column", "{file: a.md, columns: [{x: 1}]}"),
    ] {
        let refusal = loadline_yaml::from_str::<DocumentSpec>(yaml).expect_err(yaml);
        assert_eq!(
            named(&refusal.to_string()),
            keys(object),
            "{object}: {refusal}"
        );
    }
    for (key, of) in [("kind", "document"), ("align", "column")] {
        let yaml = match key {
            "kind" => "{file: a.md, kind: x}",
            _ => "{file: a.md, columns: [{title: a, align: x}]}",
        };
        let refusal = loadline_yaml::from_str::<DocumentSpec>(yaml).expect_err(yaml);
        let object = foreign::OBJECTS.iter().find(|object| object.name == of);
        let kind = &object
            .and_then(|object| object.key(key))
            .expect("it is there")
            .kind;
        let KeyType::Choice(words) = kind else {
            panic!("{key} is a choice");
        };
        let words: BTreeSet<String> = words.iter().map(|word| (*word).to_owned()).collect();
        assert_eq!(named(&refusal.to_string()), words, "{refusal}");
    }
}

/// Whoever adds a setting adds it here.
fn settings_with_access() -> [(&'static str, Json); 3] {
    let access = Access {
        headers: Headers(vec![("a".to_owned(), "b".to_owned())]),
        user: Some("u".to_owned()),
        password: Some(Secret::new("p")),
        bearer: Some(Secret::new("t")),
        ca: Some("c".to_owned()),
        insecure: true,
    };
    let second = std::time::Duration::from_secs(1);
    let text = |text: &str| text.to_owned();
    let prometheus = PrometheusSettings {
        url: text("http://h/"),
        query: text("up"),
        mode: Some(QueryMode::Instant),
        step: Some(second),
        settle: second,
        metric: text("m"),
        access: access.clone(),
    };
    let scrape = ScrapeSettings {
        url: text("http://h/"),
        metric: vec![text("m")],
        labels: [(text("a"), text("b"))].into(),
        by: vec![text("c")],
        kind: Some(ScrapeType::Counter),
        unit: Some(TimeUnit::Seconds),
        access: access.clone(),
    };
    let http = HttpSettings {
        url: text("http://h/"),
        path: text("a"),
        values: [(text("a"), text("b"))].into(),
        metric: text("m"),
        access,
    };
    [
        ("prometheus", json!(prometheus)),
        ("scrape", json!(scrape)),
        ("http", json!(http)),
    ]
}

#[test]
fn observers_have_the_keys_of_their_types() {
    let read = |yaml: &str| {
        loadline_yaml::from_str::<ObserverSpecs>(yaml).map_err(|error| error.to_string())
    };
    let root = schema();
    let object = |name: &str| {
        let reference = root["$defs"]["observer"]["properties"][name]["$ref"].as_str();
        reference
            .expect("it is a kind")
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .replace('-', " ")
    };
    let whole = settings_with_access();
    for kind in loadline_observe::ObserverKind::NAMES {
        let known = keys(&object(kind));
        let Some((_, settings)) = whole.iter().find(|(name, _)| name == kind) else {
            let refusal = read(&format!("{{o: {{{kind}: {{x_y: 1}}}}}}")).expect_err(kind);
            assert_eq!(named(&refusal), known, "{kind}: {refusal}");
            continue;
        };
        let written = settings.as_object().expect("settings are a map");
        for key in written.keys() {
            assert!(known.contains(key), "{kind} has {key}");
        }
        let refusal_of = |key: &str| {
            let mut settings = settings.clone();
            settings[key] = json!([]);
            read(&json!({ "o": { *kind: settings } }).to_string()).expect_err(key)
        };
        assert!(refusal_of("x_y").contains("unknown field `x_y`"), "{kind}");
        for key in &known {
            let refusal = refusal_of(key);
            assert!(!refusal.contains("unknown field"), "{kind}: {refusal}");
        }
    }
    for key in ["interval", "timeout", "required", "name"] {
        assert!(keys("observer").contains(key), "{key}");
    }
}
