//! A finished `loadline bench`: its streams, its exit code and its JSON result.
//!
//! Must not know the product's types: the result is read as the JSON that users get. Invariant: a result that
//! does not conserve requests is never returned to a test.

use std::ffi::OsStr;
use std::process::{Command, Output};

use serde_json::Value;

use crate::process::{Running, loadline, run_to_end};

/// Error classes as in `totals.seen.counts.failed`, with the start of the next step in the report.
pub const CLASSES: [(&str, &str); 20] = [
    ("dns", "check the host name"),
    ("refused", "check that the target runs"),
    ("unreachable", "check the route"),
    ("connect-timeout", "look for a full accept queue"),
    ("certificate", "trust its issuer with --cacert"),
    ("tls", "check that the port speaks TLS"),
    ("proxy", "check the proxy's address"),
    ("timeout", "the target was too slow for --timeout"),
    (
        "reset-sending",
        "the target closed the connection on a request",
    ),
    ("reset-reading", "the target or something in between"),
    (
        "closed",
        "the target closed the connection instead of answering",
    ),
    ("truncated", "the target announced more bytes than it sent"),
    ("malformed", "the response is not valid HTTP"),
    ("too-large", "the response headers or framing exceed"),
    ("http2", "look at the target's HTTP/2 limits"),
    ("redirect", "follow the Location headers by hand"),
    ("fd-limit", "raise the limit of open files"),
    ("ports-exhausted", "keep connections alive"),
    ("request", "check the URL, the variables and the files"),
    ("io", "see the sample message"),
];

/// A finished run.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
    result: Option<Value>,
}

/// Runs `loadline bench` with these arguments to its end.
///
/// # Panics
/// It cannot be started, hangs, or its result does not conserve requests.
pub fn bench<S: AsRef<OsStr>>(arguments: &[S]) -> Ran {
    bench_by(loadline(), arguments)
}

/// The same with a command from the caller, to which the arguments are added.
///
/// # Panics
/// As [`bench()`].
pub fn bench_by<S: AsRef<OsStr>>(command: Command, arguments: &[S]) -> Ran {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let json = folder.path().join("result.json");
    let output = run_to_end(bench_command(command, &json, arguments));
    Ran::of(&output, std::fs::read_to_string(&json).ok().as_deref())
}

/// Starts `loadline bench`; the owner of the folder later reads its `result.json`.
///
/// # Panics
/// It cannot be started.
pub fn bench_start<S: AsRef<OsStr>>(folder: &tempfile::TempDir, arguments: &[S]) -> Running {
    let json = folder.path().join("result.json");
    Running::start(bench_command(loadline(), &json, arguments))
}

/// The outcome of a run started by [`bench_start`].
///
/// # Panics
/// It hangs, or its result does not conserve requests.
pub fn bench_finish(folder: &tempfile::TempDir, running: Running) -> Ran {
    let output = running.finish();
    let json = std::fs::read_to_string(folder.path().join("result.json")).ok();
    Ran::of(&output, json.as_deref())
}

fn bench_command<S: AsRef<OsStr>>(
    mut command: Command,
    json: &std::path::Path,
    arguments: &[S],
) -> Command {
    command
        .args(["bench", "--no-journal", "--json"])
        .arg(json)
        .args(arguments);
    command
}

