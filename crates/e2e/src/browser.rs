//! A headless Chromium that opens a page, evaluates expressions on it, and records all of its errors.
//!
//! Uses the DevTools protocol over a pipe: JSON, each message ended by a zero byte. Must not know what a page
//! shows. Invariants: no browser outlives the test; every logged error, exception, failed load and request of a
//! page is recorded.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::clock;
use crate::process::{end, has_program};
use crate::skip;

/// Timeout of the browser's responses, and of conditions on a page.
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

/// Whether a test can open pages; reports if it cannot.
#[must_use]
pub fn can_look(test: &str) -> bool {
    let can = is_there();
    if !can {
        skip(test, "chromium is not installed");
    }
    can
}

/// A position in the view of a page, in CSS pixels from its upper left corner.
pub type Place = (f64, f64);

/// A browser with one page.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    last: u64,
    session: Option<String>,
    errors: Vec<String>,
    /// The URLs that the page requested.
    asked: Vec<String>,
    /// The common prefix of URLs of the page's own site.
    home: String,
    /// Its profile, which is removed with it.
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
        browser.home = home_of(url);
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
            asked: Vec::new(),
            home: String::new(),
            _folder: folder,
        }
    }

    /// Opens the same page again, without what was changed on it.
    pub fn reload(&mut self) {
        self.value("window.isOld = true");
        self.ask("Page.reload", &json!({}));
        self.wait_for("!window.isOld && document.readyState === 'complete'");
    }

    /// Sets the width of the page, and dark or light colours.
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

    /// Presses and releases a key, at the focus.
    pub fn press(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        let code = if key == "Enter" { 13 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code });
            self.ask("Input.dispatchKeyEvent", &event);
        }
    }

    /// The value of an expression on the page; promises are awaited.
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

    /// The text of the first element that a selector matches; empty if there is none.
    pub fn text(&mut self, selector: &str) -> String {
        let selector = json!(selector);
        let found = self.value(&format!(
            "(document.querySelector({selector}) || {{ textContent: '' }}).textContent"
        ));
        found.as_str().unwrap_or_default().to_owned()
    }

    /// The number of visible elements that a selector matches.
    ///
    /// # Panics
    /// The selector is invalid.
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
    /// It does not become true.
    pub fn wait_for(&mut self, expression: &str) {
        let truth = format!("Boolean({expression})");
        let came = clock::wait_for(PATIENCE, || {
            clock::pause(Duration::from_millis(50));
            (self.value(&truth) == Value::Bool(true)).then_some(())
        });
        assert!(came.is_some(), "never true: {expression}");
    }

    /// The errors so far: logged, thrown, or from failed loads.
    pub fn errors(&mut self) -> &[String] {
        // Events before the response have been read by then.
        self.value("1");
        &self.errors
    }

    /// The requests of the page to other sites so far.
    pub fn asked_elsewhere(&mut self) -> Vec<String> {
        self.value("1");
        let elsewhere = |url: &&String| !url.starts_with(&self.home) && !url.starts_with("data:");
        self.asked.iter().filter(elsewhere).cloned().collect()
    }

    /// Asserts that the page logged no error and sent no request to another site.
    ///
    /// # Panics
    /// Otherwise.
    pub fn assert_quiet(&mut self) {
        assert_eq!(self.errors(), Vec::<String>::new(), "logged as errors");
        assert_eq!(
            self.asked_elsewhere(),
            Vec::<String>::new(),
            "asked elsewhere"
        );
    }

    /// Shows the page as printed, or as on a screen again.
    pub fn print(&mut self, is_printed: bool) {
        let media = if is_printed { "print" } else { "" };
        self.ask("Emulation.setEmulatedMedia", &json!({ "media": media }));
    }

    /// A screenshot of the upper part of the page, as PNG; `scale`: its pixels per CSS pixel.
    ///
    /// # Panics
    /// The browser cannot take one.
    pub fn screenshot(&mut self, width: u32, height: u32, scale: f64) -> Vec<u8> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": false });
        self.ask("Emulation.setDeviceMetricsOverride", &size);
        self.ask("Emulation.setScrollbarsHidden", &json!({ "hidden": true }));
        // Reactions to the new size are drawn in the following frames.
        let frame = "new Promise((done) => setTimeout(() => requestAnimationFrame(done), 200)).then(() => 0)";
        self.value(frame);
        let taken = self.ask("Page.captureScreenshot", &json!({ "format": "png" }));
        let text = taken["data"].as_str().expect("a picture as text");
        STANDARD.decode(text).expect("the browser writes base64")
    }

    /// Scrolls the first element that a selector matches into view, and returns the position at these shares of
    /// its width and height from its upper left corner.
    ///
    /// # Panics
    /// There is none.
    pub fn place(&mut self, selector: &str, across: f64, down: f64) -> Place {
        let selector = json!(selector);
        let found = self.value(&format!(
            "(() => {{ const found = document.querySelector({selector});
               found.scrollIntoView({{ block: 'center', behavior: 'instant' }});
               const box = found.getBoundingClientRect();
               return [box.left + box.width * {across}, box.top + box.height * {down}]; }})()"
        ));
        let at = |index: usize| found[index].as_f64().expect("a number of pixels");
        (at(0), at(1))
    }

    /// Moves the mouse.
    pub fn point(&mut self, to: Place) {
        self.mouse("mouseMoved", to, 0, 0);
    }

    /// Presses the mouse button at one position, and releases it at another.
    pub fn drag(&mut self, from: Place, to: Place) {
        self.mouse("mouseMoved", from, 0, 0);
        self.mouse("mousePressed", from, 1, 1);
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
        self.mouse("mouseMoved", middle, 1, 0);
        self.mouse("mouseMoved", to, 1, 0);
        self.mouse("mouseReleased", to, 0, 1);
    }

    /// Double-clicks.
    pub fn double_click(&mut self, at: Place) {
        self.mouse("mouseMoved", at, 0, 0);
        for time in [1, 2] {
            self.mouse("mousePressed", at, 1, time);
            self.mouse("mouseReleased", at, 0, time);
        }
    }

    fn mouse(&mut self, kind: &str, (x, y): Place, held: u32, clicks: u32) {
        let button = if held > 0 || clicks > 0 {
            "left"
        } else {
            "none"
        };
        let event = json!({ "type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": clicks });
        self.ask("Input.dispatchMouseEvent", &event);
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
            self.asked.extend(asked_in(&answer));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

/// The error in an event; `None` if there is none.
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

/// The requested URL in an event; `None` if there is none.
fn asked_in(event: &Value) -> Option<String> {
    let told = &event["params"];
    let url = match event["method"].as_str()? {
        "Network.requestWillBeSent" => &told["request"]["url"],
        "Network.webSocketCreated" => &told["url"],
        _ => return None,
    };
    url.as_str().map(str::to_owned)
}

/// The common prefix of a page's own site: its scheme, host and port; for files only the scheme.
fn home_of(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{host}/")
}
