//! Creating files for output, and opening named pipes in their place.
//!
//! Must not know what is written. Invariants: opening never blocks for long, not even on a pipe without a
//! reader (a blocked open cannot be interrupted by a signal that is handled elsewhere); two processes never
//! write a file from here at the same time.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Attempts to open a pipe whose reader may be about to start, for example when one command line starts both.
#[cfg(unix)]
const TRIES: u32 = 100;
/// Time between two attempts.
#[cfg(unix)]
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(20);

/// Creates or truncates a file; of a named pipe, opens the write end.
///
/// # Errors
/// File system errors; a pipe without a reader for two seconds; a file that another process is writing.
pub fn create(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    if is_pipe(path) {
        return await_reader(path);
    }
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    if file.metadata()?.is_file() {
        claim(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// Locks a file for this process until it is closed; does nothing on file systems without locks.
///
/// # Errors
/// Another process is writing it.
pub(crate) fn claim(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another process is writing it")),
        _ => Ok(()),
    }
}

/// Writes a whole file, or into a named pipe.
///
/// # Errors
/// As for [`create`].
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(bytes.as_ref())
}

/// Replaces a file atomically: at every instant its name refers to the complete new or old content, even if two
/// processes replace it at once. A symbolic link stays a link, and the permissions of the old file are kept;
/// devices and pipes are written directly.
///
/// # Errors
/// File system errors; the old file is then still there.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes.as_ref()))
}

/// Replaces a file like [`replace`], with the content that `fill` writes.
pub(crate) fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let known = fs::metadata(path).ok();
    if known.as_ref().is_some_and(|known| !known.is_file()) {
        // For a folder, this returns the right error.
        return fill(&mut create(path)?);
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let temporary = beside(&path)?;
    // In a folder that others can write to, someone may have put a link under this name.
    let _ = fs::remove_file(&temporary);
    let put = || {
        let mut file = File::create_new(&temporary)?;
        if let Some(known) = &known {
            file.set_permissions(known.permissions())?;
        }
        fill(&mut file)?;
        file.sync_data()?;
        fs::rename(&temporary, &path)
    };
    // The first error is the one worth reporting.
    put().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// A hidden name in the same folder that no other process uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names a directory, not a file",
        )
    })?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    fs::metadata(path).is_ok_and(|known| known.file_type().is_fifo())
}

#[cfg(unix)]
fn await_reader(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    for _ in 0..TRIES {
        let tried = File::options()
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path);
        match tried {
            // Opened again so that writes block until the reader reads; the first handle keeps the pipe open
            // meanwhile.
            Ok(_held) => return File::options().write(true).open(path),
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                std::thread::park_timeout(BETWEEN);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(
        "it is a pipe that no process reads; start its reader first",
    ))
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::process::Command;

    use super::*;

    fn pipe(folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
        path
    }

    #[test]
    fn a_pipe_without_a_reader_is_refused_soon() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = create(&pipe(&folder)).expect_err("nobody reads it");
        assert!(
            refused.to_string().contains("no process reads"),
            "{refused}"
        );
    }

    #[test]
    fn a_reader_that_comes_late_has_everything() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = pipe(&folder);
        let ours = path.clone();
        let writing = std::thread::spawn(move || write(&ours, "all of it"));
        std::thread::park_timeout(BETWEEN * 5);
        let mut text = String::new();
        let mut reader = File::open(&path).expect("somebody writes");
        reader.read_to_string(&mut text).expect("text");
        assert_eq!(text, "all of it");
        writing.join().expect("no panic").expect("written");
    }

    #[test]
    fn files_are_made_or_emptied() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        for text in ["longer", "short"] {
            write(&path, text).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("there"), text);
        }
        assert!(create(folder.path()).is_err(), "a folder");
    }

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("report.html");
        replace(&path, "one").expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("it is ours");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("report.html", &link).expect("there is room");
        replace(&link, "two").expect("written over");
        assert_eq!(fs::read_to_string(&path).expect("there"), "two");
        let mode = fs::metadata(&path).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "who could not read it still cannot");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
        assert!(replace(folder.path(), "a folder").is_err());
        assert!(replace(&folder.path().join("no/such"), "x").is_err());
        assert!(replace(&pipe(&folder), "nobody reads it").is_err());
    }

    #[test]
    fn a_file_that_is_being_written_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let mut first = create(&path).expect("made");
        first.write_all(b"rows").expect("written");
        let second = create(&path).expect_err("it has a writer");
        assert!(second.to_string().contains("another process"), "{second}");
        assert_eq!(fs::read_to_string(&path).expect("there"), "rows");
        drop(first);
        drop(create(&path).expect("its writer is gone"));
    }
}
