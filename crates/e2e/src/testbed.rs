//! `loadline target --config`: a graph of processes, and a client for its components.
//!
//! Must not know what a component does. Invariant: neither the supervisor nor a process that it started
//! outlives the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::clock;
use crate::process::{end, loadline, send};

/// Timeout of all operations of a testbed.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running testbed.
pub struct Testbed {
    child: Child,
    table: Value,
    folder: TempDir,
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Body.
    pub body: String,
}

/// A connection that is kept open.
pub struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Testbed {
    /// Starts a testbed from the text of its file, in a new folder, and waits until it is ready.
    ///
    /// # Panics
    /// It does not become ready.
    #[must_use]
    pub fn start(file: &str) -> Testbed {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        std::fs::write(folder.path().join("testbed.yaml"), file).expect("a file can be written");
        Testbed::start_in(folder)
    }

    /// Starts the `testbed.yaml` of a folder, which it keeps.
    ///
    /// # Panics
    /// As [`Testbed::start`].
    #[must_use]
    pub fn start_in(folder: TempDir) -> Testbed {
        let mut command = loadline();
        command
            .args([
                "target",
                "--config",
                "testbed.yaml",
                "--ready-file",
                "ready.json",
            ])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the testbed can be started");
        let mut told = BufReader::new(child.stdout.take().expect("its output is piped"));
        let mut line = String::new();
        told.read_line(&mut line).expect("its output is text");
        let table = serde_json::from_str(&line);
        let table =
            table.unwrap_or_else(|error| panic!("it tells its components: {error}: {line}"));
        Testbed {
            child,
            table,
            folder,
        }
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The table that it printed when it was ready.
    #[must_use]
    pub fn table(&self) -> &Value {
        &self.table
    }

    /// The text of a file in its folder.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("the file is there")
    }

    /// The URL of a component without the last slash.
    ///
    /// # Panics
    /// It has none.
    #[must_use]
    pub fn url(&self, component: &str) -> String {
        let url = self.component(component)["url"].clone();
        let url = url.as_str().expect("the component has a URL");
        url.trim_end_matches('/').to_owned()
    }

    /// The current state of a component according to the control port.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn component(&self, name: &str) -> Value {
        let components = self.control("GET", "/components").json();
        let components = components["components"].as_array().cloned();
        let found = components.into_iter().flatten().find(|c| c["name"] == name);
        found.unwrap_or_else(|| panic!("there is a component {name}"))
    }

    /// The current state of a replica of a component.
    #[must_use]
    pub fn replica(&self, component: &str, replica: usize) -> Value {
        self.component(component)["replicas"][replica].clone()
    }

    /// The PID of a replica.
    ///
    /// # Panics
    /// It has none.
    #[must_use]
    pub fn pid(&self, component: &str, replica: usize) -> u32 {
        let pid = self.replica(component, replica)["pid"].as_u64();
        let pid = pid.expect("the replica has a process");
        u32::try_from(pid).expect("a process number fits")
    }

    /// The counts of a component.
    #[must_use]
    pub fn truth(&self, component: &str) -> Value {
        self.control("GET", "/truth").json()["components"][component].clone()
    }

    /// One count of a component.
    ///
    /// # Panics
    /// It is not counted.
    #[must_use]
    pub fn count(&self, component: &str, name: &str) -> u64 {
        let count = self.truth(component)[name].as_u64();
        count.unwrap_or_else(|| panic!("{name} of {component} is counted"))
    }

    /// Sends a request to the control port.
    ///
    /// # Panics
    /// There is no response.
    #[must_use]
    pub fn control(&self, method: &str, path: &str) -> Answer {
        let url = self.table["control"]
            .as_str()
            .expect("it tells its control port");
        Connection::to(url.trim_end_matches('/')).ask(method, path, "")
    }

    /// Sends requests to a component on one connection; returns the number of 200 responses.
    #[must_use]
    pub fn get(&self, component: &str, path: &str, count: usize) -> usize {
        let mut connection = Connection::to(&self.url(component));
        let ask = |_: &usize| connection.ask("GET", path, "").status == 200;
        (0..count).filter(ask).count()
    }

    /// Waits for a condition.
    ///
    /// # Panics
    /// It does not become true.
    pub fn wait_until(&self, what: &str, is_so: impl Fn(&Testbed) -> bool) {
        let reached = clock::wait_for(PATIENCE, || is_so(self).then_some(()));
        assert!(reached.is_some(), "it comes to be that {what}");
    }

    /// The PIDs of all processes of the testbed except the supervisor's.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        let components = self.control("GET", "/components").json();
        let components = components["components"].as_array().cloned();
        let replicas = components
            .into_iter()
            .flatten()
            .filter_map(|component| component["replicas"].as_array().cloned());
        let pids = replicas
            .flatten()
            .filter_map(|replica| replica["pid"].as_u64());
        pids.filter_map(|pid| u32::try_from(pid).ok()).collect()
    }

    /// Sends the supervisor a signal and waits for its end; returns its exit code, `None` after a kill.
    ///
    /// # Panics
    /// It does not end.
    #[must_use]
    pub fn end_by(&mut self, signal: i32) -> Option<i32> {
        send(self.child.id(), signal);
        let child = &mut self.child;
        let ended = clock::wait_for(PATIENCE, || child.try_wait().expect("a child can be asked"));
        ended.expect("the supervisor ends").code()
    }
}

impl Drop for Testbed {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Panics
    /// It is not JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("JSON: {error}: {}", self.body))
    }
}

impl Connection {
    /// Connects to a URL without a path.
    ///
    /// # Panics
    /// Nobody listens there.
    #[must_use]
    pub fn to(url: &str) -> Connection {
        Connection::try_to(url).expect("somebody listens there")
    }

    /// Connects to a URL without a path.
    ///
    /// # Errors
    /// The system's error, such as when nobody listens there.
    pub fn try_to(url: &str) -> std::io::Result<Connection> {
        let host = url.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&host)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Connection {
            stream: BufReader::new(stream),
            host,
        })
    }

    /// Sends a request and reads the response.
    ///
    /// # Panics
    /// There is none.
    pub fn ask(&mut self, method: &str, path: &str, body: &str) -> Answer {
        self.try_ask(method, path, body)
            .unwrap_or_else(|error| panic!("{method} {path} of {} is answered: {error}", self.host))
    }

    /// Sends a request and reads the response.
    ///
    /// # Errors
    /// The system's error if there is no response.
    pub fn try_ask(&mut self, method: &str, path: &str, body: &str) -> std::io::Result<Answer> {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let mut length = 0;
        loop {
            let line = self.line()?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(std::io::Error::other)?;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(Answer {
            status: status.ok_or_else(|| std::io::Error::other("no status"))?,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    fn line(&mut self) -> std::io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// Whether a process runs; a zombie does not.
#[must_use]
pub fn is_running(pid: u32) -> bool {
    let told = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    told.is_ok_and(|told| {
        let state = told.rsplit_once(") ").map(|(_, fields)| fields.to_owned());
        state.is_some_and(|state| !state.starts_with(['Z', 'X']))
    })
}

/// CPU time that a process has used, from `/proc`; in ticks of 10 ms.
#[must_use]
pub fn cpu_time(pid: u32) -> Option<Duration> {
    let told = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = told.rsplit_once(") ")?;
    let ticks: Vec<u64> = fields
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|f| f.parse().ok())
        .collect();
    Some(Duration::from_millis(10 * ticks.iter().sum::<u64>()))
}

/// Kills a process that a testbed started.
pub fn kill(pid: u32) {
    send(pid, libc::SIGKILL);
}
