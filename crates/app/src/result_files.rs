//! The files to which a result is written: checked before a run, and written after it.
//!
//! Must not know the run. Invariants: foreseeable failures are refused before anything is sent, and leave files
//! untouched; at the end every file is tried, whatever happened to the others, and every failure is reported;
//! measurements are written before drawings, so that they survive if the process is killed.

use std::fmt::Display;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use loadline_model::result::RunResult;
use loadline_output::json;

use crate::environment::RESULT_FILE;
use crate::{Env, charts, pages};

/// The files of one result.
#[derive(Default)]
pub(crate) struct ResultFiles<'a> {
    /// HTML reports.
    pub(crate) reports: Vec<&'a str>,
    /// The folder of charts; `None`: there are none.
    pub(crate) charts: Option<&'a Path>,
    /// JSON results, each with the name of the option that requests it.
    pub(crate) json: Vec<(&'static str, &'a str)>,
    /// Whether the JSON results contain histograms in HDR format.
    pub(crate) hdr: bool,
}

impl<'a> ResultFiles<'a> {
    /// The file that the environment names for the result of every run, whatever the command.
    pub(crate) fn of_env(env: &'a Env) -> ResultFiles<'a> {
        let asked = env.get(RESULT_FILE).map(|path| (RESULT_FILE, path));
        ResultFiles {
            json: asked.into_iter().collect(),
            ..ResultFiles::default()
        }
    }

    /// Refuses files that cannot be written.
    ///
    /// # Errors
    /// The file and the reason, as a message for the user.
    pub(crate) fn check(&self) -> Result<(), String> {
        let reports = self.reports.iter().map(|path| ("--report", *path));
        for (option, path) in reports.chain(self.json.iter().copied()) {
            check_file(option, Path::new(path))?;
        }
        self.charts.map_or(Ok(()), charts::prepare)
    }

    /// Writes all files; returns the failures, as messages for the user.
    pub(crate) fn write(&self, result: &RunResult) -> Vec<String> {
        let mut failures = Vec::new();
        let options = json::Options {
            hdr: self.hdr,
            ..json::Options::default()
        };
        for (option, path) in &self.json {
            let saved = json::save(Path::new(path), result, options);
            failures.extend(
                saved
                    .err()
                    .map(|error| format!("{option}: cannot write {path}: {error}")),
            );
        }
        for path in &self.reports {
            let saved = pages::save(path, result);
            failures.extend(saved.err().map(|why| format!("--report: {why}")));
        }
        if let Some(folder) = self.charts {
            failures.extend(charts::save(folder, result).err());
        }
        failures
    }
}

/// Refuses a file that cannot be written, as far as this is visible without touching it.
///
/// # Errors
/// The reason, as a message for the user.
pub(crate) fn check_file(option: &str, path: &Path) -> Result<(), String> {
    let refused = |why: &dyn Display| {
        let path = path.display();
        Err(format!(
            "{option}: {path} cannot be written: {why}; choose a file in a writable directory"
        ))
    };
    if path == Path::new("-") {
        return refused(&"- would be a file of this name (./- names it)");
    }
    match fs::metadata(path) {
        Ok(known) if known.is_dir() => return refused(&"it is a directory"),
        // A device or a pipe accepts anything.
        Ok(known) if !known.is_file() => return Ok(()),
        _ => {}
    }
    // The result is written next to an existing file, and then replaces it.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let probe = path.with_file_name(format!(".loadline-{}.tmp", std::process::id()));
    match File::create_new(&probe) {
        Ok(_) => {
            // If something else removed the file, that is fine too.
            let _ = fs::remove_file(&probe);
            Ok(())
        }
        Err(error) => refused(&error),
    }
}

/// Refuses the same file for two outputs; each is given with the name of the option that requests it.
///
/// # Errors
/// The two outputs, as a message for the user.
pub(crate) fn check_apart<'a>(
    outputs: impl IntoIterator<Item = (String, &'a str)>,
) -> Result<(), String> {
    let mut known: Vec<(String, PathBuf)> = Vec::new();
    for (option, path) in outputs {
        let Some(place) = place_of(path) else {
            continue;
        };
        if let Some((other, _)) = known.iter().find(|(_, known)| *known == place) {
            return Err(format!(
                "{other} and {option} name the same file, {path}; use a separate file for each"
            ));
        }
        known.push((option, place));
    }
    Ok(())
}

/// The location of a file that exists or is to be created; `None`: several outputs may write to it.
fn place_of(path: &str) -> Option<PathBuf> {
    let given = Path::new(path);
    match fs::metadata(given) {
        Ok(known) => known.is_file().then(|| fs::canonicalize(given).ok())?,
        Err(_) if path == "-" => None,
        Err(_) => {
            let folder = given
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
            Some(folder.join(given.file_name()?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_looked_at_and_left_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("there.json");
        fs::write(&there, "before").expect("written");
        for path in [there.clone(), folder.path().join("new.json")] {
            check_file("--json", &path).expect("it can be written");
        }
        assert_eq!(fs::read_to_string(&there).expect("there"), "before");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        for (path, why) in [
            (folder.path().to_path_buf(), "it is a directory"),
            (folder.path().join("no/such.json"), "No such file"),
            (PathBuf::from("-"), "./-"),
        ] {
            let told = check_file("--report", &path).expect_err("it cannot be written");
            assert!(
                told.starts_with("--report: ") && told.contains(why),
                "{told}"
            );
        }
    }

    #[test]
    fn two_outputs_have_two_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (one, same, other) = (path("x"), path("./x"), path("y"));
        let named = |paths: [&String; 2]| {
            let options = ["--json", "--csv"].map(str::to_owned);
            check_apart(options.into_iter().zip(paths.map(String::as_str)))
        };
        assert_eq!(named([&one, &other]), Ok(()));
        let told = named([&one, &same]).expect_err("it is the same");
        assert!(
            told.starts_with("--json and --csv name the same file"),
            "{told}"
        );
        fs::write(&one, "").expect("written");
        assert!(named([&one, &same]).is_err());
        let null = "/dev/null".to_owned();
        assert_eq!(named([&null, &null]), Ok(()), "a device takes what comes");
    }
}
