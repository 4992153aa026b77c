//! A git repository served over HTTP by git's own program.
//!
//! Must not know who checks it out. Invariants: it is only reachable on loopback; it only serves what git can
//! read of the repository.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::request::Request;

/// Longest body of a request.
const BODY_MAX: u64 = 1 << 20;

/// A repository in a temporary folder.
pub(crate) struct Repository {
    folder: tempfile::TempDir,
    /// Its address.
    pub(crate) url: String,
}

impl Repository {
    /// An empty one, served from now on.
    pub(crate) fn serve() -> Repository {
        let folder = tempfile::tempdir().expect("a folder");
        git(folder.path(), &["init", "--quiet", "shop"]);
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let root = folder.path().to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // Who breaks off is not served.
                drop(answer(&stream, &root));
            }
        });
        Repository {
            folder,
            url: format!("http://{address}/shop/.git"),
        }
    }

    /// Commits a file, and tags the commit.
    pub(crate) fn commit(&self, files: &[(&str, &str)], tag: &str) {
        let work = self.folder.path().join("shop");
        for (name, text) in files {
            let path = work.join(name);
            let parent = path.parent().expect("it is in the repository");
            std::fs::create_dir_all(parent).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        git(&work, &["add", "--all"]);
        let author = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
        git(
            &work,
            &[&author[..], &["commit", "--quiet", "-m", tag]].concat(),
        );
        git(&work, &["tag", tag]);
    }
}

fn git(folder: &Path, words: &[&str]) {
    let ran = Command::new("git").current_dir(folder).args(words).output();
    let ran = ran.expect("there is git");
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

/// Answers one request by `git http-backend`, and closes the connection.
fn answer(stream: &TcpStream, root: &Path) -> std::io::Result<()> {
    let request = Request::read(stream, BODY_MAX)?;
    let target = request.target.as_str();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git");
    backend.arg("http-backend").env("GIT_PROJECT_ROOT", root);
    backend
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path);
    backend
        .env("REQUEST_METHOD", &request.method)
        .env("QUERY_STRING", query)
        .env("CONTENT_LENGTH", request.body.len().to_string());
    for (header, variable) in [
        ("content-type", "CONTENT_TYPE"),
        ("content-encoding", "HTTP_CONTENT_ENCODING"),
        ("git-protocol", "GIT_PROTOCOL"),
    ] {
        if let Some(value) = request.headers.get(header) {
            backend.env(variable, value);
        }
    }
    let mut child = backend
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child
        .stdin
        .take()
        .expect("it is a pipe")
        .write_all(&request.body)?;
    let said = child.wait_with_output()?.stdout;
    let status = said
        .strip_prefix(b"Status: ")
        .map_or(&b"200 OK\r\n"[..], |_| b"");
    let mut stream = stream;
    // The program says a status where it is not 200; a client reads it as the first line.
    stream.write_all(b"HTTP/1.1 ")?;
    stream.write_all(status)?;
    stream.write_all(said.strip_prefix(b"Status: ").unwrap_or(&said))?;
    Ok(())
}