impl Ran {
    /// The outcome of a finished process; `json` is its result.
    ///
    /// # Panics
    /// The result is not JSON, or does not conserve requests.
    #[must_use]
    pub fn of(output: &Output, json: Option<&str>) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = Ran {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
            result: json.map(|json| serde_json::from_str(json).expect("the result is JSON")),
        };
        if ran.result.is_some() {
            ran.assert_conserved();
        }
        ran
    }

    /// The JSON result.
    ///
    /// # Panics
    /// There is none.
    #[must_use]
    pub fn result(&self) -> &Value {
        self.result.as_ref().unwrap_or_else(|| {
            panic!(
                "there is no result; exit code {:?}\n{}\n{}",
                self.code, self.out, self.err
            )
        })
    }

    /// A part of the JSON result, by pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> &Value {
        self.result().pointer(pointer).unwrap_or(&Value::Null)
    }

    /// A number of the JSON result, by pointer.
    ///
    /// # Panics
    /// There is no such number.
    #[must_use]
    pub fn number(&self, pointer: &str) -> u64 {
        let value = self.at(pointer);
        value
            .as_u64()
            .unwrap_or_else(|| panic!("{pointer} is no number but {value}"))
    }

    /// One of the measured counts of requests, such as `started`.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.number(&format!("/totals/seen/counts/{name}"))
    }

    /// Failures of one class.
    #[must_use]
    pub fn failed(&self, class: &str) -> u64 {
        let failures = self.failures();
        let found = failures.iter().find(|(name, _)| *name == class);
        found.map_or(0, |(_, number)| *number)
    }

    /// Failures by class, without the classes that have none.
    #[must_use]
    pub fn failures(&self) -> Vec<(&str, u64)> {
        let failed = self.at("/totals/seen/counts/failed").as_object();
        let classes = failed.into_iter().flatten();
        let numbers = classes.map(|(name, number)| (name.as_str(), number.as_u64().unwrap_or(0)));
        numbers.filter(|(_, number)| *number > 0).collect()
    }

    /// The messages of the failures, as stored in the result.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        let rows = self.rows("/totals/seen/errors");
        rows.iter()
            .map(|(key, _)| key["detail"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    /// The rows of a keyed table of the result, with their keys.
    #[must_use]
    pub fn rows(&self, pointer: &str) -> Vec<(&Value, &Value)> {
        let rows = self.at(pointer)["rows"].as_array();
        let pairs = rows.into_iter().flatten();
        pairs.map(|row| (&row[0], &row[1])).collect()
    }

    /// Responses with this status.
    #[must_use]
    pub fn status(&self, status: u64) -> u64 {
        let rows = self.rows("/totals/seen/statuses");
        let found = rows.iter().find(|(key, _)| key.as_u64() == Some(status));
        found.and_then(|(_, number)| number.as_u64()).unwrap_or(0)
    }

    /// A percentile such as `p99` of a time metric such as `response_time_ns`, in milliseconds.
    ///
    /// # Panics
    /// There is no such number.
    #[must_use]
    pub fn milliseconds(&self, metric: &str, name: &str) -> f64 {
        self.number(&format!("/metrics/{metric}/{name}")) as f64 / 1e6
    }

    /// The report with every run of white space replaced by one blank, so that wrapped lines are joined.
    #[must_use]
    pub fn report(&self) -> String {
        in_one_line(&self.out)
    }

    /// Asserts started = completed + failed + interrupted, both after and during the warm-up.
    ///
    /// # Panics
    /// Otherwise.
    pub fn assert_conserved(&self) {
        for part in ["counts", "warm_up"] {
            let of = |name: &str| self.number(&format!("/totals/seen/{part}/{name}"));
            let failed = self.at(&format!("/totals/seen/{part}/failed"));
            let failed = failed.as_object().into_iter().flatten();
            let failed: u64 = failed.filter_map(|(_, number)| number.as_u64()).sum();
            let met = of("completed") + failed + of("interrupted");
            assert_eq!(of("started"), met, "{part} is not conserved: {self:?}");
        }
    }

    /// Asserts that the process never used more memory than this, in MiB.
    ///
    /// # Panics
    /// It did.
    pub fn assert_memory_below(&self, mebibytes: u64) {
        let most = self.number("/totals/rss_max_bytes");
        assert!(most > 0, "the result tells no resident memory");
        assert!(most < mebibytes << 20, "{most} bytes of resident memory");
    }

    /// Asserts that the report names a class of failures together with its next step.
    ///
    /// # Panics
    /// It does not.
    pub fn assert_named(&self, class: &str) {
        let report = self.report();
        let (_, next_step) = CLASSES
            .iter()
            .find(|(name, _)| *name == class)
            .expect("a class");
        let errors = report.split_once("Errors").map_or("", |(_, after)| after);
        assert!(
            errors.contains(class),
            "{class} is not named in:\n{}",
            self.out
        );
        assert!(
            errors.contains(next_step),
            "{next_step:?} is not said in:\n{}",
            self.out
        );
    }

    /// Asserts the exit code; shows all output if it differs.
    ///
    /// # Panics
    /// It is another.
    pub fn assert_code(&self, code: i32) {
        assert_eq!(
            self.code,
            Some(code),
            "standard output:\n{}\nstandard error:\n{}",
            self.out,
            self.err
        );
    }
}

/// A text with every run of white space replaced by one blank.
#[must_use]
pub fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
