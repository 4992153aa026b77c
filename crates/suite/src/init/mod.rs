//! A first suite file: from a URL, a command line, a script, a plan or a testbed to a commented file that runs
//! as it is.
//!
//! Must not know files, processes or terminals: detected facts are arguments. Invariant:
//! [`crate::file::SuiteFile`] parses the generated file without an error, whatever the input texts contain.

mod command;
mod preset;
mod write;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use command::{InitCommandError, load_of_command};

use loadline_model::duration;

use crate::plan::Front;
use preset::Shape;
use write::Text;

/// The input for a first suite file.
#[derive(Clone, Debug)]
pub struct InitWish {
    /// The name of the file in its own comments.
    pub file: String,
    /// The document that it writes, relative to its folder.
    pub document: String,
    /// The load.
    pub load: InitLoad,
    /// What is tested; `None`: the load names it.
    pub target: Option<String>,
    /// The preset of its table; `None`: common default columns.
    pub preset: Option<String>,
    /// Virtual users of each row; empty: as usual.
    pub vus: Vec<u64>,
    /// Length of each run; `None`: as usual.
    pub duration: Option<Duration>,
    /// Runs of each row; `None`: as usual.
    pub repeat: Option<u32>,
    /// What is known of the service's processes.
    pub service: ServiceSeen,
}

/// How to generate load.
#[derive(Clone, Debug, PartialEq)]
pub enum InitLoad {
    /// Requests to the target.
    Requests,
    /// As another command line, a script or a plan has it.
    As(Front),
    /// Requests to a testbed.
    Testbed(TestbedSeen),
}

/// The parts of a testbed file that a suite needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestbedSeen {
    /// The file, for comments.
    pub file: String,
    /// URL of its control port; `None`: the file names none.
    pub control: Option<String>,
    /// Components whose processes are observed.
    pub components: Vec<String>,
    /// The component whose replicas can be changed.
    pub scaled: Option<String>,
}

/// What was detected about the service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServiceSeen {
    /// It is not on this machine, or its location is unknown.
    #[default]
    Elsewhere,
    /// It will listen on this port of this machine.
    Here {
        /// The port.
        port: u16,
        /// Name and id of the processes that listen there; empty: none does.
        processes: Vec<(String, u32)>,
    },
}

/// Who listens in the place of a container's process.
const FORWARDER: &str = "docker-proxy";

/// The columns of most first tables.
const COLUMNS: [&str; 5] = [
    "{ title: Requests per second, value: run.rps, format: \"{:.0}\", align: right }",
    "{ title: Average, value: run.avg, format: \"{:~2 ms}\", align: right }",
    "{ title: p50, value: run.p50, format: \"{:~2 ms}\", align: right }",
    "{ title: p99, value: run.p99, format: \"{:~2 ms}\", align: right }",
    "{ title: Errors, value: run.error_rate, format: \"{:.2%}\", align: right }",
];
/// And of those whose service is observed, behind its observer.
const SERVICE_COLUMNS: [(&str, &str, &str); 2] = [
    ("CPU of the service", "cpu_cores.avg", "{:.2 cores}"),
    ("Memory of the service", "memory_bytes.max", "{:~1 autoi}"),
];
/// Charts of each row's run, below the table.
const CHARTS: &str = "list: [{ title: Throughput, chart: throughput }, { title: Response times, chart: percentiles }]";

/// Writes the file.
#[must_use]
pub fn compose(wish: &InitWish) -> String {
    let shape = Shape::of(wish);
    let mut text = Text::default();
    head(wish, &mut text);
    if let Some(target) = &wish.target {
        text.setting(0, "target", target);
    }
    defaults(wish, &shape, &mut text);
    shape.rows(wish, &mut text);
    document(wish, &shape, &mut text);
    text.finish()
}

