//! Takes secrets out of what a run left behind.
//!
//! Must not know what the files mean. Invariant: after it, no file of the folder holds a secret.

use std::io;
use std::path::Path;

use crate::state::Disk;

/// What stands in place of a secret.
const HIDDEN: &[u8] = b"***";
/// Shorter secrets would take ordinary text with them; the plan refuses them.
pub(super) const SECRET_MIN: usize = 4;

/// Replaces secrets in a text.
#[must_use]
pub(super) fn redact_text(text: &str, secrets: &[String]) -> String {
    let mut redacted = text.to_owned();
    for form in secrets.iter().flat_map(|secret| forms(secret)) {
        redacted = redacted.replace(&form, "***");
    }
    redacted
}

/// Replaces secrets in the files of a folder; a binary file that holds one is removed, for it cannot be mended.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn redact_folder(
    disk: &dyn Disk,
    folder: &Path,
    secrets: &[String],
) -> io::Result<Vec<String>> {
    let mut removed = Vec::new();
    if secrets.is_empty() {
        return Ok(removed);
    }
    for name in disk.list(folder)? {
        let path = folder.join(&name);
        let Ok(bytes) = disk.read(&path) else {
            // A folder of charts has no secrets: it is made of numbers.
            continue;
        };
        let mut redacted = bytes.clone();
        for form in secrets.iter().flat_map(|secret| forms(secret)) {
            redacted = replace(&redacted, form.as_bytes());
        }
        if redacted == bytes {
            continue;
        }
        if std::str::from_utf8(&bytes).is_ok() {
            disk.write(&path, &redacted)?;
        } else {
            disk.remove(&path)?;
            removed.push(name);
        }
    }
    Ok(removed)
}

/// A secret as it is, and as JSON writes it.
fn forms(secret: &str) -> Vec<String> {
    let json = serde_json::Value::from(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let mut forms = vec![secret.to_owned()];
    if json != secret {
        forms.push(json);
    }
    forms
}

fn replace(bytes: &[u8], what: &[u8]) -> Vec<u8> {
    let mut replaced = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = find(rest, what) {
        replaced.extend_from_slice(&rest[..at]);
        replaced.extend_from_slice(HIDDEN);
        rest = &rest[at + what.len()..];
    }
    replaced.extend_from_slice(rest);
    replaced
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    if what.is_empty() {
        return None;
    }
    bytes.windows(what.len()).position(|window| window == what)
}
