//! Credentials from a program: the exec plugins of `client.authentication.k8s.io`.
//!
//! Must not know what the credentials are for. Invariants: run time and output of a program are limited; its
//! standard output is never shown. Source: the Kubernetes documentation, "client-go credential plugins".

use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::Secret;
use crate::error::{Error, Result, quoted};
use crate::{json, time};

/// Time limit of a program: it may have to contact a service.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum bytes of its output: a token and a certificate chain are some thousands.
const PRINTED_MAX: u64 = 1 << 20;
/// Supported versions of the protocol.
const VERSIONS: [&str; 2] = [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
];

/// A program that prints credentials.
#[derive(Clone, Debug)]
pub(crate) struct ExecProgram {
    /// Its path, or its name in the search path.
    pub(crate) command: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Environment variables in addition to our own.
    pub(crate) environment: Vec<(String, Secret)>,
    /// One of [`VERSIONS`].
    version: String,
    /// What to do if the program is missing.
    pub(crate) install_hint: Option<String>,
    /// The cluster information that it requests; `None`: none.
    pub(crate) cluster: Option<Value>,
}

/// The output of a program.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    pub(crate) token: Option<Secret>,
    /// A certificate and its key in PEM.
    pub(crate) certificate: Option<(Vec<u8>, Secret)>,
    /// When it expires, in nanoseconds since 1970; `None`: when it is refused.
    pub(crate) expires_unix_ns: Option<u64>,
}

impl ExecProgram {
    /// A program that uses a version of the protocol.
    ///
    /// # Errors
    /// The version is not supported.
    pub(crate) fn new(command: PathBuf, version: &str) -> Result<ExecProgram> {
        if !VERSIONS.contains(&version) {
            return Err(Error::config(format!(
                "the credential program {} speaks {}; only {} and {} are understood",
                command.display(),
                quoted(version),
                VERSIONS[0],
                VERSIONS[1]
            )));
        }
        Ok(ExecProgram {
            command,
            arguments: Vec::new(),
            environment: Vec::new(),
            version: version.to_owned(),
            install_hint: None,
            cluster: None,
        })
    }

    /// Runs it and parses its output.
    ///
    /// # Errors
    /// It cannot be started, fails, takes too long, or prints something else.
    pub(crate) fn run(&self) -> Result<Printed> {
        let mut child = self.start()?;
        let readers = read_aside(child.stdout.take())
            .and_then(|printed| Ok((printed, read_aside(child.stderr.take())?)));
        let (printed, said) = readers.map_err(|error| {
            end(&mut child);
            self.trouble(&format!(
                "cannot be read: no thread for it: {error}; raise the limits of processes, such as ulimit -u"
            ))
        })?;
        let Ok(printed) = printed.recv_timeout(TIMEOUT) else {
            end(&mut child);
            let seconds = TIMEOUT.as_secs();
            return Err(self.trouble(&format!("did not end within {seconds} s")));
        };
        // What it prints has ended, so it has too, or is about to.
        let said = said
            .recv_timeout(Duration::from_secs(1))
            .unwrap_or_default();
        let status = child
            .wait()
            .map_err(|error| self.trouble(&format!("cannot be waited for: {error}")))?;
        if !status.success() {
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().rfind(|line| !line.trim().is_empty());
            let last = last.map_or(String::new(), |line| format!(": {}", quoted(line)));
            return Err(self.trouble(&format!("failed ({status}){last}")));
        }
        self.read(&printed)
    }

    fn start(&self) -> Result<Child> {
        let mut info = json!({
            "kind": "ExecCredential", "apiVersion": self.version, "spec": { "interactive": false },
        });
        if let Some(cluster) = &self.cluster {
            info["spec"]["cluster"] = cluster.clone();
        }
        let environment = self.environment.iter();
        let environment = environment.map(|(name, value)| (name.as_str(), value.reveal()));
        let started = Command::new(&self.command)
            .args(&self.arguments)
            .envs(environment)
            .env("KUBERNETES_EXEC_INFO", info.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        started.map_err(|error| {
            let hint = self.install_hint.as_deref().unwrap_or_default().trim();
            let gap = if hint.is_empty() { "" } else { "; " };
            self.trouble(&format!("cannot be started: {error}{gap}{hint}"))
        })
    }

    fn read(&self, printed: &[u8]) -> Result<Printed> {
        let value: Value = serde_json::from_slice(printed)
            .map_err(|_| self.trouble("printed something that is not an ExecCredential in JSON"))?;
        if json::text(&value, "/kind") != Some("ExecCredential")
            || json::text(&value, "/apiVersion") != Some(self.version.as_str())
        {
            let version = &self.version;
            return Err(self.trouble(&format!("did not print an ExecCredential of {version}")));
        }
        let certificate = json::filled(&value, "/status/clientCertificateData");
        let key = json::filled(&value, "/status/clientKeyData").map(Secret::new);
        let certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate.into_bytes(), key)),
            (None, None) => None,
            _ => {
                return Err(self.trouble(
                    "printed a certificate without its key, or a key without its certificate",
                ));
            }
        };
        let token = json::filled(&value, "/status/token").map(Secret::new);
        if token.is_none() && certificate.is_none() {
            return Err(self.trouble("printed neither a token nor a certificate"));
        }
        let expires = json::filled(&value, "/status/expirationTimestamp");
        let expires_unix_ns = match expires {
            Some(text) => Some(
                time::parse(&text).ok_or_else(|| self.trouble("printed an invalid expiry time"))?,
            ),
            None => None,
        };
        Ok(Printed {
            token,
            certificate,
            expires_unix_ns,
        })
    }

    fn trouble(&self, what: &str) -> Error {
        let command = self.command.display();
        Error::config(format!("the credential program {command} {what}"))
    }
}

/// Reads to the end on a separate thread, so that waiting for it can be given up.
fn read_aside(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = channel();
    let thread = thread::Builder::new().name("kubernetes-exec".to_owned());
    thread.spawn(move || {
        let mut read = Vec::new();
        if let Some(pipe) = pipe {
            // What was read before an error is judged like anything else.
            let _ = pipe.take(PRINTED_MAX).read_to_end(&mut read);
        }
        let _ = sender.send(read);
    })?;
    Ok(receiver)
}

fn end(child: &mut Child) {
    // It may have ended on its own meanwhile.
    let _ = child.kill();
    let _ = child.wait();
}