fn head(wish: &InitWish, text: &mut Text) {
    let file = &wish.file;
    if let InitLoad::Testbed(testbed) = &wish.load {
        let start = format!(
            "The services run beside it: loadline target --config {} &",
            testbed.file
        );
        text.comment(0, &start);
    }
    text.comment(0, &format!("loadline suite plan {file} shows the rows and their command lines; run executes them and writes"));
    text.comment(0, &format!("{}; resume runs rows that are unfinished or have changed. Keys: docs/suite.md, docs/document.md", wish.document));
    text.setting(0, "name", &name(wish));
}

/// What the suite is called: what is tested.
fn name(wish: &InitWish) -> String {
    let file = match &wish.load {
        InitLoad::As(front) => front.file(),
        InitLoad::Testbed(testbed) => Some(testbed.file.as_str()),
        InitLoad::Requests => None,
    };
    let named = file.or(wish.target.as_deref()).unwrap_or("first suite");
    let named = named.rsplit_once("://").map_or(named, |(_, rest)| rest);
    // A URL may hold a password before its host.
    let named = named.rsplit_once('@').map_or(named, |(_, rest)| rest);
    let named = named.split(['?', '#']).next().unwrap_or(named);
    match named.trim_matches('/') {
        "" => "first suite".to_owned(),
        named => named.to_owned(),
    }
}

fn defaults(wish: &InitWish, shape: &Shape, text: &mut Text) {
    text.blank();
    text.line(
        0,
        "defaults: # settings of every row; an axis or a row may override them",
    );
    front(wish, text);
    match shape.duration {
        Some(duration) => {
            text.setting_plain(1, "duration", &duration::text(duration));
        }
        None => text.comment(
            1,
            "duration: and vus: would replace the load that the line above names.",
        ),
    }
    let why = match shape.repeat {
        1 => "3 makes three runs of each row: figures then get a 95 % interval",
        _ => "runs of each row: figures get a 95 % interval",
    };
    text.line(1, &format!("repeat: {} # {why}", shape.repeat));
    if let Some(warm_up) = shape.warm_up {
        let warm_up = duration::text(warm_up);
        text.line(
            1,
            &format!("phases: {{ warm_up: {warm_up} }} # the same load, not measured"),
        );
    }
    shape.settings(wish, text);
    observers(wish, text);
    gates(wish, text);
}

fn front(wish: &InitWish, text: &mut Text) {
    match &wish.load {
        InitLoad::Requests | InitLoad::Testbed(_) => {
            text.comment(1, "Arguments of loadline bench, such as: -m POST -H 'Content-Type: application/json' -b '{\"id\": 1}'");
            text.setting(1, "bench", "-m GET");
        }
        InitLoad::As(front) => {
            let key = match front {
                Front::Script { .. } => "script",
                Front::Plan { .. } => "jmeter",
                other => other.name(),
            };
            let words = front.arguments();
            match front.file() {
                Some(file) if words.is_empty() => text.setting(1, key, file),
                Some(file) => text.line(
                    1,
                    &format!(
                        "{key}: {{ file: {}, args: {} }}",
                        write::quoted(file),
                        write::quoted(&crate::plan::join(words))
                    ),
                ),
                None => text.setting(1, key, &crate::plan::join(words)),
            }
        }
    }
}

fn observers(wish: &InitWish, text: &mut Text) {
    let is_here = match (&wish.load, &wish.service) {
        (InitLoad::Testbed(_), _) => {
            text.comment(
                1,
                "CPU and memory of each component, its replicas together and separately.",
            );
            true
        }
        (_, ServiceSeen::Elsewhere) => {
            text.comment(1, "The service's resources cannot be read from here: docs/observe.md has observers of pods, Prometheus, …");
            text.comment(1, "  service: { scrape: { url: http://HOST:PORT/metrics, metric: process_resident_memory_bytes } }");
            false
        }
        (_, ServiceSeen::Here { port, processes }) => {
            text.comment(1, &listeners(*port, processes));
            true
        }
    };
    text.line(1, "observe:");
    text.line(2, "loadline: { self: {} }");
    if is_here {
        text.line(2, "machine: { host: {} }");
    }
    match (&wish.load, &wish.service) {
        (InitLoad::Testbed(testbed), _) => {
            for component in &testbed.components {
                let processes = write::quoted(&format!("{component}-*"));
                let component = write::quoted(component);
                text.line(
                    2,
                    &format!("{component}: {{ process: {{ name: {processes} }} }}"),
                );
            }
        }
        (_, ServiceSeen::Here { port, .. }) => {
            text.line(2, &format!("service: {{ process: {{ port: {port} }} }}"));
        }
        (_, ServiceSeen::Elsewhere) => {}
    }
}

