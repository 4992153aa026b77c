//! A headless Chromium that opens a page, is asked about it, and notes every error of it.
//!
//! Speaks the DevTools protocol over a pipe: JSON, each message ended by a zero byte. Must not know what
//! a page shows. Invariants: no browser outlives the test; what a page logs as an error, throws or fails
//! to load is never lost.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::clock;
use crate::process::{end, has_program};

/// How long the browser may take for an answer, and a page to come to show something.
const PATIENCE: Duration = Duration::from_secs(30);
/// The program.
const PROGRAM: &str = "chromium";
/// The pipe's ends are file descriptors 3 and 4 of the browser.
const SCRIPT: &str = "exec chromium --headless=new --no-sandbox --disable-gpu --no-first-run \
     --disable-background-networking --disable-component-update --user-data-dir=\"$1\" \
     --remote-debugging-pipe about:blank 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";

/// Whether there is a browser on this machine.
#[must_use]
pub fn is_there() -> bool {
    has_program(PROGRAM)
}

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    errors: Vec<String>,
    /// Its profile, which goes with it.
    _folder: tempfile::TempDir,
}

impl Browser {
    /// Opens a page that is a file.
    ///
    /// # Panics
    /// As [`Browser::open`].
    #[must_use]
    pub fn open_file(path: &Path) -> Browser {
        Browser::open(&format!("file://{}", path.display()))
    }

    /// Opens a page.
    ///
    /// # Panics
    /// The browser cannot be started, or does not open it.
    #[must_use]
    pub fn open(url: &str) -> Browser {
        let mut browser = Browser::start();
        let target = browser.ask("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = browser.ask(
            "Target.attachToTarget",
            &json!({ "targetId": target["targetId"], "flatten": true }),
        );
        let session = attached["sessionId"].as_str();
        browser.session = Some(session.expect("a page has a session").to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), &json!({}));
        }
        let opened = browser.ask("Page.navigate", &json!({ "url": url }));
        assert_eq!(opened["errorText"], Value::Null, "{url} is opened");
        browser.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'");
        browser
    }

    fn start() -> Browser {
        let folder = tempfile::tempdir().expect("there is room for a profile");
        let mut child = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser can be started");
        let to = child.stdin.take().expect("it is piped");
        let out = child.stdout.take().expect("it is piped");
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(out).split(0).map_while(Result::ok);
            for message in messages.filter_map(|text| serde_json::from_slice(&text).ok()) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Browser {
            child,
            to,
            from,
            last: 0,
            session: None,
            errors: Vec::new(),
            _folder: folder,
        }
    }

    /// Shows the page this wide, in dark or light colours.
    pub fn look(&mut self, width: u32, is_dark: bool) {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.ask(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
    }

    /// Presses a key and lets it go, where the focus is.
    pub fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        let code = if key == "Enter" { 13 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// The value of an expression on the page; what it promises is waited for.
    ///
    /// # Panics
    /// It throws.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression,
            "returnByValue": true,
            "awaitPromise": true,
        });
        let answer = self.ask("Runtime.evaluate", &parameters);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "{expression}: {thrown}");
        answer["result"]["value"].clone()
    }

    /// The text of the first element that a selector finds; empty without one.
    pub fn text(&mut self, selector: &str) -> String {
        let selector = json!(selector);
        let found = self.value(&format!(
            "(document.querySelector({selector}) || {{ textContent: '' }}).textContent"
        ));
        found.as_str().unwrap_or_default().to_owned()
    }

    /// How many elements a selector finds that are shown.
    ///
    /// # Panics
    /// The selector means nothing.
    pub fn shown(&mut self, selector: &str) -> u64 {
        let selector = json!(selector);
        let found = self.value(&format!(
            "[...document.querySelectorAll({selector})].filter((e) => e.offsetParent !== null).length"
        ));
        found.as_u64().expect("a length is a number")
    }

    /// Waits until an expression is true.
    ///
    /// # Panics
    /// It does not come to be.
    pub fn wait_for(&mut self, expression: &str) {
        let truth = format!("Boolean({expression})");
        let came = clock::wait_for(PATIENCE, || {
            clock::pause(Duration::from_millis(50));
            (self.value(&truth) == Value::Bool(true)).then_some(())
        });
        assert!(came.is_some(), "never true: {expression}");
    }

    /// What the page logged as an error, threw, or failed to load, so far.
    pub fn errors(&mut self) -> &[String] {
        // Whatever was said before the answer has been read then.
        self.value("1");
        &self.errors
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        self.to.write_all(&text).expect("the browser listens");
        loop {
            let answer = match self.from.recv_timeout(PATIENCE) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => panic!("{method}: no answer"),
                Err(RecvTimeoutError::Disconnected) => panic!("{method}: the browser is gone"),
            };
            if answer["id"] == json!(self.last) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.errors.extend(error_in(&answer));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The error that an event tells of; `None` when it tells of none.
fn error_in(event: &Value) -> Option<String> {
    let told = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(told["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled"
            if ["error", "warning", "assert"].contains(&told["type"].as_str()?) =>
        {
            Some(told["args"].to_string())
        }
        "Log.entryAdded" if told["entry"]["level"] == "error" => Some(told["entry"].to_string()),
        _ => None,
    }
}
