//! The testbed file: YAML, described in `docs/target/testbed.md`.
//!
//! It must not know processes or sockets. Invariant: every error has line, column and what to write instead,
//! and a returned plan can be started.

mod convert;
mod error;
mod graph;
mod raw;
mod values;

use super::plan::TestbedPlan;
pub(crate) use convert::REPLICAS_MAX;
use error::Problem;
use loadline_yaml::{YamlError, in_one_line};
use raw::RawFile;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

pub use error::TestbedFileError;

/// The largest file.
const BYTES_MAX: usize = 1024 * 1024;

/// Reads a testbed file.
///
/// # Errors
/// When it cannot be read or says something wrong.
pub(crate) fn read(path: &Path) -> Result<TestbedPlan, TestbedFileError> {
    let text = std::fs::read_to_string(path).map_err(|error| TestbedFileError {
        path: path.to_owned(),
        place: None,
        problem: format!("{error}; check the path and its permissions"),
    })?;
    parse(path, &text)
}

/// Reads the text of a testbed file; `path` is for messages and for finding routes files.
///
/// # Errors
/// The first mistake.
pub(crate) fn parse(path: &Path, text: &str) -> Result<TestbedPlan, TestbedFileError> {
    convert(path, text).map_err(|problem| TestbedFileError {
        path: path.to_owned(),
        place: problem.at.map(|at| (at.line, at.column)),
        problem: in_one_line(&problem.text),
    })
}

fn convert(path: &Path, text: &str) -> Result<TestbedPlan, Problem> {
    if text.len() > BYTES_MAX {
        return Err(Problem {
            at: None,
            text: "larger than 1 MiB; is it a testbed file?".to_owned(),
        });
    }
    let raw: RawFile = loadline_yaml::from_str(text).map_err(|error| unreadable(&error))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    if raw.components.value.is_empty() {
        let text = "components: there are none; name at least one";
        return Err(error::problem(&raw.components, text));
    }
    let mut components = Vec::new();
    let mut places = BTreeMap::new();
    for (name, kind) in &raw.components.value {
        places.insert(name.clone(), kind.at);
        components.push(convert::component(name, kind, folder)?);
    }
    graph::check(&mut components).map_err(|(name, text)| Problem {
        at: places.get(&name).copied().flatten(),
        text: format!("{name}: {text}"),
    })?;
    let control = raw.control.map_or(0, |port| port.value);
    Ok(TestbedPlan {
        seed: raw.seed.unwrap_or(1),
        control: SocketAddr::from((Ipv4Addr::LOCALHOST, control)),
        components,
    })
}

fn unreadable(error: &YamlError) -> Problem {
    let what = &error.what;
    Problem {
        at: Some(error.at),
        text: format!("{what}; the keys and their values are in docs/target/testbed.md"),
    }
}

#[cfg(test)]
mod tests;
