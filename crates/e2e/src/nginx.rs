//! A real nginx on its own ports, and the content of its log.
//!
//! Must not know the client. Invariant: all files of nginx are in a temporary folder; the log has one line per
//! request.

use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::certificates::Identity;
use crate::clock;
use crate::process::{end, has_program, send};
use crate::server::free_port;

/// Number of attempts to start: a free port may be taken before nginx binds it.
const STARTS: usize = 3;
/// How long nginx may take to listen.
const START_MAX: Duration = Duration::from_secs(5);

/// Options of nginx in addition to a clear-text port on 127.0.0.1 and 127.0.0.2.
#[derive(Default)]
pub struct Options<'a> {
    /// Lines inside the server block.
    pub server: &'a str,
    /// Serve TLS with HTTP/2 on a second port, with this certificate.
    pub tls: Option<&'a Identity>,
    /// Use HTTP/2 with prior knowledge on the plain port.
    pub h2c: bool,
    /// Also listen on a Unix-domain socket.
    pub unix_socket: bool,
    /// Write no access log.
    pub quiet: bool,
}

/// A running nginx: one process, which can be frozen.
pub struct Nginx {
    child: Child,
    folder: TempDir,
    port: u16,
    tls_port: u16,
}

/// One request as nginx logged it.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The client's address.
    pub remote: String,
    /// Number of the connection.
    pub connection: u64,
    /// Number of the request on its connection.
    pub request: u64,
    /// The method.
    pub method: String,
    /// Path and query.
    pub uri: String,
    /// The protocol.
    pub protocol: String,
    /// Bytes of the body as received.
    pub body_bytes: u64,
    /// Milliseconds since 1970 at the end of the response.
    pub unix_ms: u64,
    /// The Host header.
    pub host: String,
}

impl Nginx {
    /// Starts nginx.
    ///
    /// # Errors
    /// Why it is unavailable, for [`crate::skip`].
    ///
    /// # Panics
    /// The temporary folder cannot be used.
    pub fn start(options: &Options<'_>) -> Result<Nginx, String> {
        if !has_program("nginx") {
            return Err("nginx is not installed".to_owned());
        }
        let mut why = String::new();
        for _ in 0..STARTS {
            match Nginx::try_start(options) {
                Ok(nginx) => return Ok(nginx),
                Err(error) => why = error,
            }
        }
        Err(format!("nginx does not start: {why}"))
    }

    fn try_start(options: &Options<'_>) -> Result<Nginx, String> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let (port, tls_port) = (free_port(), free_port());
        if let Some(identity) = options.tls {
            let _ = identity.save(folder.path(), "server");
        }
        let config = folder.path().join("nginx.conf");
        let text = configuration(options, port, tls_port);
        std::fs::write(&config, text).expect("the temporary folder can be written to");
        let mut command = nginx();
        command.arg("-p").arg(folder.path()).arg("-c").arg(&config);
        command.args(["-e", "error.log"]).current_dir(folder.path());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().map_err(|error| error.to_string())?;
        let mut nginx = Nginx {
            child,
            folder,
            port,
            tls_port,
        };
        let ready = clock::wait_for(START_MAX, || nginx.is_ready());
        match ready {
            Some(true) => Ok(nginx),
            _ => Err(nginx.file("error.log")),
        }
    }

    /// Whether it listens; `Some(false)` if it has ended.
    fn is_ready(&mut self) -> Option<bool> {
        if self
            .child
            .try_wait()
            .expect("a child can be asked")
            .is_some()
        {
            return Some(false);
        }
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))
            .ok()
            .map(|_| true)
    }

    /// A plain URL on it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Its plain port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its TLS port.
    #[must_use]
    pub fn tls_port(&self) -> u16 {
        self.tls_port
    }

    /// Its Unix-domain socket.
    #[must_use]
    pub fn unix_socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Every request so far, oldest first.
    #[must_use]
    pub fn log(&self) -> Vec<Logged> {
        self.file("access.log").lines().filter_map(logged).collect()
    }

    /// The requests of a run of `count`, which nginx may log slightly after its response.
    ///
    /// # Panics
    /// The log has another number of them.
    #[must_use]
    pub fn log_of(&self, count: u64) -> Vec<Logged> {
        let all = || Some(self.log()).filter(|log| log.len() as u64 >= count);
        let log = clock::wait_for(START_MAX, all).unwrap_or_else(|| self.log());
        assert_eq!(log.len() as u64, count, "requests in nginx's log");
        log
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

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn nginx() -> Command {
    let mut command = Command::new("nginx");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
    command
}

fn configuration(options: &Options<'_>, port: u16, tls_port: u16) -> String {
    let http2 = if options.h2c { " http2" } else { "" };
    let mut server = format!("listen 127.0.0.1:{port}{http2};\nlisten 127.0.0.2:{port}{http2};\n");
    if options.tls.is_some() {
        server.push_str(&format!(
            "listen 127.0.0.1:{tls_port} ssl http2;\n\
             ssl_certificate server.pem;\nssl_certificate_key server.key;\n"
        ));
    }
    if options.unix_socket {
        server.push_str("listen unix:socket;\n");
    }
    server.push_str(options.server);
    let log = if options.quiet {
        "off"
    } else {
        "access.log all"
    };
    format!(
        "daemon off;\nmaster_process off;\nworker_processes 1;\npid nginx.pid;\n\
         error_log error.log warn;\nevents {{ worker_connections 4096; }}\n\
         http {{\n{}\
         log_format all '$remote_addr $connection $connection_requests $request_method \
         $request_uri $server_protocol $content_length $msec $http_host';\n\
         access_log {log};\nkeepalive_requests 1000000;\nclient_max_body_size 64m;\n\
         server {{\n{server}\nlocation / {{ return 200 ok; }}\n}}\n}}\n",
        temporary_folders()
    )
}

/// The folders for nginx's temporary bodies: the default needs permissions that a test may not have. A folder
/// setting of a module that is not built in is an error.
fn temporary_folders() -> String {
    let version = nginx().arg("-V").output().map(|output| output.stderr);
    let version = String::from_utf8_lossy(&version.unwrap_or_default()).into_owned();
    let line = |name: &str| format!("{name}_temp_path {name};\n");
    let has = |name: &&str| !version.contains(&format!("--without-http_{name}_module"));
    let modules = ["proxy", "fastcgi", "uwsgi", "scgi"];
    let built_in = modules.iter().filter(|name| has(name));
    line("client_body") + &built_in.map(|name| line(name)).collect::<String>()
}

fn logged(line: &str) -> Option<Logged> {
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.parse().unwrap_or(0);
    Some(Logged {
        remote: (*words.first()?).to_owned(),
        connection: number(words.get(1)?),
        request: number(words.get(2)?),
        method: (*words.get(3)?).to_owned(),
        uri: (*words.get(4)?).to_owned(),
        protocol: (*words.get(5)?).to_owned(),
        body_bytes: number(words.get(6)?),
        unix_ms: number(&words.get(7)?.replace('.', "")),
        host: (*words.get(8)?).to_owned(),
    })
}
