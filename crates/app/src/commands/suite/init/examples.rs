//! Kits of `examples/`, written for users who want to try them.
//!
//! Must not know their content: they are the files of the repository. Invariant: either every file of a kit is
//! written, or no existing file is changed; a file with the same content counts as written.

use std::path::{Path, PathBuf};

use loadline_model::ExitCode;

use crate::Ending;

/// A kit: the presets that it shows, its suite, and its files with their paths.
struct Kit {
    presets: &'static [&'static str],
    folder: &'static str,
    suite: &'static str,
    /// A service that must run besides its testbed, with the command that starts it; `None`: there is none.
    beside: Option<(&'static str, &'static str)>,
    files: &'static [(&'static str, &'static str)],
}

macro_rules! example {
    ($file:literal) => {
        include_str!(concat!("../../../../../../examples/", $file))
    };
}

/// Files of a kit with their paths below `examples/`.
macro_rules! files {
    ($($file:literal),*) => {
        &[$(($file, example!($file))),*]
    };
}

const KITS: [Kit; 5] = [
    Kit {
        presets: &["component-resources"],
        folder: "httpbin-remote-write",
        suite: example!("httpbin-remote-write/suite.yaml"),
        beside: Some((
            "a Prometheus at localhost:9090 that accepts remote write (or K6_PROMETHEUS_RW_SERVER_URL names another)",
            "prometheus --web.enable-remote-write-receiver --enable-feature=native-histograms --config.file=FILE &",
        )),
        files: files![
            "httpbin-remote-write/testbed.yaml",
            "single-get.js",
            "lib/plan.js"
        ],
    },
    Kit {
        presets: &["gateway", "gateway-endurance"],
        folder: "soap-gateway",
        suite: example!("soap-gateway/suite.yaml"),
        beside: None,
        files: files![
            "soap-gateway/testbed.yaml",
            "soap-gateway/scenario.js",
            "soap-gateway/routes.toml"
        ],
    },
    Kit {
        presets: &["cold-and-sustained"],
        folder: "async-ingest",
        suite: example!("async-ingest/suite.yaml"),
        beside: None,
        files: files!["async-ingest/testbed.yaml"],
    },
    Kit {
        presets: &["client-location"],
        folder: "in-and-out",
        suite: example!("in-and-out/suite.yaml"),
        beside: None,
        files: files!["in-and-out/testbed.yaml"],
    },
    Kit {
        presets: &["replicas"],
        folder: "replicas",
        suite: example!("replicas/suite.yaml"),
        beside: None,
        files: files!["replicas/testbed.yaml"],
    },
];

/// Writes the kit of a preset into folders below that of `output`, or only its suite file to standard output.
///
/// # Errors
/// A file exists with other content, or cannot be written.
pub(super) fn write(preset: &str, output: &str, force: bool) -> Result<ExitCode, Ending> {
    let Some(kit) = KITS.iter().find(|kit| kit.presets.contains(&preset)) else {
        return Err(Ending::usage(&format!("{preset} has no example")));
    };
    if output == super::STDOUT {
        return Ok(Ending::answer(kit.suite).tell());
    }
    let below = Path::new(output).parent().unwrap_or(Path::new(""));
    write_kit(kit, below, force)?;
    Ok(Ending::answer(told(kit, below)).tell())
}

/// The existing files, and what is to be started, in order.
fn told(kit: &Kit, below: &Path) -> String {
    let folder = below.join(kit.folder);
    let folder = folder.display();
    let (needs, start) = match kit.beside {
        Some((what, start)) => (format!(" It needs {what}."), format!("  {start}\n")),
        None => Default::default(),
    };
    format!(
        "{folder}/suite.yaml and what it needs written.{needs} Start the services, then the suite:\n  \
         loadline target --config {folder}/testbed.yaml &\n{start}  loadline suite run {folder}/suite.yaml\n"
    )
}

fn write_kit(kit: &Kit, below: &Path, force: bool) -> Result<(), Ending> {
    let suite = format!("{}/suite.yaml", kit.folder);
    let files = kit
        .files
        .iter()
        .map(|(file, text)| (below.join(file), *text));
    let files: Vec<(PathBuf, &str)> = files.chain([(below.join(suite), kit.suite)]).collect();
    let is_other = |(path, text): &&(PathBuf, &str)| {
        let there = std::fs::read(path).ok();
        path.exists() && there.as_deref() != Some(text.as_bytes())
    };
    if let (Some((path, _)), false) = (files.iter().find(is_other), force) {
        return Err(Ending::usage(&format!(
            "{} already exists; overwrite it with --force, or change to another directory",
            path.display()
        )));
    }
    for (path, text) in files {
        let folder = path.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            Ending::usage(&format!(
                "cannot create {folder}: {error}; check its permissions"
            ))
        })?;
        super::put(&path, text.as_bytes(), true)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use loadline_suite::document::presets;

    use super::*;

    /// Users write such files by hand.
    #[test]
    fn suites_of_kits_are_short() {
        for kit in &KITS {
            let lines = kit.suite.lines().count();
            assert!(lines <= 40, "{}: {lines} lines", kit.folder);
        }
    }

    #[test]
    fn what_a_kit_needs_besides_its_testbed_is_told() {
        for kit in &KITS {
            let told = told(kit, Path::new("here"));
            let is_told = told.contains("It needs a Prometheus at localhost:9090");
            let needs = kit.suite.contains("prometheus-rw");
            assert_eq!(is_told, needs, "{told}");
            let last = format!("\n  loadline suite run here/{}/suite.yaml\n", kit.folder);
            assert!(told.ends_with(&last), "{told}");
        }
    }

    #[test]
    fn every_preset_has_an_example_that_is_whole() {
        for preset in presets::names() {
            let folder = tempfile::tempdir().expect("a folder");
            let kit = KITS.iter().find(|kit| kit.presets.contains(&preset));
            let kit = kit.unwrap_or_else(|| panic!("{preset} has no example"));
            write_kit(kit, folder.path(), false).expect(preset);
            write_kit(kit, folder.path(), false).expect("what is there is the same");
            let suite = folder.path().join(kit.folder).join("suite.yaml");
            let args = crate::cli::SuiteFileArgs {
                file: suite.clone(),
                state: None,
            };
            let planned = super::super::super::Suite::open(&args, &crate::Env::of_process());
            assert!(
                planned.is_ok(),
                "{preset}: {}",
                planned.err().expect("an error")
            );
            std::fs::write(&suite, "mine").expect("there is room");
            let ending = write_kit(kit, folder.path(), false).expect_err("it is mine");
            assert!(ending.err.contains("--force"), "{}", ending.err);
        }
    }
}
