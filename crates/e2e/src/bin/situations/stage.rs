//! Sets up a situation: servers, a link, groups with a quota, and processes running alongside; and removes all
//! of it.
//!
//! Must not know the truth. Invariant: no process, namespace or group outlives the stage.

mod group;
mod shell;

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use loadline_e2e::clock;
use loadline_e2e::server::free_port;
use regex::{Captures, Regex};
use tempfile::TempDir;

use crate::situation::{Server, Situation};
use group::Group;
use shell::Shell;

pub(crate) use shell::words;

/// How long a server may take to listen.
const START_MAX: Duration = Duration::from_secs(15);
/// The address of servers behind the link.
const FAR: &str = "10.213.7.2";
const BURN: &str = "while :; do :; done";

/// Why a situation is not staged.
#[derive(Debug)]
pub(crate) enum NotSet {
    /// This machine does not support it.
    Cannot(String),
    /// Staging failed, although it should work.
    Broken(String),
}

/// A staged situation.
pub(crate) struct Stage {
    // Processes end before the group and the folder that they use are removed.
    shells: Vec<Shell>,
    groups: Vec<(String, Group)>,
    namespace: Option<Namespace>,
    folder: TempDir,
    values: BTreeMap<String, String>,
}

struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        // A namespace that is gone already needs no removal.
        let _ = Command::new("ip").args(["netns", "del", &self.0]).output();
    }
}

impl Stage {
    /// Starts everything, and waits until the servers listen.
    pub(crate) fn set(one: &Situation, burners: usize) -> Result<Stage, NotSet> {
        let folder = tempfile::tempdir().map_err(|why| NotSet::Broken(why.to_string()))?;
        let mut stage = Stage {
            shells: Vec::new(),
            groups: Vec::new(),
            namespace: None,
            folder,
            values: BTreeMap::new(),
        };
        check_modules(one)?;
        stage.name_values(one);
        if let Some(options) = &one.link {
            stage.lay_link(options)?;
        }
        if let Some(line) = &one.prepare {
            stage.prepare(line)?;
        }
        if let Some(quota) = one.quota {
            stage.limit("generator", quota)?;
        }
        for server in one.servers.iter().filter(|server| !server.nobody) {
            stage.start(server)?;
        }
        let burners = std::iter::repeat_n(BURN, burners);
        for line in one.beside.iter().map(String::as_str).chain(burners) {
            let line = stage.filled(line);
            stage.run_beside("beside", &line)?;
        }
        Ok(stage)
    }

    /// Its own folder.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The shell command that puts the generator under its quota.
    pub(crate) fn generator_under(&self) -> String {
        self.joining("generator")
    }

