//! Runs one command line and returns the requests to the servers and the output.
//!
//! Must not know which lines exist. Invariant: nothing in the observation depends on ports, folders, times, or
//! the order of concurrent workers.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::recorder::Recorder;
use super::{Normal, Tool};
use crate::process::{neutral, run_to_end};
use crate::server::free_port;

/// The observation of `program WORDS LINE`.
pub(super) fn see(tool: Tool, line: &str, program: &OsStr, words: &[&str]) -> Value {
    let other = Recorder::start("");
    let main = Recorder::start(&other.server.url(""));
    let (tls, v6) = (Recorder::start_tls(), Recorder::start_v6());
    let dead = free_port();
    let address = |recorder: &Recorder| recorder.server.address().to_string();
    let folder = tempfile::tempdir().expect("there is room");
    write_files(folder.path());
    let mut command = neutral(Command::new("sh"));
    command
        .current_dir(folder.path())
        .args(["-c", &format!("exec \"$0\" \"$@\" {line}")])
        .arg(program)
        .args(words)
        .env("LOADLINE_NO_VERDICT", "1")
        .env("URL", main.server.url(""))
        .env("ADDR", address(&main))
        .env("PROXY", main.server.url(""))
        .env("TLS", format!("https://{}", address(&tls)))
        .env("IP6", v6.server.url(""))
        .env("DEAD", format!("http://127.0.0.1:{dead}"));
    let output = run_to_end(command);
    let normal = Normal {
        tool,
        is_timed: tool.is_timed(line),
        addresses: vec![
            (address(&main), "{URL}"),
            (address(&other), "{OTHER}"),
            (address(&tls), "{TLS}"),
            (address(&v6), "{IP6}"),
            (format!("127.0.0.1:{dead}"), "{DEAD}"),
        ],
    };
    let asked: Vec<Vec<u8>> = [&main, &other, &tls, &v6]
        .into_iter()
        .flat_map(|recorder| recorder.asked.take())
        .collect();
    json!({
        "connections are kept": asked.len() as u64 > connections(&[&main, &other, &tls, &v6]),
        "requests": requests(&asked, &normal),
        "code": output.status.code(),
        "stdout": normal.output(&output.stdout),
        "stderr": normal.output(&output.stderr),
    })
}

fn connections(recorders: &[&Recorder]) -> u64 {
    recorders
        .iter()
        .map(|recorder| recorder.server.accepted())
        .sum()
}

/// Each request, with its number of occurrences.
fn requests(asked: &[Vec<u8>], normal: &Normal) -> Value {
    let mut counts: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for request in asked {
        *counts.entry(normal.request(request)).or_default() += 1;
    }
    let list = counts
        .into_iter()
        .map(|(lines, times)| match normal.is_timed {
            true => json!({ "times": "some", "lines": lines }),
            false => json!({ "times": times, "lines": lines }),
        });
    list.collect()
}

fn write_files(folder: &Path) {
    let template = "{{.Result.Req2XX}} of {{.Spec.NumberOfRequests}}\n";
    let files: [(&str, &[u8]); 5] = [
        ("lines.txt", b"one\ntwo\r\n\nlast\n"),
        ("bytes.bin", &[0, 255, 13, 10, 128, b'a', 0]),
        ("empty.txt", b""),
        ("arguments.txt", b"-n\n3\n-c\n1\n"),
        ("report.tmpl", template.as_bytes()),
    ];
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).expect("there is room");
    }
}
