//! Which crate may depend on which: the table, and the check of `cargo metadata` against it.
//!
//! Must not know why a crate wants an edge. Invariant: an edge between this repository's crates, or a crate,
//! that is not listed here does not exist in the workspace.

use serde_json::Value;

use crate::Result;
use crate::workspace::{self, Depth, list, text};

/// The kind of a crate, which determines what it must not use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Data and decisions: time, bytes and randomness come as arguments.
    Pure,
    /// Owns sockets, timers and threads, and carries the load.
    DataPlane,
    /// Controls a run and judges it.
    ControlPlane,
    /// Sends measurements to files and services.
    Sink,
    /// At the border of the system: servers, the command line.
    Edge,
    /// Never part of the product.
    Tests,
}

/// One crate and the crates of this repository on which it may depend.
pub(crate) struct Layer {
    pub(crate) package: &'static str,
    pub(crate) level: Level,
    /// Its allowed dependencies in the product.
    normal: &'static [&'static str],
    /// Additional dependencies of its tests.
    tests: &'static [&'static str],
    /// Why it has no more edges.
    reason: &'static str,
}

const GO: &str = "loadline-go";
const GROOVY: &str = "loadline-groovy";
const HTTP: &str = "loadline-http";
const JAVA: &str = "loadline-java";
const TLS: &str = "loadline-tls";
const YAML: &str = "loadline-yaml";
const METRIC: &str = "loadline-metric";
const MODEL: &str = "loadline-model";
const SCHEDULE: &str = "loadline-schedule";
const WIRE: &str = "loadline-wire";
const SCRIPT: &str = "loadline-script";
const STEPS: &str = "loadline-steps";
const JMETER: &str = "loadline-jmeter";
const ENGINE: &str = "loadline-engine";
const RUN: &str = "loadline-run";
const CLUSTER: &str = "loadline-cluster";
const OUTPUT: &str = "loadline-output";
const REPORT: &str = "loadline-report";
const KUBERNETES: &str = "loadline-kubernetes";
const OBSERVE: &str = "loadline-observe";
const SUITE: &str = "loadline-suite";
const OPERATOR: &str = "loadline-operator";
const TARGET: &str = "loadline-target";
const SIM: &str = "loadline-sim";

