//! `--tui`: on its own terminal, and without one.
//!
//! Must not know what is drawn where. Invariant: the terminal is restored before the report.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use loadline_e2e::process::{binary, has_program, neutral};
use loadline_e2e::server::Server;
use loadline_e2e::{clock, run, skip, web};

const TAKEN: &str = "\x1b[?1049h";
const GIVEN_BACK: &str = "\x1b[?1049l";

/// The time that the second key allows a process, doubled for a busy machine.
const SOON: Duration = Duration::from_secs(3);

fn server() -> Server {
    Server::start(|stream, _| web::serve(stream, |_| web::ok("ok")))
}

/// A command in a pseudo-terminal of 110 × 34, created by util-linux' `script`.
struct OnTerminal {
    child: Child,
    seen: String,
}

impl OnTerminal {
    fn start(words: &str) -> OnTerminal {
        let binary = binary().to_string_lossy().into_owned();
        let line = format!("stty cols 110 rows 34; exec '{binary}' {words}");
        let mut command = neutral(Command::new("script"));
        command
            .args(["-qec", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        OnTerminal {
            child: command.spawn().expect("script can be started"),
            seen: String::new(),
        }
    }

    /// Reads until a text has arrived, or to the end.
    fn read_until(&mut self, text: &str) {
        let out = self.child.stdout.as_mut().expect("it is piped");
        let mut bytes = [0; 4096];
        while !self.seen.contains(text) {
            match out.read(&mut bytes).expect("the terminal can be read") {
                0 => return,
                length => self
                    .seen
                    .push_str(&String::from_utf8_lossy(&bytes[..length])),
            }
        }
    }

    fn press(&mut self, keys: &str) {
        let keyboard = self.child.stdin.as_mut().expect("it is piped");
        keyboard.write_all(keys.as_bytes()).expect("it is read");
        keyboard.flush().expect("it is read");
    }

    /// The exit code, and the terminal's content after the view.
    fn finish(mut self) -> (Option<i32>, String) {
        self.read_until("\0nothing has this");
        let code = self.child.wait().expect("it ends").code();
        let (view, after) = self
            .seen
            .rsplit_once(GIVEN_BACK)
            .expect("the terminal is given back");
        assert!(view.contains(TAKEN));
        (code, after.to_owned())
    }
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn q_stops_the_run_and_the_report_follows_the_view() {
    if !has_program("script") {
        return skip("e2e_tui", "there is no `script` to make a terminal with");
    }
    let server = server();
    let url = server.url("/");
    let mut run = OnTerminal::start(&format!("bench --tui --no-journal -c 2 -r 50 -z 60s {url}"));
    run.read_until("Generator");
    run.press("q");
    let (code, after) = run.finish();
    assert_eq!(code, Some(105), "{after}");
    assert!(after.contains("Verdict"), "{after}");
    assert!(
        after.contains("\x1b[?25h"),
        "the cursor is shown again: {after:?}"
    );
}

/// Keys are equivalent to signals: the second one ends the process whatever it waits for, such as an output
/// that nobody reads.
#[test]
#[ignore = "wants LOADLINE_BIN"]
fn the_second_q_ends_a_test_that_cannot_be_stopped() {
    if !has_program("script") {
        return skip("e2e_tui", "there is no `script` to make a terminal with");
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (path, pipe) = (folder.path().join("s.js"), folder.path().join("pipe"));
    let script = "export const options = { vus: 2, duration: '30s' };
        export default function () {}";
    fs::write(&path, script).expect("there is room");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo is there");
    let unread = fs::OpenOptions::new().read(true).write(true).open(&pipe);
    let _unread = unread.expect("a pipe can be opened at both ends");
    let (path, pipe) = (path.display(), pipe.display());
    let mut run = OnTerminal::start(&format!("run --tui -o json={pipe} {path}"));
    run.read_until(TAKEN);
    clock::pause(Duration::from_secs(2));
    run.press("q");
    clock::pause(Duration::from_millis(500));
    let asked = clock::now();
    run.press("q");
    let (code, after) = run.finish();
    assert_eq!(code, Some(105), "{after}");
    assert!(asked.elapsed() < SOON, "it took {:?}", asked.elapsed());
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn a_script_is_shown_with_its_checks_and_its_log_comes_after() {
    if !has_program("script") {
        return skip("e2e_tui", "there is no `script` to make a terminal with");
    }
    let server = server();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let script = format!(
        "import http from 'k6/http'; import {{ check, sleep }} from 'k6'; \
         export default function () {{ \
           const r = http.get('{}'); check(r, {{ 'status is 200': (r) => r.status === 200 }}); \
           if (__ITER === 0) console.log('said once'); sleep(0.05); }}",
        server.url("/")
    );
    let path = folder.path().join("s.js");
    fs::write(&path, script).expect("the folder can be written to");
    let mut run = OnTerminal::start(&format!("run --tui -u 1 -d 3s {}", path.display()));
    run.read_until("status is 200");
    let (code, after) = run.finish();
    assert_eq!(code, Some(0), "{after}");
    assert_eq!(after.matches("said once").count(), 1, "{after}");
    assert!(
        after.contains("checks_succeeded") && after.contains("Verdict"),
        "{after}"
    );
}

#[test]
#[ignore = "wants LOADLINE_BIN"]
fn without_a_terminal_progress_is_plain() {
    let server = server();
    let ran = run([
        "bench",
        "--tui",
        "--no-journal",
        "-n",
        "20",
        "-c",
        "2",
        &server.url("/"),
    ]);
    let (out, err) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert_eq!(ran.status.code(), Some(0));
    assert!(
        err.contains("--tui: standard output is not a terminal"),
        "{err}"
    );
    assert!(!out.contains('\x1b') && out.contains("Verdict"), "{out}");
}
