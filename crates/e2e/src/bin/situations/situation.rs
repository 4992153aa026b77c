//! A situation as described in its file.
//!
//! Must not know how it is staged. Invariant: names are unique, and an unknown key is an error.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

/// What is staged, how it is run, and the truth about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Situation {
    /// Short and unique.
    pub(crate) name: String,
    /// The file in which it is defined: what most of its kind are limited by.
    #[serde(skip)]
    pub(crate) side: String,
    /// The truth by construction, in one line.
    pub(crate) truth: String,
    /// The correct limits. Empty: any limit is accepted, `codes` decide.
    #[serde(default)]
    pub(crate) limit: Vec<String>,
    /// Additional correct limits if the machine is also busy.
    #[serde(default)]
    pub(crate) busy_limit: Vec<String>,
    /// Required findings: `a|b` means either.
    #[serde(default)]
    pub(crate) codes: Vec<String>,
    /// The same, only on a quiet machine.
    #[serde(default)]
    pub(crate) quiet_codes: Vec<String>,
    /// Forbidden findings.
    #[serde(default)]
    pub(crate) never: Vec<String>,
    /// A pattern that headline or findings must match.
    pub(crate) says: Option<String>,
    /// The correct result of `capacity`, per second, within 5 %.
    pub(crate) capacity: Option<f64>,
    /// The servers, backends first.
    #[serde(default)]
    pub(crate) servers: Vec<Server>,
    /// Options of the link in front of `far` servers.
    pub(crate) link: Option<String>,
    /// A shell command that is run first in the situation's folder.
    pub(crate) prepare: Option<String>,
    /// Shell commands that run alongside.
    #[serde(default)]
    pub(crate) beside: Vec<String>,
    /// Required Python modules.
    #[serde(default)]
    pub(crate) modules: Vec<String>,
    /// The script for `{script}`.
    pub(crate) script: Option<String>,
    /// The generator's arguments, split as in a shell.
    pub(crate) run: String,
    /// A shell command before the generator starts, in its process: `ulimit -n 64`.
    pub(crate) under: Option<String>,
    /// Number of CPUs that the generator may use.
    pub(crate) quota: Option<f64>,
}

/// One of the processes under test.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Server {
    /// The name in `{NAME}`, which is replaced by its URL without the last `/`. Also `{port.NAME}` and
    /// `{pid.NAME}`.
    pub(crate) name: String,
    /// Options of `serve.py`.
    pub(crate) serve: Option<String>,
    /// The content of nginx's `http` block, including its `server` blocks.
    pub(crate) nginx: Option<String>,
    /// A shell command.
    pub(crate) command: Option<String>,
    /// Nothing is started: the port stays free.
    pub(crate) nobody: bool,
    /// It is behind the link.
    pub(crate) far: bool,
    /// Its start is not awaited.
    pub(crate) late: bool,
    /// It uses TLS.
    pub(crate) tls: bool,
    /// Number of CPUs that it may use.
    pub(crate) quota: Option<f64>,
    /// The CPUs on which it may run, in `taskset`'s list format.
    pub(crate) cpus: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    situation: Vec<Situation>,
}

/// All situations of the files in a folder, by file.
pub(crate) fn all(folder: impl AsRef<Path>) -> Result<Vec<Situation>, String> {
    let folder = folder.as_ref();
    let entries =
        std::fs::read_dir(folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        found.extend(of_file(&path)?);
    }
    let mut names = BTreeSet::new();
    match found.iter().find(|one| !names.insert(&one.name)) {
        Some(twice) => Err(format!("two situations are called {}", twice.name)),
        None => Ok(found),
    }
}

fn of_file(path: &Path) -> Result<Vec<Situation>, String> {
    let told = |why: String| format!("{}: {why}", path.display());
    let text = std::fs::read_to_string(path).map_err(|why| told(why.to_string()))?;
    let page: Page = toml::from_str(&text).map_err(|why| told(why.to_string()))?;
    let side = path.file_stem().unwrap_or_default().to_string_lossy();
    let with_side = |mut one: Situation| {
        one.side = side.to_string();
        one
    };
    Ok(page.situation.into_iter().map(with_side).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: [&str; 6] = [
        "target",
        "network",
        "generator",
        "plan",
        "nobody",
        "unknown",
    ];

    #[test]
    fn every_situation_says_what_is_true_and_how_it_is_driven() {
        let all = all(Path::new(env!("CARGO_MANIFEST_DIR")).join("situations"));
        let all = all.expect("the files can be read");
        assert!(all.len() >= 60, "there are only {}", all.len());
        for one in all {
            let limits = one.limit.iter().chain(&one.busy_limit);
            for limit in limits {
                assert!(LIMITS.contains(&limit.as_str()), "{}: {limit}", one.name);
            }
            let judged = one.limit.len() + one.codes.len() + one.never.len();
            let is_judged = judged > 0 || one.says.is_some() || one.capacity.is_some();
            assert!(is_judged, "{}: nothing is expected of it", one.name);
            assert!(!one.truth.is_empty() && !one.run.is_empty(), "{}", one.name);
        }
    }
}
