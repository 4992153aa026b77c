//! All keys of documents and observers, which do their own checks; the schema, and so editors, take the keys
//! from here.
//!
//! Must not know how keys are read. Invariant: a key is here if and only if the types that are read have it,
//! which the tests check.
// tidy: table

use super::table::{Key, KeyType, Keys, Object};
use crate::document::presets::NAMES as PRESETS;

/// Keys, one per line: name, type, description.
macro_rules! keys {
    ($($name:literal: $kind:expr => $about:literal,)*) => {
        &[$(Key { name: $name, kind: $kind, about: $about }),*]
    };
}

const fn object(name: &'static str, keys: &'static [Keys]) -> Object {
    Object {
        name,
        keys,
        required: &[],
        one_of: &[],
        others: None,
    }
}

/// All of them, for the schema.
pub(crate) static OBJECTS: &[&Object] = &[
    &DOCUMENT,
    &COMPONENT,
    &TABLE,
    &CHARTS,
    &CHART,
    &ROWS,
    &COLUMN,
    &OBSERVER,
    &SELF,
    &PROCESS,
    &CGROUP,
    &HOST,
    &POD,
    &NODE,
    &REPLICAS,
    &PROMETHEUS,
    &SCRAPE,
    &LOG,
    &HTTP_VALUE,
    &COMMAND,
    &PIPELINE,
    &STAGE,
];

const TEXT: KeyType = KeyType::Text;
static TEXT_KIND: KeyType = KeyType::Text;
const TEXTS: KeyType = KeyType::OneOrMore(&TEXT_KIND);
const LIST: KeyType = KeyType::ListOf(&TEXT_KIND);
const MAP: KeyType = KeyType::MapOf(&TEXT_KIND);
const SPAN: KeyType = KeyType::Either(&[KeyType::Duration, KeyType::Number]);
static DOCUMENT_KIND: KeyType = KeyType::Object(&DOCUMENT);
static COMPONENT_KIND: KeyType = KeyType::Object(&COMPONENT);
static TABLE_KIND: KeyType = KeyType::Object(&TABLE);
static CHART_KIND: KeyType = KeyType::Object(&CHART);
static COLUMN_KIND: KeyType = KeyType::Object(&COLUMN);
static STAGE_KIND: KeyType = KeyType::Either(&[KeyType::Object(&STAGE), TEXT]);
static OBSERVER_KIND: KeyType = KeyType::Either(&[KeyType::Object(&OBSERVER), TEXT]);

/// What `documents` may hold.
pub(super) static DOCUMENTS: KeyType = KeyType::ListOf(&DOCUMENT_KIND);
/// What `observe` may hold.
pub(super) static OBSERVERS: KeyType = KeyType::Either(&[
    KeyType::MapOf(&OBSERVER_KIND),
    KeyType::ListOf(&OBSERVER_KIND),
    TEXT,
]);

