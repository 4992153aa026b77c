//! `loadline target` as a separate process.
//!
//! Must not know its endpoints. Invariant: it listens on ports chosen by the system, which it prints on
//! standard output.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use crate::process::{end, loadline, send};

/// A running `loadline target`.
pub struct Target {
    child: Child,
    addresses: Vec<String>,
}

impl Target {
    /// Starts it on a free port, with additional arguments.
    ///
    /// # Panics
    /// It does not print its address.
    #[must_use]
    pub fn start(arguments: &[&str]) -> Target {
        let mut command = loadline();
        command
            .args(["target", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let mut child = command.spawn().expect("the target can be started");
        let told = BufReader::new(child.stdout.take().expect("its output is piped"));
        let wanted = if arguments.contains(&"--tls") { 2 } else { 1 };
        let lines: Result<Vec<String>, _> = told.lines().take(wanted).collect();
        let addresses = lines.expect("its output is text");
        assert_eq!(
            addresses.len(),
            wanted,
            "it tells {wanted} addresses: {addresses:?}"
        );
        Target { child, addresses }
    }

    /// A plain URL on it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.addresses[0].trim_end_matches('/'))
    }

    /// Its TLS port.
    ///
    /// # Panics
    /// It was started without TLS.
    #[must_use]
    pub fn tls_port(&self) -> u16 {
        let address = self.addresses.get(1).expect("it was started with --tls");
        let port = address.trim_end_matches('/').rsplit(':').next();
        port.and_then(|port| port.parse().ok())
            .expect("an address ends in its port")
    }

    /// Its plain port.
    ///
    /// # Panics
    /// The address is invalid.
    #[must_use]
    pub fn port(&self) -> u16 {
        let port = self.addresses[0].trim_end_matches('/').rsplit(':').next();
        port.and_then(|port| port.parse().ok())
            .expect("an address ends in its port")
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends it a signal, such as `libc::SIGSTOP`.
    pub fn signal(&self, signal: i32) {
        send(self.child.id(), signal);
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}
