//! Command lines of hey and bombardier: what each sends and prints, observed for the tool itself and for its
//! dialect.
//!
//! Must not know any flag. Invariant: both are observed by the same code, against separate servers; a line that
//! differs on purpose is listed with its reason, and one that does not differ is not listed.

mod normal;
mod observe;
mod recorder;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::difference;
use crate::process::binary;
use normal::Normal;

/// Number of lines observed concurrently.
const SIDE_BY_SIDE: usize = 4;
/// Number of observations of a line before a difference counts: some failures are races in the peer, too.
const LOOKS: usize = 3;

/// A tool whose command line is a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// hey.
    Hey,
    /// bombardier.
    Bombardier,
}

impl Tool {
    /// The tool's name, which is also the dialect's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tool::Hey => "hey",
            Tool::Bombardier => "bombardier",
        }
    }

    /// The tool from which the golden file was recorded.
    #[must_use]
    pub fn peer(self) -> &'static str {
        match self {
            Tool::Hey => "hey 0.1.5",
            Tool::Bombardier => "bombardier 2.0.2",
        }
    }

    /// Whether a line runs for a duration, so that the number of its requests is random.
    fn is_timed(self, line: &str) -> bool {
        let has = |flag: &str| line.split(' ').any(|word| word == flag);
        match self {
            Tool::Hey => has("-z"),
            Tool::Bombardier => has("-d") && !has("-n"),
        }
    }

    fn lines(self) -> Vec<String> {
        let text = fs::read_to_string(self.file("txt")).expect("the command lines are there");
        let lines = text.lines().filter(|line| !line.is_empty());
        let lines = lines.filter(|line| !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    }

    fn file(self, extension: &str) -> PathBuf {
        root().join(self.name()).with_extension(extension)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dialects")
}

/// Records the behaviour of the tool itself.
///
/// # Panics
/// It cannot be started, two observations of a line differ, or the file cannot be written.
pub fn record(tool: Tool, peer: &OsStr) {
    let seen = see_all(tool, |line| {
        let look = || observe::see(tool, line, peer, &[]);
        let mut seen = look();
        for _ in 0..LOOKS {
            let again = look();
            if again == seen {
                return seen;
            }
            seen = again;
        }
        panic!("{line}: not seen twice alike");
    });
    let golden = json!({ "peer": tool.peer(), "lines": Map::from_iter(seen) });
    fs::write(tool.file("json"), format!("{golden:#}\n")).expect("the golden file can be written");
}

/// Compares the dialect of the binary under test with the recording of the tool.
///
/// # Panics
/// A line differs that is not listed as a known difference, or a listed one does not differ.
pub fn hold(tool: Tool) {
    let golden = fs::read_to_string(tool.file("json")).expect("the golden file was recorded");
    let golden: Value = serde_json::from_str(&golden).expect("the golden file is JSON");
    assert_eq!(golden["peer"], tool.peer());
    let lines = golden["lines"].as_object().expect("a table");
    let known = known_differences(tool);
    let binary = binary();
    let seen = see_all(tool, |line| {
        let golden = lines.get(line).expect("the line was recorded");
        let looks = (0..LOOKS).map(|_| {
            let seen = observe::see(tool, line, &binary, &[tool.name()]);
            difference::between(golden, &seen)
        });
        looks.min_by_key(Vec::len).unwrap_or_default()
    });
    assert_eq!(seen.len(), lines.len(), "a recorded line is gone");
    let told: Vec<String> = seen
        .iter()
        .filter_map(|(line, found)| difference::judged(line, found, known.contains_key(line)))
        .collect();
    let name = tool.name();
    assert!(
        told.is_empty(),
        "{name}: {} lines:\n{}",
        told.len(),
        told.join("\n")
    );
    let strays: Vec<&String> = known
        .keys()
        .filter(|line| !lines.contains_key(*line))
        .collect();
    assert!(
        strays.is_empty(),
        "known differences of no line: {strays:?}"
    );
}

/// Lines that differ on purpose, with the reason.
fn known_differences(tool: Tool) -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join("known_differences.toml")).expect("it is there");
    let mut all: BTreeMap<String, BTreeMap<String, String>> =
        toml::from_str(&text).expect("reasons by tool and line");
    all.remove(tool.name()).unwrap_or_default()
}

fn see_all<T: Send>(tool: Tool, see: impl Fn(&str) -> T + Sync) -> Vec<(String, T)> {
    let lines = tool.lines();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let seen = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(line) =
                    lines.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
                {
                    let found = see(line);
                    crate::server::lock(&seen).push((line.clone(), found));
                }
            });
        }
    });
    seen.into_inner().expect("no thread panics with this lock")
}
