//! `install.sh` with a folder that contains a release as made by `cargo xtask dist`, with programs that only
//! print a version.
//!
//! Must not know the network. Invariant: nothing outside of a test's own folder is written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{CHECKSUMS, COMPLETIONS, LICENCES, Part, archive, checksum, text};
use crate::workspace::root;

/// A release of these parts in a folder, where the script looks for the latest.
fn release(folder: &Path, parts: &[Part]) -> PathBuf {
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let name = format!("loadline-1.2.3-{target}");
    let bytes = archive(&name, parts).expect("it can be packed");
    let place = folder.join("releases/latest/download");
    fs::create_dir_all(&place).expect("there is room");
    let name = format!("{name}.tar.gz");
    fs::write(place.join(&name), &bytes).expect("there is room");
    let other = checksum("loadline-1.2.3-of-another.tar.gz", b"");
    let sums = [other, checksum(&name, &bytes)].concat();
    fs::write(place.join(CHECKSUMS), sums).expect("there is room");
    place.join(name)
}

fn parts() -> Vec<Part> {
    let program = |path: &str| Part {
        is_program: true,
        ..text(path, format!("#!/bin/sh\necho {path} 1.2.3\n"))
    };
    let mut parts = vec![program("loadline"), program("loadline-operator")];
    let pages = ["LICENSE", LICENCES, "man/loadline.1", "man/loadline-run.1"];
    let completions = COMPLETIONS.map(|(_, path)| path);
    let texts = pages.iter().chain(&completions);
    parts.extend(texts.map(|path| text(path, format!("{path}\n"))));
    parts
}

fn installed(folder: &Path) -> Output {
    Command::new("sh")
        .arg(root().join("install.sh"))
        .env(
            "LOADLINE_RELEASES",
            format!("file://{}/releases", folder.display()),
        )
        .env("LOADLINE_PREFIX", folder.join("prefix"))
        .env_remove("LOADLINE_VERSION")
        .output()
        .expect("there is a shell")
}

#[test]
fn all_parts_of_a_release_are_installed() {
    let folder = tempfile::tempdir().expect("there is room");
    release(folder.path(), &parts());
    let output = installed(folder.path());
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(told.starts_with("installed loadline 1.2.3 in "), "{told}");
    assert!(told.contains("add it to your PATH"), "{told}");
    for (path, holds) in [
        ("share/man/man1/loadline.1", "man/loadline.1"),
        ("share/man/man1/loadline-run.1", "man/loadline-run.1"),
        (
            "share/bash-completion/completions/loadline",
            "completions/loadline.bash",
        ),
        (
            "share/zsh/site-functions/_loadline",
            "completions/_loadline",
        ),
        (
            "share/fish/vendor_completions.d/loadline.fish",
            "completions/loadline.fish",
        ),
        ("share/doc/loadline/LICENSE", "LICENSE"),
        ("share/doc/loadline/THIRD-PARTY-LICENSES.txt", LICENCES),
    ] {
        let found = fs::read_to_string(folder.path().join("prefix").join(path));
        assert_eq!(found.expect(path), format!("{holds}\n"));
    }
    let operator = folder.path().join("prefix/bin/loadline-operator");
    let told = Command::new(operator).output().expect("it can be run");
    assert_eq!(told.stdout, b"loadline-operator 1.2.3\n");
}

#[test]
fn an_archive_with_a_wrong_checksum_is_not_installed() {
    let folder = tempfile::tempdir().expect("there is room");
    let archive = release(folder.path(), &parts());
    fs::write(archive, "something else").expect("there is room");
    let output = installed(folder.path());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success());
    assert!(told.contains("the checksum of"), "{told}");
    assert!(!folder.path().join("prefix").exists());
}

#[test]
fn the_readme_has_the_line_that_the_script_names() {
    let read = |path: &str| fs::read_to_string(root().join(path)).expect(path);
    let script = read("install.sh");
    let line = script
        .lines()
        .find(|line| line.contains("curl -fsSL https"));
    let line = line.expect("the line").trim_start_matches('#').trim();
    assert!(read("README.md").contains(line), "{line}");
}