/// Who listens on a port, in words.
fn listeners(port: u16, processes: &[(String, u32)]) -> String {
    if processes.is_empty() {
        return format!(
            "Nothing listens on port {port} yet; the process that does when a run starts is observed."
        );
    }
    let seen: Vec<String> = processes
        .iter()
        .map(|(name, pid)| format!("{name} ({pid})"))
        .collect();
    let seen = seen.join(", ");
    match processes.iter().any(|(name, _)| name == FORWARDER) {
        true => format!(
            "Listening on port {port}: {seen}, which only forwards: observe the container's group, service: {{ cgroup: {{ pid: PID }} }}"
        ),
        false => format!("Listening on port {port}: {seen}; child processes are included."),
    }
}

/// The observer of the service; `None`: it is not observed.
fn observer_of_service(wish: &InitWish) -> Option<&str> {
    match (&wish.load, &wish.service) {
        (InitLoad::Testbed(testbed), _) => {
            let component = testbed.scaled.as_ref().or(testbed.components.first());
            component.map(String::as_str)
        }
        (_, ServiceSeen::Here { .. }) => Some("service"),
        (_, ServiceSeen::Elsewhere) => None,
    }
}

/// An observed value as an expression; the observer's name is quoted unless it is a plain word.
fn figure_of(observer: &str, figure: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    match observer.bytes().all(is_plain) {
        true => format!("observe.{observer}.{figure}"),
        false => write::quoted(&format!("observe[\"{observer}\"].{figure}")),
    }
}

fn gates(wish: &InitWish, text: &mut Text) {
    let is_here = matches!(wish.service, ServiceSeen::Here { .. })
        || matches!(wish.load, InitLoad::Testbed(_));
    match is_here {
        true => {
            text.comment(1, "A row that misses a gate fails, except that the generator may be the limit: it shares this machine.");
            text.line(1, "gates: { goodput: 99%, generator: false }");
        }
        false => text.line(
            1,
            "gates: { goodput: 99% } # a row that misses a gate has failed",
        ),
    }
}

fn document(wish: &InitWish, shape: &Shape, text: &mut Text) {
    text.blank();
    text.line(
        0,
        "documents: # existing text outside the tables is preserved",
    );
    text.line(1, &format!("- file: {}", write::quoted(&wish.document)));
    text.line(2, "tables:");
    text.line(3, "- name: results");
    match &wish.preset {
        Some(preset) => {
            text.setting(4, "preset", preset);
            shape.with(wish, text);
            text.line(4, "columns: # more columns, after those of the preset");
        }
        None => {
            let intro = shape.intro();
            text.line(
                4,
                &format!("charts: {{ intro: {{ title: \"\", {intro} }}, {CHARTS} }}"),
            );
            text.line(4, "columns:");
            text.line(5, &format!("- {}", shape.first_column()));
            for column in COLUMNS {
                text.line(5, &format!("- {column}"));
            }
            if let Some(observer) = observer_of_service(wish) {
                for (title, figure, format) in SERVICE_COLUMNS {
                    let value = figure_of(observer, figure);
                    text.line(5, &format!("- {{ title: {title}, value: {value}, format: \"{format}\", align: right }}"));
                }
            }
        }
    }
    text.line(
        5,
        "- { title: Remark, hand: true } # fill it by hand; your text is kept",
    );
}
