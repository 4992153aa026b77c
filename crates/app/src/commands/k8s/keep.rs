//! The container next to a coordinator: waits for its end, and passes its result on, as a parcel in its own
//! log, to a folder or to an object store.
//!
//! A log can leave a pod without a network, a port or a token. Must not know the cluster. Invariant: it ends
//! after the coordinator, however that ended.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use loadline_model::{ExitCode, KeptFile, ObjectFolder, Parcel, parcel};
use loadline_output::json;

use super::left::{self, Left};
use super::store;
use crate::cli::k8s::{K8sKeepArgs, K8sLeftArgs};
use crate::terminal::print;
use crate::{Ending, Env};

/// Interval for checking whether the coordinator has started.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Maximum number of these checks: containers of a pod start within seconds of each other if the image is
/// present.
const LOOKS_MAX: u32 = 600;

/// The outcome of passing the result on.
#[derive(Debug, Default, PartialEq, Eq)]
struct Handed {
    /// For the log: the parcel, or that a folder or a store received the files.
    parcel: String,
    /// Additional notes for readers of the log.
    notes: Vec<String>,
}

/// Waits for the coordinator's end, and passes its result on.
///
/// # Errors
/// The result cannot be read or written.
pub(super) fn keep(args: &K8sKeepArgs, env: &Env) -> Result<ExitCode, Ending> {
    let handed = hand_on(args, env)?;
    for note in &handed.notes {
        print::to_stderr(&format!("{note}\n"));
    }
    // A pod whose coordinator succeeded must succeed too, wherever the result is: otherwise the test would be
    // run again.
    Ok(Ending::answer(handed.parcel).tell())
}

fn hand_on(args: &K8sKeepArgs, env: &Env) -> Result<Handed, Ending> {
    let mut handed = Handed::default();
    handed.notes.extend(wait_for_end(&args.at_work));
    let left = left(&args.left, &mut handed.notes)?;
    if left.files().next().is_none() {
        handed.parcel = Parcel::lines(&[]);
        return Ok(handed);
    }
    if let Some(to) = &args.to {
        let written = match ObjectFolder::read(to, "") {
            Some(folder) => store::put(env, args.authority.as_deref(), &folder, &left),
            None => write(Path::new(to), &left).map_err(|error| format!("{to}: {error}")),
        };
        match written {
            Ok(()) => {
                handed.parcel = format!("{}\n", parcel::WRITTEN);
                return Ok(handed);
            }
            // The log receives what volume and store do not accept.
            Err(why) => handed.notes.insert(0, format!("not written to {why}")),
        }
    }
    let files = packed(&left, &mut handed.notes);
    handed.parcel = Parcel::lines(&files.map_err(|error| {
        Ending::refusal(
            ExitCode::Other,
            &format!("the result cannot be read: {error}"),
        )
    })?);
    Ok(handed)
}

/// The files at the end.
fn left(args: &K8sLeftArgs, notes: &mut Vec<String>) -> Result<Left, Ending> {
    let refused = |path: &Path, error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(Left::default()),
        _ => {
            let why = format!("{}: {error}", path.display());
            Err(Ending::refusal(ExitCode::Other, &why))
        }
    };
    if let Some(folder) = &args.suite {
        return Left::of_suite(folder).or_else(|error| refused(folder, error));
    }
    let path = args.result.as_deref().unwrap_or(Path::new(""));
    let result = match fs::read(path) {
        Ok(result) => result,
        Err(error) => return refused(path, error),
    };
    let page = json::decode(&result).map(|result| loadline_report::html::report(&result));
    // A result that this version cannot render is stored anyway.
    let page = page.map_err(|error| notes.push(format!("no report: {error}")));
    Ok(Left::of_test(result, page.ok()))
}

