//! The pages that pictures are taken of: made of stored results, of made-up ones, and of a run that is frozen.
//!
//! Must not know pictures. Invariant: a page looks the same each time that it is made, up to what a busy machine
//! does to a run of some seconds.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::stored;
use crate::browser::Browser;
use crate::process::Running;
use crate::rest::RestApi;
use crate::server::{Server, Stop};
use crate::{loadline, run_to_end, web};

/// The names of the suite's rows in the comparison, and the rows.
const ROWS: [(&str, &str); 3] = [
    ("low.json", "rate-60-f1a1f1"),
    ("middle.json", "rate-150-32a5cc"),
    ("high.json", "rate-260-33902e"),
];

/// Load of a live page: three names, a check that fails at times, and a threshold that holds.
const SCRIPT: &str = "
    import http from 'k6/http';
    import { check } from 'k6';
    import exec from 'k6/execution';
    export const options = {
        scenarios: { steady: {
            executor: 'constant-arrival-rate', rate: 40, duration: '60s', preAllocatedVUs: 20,
        } },
        thresholds: { http_req_duration: ['p(95)<800'] },
    };
    export default function () {
        const n = exec.scenario.iterationInTest;
        const path = ['list', 'item', 'order'][n % 3];
        const response = http.get(`${__ENV.TARGET}${path}?n=${n}`, { tags: { name: path } });
        check(response, { 'status is 200': (r) => r.status === 200 });
    }";
/// Seconds of a live page: what follows is not waited for.
const SECONDS: &str = "8";

/// Samples in the results of a plan: three minutes of ten a second.
const SAMPLES: u64 = 1_800;

/// An open page with all that it needs.
pub struct Opened {
    /// Shows the page.
    pub browser: Browser,
    /// The run that a live page is of, and its target.
    _run: Option<(Running, Server)>,
    /// The file of another page.
    _folder: TempDir,
}

/// Makes one of the pages, and opens it.
///
/// # Panics
/// The binary fails to make it.
#[must_use]
pub fn open(page: &str) -> Opened {
    let folder = tempfile::tempdir().expect("there is room");
    if page == "live" {
        let (run, browser) = frozen(folder.path());
        return Opened {
            browser,
            _run: Some(run),
            _folder: folder,
        };
    }
    let browser = Browser::open_file(&made(page, folder.path()));
    Opened {
        browser,
        _run: None,
        _folder: folder,
    }
}

/// Makes a page in a folder.
fn made(page: &str, folder: &Path) -> PathBuf {
    let mut file = folder.join(format!("{page}.html"));
    let mut command = loadline();
    command.current_dir(folder);
    match page {
        "report" => command
            .args(["report", "--rejudge", "--html", "report.html"])
            .arg(stored("ramp.json")),
        "compare" => {
            for (result, row) in ROWS {
                let kept = stored(&format!("suite/runs/{row}/1/result.json"));
                fs::copy(kept, folder.join(result)).expect("a stored result");
            }
            let results = ROWS.map(|(result, _)| result);
            command
                .arg("compare")
                .args(results)
                .args(["--html", "compare.html"])
        }
        "suite" => {
            suite(folder);
            command.args(["suite", "render", "suite.yaml"])
        }
        "dashboard" => {
            fs::write(folder.join("plan.jtl"), samples()).expect("there is room");
            file = folder.join("dashboard/index.html");
            let words = ["jmeter", "-g", "plan.jtl", "-o", "dashboard"];
            command.env("TZ", "UTC").args(words)
        }
        other => panic!("no page is called {other:?}"),
    };
    let output = run_to_end(command);
    assert!(file.is_file(), "{page}: {output:?}");
    file
}

/// The suite's file and its state, as after running all rows.
fn suite(folder: &Path) {
    fs::copy(stored("suite.yaml"), folder.join("suite.yaml")).expect("a stored suite");
    let state = folder.join("suite.state");
    for entry in walk(&stored("suite")) {
        let inside = entry.strip_prefix(stored("suite")).expect("it is inside");
        let to = state.join(inside);
        fs::create_dir_all(to.parent().expect("it has a folder")).expect("there is room");
        fs::copy(&entry, to).expect("there is room");
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a stored folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                walk(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The results of a plan: three labels that slow down, and failures in the second minute.
fn samples() -> String {
    let mut text =
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,\
         failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n"
            .to_owned();
    for n in 0..SAMPLES {
        let label = ["Open the shop", "Search", "Put into the cart"][(n % 3) as usize];
        let at_ms = 1_700_000_000_000 + n * 100;
        let elapsed = 40 + 60 * (n % 3) + n * 37 % 50 + n / 12;
        let is_bad = (600..1_200).contains(&n) && n % 9 == 0;
        let answer = if is_bad {
            "503,Service Unavailable"
        } else {
            "200,OK"
        };
        let users = 1 + n / 90;
        writeln!(
            text,
            "{at_ms},{elapsed},{label},{answer},Users 1-{},text,{},,{},180,{users},{users},\
             http://shop.test/{},{},0,{}",
            n % 10 + 1,
            !is_bad,
            900 + n % 400,
            n % 3,
            elapsed - 10,
            n % 4,
        )
        .expect("memory takes all");
    }
    text
}

/// A run with its target, frozen after some seconds, and its page.
fn frozen(folder: &Path) -> ((Running, Server), Browser) {
    let target = Server::start(|stream, stop| web::serve(stream, |asked| response(asked, stop)));
    fs::write(folder.join("shop.js"), SCRIPT).expect("there is room");
    let place = RestApi::free();
    let mut command = loadline();
    command
        .current_dir(folder)
        .args(["run", "--env"])
        .arg(format!("TARGET=http://{}/", target.address()))
        .arg(format!("--web={}", place.address()))
        .arg("shop.js");
    let run = Running::start(command);
    place.wait_until_served();
    let mut browser = Browser::open(&format!("http://{}/", place.address()));
    browser.wait_for(&format!(
        "parseInt(document.querySelector('#progress span')?.textContent) >= {SECONDS}"
    ));
    run.signal(libc::SIGSTOP);
    ((run, target), browser)
}

/// Long enough that a busy machine makes no difference; every twelfth fails.
fn response(asked: &web::Request, stop: &Stop) -> Vec<u8> {
    let number = asked.word(1).rsplit('=').next().unwrap_or_default();
    let number: u64 = number.parse().unwrap_or(0);
    stop.pause(Duration::from_millis(100 + 50 * (number % 5)));
    match number % 12 {
        11 => b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n".to_vec(),
        _ => web::ok("fine"),
    }
}