    /// The text with its placeholders replaced; unknown ones stay.
    pub(crate) fn filled(&self, text: &str) -> String {
        let place = Regex::new(r"\{([a-z]+(?:\.[a-z]+)?[0-9]*)\}").expect("it is a pattern");
        let value = |found: &Captures<'_>| {
            let value = self.values.get(&found[1]);
            value.cloned().unwrap_or_else(|| found[0].to_owned())
        };
        place.replace_all(text, value).into_owned()
    }

    fn name_values(&mut self, one: &Situation) {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("situations");
        let mut set = |name: String, value: String| self.values.insert(name, value);
        set("here".to_owned(), here.display().to_string());
        for server in &one.servers {
            let (name, port) = (&server.name, free_port());
            let host = if server.far { FAR } else { "127.0.0.1" };
            let scheme = if server.tls { "https" } else { "http" };
            set(name.clone(), format!("{scheme}://{host}:{port}"));
            set(format!("port.{name}"), port.to_string());
        }
        let folder = self.folder.path().display().to_string();
        set("folder".to_owned(), folder.clone());
        set("script".to_owned(), format!("{folder}/script.js"));
    }

    fn prepare(&self, line: &str) -> Result<(), NotSet> {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(self.filled(line))
            .current_dir(self.folder());
        let output = command
            .output()
            .map_err(|why| NotSet::Broken(why.to_string()))?;
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Ok(())
        } else {
            Err(NotSet::Broken(told))
        }
    }

    fn lay_link(&mut self, options: &str) -> Result<(), NotSet> {
        let name = format!("loadline{}", std::process::id());
        let made = Command::new("ip").args(["netns", "add", &name]).output();
        if !made.is_ok_and(|made| made.status.success()) || !Path::new("/dev/net/tun").exists() {
            return Err(NotSet::Cannot(
                "no network namespace with a tunnel can be made".to_owned(),
            ));
        }
        self.namespace = Some(Namespace(name.clone()));
        let here = &self.values["here"];
        let line = format!("exec python3 {here}/link.py --namespace {name} {options}");
        self.run_beside("link", &line)?;
        let is_up = || {
            let shown = Command::new("ip")
                .args(["-n", &name, "addr", "show", "llfar"])
                .output();
            shown
                .ok()
                .filter(|shown| String::from_utf8_lossy(&shown.stdout).contains(FAR))
        };
        clock::wait_for(START_MAX, is_up).ok_or_else(|| NotSet::Cannot(self.errors("link")))?;
        Ok(())
    }

    fn limit(&mut self, name: &str, quota: f64) -> Result<(), NotSet> {
        let group = Group::make(name, quota);
        let group =
            group.ok_or_else(|| NotSet::Cannot("no control group can be made".to_owned()))?;
        self.groups.push((name.to_owned(), group));
        Ok(())
    }

    fn joining(&self, name: &str) -> String {
        let group = self.groups.iter().find(|(of, _)| of == name);
        group.map_or_else(String::new, |(_, group)| group.joining())
    }

    fn start(&mut self, server: &Server) -> Result<(), NotSet> {
        if let Some(quota) = server.quota {
            self.limit(&server.name, quota)?;
        }
        let command = self.command_of(server)?;
        let namespace = self.namespace.as_ref().filter(|_| server.far);
        let inside =
            namespace.map_or_else(String::new, |space| format!("ip netns exec {} ", space.0));
        let cpus = server.cpus.as_ref();
        let pinned = cpus.map_or_else(String::new, |cpus| format!("taskset -c {cpus} "));
        let line = format!(
            "{}exec {inside}{pinned}{command}",
            self.joining(&server.name)
        );
        let process = self.run_beside(&server.name, &line)?;
        self.values
            .insert(format!("pid.{}", server.name), process.to_string());
        if server.late {
            Ok(())
        } else {
            self.wait_for(server)
        }
    }

    fn command_of(&self, server: &Server) -> Result<String, NotSet> {
        let (here, port) = (
            &self.values["here"],
            &self.values[&format!("port.{}", server.name)],
        );
        if let Some(options) = &server.serve {
            let host = if server.far { FAR } else { "127.0.0.1" };
            let options = self.filled(options);
            return Ok(format!(
                "python3 {here}/serve.py --port {port} --host {host} {options}"
            ));
        }
        if let Some(http) = &server.nginx {
            return self.nginx(&server.name, &self.filled(http));
        }
        let line = server.command.as_ref();
        let line =
            line.ok_or_else(|| NotSet::Broken(format!("{}: nothing is started", server.name)))?;
        Ok(self.filled(line))
    }

    fn nginx(&self, name: &str, http: &str) -> Result<String, NotSet> {
        let path = self.folder().join(format!("{name}.conf"));
        let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let folders: String = folders
            .map(|kind| format!("{kind}_temp_path {kind};\n"))
            .concat();
        let text = format!(
            "daemon off;\nmaster_process off;\nworker_processes 1;\npid {name}.pid;\n\
             error_log {name}.log crit;\nevents {{ worker_connections 4096; }}\n\
             http {{\n{folders}access_log off;\nkeepalive_requests 1000000;\n{http}\n}}\n"
        );
        fs::write(&path, text).map_err(|why| NotSet::Broken(why.to_string()))?;
        let folder = self.folder().display();
        Ok(format!(
            "nginx -p {folder} -c {} -e {name}.log",
            path.display()
        ))
    }

    fn run_beside(&mut self, name: &str, line: &str) -> Result<u32, NotSet> {
        let shell = Shell::start(self.folder(), name, line).map_err(NotSet::Broken)?;
        let process = shell.process();
        self.shells.push(shell);
        Ok(process)
    }

    fn wait_for(&self, server: &Server) -> Result<(), NotSet> {
        let port = &self.values[&format!("port.{}", server.name)];
        let host = if server.far { FAR } else { "127.0.0.1" };
        let listens = || TcpStream::connect(format!("{host}:{port}")).ok();
        let connection = clock::wait_for(START_MAX, listens);
        let told = || {
            NotSet::Broken(format!(
                "{} does not listen: {}",
                server.name,
                self.errors(&server.name)
            ))
        };
        connection.map(|_| ()).ok_or_else(told)
    }

    fn errors(&self, name: &str) -> String {
        let path: PathBuf = self.folder().join(format!("{name}.err"));
        fs::read_to_string(path).unwrap_or_default()
    }
}

fn check_modules(one: &Situation) -> Result<(), NotSet> {
    for module in &one.modules {
        let mut python = Command::new("python3");
        python.args(["-c", &format!("import {module}")]);
        if !python.output().is_ok_and(|ended| ended.status.success()) {
            return Err(NotSet::Cannot(format!("Python has no module {module}")));
        }
    }
    Ok(())
}