/// Waits until the lock is released; if it is never taken, for a minute. Returns the error.
#[expect(
    clippy::disallowed_methods,
    reason = "what a container that has not begun will do is told by nothing"
)]
fn wait_for_end(at_work: &Path) -> Option<String> {
    for _ in 0..LOOKS_MAX {
        if let Ok(mark) = File::open(at_work) {
            // The system releases the lock of a process that has ended.
            let locked = mark.lock_shared();
            return locked
                .err()
                .map(|error| format!("{}: {error}", at_work.display()));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Some("the coordinator's container does not start".to_owned())
}

/// As many files as there is room for.
fn packed(left: &Left, notes: &mut Vec<String>) -> io::Result<Vec<(KeptFile, Vec<u8>)>> {
    let mut files = Vec::new();
    let mut room = parcel::FILES_MAX;
    for part in left.packed(parcel::FILES_MAX) {
        let (file, bytes) = part?;
        match room.checked_sub(bytes.len()) {
            Some(rest) => {
                room = rest;
                files.push((file, bytes));
            }
            None => notes.push(format!(
                "{} does not fit into the log: keep results on a volume, volumeClaim/NAME, or in an object store",
                file.packed_name(),
            )),
        }
    }
    Ok(files)
}

fn write(folder: &Path, left: &Left) -> io::Result<()> {
    left.files().try_for_each(|file| {
        left::write(folder, &file.name, &file.read()?)?;
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(folder: &Path, to: Option<&Path>) -> K8sKeepArgs {
        K8sKeepArgs {
            at_work: folder.join("at-work"),
            left: K8sLeftArgs {
                result: Some(folder.join("result.json")),
                suite: None,
            },
            to: to.map(|to| to.display().to_string()),
            authority: None,
        }
    }

    #[test]
    fn what_a_coordinator_left_is_handed_on_at_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        let held = File::create(folder.join("at-work")).expect("a file");
        held.lock().expect("nobody has it");
        let result = folder.join("result.json");
        let at_work = std::thread::spawn(move || {
            fs::write(result, "{}").expect("a file");
            drop(held);
        });
        let handed = hand_on(&args(folder, None), &Env::default()).expect("handed on");
        at_work.join().expect("it ends");
        assert!(handed.notes[0].starts_with("no report"), "{handed:?}");
        let parcel = Parcel::read(&handed.parcel).expect("a parcel");
        assert!(parcel.is_whole && parcel.file(KeptFile::Report).is_none());
        let packed = parcel.file(KeptFile::Result).expect("the result");
        assert_eq!(left::unpack(packed).expect("gzip"), b"{}");

        let to = folder.join("a/b");
        let handed = hand_on(&args(folder, Some(&to)), &Env::default()).expect("written");
        assert_eq!(handed.parcel, format!("{}\n", parcel::WRITTEN));
        assert_eq!(fs::read(to.join("result.json")).expect("there"), b"{}");
    }

    #[test]
    fn the_log_takes_what_a_folder_does_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        for (name, text) in [("at-work", ""), ("result.json", "{}"), ("file", "")] {
            fs::write(folder.join(name), text).expect("a file");
        }
        let handed = hand_on(&args(folder, Some(&folder.join("file/a"))), &Env::default())
            .expect("handed on");
        assert!(handed.notes[0].starts_with("not written to "), "{handed:?}");
        let parcel = Parcel::read(&handed.parcel).expect("a parcel");
        assert!(parcel.file(KeptFile::Result).is_some());

        let to = Path::new("s3://bucket/a");
        let handed = hand_on(&args(folder, Some(to)), &Env::default()).expect("handed on");
        assert_eq!(
            handed.notes[0],
            "not written to s3://bucket/a: AWS_ACCESS_KEY_ID is not set"
        );
    }

    #[test]
    fn a_coordinator_that_left_nothing_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        File::create(folder.path().join("at-work")).expect("a file");
        let handed =
            hand_on(&args(folder.path(), None), &Env::default()).expect("nothing is no error");
        let parcel = Parcel::read(&handed.parcel).expect("a parcel");
        assert!(parcel.is_whole && parcel.files.is_empty());
    }
}