/// Lowest first. A crate that may depend on `model` may also depend on `metric`: the model's types are made of
/// it.
pub(crate) const LAYERS: &[Layer] = &[
    Layer {
        package: GO,
        level: Level::Pure,
        normal: &[],
        tests: &[],
        reason: "how Go writes a text is the same whoever prints it",
    },
    Layer {
        package: JAVA,
        level: Level::Pure,
        normal: &[],
        tests: &[],
        reason: "how Java writes a text is the same whoever prints it",
    },
    Layer {
        package: GROOVY,
        level: Level::Pure,
        normal: &[JAVA],
        tests: &[],
        reason: "a script asks a host for whatever it does not hold, so it is tested without threads and files",
    },
    Layer {
        package: TLS,
        level: Level::Edge,
        normal: &[],
        tests: &[],
        reason: "whom TLS trusts is the same for the client that makes the load and the one that asks beside it",
    },
    Layer {
        package: HTTP,
        level: Level::Edge,
        normal: &[GO, TLS],
        tests: &[],
        reason: "asks beside the load, and must not be taken for the client that makes it",
    },
    Layer {
        package: YAML,
        level: Level::Pure,
        normal: &[],
        tests: &[],
        reason: "what a file says and where is the same whoever reads it",
    },
    Layer {
        package: METRIC,
        level: Level::Pure,
        normal: &[GO],
        tests: &[],
        reason: "statistics are the same whoever measured",
    },
    Layer {
        package: MODEL,
        level: Level::Pure,
        normal: &[METRIC, GO],
        tests: &[],
        reason: "a plan is data: it can be printed before anything runs",
    },
    Layer {
        package: SCHEDULE,
        level: Level::Pure,
        normal: &[MODEL, METRIC, JAVA],
        tests: &[SIM],
        reason: "an executor decides and never waits, so it is proven in virtual time",
    },
    Layer {
        package: WIRE,
        level: Level::Pure,
        normal: &[],
        tests: &[],
        reason: "bytes in, bytes out: fuzzed without a network",
    },
    Layer {
        package: SCRIPT,
        level: Level::DataPlane,
        normal: &[MODEL, METRIC, GO],
        tests: &[],
        reason: "a script asks a host for time and bytes, so it is proven in virtual time",
    },
    Layer {
        package: STEPS,
        level: Level::Pure,
        normal: &[GROOVY, JAVA],
        tests: &[],
        reason: "a thread asks a host for time, bytes and files, so it is proven in virtual time",
    },
    Layer {
        package: JMETER,
        level: Level::Pure,
        normal: &[STEPS, JAVA],
        tests: &[],
        reason: "a plan that was read is data: it can be printed before anything runs",
    },
    Layer {
        package: ENGINE,
        level: Level::DataPlane,
        normal: &[SCRIPT, STEPS, SCHEDULE, WIRE, MODEL, METRIC, GO, TLS],
        tests: &[SIM, TARGET],
        reason: "the hot path cannot print, write files or know who reads the results",
    },
    Layer {
        package: RUN,
        level: Level::ControlPlane,
        normal: &[ENGINE, SCRIPT, MODEL, METRIC],
        tests: &[SIM, TARGET],
        reason: "the verdict does not depend on how anything is shown",
    },
    Layer {
        package: CLUSTER,
        level: Level::ControlPlane,
        normal: &[RUN, ENGINE, SCRIPT, MODEL, METRIC],
        tests: &[TARGET],
        reason: "how a script is loaded is handed in, so that agents are the same whoever starts them",
    },
    Layer {
        package: OUTPUT,
        level: Level::Sink,
        normal: &[MODEL, METRIC, GO, HTTP],
        tests: &[],
        reason: "a sink reads events and never sees the engine",
    },
    Layer {
        package: REPORT,
        level: Level::Pure,
        normal: &[STEPS, MODEL, METRIC, GO],
        tests: &[],
        reason: "a report is a function of a result, so a stored result gives the same report; JMeter's rows are made of the samples of steps",
    },
    Layer {
        package: KUBERNETES,
        level: Level::Edge,
        normal: &[MODEL, GO, HTTP, YAML],
        // Itself with its test fake.
        tests: &[KUBERNETES],
        reason: "speaks with one API; it knows what a test is called there, not how one runs",
    },
    Layer {
        package: OBSERVE,
        level: Level::ControlPlane,
        normal: &[KUBERNETES, MODEL, METRIC, HTTP, YAML],
        tests: &[TARGET],
        reason: "reads beside the run and never on a worker's thread",
    },
    Layer {
        package: SUITE,
        level: Level::ControlPlane,
        normal: &[KUBERNETES, OBSERVE, MODEL, METRIC, HTTP, YAML],
        tests: &[SIM],
        reason: "how a run is executed is handed in, so that a matrix is proven without one",
    },
    Layer {
        package: OPERATOR,
        level: Level::Edge,
        normal: &[MODEL],
        tests: &[],
        reason: "makes pods of the binary, and knows no more of a test than its exit code",
    },
    Layer {
        package: TARGET,
        level: Level::Edge,
        normal: &[YAML],
        tests: &[],
        reason: "the server under test shares no code with the client that judges it",
    },
    Layer {
        package: SIM,
        level: Level::Tests,
        normal: &[SCHEDULE, MODEL, METRIC],
        tests: &[],
        reason: "simulated servers stand in for the network, below the engine",
    },
    Layer {
        package: "loadline",
        level: Level::Edge,
        normal: &[
            SUITE, OBSERVE, KUBERNETES, CLUSTER, RUN, SCRIPT, ENGINE, OUTPUT, REPORT, TARGET,
            SCHEDULE, MODEL, METRIC, GO, HTTP, JAVA, STEPS, JMETER,
        ],
        tests: &[SIM],
        reason: "joins all others; nothing may depend on it",
    },
    Layer {
        package: "loadline-e2e",
        level: Level::Tests,
        normal: &[],
        tests: &[TARGET],
        reason: "tests the binary as a user meets it: command line, streams, exit code",
    },
    Layer {
        package: "loadline-fuzz",
        level: Level::Tests,
        normal: &[
            "loadline", SUITE, OBSERVE, KUBERNETES, CLUSTER, SCRIPT, OUTPUT, REPORT, TARGET, WIRE,
            MODEL, METRIC, GO, YAML, JAVA, STEPS, GROOVY,
        ],
        tests: &[],
        reason: "feeds whatever reads from outside; what only computes is tested by properties",
    },
    Layer {
        package: "xtask",
        level: Level::Tests,
        normal: &[],
        tests: &[],
        reason: "judges the product from outside and is compiled before it",
    },
];

