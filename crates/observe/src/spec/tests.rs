//! Tests of specifications: command line, file, and there and back.
//!
//! Must not know how an observer reads. Invariant: each kind has an example here, in both forms.

use std::time::Duration;

use super::*;

fn one(text: &str) -> ObserverSpec {
    let mut specs = ObserverSpec::parse(text).expect(text);
    assert_eq!(specs.len(), 1);
    specs.remove(0)
}

fn refusal(text: &str) -> String {
    ObserverSpec::parse(text).expect_err(text).to_string()
}

/// The same observers on a command line and in a file.
const EXAMPLES: &[(&str, &str)] = &[
    ("self", "self: { self: {} }"),
    (
        "host;interface=eth0",
        "host: { host: { interfaces: eth0 } }",
    ),
    (
        "api=process:name:nginx",
        "api: { process: { name: nginx } }",
    ),
    (
        "api=process:port:8080;children=false;interval=500ms",
        "api: { process: { port: 8080, children: false }, interval: 0.5 }",
    ),
    (
        "x=process:pid:12;required=true",
        "x: { process: { pid: 12 }, required: true }",
    ),
    (
        "cgroup:/sys/fs/cgroup/x",
        "cgroup: { cgroup: { path: /sys/fs/cgroup/x } }",
    ),
    ("cgroup:pid:7", "cgroup: { cgroup: { pid: 7 } }"),
    (
        "pods=pod:app=api;namespace=shop",
        "pods: { pod: { selector: app=api, namespace: shop } }",
    ),
    ("node", "node: { node: }"),
    ("n=node:zone=a", "n: { node: { selector: zone=a } }"),
    (
        "replicas:deployment/api",
        "replicas: { replicas: { workload: deployment/api } }",
    ),
    (
        "p95=prometheus:http://127.0.0.1:9090;query=histogram_quantile(0.95, sum by (le) (rate(x[1m])));as=p95_seconds",
        "p95: { prometheus: { url: 'http://127.0.0.1:9090', query: 'histogram_quantile(0.95, sum by (le) (rate(x[1m])))', as: p95_seconds } }",
    ),
    (
        "q=prometheus:https://p;query=a[{{window}}];bearer=env:T;header=X-Scope-OrgID: 7;insecure=true;step=5s",
        "q: { prometheus: { url: 'https://p', query: 'a[{{window}}]', bearer: 'env:T', headers: { X-Scope-OrgID: '7' }, insecure: true, step: 5s } }",
    ),
    (
        "gw=scrape:http://127.0.0.1:8001/metrics;metric=a_total;metric=b_seconds;label=code=200;label=route=~x.*;by=code",
        "gw: { scrape: { url: 'http://127.0.0.1:8001/metrics', metric: [a_total, b_seconds], labels: { code: '200', route: '~x.*' }, by: code } }",
    ),
    (
        r"acks=log:/var/log/sink.log;match=acked (\d+)\; ok",
        r"acks: { log: { path: /var/log/sink.log, match: 'acked (\d+); ok' } }",
    ),
    (
        "log:pod:app=api;match=x",
        "log: { log: { pod: app=api, match: x } }",
    ),
    (
        "depth=http:http://127.0.0.1:1/q;path=queue.depth;value=lag_seconds=a[0].b",
        "depth: { http: { url: 'http://127.0.0.1:1/q', path: queue.depth, values: { lag_seconds: 'a[0].b' } } }",
    ),
    (
        "command:wc -l 'a b';timeout=2s",
        "command: { command: { run: \"wc -l 'a b'\" }, timeout: 2s }",
    ),
    (
        r"pipeline;ingest=scrape:http://h/m\;metric=in_total;sink=log:/l\;match=acked;limit=60s",
        "pipeline: { pipeline: { ingest: { scrape: { url: 'http://h/m', metric: in_total } }, sink: { log: { path: /l, match: acked } }, limit: 1m } }",
    ),
    (
        r"pipeline;ingest=http:http://h/a;sink=queue=http:http://h/b;sink=store=command:x",
        "pipeline: { pipeline: { ingest: 'http:http://h/a', sinks: [ { name: queue, http: { url: 'http://h/b' } }, 'store=command:x' ] } }",
    ),
];

#[test]
fn command_line_and_file_say_the_same() {
    for (words, yaml) in EXAMPLES {
        let from_file = parse_file_text(yaml, "f.yaml").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(from_file.as_slice(), [one(words)], "{words}");
    }
}

