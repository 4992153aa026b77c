//! The Kubernetes lab of `xtask/kube-lab`: a real API server on this machine, whose pods are processes.
//!
//! Must not know the tests. Invariants: what is started is ended, however the tests end; tests that were not run are counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Outcome, ignored_tests};
use crate::workspace::{self, root};
use crate::{Result, exec};

/// Set to 1, the lab's programs are built where they are not there yet.
const BUILD: &str = "LOADLINE_KUBE_LAB_BUILD";
/// Ports of this run's lab, beside the one that somebody may have started by hand.
const PORTS: [(&str, &str); 2] = [
    ("API_PORT_CONTROL", "26443"),
    ("ETCD_PORT_CONTROL", "22379"),
];

/// Begins to build the lab's programs in the background, where that is wanted: the step that uses them waits for them.
pub(super) fn build() -> Result<Outcome> {
    match State::now() {
        State::Built => Ok(Outcome::Passed),
        State::Wanted => {
            let mut build = script("build.sh");
            let started = build.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
            started.map_err(|error| format!("the lab cannot be built: {error}"))?;
            println!("it is built in the background: 12 minutes of processor time, once");
            Ok(Outcome::Passed)
        }
        State::Missing(why) => Ok(Outcome::Skipped(why)),
    }
}

/// Runs the tests that want a cluster.
pub(super) fn step() -> Result<Outcome> {
    if let State::Missing(why) = State::now() {
        let why = format!(
            "{} tests not run: {why}",
            count_tests(&root().join("crates"))?
        );
        println!("NOTE: {why}");
        return Ok(Outcome::Skipped(why));
    }
    let lab = Lab::up(&workspace::release_binary()?)?;
    ignored_tests("lab_*", &lab.environment)
}

/// Whether there is a lab.
enum State {
    Built,
    /// It is to be built.
    Wanted,
    /// It is not, and why.
    Missing(String),
}

impl State {
    fn now() -> State {
        for (program, name) in [
            ("go", "Go"),
            ("openssl", "openssl"),
            ("bwrap", "bubblewrap"),
        ] {
            if exec::find(program).is_none() {
                return State::Missing(format!("the Kubernetes lab wants {name}"));
            }
        }
        let mut look = Command::new("bash");
        look.args(["-c", ". ./lib.sh; [ -x \"$BIN/proclet\" ]"])
            .current_dir(folder())
            .stdin(Stdio::null());
        if look.status().is_ok_and(|status| status.success()) {
            return State::Built;
        }
        match std::env::var(BUILD).as_deref() {
            Ok("1") => State::Wanted,
            _ => State::Missing(format!(
                "the Kubernetes lab is not built; {BUILD}=1 builds it, in 12 minutes of processor time"
            )),
        }
    }
}

/// A lab that is up; dropped, it is ended.
struct Lab {
    folder: PathBuf,
    /// What programs need to find it.
    environment: Vec<(String, String)>,
}

impl Lab {
    fn up(binary: &Path) -> Result<Lab> {
        let name = format!("loadline-lab-{}", std::process::id());
        let mut lab = Lab {
            folder: std::env::temp_dir().join(name),
            environment: Vec::new(),
        };
        let image = format!("loadline:dev={}", binary.display());
        let mut up = lab.script("up.sh");
        let told = exec::capture(up.env("LAB_IMAGES", image))?;
        lab.environment = exported(&told);
        lab.environment
            .push(("LOADLINE_KUBE_LAB".to_owned(), "1".to_owned()));
        Ok(lab)
    }

    fn script(&self, name: &str) -> Command {
        let mut command = script(name);
        command.arg("control").env("RUN", &self.folder).envs(PORTS);
        command
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Err(error) = exec::run(&mut self.script("down.sh")) {
            eprintln!("the lab is not ended: {error}");
        }
    }
}

fn folder() -> PathBuf {
    root().join("xtask/kube-lab")
}

fn script(name: &str) -> Command {
    let mut command = Command::new(folder().join(name));
    command.current_dir(folder());
    command
}

/// The variables that a script tells a shell to set; `$PATH` in them is ours.
fn exported(told: &str) -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let lines = told.lines().filter_map(|line| line.strip_prefix("export "));
    let set = lines.filter_map(|line| line.split_once('='));
    set.map(|(name, value)| (name.to_owned(), value.replace("$PATH", &path)))
        .collect()
}

/// How many tests the suites have that want a lab.
fn count_tests(crates: &Path) -> Result<usize> {
    let unread = |error| format!("{}: {error}", crates.display());
    let mut count = 0;
    for one in fs::read_dir(crates).map_err(unread)? {
        let suites = one.map_err(unread)?.path().join("tests");
        // Most crates have none.
        for suite in fs::read_dir(suites).into_iter().flatten().flatten() {
            if suite.file_name().to_string_lossy().starts_with("lab_") {
                let text = fs::read_to_string(suite.path()).unwrap_or_default();
                count += text.matches("#[test]").count() + text.matches("#[tokio::test").count();
            }
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_lab_exports_is_taken_over() {
        let told = "export KUBECONFIG=/run/admin\nexport PATH=/bin-of-lab:$PATH\n# a word\n";
        let set = exported(told);
        assert_eq!(set[0], ("KUBECONFIG".to_owned(), "/run/admin".to_owned()));
        assert!(set[1].1.starts_with("/bin-of-lab:/"), "{}", set[1].1);
        assert_eq!(set.len(), 2);
    }

    #[test]
    fn tests_of_the_lab_are_counted_by_suite() {
        let folder = tempfile::tempdir().expect("there is room");
        let suites = folder.path().join("one/tests");
        fs::create_dir_all(&suites).expect("there is room");
        let one = "#[test]\nfn a() {}\n";
        fs::write(suites.join("lab_one.rs"), one.repeat(3)).expect("there is room");
        fs::write(suites.join("other.rs"), one).expect("there is room");
        assert_eq!(count_tests(folder.path()), Ok(3));
    }
}