/// A document.
static DOCUMENT: Object = Object {
    required: &["file"],
    ..object("document", &[DOCUMENT_KEYS, CONTENT_KEYS])
};
static DOCUMENT_KEYS: &[Key] = keys! {
    "file": TEXT => "Its path, relative to the suite file",
    "kind": KeyType::Choice(&["markdown", "html", "csv", "json", "junit"]) =>
        "What it is (default: by the file's extension: .md, .html, .csv, .json, .xml)",
    "title": TEXT => "Its heading (default: the suite's name)",
    "methodology": KeyType::Flag => "Describe how the figures were measured (default: in Markdown and HTML)",
    "runs": KeyType::Flag => "HTML: a small chart of each row's first run, with a link to its report (default true)",
    "history": KeyType::Flag => "A row for every run in the state directory (default false)",
    "state": TEXT => "The state directory in links (default: the suite's)",
    "components": KeyType::ListOf(&COMPONENT_KIND) => "Other names of components; the first match wins",
    "tables": KeyType::ListOf(&TABLE_KIND) => "Its tables (default: one, of the settings beside file)",
    "name": TEXT => "The name of the only table's block (default results)",
};
static CONTENT_KEYS: &[Key] = keys! {
    "preset": KeyType::Choice(PRESETS) => "A preset that the table begins with; suite presets shows them",
    "with": MAP => "Names that the preset leaves open; an empty one leaves out the columns that need it",
    "titles": MAP => "New titles for the preset's columns",
    "columns": KeyType::ListOf(&COLUMN_KIND) => "Columns, after those of a preset",
    "rows": KeyType::Object(&ROWS) => "Which rows it has (default: all)",
    "sort": LIST => "Expressions to sort by, ascending; -run.rps sorts numbers descending (default: the plan's order)",
    "blank": TEXT => "Text of cells without a value: empty, unit, or any text (default: the preset's, else empty)",
};
static COMPONENT: Object = Object {
    required: &["match", "name"],
    ..object("component", &[COMPONENT_KEYS])
};
static COMPONENT_KEYS: &[Key] = keys! {
    "match": TEXT => "The component's name; * matches anything",
    "name": TEXT => "Its new name; {n} is its number among those that match",
};
static TABLE: Object = Object {
    required: &["name"],
    ..object("table", &[TABLE_KEYS, CONTENT_KEYS])
};
static TABLE_KEYS: &[Key] = keys! {
    "name": TEXT => "The name of its block, unique in the document: letters, digits, -, _ and .",
    "title": TEXT => "Its heading in a new document (default none)",
    "intervals": KeyType::Flag =>
        "true: all numbers have their interval over repetitions; false: only columns that ask for it (default: by column)",
    "notes": KeyType::Flag => "Footnotes for doubtful figures, repetitions, failed and pending rows (default true)",
    "charts": KeyType::Object(&CHARTS) => "Charts of each row's first run, below the table (default: the preset's)",
    "links": KeyType::Flag => "Links to the rows' results (default false)",
};
static CHARTS: Object = Object {
    required: &["list"],
    ..object("charts", &[CHARTS_KEYS])
};
static CHARTS_KEYS: &[Key] = keys! {
    "intro": KeyType::Object(&COLUMN) => "Text above each row's charts, as a column (default: the row's id)",
    "list": KeyType::ListOf(&CHART_KIND) => "The charts, in order",
};
static CHART: Object = Object {
    required: &["title", "chart"],
    ..object("chart", &[CHART_KEYS])
};
static CHART_KEYS: &[Key] = keys! {
    "title": TEXT => "What it is called",
    "chart": TEXT => "Which one, such as throughput, percentiles, cpu or memory",
};
static ROWS: Object = object("rows of a table", &[ROWS_KEYS]);
static ROWS_KEYS: &[Key] = keys! {
    "group": TEXT => "Of this group (default: of any)",
    "labels": MAP => "With these labels",
};
static COLUMN: Object = Object {
    required: &["title"],
    ..object("column", &[COLUMN_KEYS])
};
static COLUMN_KEYS: &[Key] = keys! {
    "title": TEXT => "Its title, unique in the table",
    "value": TEXT => "The expression of its cells, such as run.rps or observe.service.cpu_cores.avg",
    "values": LIST => "Several expressions for one cell",
    "format": TEXT => "How its cells are written, such as {:.0 rps} or {:~2 ms} (default {})",
    "align": KeyType::Choice(&["default", "left", "center", "right"]) => "How its cells are aligned (default: the viewer's)",
    "hand": KeyType::Flag => "Filled in by hand; it has no value (default false)",
    "interval": KeyType::Flag =>
        "Write the 95 % interval over repetitions (default: in Markdown and HTML for single rates and times)",
    "item": TEXT => "How a component of a list is written (default {name} = {value})",
    "separator": TEXT => "Separator between two components of a list (default: a comma)",
};

