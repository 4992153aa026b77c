//! Man pages: one for `loadline` and one for each command.
//!
//! Must not know any option: they come from their declarations. Invariant: hidden commands have no page.

use std::path::Path;

use loadline_model::ExitCode;

use super::tree;
use crate::Ending;
use crate::k6::Identity;

/// Writes the pages into a folder, which is created.
///
/// # Errors
/// A page could not be written.
pub(super) fn write(folder: &Path) -> Result<ExitCode, Ending> {
    let unwritten = |error| {
        let told = format!("{}: {error}", folder.display());
        Ending::refusal(ExitCode::Other, &told)
    };
    std::fs::create_dir_all(folder).map_err(unwritten)?;
    clap_mangen::generate_to(tree::of(Identity::Loadline), folder).map_err(unwritten)?;
    Ok(ExitCode::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_page() {
        let folder = tempfile::tempdir().expect("there is room");
        write(folder.path()).expect("it can be written");
        for (page, word) in [
            ("loadline.1", "capacity"),
            ("loadline-bench.1", "threshold"),
            ("loadline-run.1", "summary\\-trend\\-stats"),
            ("loadline-suite-init.1", "preset"),
        ] {
            let text = std::fs::read_to_string(folder.path().join(page)).expect(page);
            assert!(text.contains(word), "{page}: {word}");
        }
        assert!(!folder.path().join("loadline-internal-docs.1").exists());
    }
}
