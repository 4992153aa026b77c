//! The servers used by scripts: `loadline target` with the suite's own routes, and go-httpbin.
//!
//! Must not know scripts. Invariant: both listen on 127.0.0.1 on ports that were free, and neither outlives the
//! test.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::clock;
use crate::server::free_port;
use crate::target::Target;

/// How long go-httpbin may take to listen.
const START_MAX: Duration = Duration::from_secs(5);

/// The process behind the addresses, kept as long as it is needed.
enum Process {
    Target(#[expect(dead_code, reason = "ends with its owner")] Target),
    Httpbin(Child),
    #[cfg(test)]
    Nothing,
}

/// Running servers and their addresses.
pub(crate) struct Servers {
    /// The plain URL, without a final slash.
    pub(crate) base: String,
    /// The plain port.
    pub(crate) port: u16,
    /// The TLS port; `None` if there is none.
    pub(crate) port_tls: Option<u16>,
    process: Process,
}

impl Servers {
    /// Starts `loadline target` of the binary under test.
    pub(crate) fn target() -> Servers {
        let routes = super::root().join("routes.toml");
        let routes = routes.to_str().expect("the checkout's path is text");
        let target = Target::start(&["--tls", "127.0.0.1:0", "--routes", routes]);
        Servers {
            base: target.url(""),
            port: target.port(),
            port_tls: Some(target.tls_port()),
            process: Process::Target(target),
        }
    }

    /// Ports on which nothing runs.
    #[cfg(test)]
    pub(crate) fn nowhere(port: u16, port_tls: Option<u16>) -> Servers {
        Servers {
            base: format!("http://127.0.0.1:{port}"),
            port,
            port_tls,
            process: Process::Nothing,
        }
    }

    /// Starts go-httpbin; `None` if it is not installed.
    ///
    /// # Panics
    /// It is installed but does not listen.
    pub(crate) fn httpbin() -> Option<Servers> {
        let port = free_port();
        let mut command = Command::new(find_httpbin()?);
        command
            .args(["-host", "127.0.0.1", "-port", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("go-httpbin can be started");
        let servers = Servers {
            base: format!("http://127.0.0.1:{port}"),
            port,
            port_tls: None,
            process: Process::Httpbin(child),
        };
        let listens = clock::wait_for(START_MAX, || TcpStream::connect(("127.0.0.1", port)).ok());
        assert!(listens.is_some(), "go-httpbin listens on {port}");
        Some(servers)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        if let Process::Httpbin(child) = &mut self.process {
            // Both only fail if the child has ended, which is the goal.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Searches `PATH`, and the folder of programs built by Go.
fn find_httpbin() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let go = home.map(|home| home.join("go/bin"));
    std::env::split_paths(&path)
        .chain(go)
        .map(|folder| folder.join("go-httpbin"))
        .find(|program| program.is_file())
}
