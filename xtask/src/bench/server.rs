//! The servers against which clients are measured: nginx with its own configuration, and waiting until a server
//! listens.
//!
//! Must not know clients. Invariant: a started server is stopped when its value is dropped.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Folder;
use super::machine::{self, Cores};
use crate::stopwatch::wait_until;
use crate::{Result, exec};

/// The resource on the server for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Site {
    /// Two bytes, `ok`; accepts POST bodies and discards them.
    Plain,
    /// 1,024 bytes.
    Kilobyte,
    /// As `Plain`, over TLS 1.3.
    Tls,
    /// As `Plain`, HTTP/2 with prior knowledge.
    Http2,
}

/// A running process, stopped with its value.
pub(super) struct Running(Child);

impl Running {
    /// Starts the command and waits until something listens at `address`.
    ///
    /// # Errors
    /// It could not start, or nothing listened within ten seconds.
    pub(super) fn start(command: &mut Command, address: SocketAddr) -> Result<Self> {
        let shown = format!("{command:?}");
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("{shown} could not start: {error}"))?;
        let running = Self(child);
        let listens = wait_until(Duration::from_secs(10), || {
            TcpStream::connect(address).is_ok()
        });
        if listens {
            Ok(running)
        } else {
            Err(format!("{shown} does not listen at {address}"))
        }
    }

    pub(super) fn process(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let process = libc::pid_t::try_from(self.0.id()).expect("process numbers fit their type");
        // SAFETY: kill touches no memory; the child has not been waited for, so the number is its own.
        unsafe { libc::kill(process, libc::SIGTERM) };
        // An error means that it has already ended.
        let _ = self.0.wait();
    }
}

/// nginx with one worker, listening on three loopback ports.
pub(super) struct Nginx {
    running: Running,
    plain: u16,
    tls: u16,
    http2: u16,
}

impl Nginx {
    /// # Errors
    /// nginx or openssl is not installed, or did not start.
    pub(super) fn start(folder: &Folder, cores: Cores) -> Result<Self> {
        let program =
            exec::find("nginx").ok_or("bench: nginx is required: apt install nginx-light")?;
        let [plain, tls, http2] = [free_port()?, free_port()?, free_port()?];
        make_certificate(folder)?;
        let config = configuration(&folder.0, [plain, tls, http2]);
        let path = folder.write("nginx.conf", &config)?;
        let mut command = machine::pinned(cores.server, &program);
        command.arg("-p").arg(&folder.0).arg("-c").arg(path);
        command.arg("-e").arg(folder.file("nginx.log"));
        let running = Running::start(&mut command, local(http2))?;
        Ok(Self {
            running,
            plain,
            tls,
            http2,
        })
    }

    pub(super) fn process(&self) -> u32 {
        self.running.process()
    }

    pub(super) fn port(&self, site: Site) -> u16 {
        match site {
            Site::Plain | Site::Kilobyte => self.plain,
            Site::Tls => self.tls,
            Site::Http2 => self.http2,
        }
    }

    pub(super) fn url(&self, site: Site) -> String {
        let scheme = if site == Site::Tls { "https" } else { "http" };
        let path = if site == Site::Kilobyte { "/1k" } else { "/" };
        format!("{scheme}://127.0.0.1:{}{path}", self.port(site))
    }
}

/// loadline's own target with one thread, at `address`, on `core`; the caller adds arguments and starts it.
pub(super) fn target_command(loadline: &Path, core: Option<usize>, address: SocketAddr) -> Command {
    let mut command = machine::pinned(core, loadline);
    command.args(["target", "--listen", &address.to_string(), "--threads", "1"]);
    command
}

pub(super) fn local(port: u16) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, port))
}

/// A port on which nothing listens now.
///
/// # Errors
/// The system provided none.
pub(super) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(local(0)).map_err(|error| format!("no free port: {error}"))?;
    let address = listener
        .local_addr()
        .map_err(|error| format!("no free port: {error}"))?;
    Ok(address.port())
}

fn make_certificate(folder: &Folder) -> Result<()> {
    let mut command = Command::new("openssl");
    command.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
    ]);
    command.args(["-nodes", "-days", "2", "-subj", "/CN=localhost"]);
    command.args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]);
    command
        .arg("-keyout")
        .arg(folder.file("key.pem"))
        .arg("-out")
        .arg(folder.file("cert.pem"));
    // Its progress on standard error is only shown if it failed.
    let output = command
        .output()
        .map_err(|error| format!("openssl could not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "openssl made no certificate: {}",
        String::from_utf8_lossy(&output.stderr)
    ))
}

fn configuration(folder: &Path, [plain, tls, http2]: [u16; 3]) -> String {
    let folder = folder.display();
    let kilobyte = "k".repeat(1024);
    // SAFETY: geteuid takes nothing, touches no memory and cannot fail.
    let user = if unsafe { libc::geteuid() } == 0 {
        "user root;"
    } else {
        ""
    };
    format!(
        "daemon off; {user} worker_processes 1; worker_rlimit_nofile 65536; pid {folder}/nginx.pid;
error_log {folder}/nginx.log crit;
events {{ worker_connections 30000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 300s;
  client_body_buffer_size 64k; http2_max_concurrent_streams 1000;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
  ssl_protocols TLSv1.3; ssl_session_tickets off;
  server {{
    listen 127.0.0.1:{plain} backlog=16384; listen 127.0.0.1:{tls} ssl backlog=16384;
    listen 127.0.0.1:{http2} http2;
    location = / {{ return 200 \"ok\"; }}
    location = /1k {{ return 200 \"{kilobyte}\"; }}
  }}
}}
"
    )
}
