//! The Kubernetes lab of `xtask/kube-lab`: a real API server on this machine, whose pods are processes, or
//! containers on a node.
//!
//! Must not know the tests. Invariants: whatever is started is stopped, however the tests end; tests that were
//! not run are counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Outcome, packages, suites};
use crate::workspace::{self, root};
use crate::{Result, exec, image};

/// The folders tested by the lab: if something in them differs from the main branch, missing programs are no
/// reason to skip the tests.
const TESTED: &[&str] = &[
    "crates/cluster",
    "crates/kubernetes",
    "crates/operator",
    "deploy",
    "xtask/kube-lab",
];
/// If set to 1, the lab's programs are built if they are missing.
const BUILD: &str = "LOADLINE_KUBE_LAB_BUILD";
/// Ports of this run's lab, different from those of a lab that was started manually.
const PORTS: [(&str, &str); 2] = [
    ("API_PORT_CONTROL", "26443"),
    ("ETCD_PORT_CONTROL", "22379"),
];

/// Starts to build the lab's programs in the background, if wanted: the step that uses them waits for them.
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

/// The lab's helm, if the lab has one by now.
pub(super) fn helm() -> Option<String> {
    let mut ask = Command::new("bash");
    ask.args([
        "-c",
        ". ./lib.sh; [ -x \"$HELM/helm\" ] && echo \"$HELM/helm\"",
    ]);
    let told = ask
        .current_dir(folder())
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let path = String::from_utf8(told.stdout).ok()?;
    told.status.success().then(|| path.trim_end().to_owned())
}

/// Runs the tests that need a cluster.
pub(super) fn step() -> Result<Outcome> {
    if let State::Missing(why) = State::now() {
        return not_run("lab_", &why);
    }
    let programs = workspace::release_folder()?;
    let programs = ["loadline", "loadline-operator"].map(|name| programs.join(name));
    let programs = programs.map(|path| path.display().to_string());
    let git_sync = root().join("crates/operator/tests/lab/git-sync");
    let images = format!(
        "loadline:dev={} git-sync:dev={}",
        programs.join(","),
        git_sync.display()
    );
    let mut lab = Lab::new("control");
    lab.up(&[("LAB_IMAGES", &images)])?;
    lab.tell("LOADLINE_KUBE_LAB", "1");
    suites::run("lab_*", &lab.environment)
}

/// Runs the tests that need a node: kubelet, containerd, cgroups.
pub(super) fn node() -> Result<Outcome> {
    if let Some(why) = no_node() {
        return not_run("node_", &why);
    }
    let mut lab = Lab::new("node");
    let images = lab.folder.with_extension("images");
    let shown = images.display().to_string();
    fs::create_dir_all(&images).map_err(|error| format!("{shown}: {error}"))?;
    let words = [
        "--tag",
        "loadline:dev",
        "--out",
        &format!("{shown}/loadline.tar"),
    ];
    image::command(&words.map(str::to_owned))?;
    let me = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    lab.up(&[
        ("KUBE_LAB_IMAGES", &shown),
        ("XTASK", &me.display().to_string()),
    ])?;
    lab.tell("RUN", &lab.folder.display().to_string());
    lab.tell("MODE", lab.mode);
    lab.tell(
        "LOADLINE_NODE_LAB",
        &folder().join("in.sh").display().to_string(),
    );
    let outcome = suites::run("node_*", &lab.environment);
    fs::remove_dir_all(&images).map_err(|error| format!("{shown}: {error}"))?;
    outcome
}

/// Why a node is impossible here.
fn no_node() -> Option<String> {
    if !packages::is_root() {
        return Some("a node wants root".to_owned());
    }
    let programs = [
        ("containerd", "containerd"),
        ("runc", "runc"),
        ("iptables", "iptables"),
        ("conntrack", "conntrack"),
        ("busybox", "busybox-static"),
    ];
    let mut missing = programs
        .iter()
        .filter(|(program, _)| exec::find(program).is_none());
    if let Some((_, package)) = missing.next() {
        return Some(format!("a node wants {package}"));
    }
    if !Path::new("/usr/lib/cni").is_dir() {
        return Some("a node wants containernetworking-plugins".to_owned());
    }
    match State::now() {
        State::Missing(why) => Some(why),
        State::Built | State::Wanted => None,
    }
}

