//! The folder for files that a user's runs leave behind: journals, the result of the demo.
//!
//! Must not know what is stored there. Invariant: a folder created here is accessible to the user only.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};

use crate::Env;

/// The folder: `$LOADLINE_STATE`, otherwise `loadline` in the user's state folder; the folder for temporary
/// files if neither is available.
pub(crate) fn of(env: &Env) -> PathBuf {
    if let Some(folder) = env.get("LOADLINE_STATE") {
        let folder = PathBuf::from(folder);
        // Whoever fails to write into it reports the system's reason.
        let _ = make(&folder);
        return folder;
    }
    let own = env.user_folder("XDG_STATE_HOME", ".local/state");
    let own = own.map(|base| base.join("loadline"));
    own.filter(|folder| make(folder).is_ok())
        .unwrap_or_else(std::env::temp_dir)
}

/// Creates a folder and its parents, for the user only.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_folder_comes_before_the_shared_one() {
        let base = tempfile::tempdir().expect("a folder");
        let text = base.path().to_str().expect("a path of text");
        let named = base.path().join("a/named");
        let name = named.to_str().expect("a path of text");
        let both = Env::from([("LOADLINE_STATE", name), ("XDG_STATE_HOME", text)]);
        assert_eq!(of(&both), named);
        assert!(named.is_dir());
        let impossible = Env::from([("LOADLINE_STATE", "/proc/nowhere")]);
        assert_eq!(of(&impossible), Path::new("/proc/nowhere"));
        let state = of(&Env::from([("XDG_STATE_HOME", text)]));
        assert_eq!(state, base.path().join("loadline"));
        let home = of(&Env::from([("HOME", text)]));
        assert_eq!(home, base.path().join(".local/state/loadline"));
        for nowhere in ["/proc/nowhere", "relative"] {
            let folder = of(&Env::from([("XDG_STATE_HOME", nowhere)]));
            assert_eq!(folder, std::env::temp_dir());
        }
        #[cfg(unix)]
        for folder in [state, home] {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = folder.metadata().expect("it was made").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
    }
}
