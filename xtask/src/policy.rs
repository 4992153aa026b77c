//! Checks every dependency's licence, name and source against `deny.toml`.
//!
//! Must not know any licence itself: the only list is in `deny.toml`, which `cargo deny` reads too; it is also
//! run if it is installed. Invariant: every package of a lock file is checked.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::workspace::{self, Depth, list, root, text};
use crate::{Result, exec, spdx};

/// The content of `deny.toml`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Policy {
    licences: Vec<String>,
    /// Package, and a licence that is only accepted for it.
    exceptions: Vec<(String, String)>,
    banned: Vec<String>,
    registries: Vec<String>,
}

/// Checks the dependencies of the workspace.
///
/// # Errors
/// A package breaks the policy (each is named), `deny.toml` could not be read, or cargo failed.
pub(crate) fn command() -> Result<()> {
    let file =
        fs::read_to_string(root().join("deny.toml")).map_err(|e| format!("deny.toml: {e}"))?;
    let policy = read(&file);
    if policy.licences.is_empty() || policy.banned.is_empty() || policy.registries.is_empty() {
        return Err("deny.toml: licences, bans or registries are missing".to_owned());
    }
    let metadata = workspace::metadata(Depth::All)?;
    let packages = list(&metadata, "packages");
    let breaches: Vec<String> = packages
        .iter()
        .flat_map(|package| policy.breaches(package))
        .collect();
    if !breaches.is_empty() {
        return Err(breaches.join("\n"));
    }
    println!(
        "policy: {} packages, all allowed by deny.toml",
        packages.len()
    );
    cargo_deny()
}

fn cargo_deny() -> Result<()> {
    let Some(tool) = exec::find("cargo-deny") else {
        println!("NOTE: cargo-deny is not installed; our own check of deny.toml stands alone");
        return Ok(());
    };
    let arguments = ["check", "bans", "licenses", "sources"];
    exec::run(Command::new(tool).current_dir(root()).args(arguments))
}

impl Policy {
    fn breaches(&self, package: &Value) -> Vec<String> {
        let name = text(package, "name");
        let version = text(package, "version");
        let licence = text(package, "license");
        let mut found = Vec::new();
        if !spdx::satisfied(licence, &|wanted| self.accepts(name, wanted)) {
            found.push(format!(
                "{name} {version}: licence {licence:?} is not allowed"
            ));
        }
        if self.banned.iter().any(|banned| banned == name) {
            found.push(format!("{name} {version}: is banned, deny.toml says why"));
        }
        // A package of this repository has no source.
        if let Some(source) = package["source"].as_str()
            && !self
                .registries
                .iter()
                .any(|r| source.strip_prefix("registry+") == Some(r))
        {
            found.push(format!("{name} {version}: source {source} is not allowed"));
        }
        found
    }

    fn accepts(&self, package: &str, licence: &str) -> bool {
        self.licences.iter().any(|allowed| allowed == licence)
            || self
                .exceptions
                .iter()
                .any(|(only, allowed)| only == package && allowed == licence)
    }
}

/// Reads the few relevant keys from `deny.toml`'s format: comments on separate lines, one key per line, lists
/// closed by a line that ends in `]`.
fn read(file: &str) -> Policy {
    let mut policy = Policy::default();
    let mut section = "";
    let mut lines = file
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    while let Some(line) = lines.next() {
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let Some((key, start)) = line.split_once('=') else {
            continue;
        };
        let mut value = start.trim().to_owned();
        while value.starts_with('[') && !value.ends_with(']') {
            let Some(next) = lines.next() else { break };
            value.push('\n');
            value.push_str(next);
        }
        match (section, key.trim()) {
            ("[licenses]", "allow") => policy.licences = quoted(&value),
            ("[licenses]", "exceptions") => policy.exceptions = exceptions(&value),
            ("[bans]", "deny") => policy.banned = value.lines().filter_map(crate_named).collect(),
            ("[sources]", "allow-registry") => policy.registries = quoted(&value),
            _ => {}
        }
    }
    policy
}

fn exceptions(value: &str) -> Vec<(String, String)> {
    let tables = value
        .split('}')
        .filter_map(|table| Some((crate_named(table)?, table)));
    let licences = |table: &str| {
        let list = table.split_once("allow").map_or("", |(_, rest)| rest);
        quoted(list.split(']').next().unwrap_or_default())
    };
    tables
        .flat_map(|(name, table)| licences(table).into_iter().map(move |l| (name.clone(), l)))
        .collect()
}

fn crate_named(table: &str) -> Option<String> {
    let (_, rest) = table.split_once("crate =")?;
    quoted(rest).into_iter().next()
}

/// The texts between double quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('"')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FILE: &str = r#"
# allow = ["GPL-3.0"]
[licenses]
allow = [
  "MIT",
  "ISC",
]
exceptions = [{ allow = ["NCSA"], crate = "fuzzer" }]
[bans]
deny = [
  { crate = "openssl", reason = "no" },
]
[sources]
allow-registry = ["https://registry"]
"#;

    fn breaches(package: &Value) -> usize {
        read(FILE).breaches(package).len()
    }

    #[test]
    fn the_file_is_read() {
        let policy = read(FILE);
        assert_eq!(policy.licences, ["MIT", "ISC"]);
        assert_eq!(
            policy.exceptions,
            [("fuzzer".to_owned(), "NCSA".to_owned())]
        );
        assert_eq!(policy.banned, ["openssl"]);
        assert_eq!(policy.registries, ["https://registry"]);
    }

    #[test]
    fn each_rule_bites() {
        let from = "registry+https://registry";
        assert_eq!(
            breaches(&json!({ "name": "a", "license": "MIT", "source": from })),
            0
        );
        assert_eq!(
            breaches(&json!({ "name": "a", "license": "GPL-3.0", "source": from })),
            1
        );
        assert_eq!(breaches(&json!({ "name": "a", "source": from })), 1);
        assert_eq!(
            breaches(&json!({ "name": "openssl", "license": "MIT", "source": from })),
            1
        );
        assert_eq!(
            breaches(&json!({ "name": "a", "license": "MIT", "source": "git+x" })),
            1
        );
        assert_eq!(
            breaches(&json!({ "name": "ours", "license": "MIT", "source": null })),
            0
        );
    }

    #[test]
    fn an_exception_holds_for_its_package_alone() {
        assert_eq!(
            breaches(&json!({ "name": "fuzzer", "license": "MIT AND NCSA" })),
            0
        );
        assert_eq!(
            breaches(&json!({ "name": "other", "license": "MIT AND NCSA" })),
            1
        );
    }
}
