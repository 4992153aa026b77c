//! Starts other programs: finds them, and runs them with their output shown or captured.
//!
//! Must not know the purpose of the programs. Invariant: a program that could not start or that failed is an
//! error which names it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;

/// The first existing file called `program` in PATH, otherwise in the usual folders of Go and Cargo installs
/// and in the folders listed in `LOADLINE_PEERS`.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    search_path()
        .into_iter()
        .map(|folder| folder.join(program))
        .find(|path| path.is_file())
}

fn search_path() -> Vec<PathBuf> {
    let listed = |name: &str| std::env::var_os(name).unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&listed("LOADLINE_PEERS")).collect();
    folders.extend(std::env::split_paths(&listed("PATH")));
    if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
        folders.push(home.join("go/bin"));
        folders.push(home.join(".cargo/bin"));
    }
    // Debian's folder of servers, which is not in an ordinary user's PATH.
    folders.push(PathBuf::from("/usr/sbin"));
    folders
}

/// `cargo` of the toolchain that runs xtask, in `root`.
///
/// The variables that cargo sets for the program it runs are removed: build scripts that watch them would
/// otherwise run again each time the caller switches between `cargo` and `cargo xtask`.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root).args(arguments);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Prints the command line, then runs it with its output on xtask's streams.
///
/// # Errors
/// The program could not start, or ended with a non-zero code.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    announce(command);
    let status = command
        .status()
        .map_err(|error| could_not_start(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed: {status}", name_of(command)))
    }
}

/// Runs the command and returns its standard output; its standard error is printed.
///
/// # Errors
/// The program could not start, failed, or wrote something that is not UTF-8.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| could_not_start(command, &error))?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", name_of(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} wrote no UTF-8", name_of(command)))
}

/// Runs the command, prints both its streams in the order they were written, and passes each line on. Returns
/// whether it succeeded.
///
/// # Errors
/// The program could not start, or its output could not be read.
pub(crate) fn watch(command: &mut Command, mut line: impl FnMut(&str)) -> Result<bool> {
    announce(command);
    lines(command, |text| {
        println!("{text}");
        line(text);
    })
}

/// Like [`watch`], without printing.
///
/// # Errors
/// The program could not start, or its output could not be read.
pub(crate) fn lines(command: &mut Command, mut line: impl FnMut(&str)) -> Result<bool> {
    let (reader, writer) = std::io::pipe().map_err(|error| format!("no pipe: {error}"))?;
    let second = writer
        .try_clone()
        .map_err(|error| format!("no pipe: {error}"))?;
    command.stdout(writer).stderr(second);
    let mut child = command
        .spawn()
        .map_err(|error| could_not_start(command, &error))?;
    // The command holds the writing ends; the pipe only ends when they are closed here too.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    for bytes in BufReader::new(reader).split(b'\n') {
        let bytes = bytes.map_err(|error| format!("{}: {error}", name_of(command)))?;
        line(&String::from_utf8_lossy(&bytes));
    }
    let status = child
        .wait()
        .map_err(|error| format!("{}: {error}", name_of(command)))?;
    Ok(status.success())
}

fn announce(command: &Command) {
    let arguments: Vec<_> = command
        .get_args()
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    println!("$ {} {}", name_of(command), arguments.join(" "));
}

fn name_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program
        .file_name()
        .unwrap_or(program.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn could_not_start(command: &Command, error: &std::io::Error) -> String {
    format!("{} could not start: {error}", name_of(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watch_sees_both_streams_and_the_outcome() {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; exit 3"]);
        let succeeded = watch(&mut command, |line| lines.push(line.to_owned()));
        assert_eq!(succeeded, Ok(false));
        assert_eq!(lines, ["one", "two"]);
    }

    #[test]
    fn failure_names_the_program() {
        let error = run(Command::new("sh").args(["-c", "exit 7"])).expect_err("it exits with 7");
        assert!(error.starts_with("sh failed"), "{error}");
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-program-has-this-name"), None);
    }
}
