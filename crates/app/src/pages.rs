//! The HTML report as a file.
//!
//! Must not know what is on a page. Invariant: at every instant the file's name leads to a whole page or
//! to what was there before.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use loadline_model::RunResult;
use loadline_output::files;
use loadline_report::html;

/// Writes the report of a result to a file.
///
/// # Errors
/// Why it cannot be written, with the file's name.
pub(crate) fn save(path: &str, result: &RunResult) -> Result<(), String> {
    write(Path::new(path), &html::report(result))
        .map_err(|error| format!("cannot write {path}: {error}; name another file"))
}

/// Writes a page to a file.
///
/// # Errors
/// Those of the file system; what was there before is then still there.
pub(crate) fn write(path: &Path, page: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|known| !known.is_file()) {
        // A device or a pipe takes it as it comes; a folder says what it is.
        return files::write(path, page);
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names a folder, not a file",
        ));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(hidden);
    // In a folder that others write to, a link of theirs may wait under this name.
    let _ = fs::remove_file(&temporary);
    let written = File::create_new(&temporary)
        .and_then(|mut file| file.write_all(page.as_bytes()))
        .and_then(|()| fs::rename(&temporary, &path));
    if written.is_err() {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&temporary);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_written_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.html");
        write(&path, "one").expect("written");
        write(&path, "two").expect("written over");
        assert_eq!(fs::read_to_string(&path).expect("there"), "two");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        assert!(write(folder.path(), "a folder").is_err());
        assert!(write(&folder.path().join("no/such"), "x").is_err());
    }
}
