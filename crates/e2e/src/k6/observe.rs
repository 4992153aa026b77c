//! Runs one script with one tool and returns the observation.
//!
//! Must not know which of the tools is right. Invariant: both tools get the same script, target, arguments and
//! environment, and their observations are normalised in the same way.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Output};

use crate::clock;
use crate::process::Running;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::case::{Case, Detail, LogDetail};
use super::normal::{self, Places};
use super::servers::Servers;
use super::{points, summary};

const POINTS: &str = "points.json";
const SUMMARY: &str = "summary.json";

/// A folder for one run, with its paths and names.
struct Scene<'a> {
    case: &'a Case,
    servers: &'a Servers,
    folder: TempDir,
}

/// Runs a script with `tool` and returns the observation.
///
/// # Panics
/// The tool cannot be started, hangs, or writes unreadable outputs.
pub(crate) fn observe(tool: &OsStr, case: &Case, servers: &Servers) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scene = Scene {
        case,
        servers,
        folder,
    };
    if let Some(config) = &case.config {
        let path = scene.folder.path().join("config.json");
        std::fs::write(path, config).expect("the folder can be written to");
    }
    for line in &case.before {
        let arguments = line.iter().map(|word| scene.fill(word));
        let _ = Running::start(scene.command(tool, arguments)).finish();
    }
    let running = Running::start(scene.command(tool, scene.arguments()));
    if let Some((signal, wait)) = case.signal {
        clock::pause(wait);
        running.signal(signal);
    }
    scene.tell(&running.finish())
}

impl Scene<'_> {
    fn places(&self) -> Places<'_> {
        Places {
            folder: self.folder.path(),
            scripts: self.scripts(),
            servers: self.servers,
        }
    }

    fn scripts(&self) -> &Path {
        let folder = self.case.path.parent();
        folder.expect("a script lies in its topic's folder")
    }

    fn fill(&self, word: &str) -> String {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        word.replace("{TMP}", &path(self.folder.path()))
            .replace("{DIR}", &path(self.scripts()))
            .replace("{SCRIPT}", &path(&self.case.path))
            .replace("{BASE}", &self.servers.base)
            .replace("{PORT}", &self.servers.port.to_string())
    }

    fn arguments(&self) -> Vec<String> {
        let case = self.case;
        let mut arguments = vec![case.command.clone().unwrap_or_else(|| "run".to_owned())];
        if case.command.is_none() && !case.loud {
            arguments.push("--quiet".to_owned());
        }
        if case.command.is_none() && !case.plain {
            arguments.extend(["--out".to_owned(), format!("json={POINTS}")]);
            arguments.extend(["--summary-export".to_owned(), SUMMARY.to_owned()]);
        }
        arguments.extend(case.args.iter().map(|word| self.fill(word)));
        let operand = case.operand.as_deref();
        let operand = operand.unwrap_or(if case.stdin { "-" } else { "{SCRIPT}" });
        arguments.push(self.fill(operand));
        arguments
    }

    fn command<I: IntoIterator<Item = String>>(&self, tool: &OsStr, arguments: I) -> Command {
        let mut command = if self.case.stdin {
            // The shell is replaced by the tool, so that signals reach it.
            let mut shell = Command::new("sh");
            shell
                .args(["-c", r#"exec "$0" "$@" < "$SCRIPT_ON_STDIN""#])
                .arg(tool);
            shell
        } else {
            Command::new(tool)
        };
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.environment());
        command
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folder = self.folder.path().as_os_str().to_owned();
        let mut environment = vec![
            ("PATH".into(), path),
            ("HOME".into(), folder.clone()),
            ("XDG_CONFIG_HOME".into(), folder),
        ];
        let mut add = |name: &str, value: &str| environment.push((name.into(), value.into()));
        add("NO_COLOR", "1");
        add("K6_NO_USAGE_REPORT", "true");
        add("LOADLINE_NO_VERDICT", "1");
        add("BASE", &self.servers.base);
        if let Some(port) = self.servers.port_tls {
            add("BASE_TLS", &format!("https://127.0.0.1:{port}"));
        }
        add("PORT", &self.servers.port.to_string());
        add("SCRIPT_ON_STDIN", &self.fill("{SCRIPT}"));
        for (name, value) in &self.case.env {
            add(name, &self.fill(value));
        }
        environment
    }

    fn tell(&self, output: &Output) -> Value {
        let case = self.case;
        let places = self.places();
        let mut told = Map::new();
        told.insert("exit_code".to_owned(), json!(output.status.code()));
        if case.log != LogDetail::Nothing {
            told.insert("log".to_owned(), self.log(&output.stderr));
        }
        if let Some(detail) = case.stdout {
            let text = String::from_utf8_lossy(&output.stdout);
            let text = match detail {
                Detail::Timeless => normal::report(&text, &places),
                Detail::Exact => normal::text(&text, &places),
                Detail::Plan => normal::text(plan_of(&text), &places),
                Detail::End => normal::report(end_of(&text), &places),
            };
            told.insert("stdout".to_owned(), lines(text.trim_matches('\n')));
        }
        if let Some(text) = self.read(POINTS) {
            let metrics = points::read(&text, &places, &case.uncounted);
            told.insert("metrics".to_owned(), metrics);
        }
        if let Some(text) = self.read(SUMMARY) {
            let export: Value = serde_json::from_str(&text).expect("the export is JSON");
            told.insert("checks".to_owned(), summary::checks(&export));
            told.insert("thresholds".to_owned(), summary::thresholds(&export));
            let metrics = summary::metrics(&export, &case.uncounted);
            told.insert("summary".to_owned(), metrics);
        }
        for name in &case.files {
            let text = self.read(name);
            let seen = text.map_or(Value::Null, |text| lines(&normal::report(&text, &places)));
            told.insert(format!("file {name}"), seen);
        }
        for name in &case.heads {
            let text = self.read(name);
            let head = text.as_deref().and_then(|text| text.lines().next());
            told.insert(format!("head {name}"), json!(head));
        }
        told.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
        Value::Object(told)
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.folder.path().join(name)).ok()
    }

    /// The lines of the log without their time.
    fn log(&self, stderr: &[u8]) -> Value {
        let text = String::from_utf8_lossy(stderr);
        let places = self.places();
        let mut found: Vec<String> = text
            .lines()
            .map(|line| normal::text(without_time(line), &places))
            .map(|line| match self.case.log {
                LogDetail::Levels => level(&line),
                _ => line,
            })
            .collect();
        if self.case.log == LogDetail::Sorted {
            found.sort();
        }
        json!(found)
    }
}

fn without_time(line: &str) -> &str {
    let rest = line.strip_prefix("time=\"");
    let rest = rest.and_then(|rest| rest.split_once("\" "));
    rest.map_or(line, |(_, rest)| rest)
}

/// The last paragraph.
fn end_of(text: &str) -> &str {
    let text = text.trim_end();
    text.rfind("\n\n").map_or(text, |at| &text[at..])
}

/// The text between the banner and the first progress line.
fn plan_of(text: &str) -> &str {
    let from = text.find("  execution:").unwrap_or_default();
    let until = text.find("\nrunning (").unwrap_or(text.len());
    text.get(from..until).unwrap_or_default().trim_end()
}

fn level(line: &str) -> String {
    let level = line.split(' ').next().unwrap_or_default();
    if level.starts_with("level=") {
        level.to_owned()
    } else {
        line.to_owned()
    }
}

fn lines(text: &str) -> Value {
    json!(text.lines().collect::<Vec<_>>())
}
