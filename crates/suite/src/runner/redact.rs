//! Removes secrets from the files of a run.
//!
//! Must not know the meaning of files. Invariant: afterwards no file in the folder contains a secret, or it is said which
//! cannot be read; folders in it hold charts, which only show numbers, and are left alone.

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
        let bytes = match disk.read(&path) {
            Ok(bytes) => bytes,
            Err(error) if has_no_text(&error) => continue,
            Err(error) => {
                let why = format!("{}: {error}", path.display());
                return Err(io::Error::new(error.kind(), why));
            }
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

/// Whether a name cannot be read because it is a folder, or nothing.
fn has_no_text(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::IsADirectory | io::ErrorKind::NotFound
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::state::SystemDisk;

    #[test]
    fn a_file_that_cannot_be_read_is_not_taken_for_clean() {
        let folder = tempfile::tempdir().expect("there is a disk");
        let path = |name: &str| folder.path().join(name);
        let secrets = SecretValues::new(["s3cret-of-mine".to_owned()]);
        fs::create_dir(path("charts")).expect("made");
        fs::write(path("run.log"), "it is s3cret-of-mine").expect("written");
        symlink("nowhere", path("gone")).expect("linked");
        let redacted = || redact_folder(&SystemDisk, folder.path(), &secrets);
        assert_eq!(redacted().expect("all is read"), Vec::<String>::new());
        let log = fs::read_to_string(path("run.log")).expect("it is there");
        assert!(!log.contains("s3cret"), "{log}");
        symlink("loop", path("loop")).expect("linked");
        let why = redacted().expect_err("it may hold a secret").to_string();
        assert!(why.contains("loop: "), "{why}");
    }
}
