//! All keys of suite files.
//!
//! Must not know how keys are read. Invariant: a key is listed once for each map that has it.
// tidy: table

use super::foreign::{DOCUMENTS, OBSERVERS};
use super::table::{Key, KeyType, Keys, Object};

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

/// All objects, for the schema.
pub(crate) static OBJECTS: &[&Object] = &[
    &SUITE,
    &TARGET,
    &TARGET_KUBERNETES,
    &DEFAULTS,
    &AXIS_VALUE,
    &INCLUDE,
    &ROW,
    &GROUP,
    &SCRIPT,
    &EXECUTOR,
    &PHASES,
    &SMOKE,
    &GATES,
    &HOOK,
    &EXEC,
    &HTTP,
    &KUBERNETES,
    &TESTBED,
    &WAIT,
    &WAIT_REPLICAS,
    &WAIT_HTTP,
    &WAIT_LOG,
    &WAIT_PROMETHEUS,
    &WAIT_CPU,
];

const TEXT: KeyType = KeyType::Text;
static TEXT_KIND: KeyType = KeyType::Text;
static HOOK_KIND: KeyType = KeyType::Object(&HOOK);
static WAIT_KIND: KeyType = KeyType::Object(&WAIT);
static ROW_KIND: KeyType = KeyType::Object(&ROW);
static INCLUDE_KIND: KeyType = KeyType::Object(&INCLUDE);
static GROUP_KIND: KeyType = KeyType::Object(&GROUP);
static AXIS_KIND: KeyType = KeyType::ListOf(&AXIS_VALUE_KIND);
static AXIS_VALUE_KIND: KeyType = KeyType::Either(&[KeyType::Object(&AXIS_VALUE), TEXT]);
static EXCLUDE_KIND: KeyType = KeyType::MapOf(&TEXT_KIND);

/// The words for [`super::Order`].
pub(super) const ORDERS: &[&str] = &["given", "shuffled", "interleaved"];
/// The words for a row's mode.
pub(crate) const MODES: &[&str] = &["sustained", "cold", "endurance"];
/// The words for executors, as k6 names them.
pub(crate) const EXECUTORS: &[&str] = &[
    "constant-vus",
    "ramping-vus",
    "shared-iterations",
    "per-vu-iterations",
    "constant-arrival-rate",
    "ramping-arrival-rate",
    "externally-controlled",
];

static HOOK_KEYS: &[Key] = keys! {
    "prepare": KeyType::OneOrMore(&HOOK_KIND) => "Runs first, before the smoke run, such as a deployment",
    "before": KeyType::OneOrMore(&HOOK_KIND) => "Runs right before each load, such as a restart",
    "between": KeyType::OneOrMore(&HOOK_KIND) => "Runs between two loads",
    "after": KeyType::OneOrMore(&HOOK_KIND) => "Runs right after each load",
    "cleanup": KeyType::OneOrMore(&HOOK_KIND) => "Always runs last, even after Ctrl-C",
};

static MATRIX_KEYS: &[Key] = keys! {
    "defaults": KeyType::Object(&DEFAULTS) => "Default settings of all rows",
    "axes": KeyType::MapOf(&AXIS_KIND) => "Names with their values; each combination is a row",
    "include": KeyType::ListOf(&INCLUDE_KIND) => "Further combinations: values of axes, and settings that differ",
    "exclude": KeyType::ListOf(&EXCLUDE_KIND) => "Combinations that are left out, as values of some axes",
    "rows": KeyType::ListOf(&ROW_KIND) => "Single rows, besides the combinations",
};

/// A suite.
pub(crate) static SUITE: Object = Object {
    required: &["name"],
    ..object("suite", &[SUITE_KEYS, MATRIX_KEYS, HOOK_KEYS])
};
static SUITE_KEYS: &[Key] = keys! {
    "name": TEXT => "The suite's name",
    "target": KeyType::Either(&[KeyType::Object(&TARGET), TEXT]) => "The target: a URL, or how to find it",
    "groups": KeyType::ListOf(&GROUP_KIND) => "Groups of rows, each with its own defaults, axes, rows and hooks",
    "order": KeyType::Choice(ORDERS) =>
        "Order of the runs of a group: given (default), shuffled by seed, or interleaved: each repetition of all rows before the next one, its order by seed",
    "seed": KeyType::Count => "Seed of the order (default 1)",
    "policy": TEXT => "After a failed run: continue (default), stop, or retry N",
    "facts": KeyType::MapOf(&TEXT_KIND) => "Facts about the setup for documents, as suite.NAME",
    "documents": KeyType::Foreign(&DOCUMENTS) => "The documents made of the results",
};

