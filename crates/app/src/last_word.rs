//! What a run leaves for whoever looks after its container: its figures as the container's last word, and a mark while it is at work.
//!
//! Must not know who reads them. Invariants: what cannot be written changes nothing but the log; the mark is there from before the
//! first line of work, and its lock ends with the process, however that ends.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use loadline_model::{Figures, RunResult};

use crate::Env;
use crate::terminal::print;

/// Names the file of the container's last word: its `terminationMessagePath`.
const LAST_WORD_FILE: &str = "LOADLINE_TERMINATION_LOG";
/// Names the file that is locked while this process is there.
const AT_WORK_FILE: &str = "LOADLINE_AT_WORK";
/// Most bytes of a last word: the kubelet keeps 12 KiB of all containers of a pod, and a mesh adds two to ours.
const LAST_WORD_MAX: usize = 3 << 10;

/// Leaves the figures of a result where the environment says. `interrupted`: iterations that were cut short; `error`: what went wrong.
pub(crate) fn leave(env: &Env, result: &RunResult, interrupted: u64, error: Option<String>) {
    let Some(path) = env.get(LAST_WORD_FILE) else {
        return;
    };
    let mut figures = Figures::of(result);
    if let Some(iterations) = &mut figures.iterations {
        iterations.interrupted = interrupted;
    }
    figures.error = error;
    // The file is the kubelet's: it is written to, and neither made nor replaced.
    let opened = File::options().write(true).truncate(true).open(path);
    let text = figures.within(LAST_WORD_MAX);
    let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
    if let Err(error) = written {
        print::to_stderr(&format!(
            "{LAST_WORD_FILE}: the figures of the test are not in {path}: {error}\n"
        ));
    }
}

/// Tells by a lock that this process is at work, where the environment wants it; held until it is dropped.
pub(crate) fn mark_at_work(env: &Env) -> Option<File> {
    // One that is there is that of the process that started this one.
    let path = env
        .get(AT_WORK_FILE)
        .filter(|path| !Path::new(path).exists())?;
    let marked = mark(Path::new(path));
    let told = |error: &io::Error| {
        print::to_stderr(&format!("{AT_WORK_FILE}: {path} is not locked: {error}\n"));
    };
    marked.inspect_err(told).ok()
}

/// A file that is locked from the moment that it has its name.
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