#[test]
fn what_is_written_reads_back() {
    for (words, _) in EXAMPLES {
        let specs = ObserverSpecs::new(vec![one(words)]).unwrap();
        let json = serde_json::to_string(&specs).unwrap();
        assert_eq!(serde_json::from_str::<ObserverSpecs>(&json).unwrap(), specs);
        assert_eq!(parse_file_text(&json, "f").unwrap(), specs, "{json}");
    }
}

#[test]
fn every_kind_has_an_example() {
    for name in ObserverKind::NAMES {
        let has = EXAMPLES
            .iter()
            .any(|(words, _)| one(words).kind.name() == *name);
        assert!(has, "{name}");
    }
}

#[test]
fn settings_have_their_defaults() {
    let spec = one("process:name:nginx");
    assert_eq!(spec.name, "process");
    assert_eq!(spec.interval, Duration::from_secs(1));
    assert_eq!(spec.timeout, Duration::from_secs(5));
    assert!(!spec.required);
    let ObserverKind::Process(process) = spec.kind else {
        panic!("it is a process");
    };
    assert!(process.children && !process.workers && !process.pss);
}

#[test]
fn refusals_say_what_to_do() {
    for (text, said) in [
        ("", "use self, process"),
        ("nothing", "use self, process"),
        ("process", "exactly one of pid, name and port"),
        ("process:port=8080", "process:port:8080"),
        ("process:port:80800", "number that fits"),
        (
            "process:port:80;workers=true;children=false",
            "remove children=false",
        ),
        ("process:name:x;colour=red", "unknown field `colour`"),
        ("process:name:x;required=maybe", "not true or false"),
        ("process:name:x;name=y", "2 times"),
        ("self;interval=1ms", "the minimum is"),
        ("self;interval=soon", "500ms, 5s or 1h30m"),
        ("self;x", "write KEY=VALUE"),
        ("scrape:http://h/m", "missing field `metric`"),
        ("scrape:ftp://h/m;metric=a", "http://HOST:PORT/PATH"),
        ("log:/x;match=(", "regex"),
        ("log:/x", "missing field `match`"),
        ("http:http://h;path=a[", "path"),
        ("command:'x", "quote"),
        ("prometheus:http://h;query=a{{b}}", "{{b}}"),
        (
            "prometheus:http://h;query={{end}};mode=instant",
            "after the run",
        ),
        ("prometheus:http://h;query=a;password=x", "add user=NAME"),
        (
            "prometheus:http://h;query=a;colour=red",
            "unknown field `colour`",
        ),
        ("replicas:api", "deployment/NAME"),
        (r"pipeline;ingest=self;sink=self", "cannot count"),
        (r"pipeline;ingest=http:http://h", "missing field `sink`"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(said), "{text}: {refusal}");
    }
}

#[test]
fn a_file_is_refused_with_line_and_column() {
    for (yaml, place) in [
        (
            "api:\n  process:\n    name: a\n    colour: red\n",
            "f.yaml:4:5: ",
        ),
        ("api:\n  process:\n    port: http\n", "f.yaml:3:11: "),
        ("api:\n  prometheus: {}\n", "f.yaml:2:"),
        ("api:\n  nothing: {}\n", "f.yaml:2:"),
        ("a: { self: {} }\na: { self: {} }\n", "f.yaml:2:1: "),
        ("- self\n- self\n", "f.yaml:"),
        ("a: { process: {} }\n", "f.yaml:1:"),
        ("a: [\n", "f.yaml:1:"),
        ("7", "f.yaml:1:1: "),
    ] {
        let error = parse_file_text(yaml, "f.yaml").unwrap_err().to_string();
        assert!(error.starts_with(place), "{yaml}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn names_are_given_once() {
    let twice = ObserverSpecs::new(vec![one("self"), one("self")]);
    assert!(twice.unwrap_err().to_string().contains("NAME=self"));
    let order = ObserverSpecs::new(vec![one("z=self"), one("a=host")]).unwrap();
    let names: Vec<&str> = order
        .as_slice()
        .iter()
        .map(|spec| spec.name.as_str())
        .collect();
    assert_eq!(names, ["z", "a"]);
}

#[test]
fn debug_shows_no_secret() {
    let spec = one("prometheus:http://h;query=a;user=u;password=hush;header=Cookie: hush");
    assert!(!format!("{spec:?}").contains("hush"));
}
