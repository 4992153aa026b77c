//! A first suite file: from a URL, a command line, a script, a plan or a testbed to a commented file that runs at once.
//!
//! Must not know files, processes or terminals: what was found is handed in. Invariant: what is written is read by
//! [`crate::file::SuiteFile`] without an error, whatever the texts hold that it is made of.

mod command;
mod preset;
mod write;

#[cfg(test)]
mod tests;

use std::time::Duration;

pub use command::{InitCommandError, load_of_command};

use crate::plan::Front;
use preset::Shape;
use write::Text;

/// What a first suite file is made of.
#[derive(Clone, Debug)]
pub struct InitWish {
    /// The file as it is to be called in its own comments.
    pub file: String,
    /// The document that it is to write, from its folder on.
    pub document: String,
    /// The load.
    pub load: InitLoad,
    /// What is tested; `None`: the load names it.
    pub target: Option<String>,
    /// The preset of its table; `None`: columns that most begin with.
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

/// How load is to be made.
#[derive(Clone, Debug, PartialEq)]
pub enum InitLoad {
    /// Requests to the target.
    Requests,
    /// As another command line, a script or a plan has it.
    As(Front),
    /// Requests to a testbed.
    Testbed(TestbedSeen),
}

/// What a testbed file holds that a suite is made of.
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

/// What was seen of the service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ServiceSeen {
    /// It is not on this machine, or nobody knows where.
    #[default]
    Elsewhere,
    /// It is to listen on this port of this machine.
    Here {
        /// The port.
        port: u16,
        /// Name and id of the processes that listen there; empty: none does.
        processes: Vec<(String, u32)>,
    },
}

/// Columns of most first tables.
const COLUMNS: [&str; 5] = [
    "{ title: Requests per second, value: run.rps, format: \"{:.0}\", align: right }",
    "{ title: Average, value: run.avg, format: \"{:~2 ms}\", align: right }",
    "{ title: p50, value: run.p50, format: \"{:~2 ms}\", align: right }",
    "{ title: p99, value: run.p99, format: \"{:~2 ms}\", align: right }",
    "{ title: Failed, value: run.error_rate, format: \"{:.2%}\", align: right }",
];
/// And of those whose service is on this machine.
const SERVICE_COLUMNS: [&str; 2] = [
    "{ title: CPU of the service, value: observe.service.cpu_cores.avg, format: \"{:.2 cores}\", align: right }",
    "{ title: Memory of the service, value: observe.service.memory_bytes.max, format: \"{:~1 autoi}\", align: right }",
];

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
    text.comment(
        0,
        "Runs executed one after another, and the document built from their results.",
    );
    text.comment(0, "");
    if let InitLoad::Testbed(testbed) = &wish.load {
        text.comment(0, &format!("  loadline target --config {} &", testbed.file));
    }
    text.comment(
        0,
        &format!("  loadline suite plan {file}     shows the rows and their command lines"),
    );
    text.comment(
        0,
        &format!(
            "  loadline suite run {file}      makes the runs and writes {}",
            wish.document
        ),
    );
    text.comment(
        0,
        &format!("  loadline suite resume {file}   runs rows that are unfinished or have changed"),
    );
    text.comment(0, "");
    text.comment(
        0,
        "docs/suite.md has all keys, docs/document.md those of documents.",
    );
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
    text.comment(
        0,
        "Settings of every row; an axis or a row may say otherwise.",
    );
    text.line(0, "defaults:");
    front(wish, text);
    if let Some(duration) = shape.duration {
        text.setting_plain(1, "duration", &crate::file::duration_text(duration));
    } else {
        text.comment(
            1,
            "duration: and vus: would replace the load that the line above names.",
        );
    }
    match shape.repeat {
        1 => text.comment(
            1,
            "repeat: 3 makes three runs of each row: figures then carry their 95 % interval.",
        ),
        _ => text.comment(
            1,
            "Several runs of each row say how far runs differ: figures carry their 95 % interval.",
        ),
    }
    text.setting_plain(1, "repeat", &shape.repeat.to_string());
    if let Some(warm_up) = shape.warm_up {
        text.comment(1, "Warm-up: the same load, not measured.");
        text.line(
            1,
            &format!(
                "phases: {{ warm_up: {} }}",
                crate::file::duration_text(warm_up)
            ),
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
    if let InitLoad::Testbed(testbed) = &wish.load {
        text.comment(
            1,
            "CPU time and memory of each component, its replicas together and apart.",
        );
        text.line(1, "observe:");
        text.line(2, "loadline: { self: {} }");
        for component in &testbed.components {
            let processes = write::quoted(&format!("{component}-*"));
            text.line(
                2,
                &format!(
                    "{}: {{ process: {{ name: {processes} }} }}",
                    write::quoted(component)
                ),
            );
        }
        return;
    }
    match &wish.service {
        ServiceSeen::Elsewhere => {
            text.comment(1, "What the service uses is not seen from here: docs/observe.md has observers of pods, Prometheus, …");
            text.comment(1, "  service: { scrape: { url: http://HOST:PORT/metrics, metric: process_resident_memory_bytes } }");
        }
        ServiceSeen::Here { port, processes } if processes.is_empty() => {
            text.comment(
                1,
                &format!(
                    "Nothing listens on port {port} yet; what does when a run begins is observed."
                ),
            );
        }
        ServiceSeen::Here { port, processes } => {
            let seen: Vec<String> = processes
                .iter()
                .map(|(name, pid)| format!("{name} ({pid})"))
                .collect();
            text.comment(
                1,
                &format!(
                    "On port {port} listens {}; child processes count.",
                    seen.join(", ")
                ),
            );
        }
    }
    text.line(1, "observe:");
    text.line(2, "loadline: { self: {} }");
    if let ServiceSeen::Here { port, .. } = &wish.service {
        text.line(2, &format!("service: {{ process: {{ port: {port} }} }}"));
    }
}

fn gates(wish: &InitWish, text: &mut Text) {
    let is_here = matches!(wish.service, ServiceSeen::Here { .. })
        || matches!(wish.load, InitLoad::Testbed(_));
    text.comment(
        1,
        "A row that misses a gate has failed, and the document says why.",
    );
    match is_here {
        true => {
            text.comment(1, "Service and generator share this machine. If the generator is the bottleneck, that is noted but fails no row.");
            text.line(1, "gates: { goodput: 99%, generator: false }");
        }
        false => text.line(1, "gates: { goodput: 99% }"),
    }
}

fn document(wish: &InitWish, shape: &Shape, text: &mut Text) {
    text.blank();
    text.comment(0, "Existing text outside the tables is preserved.");
    text.line(0, "documents:");
    text.line(1, &format!("- file: {}", write::quoted(&wish.document)));
    text.line(2, "tables:");
    text.line(3, "- name: results");
    if let Some(preset) = &wish.preset {
        text.setting(4, "preset", preset);
        shape.with(wish, text);
        text.comment(4, "Further columns, behind those of the preset:");
    }
    text.line(4, "columns:");
    if wish.preset.is_none() {
        text.line(5, &format!("- {}", shape.first_column()));
        let of_service: &[&str] = match &wish.service {
            ServiceSeen::Here { .. } => &SERVICE_COLUMNS,
            ServiceSeen::Elsewhere => &[],
        };
        for column in COLUMNS.iter().chain(of_service) {
            text.line(5, &format!("- {column}"));
        }
    }
    text.comment(5, "Fill this column by hand; your text is kept.");
    text.line(5, "- { title: Remark, hand: true }");
}