/// An observer: what every one has, and one kind.
static OBSERVER: Object = Object {
    one_of: loadline_observe::ObserverKind::NAMES,
    ..object("observer", &[OBSERVER_KEYS, KIND_KEYS])
};
static OBSERVER_KEYS: &[Key] = keys! {
    "name": TEXT => "Its name, in a list of observers (default: its kind)",
    "interval": SPAN => "Time between two readings (default 1s, least 100ms)",
    "timeout": SPAN => "Time that one reading may take (default 5s)",
    "required": KeyType::Flag => "End the run if it cannot read (default false)",
};
static KIND_KEYS: &[Key] = keys! {
    "self": KeyType::Object(&SELF) => "loadline itself",
    "process": KeyType::Object(&PROCESS) => "Processes of this machine: exactly one of pid, name and port",
    "cgroup": KeyType::Object(&CGROUP) => "A control group: exactly one of path and pid",
    "host": KeyType::Object(&HOST) => "This machine",
    "pod": KeyType::Object(&POD) => "Pods of a cluster",
    "node": KeyType::Object(&NODE) => "Nodes of a cluster",
    "replicas": KeyType::Object(&REPLICAS) => "The number of replicas of a workload",
    "prometheus": KeyType::Object(&PROMETHEUS) => "A query to a Prometheus server",
    "scrape": KeyType::Object(&SCRAPE) => "A metrics page in the text format of Prometheus",
    "log": KeyType::Object(&LOG) => "Lines of a log that match: exactly one of path and pod",
    "http": KeyType::Object(&HTTP_VALUE) => "A number in a JSON response",
    "command": KeyType::Object(&COMMAND) => "A number that a program prints on its last line",
    "pipeline": KeyType::Object(&PIPELINE) => "Counters of what goes in and what comes out",
};
static SELF: Object = object("observer of loadline", &[]);
static PROCESS: Object = Object {
    one_of: &["pid", "name", "port"],
    ..object("observer of processes", &[PROCESS_KEYS])
};
static PROCESS_KEYS: &[Key] = keys! {
    "pid": KeyType::Count => "The process's id",
    "name": TEXT => "The name of the program, or its first argument; * matches anything",
    "port": KeyType::Count => "The TCP port on which it listens",
    "children": KeyType::Flag => "Count child processes with it (default true)",
    "workers": KeyType::Flag => "Each worker is a component, without the supervisor that forked them (default false)",
    "pss": KeyType::Flag => "Read the proportional share of memory too, which costs time (default false)",
};
static CGROUP: Object = Object {
    one_of: &["path", "pid"],
    ..object("observer of a control group", &[CGROUP_KEYS])
};
static CGROUP_KEYS: &[Key] = keys! {
    "path": TEXT => "The group's directory, or its path below the mount",
    "pid": KeyType::Count => "A process whose group it is",
};
static HOST: Object = object("observer of the machine", &[HOST_KEYS]);
static HOST_KEYS: &[Key] = keys! {
    "interfaces": TEXTS => "Network interfaces to read (default: all)",
    "interface": TEXTS => "As interfaces",
};
static POD: Object = Object {
    required: &["selector"],
    ..object("observer of pods", &[POD_KEYS])
};
static POD_KEYS: &[Key] = keys! {
    "selector": TEXT => "Labels that the pods have, as app=api",
    "namespace": TEXT => "Their namespace (default: the context's)",
    "context": TEXT => "The context of the kubeconfig (default: the current one)",
    "containers": KeyType::Flag => "Read containers separately where a pod has several (default true)",
};
static NODE: Object = object("observer of nodes", &[NODE_KEYS]);
static NODE_KEYS: &[Key] = keys! {
    "selector": TEXT => "Labels that the nodes have (default: all nodes)",
    "context": TEXT => "The context of the kubeconfig (default: the current one)",
};
static REPLICAS: Object = Object {
    required: &["workload"],
    ..object("observer of replicas", &[REPLICAS_KEYS])
};
static REPLICAS_KEYS: &[Key] = keys! {
    "workload": TEXT => "The workload, as deployment/NAME",
    "namespace": TEXT => "Its namespace (default: the context's)",
    "context": TEXT => "The context of the kubeconfig (default: the current one)",
};
static ACCESS_KEYS: &[Key] = keys! {
    "headers": KeyType::Either(&[MAP, LIST, TEXT]) => "Headers to send",
    "header": KeyType::Either(&[MAP, LIST, TEXT]) => "As headers",
    "user": TEXT => "The user of basic authentication",
    "password": TEXT => "The password of basic authentication; env:NAME reads a variable",
    "bearer": TEXT => "The bearer token; env:NAME reads a variable",
    "ca": TEXT => "A PEM file with certificate authorities (default: the system's)",
    "insecure": KeyType::Flag => "Skip TLS verification (default false)",
};
static PROMETHEUS: Object = Object {
    required: &["url", "query"],
    ..object("observer of Prometheus", &[PROMETHEUS_KEYS, ACCESS_KEYS])
};
static PROMETHEUS_KEYS: &[Key] = keys! {
    "url": TEXT => "The server, without /api/v1",
    "query": TEXT => "PromQL; placeholders such as {{window}} are times of the run",
    "mode": KeyType::Choice(&["instant", "range", "once"]) =>
        "instant: at each interval; once: after the run, for its end; range: after the run, over all of it (default: by the query)",
    "step": SPAN => "Step of a range query (default: the interval)",
    "settle": SPAN => "Wait after the run until the last values were scraped (default 0s, at most 2m)",
    "as": TEXT => "The metric's name, with its unit at the end (default value)",
};
static SCRAPE: Object = Object {
    required: &["url"],
    ..object("observer of a metrics page", &[SCRAPE_KEYS, ACCESS_KEYS])
};
static SCRAPE_KEYS: &[Key] = keys! {
    "url": TEXT => "The page",
    "metric": TEXTS => "Names of metrics; a histogram without _bucket",
    "metrics": TEXTS => "As metric",
    "labels": MAP => "Labels that a series has; ~ before a value makes it a pattern (default: all series)",
    "label": MAP => "As labels",
    "by": TEXTS => "Labels whose values make components; *: all labels (default: series are summed)",
    "type": KeyType::Choice(&["counter", "gauge", "histogram"]) => "What the metrics are (default: as the page says)",
    "unit": KeyType::Choice(&["s", "ms", "us", "ns", "none"]) => "Unit of a histogram's bounds (default: by its name)",
};
static LOG: Object = Object {
    required: &["match"],
    one_of: &["path", "pod"],
    ..object("observer of a log", &[LOG_KEYS])
};
static LOG_KEYS: &[Key] = keys! {
    "path": TEXT => "The file; - is standard input",
    "pod": TEXT => "Pods by their labels, as app=api",
    "namespace": TEXT => "The pods' namespace (default: the context's)",
    "container": TEXT => "The container of each pod (default: its first)",
    "context": TEXT => "The context of the kubeconfig (default: the current one)",
    "match": TEXT => "A regular expression; its first group, if any, is a number to sum up",
    "from_start": KeyType::Flag => "Count lines from before the run (default false)",
};
static HTTP_VALUE: Object = Object {
    required: &["url"],
    ..object(
        "observer of an HTTP response",
        &[HTTP_VALUE_KEYS, ACCESS_KEYS],
    )
};
static HTTP_VALUE_KEYS: &[Key] = keys! {
    "url": TEXT => "The address",
    "path": TEXT => "Where the number is, as queue.depth or items[0].n (default: the whole response)",
    "values": MAP => "More numbers of the same response: names and paths",
    "value": MAP => "As values",
    "as": TEXT => "The metric's name, with its unit at the end (default value)",
};
static COMMAND: Object = Object {
    required: &["run"],
    ..object("observer by a command", &[COMMAND_KEYS])
};
static COMMAND_KEYS: &[Key] = keys! {
    "run": TEXTS => "Program and arguments: text that is split at blanks, or a list",
    "shell": KeyType::Flag => "Run it with /bin/sh -c (default false)",
    "as": TEXT => "The metric's name, with its unit at the end (default value)",
};
static PIPELINE: Object = Object {
    required: &["ingest"],
    ..object("observer of a pipeline", &[PIPELINE_KEYS])
};
static PIPELINE_KEYS: &[Key] = keys! {
    "ingest": KeyType::Either(&[KeyType::Object(&STAGE), TEXT]) => "A counter where work goes in",
    "sink": KeyType::OneOrMore(&STAGE_KIND) => "Counters where it comes out, in the order in which work passes them",
    "sinks": KeyType::OneOrMore(&STAGE_KIND) => "As sink",
    "limit": SPAN => "Maximum time to watch after the load (default 5m)",
};
static STAGE: Object = Object {
    one_of: &["prometheus", "scrape", "log", "http", "command"],
    ..object("stage of a pipeline", &[STAGE_KEYS])
};
static STAGE_KEYS: &[Key] = keys! {
    "name": TEXT => "Its name (default: ingest, sink, or sink1 and so on)",
    "prometheus": KeyType::Object(&PROMETHEUS) => "A query to a Prometheus server, without placeholders",
    "scrape": KeyType::Object(&SCRAPE) => "A counter of a metrics page",
    "log": KeyType::Object(&LOG) => "Lines of a log that match",
    "http": KeyType::Object(&HTTP_VALUE) => "A number in a JSON response",
    "command": KeyType::Object(&COMMAND) => "A number that a program prints",
};
