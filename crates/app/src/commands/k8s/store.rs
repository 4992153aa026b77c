//! The whole result of a test in an object store: put there by the container that hands it on, and read by whoever fetches it.
//!
//! Must not know the cluster. Invariant: the store and its keys are those that the environment names, as for the AWS CLI.

use std::path::Path;
use std::{fs, io};

use loadline_model::{KeptFile, ObjectFolder};
use loadline_output::json;
use loadline_output::object_store::{ObjectStore, StoreSettings};

use crate::Env;

/// A file with certificates in PEM, as the AWS CLI has it.
const CA_BUNDLE: &str = "AWS_CA_BUNDLE";

/// The store that the environment names; `authority`: a file of certificates, which may be missing or empty.
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

/// Puts a result and its page into a folder.
///
/// # Errors
/// The store cannot be asked, or does not take them.
pub(super) fn put(
    env: &Env,
    authority: Option<&Path>,
    folder: &ObjectFolder,
    result: &[u8],
    page: Option<&str>,
) -> Result<(), String> {
    let store = store(env, authority).map_err(|why| format!("{folder}: {why}"))?;
    store.put(folder, KeptFile::Result.name(), "application/json", result)?;
    let page = page.map(str::as_bytes);
    page.map_or(Ok(()), |page| {
        let kind = "text/html; charset=utf-8";
        store.put(folder, KeptFile::Report.name(), kind, page)
    })
}

/// Reads the result of a folder.
///
/// # Errors
/// The store cannot be asked, or has none.
pub(super) fn get(env: &Env, folder: &str) -> Result<Vec<u8>, String> {
    let folder = ObjectFolder::read(folder, "")
        .ok_or_else(|| format!("{folder:?} is not a folder of an object store"))?;
    let store = store(env, None).map_err(|why| format!("{folder}: {why}"))?;
    store.get(&folder, KeptFile::Result.name(), json::RESULT_BYTES_MAX)
}