/// The target.
pub(super) static TARGET: Object = Object {
    one_of: &["url", "command", "kubernetes"],
    ..object("target", &[TARGET_KEYS])
};
static TARGET_KEYS: &[Key] = keys! {
    "url": TEXT => "Its URL",
    "command": KeyType::Either(&[KeyType::ListOf(&TEXT_KIND), TEXT]) => "A command that prints the URL",
    "kubernetes": KeyType::Object(&TARGET_KUBERNETES) => "The cluster object that exposes it",
};
pub(super) static TARGET_KUBERNETES: Object = Object {
    required: &["context"],
    one_of: &["service", "ingress", "kservice"],
    ..object("Kubernetes target", &[TARGET_KUBERNETES_KEYS])
};
static TARGET_KUBERNETES_KEYS: &[Key] = keys! {
    "context": TEXT => "The context of the kubeconfig; there is no default",
    "namespace": TEXT => "The namespace (default: default)",
    "service": TEXT => "A service",
    "ingress": TEXT => "An ingress",
    "kservice": TEXT => "A Knative service",
    "port": KeyType::Count => "The service's port (default: its first)",
    "port_forward": KeyType::Flag => "Forward a local port to one of its pods (default false)",
    "scheme": TEXT => "http (default) or https",
    "path": TEXT => "What follows the port (default nothing)",
};

/// The settings of a row: how load is generated, how much, and what the row must satisfy.
pub(crate) static SETTINGS: Keys = keys! {
    "script": KeyType::Either(&[KeyType::Object(&SCRIPT), TEXT]) => "A k6 script",
    "bench": TEXT => "Arguments of loadline bench",
    "hey": TEXT => "Arguments of hey",
    "bombardier": TEXT => "Arguments of bombardier",
    "jmeter": KeyType::Either(&[KeyType::Object(&SCRIPT), TEXT]) => "A JMeter plan",
    "env": KeyType::MapOf(&TEXT_KIND) => "Environment variables of the run; a script has them in __ENV, a JMeter plan as properties",
    "vus": KeyType::Count => "Virtual users (connections)",
    "rate": TEXT => "Total arrival rate, such as 500/s",
    "duration": KeyType::Duration => "Length of the load, ramp included",
    "executor": KeyType::Either(&[KeyType::Object(&EXECUTOR), KeyType::Choice(EXECUTORS)]) =>
        "The executor of a script's scenario",
    "mode": KeyType::Choice(MODES) =>
        "sustained (default), cold (no warm-up; time to the first success), or endurance (windows, leak slopes, heartbeat)",
    "phases": KeyType::Object(&PHASES) => "Smoke run, warm-up, ramp, steady state, tail",
    "observe": KeyType::Foreign(&OBSERVERS) => "Observers of the target by name",
    "gates": KeyType::Object(&GATES) => "What a row must satisfy",
    "thresholds": KeyType::OneOrMore(&TEXT_KIND) => "Conditions such as p(99)<50ms, for bench and jmeter",
    "labels": KeyType::MapOf(&TEXT_KIND) => "Labels of the row in documents",
    "repeat": KeyType::Count => "Repetitions (default 1)",
    "time_limit": KeyType::Duration => "Longer runs are stopped (default: no limit)",
};
static DEFAULTS: Object = object("defaults", &[SETTINGS]);
static AXIS_VALUE: Object = object("axis value", &[SETTINGS, AXIS_VALUE_KEYS]);
static AXIS_VALUE_KEYS: &[Key] = keys! {
    "label": TEXT => "The value's name (default: its place, from 1 on)",
};
static INCLUDE: Object = Object {
    others: Some(&TEXT_KIND),
    ..object("combination", &[SETTINGS, HOOK_KEYS])
};
static ROW: Object = object("row", &[SETTINGS, ROW_KEYS, HOOK_KEYS]);
static ROW_KEYS: &[Key] = keys! {
    "name": TEXT => "The row's name (default: made of its labels)",
};
pub(super) static GROUP: Object = Object {
    required: &["name"],
    ..object("group", &[GROUP_KEYS, MATRIX_KEYS, HOOK_KEYS])
};
static GROUP_KEYS: &[Key] = keys! {
    "name": TEXT => "The group's name",
};

/// A script.
pub(crate) static SCRIPT: Object = Object {
    required: &["file"],
    ..object("script", &[SCRIPT_KEYS])
};
static SCRIPT_KEYS: &[Key] = keys! {
    "file": TEXT => "The script, relative to the suite file",
    "args": TEXT => "Further arguments of loadline run",
};
/// An executor of a script's scenario.
pub(crate) static EXECUTOR: Object = Object {
    required: &["type"],
    others: Some(&TEXT_KIND),
    ..object("executor", &[EXECUTOR_KEYS])
};
static EXECUTOR_KEYS: &[Key] = keys! {
    "type": KeyType::Choice(EXECUTORS) => "Which executor",
    "scenario": TEXT => "The scenario that uses it (default: default)",
};

