//! The basic behaviour of the binary: what it prints about itself, and how it refuses invalid input.
//!
//! Must not know what any command does. Invariant: reports go to standard output, errors to standard error, and
//! the exit code distinguishes them.

use loadline_e2e::run;

/// The exit code of a usage error, as in k6.
const USAGE: i32 = 104;

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_version_is_told_on_standard_output() {
    let output = run(["--version"]);
    let version = concat!("loadline ", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).lines().next(),
        Some(version)
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn help_names_the_commands_and_succeeds() {
    let output = run(["--help"]);
    let text = String::from_utf8_lossy(&output.stdout);
    for command in ["bench", "target", "demo"] {
        assert!(text.contains(command), "{command} is not in:\n{text}");
    }
    assert_eq!(output.status.code(), Some(0));
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn nonsense_is_refused_before_anything_runs() {
    for arguments in [
        ["no-such-command"].as_slice(),
        &["bench"],
        &["bench", "--no-such-option"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(USAGE), "{arguments:?}");
        assert!(
            output.stdout.is_empty(),
            "{arguments:?} wrote to standard output"
        );
        assert!(
            !output.stderr.is_empty(),
            "{arguments:?} was refused without a word"
        );
    }
}