/// The outcome for tests that were not run, with their number.
fn not_run(suites: &str, why: &str) -> Result<Outcome> {
    let count = count_tests(&root().join("crates"), suites)?;
    let why = format!("{count} tests not run: {why}");
    println!("NOTE: {why}");
    Ok(Outcome::Skipped(why))
}

/// Whether there is a lab.
enum State {
    Built,
    /// It has to be built.
    Wanted,
    /// It is missing, with the reason.
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
            _ if is_touched(root(), TESTED) => State::Wanted,
            _ => State::Missing(format!(
                "the Kubernetes lab is not built; {BUILD}=1 builds it, in 12 minutes of processor time"
            )),
        }
    }
}

/// Whether something in these folders differs from the main branch of the clone's origin; `false` if unknown.
fn is_touched(root: &Path, folders: &[&str]) -> bool {
    let mut differ = Command::new("git");
    differ.args(["diff", "--quiet", "origin/main", "--"]);
    let differ = differ.args(folders).current_dir(root).stdin(Stdio::null());
    // 1 means that there are differences, higher codes that they are unknown.
    differ
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.code() == Some(1))
}

/// A lab; when dropped, it is stopped.
struct Lab {
    mode: &'static str,
    folder: PathBuf,
    /// Variables with which programs find it.
    environment: Vec<(String, String)>,
}

impl Lab {
    fn new(mode: &'static str) -> Lab {
        let name = format!("loadline-lab-{mode}-{}", std::process::id());
        Lab {
            mode,
            folder: std::env::temp_dir().join(name),
            environment: Vec::new(),
        }
    }

    fn up(&mut self, settings: &[(&str, &String)]) -> Result<()> {
        let mut up = self.script("up.sh");
        let told = exec::capture(up.envs(settings.iter().copied()))?;
        self.environment = exported(&told);
        Ok(())
    }

    fn tell(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    fn script(&self, name: &str) -> Command {
        let mut command = script(name);
        command.arg(self.mode).env("RUN", &self.folder).envs(PORTS);
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

/// The variables that a script tells a shell to set; `$PATH` in them is replaced by the current one.
fn exported(told: &str) -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let lines = told.lines().filter_map(|line| line.strip_prefix("export "));
    let set = lines.filter_map(|line| line.split_once('='));
    set.map(|(name, value)| (name.to_owned(), value.replace("$PATH", &path)))
        .collect()
}

/// The number of tests in the suites whose names have this prefix.
fn count_tests(crates: &Path, suites: &str) -> Result<usize> {
    let unread = |error| format!("{}: {error}", crates.display());
    let mut count = 0;
    for one in fs::read_dir(crates).map_err(unread)? {
        let tests = one.map_err(unread)?.path().join("tests");
        // Most crates have no such folder.
        for suite in fs::read_dir(tests).into_iter().flatten().flatten() {
            if suite.file_name().to_string_lossy().starts_with(suites) {
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
    fn a_folder_that_differs_from_the_main_branch_is_touched() {
        let folder = tempfile::tempdir().expect("there is room");
        let root = folder.path();
        let git = |words: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=a", "-c", "user.email=a@b"]);
            let ran = git.args(words).current_dir(root).output();
            assert!(ran.is_ok_and(|ran| ran.status.success()), "{words:?}");
        };
        git(&["init", "-q"]);
        assert!(!is_touched(root, &["a"]), "there is no main branch");
        for name in ["a", "b"] {
            fs::create_dir(root.join(name)).expect("there is room");
            fs::write(root.join(name).join("file"), "1").expect("there is room");
        }
        git(&["add", "."]);
        git(&["commit", "-qm", "first"]);
        git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        assert!(!is_touched(root, &["a"]));
        fs::write(root.join("a/file"), "2").expect("there is room");
        assert!(is_touched(root, &["a"]) && !is_touched(root, &["b"]));
        git(&["commit", "-qam", "second"]);
        assert!(is_touched(root, &["a", "b"]));
    }

    #[test]
    fn tests_of_the_lab_are_counted_by_suite() {
        let folder = tempfile::tempdir().expect("there is room");
        let suites = folder.path().join("one/tests");
        fs::create_dir_all(&suites).expect("there is room");
        let one = "#[test]\nfn a() {}\n";
        fs::write(suites.join("lab_one.rs"), one.repeat(3)).expect("there is room");
        fs::write(suites.join("other.rs"), one).expect("there is room");
        assert_eq!(count_tests(folder.path(), "lab_"), Ok(3));
    }
}
