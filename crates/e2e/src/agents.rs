//! Runs whose load is made by agents: coordinators, agents, and servers that record their requests.
//!
//! Must not know what is tested. Invariant: coordinators and agents are started as a user starts them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::process::Running;
use crate::server::{Server, free_port};
use crate::{clock, loadline, run_to_end, web};

/// Far more than it takes, so that only a hang reaches it.
pub const SOON: Duration = Duration::from_secs(10);

/// A server that records the targets of all requests, and its records.
pub fn keeping() -> (Server, Arc<Mutex<Vec<String>>>) {
    let kept = Arc::<Mutex<Vec<String>>>::default();
    let keep = Arc::clone(&kept);
    let server = Server::start(move |stream, _| {
        web::serve(stream, |request| {
            let mut kept = keep.lock().expect("nobody panics");
            kept.push(request.word(1).to_owned());
            web::ok("{}")
        })
    });
    (server, kept)
}

/// The requests to a server so far, sorted as text.
#[must_use]
pub fn kept(targets: &Arc<Mutex<Vec<String>>>) -> Vec<String> {
    let mut targets = targets.lock().expect("nobody panics").clone();
    targets.sort();
    targets
}

/// Bytes as text.
#[must_use]
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The JSON in a file.
#[must_use]
pub fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).expect("it is JSON")
}

/// A bench run against a recording server; with the result.
pub fn benched(more: &[&str], path: &str) -> (Output, Value, Vec<String>) {
    let (server, targets) = keeping();
    let folder = tempfile::tempdir().expect("there is room");
    let result = folder.path().join("result.json");
    let mut command = loadline();
    command.args(["bench", "-q", "--no-journal"]).args(more);
    command.arg("--json").arg(&result).arg(server.url(path));
    let output = run_to_end(command);
    let result = json(&result);
    (output, result, kept(&targets))
}

/// A long bench run on three agents, and its server.
pub fn long_bench(more: &[&str]) -> (Server, tempfile::TempDir, Running) {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")));
    let folder = tempfile::tempdir().expect("there is room");
    let mut command = loadline();
    command
        .args(["bench", "-q", "--no-journal", "--agents", "3"])
        .args(more);
    command.arg("--json").arg(folder.path().join("result.json"));
    command.arg(server.url("/"));
    let running = Running::start(command);
    let asked = || (server.accepted() >= 3).then_some(());
    clock::wait_for(SOON, asked).expect("all agents send");
    (server, folder, running)
}

/// A coordinator in a folder, waiting for this many agents; with its address, its token and its server.
pub fn coordinator(
    folder: &Path,
    agents: &str,
    more: &[&str],
) -> (Server, Running, String, String) {
    let server = Server::start(|stream, _| web::serve(stream, |_| web::ok("{}")));
    let mut command = loadline();
    let listen = format!("127.0.0.1:{}", free_port());
    command
        .current_dir(folder)
        .args(["bench", "-q", "--no-journal"])
        .args(more)
        .args(["--agents", agents, "--listen", &listen]);
    command.arg(server.url("/"));
    let running = Running::start(command);
    let token = clock::wait_for(SOON, || {
        let told = running.errors_so_far();
        let (_, behind) = told.split_once("LOADLINE_JOIN_TOKEN=")?;
        let (token, _) = behind.split_once(" loadline agent --join ")?;
        Some(token.to_owned())
    });
    (server, running, listen, token.expect("the token is told"))
}

/// A fixed token for tests.
pub const TOKEN: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/// A coordinator at an address with a known token, so that it can be restarted.
#[must_use]
pub fn coordinator_at(folder: &Path, at: &str, agents: &str, command: &[&str]) -> Running {
    let (name, rest) = command.split_first().expect("a command");
    let mut coordinator = loadline();
    coordinator
        .current_dir(folder)
        .args([*name, "-q", "--agents", agents, "--listen", at])
        .args(rest)
        .env("LOADLINE_JOIN_TOKEN", TOKEN);
    Running::start(coordinator)
}

/// An agent with this name that joins with a token.
#[must_use]
pub fn agent(at: &str, token: &str, name: &str) -> Command {
    let mut command = loadline();
    command.args(["agent", "--join", at, "--name", name]);
    command.env("LOADLINE_JOIN_TOKEN", token);
    command
}