/// Phases of a row.
pub(crate) static PHASES: Object = object("phases", &[PHASES_KEYS]);
static PHASES_KEYS: &[Key] = keys! {
    "smoke": KeyType::Either(&[KeyType::Object(&SMOKE), KeyType::Flag]) =>
        "One iteration that must pass before anything else (default true)",
    "warm_up": KeyType::Duration => "Load before the measurement (default none)",
    "ramp": KeyType::Duration => "Time to reach the load (default none)",
    "steady": KeyType::Duration => "Time to hold it (default: the duration without the ramp)",
    "tail": KeyType::Duration => "How long observers continue after the load (default: theirs)",
};
/// A smoke run.
pub(crate) static SMOKE: Object = object("smoke run", &[SMOKE_KEYS]);
static SMOKE_KEYS: &[Key] = keys! {
    "checks": KeyType::Flag => "Whether every check must hold (default true)",
    "time_limit": KeyType::Duration => "Time it may take (default 1m)",
};

/// Gates.
pub(crate) static GATES: Object = object("gates", &[GATES_KEYS]);
static GATES_KEYS: &[Key] = keys! {
    "checks": KeyType::Either(&[KeyType::Flag, KeyType::Share]) => "Share of checks that must hold (default 100%)",
    "thresholds": KeyType::Flag => "Thresholds must hold (default true)",
    "goodput": KeyType::Either(&[KeyType::Flag, KeyType::Share]) => "Share of requests that must get a good response (default 99%)",
    "shapes": KeyType::Either(&[KeyType::Flag, KeyType::Share]) =>
        "Share of responses that may have a shape that no other repetition has (default 1%)",
    "delivered": KeyType::Flag => "The offered load must be delivered (default true)",
    "restarts": KeyType::Either(&[KeyType::Flag, KeyType::Count]) =>
        "Restarts and kills of the target allowed during the load (default 0)",
    "generator": KeyType::Flag => "The generator must not have limited the run (default true)",
    "outputs": KeyType::Flag => "Audited outputs must have all measurements (default true)",
    "steady": KeyType::Either(&[KeyType::Flag, KeyType::Share]) =>
        "Variation of throughput allowed from second to second (default: not judged)",
};

