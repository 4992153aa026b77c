//! Removes secrets from the files of a run.
//!
//! Must not know the meaning of files. Invariant: afterwards no file in the folder contains a secret.

use std::io;
use std::path::Path;

use loadline_model::secret::SecretValues;

use crate::state::Disk;

/// Replaces secrets in the files of a folder; a binary file that holds one is removed, for it cannot be mended.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn redact_folder(
    disk: &dyn Disk,
    folder: &Path,
    secrets: &SecretValues,
) -> io::Result<Vec<String>> {
    let mut removed = Vec::new();
    if secrets.is_empty() {
        return Ok(removed);
    }
    for name in disk.list(folder)? {
        let path = folder.join(&name);
        let Ok(bytes) = disk.read(&path) else {
            // A folder of charts has no secrets: it only shows numbers.
            continue;
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let redacted = secrets.hide(text);
                if redacted != text {
                    disk.write(&path, redacted.as_bytes())?;
                }
            }
            Err(_) if secrets.are_in(&bytes) => {
                disk.remove(&path)?;
                removed.push(name);
            }
            Err(_) => {}
        }
    }
    Ok(removed)
}
