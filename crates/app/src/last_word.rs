//! What a run provides for the supervisor of its container: its figures as the container's termination message,
//! and a lock while it runs.
//!
//! Must not know who reads them. Invariants: a failed write only affects the log; the lock exists before any
//! work is done, and ends with the process, however that ends.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use loadline_model::{Figures, RunResult};

use crate::Env;
use crate::terminal::print;

/// Names the file of the container's termination message: its `terminationMessagePath`.
const LAST_WORD_FILE: &str = "LOADLINE_TERMINATION_LOG";
/// Names the file that is locked while this process exists.
const AT_WORK_FILE: &str = "LOADLINE_AT_WORK";
/// Maximum size of a termination message in bytes: the kubelet keeps 12 KiB for all containers of a pod, and a
/// mesh adds two to ours.
const LAST_WORD_MAX: usize = 3 << 10;

/// Writes the figures of a result where the environment says. `interrupted`: iterations that were cut short;
/// `error`: the error of the run.
pub(crate) fn leave(env: &Env, result: &RunResult, interrupted: u64, error: Option<String>) {
    let Some(path) = env.get(LAST_WORD_FILE) else {
        return;
    };
    let mut figures = Figures::of(result);
    if let Some(iterations) = &mut figures.iterations {
        iterations.interrupted = interrupted;
    }
    figures.error = error;
    // The file belongs to the kubelet: it is written to, but never created or replaced.
    let opened = File::options().write(true).truncate(true).open(path);
    let text = figures.within(LAST_WORD_MAX);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(error) = written {
        print::to_stderr(&format!(
            "{LAST_WORD_FILE}: the figures of the test are not in {path}: {error}\n"
        ));
    }
}

/// Locks a file while this process runs, if the environment requires it; the lock is held until it is dropped.
pub(crate) fn mark_at_work(env: &Env) -> Option<File> {
    // An existing file belongs to the process that started this one.
    let path = env
        .get(AT_WORK_FILE)
        .filter(|path| !Path::new(path).exists())?;
    let marked = mark(Path::new(path));
    let told = |error: &io::Error| {
        print::to_stderr(&format!("{AT_WORK_FILE}: {path} is not locked: {error}\n"));
    };
    marked.inspect_err(told).ok()
}

/// A file that is already locked when it gets its name.
fn mark(path: &Path) -> io::Result<File> {
    let unnamed = path.with_extension("new");
    let file = File::create(&unnamed)?;
    file.lock()?;
    fs::rename(&unnamed, path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::fs::TryLockError;

    use super::*;

    #[test]
    fn a_mark_is_locked_as_long_as_it_is_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("at-work");
        let env = Env::from([(AT_WORK_FILE, path.to_str().expect("text"))]);
        let held = mark_at_work(&env).expect("it can be locked");
        assert!(
            mark_at_work(&env).is_none(),
            "a process of this one leaves it alone"
        );
        let other = File::open(&path).expect("it is there");
        assert!(matches!(
            other.try_lock_shared(),
            Err(TryLockError::WouldBlock)
        ));
        drop(held);
        assert!(other.try_lock_shared().is_ok());
        assert!(mark_at_work(&Env::default()).is_none());
    }
}
