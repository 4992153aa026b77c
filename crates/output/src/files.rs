//! Files that are made to be written to, and named pipes in their place.
//!
//! Must not know what is written. Invariants: opening ends soon, also that of a pipe which nobody reads: whoever waits for
//! that cannot be stopped by a signal that something else handles; no two processes that make a file here write it at once.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// How often a pipe is tried whose reader may be about to come, as where both are started by one line.
#[cfg(unix)]
const TRIES: u32 = 100;
/// The time between two.
#[cfg(unix)]
const BETWEEN: std::time::Duration = std::time::Duration::from_millis(20);

/// Makes, or empties, a file; of a named pipe, opens the end that is written to.
///
/// # Errors
/// Those of the file system; a pipe that nobody has come to read within two seconds; a file that somebody else is writing.
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

/// Makes a file this process's to write, until it is closed; on a file system without locks, nothing.
///
/// # Errors
/// Another process writes it.
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

/// Puts a whole file into place in one step: at every instant its name leads to all of it or to what was there before,
/// also where two processes put theirs there at once. A symbolic link stays one, and what was there leaves its permissions
/// to the file; a device or a pipe takes what it is given.
///
/// # Errors
/// Those of the file system; what was there before is then still there.
pub fn replace(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes.as_ref()))
}

/// Replaces a file as [`replace`] does, by what `fill` writes.
pub(crate) fn replace_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let known = fs::metadata(path).ok();
    if known.as_ref().is_some_and(|known| !known.is_file()) {
        // A folder says what it is.
        return fill(&mut create(path)?);
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let temporary = beside(&path)?;
    // In a folder that others write to, a link of theirs may wait under this name.
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
    // The first error is the one worth telling.
    put().inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// A hidden name in the same folder that no other process takes.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names a folder, not a file",
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
            // Once more, so that writes wait for the reader; the first handle holds it meanwhile.
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
