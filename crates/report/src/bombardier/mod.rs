//! The reports of bombardier 2.0.2: plain text to the column, JSON to the byte, templates, and its progress
//! bar.
//!
//! Layouts and rules were observed from bombardier 2.0.2; `docs/dialects.md` lists intended differences. Must
//! not know how the run was done. Invariant: text, JSON and templates show the same figures.

mod digest;
mod figures;
mod json;
mod progress;
mod template;
mod text;
mod units;
mod uuid;

use std::time::Duration;

use loadline_go::GoDuration;

pub use json::render_json;
pub use progress::{DONE, Progress, progress_bar};
pub use template::ReportTemplate;
pub use text::render_text;
pub use uuid::Identity;

/// What ends a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// This many requests (`-n`).
    Requests(u64),
    /// This much time (`-d`).
    Duration(Duration),
}

/// The client that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// `--fasthttp`, the default.
    FastHttp,
    /// `--http1`.
    NetHttp1,
    /// `--http2`.
    NetHttp2,
}

/// The requested test, as far as the reports repeat it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Connections (`-c`).
    pub connections: u64,
    /// What ends the test.
    pub stop: Stop,
    /// Method (`-m`).
    pub method: String,
    /// URL, with its scheme.
    pub url: String,
    /// Headers in order (`-H`).
    pub headers: Vec<(String, String)>,
    /// Body (`-b`); empty without one.
    pub body: String,
    /// File of the body (`-f`).
    pub body_file: Option<String>,
    /// File of the client certificate (`--cert`).
    pub certificate_file: Option<String>,
    /// File of its key (`--key`).
    pub key_file: Option<String>,
    /// Whether the body is sent in chunks (`-s`).
    pub stream: bool,
    /// Timeout (`-t`).
    pub timeout: Duration,
    /// The client.
    pub client: Client,
    /// Requests per second (`-r`); `None`: as many as possible.
    pub rate: Option<u64>,
    /// Whether the distribution of latencies is shown (`-l`).
    pub latencies: bool,
}

/// The line before a test, including its line end.
#[must_use]
pub fn intro(spec: &Spec) -> String {
    let what = match spec.stop {
        Stop::Requests(requests) => format!("with {requests} request(s)"),
        Stop::Duration(duration) => format!("for {}", go_duration(duration)),
    };
    format!(
        "Bombarding {} {what} using {} connection(s)\n",
        spec.url, spec.connections
    )
}

fn go_duration(duration: Duration) -> String {
    GoDuration::from(duration).to_string()
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A test with 125 connections to `http://127.0.0.1/`.
    pub(super) fn spec(stop: Stop) -> Spec {
        Spec {
            connections: 125,
            stop,
            method: "GET".to_owned(),
            url: "http://127.0.0.1/".to_owned(),
            headers: Vec::new(),
            body: String::new(),
            body_file: None,
            certificate_file: None,
            key_file: None,
            stream: false,
            timeout: Duration::from_secs(2),
            client: Client::FastHttp,
            rate: None,
            latencies: false,
        }
    }

    #[test]
    fn the_intro_reads_as_bombardiers() {
        let mut spec = spec(Stop::Duration(Duration::from_secs(90)));
        assert_eq!(
            intro(&spec),
            "Bombarding http://127.0.0.1/ for 1m30s using 125 connection(s)\n"
        );
        spec.stop = Stop::Requests(100_000);
        assert_eq!(
            intro(&spec),
            "Bombarding http://127.0.0.1/ with 100000 request(s) using 125 connection(s)\n"
        );
    }
}
