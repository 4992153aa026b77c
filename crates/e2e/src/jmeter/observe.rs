//! Runs one plan and returns the requests to the servers, the output, and the written files.
//!
//! Must not know which plans exist. Invariant: nothing in the observation depends on ports, folders, times, or
//! the order of concurrent threads.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value, json};

use super::case::Case;
use super::normal::{BOUNDARY_MARK, Normal};
use super::site::Site;
use super::{Tool, root, table};
use crate::process::{neutral, run_to_end};
use crate::server::free_port;

/// The results file.
const RESULTS: &str = "out.jtl";
/// The log, which is specific to each tool.
const LOG: &str = "out.log";

/// The observation of a plan.
pub(super) fn see(case: &Case, tool: &Tool<'_>) -> Value {
    see_with_log(case, tool).0
}

/// The same, with the content of the log.
pub(super) fn see_with_log(case: &Case, tool: &Tool<'_>) -> (Value, String) {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let given = give(case, folder);
    let (site, secure, dead) = (Site::start(), Site::start_tls(), free_port());
    let mut command = neutral(Command::new("sh"));
    command
        .args(["-c", &format!("{}exec \"$0\" \"$@\"", tool.before)])
        .arg(tool.program)
        .current_dir(folder)
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .env("TIER", "1")
        .args(tool.words);
    match &case.line {
        Some(line) => command.args(line.split_whitespace()),
        None => command
            .args(["-n", "-t", "plan.jmx", "-l", RESULTS, "-j", LOG])
            .arg("-Jhost=127.0.0.1")
            .arg(format!("-Jport={}", site.port()))
            .arg(format!("-Jtls={}", secure.port()))
            .arg(format!("-Jdead={dead}"))
            .args(&case.args),
    };
    let output = run_to_end(command);
    let normal = Normal {
        places: vec![
            (format!("127.0.0.1:{}", site.port()), "{HOST}"),
            (format!("127.0.0.1:{}", secure.port()), "{TLS}"),
            (format!("127.0.0.1:{dead}"), "{DEAD}"),
            (format!(":{}", site.port()), ":{PORT}"),
            (folder.to_string_lossy().into_owned(), "{FOLDER}"),
        ],
        is_uncounted: case.uncounted,
    };
    let mut seen = Map::new();
    seen.insert("exit code".to_owned(), json!(output.status.code()));
    if !case.unheard {
        let lines = normal.console(&output.stdout);
        seen.insert("console".to_owned(), json!(lines));
    }
    let mut asked = see_requests(&site, &normal);
    asked.extend(see_requests(&secure, &normal));
    let mut lines = asked.iter().flatten().flatten();
    let are_lengths_chance = lines.any(|line| line.contains(BOUNDARY_MARK));
    let threads = see_results(folder, &normal, are_lengths_chance, &mut seen);
    if threads > 1 || case.unordered {
        asked.sort();
    }
    if case.uncounted {
        asked.dedup();
    }
    seen.insert("connections".to_owned(), json!(asked));
    seen.insert("files".to_owned(), see_files(folder, &given, &normal));
    let log = fs::read_to_string(folder.join(LOG)).unwrap_or_default();
    (Value::Object(seen), log)
}

/// Copies the plan and its data into a folder; returns the names of the files.
fn give(case: &Case, folder: &Path) -> BTreeSet<String> {
    fs::copy(case.path(), folder.join("plan.jmx")).expect("a plan can be copied");
    let data = fs::read_dir(root().join("plans/data")).expect("there is a folder of data");
    for entry in data {
        let path = entry.expect("a folder can be read to its end").path();
        let name = path.file_name().expect("a file has a name").to_owned();
        fs::copy(path, folder.join(name)).expect("data can be copied");
    }
    if let Some(text) = &case.results {
        fs::write(folder.join(RESULTS), text).expect("there is room");
    }
    files_in(folder)
        .into_iter()
        .filter(|name| name != RESULTS)
        .collect()
}

/// Adds the rows of the results by thread, and returns the number of threads.
fn see_results(
    folder: &Path,
    normal: &Normal,
    are_lengths_chance: bool,
    seen: &mut Map<String, Value>,
) -> usize {
    let Ok(text) = fs::read_to_string(folder.join(RESULTS)) else {
        seen.insert("results".to_owned(), json!("no file"));
        return 0;
    };
    let text = normal.file(&text);
    match table::read(&text) {
        Some(mut table) => {
            if are_lengths_chance {
                table.remove(&["bytes", "sentBytes"]);
            }
            let header = table.header.clone();
            let threads = match normal.is_uncounted {
                true => table.groups(),
                false => table.threads(),
            };
            let count = threads.len();
            seen.insert("header".to_owned(), json!(header));
            seen.insert("threads".to_owned(), json!(threads));
            count
        }
        None => {
            let lines: Vec<&str> = text.lines().collect();
            seen.insert("results".to_owned(), json!(lines));
            1
        }
    }
}

/// The requests of each connection.
fn see_requests(site: &Site, normal: &Normal) -> Vec<Vec<Vec<String>>> {
    let connections = site.take().into_iter();
    let told = connections.map(|requests| {
        let requests = requests.iter();
        requests.map(|bytes| normal.request(bytes)).collect()
    });
    told.collect()
}

/// The files written in addition to the results and the log.
fn see_files(folder: &Path, given: &BTreeSet<String>, normal: &Normal) -> Value {
    let mut told = BTreeMap::new();
    for name in files_in(folder) {
        if given.contains(&name) || name == RESULTS || name == LOG {
            continue;
        }
        if name.ends_with(".log") {
            told.insert(name, json!("{log}"));
            continue;
        }
        let bytes = fs::read(folder.join(&name)).expect("a file that was written can be read");
        let text = normal.file(&String::from_utf8_lossy(&bytes));
        let content = match table::read(&text) {
            Some(table) => json!({ "header": table.header, "threads": table.threads() }),
            None => json!(text.lines().collect::<Vec<_>>()),
        };
        told.insert(name, content);
    }
    json!(told)
}

/// The relative paths of all files below a folder.
fn files_in(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder can be read") {
            let path = entry.expect("a folder can be read to its end").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(name) = path.strip_prefix(folder) {
                found.insert(name.to_string_lossy().into_owned());
            }
        }
    }
    found
}