/// A hook.
pub(crate) static HOOK: Object = object("hook", &[HOOK_BODY_KEYS]);
static HOOK_BODY_KEYS: &[Key] = keys! {
    "name": TEXT => "Its name in messages (default: what it does)",
    "exec": KeyType::Either(&[KeyType::Object(&EXEC), KeyType::ListOf(&TEXT_KIND), TEXT]) =>
        "A command: text for the shell, or a list of words",
    "http": KeyType::Either(&[KeyType::Object(&HTTP), TEXT]) => "An HTTP request",
    "kubernetes": KeyType::Object(&KUBERNETES) => "A change in a cluster",
    "testbed": KeyType::Object(&TESTBED) => "A change of a testbed, through its control port",
    "sleep": KeyType::Duration => "A wait",
    "timeout": KeyType::Duration => "Time that one try may take (default 1m)",
    "retries": KeyType::Count => "Tries after the first one fails (default 0)",
    "wait": KeyType::OneOrMore(&WAIT_KIND) => "Conditions to wait for",
};
/// A command.
pub(crate) static EXEC: Object = Object {
    required: &["run"],
    ..object("command", &[EXEC_KEYS])
};
static EXEC_KEYS: &[Key] = keys! {
    "run": KeyType::Either(&[KeyType::ListOf(&TEXT_KIND), TEXT]) => "Text for the shell, or a list of words",
    "env": KeyType::MapOf(&TEXT_KIND) => "Further environment variables",
    "cwd": TEXT => "Its working directory (default: the suite file's directory)",
};
/// An HTTP request.
pub(crate) static HTTP: Object = Object {
    required: &["url"],
    ..object("HTTP request", &[HTTP_KEYS])
};
static HTTP_KEYS: &[Key] = keys! {
    "method": TEXT => "Method (default GET, or POST with a body)",
    "url": TEXT => "URL",
    "headers": KeyType::MapOf(&TEXT_KIND) => "Header lines",
    "body": TEXT => "Body",
    "expect": KeyType::Count => "Required status (default: 200 to 299)",
};
/// A change in a cluster.
pub(crate) static KUBERNETES: Object = Object {
    one_of: &["restart", "scale", "resources", "apply", "delete"],
    ..object("Kubernetes hook", &[KUBERNETES_KEYS])
};
static KUBERNETES_KEYS: &[Key] = keys! {
    "context": TEXT => "The context of the kubeconfig (default: the target's)",
    "namespace": TEXT => "The namespace (default: the target's, else default)",
    "restart": TEXT => "A workload to restart, as deployment/NAME",
    "scale": TEXT => "A workload to scale, as deployment/NAME",
    "replicas": KeyType::Count => "Replicas to scale to",
    "resources": TEXT => "A workload whose requests and limits are changed, as deployment/NAME; its pods are replaced",
    "container": TEXT => "The container whose requests and limits are changed (default: the only one)",
    "requests": KeyType::MapOf(&TEXT_KIND) => "Requests by resource, as cpu: 500m; none removes one",
    "limits": KeyType::MapOf(&TEXT_KIND) => "Limits by resource, as memory: 256Mi; none removes one",
    "apply": TEXT => "A file of manifests to apply, relative to the suite file",
    "delete": TEXT => "An object to delete, as KIND/NAME, or a file of manifests",
};
/// A change of a testbed.
pub(crate) static TESTBED: Object = Object {
    required: &["control", "component"],
    one_of: &["scale", "restart", "cold", "degrade"],
    ..object("testbed hook", &[TESTBED_KEYS])
};
static TESTBED_KEYS: &[Key] = keys! {
    "control": TEXT => "URL of the testbed's control port",
    "component": TEXT => "The component's name",
    "scale": KeyType::Count => "Replicas to scale it to",
    "restart": KeyType::Flag => "Restart it",
    "cold": KeyType::Flag => "Make it cold",
    "degrade": KeyType::MapOf(&TEXT_KIND) => "Degrade it, as settings of the control port",
};
/// A condition that is waited for.
pub(crate) static WAIT: Object = Object {
    one_of: &[
        "rollout",
        "replicas",
        "port",
        "http",
        "log",
        "prometheus",
        "cpu_idle",
    ],
    ..object("wait condition", &[WAIT_KEYS])
};
static WAIT_KEYS: &[Key] = keys! {
    "rollout": TEXT => "A workload whose rollout must be complete, as deployment/NAME",
    "replicas": KeyType::Object(&WAIT_REPLICAS) => "A workload that must have this many ready replicas",
    "port": TEXT => "An address that must accept connections, as HOST:PORT",
    "http": KeyType::Either(&[KeyType::Object(&WAIT_HTTP), TEXT]) => "A URL that must answer",
    "log": KeyType::Object(&WAIT_LOG) => "A line that must appear in a file",
    "prometheus": KeyType::Object(&WAIT_PROMETHEUS) => "A PromQL query whose value must satisfy a condition",
    "cpu_idle": KeyType::Object(&WAIT_CPU) => "A CPU use that must stay low for a while",
    "context": TEXT => "The context of the kubeconfig (default: the target's)",
    "namespace": TEXT => "The namespace (default: the target's, else default)",
    "timeout": KeyType::Duration => "Maximum time to wait (default 2m)",
};
/// Replicas that are waited for.
pub(crate) static WAIT_REPLICAS: Object = Object {
    required: &["workload", "count"],
    ..object("wait for replicas", &[WAIT_REPLICAS_KEYS])
};
static WAIT_REPLICAS_KEYS: &[Key] = keys! {
    "workload": TEXT => "The workload, as deployment/NAME",
    "count": KeyType::Count => "How many; 0 waits until none is left",
};
/// A response that is waited for.
pub(crate) static WAIT_HTTP: Object = Object {
    required: &["url"],
    ..object("wait for a response", &[WAIT_HTTP_KEYS])
};
static WAIT_HTTP_KEYS: &[Key] = keys! {
    "url": TEXT => "URL",
    "status": KeyType::Count => "Status (default: 200 to 299)",
};
/// A line that is waited for.
pub(crate) static WAIT_LOG: Object = Object {
    required: &["file", "match"],
    ..object("wait for a line", &[WAIT_LOG_KEYS])
};
static WAIT_LOG_KEYS: &[Key] = keys! {
    "file": TEXT => "The file, relative to the suite file; what it held before the hook does not count",
    "match": TEXT => "A regular expression",
};
/// A query that is waited for.
pub(crate) static WAIT_PROMETHEUS: Object = Object {
    required: &["url", "query", "condition"],
    ..object("wait for a query", &[WAIT_PROMETHEUS_KEYS])
};
static WAIT_PROMETHEUS_KEYS: &[Key] = keys! {
    "url": TEXT => "URL of the Prometheus server",
    "query": TEXT => "An instant query with one value",
    "condition": TEXT => "A comparison, such as < 0.5 or == 3",
};
/// A quiet processor that is waited for.
pub(crate) static WAIT_CPU: Object = Object {
    required: &["below"],
    ..object("wait for a quiet CPU", &[WAIT_CPU_KEYS])
};
static WAIT_CPU_KEYS: &[Key] = keys! {
    "of": TEXT => "host (default), pid:N or name:NAME of this machine",
    "below": KeyType::Number => "Cores in use must be fewer",
    "for": KeyType::Duration => "For this long (default 5s)",
};