/// Forbidden dependencies of a pure crate, even if they would be convenient.
const IMPURE: &[(&str, &str)] = &[
    ("async-io", "waits on sockets"),
    ("getrandom", "is unseeded randomness: take a seed"),
    ("h2", "owns connections"),
    ("hyper", "owns connections"),
    ("hyper-util", "owns connections"),
    ("libc", "calls the system"),
    ("mio", "waits on sockets"),
    ("nix", "calls the system"),
    ("rustix", "calls the system"),
    ("rustls", "belongs to the connection, which the engine owns"),
    ("rustls-native-certs", "reads files"),
    ("socket2", "opens sockets"),
    ("tempfile", "writes files"),
    ("tokio", "is a runtime: the engine owns it"),
    ("tokio-rustls", "is a runtime's TLS: the engine owns it"),
];

/// Compares the workspace with the table; one line for each breach.
///
/// # Errors
/// Cargo failed.
pub(crate) fn breaches() -> Result<Vec<String>> {
    let metadata = workspace::metadata(Depth::Members)?;
    Ok(list(&metadata, "packages")
        .iter()
        .flat_map(package_breaches)
        .collect())
}

fn package_breaches(package: &Value) -> Vec<String> {
    let name = text(package, "name");
    let Some(layer) = LAYERS.iter().find(|layer| layer.package == name) else {
        return vec![format!(
            "{name}: is not in the layer table of xtask/src/layers.rs"
        )];
    };
    let dependencies = list(package, "dependencies").iter();
    dependencies
        .filter_map(|dependency| edge_breach(layer, dependency))
        .collect()
}

fn edge_breach(layer: &Layer, dependency: &Value) -> Option<String> {
    let name = text(dependency, "name");
    let only_tests = text(dependency, "kind") == "dev";
    if name.starts_with("loadline") {
        let allowed = layer.normal.contains(&name) || (only_tests && layer.tests.contains(&name));
        let from = layer.package;
        return (!allowed).then(|| format!("{from} must not depend on {name}: {}", layer.reason));
    }
    if layer.level != Level::Pure || only_tests {
        return None;
    }
    let (_, why) = IMPURE.iter().find(|(banned, _)| *banned == name)?;
    Some(format!(
        "{}: is pure, but depends on {name}, which {why}",
        layer.package
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn breaches_of(name: &str, dependency: &str, kind: Option<&str>) -> Vec<String> {
        package_breaches(&json!({
            "name": name,
            "dependencies": [{ "name": dependency, "kind": kind }],
        }))
    }

    #[test]
    fn the_workspace_keeps_its_layers() {
        assert_eq!(
            breaches().expect("cargo metadata works"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn arrows_go_one_way() {
        assert!(breaches_of(ENGINE, WIRE, None).is_empty());
        assert_eq!(breaches_of(WIRE, ENGINE, None).len(), 1);
        assert_eq!(breaches_of(OUTPUT, ENGINE, None).len(), 1);
        assert_eq!(breaches_of("loadline-unheard-of", METRIC, None).len(), 1);
    }

    #[test]
    fn tests_may_know_more_but_only_what_is_written() {
        assert!(breaches_of(ENGINE, TARGET, Some("dev")).is_empty());
        assert_eq!(breaches_of(ENGINE, TARGET, None).len(), 1);
        assert_eq!(breaches_of(METRIC, TARGET, Some("dev")).len(), 1);
    }

    #[test]
    fn pure_crates_own_no_runtime() {
        assert_eq!(breaches_of(WIRE, "tokio", None).len(), 1);
        assert!(breaches_of(WIRE, "tokio", Some("dev")).is_empty());
        assert!(breaches_of(ENGINE, "tokio", None).is_empty());
    }

    #[test]
    fn the_table_goes_upwards_only() {
        for (index, layer) in LAYERS.iter().enumerate() {
            let known = layer
                .normal
                .iter()
                .all(|name| LAYERS[..index].iter().any(|lower| lower.package == *name));
            assert!(
                known,
                "{} stands above a crate it depends on",
                layer.package
            );
        }
    }
}
