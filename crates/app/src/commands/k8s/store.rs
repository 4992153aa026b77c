//! The whole result of a test, or the files of a suite, in an object store: written by the container that
//! passes it on, and read when it is fetched.
//!
//! Must not know the cluster. Invariant: the store and its keys come from the environment, as with the AWS CLI.

use std::path::Path;
use std::{fs, io};

use loadline_model::parcel::RESULT_FILE;
use loadline_model::{ObjectFolder, leads_inside};
use loadline_output::json;
use loadline_output::object_store::{ObjectStore, StoreSettings};

use super::left::{Left, Take};
use crate::Env;

/// The object with the names of a suite's files.
const INDEX: &str = "files.txt";
/// Its first line.
const INDEX_HEAD: &str = "loadline-files/v1\n";
/// A file with certificates in PEM, as used by the AWS CLI.
const CA_BUNDLE: &str = "AWS_CA_BUNDLE";

/// The store from the environment; `authority`: a file of certificates, which may be missing or empty.
///
/// # Errors
/// A variable is missing, or a file cannot be read.
fn store(env: &Env, authority: Option<&Path>) -> Result<ObjectStore, String> {
    let said = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let authority = match authority.map(|path| (path, fs::read(path))) {
        Some((_, Ok(pem))) if !pem.is_empty() => Some(pem),
        Some((path, Err(error))) if error.kind() != io::ErrorKind::NotFound => {
            return Err(said(path, error));
        }
        Some(_) | None => env
            .get(CA_BUNDLE)
            .map(Path::new)
            .map(|path| fs::read(path).map_err(|error| said(path, error)))
            .transpose()?,
    };
    let variable = |name: &str| env.get(name).map(str::to_owned);
    ObjectStore::new(StoreSettings::read(&variable, authority)?)
}

/// Writes the files of a test into a folder.
///
/// # Errors
/// The store is unreachable, or refuses them.
pub(super) fn put(
    env: &Env,
    authority: Option<&Path>,
    folder: &ObjectFolder,
    left: &Left,
) -> Result<(), String> {
    let store = store(env, authority).map_err(|why| format!("{folder}: {why}"))?;
    for file in left.files() {
        let bytes = file.read();
        let bytes = bytes.map_err(|error| format!("{folder}: {}: {error}", file.name))?;
        store.put(folder, &file.name, kind(&file.name), &bytes)?;
    }
    if !left.needs_index() {
        return Ok(());
    }
    let mut names: String = left
        .files()
        .map(|file| format!("{}\n", file.name))
        .collect();
    names.insert_str(0, INDEX_HEAD);
    store.put(folder, INDEX, kind(INDEX), names.as_bytes())
}

/// The media type of a file for browsers.
fn kind(name: &str) -> &'static str {
    match Path::new(name).extension().and_then(|of| of.to_str()) {
        Some("json") => "application/json",
        Some("html") => "text/html; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("csv") => "text/csv; charset=utf-8",
        Some("xml") => "application/xml",
        Some("md" | "txt" | "log") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

/// Reads a stored folder: a single result, or the files named in an index, one after the other.
///
/// # Errors
/// The store is unreachable, has no such folder, or contains a name that leads elsewhere; or the receiver of
/// the files fails.
pub(super) fn get(
    env: &Env,
    folder: &str,
    has_index: bool,
    take: Take<'_, String>,
) -> Result<(), String> {
    let folder = ObjectFolder::read(folder, "")
        .ok_or_else(|| format!("{folder:?} is not a directory of an object store"))?;
    let store = store(env, None).map_err(|why| format!("{folder}: {why}"))?;
    let mut fetch = |name: &str| {
        let bytes = store.get(&folder, name, json::RESULT_BYTES_MAX)?;
        take(name, &bytes)
    };
    if !has_index {
        return fetch(RESULT_FILE);
    }
    let index = store.get(&folder, INDEX, json::RESULT_BYTES_MAX)?;
    let index = String::from_utf8_lossy(&index);
    let names = index.strip_prefix(INDEX_HEAD);
    let names = names.ok_or_else(|| format!("{folder}/{INDEX} is no index of results"))?;
    names.lines().try_for_each(|name| match leads_inside(name) {
        true => fetch(name),
        false => Err(format!("{folder}/{INDEX} names {name:?}")),
    })
}
