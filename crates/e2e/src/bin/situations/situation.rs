//! A situation as its file tells it.
//!
//! Must not know how it is staged. Invariant: names are unique, and a key that is not known is an error.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

/// What is staged, how it is driven, and what is true of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Situation {
    /// Short and unique.
    pub(crate) name: String,
    /// The file that it stands in: what most of its kind are limited by.
    #[serde(skip)]
    pub(crate) side: String,
    /// What is so, by whom it was built, in one line.
    pub(crate) truth: String,
    /// The limits that are right. Empty: whatever is said, `codes` decide.
    #[serde(default)]
    pub(crate) limit: Vec<String>,
    /// More that are right when the machine is busy besides.
    #[serde(default)]
    pub(crate) busy_limit: Vec<String>,
    /// Findings that must be told: `a|b` is either.
    #[serde(default)]
    pub(crate) codes: Vec<String>,
    /// The same on a quiet machine alone.
    #[serde(default)]
    pub(crate) quiet_codes: Vec<String>,
    /// Findings that must not be told.
    #[serde(default)]
    pub(crate) never: Vec<String>,
    /// What headline or findings must say: a pattern.
    pub(crate) says: Option<String>,
    /// What `capacity` must come to, per second, within 5 %.
    pub(crate) capacity: Option<f64>,
    /// What listens, those behind first.
    #[serde(default)]
    pub(crate) servers: Vec<Server>,
    /// Options of the link that `far` servers are behind.
    pub(crate) link: Option<String>,
    /// A line of a shell that is run in the situation's folder first.
    pub(crate) prepare: Option<String>,
    /// Lines of a shell whose commands run beside.
    #[serde(default)]
    pub(crate) beside: Vec<String>,
    /// Python modules that it takes.
    #[serde(default)]
    pub(crate) modules: Vec<String>,
    /// The script that `{script}` names.
    pub(crate) script: Option<String>,
    /// The generator's arguments, as a shell splits them.
    pub(crate) run: String,
    /// A line of a shell before the generator starts, in its process: `ulimit -n 64`.
    pub(crate) under: Option<String>,
    /// The generator may use so many processors.
    pub(crate) quota: Option<f64>,
}

/// One of the processes under test.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Server {
    /// What `{NAME}` stands for: its URL without the last `/`. `{port.NAME}` and `{pid.NAME}` too.
    pub(crate) name: String,
    /// Options of `serve.py`.
    pub(crate) serve: Option<String>,
    /// What stands in the `http` block of nginx, its `server` blocks included.
    pub(crate) nginx: Option<String>,
    /// A line of a shell.
    pub(crate) command: Option<String>,
    /// Nothing is started: the port is free.
    pub(crate) nobody: bool,
    /// It stands behind the link.
    pub(crate) far: bool,
    /// It is not waited for.
    pub(crate) late: bool,
    /// It speaks TLS.
    pub(crate) tls: bool,
    /// It may use so many processors.
    pub(crate) quota: Option<f64>,
    /// It may run on these processors, as `taskset` lists them.
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
